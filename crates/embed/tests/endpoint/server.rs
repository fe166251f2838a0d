//! A hand-written HTTP server on the loopback interface. A text's vector is a function of the text.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

/// What a request asked for.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn texts(&self) -> Vec<String> {
        let texts = self.body["input"].as_array().unwrap();
        texts.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }
}

/// What the server sends.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) how: How,
}

/// How it sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Whole,
    /// In pieces of three bytes, without a length.
    Chunked,
    /// Only so much, then the connection ends, though more was promised.
    Cut(usize),
    /// A byte at a time, so long apart.
    Drip(Duration),
    /// Nothing, for so long.
    Hang(Duration),
    /// As many zeros as the client takes.
    Flood,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Reply { status, headers: Vec::new(), body: body.into(), how: How::Whole }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn how(mut self, how: How) -> Self {
        self.how = how;
        self
    }

    /// What a good server answers.
    pub(crate) fn good(request: &Request) -> Self {
        Self::json(&answer(&request.texts()))
    }

    pub(crate) fn json(value: &Value) -> Self {
        Reply::new(200, value.to_string())
    }
}

/// The vector of a text.
pub(crate) fn vector(text: &str) -> [f32; 3] {
    let sum: u32 = text.bytes().map(u32::from).sum();
    [text.len() as f32, sum as f32 / 7.0, -0.25]
}

pub(crate) fn vectors(texts: &[&str]) -> Vec<f32> {
    texts.iter().flat_map(|text| vector(text)).collect()
}

/// A good answer; a token a text.
pub(crate) fn answer(texts: &[String]) -> Value {
    let row = |(index, text): (usize, &String)| json!({"index": index, "embedding": vector(text)});
    let data: Vec<Value> = texts.iter().enumerate().map(row).collect();
    json!({"object": "list", "data": data, "model": "small-1", "usage": {"total_tokens": texts.len()}})
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
    pub(crate) fn start(answer: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Self {
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
                    std::thread::spawn(move || serve(stream, &requests, &*answer));
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
        self.thread.take().map(JoinHandle::join);
    }
}

fn serve(
    stream: TcpStream,
    requests: &Mutex<Vec<Request>>,
    answer: &(dyn Fn(usize, &Request) -> Reply + Send + Sync),
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let Some(request) = read(&mut reader) else { return };
    let number = {
        let mut requests = requests.lock().unwrap();
        requests.push(request.clone());
        requests.len() - 1
    };
    // A client that hangs up early is part of the tests.
    let _ = send(stream, &answer(number, &request));
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).ok()?;
    Some(Request { line: line.trim().to_owned(), authorization, body })
}

fn send(mut stream: TcpStream, reply: &Reply) -> std::io::Result<()> {
    let Reply { status, headers, body, how } = reply;
    if let How::Hang(pause) = how {
        std::thread::sleep(*pause);
        return Ok(());
    }
    write!(stream, "HTTP/1.1 {status} Status\r\nConnection: close\r\n")?;
    headers.iter().try_for_each(|(name, value)| write!(stream, "{name}: {value}\r\n"))?;
    match how {
        How::Chunked => write!(stream, "Transfer-Encoding: chunked\r\n\r\n")?,
        How::Flood => write!(stream, "\r\n")?,
        _ => write!(stream, "Content-Length: {}\r\n\r\n", body.len())?,
    }
    match how {
        How::Cut(at) => stream.write_all(&body[..*at]),
        How::Drip(pause) => body.iter().try_for_each(|byte| {
            std::thread::sleep(*pause);
            stream.write_all(&[*byte])?;
            stream.flush()
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
