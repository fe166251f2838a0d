//! What can go wrong with an endpoint, and what to do. No message holds the key.

use std::time::Duration;

/// Why an endpoint gave no vectors.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    #[error("endpoint: {problem}")]
    Settings { problem: String },
    #[error(
        "endpoint: the environment variable {variable} holds no key; set it, name another one, or \
         say that the server needs none"
    )]
    NoKey { variable: String },
    #[error(
        "endpoint: what {variable} holds is no key: expected printable characters without spaces \
         (it is not shown here)"
    )]
    BadKey { variable: String },
    #[error("{url} answers {status}: {what}{}", said(message))]
    Refused {
        url: String,
        status: u16,
        /// What it means, and what to do.
        what: String,
        /// The server's own words; empty where it has none.
        message: String,
    },
    #[error("{url}: {why} (asked {attempts} times); try again later: finished vectors are kept")]
    Unreachable { url: String, why: String, attempts: u32 },
    #[error(
        "{url} asks to wait {} s, longer than {} s; run it again then: finished vectors are kept",
        asked.as_secs(), longest.as_secs()
    )]
    Wait {
        url: String,
        asked: Duration,
        /// The longest pause in the settings.
        longest: Duration,
    },
    #[error("{url}: {problem}; is it an embeddings endpoint, and the model one for embeddings?")]
    Answer { url: String, problem: String },
    #[error(
        "the cap on spending is {most}: {spent} tokens so far cost {cost:.6}, and the next request \
         may take {next} more at {price} per million; finished vectors are kept, raise the cap to go on"
    )]
    Cap {
        most: f64,
        /// The price of a million tokens.
        price: f64,
        spent: u64,
        cost: f64,
        /// The most tokens that the next request may take.
        next: u64,
    },
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(" (it says: {message})") }
}
