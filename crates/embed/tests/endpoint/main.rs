//! The embeddings endpoint against a server on this machine that fails in all the usual ways.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod failures;
mod requests;
mod server;
mod spending;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dissensus_embed::endpoint::{Settings, Sleeper};
use dissensus_embed::{EmbedError, Encoder, Endpoint, EndpointError};
use server::Server;

/// Cargo sets it for every test, and it looks like a key.
const KEY_VARIABLE: &str = "CARGO_PKG_NAME";
const KEY: &str = env!("CARGO_PKG_NAME");

/// Does not wait, and remembers for how long it should have.
#[derive(Clone, Default)]
struct Pauses(Arc<Mutex<Vec<Duration>>>);

impl Pauses {
    fn list(&self) -> Vec<Duration> {
        self.0.lock().unwrap().clone()
    }
}

impl Sleeper for Pauses {
    fn sleep(&self, pause: Duration, go_on: &mut dyn FnMut() -> bool) -> bool {
        self.0.lock().unwrap().push(pause);
        go_on()
    }
}

/// Settings under which no test waits long.
fn settings(server: &Server) -> Settings {
    let mut settings = Settings::new(format!("{}/v1", server.base), "small", None);
    settings.key_variable = Some(KEY_VARIABLE.to_owned());
    settings.timeout = Duration::from_secs(30);
    settings.attempts = 4;
    settings
}

fn endpoint(settings: Settings) -> (Endpoint, Pauses) {
    let pauses = Pauses::default();
    (Endpoint::new(settings).unwrap().with_sleeper(pauses.clone(), 1), pauses)
}

fn encode(endpoint: &Endpoint, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
    endpoint.texts(texts, &mut |_| true)
}

/// The endpoint's own error, out of whatever it comes in. It never shows the key.
fn endpoint_error(error: EmbedError) -> EndpointError {
    assert!(!error.to_string().contains(KEY) && !format!("{error:?}").contains(KEY), "{error:?}");
    match error {
        EmbedError::Endpoint(error) => error,
        EmbedError::Partly { why, .. } => endpoint_error(*why),
        other => panic!("{other}"),
    }
}
