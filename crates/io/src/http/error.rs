//! Why there is no answer.

use ureq::Timeout;

/// A request that got no answer, or an answer that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {kind}")]
pub struct HttpError {
    /// The address.
    pub url: String,
    /// What happened.
    pub kind: HttpErrorKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// Not an http or https address.
    #[error("not an http or https address")]
    BadUrl,
    /// A header that cannot be sent.
    #[error("the header {0} cannot be sent")]
    BadHeader(String),
    /// No connection was made in time.
    #[error("no connection: {0}")]
    NoConnection(String),
    /// The machine answers, but nothing listens at this port.
    #[error("connection refused")]
    ConnectionRefused,
    /// The answer did not come, or not wholly, in time.
    #[error("no complete answer in time")]
    Timeout,
    /// The connection broke during the transfer.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// The answer is not HTTP.
    #[error("not valid HTTP: {0}")]
    Protocol(String),
    /// The answer is larger than it may be.
    #[error("the answer has more than {0} bytes")]
    TooLarge(u64),
    /// Redirected too often.
    #[error("redirected more than {0} times")]
    TooManyRedirects(u32),
    /// Name resolution, certificates, and everything else that another attempt does not help.
    #[error("{0}")]
    Failed(String),
}

impl HttpErrorKind {
    /// Whether another attempt may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::NoConnection(_)
                | Self::ConnectionRefused
                | Self::Timeout
                | Self::Broken(_)
                | Self::Protocol(_)
        )
    }

    /// Whether the server may have received the request, and have worked on it.
    pub fn was_sent(&self) -> bool {
        matches!(self, Self::Timeout | Self::Broken(_) | Self::Protocol(_) | Self::TooLarge(_))
    }
}

impl HttpError {
    pub(super) fn new(url: &str, error: &ureq::Error) -> Self {
        Self::of(url, kind(error))
    }

    pub(super) fn of(url: &str, kind: HttpErrorKind) -> Self {
        Self { url: url.to_owned(), kind }
    }
}

fn kind(error: &ureq::Error) -> HttpErrorKind {
    use std::io::ErrorKind;
    match error {
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect)
        | ureq::Error::ConnectionFailed => HttpErrorKind::NoConnection(error.to_string()),
        ureq::Error::Io(io) if io.kind() == ErrorKind::ConnectionRefused => {
            HttpErrorKind::ConnectionRefused
        }
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        // The reader of a body wraps its own errors.
        ureq::Error::Io(io) => match io.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(inner @ (ureq::Error::BodyExceedsLimit(_) | ureq::Error::Timeout(_))) => {
                kind(inner)
            }
            _ => HttpErrorKind::Broken(io.to_string()),
        },
        ureq::Error::Protocol(_) => HttpErrorKind::Protocol(error.to_string()),
        ureq::Error::BodyExceedsLimit(most) => HttpErrorKind::TooLarge(*most),
        _ => HttpErrorKind::Failed(error.to_string()),
    }
}
