//! Generated data as files.

use std::path::{Path, PathBuf};

use dissensus::core::VoteTable;
use dissensus::data::blends::{Blends, SIDE};
use dissensus::io::{FileError, npy};
use dissensus::votes::write::{target_of, write_file};

use crate::ui::files;

/// The files of `blends`, in the order in which they are written.
pub(crate) const BLENDS_FILES: [&str; 3] = ["votes.csv", "images.npy", "truth.npz"];

/// Saves votes (long CSV), pictures (items × 16 × 16 bytes) and the true distributions. Nothing is
/// written if one of the files exists, unless `force`.
pub(crate) fn save_blends(
    blends: &Blends,
    folder: &Path,
    force: bool,
) -> anyhow::Result<Vec<PathBuf>> {
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
    files::write(images, force, |out| npy::write_array(out, &shape, blends.images()))?;
    table(&blends.truth_table()?, truth)?;
    Ok(paths.to_vec())
}
