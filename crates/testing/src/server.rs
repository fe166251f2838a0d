//! A hand-written HTTP server on the loopback interface, which can also fail in the usual ways.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a client asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The first byte of a `Range` that has no end.
    pub fn from(&self) -> Option<usize> {
        let range = self.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?;
        Some(range.parse().unwrap())
    }

    fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut words = line.split(' ').map(str::to_owned);
        let (method, path) = (words.next()?, words.next()?);
        let mut request = Self { method, path, headers: Vec::new(), body: Vec::new() };
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let Some((name, value)) = header.trim().split_once(':') else { break };
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = request.header("content-length").and_then(|length| length.parse().ok());
        request.body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut request.body).ok()?;
        Some(request)
    }
}

/// What the server sends.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub how: How,
    /// What stands for the true `Content-Length`; `Some(None)` sends none.
    pub length: Option<Option<usize>>,
    /// Sends only so much of the body.
    pub cut: Option<usize>,
    /// Before closing, does nothing for so long, or until the client hangs up.
    pub stall: Duration,
}

/// How a reply is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Whole,
    /// In pieces of three bytes, without a length.
    Chunked,
    /// A byte at a time, so long apart.
    Drip(Duration),
    /// As many blanks as the client takes.
    Flood,
    /// Not at all.
    Silent,
}

impl Reply {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let (headers, stall) = (Vec::new(), Duration::ZERO);
        Self { status, headers, body, how: How::Whole, length: None, cut: None, stall }
    }

    pub fn ok(body: &[u8]) -> Self {
        Self::new(200, body)
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn cut(mut self, at: usize) -> Self {
        self.cut = Some(at);
        self
    }

    pub fn how(mut self, how: How) -> Self {
        self.how = how;
        self
    }

    pub fn stall(mut self, stall: Duration) -> Self {
        self.stall = stall;
        self
    }

    /// As a server that knows ranges and tags would answer.
    pub fn ranged(body: &[u8], etag: &str, request: &Request) -> Self {
        let current = request.header("if-range").is_none_or(|tag| tag == etag);
        match request.from() {
            Some(from) if current && from < body.len() => Self::new(206, &body[from..])
                .header("ETag", etag)
                .header("Content-Range", format!("bytes {from}-{}/{}", body.len() - 1, body.len())),
            Some(_) if current => {
                Self::new(416, "").header("Content-Range", format!("bytes */{}", body.len()))
            }
            _ => Self::ok(body).header("ETag", etag),
        }
    }

    fn send(&self, mut stream: &TcpStream, method: &str) -> std::io::Result<()> {
        if self.how == How::Silent {
            return Ok(());
        }
        write!(stream, "HTTP/1.1 {} Status\r\nConnection: close\r\n", self.status)?;
        self.headers.iter().try_for_each(|(name, value)| write!(stream, "{name}: {value}\r\n"))?;
        match (self.how, self.length.unwrap_or(Some(self.body.len()))) {
            (How::Chunked, _) => write!(stream, "Transfer-Encoding: chunked\r\n\r\n")?,
            (How::Flood, _) | (_, None) => write!(stream, "\r\n")?,
            (_, Some(length)) => write!(stream, "Content-Length: {length}\r\n\r\n")?,
        }
        let body = &self.body[..self.cut.unwrap_or(self.body.len())];
        match self.how {
            _ if method == "HEAD" => Ok(()),
            How::Drip(pause) => body.iter().try_for_each(|byte| {
                std::thread::sleep(pause);
                stream.write_all(&[*byte])
            }),
            How::Chunked => {
                body.chunks(3).try_for_each(|part| {
                    write!(stream, "{:x}\r\n", part.len())?;
                    stream.write_all(part)?;
                    write!(stream, "\r\n")
                })?;
                write!(stream, "0\r\n\r\n")
            }
            How::Flood => loop {
                stream.write_all(&[b' '; 4096])?;
            },
            _ => stream.write_all(body),
        }
    }
}

/// A server that lives as long as the value.
pub struct Server {
    pub base: String,
    requests: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// `answer` gets the number of the request, from 0, and the request.
    pub fn start(answer: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let (requests, stop) = (Arc::clone(&requests), Arc::clone(&stop));
            let answer = Arc::new(answer);
            move || {
                for stream in listener.incoming().flatten() {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    // On a thread each: a client that gave up on one asks again meanwhile.
                    let (requests, answer) = (Arc::clone(&requests), Arc::clone(&answer));
                    std::thread::spawn(move || serve(&stream, &requests, &*answer));
                }
            }
        });
        Self { base, requests, stop, thread: Some(thread) }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(self.base.trim_start_matches("http://"));
        self.thread.take().map(JoinHandle::join);
    }
}

fn serve(
    stream: &TcpStream,
    requests: &Mutex<Vec<Request>>,
    answer: &impl Fn(usize, &Request) -> Reply,
) {
    let Some(request) = Request::read(stream) else { return };
    let number = {
        let mut requests = requests.lock().unwrap();
        requests.push(request.clone());
        requests.len() - 1
    };
    let reply = answer(number, &request);
    // A client that hangs up early is part of the tests.
    let _ = reply.send(stream, &request.method);
    if !reply.stall.is_zero() {
        let _ = stream.set_read_timeout(Some(reply.stall));
        let _ = (&*stream).read(&mut [0]);
    }
}
