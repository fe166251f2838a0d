//! One request of a download: what to ask for, and what the answer means.

use std::time::Duration;

use dissensus_io::http::{
    self, HttpError, HttpErrorKind, Request, Response, Secret, is_transient, split_url,
};

use super::Options;
use super::part::{Begun, Note};
use crate::Error;

/// Pauses asked for by a server are kept to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Why a request or a transfer failed, and whether to try again.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) error: Error,
    pub(super) again: Again,
}

/// Whether, and how soon, to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// It would be of no use.
    No,
    /// At once: it was no failure of the server, only our part did not fit.
    Now,
    /// After a pause, at least this long if the server says so.
    Later(Option<Duration>),
}

impl Fault {
    pub(super) fn fatal(error: Error) -> Self {
        Fault { error, again: Again::No }
    }

    /// By the status of an answer that is none of the expected ones.
    pub(super) fn of_status(url: &str, response: &Response) -> Self {
        let again = match is_transient(response.status) {
            true => Again::Later(response.retry_after().map(|asked| asked.min(LONGEST_PAUSE))),
            false => Again::No,
        };
        Fault { error: Error::Http { url: url.to_owned(), status: response.status }, again }
    }

    pub(super) fn passing(error: Error) -> Self {
        Fault { error, again: Again::Later(None) }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::fatal(error)
    }
}

/// The start of a good answer; the body is still to be read.
pub(super) struct Answer {
    /// The byte at which the body begins: 0, or the length of what we have.
    pub(super) offset: u64,
    /// What to remember for resuming.
    pub(super) note: Note,
    pub(super) response: Response,
}

/// Makes requests.
#[derive(Debug)]
pub(super) struct Client {
    client: http::Client,
    base_url: Option<String>,
}

impl Client {
    pub(super) fn new(options: &Options) -> Self {
        let settings = http::Settings {
            connect_timeout: options.connect_timeout,
            read_timeout: Some(options.read_timeout),
            ..http::Settings::default()
        };
        Client { client: http::Client::new(&settings), base_url: options.base_url.clone() }
    }

    /// Sends a request for a header, and follows no redirect.
    pub(super) fn head(&self, request: &Request<'_>, url: &str) -> Result<Response, HttpError> {
        self.client.send_once(request, url)
    }

    /// Asks for the whole file, or for what is missing of it.
    pub(super) fn get(
        &self,
        url: &str,
        secret: Option<&Secret>,
        begun: Option<&Begun>,
    ) -> Result<Answer, Fault> {
        let aim = aim(url, self.base_url.as_deref())?;
        let mut request = Request { secret, ..Request::get(&aim) };
        if let Some(begun) = begun
            && let Some(validator) = begun.note.validator()
        {
            request = request
                .header("range", format!("bytes={}-", begun.bytes))
                .header("if-range", validator);
        }
        let response = self.client.send(&request).map_err(|error| transport(url, &error.kind))?;
        let length = response.number("content-length");
        let text = |name: &str| response.header(name).map(str::to_owned);
        let note = |total| Note {
            url: url.to_owned(),
            etag: text("etag").filter(|tag| tag.starts_with('"')),
            last_modified: text("last-modified"),
            total,
        };
        let range = response.header("content-range");
        match (response.status, begun) {
            (200, _) => Ok(Answer { offset: 0, note: note(length), response }),
            (206, Some(begun)) if continues(range, &note(None), begun) => Ok(Answer {
                offset: begun.bytes,
                note: note(length.map(|n| begun.bytes + n).or(begun.note.total)),
                response,
            }),
            (206 | 416, Some(_)) => Err(Fault {
                error: Error::Transport {
                    url: url.to_owned(),
                    why: "the server cannot resume the download".into(),
                },
                again: Again::Now,
            }),
            _ => Err(Fault::of_status(url, &response)),
        }
    }
}

/// Whether a partial answer fits what we have: the same version, from the right byte.
fn continues(range: Option<&str>, answer: &Note, begun: &Begun) -> bool {
    // "bytes 100-199/200"
    let Some((first, total)) = range.and_then(|r| {
        let (range, total) = r.strip_prefix("bytes ")?.split_once('/')?;
        Some((range.split_once('-')?.0.parse::<u64>().ok()?, total.parse::<u64>().ok()))
    }) else {
        return false;
    };
    let same = |a: &Option<String>, b: &Option<String>| match (a, b) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    first == begun.bytes
        && same(&answer.etag, &begun.note.etag)
        && same(&answer.last_modified, &begun.note.last_modified)
        && match (total, begun.note.total) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        }
}

/// The address to ask, which must be http or https.
fn aim(url: &str, base_url: Option<&str>) -> Result<String, Error> {
    let bad = |url: &str| Error::BadUrl { url: url.to_owned() };
    let (_, _, path) = split_url(url).ok_or_else(|| bad(url))?;
    let Some(base) = base_url else {
        return Ok(url.to_owned());
    };
    split_url(base).ok_or_else(|| bad(base))?;
    Ok(format!("{}/{}", base.trim_end_matches('/'), path.trim_start_matches('/')))
}

pub(super) fn transport(url: &str, kind: &HttpErrorKind) -> Fault {
    let again = if kind.is_transient() { Again::Later(None) } else { Again::No };
    Fault { error: Error::Transport { url: url.to_owned(), why: kind.to_string() }, again }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_replaces_scheme_and_host_only() {
        let base = Some("http://127.0.0.1:9/");
        assert_eq!(aim("https://a.b/c/d?e=1", base).unwrap(), "http://127.0.0.1:9/c/d?e=1");
        assert_eq!(aim("https://a.b/c", None).unwrap(), "https://a.b/c");
        for bad in ["ftp://a.b/c", "file:///etc/passwd", "a.b/c"] {
            assert!(matches!(aim(bad, None), Err(Error::BadUrl { .. })), "{bad}");
        }
        assert!(aim("https://a.b/c", Some("ftp://x")).is_err());
    }

    #[test]
    fn a_partial_answer_must_fit() {
        let begun = Begun {
            bytes: 4,
            note: Note {
                url: "u".into(),
                etag: Some("\"1\"".into()),
                last_modified: None,
                total: Some(10),
            },
        };
        let fits = |range: &str, etag: Option<&str>| {
            let answer = Note { etag: etag.map(str::to_owned), ..Note::default() };
            continues(Some(range), &answer, &begun)
        };
        assert!(fits("bytes 4-9/10", Some("\"1\"")));
        assert!(fits("bytes 4-9/*", None));
        assert!(!fits("bytes 3-9/10", None), "another start");
        assert!(!fits("bytes 4-10/11", None), "another length");
        assert!(!fits("bytes 4-9/10", Some("\"2\"")), "another version");
        assert!(!fits("4-9/10", None), "not a range");
    }
}
