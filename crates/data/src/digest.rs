//! SHA-256 and size of bytes as they stream by.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// Large enough that hashing, not system calls, takes the time.
pub(crate) const CHUNK: usize = 128 * 1024;

/// What some bytes are known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
}

/// A running digest.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    hash: Sha256,
    bytes: u64,
}

impl Tally {
    pub(crate) fn update(&mut self, chunk: &[u8]) {
        self.hash.update(chunk);
        self.bytes += chunk.len() as u64;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn finish(self) -> Digest {
        let mut sha256 = String::with_capacity(64);
        for byte in self.hash.finalize() {
            // Writing to a String cannot fail.
            let _ = write!(sha256, "{byte:02x}");
        }
        Digest { sha256, bytes: self.bytes }
    }

    /// Takes in the rest of a reader.
    pub(crate) fn drain(&mut self, mut from: impl Read) -> io::Result<()> {
        let mut buffer = vec![0; CHUNK];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => self.update(&buffer[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

/// The digest of a whole file.
pub(crate) fn of_file(path: &Path) -> io::Result<Digest> {
    let mut tally = Tally::default();
    tally.drain(File::open(path)?)?;
    Ok(tally.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_and_counts() {
        // FIPS 180-2, appendix B.1: SHA-256 of "abc".
        let mut tally = Tally::default();
        tally.update(b"a");
        tally.drain(&b"bc"[..]).unwrap();
        let digest = tally.finish();
        assert_eq!(
            digest.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(digest.bytes, 3);
    }
}
