//! What an endpoint is, and how it is asked.

use std::time::Duration;

use dissensus_io::http::{is_loopback, split_url};

use super::EndpointError;

/// A limit on what may be spent by one [`Endpoint`](super::Endpoint).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cap {
    /// What a million tokens cost.
    pub price: f64,
    /// The most that may be spent, in the same currency.
    pub most: f64,
}

/// An endpoint and how it is asked. Only address, model and dimensions decide the vectors, and so
/// the encoder's digest.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address before `/embeddings`: `https://api.openai.com/v1`.
    pub base_url: String,
    /// The model, as the server calls it.
    pub model: String,
    /// The limit on spending; `None` is to do without.
    pub cap: Option<Cap>,
    /// The width to ask for, of models that can shorten their vectors.
    pub dimensions: Option<usize>,
    /// The environment variable that holds the key; `None` for a server without keys.
    pub key_variable: Option<String>,
    /// The most texts in a request.
    pub batch_texts: usize,
    /// The most characters in a request, unless a single text has more.
    pub batch_characters: usize,
    /// How often a request is sent before it is given up.
    pub attempts: u32,
    /// The pause before the second attempt; it doubles with each.
    pub first_pause: Duration,
    /// The longest pause. A server that asks for a longer one ends the work.
    pub longest_pause: Duration,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long an attempt may take in all.
    pub timeout: Duration,
    /// The most bytes that an answer may have.
    pub largest_answer: u64,
}

impl Settings {
    /// The usual settings, with the key in `OPENAI_API_KEY`. Whether spending is capped has to be
    /// said.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>, cap: Option<Cap>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            cap,
            dimensions: None,
            key_variable: Some("OPENAI_API_KEY".to_owned()),
            batch_texts: 256,
            batch_characters: 100_000,
            attempts: 6,
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(30),
            timeout: Duration::from_secs(120),
            largest_answer: 128 << 20,
        }
    }

    /// The address that is asked.
    pub(super) fn url(&self) -> String {
        format!("{}/embeddings", self.base_url.trim_end_matches('/'))
    }

    pub(super) fn check(&self) -> Result<(), EndpointError> {
        let bad = |problem: String| Err(EndpointError::Settings { problem });
        let url = &self.base_url;
        if url.contains(['@', '?', '#']) || url.contains(char::is_whitespace) {
            // It may hold a password, so it is not shown.
            return bad(
                "the base URL may hold neither a user, nor a query, nor spaces; put a key \
                        into an environment variable"
                    .to_owned(),
            );
        }
        if split_url(url).is_none() {
            return bad(format!(
                "the base URL is {url:?}; expected http or https, as in https://api.openai.com/v1"
            ));
        }
        if self.model.trim().is_empty() {
            return bad("the model has no name; expected one the server knows".to_owned());
        }
        if self.key_variable.is_some() && url.starts_with("http:") && !is_loopback(url) {
            return bad(format!(
                "{url} would get the key unencrypted; use https, or say that there is no key"
            ));
        }
        if let Some(Cap { price, most }) = self.cap {
            let fine = |amount: f64| amount.is_finite() && amount >= 0.0;
            if !fine(price) || !fine(most) {
                return bad(format!(
                    "a cap of {most} at a price of {price} a million tokens; expected two numbers, \
                     0 or more"
                ));
            }
        }
        for (name, value) in [
            ("batch_texts", self.batch_texts),
            ("batch_characters", self.batch_characters),
            ("attempts", self.attempts as usize),
            ("dimensions", self.dimensions.unwrap_or(1)),
        ] {
            if value == 0 {
                return bad(format!("{name} is 0; expected at least 1"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(change: impl FnOnce(&mut Settings)) -> String {
        let mut settings = Settings::new("https://a.b/v1/", "m", None);
        assert!(settings.check().is_ok());
        assert_eq!(settings.url(), "https://a.b/v1/embeddings");
        change(&mut settings);
        settings.check().unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_asked_is_an_error() {
        assert!(problem(|s| s.base_url = "a.b/v1".into()).contains("expected http or https"));
        assert!(problem(|s| s.base_url = "ftp://a.b".into()).contains("expected http or https"));
        for url in ["https://me:secret@a.b/v1", "https://me:sec/ret@a.b/v1", "me:secret@a.b/v1"] {
            let told = problem(|s| s.base_url = url.into());
            assert!(told.contains("neither a user") && !told.contains("me:sec"), "{told}");
        }
        assert!(problem(|s| s.base_url = "https://a.b/v1?key=x".into()).contains("nor a query"));
        assert!(problem(|s| s.base_url = "http://a.b/v1".into()).contains("unencrypted"));
        assert!(problem(|s| s.model = " ".into()).contains("no name"));
        assert!(problem(|s| s.batch_texts = 0).contains("batch_texts"));
        assert!(problem(|s| s.attempts = 0).contains("attempts"));
        assert!(problem(|s| s.dimensions = Some(0)).contains("dimensions"));
        for cap in [Cap { price: f64::NAN, most: 1.0 }, Cap { price: 1.0, most: -1.0 }] {
            assert!(problem(|s| s.cap = Some(cap)).contains("a cap of"));
        }
    }

    #[test]
    fn a_server_without_keys_may_be_plain() {
        let mut settings = Settings::new("http://192.168.0.7:8080/v1", "m", None);
        settings.key_variable = None;
        assert!(settings.check().is_ok());
        assert!(Settings::new("http://127.0.0.1:8080/v1", "m", None).check().is_ok());
    }
}
