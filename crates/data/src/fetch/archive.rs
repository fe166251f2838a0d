//! Streams one member out of an archive.
//!
//! Both formats can unpack to far more than they weigh, so a member is read only up to its known
//! size, and a tar file, which must be read from the front, only up to [`SCAN_LIMIT`].

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use zip::ZipArchive;

use super::place::{Place, Spill, pour};
use super::progress::Transfer;
use crate::Error;
use crate::catalogue::{Archive, Format};
use crate::digest::{Digest, Tally};

/// An archive of unknown size is downloaded up to this.
pub(super) const ARCHIVE_LIMIT: u64 = 512 << 20;

/// A tar file is unpacked up to this in search of a member.
const SCAN_LIMIT: u64 = 2 << 30;

/// So many members of the wanted file name are named when the wanted one is not there.
const NEAR: usize = 3;

/// A member of an archive that lies at `path`.
pub(super) struct Member<'a> {
    pub(super) archive: &'a Archive,
    pub(super) path: &'a Path,
    pub(super) name: &'a str,
    /// The most that it may unpack to.
    pub(super) limit: u64,
}

impl Member<'_> {
    /// Writes the member to the part of `place`.
    pub(super) fn extract(
        &self,
        place: &Place,
        transfer: &Transfer<'_>,
    ) -> Result<(Digest, File), Error> {
        let file = File::open(self.path).map_err(|e| Error::io("reading", self.path, e))?;
        match self.archive.format {
            Format::TarGz => self.out_of_tar_gz(file, place, transfer),
            Format::Zip => self.out_of_zip(file, place, transfer),
        }
    }

    fn out_of_tar_gz(
        &self,
        file: File,
        place: &Place,
        transfer: &Transfer<'_>,
    ) -> Result<(Digest, File), Error> {
        let unpacked = GzDecoder::new(BufReader::new(file)).take(SCAN_LIMIT);
        let mut tar = tar::Archive::new(unpacked);
        let mut near = Vec::new();
        for entry in tar.entries().map_err(|e| self.bad(&e))? {
            let entry = entry.map_err(|e| self.bad(&e))?;
            let path = entry.path_bytes();
            let path = String::from_utf8_lossy(&path).into_owned();
            if path.trim_start_matches("./") == self.name && entry.header().entry_type().is_file() {
                return self.write(entry.size(), entry, place, transfer);
            }
            if near.len() < NEAR && self.resembles(&path) {
                near.push(path);
            }
        }
        Err(self.missing(&near))
    }

    fn out_of_zip(
        &self,
        file: File,
        place: &Place,
        transfer: &Transfer<'_>,
    ) -> Result<(Digest, File), Error> {
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(|e| self.bad(&e))?;
        let Some(index) = zip.index_for_name(self.name) else {
            let near: Vec<String> = zip
                .file_names_raw()
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .filter(|name| self.resembles(name))
                .take(NEAR)
                .collect();
            return Err(self.missing(&near));
        };
        let entry = zip.by_index(index).map_err(|e| self.bad(&e))?;
        self.write(entry.size(), entry, place, transfer)
    }

    fn write(
        &self,
        announced: u64,
        from: impl Read,
        place: &Place,
        transfer: &Transfer<'_>,
    ) -> Result<(Digest, File), Error> {
        let too_big = || Error::TooBig {
            url: self.archive.url.to_owned(),
            member: self.name.to_owned(),
            limit: self.limit,
        };
        if announced > self.limit {
            return Err(too_big());
        }
        transfer.total(announced);
        let mut part = place.create_part()?;
        let mut tally = Tally::default();
        // What the archive announces is no promise: the limit holds while unpacking, too.
        pour(from, &mut part, place, &mut tally, self.limit, transfer).map_err(|spill| {
            place.discard();
            match spill {
                Spill::Read(e) => self.bad(&e),
                Spill::Write(e) => e,
                Spill::TooLong => too_big(),
            }
        })?;
        Ok((tally.finish(), part))
    }

    fn bad(&self, why: &dyn std::error::Error) -> Error {
        Error::BadArchive { url: self.archive.url.to_owned(), why: why.to_string() }
    }

    /// Whether another member has the same file name: the archive may have been repacked.
    fn resembles(&self, path: &str) -> bool {
        file_name(path) == file_name(self.name) && !path.starts_with("__MACOSX/")
    }

    fn missing(&self, near: &[String]) -> Error {
        Error::NoMember {
            url: self.archive.url.to_owned(),
            member: self.name.to_owned(),
            near: match near {
                [] => "and none of that file name".to_owned(),
                near => format!("but it has {}", near.join(", ")),
            },
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
