//! Where the runs are.

use std::path::{Path, PathBuf};

use dissensus::store::{Store, StoreError};

/// The default folder of runs, also of a spec's `run.store`.
const DEFAULT: &str = "runs";

/// Which store.
#[derive(clap::Args)]
pub(crate) struct StoreArgs {
    /// The folder of runs
    #[arg(long, value_name = "DIR", env = "DISSENSUS_STORE", default_value = DEFAULT)]
    store: PathBuf,
}

impl StoreArgs {
    pub(crate) fn open(&self) -> Result<Store, StoreError> {
        Store::open(&self.store)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.store
    }

    /// The option that selects the same store; empty for the default.
    pub(crate) fn flag(&self) -> String {
        store_flag(&self.store)
    }
}

/// The option that selects a store; empty for the default.
pub(crate) fn store_flag(store: &Path) -> String {
    match store == Path::new(DEFAULT) {
        true => String::new(),
        false => format!(" --store {}", quoted(store)),
    }
}

/// A path, quoted for a shell where needed.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/\\._-+:=@,".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_where_a_shell_would_cut_them() {
        let quoted = |text: &str| quoted(Path::new(text));
        assert_eq!(quoted("a/b-c_1.npz"), "a/b-c_1.npz");
        assert_eq!(quoted("my runs"), "'my runs'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn the_usual_store_needs_no_flag() {
        let flag = |store: &str| StoreArgs { store: store.into() }.flag();
        assert_eq!(flag(DEFAULT), "");
        assert_eq!(flag("my runs"), " --store 'my runs'");
    }
}
