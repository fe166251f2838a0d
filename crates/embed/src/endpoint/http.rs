//! One attempt: sends a request, and says what its outcome means.

use std::time::{Duration, SystemTime};

use serde::Deserialize;
use ureq::Agent;
use ureq::http::{HeaderMap, header};

use super::key::Key;
use super::pause::retry_after;
use super::{EndpointError, Settings};

/// Why an attempt failed.
pub(super) struct Fault {
    pub(super) what: What,
    /// Whether the server may have done the work, and charge for it.
    pub(super) charged: bool,
}

/// What a failed attempt means.
pub(super) enum What {
    /// It would fail again.
    Final(EndpointError),
    /// It may pass: why it failed, and how long the server asks to wait.
    Passing(String, Option<Duration>),
}

impl Fault {
    fn passing(why: impl Into<String>, charged: bool) -> Self {
        Self { what: What::Passing(why.into(), None), charged }
    }
}

/// Sends requests to one address.
pub(super) struct Http {
    agent: Agent,
    url: String,
    key: Key,
    key_variable: Option<String>,
    largest_answer: u64,
}

impl Http {
    pub(super) fn new(settings: &Settings) -> Result<Self, EndpointError> {
        let url = settings.url();
        let mut config = Agent::config_builder()
            .timeout_connect(Some(settings.connect_timeout))
            .timeout_global(Some(settings.timeout))
            .http_status_as_error(false)
            // A redirected request would lose its body, or carry the key elsewhere.
            .max_redirects(0)
            .user_agent(concat!("dissensus/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&url) {
            // A proxy from the environment stands for the outside world.
            config = config.proxy(None);
        }
        Ok(Self {
            agent: config.build().into(),
            url,
            key: Key::of(settings)?,
            key_variable: settings.key_variable.clone(),
            largest_answer: settings.largest_answer,
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// A text of the server's or of a parser, fit to be shown.
    pub(super) fn redact(&self, text: &str) -> String {
        self.key.redact(text)
    }

    /// The body of a good answer.
    pub(super) fn post(&self, body: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut request =
            self.agent.post(&self.url).header(header::CONTENT_TYPE, "application/json");
        if let Some(value) = self.key.header() {
            request = request.header(header::AUTHORIZATION, value);
        }
        let response = request.send(body).map_err(|error| self.transport(&error))?;
        let (head, mut body) = response.into_parts();
        let bytes = body.with_config().limit(self.largest_answer).read_to_vec();
        match head.status.as_u16() {
            200 => bytes.map_err(|error| self.transport(&error)),
            status => Err(self.refused(status, &head.headers, &bytes.unwrap_or_default())),
        }
    }

    fn refused(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> Fault {
        let message = self.redact(&said(body));
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let out_of_money = status == 429 && message_code(body) == "insufficient_quota";
        if matches!(status, 408 | 429 | 500 | 502 | 503 | 504) && !out_of_money {
            let words = if message.is_empty() { String::new() } else { format!(": {message}") };
            let asked = text(header::RETRY_AFTER).and_then(|t| retry_after(t, SystemTime::now()));
            let what = What::Passing(format!("it answers {status}{words}"), asked);
            return Fault { what, charged: false };
        }
        let variable = self.key_variable.as_deref().unwrap_or("no environment variable");
        let what = match status {
            300..=399 => {
                let place = self.redact(text(header::LOCATION).unwrap_or("another place"));
                format!("it sends us to {place}; set the base URL to where it really is")
            }
            400 => "it does not take the request; is the model's name right, does it take these \
                    dimensions, and is no text longer than it takes?"
                .to_owned(),
            401 => format!("it does not accept the key in {variable}; set another one"),
            403 => format!("the key in {variable} may not use this model here"),
            404 => {
                "there is no such address or model; the base URL usually ends with /v1".to_owned()
            }
            413 => "the request is too large; lower the number of texts or characters a request"
                .to_owned(),
            429 => "the account has nothing left to spend; what is done is kept".to_owned(),
            _ => "an answer we do not know".to_owned(),
        };
        // Of a refused key servers show a part.
        let message = if status == 401 { String::new() } else { message };
        let error = EndpointError::Refused { url: self.url.clone(), status, what, message };
        Fault { what: What::Final(error), charged: false }
    }

    fn transport(&self, error: &ureq::Error) -> Fault {
        use std::io::ErrorKind;
        use ureq::Timeout;
        match error {
            ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect)
            | ureq::Error::ConnectionFailed => {
                Fault::passing(self.redact(&error.to_string()), false)
            }
            ureq::Error::Io(io) if io.kind() == ErrorKind::ConnectionRefused => {
                Fault::passing("nobody listens there", false)
            }
            ureq::Error::Timeout(_) => Fault::passing("no whole answer in time", true),
            // The reader of a body wraps its own errors.
            ureq::Error::Io(io) => match io.get_ref().and_then(|e| e.downcast_ref()) {
                Some(inner @ ureq::Error::BodyExceedsLimit(_)) => self.transport(inner),
                Some(inner @ ureq::Error::Timeout(_)) => self.transport(inner),
                _ => Fault::passing(format!("the connection broke: {io}"), true),
            },
            ureq::Error::Protocol(_) => {
                Fault::passing(format!("no proper HTTP: {}", self.redact(&error.to_string())), true)
            }
            ureq::Error::BodyExceedsLimit(most) => {
                let problem = format!("expected an answer of at most {most} bytes, more came");
                let error = EndpointError::Answer { url: self.url.clone(), problem };
                Fault { what: What::Final(error), charged: true }
            }
            // Neither a wrong name nor a wrong certificate mends itself within seconds.
            _ => {
                let why = self.redact(&error.to_string());
                let error = EndpointError::Unreachable { url: self.url.clone(), why, attempts: 1 };
                Fault { what: What::Final(error), charged: false }
            }
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Complaint {
    error: Words,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    Structured {
        #[serde(default)]
        message: String,
        #[serde(default)]
        code: serde_json::Value,
    },
    Plain(String),
}

impl Default for Words {
    fn default() -> Self {
        Self::Plain(String::new())
    }
}

/// The server's own words about an error: `{"error": {"message": …}}`, `{"error": …}`, or a text.
pub(super) fn said(body: &[u8]) -> String {
    match serde_json::from_slice::<Complaint>(body) {
        Ok(Complaint { error: Words::Structured { message, .. } }) => message,
        Ok(Complaint { error: Words::Plain(text) }) => text,
        Err(_) => {
            let text = String::from_utf8_lossy(body);
            // A page for people says nothing in one line.
            if text.trim_start().starts_with('<') { String::new() } else { text.into_owned() }
        }
    }
}

fn message_code(body: &[u8]) -> String {
    match serde_json::from_slice::<Complaint>(body) {
        Ok(Complaint { error: Words::Structured { code, .. } }) => {
            code.as_str().unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}

/// What follows `http://` or `https://`.
pub(super) fn rest(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    (!rest.is_empty() && !rest.starts_with('/')).then_some(rest)
}

/// Whether an address is on this machine.
pub(super) fn is_loopback(url: &str) -> bool {
    let host = rest(url).unwrap_or_default();
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|local| {
        host.strip_prefix(local).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn complaints_come_in_many_forms() {
        assert_eq!(said(br#"{"error": {"message": "too long", "code": 3}}"#), "too long");
        assert_eq!(said(br#"{"error": "no such model"}"#), "no such model");
        assert_eq!(said(b"busy"), "busy");
        assert_eq!(said(b"<html>502</html>"), "");
        assert_eq!(said(br#"{"detail": 1}"#), "");
        assert_eq!(
            message_code(br#"{"error": {"message": "", "code": "insufficient_quota"}}"#),
            "insufficient_quota"
        );
        assert_eq!(message_code(b"busy"), "");
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
}
