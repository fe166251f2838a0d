//! One attempt: sends a request, and says what its outcome means.

use std::time::Duration;

use dissensus_io::http::{self, Client, HttpError, HttpErrorKind, Request, is_transient};
use serde::Deserialize;

use super::key::Key;
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

/// Sends requests to one address.
pub(super) struct Http {
    client: Client,
    url: String,
    key: Key,
    key_variable: Option<String>,
    largest_answer: u64,
}

impl Http {
    pub(super) fn new(settings: &Settings) -> Result<Self, EndpointError> {
        let url = settings.url();
        let client = Client::new(&http::Settings {
            connect_timeout: settings.connect_timeout,
            read_timeout: None,
            total_timeout: Some(settings.timeout),
            redirects: 0,
        });
        Ok(Self {
            client,
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
        let mut request = Request::post_json(&self.url, body);
        request.secret = self.key.secret();
        let response = self.client.send(&request).map_err(|error| self.failed(error))?;
        let status = response.status;
        let asked = response.retry_after();
        let place = response.header("location").map(str::to_owned);
        let bytes = response.read_to_vec(self.largest_answer);
        match status {
            200 => bytes.map_err(|error| self.failed(error)),
            _ => Err(self.refused(status, asked, place, &bytes.unwrap_or_default())),
        }
    }

    fn refused(
        &self,
        status: u16,
        asked: Option<Duration>,
        place: Option<String>,
        body: &[u8],
    ) -> Fault {
        let message = self.redact(&said(body));
        let out_of_money = status == 429 && message_code(body) == "insufficient_quota";
        if is_transient(status) && !out_of_money {
            let words = if message.is_empty() { String::new() } else { format!(": {message}") };
            let what = What::Passing(format!("it answers {status}{words}"), asked);
            return Fault { what, charged: false };
        }
        let variable = self.key_variable.as_deref().unwrap_or("no environment variable");
        let what = match status {
            300..=399 => {
                let place = self.redact(place.as_deref().unwrap_or("another address"));
                format!("it redirects to {place}; set the base URL to that address")
            }
            400 => "it does not take the request; is the model's name right, does it take these \
                    dimensions, and is no text longer than it takes?"
                .to_owned(),
            401 => format!("it does not accept the key in {variable}; set another one"),
            403 => format!("the key in {variable} may not use this model here"),
            404 => {
                "there is no such address or model; the base URL usually ends with /v1".to_owned()
            }
            413 => "the request is too large; lower the number of texts or characters per request"
                .to_owned(),
            429 => "the account has nothing left to spend; finished vectors are kept".to_owned(),
            _ => "an answer we do not know".to_owned(),
        };
        // Of a refused key servers show a part.
        let message = if status == 401 { String::new() } else { message };
        let error = EndpointError::Refused { url: self.url.clone(), status, what, message };
        Fault { what: What::Final(error), charged: false }
    }

    /// What a request without an answer means.
    fn failed(&self, error: HttpError) -> Fault {
        let (url, charged) = (self.url.clone(), error.kind.was_sent());
        let why = self.redact(&error.kind.to_string());
        let what = match error.kind {
            HttpErrorKind::TooLarge(_) => What::Final(EndpointError::Answer { url, problem: why }),
            kind if kind.is_transient() => What::Passing(why, None),
            _ => What::Final(EndpointError::Unreachable { url, why, attempts: 1 }),
        };
        Fault { what, charged }
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

#[cfg(test)]
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
}
