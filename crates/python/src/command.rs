//! The command `dissensus`, as a function.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the command line and returns its exit code.
///
/// Wrong usage, and a second Ctrl-C, end the process, as they end the program.
///
/// Parameters
/// ----------
/// arguments : list of str, optional
///     The arguments after the program's name; those of the process when left out.
///
/// Returns
/// -------
/// int
///     0 when everything was done; see ``dissensus --help`` for the others.
#[pyfunction]
#[pyo3(signature = (arguments=None))]
pub(crate) fn main(py: Python<'_>, arguments: Option<Vec<OsString>>) -> PyResult<u8> {
    let arguments = match arguments {
        Some(arguments) => arguments,
        None => py.import("sys")?.getattr("argv")?.extract::<Vec<OsString>>()?.split_off(1),
    };
    let all = std::iter::once(OsString::from("dissensus")).chain(arguments);
    let code = py.detach(|| {
        let code = dissensus_cli::main(all);
        // At its end the interpreter does not flush this buffer, as a program of ours would.
        let _ = std::io::stdout().flush();
        code
    });
    // The standard library does not tell an exit code's number; it compares them.
    Ok((0..u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(u8::MAX))
}
