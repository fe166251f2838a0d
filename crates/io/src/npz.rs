//! numpy's `.npz`: a zip archive of `.npy` arrays, not compressed, as `numpy.savez` writes it.

use std::io::{self, Seek, Write};
use std::mem::ManuallyDrop;

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
    /// Never dropped unfinished: it would then write, and it panics where a write has failed before.
    zip: ManuallyDrop<ZipWriter<W>>,
}

impl<W: Write + Seek> NpzWriter<W> {
    /// An archive without arrays.
    pub fn new(out: W) -> Self {
        Self { zip: ManuallyDrop::new(ZipWriter::new(out)) }
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
        ManuallyDrop::into_inner(self.zip).finish()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes.
    struct Full(io::Cursor<Vec<u8>>, usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.get_ref().len() + bytes.len() > self.1 {
                true => Err(io::ErrorKind::StorageFull.into()),
                false => self.0.write(bytes),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Full {
        fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn a_full_disk_is_an_error_wherever_it_comes() {
        let write = |room: usize| {
            let mut npz =
                NpzWriter::new(io::BufWriter::with_capacity(16, Full(io::Cursor::default(), room)));
            crate::npy::write_array(npz.array("a")?, &[40], &[1.0f32; 40])?;
            crate::npy::write_array(npz.array("b")?, &[40], &[2.0f32; 40])?;
            npz.finish()
        };
        write(10_000).unwrap();
        for room in 0..700 {
            assert_eq!(write(room).unwrap_err().kind(), io::ErrorKind::StorageFull, "{room}");
        }
    }
}
