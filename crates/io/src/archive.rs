//! Zip archives (`.npz`, `.pt`), with a limit on what they may unpack to.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::error::{Problem, ReadError};
use crate::input::most_unpacked;
use crate::npy;

/// Bytes in which the header of an array ends.
const NPY_HEAD: u64 = 4096;

/// An opened archive in memory.
pub struct Archive {
    file: String,
    zip: ZipArchive<Cursor<Vec<u8>>>,
    limit: u64,
    left: u64,
}

impl Archive {
    /// Opens an archive. What is read of it may unpack to `limit` bytes in all, or to
    /// [`most_unpacked`] if that is less: members may lie on top of one another, so that even the
    /// number of small ones says nothing.
    pub fn open(file: &str, bytes: Vec<u8>, limit: u64) -> Result<Self, ReadError> {
        let limit = limit.min(most_unpacked(bytes.len() as u64));
        match ZipArchive::new(Cursor::new(bytes)) {
            Ok(zip) => Ok(Self { file: file.to_owned(), zip, limit, left: limit }),
            Err(error) => Err(ReadError::new(file, Problem::Archive(error.to_string()))),
        }
    }

    /// The members' names.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        self.zip.file_names().filter_map(|name| Some(name.ok()?.into_owned()))
    }

    /// The name of the member that ends so.
    pub fn find(&self, end: &str) -> Option<String> {
        self.names().find(|name| name.ends_with(end))
    }

    /// A member's bytes.
    pub fn read(&mut self, member: &str) -> Result<Vec<u8>, ReadError> {
        let fail = |problem: Problem| ReadError::new(self.file.clone(), problem).column(member);
        let archive = |error: zip::result::ZipError| fail(Problem::Archive(error.to_string()));
        let mut entry =
            self.zip.by_name(member).map_err(archive)?.take(self.left.saturating_add(1));
        let mut bytes = Vec::new();
        let head = entry.by_ref().take(NPY_HEAD).read_to_end(&mut bytes);
        // An array of small numbers grows when its numbers are taken as 64-bit ones.
        if head.is_ok() && npy::announced(&bytes).is_some_and(|size| size > self.limit) {
            let what = "an array in it, as 64-bit numbers,";
            return Err(fail(Problem::TooLarge { what, limit: self.limit }));
        }
        // The announced size is not trusted: what really comes out is counted.
        match head.and_then(|_| entry.read_to_end(&mut bytes)) {
            Ok(_) if bytes.len() as u64 > self.left => {
                Err(fail(Problem::TooLarge { what: "the archive, unpacked,", limit: self.limit }))
            }
            Ok(_) => {
                self.left -= bytes.len() as u64;
                Ok(bytes)
            }
            Err(error) => Err(fail(Problem::Archive(error.to_string()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::write::SimpleFileOptions;

    #[test]
    fn a_bomb_is_refused() {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        writer.start_file("counts.npy", options).unwrap();
        writer.write_all(&vec![0; 4 << 20]).unwrap();
        let bytes = writer.finish().unwrap().into_inner();
        assert!(bytes.len() < 8192);
        let mut archive = Archive::open("x.npz", bytes, 1 << 20).unwrap();
        let error = archive.read("counts.npy").unwrap_err();
        assert_eq!(error.problem.code(), "too-large");
        let error = archive.read("other").unwrap_err();
        assert_eq!(error.problem.code(), "archive");
    }

    /// Three million zeros of a byte each are three kilobytes packed; as 64-bit numbers two billion of
    /// them would be sixteen gigabytes.
    #[test]
    fn an_array_is_refused_before_it_is_unpacked() {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        writer.start_file("counts.npy", options).unwrap();
        writer.write_all(&npy::header("|u1", &[2_000_000, 1_000])).unwrap();
        writer.write_all(&vec![0; 3_000_000]).unwrap();
        let bytes = writer.finish().unwrap().into_inner();
        let mut archive = Archive::open("x.npz", bytes, 8 << 30).unwrap();
        let error = archive.read("counts.npy").unwrap_err().to_string();
        let wanted = "x.npz, column \"counts.npy\": an array in it, as 64-bit numbers, is larger than \
                      1073741824 bytes";
        assert_eq!(error, wanted);
    }

    #[test]
    fn many_members_are_counted_together() {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for name in ["a", "b", "c"] {
            writer.start_file(name, SimpleFileOptions::default()).unwrap();
            writer.write_all(&[0; 400]).unwrap();
        }
        let bytes = writer.finish().unwrap().into_inner();
        let mut archive = Archive::open("x.npz", bytes, 1000).unwrap();
        assert!(archive.read("a").is_ok() && archive.read("b").is_ok());
        let error = archive.read("c").unwrap_err().to_string();
        assert_eq!(error, "x.npz, column \"c\": the archive, unpacked, is larger than 1000 bytes");
    }

    #[test]
    fn not_an_archive() {
        let error = Archive::open("x", b"PK\x03\x04 and nothing".to_vec(), 100).err().unwrap();
        assert_eq!(error.problem.code(), "archive");
    }
}
