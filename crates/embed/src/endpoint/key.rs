//! The key: read once, sent in one header, never shown.

use dissensus_io::http::Secret;

use super::{EndpointError, Settings};

/// A key, or that there is none.
#[derive(Debug)]
pub(super) struct Key(Option<Secret>);

impl Key {
    /// From the environment variable that the settings name.
    pub(super) fn of(settings: &Settings) -> Result<Self, EndpointError> {
        let Some(variable) = &settings.key_variable else {
            return Ok(Self(None));
        };
        let value = std::env::var(variable).unwrap_or_default();
        if value.trim().is_empty() {
            return Err(EndpointError::NoKey { variable: variable.clone() });
        }
        match Secret::new(&value) {
            Some(secret) => Ok(Self(Some(secret))),
            None => Err(EndpointError::BadKey { variable: variable.clone() }),
        }
    }

    /// What is sent.
    pub(super) fn secret(&self) -> Option<&Secret> {
        self.0.as_ref()
    }

    /// A server's text, in one line of moderate length, without the key.
    pub(super) fn redact(&self, text: &str) -> String {
        const MOST: usize = 300;
        let clean = match &self.0 {
            Some(key) => key.redact(text),
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
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown() {
        let key = Key(Secret::new("sk-secret"));
        assert!(!format!("{key:?}").contains("sk-"));
        let found = key.redact("no  key\nsk-secret, \"sk-secret\"");
        assert_eq!(found, "no key [secret], \"[secret]\"");
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
        assert!(Key::of(&settings).unwrap().secret().is_none());
    }
}
