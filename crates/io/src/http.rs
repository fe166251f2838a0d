//! One HTTP client for everything that talks to a server: downloads, model hubs, endpoints.
//!
//! A [`Client`] sends a [`Request`] and gives a [`Response`] for any status; only what prevents an
//! answer is an [`HttpError`], whose [`kind`](HttpError::kind) says whether another attempt may
//! help and whether the server may have done work. Redirects of GET and HEAD requests are followed;
//! a [`Secret`] is sent to the origin of the first address only, and only encrypted or to this
//! machine. Nothing is sent twice here: [`Backoff`] and [`Response::retry_after`] tell a caller how
//! long to wait before it tries again.
//!
//! ```no_run
//! use dissensus_io::http::{Client, Request, Settings};
//!
//! let client = Client::new(&Settings::default());
//! let response = client.send(&Request::get("https://example.org/votes.csv"))?;
//! assert_eq!(response.status, 200);
//! let bytes = response.read_to_vec(1 << 20)?;
//! # Ok::<(), dissensus_io::http::HttpError>(())
//! ```

mod address;
mod error;
mod retry;
mod secret;

use std::io::Read;
use std::time::{Duration, SystemTime};

use ureq::http::{self, HeaderMap, HeaderValue, header};
use ureq::{Agent, Body};

pub use address::{is_loopback, same_origin, split_url};
pub use error::{HttpError, HttpErrorKind};
pub use retry::{Backoff, is_transient, parse_retry_after};
pub use secret::Secret;

/// How long a client waits, and how far it follows.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long a transfer may stand still.
    pub read_timeout: Option<Duration>,
    /// How long a request may take in all.
    pub total_timeout: Option<Duration>,
    /// How many redirects are followed; with 0 the redirect is the response.
    pub redirects: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(30),
            read_timeout: Some(Duration::from_secs(60)),
            total_timeout: None,
            redirects: 10,
        }
    }
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Header and body.
    Get,
    /// The header alone.
    Head,
    /// With a body.
    Post,
}

/// What is sent.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The method.
    pub method: Method,
    /// The address, http or https.
    pub url: &'a str,
    /// Headers besides the usual ones.
    pub headers: Vec<(&'static str, String)>,
    /// Sent as `Authorization: Bearer`, to the origin of `url` only.
    pub secret: Option<&'a Secret>,
    /// The body of a POST.
    pub body: &'a [u8],
}

impl<'a> Request<'a> {
    /// A GET request without further headers.
    pub fn get(url: &'a str) -> Self {
        Self { method: Method::Get, url, headers: Vec::new(), secret: None, body: &[] }
    }

    /// A HEAD request without further headers.
    pub fn head(url: &'a str) -> Self {
        Self { method: Method::Head, ..Self::get(url) }
    }

    /// A POST request of JSON.
    pub fn post_json(url: &'a str, body: &'a [u8]) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { method: Method::Post, headers, body, ..Self::get(url) }
    }

    /// The same with a header more.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// What the server answered; the body is still to be read.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The address that answered, after redirects.
    pub url: String,
    headers: HeaderMap,
    body: Body,
}

impl Response {
    /// A header, where it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        Some(self.headers.get(name)?.to_str().ok()?.trim())
    }

    /// A header that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.header(name)?.parse().ok()
    }

    /// How long the server asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        parse_retry_after(self.header("retry-after")?, SystemTime::now())
    }

    /// Where a redirect leads to, as an absolute address.
    pub fn redirect(&self) -> Option<String> {
        let is_redirect = matches!(self.status, 301 | 302 | 303 | 307 | 308);
        is_redirect.then(|| address::join(&self.url, self.header("location")?)).flatten()
    }

    /// The body, to be read piece by piece.
    pub fn into_reader(self) -> impl Read + Send + 'static {
        self.body.into_reader()
    }

    /// The whole body, of at most so many bytes.
    pub fn read_to_vec(mut self, limit: u64) -> Result<Vec<u8>, HttpError> {
        let bytes = self.body.with_config().limit(limit).read_to_vec();
        bytes.map_err(|error| HttpError::new(&self.url, &error))
    }
}

/// Sends requests.
#[derive(Clone, Debug)]
pub struct Client {
    agent: Agent,
    /// For addresses on this machine: a proxy from the environment is for the outside world.
    direct: Agent,
    redirects: u32,
}

impl Client {
    /// A client with these settings.
    pub fn new(settings: &Settings) -> Self {
        let config = || {
            Agent::config_builder()
                .timeout_connect(Some(settings.connect_timeout))
                .timeout_per_read(settings.read_timeout)
                .timeout_per_write(settings.read_timeout)
                .timeout_global(settings.total_timeout)
                .http_status_as_error(false)
                // Followed here, where it is known who may see a secret.
                .max_redirects(0)
                .user_agent(concat!("dissensus/", env!("CARGO_PKG_VERSION")))
                // A compressed transfer would have other lengths and ranges than the file.
                .accept_encoding("identity")
        };
        Self {
            agent: config().build().into(),
            direct: config().proxy(None).build().into(),
            redirects: settings.redirects,
        }
    }

    /// Sends a request and follows redirects.
    pub fn send(&self, request: &Request<'_>) -> Result<Response, HttpError> {
        let mut url = request.url.to_owned();
        for _ in 0..=self.redirects {
            let response = self.send_once(request, &url)?;
            match response.redirect() {
                Some(next) if request.method != Method::Post && self.redirects > 0 => url = next,
                _ => return Ok(response),
            }
        }
        Err(HttpError::of(request.url, HttpErrorKind::TooManyRedirects(self.redirects)))
    }

    /// Sends a request to an address that a redirect may have named, and follows no redirect.
    pub fn send_once(&self, request: &Request<'_>, url: &str) -> Result<Response, HttpError> {
        if split_url(url).is_none() {
            return Err(HttpError::of(url, HttpErrorKind::BadUrl));
        }
        let bad = |name: &str| HttpError::of(url, HttpErrorKind::BadHeader(name.to_owned()));
        let method = match request.method {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
        };
        let mut call = http::Request::builder().method(method).uri(url);
        for (name, value) in &request.headers {
            let value = HeaderValue::from_str(value).map_err(|_| bad(name))?;
            call = call.header(*name, value);
        }
        let may_see =
            same_origin(request.url, url) && (is_loopback(url) || url.starts_with("https:"));
        if let Some(secret) = request.secret.filter(|_| may_see) {
            call = call.header(
                header::AUTHORIZATION,
                secret.header().ok_or_else(|| bad("authorization"))?,
            );
        }
        let agent = self.agent(url);
        let result = match request.method {
            Method::Post => call.body(request.body).map_err(Into::into).and_then(|r| agent.run(r)),
            _ => call.body(()).map_err(Into::into).and_then(|r| agent.run(r)),
        };
        let response = result.map_err(|error| HttpError::new(url, &error))?;
        let (head, body) = response.into_parts();
        let status = head.status.as_u16();
        Ok(Response { status, url: url.to_owned(), headers: head.headers, body })
    }

    /// Sends a request of any method as it is, and reads an answer of at most `most` bytes. Redirects are
    /// not followed.
    pub fn exchange(
        &self,
        request: http::Request<&[u8]>,
        most: u64,
    ) -> Result<http::Response<Vec<u8>>, HttpError> {
        let url = request.uri().to_string();
        if split_url(&url).is_none() {
            return Err(HttpError::of(&url, HttpErrorKind::BadUrl));
        }
        let bodiless = matches!(*request.method(), http::Method::GET | http::Method::HEAD);
        let agent = self.agent(&url);
        let result = match bodiless {
            true => agent.run(request.map(|_| ())),
            false => agent.run(request),
        };
        let fail = |error: ureq::Error| HttpError::new(&url, &error);
        let (head, mut body) = result.map_err(fail)?.into_parts();
        let bytes = body.with_config().limit(most).read_to_vec().map_err(fail)?;
        Ok(http::Response::from_parts(head, bytes))
    }

    fn agent(&self, url: &str) -> &Agent {
        if is_loopback(url) { &self.direct } else { &self.agent }
    }
}
