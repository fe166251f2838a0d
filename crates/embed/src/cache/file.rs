//! The file of one encoder: finding vectors in it, and appending.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dissensus_io::Lock;

use super::key::Key;
use super::layout::{self, Header, LONGEST_HEADER};
use super::{Cache, CacheError};
use crate::Identity;

/// Appending takes milliseconds; a lock that is held for longer is an error.
const LONGEST: Duration = Duration::from_secs(120);

/// What is known of the file. It is only ever added to.
#[derive(Default)]
struct Known {
    header: Option<Header>,
    /// Where the record of a key begins.
    places: HashMap<Key, u64>,
    /// The end of the last good record.
    end: u64,
}

/// The vectors of one encoder on disk.
pub(super) struct VectorFile {
    path: PathBuf,
    lock: PathBuf,
    identity: Identity,
    known: Mutex<Known>,
}

impl VectorFile {
    /// Looks at what is there; nothing is written.
    pub(super) fn open(cache: &Cache, identity: &Identity) -> Result<Self, CacheError> {
        let Identity { name, digest } = identity;
        if digest.len() != 64 || !digest.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(CacheError::Digest { name: name.clone(), digest: digest.clone() });
        }
        let file = Self {
            path: cache.folder().join(format!("{digest}.vectors")),
            lock: cache.folder().join(format!("{digest}.lock")),
            identity: identity.clone(),
            known: Mutex::default(),
        };
        if let Some(mut opened) = file.opened()? {
            file.look(&mut file.known(), &mut opened)?;
        }
        Ok(file)
    }

    pub(super) fn width(&self) -> Option<usize> {
        self.known().header.map(|header| header.width)
    }

    /// Whether the vectors here have the width of the encoder's, where both are known.
    pub(super) fn check_width(&self, found: Option<usize>) -> Result<(), CacheError> {
        match (self.width(), found) {
            (Some(expected), Some(found)) => self.fits(expected, found),
            _ => Ok(()),
        }
    }

    fn fits(&self, expected: usize, found: usize) -> Result<(), CacheError> {
        if expected == found {
            return Ok(());
        }
        let (path, name) = (self.path.clone(), self.identity.name.clone());
        Err(CacheError::Width { path, name, expected, found })
    }

    /// The vector of each key, where there is one. What it is read from is checked again: the file
    /// may have been replaced.
    pub(super) fn get(&self, keys: &[Key]) -> Result<Vec<Option<Vec<f32>>>, CacheError> {
        let mut found = vec![None; keys.len()];
        let known = self.known();
        let (Some(header), Some(mut file)) = (known.header, self.opened()?) else {
            return Ok(found);
        };
        let mut record = Vec::new();
        for (key, found) in keys.iter().zip(&mut found) {
            let Some(&place) = known.places.get(key) else { continue };
            record.resize(header.record(), 0);
            let read = file.seek(SeekFrom::Start(place)).and_then(|_| file.read_exact(&mut record));
            match read {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => continue,
                read => read.map_err(|e| self.io("reading", e))?,
            }
            if let Some((_, vector)) = layout::parse_record(&record).filter(|(k, _)| k == key) {
                *found = Some(layout::numbers(vector).collect());
            }
        }
        Ok(found)
    }

    /// Appends the vectors (row by row) of these keys. They are on disk when this returns.
    pub(super) fn append(
        &self,
        keys: &[Key],
        width: usize,
        vectors: &[f32],
    ) -> Result<(), CacheError> {
        let mut known = self.known();
        let _lock = match Lock::take_within(&self.lock, LONGEST) {
            Ok(Some(lock)) => Some(lock),
            Ok(None) => return Err(CacheError::Busy { lock: self.lock.clone() }),
            // Some network file systems know no locks; there we do without.
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => None,
            Err(error) => return Err(self.io("locking", error)),
        };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&self.path).map_err(|e| self.io("opening", e))?;
        // Others may have appended, or removed the file.
        self.look(&mut known, &mut file)?;
        let mut bytes = Vec::new();
        let header = match known.header {
            Some(header) => header,
            None => {
                let wide = u32::try_from(width).unwrap_or(u32::MAX);
                bytes = layout::header(wide, &self.identity.digest, &self.identity.name);
                Header { width, length: bytes.len() }
            }
        };
        self.fits(header.width, width)?;
        let start = known.end;
        let mut places = Vec::new();
        for (key, vector) in keys.iter().zip(vectors.chunks_exact(width)) {
            places.push((*key, start + bytes.len() as u64));
            layout::push_record(&mut bytes, key, vector);
        }
        // Whatever lies behind the last good record was left by a writer that is no more.
        file.set_len(start)
            .and_then(|()| file.seek(SeekFrom::Start(start)))
            .and_then(|_| file.write_all(&bytes))
            .and_then(|()| file.sync_data())
            .map_err(|e| self.io("writing", e))?;
        known.header = Some(header);
        known.end = start + bytes.len() as u64;
        known.places.extend(places);
        Ok(())
    }

    /// Takes in what was not there the last time. Bytes behind the last good record are looked at
    /// again the next time: they may belong to a record that is being written.
    fn look(&self, known: &mut Known, file: &mut File) -> Result<(), CacheError> {
        let io = |error| self.io("reading", error);
        let length = file.seek(SeekFrom::End(0)).map_err(io)?;
        if length < known.end {
            *known = Known::default();
        }
        let header = match known.header {
            Some(header) => header,
            None => {
                let mut start = Vec::new();
                file.rewind().map_err(io)?;
                Read::by_ref(file)
                    .take(LONGEST_HEADER as u64)
                    .read_to_end(&mut start)
                    .map_err(io)?;
                let parsed = layout::parse_header(&start, &self.identity.digest);
                let foreign = |problem| CacheError::Foreign { path: self.path.clone(), problem };
                let Some(header) = parsed.map_err(foreign)? else { return Ok(()) };
                known.header = Some(header);
                known.end = header.length as u64;
                header
            }
        };
        let mut place = known.end;
        // A header may name any width: no more is allocated than the file has.
        if length - place < header.record() as u64 {
            return Ok(());
        }
        file.seek(SeekFrom::Start(place)).map_err(io)?;
        let mut reader = BufReader::with_capacity(1 << 20, file);
        let mut record = vec![0; header.record()];
        while length - place >= record.len() as u64 {
            reader.read_exact(&mut record).map_err(io)?;
            let next = place + record.len() as u64;
            if let Some((key, _)) = layout::parse_record(&record) {
                known.places.insert(key, place);
                known.end = next;
            }
            place = next;
        }
        Ok(())
    }

    /// The file, if it is there.
    fn opened(&self) -> Result<Option<File>, CacheError> {
        match File::open(&self.path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.io("opening", error)),
        }
    }

    fn io(&self, what: &'static str, source: std::io::Error) -> CacheError {
        CacheError::Io { what, path: self.path.clone(), source }
    }

    /// What a thread that panicked knew is still so.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
