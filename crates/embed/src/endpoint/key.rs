//! The key: read once, sent in one header, never shown.

use std::fmt;

use ureq::http::HeaderValue;

use super::{EndpointError, Settings};

/// What stands in place of the key wherever a server repeats it.
const REDACTED: &str = "[key]";

/// A key, or that there is none.
pub(super) struct Key(Option<String>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { REDACTED } else { "no key" })
    }
}

impl Key {
    /// From the environment variable that the settings name.
    pub(super) fn of(settings: &Settings) -> Result<Self, EndpointError> {
        let Some(variable) = &settings.key_variable else {
            return Ok(Self(None));
        };
        let value = std::env::var(variable).unwrap_or_default();
        // A key read from a file often ends with a line break.
        let value = value.trim();
        if value.is_empty() {
            return Err(EndpointError::NoKey { variable: variable.clone() });
        }
        if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(EndpointError::BadKey { variable: variable.clone() });
        }
        Ok(Self(Some(value.to_owned())))
    }

    /// The header's value.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0.as_ref()?)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// A server's text, in one line of moderate length, without the key.
    pub(super) fn redact(&self, text: &str) -> String {
        const MOST: usize = 300;
        let clean = match &self.0 {
            Some(key) => text.replace(key, REDACTED),
            None => text.to_owned(),
        };
        let line: Vec<&str> = clean.split_whitespace().collect();
        let line = line.join(" ");
        match line.char_indices().nth(MOST) {
            Some((end, _)) => format!("{} …", &line[..end]),
            None => line,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown() {
        let key = Key(Some("sk-secret".into()));
        assert_eq!(format!("{key:?}"), "[key]");
        assert_eq!(key.redact("no  key\nsk-secret, \"sk-secret\""), "no key [key], \"[key]\"");
        assert!(!format!("{:?}", key.header().unwrap()).contains("secret"));
        assert_eq!(key.redact(&"é ".repeat(400)).chars().count(), 302);
    }

    #[test]
    fn an_environment_without_key_is_an_error() {
        let mut settings = Settings::new("https://a.b", "m", None);
        settings.key_variable = Some("DISSENSUS_NO_SUCH_VARIABLE".into());
        let error = Key::of(&settings).unwrap_err().to_string();
        assert!(error.contains("DISSENSUS_NO_SUCH_VARIABLE holds no key"), "{error}");
        // Cargo sets this one, and it is a sentence.
        settings.key_variable = Some("CARGO_PKG_DESCRIPTION".into());
        let error = Key::of(&settings).unwrap_err();
        assert!(matches!(error, EndpointError::BadKey { .. }), "{error}");
        assert!(!error.to_string().contains("vectors"), "{error}");
        settings.key_variable = None;
        assert!(Key::of(&settings).unwrap().header().is_none());
    }
}
