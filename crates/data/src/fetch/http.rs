//! One HTTP request: sends it, and says what the answer means for a download.

use std::time::Duration;

use ureq::http::{HeaderMap, HeaderName, header};
use ureq::{Agent, Body};

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
    pub(super) body: Body,
}

/// Makes requests.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    base_url: Option<String>,
}

impl Client {
    pub(super) fn new(options: &Options) -> Self {
        let config = Agent::config_builder()
            .timeout_connect(Some(options.connect_timeout))
            .timeout_per_read(Some(options.read_timeout))
            .timeout_per_write(Some(options.read_timeout))
            .http_status_as_error(false)
            .max_redirects(10)
            .user_agent(concat!("dissensus/", env!("CARGO_PKG_VERSION")))
            // A compressed transfer would have other lengths and ranges than the file.
            .accept_encoding("identity")
            .build();
        Client { agent: config.into(), base_url: options.base_url.clone() }
    }

    /// Asks for the whole file, or for what is missing of it.
    pub(super) fn get(&self, url: &str, begun: Option<&Begun>) -> Result<Answer, Fault> {
        let aim = aim(url, self.base_url.as_deref())?;
        let mut request = self.agent.get(&aim);
        if let Some(begun) = begun
            && let Some(validator) = begun.note.validator()
        {
            request = request
                .header(header::RANGE, format!("bytes={}-", begun.bytes))
                .header(header::IF_RANGE, validator);
        }
        let result = if is_loopback(&aim) {
            // A proxy from the environment stands for the outside world.
            request.config().proxy(None).build().call()
        } else {
            request.call()
        };
        let response = result.map_err(|e| transport(url, &e))?;
        let (head, body) = response.into_parts();
        let length = number(&head.headers, header::CONTENT_LENGTH);
        let note = |total| Note {
            url: url.to_owned(),
            etag: text(&head.headers, header::ETAG).filter(|tag| tag.starts_with('"')),
            last_modified: text(&head.headers, header::LAST_MODIFIED),
            total,
        };
        match (head.status.as_u16(), begun) {
            (200, _) => Ok(Answer { offset: 0, note: note(length), body }),
            (206, Some(begun)) if continues(&head.headers, &note(None), begun) => Ok(Answer {
                offset: begun.bytes,
                note: note(length.map(|n| begun.bytes + n).or(begun.note.total)),
                body,
            }),
            (206 | 416, Some(_)) => Err(Fault {
                error: Error::Transport {
                    url: url.to_owned(),
                    why: "the server could not go on from where the download broke off".into(),
                },
                again: Again::Now,
            }),
            (status, _) => Err(Fault {
                error: Error::Http { url: url.to_owned(), status },
                again: match status {
                    408 | 429 | 500..=599 => Again::Later(
                        number(&head.headers, header::RETRY_AFTER)
                            .map(|s| Duration::from_secs(s).min(LONGEST_PAUSE)),
                    ),
                    _ => Again::No,
                },
            }),
        }
    }
}

/// Whether a partial answer fits what we have: the same version, from the right byte.
fn continues(headers: &HeaderMap, answer: &Note, begun: &Begun) -> bool {
    // "bytes 100-199/200"
    let range = text(headers, header::CONTENT_RANGE);
    let Some((first, total)) = range.as_deref().and_then(|r| {
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
    let rest = |url: &str| {
        let (scheme, rest) = url.split_once("://")?;
        matches!(scheme, "http" | "https").then(|| rest.to_owned())
    };
    let after_scheme = rest(url).ok_or_else(|| bad(url))?;
    let Some(base) = base_url else {
        return Ok(url.to_owned());
    };
    rest(base).ok_or_else(|| bad(base))?;
    let path = after_scheme.split_once('/').map_or("", |(_, path)| path);
    Ok(format!("{}/{path}", base.trim_end_matches('/')))
}

fn is_loopback(url: &str) -> bool {
    let host = url.split_once("://").map_or("", |(_, rest)| rest);
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|local| {
        host.strip_prefix(local).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    })
}

fn transport(url: &str, error: &ureq::Error) -> Fault {
    let again = match error {
        // Neither a wrong name nor a wrong certificate mends itself within seconds.
        ureq::Error::Io(_)
        | ureq::Error::Timeout(_)
        | ureq::Error::Protocol(_)
        | ureq::Error::ConnectionFailed => Again::Later(None),
        _ => Again::No,
    };
    Fault { error: Error::Transport { url: url.to_owned(), why: error.to_string() }, again }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.trim().to_owned())
}

fn number(headers: &HeaderMap, name: HeaderName) -> Option<u64> {
    text(headers, name)?.parse().ok()
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
    fn only_this_machine_is_loopback() {
        for yes in ["http://127.0.0.1:80/x", "http://localhost/x", "http://[::1]:1/"] {
            assert!(is_loopback(yes), "{yes}");
        }
        for no in ["http://127.0.0.1.evil.org/", "http://localhosts/", "https://a.b/localhost"] {
            assert!(!is_loopback(no), "{no}");
        }
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
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_RANGE, range.parse().unwrap());
            let answer = Note { etag: etag.map(str::to_owned), ..Note::default() };
            continues(&headers, &answer, &begun)
        };
        assert!(fits("bytes 4-9/10", Some("\"1\"")));
        assert!(fits("bytes 4-9/*", None));
        assert!(!fits("bytes 3-9/10", None), "another start");
        assert!(!fits("bytes 4-10/11", None), "another length");
        assert!(!fits("bytes 4-9/10", Some("\"2\"")), "another version");
        assert!(!fits("4-9/10", None), "not a range");
    }
}
