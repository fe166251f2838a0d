//! What can go wrong with an endpoint, and what to do. No message holds the key.

use std::time::Duration;

/// Why an endpoint gave no vectors.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Settings that make no sense.
    #[error("endpoint: {problem}")]
    Settings {
        /// What was expected, and what was found.
        problem: String,
    },
    /// No key.
    #[error(
        "endpoint: the environment variable {variable} holds no key; set it, name another one, or \
         say that the server needs none"
    )]
    NoKey {
        /// Where it was looked for.
        variable: String,
    },
    /// A key that cannot be sent.
    #[error(
        "endpoint: what {variable} holds is no key: expected printable characters without spaces \
         (it is not shown here)"
    )]
    BadKey {
        /// Where it stands.
        variable: String,
    },
    /// The server says no, and would say so again.
    #[error("{url} answers {status}: {what}{}", said(message))]
    Refused {
        /// The address.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What it means, and what to do.
        what: String,
        /// The server's own words; empty where it has none.
        message: String,
    },
    /// The server cannot be reached, or does not answer properly, however often it is asked.
    #[error("{url}: {why} (asked {attempts} times); try again later: finished vectors are kept")]
    Unreachable {
        /// The address.
        url: String,
        /// What happened the last time.
        why: String,
        /// How often it was asked.
        attempts: u32,
    },
    /// the server asks for a longer pause than is allowed.
    #[error(
        "{url} asks to wait {} s, longer than {} s; run it again then: finished vectors are kept",
        asked.as_secs(), longest.as_secs()
    )]
    Wait {
        /// The address.
        url: String,
        /// What it asks for.
        asked: Duration,
        /// The longest pause in the settings.
        longest: Duration,
    },
    /// An answer that is not what was asked for.
    #[error("{url}: {problem}; is it an embeddings endpoint, and the model one for embeddings?")]
    Answer {
        /// The address.
        url: String,
        /// What was expected, and what was found.
        problem: String,
    },
    /// The next request could cost more than is left.
    #[error(
        "the cap on spending is {most}: {spent} tokens so far cost {cost:.6}, and the next request \
         may take {next} more at {price} per million; finished vectors are kept, raise the cap to go on"
    )]
    Cap {
        /// The cap.
        most: f64,
        /// The price of a million tokens.
        price: f64,
        /// Tokens so far.
        spent: u64,
        /// What they cost.
        cost: f64,
        /// The most tokens that the next request may take.
        next: u64,
    },
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(" (it says: {message})") }
}
