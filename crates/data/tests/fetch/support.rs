//! A hand-written HTTP server on the loopback interface, and datasets that point to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use dissensus_data::catalogue::{
    Archive, Dataset, Format, Kind, Origin, RemoteFile, Source, Variant,
};
use dissensus_data::fetch::Options;
use sha2::{Digest, Sha256};

/// What a request asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// The first byte of a `Range`.
    pub(crate) from: Option<usize>,
    pub(crate) if_range: Option<String>,
    pub(crate) method: String,
    pub(crate) authorization: Option<String>,
}

/// What the server sends.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// Overrides the true `Content-Length`; `Some(None)` sends none.
    pub(crate) length: Option<Option<usize>>,
    /// Send this much of the body, then stop.
    pub(crate) cut: Option<usize>,
    /// Before closing, do nothing for so long, or until the client hangs up.
    pub(crate) stall: Duration,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Reply {
            status,
            headers: Vec::new(),
            body: body.into(),
            length: None,
            cut: None,
            stall: Duration::ZERO,
        }
    }

    pub(crate) fn ok(body: &[u8]) -> Self {
        Reply::new(200, body)
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn cut(mut self, at: usize) -> Self {
        self.cut = Some(at);
        self
    }

    /// As a server that knows ranges and tags would answer.
    pub(crate) fn ranged(body: &[u8], etag: &str, request: &Request) -> Self {
        let current = request.if_range.as_deref().is_none_or(|tag| tag == etag);
        match request.from {
            Some(from) if current && from < body.len() => Reply::new(206, &body[from..])
                .header("ETag", etag)
                .header("Content-Range", format!("bytes {from}-{}/{}", body.len() - 1, body.len())),
            Some(from) if current => {
                assert!(from >= body.len());
                Reply::new(416, "").header("Content-Range", format!("bytes */{}", body.len()))
            }
            _ => Reply::ok(body).header("ETag", etag),
        }
    }
}

/// A server that lives as long as the value.
pub(crate) struct Server {
    pub(crate) base: String,
    requests: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// `answer` gets the number of the request, from 0, and the request.
    pub(crate) fn start(answer: impl Fn(usize, &Request) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let (requests, stop) = (Arc::clone(&requests), Arc::clone(&stop));
            move || {
                for stream in listener.incoming() {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let Ok(stream) = stream else { continue };
                    serve(stream, &requests, &answer);
                }
            }
        });
        Server { base, requests, stop, thread: Some(thread) }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(self.base.trim_start_matches("http://"));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    mut stream: TcpStream,
    requests: &Mutex<Vec<Request>>,
    answer: &impl Fn(usize, &Request) -> Reply,
) {
    let limit = Some(Duration::from_secs(5));
    stream.set_read_timeout(limit).unwrap();
    stream.set_write_timeout(limit).unwrap();
    let Some(request) = read_request(&stream) else { return };
    let number = {
        let mut all = requests.lock().unwrap();
        all.push(request.clone());
        all.len() - 1
    };
    let reply = answer(number, &request);
    let mut head = format!("HTTP/1.1 {} X\r\nConnection: close\r\n", reply.status);
    if let Some(length) = reply.length.unwrap_or(Some(reply.body.len())) {
        head += &format!("Content-Length: {length}\r\n");
    }
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += "\r\n";
    // The client may hang up early, which is its right.
    let _ = stream.write_all(head.as_bytes());
    if request.method != "HEAD" {
        let _ = stream.write_all(&reply.body[..reply.cut.unwrap_or(reply.body.len())]);
    }
    let _ = stream.flush();
    if !reply.stall.is_zero() {
        // Ends early when the client hangs up.
        let _ = stream.set_read_timeout(Some(reply.stall));
        let _ = stream.read(&mut [0]);
    }
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines();
    let line = lines.next()?.ok()?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut request = Request { path, from: None, if_range: None, method, authorization: None };
    for line in lines {
        let line = line.ok()?;
        if line.is_empty() {
            return Some(request);
        }
        let (name, value) = line.split_once(':')?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "range" => {
                request.from = value
                    .strip_prefix("bytes=")
                    .and_then(|v| v.strip_suffix('-'))
                    .map(|v| v.parse().unwrap());
            }
            "if-range" => request.if_range = Some(value.to_owned()),
            "authorization" => request.authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    None
}

/// Bytes that do not repeat within a file.
pub(crate) fn content(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(0x9E37_79B9_7F4A_7C15);
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

fn leak<T>(value: Vec<T>) -> &'static [T] {
    Box::leak(value.into_boxed_slice())
}

fn text(value: String) -> &'static str {
    Box::leak(value.into_boxed_str())
}

/// The catalogue's entry of a file at `path` with these bytes.
pub(crate) fn file(path: &'static str, bytes: &[u8], sources: Vec<Source>) -> RemoteFile {
    RemoteFile {
        path,
        accepted: leak(vec![Variant {
            sha256: text(sha256(bytes)),
            bytes: bytes.len() as u64,
            origin: Origin::Published,
            note: "made by the test",
        }]),
        sources: leak(sources),
    }
}

pub(crate) fn direct(url: &'static str) -> Source {
    Source::Direct { url }
}

pub(crate) fn member(format: Format, known: Option<&[u8]>, member: &'static str) -> Source {
    let archive: &'static Archive = Box::leak(Box::new(Archive {
        url: "https://example.org/archive",
        file: "archive",
        format,
        known: known.map(|bytes| (bytes.len() as u64, text(sha256(bytes)))),
    }));
    Source::Member { archive, member }
}

pub(crate) fn dataset(files: Vec<RemoteFile>) -> Dataset {
    Dataset {
        name: "made-up",
        title: "A dataset of the tests",
        what: "nothing",
        licence: "none",
        homepage: Some("https://example.org/home"),
        citation: "none",
        kind: Kind::Fetched,
        made_by: None,
        files: leak(files),
        votes: &[],
    }
}

/// A dataset of the one file `a/data.bin`, at one address.
pub(crate) fn single(bytes: &[u8]) -> Dataset {
    dataset(vec![file("a/data.bin", bytes, vec![direct("https://example.org/data.bin")])])
}

/// Settings under which no test waits long.
pub(crate) fn options(cache: &Path, server: Option<&Server>) -> Options {
    let mut options = Options::new(cache);
    options.base_url = server.map(|s| s.base.clone());
    options.retries = 3;
    options.backoff = Duration::from_millis(1);
    options.connect_timeout = Duration::from_secs(5);
    options.read_timeout = Duration::from_secs(5);
    options.lock_wait = Duration::from_secs(5);
    options
}

/// What [`files_below`] finds in a clean cache.
pub(crate) const NOTHING: [PathBuf; 0] = [];

/// Every file below a directory, except the lock that every cache keeps.
pub(crate) fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().unwrap() != ".lock" {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
