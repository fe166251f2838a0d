//! The Python package `dissensus`: the library's verbs over numpy arrays and Arrow tables.
//!
//! One file per part: `votes.rs`, `delivery.rs`, …; `errors.rs`, `arrow.rs` and `work.rs` are shared. Python code that needs
//! no speed (progress bars, torch, scikit-learn, trackers) is in `package/dissensus`.

mod arrow;
mod command;
mod delivery;
mod errors;
mod numbers;
mod votes;
mod work;

/// Allocates as the command does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The native part of the package.
#[pyo3::pymodule(gil_used = false)]
mod _dissensus {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::arrow::Table;
    #[pymodule_export]
    use crate::command::main;
    #[pymodule_export]
    use crate::delivery::Delivery;
    #[pymodule_export]
    use crate::votes::Votes;
    #[pymodule_export]
    use crate::votes::lint_file;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::work::remember_process();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
