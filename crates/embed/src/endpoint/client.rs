//! The encoder: requests one after the other, tried again where that may help.

use std::fmt;
use std::sync::OnceLock;

use dissensus_core::ContentHash;
use dissensus_io::http::Backoff;
use serde::Serialize;

use super::answer::{self, Vectors, Wrong};
use super::batches::{batches, tokens_at_most};
use super::http::{Http, What};
use super::ledger::Ledger;
use super::pause::{Clock, Jitter};
use super::{EndpointError, Settings, Sleeper, Spent};
use crate::{EmbedError, Encoded, Encoder, Identity, Kind, Progress};

/// An embeddings endpoint as an encoder of texts.
pub struct Endpoint {
    settings: Settings,
    identity: Identity,
    http: Http,
    ledger: Ledger,
    width: OnceLock<usize>,
    sleeper: Box<dyn Sleeper>,
    jitter: Jitter,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (settings, spent) = (&self.settings, self.spent());
        f.debug_struct("Endpoint").field("settings", settings).field("spent", &spent).finish()
    }
}

/// What is sent.
#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

impl Endpoint {
    /// Checks the settings and reads the key. Nothing is sent yet.
    pub fn new(settings: Settings) -> Result<Self, EmbedError> {
        settings.check()?;
        let http = Http::new(&settings)?;
        Ok(Self {
            identity: identity(&settings),
            ledger: Ledger::new(settings.cap),
            width: settings.dimensions.map(OnceLock::from).unwrap_or_default(),
            http,
            settings,
            sleeper: Box::new(Clock),
            jitter: Jitter::by_time(),
        })
    }

    /// The same, with pauses that another clock keeps and a seed decides: for tests.
    pub fn with_sleeper(self, sleeper: impl Sleeper + 'static, seed: u64) -> Self {
        Self { sleeper: Box::new(sleeper), jitter: Jitter::seeded(seed), ..self }
    }

    /// What was spent so far, by this value.
    pub fn spent(&self) -> Spent {
        self.ledger.spent()
    }

    fn answer_error(&self, problem: &str) -> EndpointError {
        EndpointError::Answer {
            url: self.http.url().to_owned(),
            problem: self.http.redact(problem),
        }
    }

    /// The vectors of one request's texts.
    fn ask(&self, texts: &[&str], progress: &mut Progress<'_>) -> Result<Vectors, EmbedError> {
        let Settings { model, dimensions, attempts, first_pause, longest_pause, .. } =
            &self.settings;
        let request =
            Request { model, input: texts, encoding_format: "float", dimensions: *dimensions };
        let body = serde_json::to_vec(&request).map_err(|e| self.answer_error(&e.to_string()))?;
        let most = tokens_at_most(texts);
        let mut failed = 0;
        loop {
            self.ledger.book(most)?;
            let (why, asked) = match self.attempt(&body, texts.len(), most) {
                Ok(vectors) => return Ok(vectors),
                Err(What::Final(error)) => return Err(error.into()),
                Err(What::Passing(why, asked)) => (why, asked),
            };
            failed += 1;
            let url = || self.http.url().to_owned();
            if failed == *attempts {
                return Err(EndpointError::Unreachable { url: url(), why, attempts: failed }.into());
            }
            if let Some(asked) = asked.filter(|asked| asked > longest_pause) {
                let longest = *longest_pause;
                return Err(EndpointError::Wait { url: url(), asked, longest }.into());
            }
            let jitter = self.jitter.of(self.ledger.spent().requests);
            let backoff = Backoff { first: *first_pause, longest: *longest_pause };
            let pause = backoff.pause(failed, jitter);
            if !self.sleeper.sleep(pause.max(asked.unwrap_or_default()), &mut || progress(0)) {
                return Err(EmbedError::Stopped);
            }
        }
    }

    /// Sends a request for which `most` tokens are booked, and settles that.
    fn attempt(&self, body: &[u8], texts: usize, most: u64) -> Result<Vectors, What> {
        let bytes = self.http.post(body).map_err(|fault| {
            if !fault.charged {
                self.ledger.settle(most, 0);
            }
            fault.what
        })?;
        match answer::read(&bytes, &self.settings.model, texts, self.width.get().copied()) {
            Ok(vectors) => {
                if let Some(tokens) = vectors.tokens {
                    self.ledger.settle(most, tokens);
                }
                Ok(vectors)
            }
            Err(Wrong::CutOff) => Err(What::Passing("the answer ends too early".to_owned(), None)),
            Err(Wrong::Not(problem)) => Err(What::Final(self.answer_error(&problem))),
        }
    }
}

impl Encoder for Endpoint {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn width(&self) -> Option<usize> {
        self.width.get().copied()
    }

    fn texts(&self, texts: &[&str], progress: &mut Progress<'_>) -> Result<Vec<f32>, EmbedError> {
        if let Some(at) = texts.iter().position(|text| text.is_empty()) {
            let problem = format!("text {at} is empty, which endpoints refuse; leave it out");
            return Err(EmbedError::Input(problem));
        }
        let Settings { batch_texts, batch_characters, .. } = self.settings;
        let mut done = Encoded::default();
        for batch in batches(texts, batch_texts, batch_characters) {
            match self.ask(batch, progress) {
                Ok(vectors) => {
                    self.width.get_or_init(|| vectors.width);
                    done.vectors.extend(vectors.values);
                    done.rows += batch.len();
                }
                Err(why) => return Err(partly(done, why)),
            }
            if !progress(batch.len()) && done.rows < texts.len() {
                return Err(partly(done, EmbedError::Stopped));
            }
        }
        Ok(done.vectors)
    }
}

fn partly(done: Encoded, why: EmbedError) -> EmbedError {
    if done.rows == 0 { why } else { EmbedError::Partly { done, why: Box::new(why) } }
}

/// Another server may call another model by the same name, so the address is part of it.
fn identity(settings: &Settings) -> Identity {
    let Settings { model, dimensions, .. } = settings;
    let mut hash = ContentHash::new("dissensus embeddings endpoint 1");
    hash.text(&settings.url());
    hash.text(model);
    hash.number(dimensions.unwrap_or(0) as u64);
    let name = match dimensions {
        Some(dimensions) => format!("{model}@{dimensions}"),
        None => model.clone(),
    };
    Identity { name, digest: hash.finish().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_the_vectors_decides_the_digest() {
        let plain = Settings::new("https://a.b/v1", "m", None);
        let of = |change: fn(&mut Settings)| {
            let mut settings = plain.clone();
            change(&mut settings);
            identity(&settings)
        };
        let same = identity(&plain);
        assert_eq!((same.name.as_str(), same.digest.len()), ("m", 64));
        assert_eq!(of(|s| s.batch_texts = 7), same);
        assert_eq!(of(|s| s.base_url = "https://a.b/v1/".into()), same);
        assert_ne!(of(|s| s.base_url = "https://c.d/v1".into()).digest, same.digest);
        assert_ne!(of(|s| s.model = "n".into()).digest, same.digest);
        let short = of(|s| s.dimensions = Some(256));
        assert_eq!(short.name, "m@256");
        assert_ne!(short.digest, same.digest);
    }
}
