//! A key or token: sent in one header, never shown.

use std::fmt;

use ureq::http::HeaderValue;

/// What stands in place of a secret wherever a server repeats it.
const REDACTED: &str = "[secret]";

/// A key or token.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl Secret {
    /// From a text such as the value of an environment variable. White space around it is dropped;
    /// `None` if nothing is left, or if it has characters that cannot be sent.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fine = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fine.then(|| Self(text.to_owned()))
    }

    /// A text without the secret.
    pub fn redact(&self, text: &str) -> String {
        text.replace(&self.0, REDACTED)
    }

    /// The value of the header.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Secret::new(" sk-secret\n").unwrap();
        assert_eq!(format!("{secret:?}"), "[secret]");
        assert_eq!(secret.redact("wrong key sk-secret!"), "wrong key [secret]!");
        assert!(secret.header().unwrap().is_sensitive());
        for bad in ["", " ", "two words", "ä", "a\nb"] {
            assert!(Secret::new(bad).is_none(), "{bad:?}");
        }
    }
}
