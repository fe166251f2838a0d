//! Generated data as files.

use std::path::{Path, PathBuf};

use dissensus_core::VoteTable;
use dissensus_data::blends::{Blends, SIDE};
use dissensus_io::{Durability, Existing, FileError, npy};
use dissensus_votes::write::{target_of, write_file};

use crate::{DataError, Error};

/// The files of `blends`, in the order in which they are written.
pub const BLENDS_FILES: [&str; 3] = ["votes.csv", "images.npy", "truth.npz"];

/// Saves votes (long CSV), images (items × 16 × 16 bytes) and the true distributions. Nothing is
/// written if one of the files exists, unless `force`.
pub fn save_blends(blends: &Blends, folder: &Path, force: bool) -> Result<Vec<PathBuf>, Error> {
    let paths = BLENDS_FILES.map(|name| folder.join(name));
    let existing = paths.iter().find(|path| path.exists()).filter(|_| !force);
    if let Some(path) = existing {
        return Err(FileError::Exists { path: path.clone() }.into());
    }
    std::fs::create_dir_all(folder).map_err(|error| FileError::new(folder, error))?;
    let table = |table: &VoteTable, path: &Path| write_file(table, path, target_of(path)?, force);
    let [votes, images, truth] = &paths;
    table(blends.table(), votes)?;
    let shape = [blends.len(), SIDE, SIDE];
    let existing = Existing::replaced_if(force);
    dissensus_io::write_file(images, existing, Durability::Power, |out| {
        npy::write_array(out, &shape, blends.images())
    })
    .map_err(|error| FileError::new(images, error))?;
    table(&blends.truth_table().map_err(DataError::from)?, truth)?;
    Ok(paths.to_vec())
}
