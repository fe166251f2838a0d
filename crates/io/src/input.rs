//! Where bytes come from: a file, standard input or memory; `.gz` and `.zst` are unpacked on the
//! way, recognized by their first bytes, not by their name.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use dissensus_core::{Event, Progress, Unit};

use crate::error::{Problem, ReadError};

/// How much of the beginning is looked at to tell the format.
pub const HEAD: usize = 256 * 1024;

/// How often progress is reported.
const INTERVAL: Duration = Duration::from_millis(100);

/// An opened source.
pub struct Input {
    /// The file as the user named it.
    pub name: String,
    /// The first [`HEAD`] bytes (unpacked), or all of a shorter source.
    pub head: Vec<u8>,
    /// Whether `head` is the whole source.
    pub whole: bool,
    rest: Box<dyn Read + Send>,
}

impl Input {
    /// Opens a file, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        if name == "-" {
            return Self::from_reader("standard input", Box::new(io::stdin()));
        }
        Self::from_reader(&name, Box::new(open_file(path)?))
    }

    /// Opens a file, or standard input for `-`, and lets `read` read it; `progress` is told how many
    /// bytes were read so far, several times per second.
    pub fn read_with_progress<T, E: From<ReadError>>(
        path: &Path,
        progress: &dyn Progress,
        read: impl FnOnce(Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let name = path.display().to_string();
        let (task, inner, total): (&str, Box<dyn Read + Send>, _) = if name == "-" {
            ("standard input", Box::new(io::stdin()), None)
        } else {
            let file = open_file(path)?;
            let size = file.metadata().ok().map(|metadata| metadata.len());
            (&name, Box::new(file), size)
        };
        let bytes = Arc::new(AtomicU64::new(0));
        let counted = Counted { inner, bytes: bytes.clone() };
        let input = Self::from_reader(task, Box::new(counted))?;
        progress.report(Event::Started { task, total, unit: Unit::Bytes });
        let result = std::thread::scope(|scope| {
            let (running, ended) = mpsc::channel::<()>();
            scope.spawn(move || {
                while ended.recv_timeout(INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout) {
                    let done = bytes.load(Ordering::Relaxed);
                    progress.report(Event::Advanced { task, done, total, detail: "" });
                }
            });
            let result = read(input);
            drop(running);
            result
        });
        progress.report(Event::Finished { task });
        result
    }

    /// Bytes in memory.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, ReadError> {
        Self::from_reader(name, Box::new(Cursor::new(bytes)))
    }

    /// Any reader.
    pub fn from_reader(name: &str, reader: Box<dyn Read + Send>) -> Result<Self, ReadError> {
        let fail = |error: io::Error| ReadError::new(name, error);
        let (magic, reader) = peek(reader, 4).map_err(fail)?;
        let packed = Arc::new(AtomicU64::new(0));
        let counted = |reader| Counted { inner: reader, bytes: packed.clone() };
        let unpacked = |inner| Box::new(Unpacked { inner, bytes: 0, packed: packed.clone() });
        let reader: Box<dyn Read + Send> = match magic.as_slice() {
            [0x1f, 0x8b, ..] => {
                let reader = BufReader::new(counted(reader));
                unpacked(Box::new(flate2::bufread::MultiGzDecoder::new(reader)))
            }
            [0x28, 0xb5, 0x2f, 0xfd] => {
                unpacked(Box::new(zstd::Decoder::new(counted(reader)).map_err(fail)?))
            }
            _ => reader,
        };
        let mut head = Vec::new();
        let mut rest = reader;
        rest.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(fail)?;
        let whole = head.len() < HEAD;
        if head.is_empty() {
            return Err(ReadError::new(name, Problem::Empty));
        }
        Ok(Self { name: name.to_owned(), head, whole, rest })
    }

    /// The whole source from its beginning, as a stream.
    pub fn into_stream(self) -> Box<dyn Read + Send> {
        if self.whole {
            return Box::new(Cursor::new(self.head));
        }
        Box::new(Cursor::new(self.head).chain(self.rest))
    }

    /// The whole source in memory, if it is no larger than `limit` bytes.
    pub fn into_bytes(self, limit: u64) -> Result<Vec<u8>, ReadError> {
        let Self { name, mut head, whole, mut rest } = self;
        let fail = |problem: Problem| ReadError::new(name.clone(), problem);
        if !whole {
            let left = (limit + 1).saturating_sub(head.len() as u64);
            rest.by_ref().take(left).read_to_end(&mut head).map_err(|e| fail(e.into()))?;
        }
        if head.len() as u64 > limit {
            return Err(fail(Problem::TooLarge { what: "the file", limit }));
        }
        Ok(head)
    }
}

/// Counts what is read.
struct Counted {
    inner: Box<dyn Read + Send>,
    bytes: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.bytes.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// What comes out of a packed source: no more than so many times what went in, beyond a size that
/// harms nobody. Votes pack ten to fifty times; a bomb, a thousand times and more.
struct Unpacked {
    inner: Box<dyn Read + Send>,
    bytes: u64,
    packed: Arc<AtomicU64>,
}

/// The most that something packed may unpack to, in its own size.
pub const MOST_TIMES: u64 = 200;
const HARMLESS: u64 = 64 << 20;

/// The bytes that an archive of so many may unpack to: [`MOST_TIMES`] as many, or a gigabyte, which
/// arrays of few different numbers may come to.
pub fn most_unpacked(packed: u64) -> u64 {
    packed.saturating_mul(MOST_TIMES).max(1 << 30)
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.bytes += n as u64;
        let most = self.packed.load(Ordering::Relaxed).saturating_mul(MOST_TIMES);
        if self.bytes > most.max(HARMLESS) {
            let text =
                format!("it unpacks to more than {MOST_TIMES} times its size: unpack it first");
            return Err(io::Error::other(text));
        }
        Ok(n)
    }
}

/// Opens a file, which a folder is not.
pub fn open_file(path: &Path) -> Result<File, ReadError> {
    let open = || -> io::Result<File> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::other("it is a folder; name a file in it"));
        }
        Ok(file)
    };
    open().map_err(|error| ReadError::new(path.display().to_string(), error))
}

fn peek(mut reader: Box<dyn Read + Send>, n: u64) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut head = Vec::new();
    reader.by_ref().take(n).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(reader))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn packed_and_plain_sources_read_alike() {
        let text = "item,label\n".repeat(50_000);
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(text.as_bytes()).unwrap();
        let packed = [
            text.clone().into_bytes(),
            gz.finish().unwrap(),
            zstd::encode_all(text.as_bytes(), 1).unwrap(),
        ];
        for bytes in packed {
            let input = Input::from_bytes("x", bytes.clone()).unwrap();
            assert_eq!((input.head.len(), input.whole), (HEAD, false));
            let mut all = String::new();
            input.into_stream().read_to_string(&mut all).unwrap();
            assert_eq!(all, text);
            let input = Input::from_bytes("x", bytes.clone()).unwrap();
            assert_eq!(input.into_bytes(u64::MAX - 1).unwrap(), text.as_bytes());
            let input = Input::from_bytes("x", bytes).unwrap();
            let error = input.into_bytes(300_000).unwrap_err();
            assert_eq!(error.problem.code(), "too-large");
        }
    }

    #[test]
    fn a_bomb_is_refused_and_dull_tables_are_not() {
        let pack = |text: &[u8]| zstd::encode_all(text, 1).unwrap();
        let dull = pack(&b"item,label\n".repeat(5 << 20));
        assert!(Input::from_bytes("x", dull).unwrap().into_bytes(u64::MAX - 1).is_ok());
        let bomb = pack(&vec![b' '; 80 << 20]);
        let error = Input::from_bytes("x", bomb).unwrap().into_bytes(u64::MAX - 1).unwrap_err();
        let wanted = "x: it unpacks to more than 200 times its size: unpack it first";
        assert_eq!(error.to_string(), wanted);
    }

    #[test]
    fn reading_reports_how_far_it_is() {
        #[derive(Default)]
        struct Log(std::sync::Mutex<Vec<String>>);
        impl Progress for Log {
            fn report(&self, event: Event<'_>) {
                self.0.lock().unwrap().push(match event {
                    Event::Started { total, .. } => format!("of {total:?}"),
                    Event::Advanced { done, .. } => format!("at {done}"),
                    _ => "end".to_owned(),
                });
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "item,label\n").unwrap();
        let log = Log::default();
        let read = |input: Input| {
            std::thread::sleep(4 * INTERVAL);
            input.into_bytes(100)
        };
        assert_eq!(Input::read_with_progress(&path, &log, read).unwrap().len(), 11);
        let log = log.0.into_inner().unwrap();
        assert_eq!(log.first().unwrap(), "of Some(11)");
        assert_eq!((log[1].as_str(), log.last().unwrap().as_str()), ("at 11", "end"));
    }

    #[test]
    fn empty_and_truncated_sources_are_named() {
        let empty = Input::from_bytes("x", vec![]).err().unwrap();
        assert_eq!(empty.to_string(), "x: the file is empty");
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(b"item,label\na,b\n").unwrap();
        let mut bytes = gz.finish().unwrap();
        bytes.truncate(bytes.len() - 9);
        let cut = Input::from_bytes("x", bytes).err().unwrap();
        assert_eq!(cut.problem.code(), "io");
    }
}
