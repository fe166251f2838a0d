//! Names with settings as text, `sls:every=5` or `label_smoothing:epsilon=0.05,ties=random`:
//! taken apart here, checked against the list of a family, and only then good for anything.

use std::fmt;
use std::str::FromStr;

use crate::LabelError;
use dissensus_core::nearest;

/// A setting of a method, as the list and the help show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name to type.
    pub name: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    /// Its value where none is given.
    pub default: &'static str,
    /// The values it takes, in words.
    pub expected: &'static str,
    /// Whether it came after runs were stored with the method. Its default is then not part of the
    /// method's text, which names runs, so that they keep their ids.
    pub came_later: bool,
}

/// A name and settings that nobody has checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// The name of a method.
    pub name: String,
    /// (setting, value) as they were given.
    pub settings: Vec<(String, String)>,
}

impl FromStr for Params {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let bad = || LabelError::Syntax { text: text.to_owned(), example: "sls:every=5" };
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name.trim(), Some(rest)),
            None => (text.trim(), None),
        };
        let mut settings: Vec<(String, String)> = Vec::new();
        for part in rest.into_iter().flat_map(|rest| rest.split(',')) {
            let (setting, value) = part.split_once('=').ok_or_else(bad)?;
            let (setting, value) = (setting.trim().to_owned(), value.trim().to_owned());
            if setting.is_empty() || value.is_empty() || settings.iter().any(|s| s.0 == setting) {
                return Err(bad());
            }
            settings.push((setting, value));
        }
        if name.is_empty() {
            return Err(bad());
        }
        Ok(Self { name: name.to_owned(), settings })
    }
}

impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (at, (setting, value)) in self.settings.iter().enumerate() {
            write!(f, "{}{setting}={value}", if at == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl Params {
    /// The member of a family with this name.
    pub(crate) fn find<T>(
        &self,
        family: &'static str,
        list: &'static [T],
        name: impl Fn(&'static T) -> &'static str,
    ) -> Result<&'static T, LabelError> {
        list.iter().find(|member| name(member) == self.name).ok_or_else(|| {
            let known: Vec<&str> = list.iter().map(&name).collect();
            LabelError::UnknownName {
                family,
                name: self.name.clone(),
                nearest: nearest(&self.name, list.iter().map(&name)),
                known: known.join(", "),
            }
        })
    }

    /// The settings, for a method that has these.
    pub(crate) fn given(
        &self,
        of: &'static str,
        settings: &'static [Setting],
    ) -> Result<Given, LabelError> {
        for (name, _) in &self.settings {
            if !settings.iter().any(|s| s.name == name) {
                let known = match settings {
                    [] => "it has none".to_owned(),
                    [only] => format!("it has {}", only.name),
                    _ => format!(
                        "did you mean {}? It has {}",
                        nearest(name, settings.iter().map(|s| s.name)),
                        settings.iter().map(|s| s.name).collect::<Vec<_>>().join(", ")
                    ),
                };
                return Err(LabelError::UnknownSetting { of, name: name.clone(), known });
            }
        }
        let value = |setting: &Setting| {
            let given = self.settings.iter().find(|s| s.0 == setting.name);
            given.map_or(setting.default, |s| &s.1).to_owned()
        };
        let values = settings.iter().map(value).collect();
        Ok(Given { of, settings, values, read: 0, resolved: Vec::new() })
    }
}

/// Settings of the right names, whose values are read one after another.
pub(crate) struct Given {
    of: &'static str,
    settings: &'static [Setting],
    values: Vec<String>,
    /// How many settings are read.
    read: usize,
    resolved: Vec<(&'static str, String)>,
}

impl Given {
    /// Reads the next setting in the order of the list. `valid` says which values it takes.
    pub(crate) fn next<T: FromStr + fmt::Display>(
        &mut self,
        valid: impl Fn(&T) -> bool,
    ) -> Result<T, LabelError> {
        let at = self.read;
        let (Some(setting), Some(value)) = (self.settings.get(at), self.values.get(at)) else {
            let text = self.of.to_owned();
            return Err(LabelError::Syntax { text, example: "a setting that is in the list" });
        };
        let Setting { name, expected, default, came_later, .. } = *setting;
        let bad = || LabelError::BadSetting { of: self.of, name, value: value.clone(), expected };
        let read = value.parse().ok().filter(valid).ok_or_else(bad)?;
        self.read += 1;
        let text = read.to_string();
        if !came_later || text != default {
            self.resolved.push((name, text));
        }
        Ok(read)
    }

    /// The name with the settings as they were read: all but those that came later and have their
    /// default.
    pub(crate) fn text(self) -> String {
        let settings = self.resolved.into_iter().map(|(name, value)| (name.to_owned(), value));
        Params { name: self.of.to_owned(), settings: settings.collect() }.to_string()
    }
}

/// What a method with checked settings is as text: its name with all of them, read and checked by
/// this function of [`Params`].
macro_rules! written_as_text {
    ($Method:ident, $check:ident) => {
        impl std::str::FromStr for $Method {
            type Err = LabelError;

            fn from_str(text: &str) -> Result<Self, LabelError> {
                text.parse::<Params>()?.$check()
            }
        }

        impl TryFrom<String> for $Method {
            type Error = LabelError;

            fn try_from(text: String) -> Result<Self, LabelError> {
                text.parse()
            }
        }

        impl From<$Method> for String {
            fn from(method: $Method) -> Self {
                method.text
            }
        }

        impl std::fmt::Display for $Method {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.text)
            }
        }

        impl std::fmt::Debug for $Method {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($Method), self.text)
            }
        }

        impl PartialEq for $Method {
            fn eq(&self, other: &Self) -> bool {
                self.text == other.text
            }
        }
    };
}
pub(crate) use written_as_text;

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: [Setting; 2] = [
        Setting {
            name: "every",
            description: "of the first version",
            default: "1",
            expected: "a whole number",
            came_later: false,
        },
        Setting {
            name: "temperature",
            description: "of a later version",
            default: "1",
            expected: "a whole number",
            came_later: true,
        },
    ];

    /// A method gets a setting that it did not have when runs were stored: where nobody sets it, the
    /// method is written as before, so that stored runs keep their ids; where it has another value
    /// than its default, it is part of the text like any other, and names another run.
    #[test]
    fn a_setting_that_came_later_does_not_rename_stored_runs() {
        for (given, written) in [
            ("sls", "sls:every=1"),
            ("sls:every=5", "sls:every=5"),
            ("sls:temperature=1", "sls:every=1"),
            ("sls:temperature=01,every=1", "sls:every=1"),
            ("sls:temperature=2", "sls:every=1,temperature=2"),
        ] {
            let params: Params = given.parse().unwrap();
            let mut given = params.given("sls", &SETTINGS).unwrap();
            let [_, temperature] = [(); 2].map(|()| given.next(|_: &u32| true).unwrap());
            assert_eq!(given.text(), written);
            assert_eq!(temperature == 2, written.ends_with("temperature=2"));
        }
    }

    #[test]
    fn text_is_taken_apart_and_put_together() {
        let text = "label_smoothing:epsilon=0.05,ties=random";
        let params: Params = text.parse().unwrap();
        assert_eq!((params.name.as_str(), params.settings.len()), ("label_smoothing", 2));
        assert_eq!(params.to_string(), text);
        assert_eq!(" soft ".parse::<Params>().unwrap().to_string(), "soft");
        for bad in ["", ":", "sls:", "sls:every", "sls:every=", "sls:=5", "sls:every=1,every=2"] {
            let error = bad.parse::<Params>().unwrap_err().to_string();
            assert!(error.contains(r#"as in "sls:every=5""#), "{error}");
        }
    }
}
