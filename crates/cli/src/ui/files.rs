//! Files that are written as a whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

/// Replaces a file by what `fill` writes; its folder is made where it is not there.
pub(crate) fn replace(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = path.with_extension(format!("new-{}", std::process::id()));
    let mut out = BufWriter::new(File::create(&new)?);
    fill(&mut out)?;
    out.flush()?;
    drop(out);
    std::fs::rename(new, path)
}
