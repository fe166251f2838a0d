//! Texts as vectors by an embeddings endpoint: any server that answers as OpenAI's `/v1/embeddings`.
//!
//! A request holds a few texts and the answer a vector for each:
//!
//! ```text
//! POST BASE/embeddings   {"model": M, "input": [text, …], "encoding_format": "float", "dimensions": D?}
//! 200                    {"data": [{"index": 0, "embedding": [0.1, …]}, …], "usage": {"total_tokens": T}}
//! ```
//!
//! * What passes by itself (429, 5xx, timeouts, broken connections) is tried again after a pause
//!   that doubles, with jitter; a server's `Retry-After` is kept to. What does not (a wrong key, a
//!   text that is too long) ends at once, with what to do.
//! * An answer is checked: as many vectors as texts, by `index`, of one width, all finite.
//! * No request is made that could pass the [`Cap`] on spending.
//! * The key is read from an environment variable, goes into one header, and is in no message.
//!
//! What was encoded before an error is in [`EmbedError::Partly`](crate::EmbedError::Partly), where
//! [`Cached`](crate::Cached) takes it from: then nothing is asked, or paid for, twice.

mod answer;
mod batches;
mod client;
mod error;
mod http;
mod key;
mod ledger;
mod pause;
mod settings;

pub use client::Endpoint;
pub use error::EndpointError;
pub use ledger::Spent;
pub use pause::Sleeper;
pub use settings::{Cap, Settings};
