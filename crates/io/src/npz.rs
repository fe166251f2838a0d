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
    zip: ZipWriter<Latch<W>>,
}

impl<W: Write + Seek> NpzWriter<W> {
    /// An archive without arrays.
    pub fn new(out: W) -> Self {
        Self { zip: ZipWriter::new(Latch { out, at: 0, end: 0, failed: None }) }
    }

    /// Begins the array of this name; its `.npy` is written to what is returned. An error of the file
    /// is told by [`finish`](Self::finish).
    pub fn array(&mut self, name: &str) -> io::Result<impl Write> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(true);
        self.zip.start_file(format!("{name}.npy"), options)?;
        Ok(&mut self.zip)
    }

    /// Ends the archive.
    pub fn finish(self) -> io::Result<()> {
        self.zip.finish()?.failed.map_or(Ok(()), Err)
    }
}

/// A file that takes everything once a call has failed, and keeps the error: a `ZipWriter` writes when
/// it is dropped, and panics where it could not write before.
struct Latch<W> {
    out: W,
    at: u64,
    end: u64,
    failed: Option<io::Error>,
}

impl<W> Latch<W> {
    /// What a call gives, or where it fails, now or before, what it would have given.
    fn or_kept<T>(&mut self, call: impl FnOnce(&mut W) -> io::Result<T>, would: T) -> T {
        if self.failed.is_some() {
            return would;
        }
        match call(&mut self.out) {
            Ok(value) => value,
            Err(error) => {
                self.failed = Some(error);
                would
            }
        }
    }
}

impl<W: Write> Write for Latch<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.or_kept(|out| out.write_all(bytes).map(|()| bytes.len()), bytes.len());
        self.at += written as u64;
        self.end = self.end.max(self.at);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.or_kept(W::flush, ());
        Ok(())
    }
}

impl<W: Seek> Seek for Latch<W> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let would = match to {
            io::SeekFrom::Start(at) => at,
            io::SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            io::SeekFrom::End(by) => self.end.saturating_add_signed(by),
        };
        self.at = self.or_kept(|out| out.seek(to), would);
        Ok(self.at)
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
        // With a small buffer and one that holds all.
        let write = |room: usize, buffer: usize| {
            let mut npz = NpzWriter::new(io::BufWriter::with_capacity(
                buffer,
                Full(io::Cursor::default(), room),
            ));
            crate::npy::write_array(npz.array("a")?, &[40], &[1.0f32; 40])?;
            crate::npy::write_array(npz.array("b")?, &[40], &[2.0f32; 40])?;
            npz.finish()
        };
        for buffer in [16, 1 << 16] {
            write(10_000, buffer).unwrap();
            for room in 0..700 {
                let error = write(room, buffer).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{room}");
            }
        }
    }
}
