//! Zip archives (`.npz`, `.pt`), with a limit on what they may unpack to.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::error::{Problem, ReadError};

/// An opened archive in memory.
pub struct Archive {
    file: String,
    zip: ZipArchive<Cursor<Vec<u8>>>,
    limit: u64,
    left: u64,
}

impl Archive {
    /// Opens an archive. What is read of it may unpack to `limit` bytes in all: members may lie on
    /// top of one another, so that even the number of small ones says nothing.
    pub fn open(file: &str, bytes: Vec<u8>, limit: u64) -> Result<Self, ReadError> {
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
        let entry = self.zip.by_name(member).map_err(archive)?;
        let mut bytes = Vec::new();
        // The announced size is not trusted: what really comes out is counted.
        match entry.take(self.left.saturating_add(1)).read_to_end(&mut bytes) {
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
