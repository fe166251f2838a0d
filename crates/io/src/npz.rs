//! numpy's `.npz`: a zip archive of `.npy` arrays, not compressed, as `numpy.savez` writes it.

use std::io::{self, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Writes the arrays of an `.npz` one after another.
///
/// ```
/// use std::io::Cursor;
/// use dissensus_io::{Archive, npy, npz::NpzWriter};
///
/// let mut file = Cursor::new(Vec::new());
/// let mut npz = NpzWriter::new(&mut file);
/// npy::write_array(npz.array("logits")?, &[2, 2], &[0.5f32, 1.0, 2.0, 4.0])?;
/// npy::write_texts(npz.array("ids")?, ["a", "b"])?;
/// npz.finish()?;
/// let mut archive = Archive::open("x.npz", file.into_inner(), 1 << 20)?;
/// let bytes = archive.read("logits.npy")?;
/// assert_eq!(npy::parse(&bytes)?.numbers()?, [0.5, 1.0, 2.0, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NpzWriter<W: Write + Seek> {
    zip: ZipWriter<W>,
}

impl<W: Write + Seek> NpzWriter<W> {
    /// An archive without arrays.
    pub fn new(out: W) -> Self {
        Self { zip: ZipWriter::new(out) }
    }

    /// Begins the array of this name; its `.npy` is written to what is returned.
    pub fn array(&mut self, name: &str) -> io::Result<&mut ZipWriter<W>> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(true);
        self.zip.start_file(format!("{name}.npy"), options)?;
        Ok(&mut self.zip)
    }

    /// Ends the archive.
    pub fn finish(self) -> io::Result<()> {
        self.zip.finish()?;
        Ok(())
    }
}
