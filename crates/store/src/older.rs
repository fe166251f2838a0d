//! What was written before files were bound to their runs (format 1): it may have lost its checksums, and
//! nothing says whose it is. A store that began with format 2 has none of it, unless it was unpacked there
//! from an older pack; its `store.json` says so. What is read of it is remembered, to be told.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::layout::StoreLayout;
use crate::{Durability, FORMAT, Store, StoreError, files, lock};

/// The first format whose files are bound to their runs.
pub(crate) const BOUND: u64 = 2;

/// What `store.json` holds.
#[derive(Serialize, Deserialize)]
pub(crate) struct Marker {
    pub(crate) format: u64,
    pub(crate) made_by: String,
    /// Whether older runs were unpacked into it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    older: bool,
}

impl Marker {
    pub(crate) fn new() -> Self {
        let made_by = format!("dissensus {}", env!("CARGO_PKG_VERSION"));
        Self { format: FORMAT, made_by, older: false }
    }

    fn may_have_older(&self) -> bool {
        self.older || self.format < BOUND
    }
}

static READ: AtomicBool = AtomicBool::new(false);

/// Whether this process has read anything of a store that nothing binds to its run, as it was written by an
/// older version: that its files belong together cannot be checked.
pub fn has_read_older() -> bool {
    READ.load(Ordering::Relaxed)
}

/// Accepts a file that nothing binds to its run, where its store may have such.
pub(crate) fn accept(path: &Path, store: &StoreLayout) -> Result<(), StoreError> {
    // A pack that is taken apart has none; there, the pack's own format says it.
    let marker = store.marker();
    if marker.exists() && !files::read_versioned::<Marker>(&marker)?.may_have_older() {
        let reason = "it is not bound to its run, as in older stores, and this store is newer";
        return Err(StoreError::foreign(path, reason));
    }
    READ.store(true, Ordering::Relaxed);
    Ok(())
}

impl Store {
    /// Whether some of its runs may be older.
    pub(crate) fn may_have_older(&self) -> Result<bool, StoreError> {
        Ok(files::read_versioned::<Marker>(&self.layout.marker())?.may_have_older())
    }

    /// Lets older runs in.
    pub(crate) fn admit_older(&self) -> Result<(), StoreError> {
        let _making = lock::wait(&self.layout.lock())?;
        let path = self.layout.marker();
        let marker: Marker = files::read_versioned(&path)?;
        match marker.may_have_older() {
            true => Ok(()),
            false => {
                files::write_sealed(&path, &Marker { older: true, ..marker }, Durability::Power)
            }
        }
    }
}
