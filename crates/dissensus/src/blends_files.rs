//! Generated data as files.

use std::path::{Path, PathBuf};

use dissensus_core::VoteTable;
use dissensus_data::blends::{Blends, SIDE};
use dissensus_io::npy;
use dissensus_io::npz::NpzWriter;
use dissensus_votes::write::{target_of, write_file};

use crate::Error;
use crate::files::{check_free, write};

/// The files of `blends`, in the order in which they are written.
pub const BLENDS_FILES: [&str; 3] = ["votes.csv", "images.npz", "truth.npz"];

/// Saves votes (long CSV), images (items × 16 × 16 bytes, with ids) and the true distributions. Nothing is
/// written if one of the files exists, unless `force`.
pub fn save_blends(blends: &Blends, folder: &Path, force: bool) -> Result<Vec<PathBuf>, Error> {
    let paths = BLENDS_FILES.map(|name| folder.join(name));
    paths.iter().try_for_each(|path| check_free(Some(path), force))?;
    let table =
        |table: &VoteTable, path: &Path| write_file(table, &[], path, target_of(path)?, force);
    let [votes, images, truth] = &paths;
    table(blends.table(), votes)?;
    let shape = [blends.len(), SIDE, SIDE];
    write(images, force, |out| {
        let mut npz = NpzWriter::new(out);
        npy::write_array(npz.array("images")?, &shape, blends.images())?;
        npy::write_texts(npz.array("ids")?, blends.table().items().iter())?;
        npz.finish()
    })?;
    table(&blends.truth_table()?, truth)?;
    Ok(paths.to_vec())
}
