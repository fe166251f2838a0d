//! The models, one file per model, in one list.
//!
//! To add a model, write its file and add its line to [`MODELS`]. The entry says everything that the
//! rest of the program needs to know: the spec language, its template and the command line read
//! names, settings, defaults and ranges from here.

mod mlp;
mod resnet18;
mod setting;
mod smallcnn;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use std::collections::BTreeMap;

use dissensus_core::limits::MAX_PARAMETERS;

pub use setting::{Setting, SettingValue};

use crate::error::EngineError;
use crate::network::{Network, Shape};

/// The models. The first is the default of a spec.
pub const MODELS: &[ModelEntry] = &[resnet18::ENTRY, smallcnn::ENTRY, mlp::ENTRY];

/// The names of [`MODELS`], in their order.
pub const MODEL_NAMES: &[&str] = &{
    let mut names = [""; MODELS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = MODELS[at].name;
        at += 1;
    }
    names
};

/// What a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Images: height × width × channels.
    Images,
    /// Feature vectors. Images are taken as vectors, too.
    Vectors,
}

/// A model of the list.
#[derive(Clone, Copy, Debug)]
pub struct ModelEntry {
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    pub takes: InputKind,
    /// The name of the optimizer that trains it where a spec names none.
    pub optimizer: &'static str,
    /// Its settings, in the order in which they are written.
    pub settings: &'static [Setting],
    network: fn(&Model, Shape, usize) -> Result<Network, EngineError>,
}

/// A model with its settings.
///
/// ```
/// use dissensus_engine::{Model, network::Shape};
/// let model = Model::named("mlp")?.with("hidden", 32_u64)?;
/// assert_eq!(model.to_string(), "mlp (hidden 32, dropout 0.1)");
/// let network = model.network(Shape::Flat { width: 384 }, 3)?;
/// assert_eq!(network.parameter_count(), 384 * 32 + 32 + 32 * 3 + 3);
/// # Ok::<(), dissensus_engine::EngineError>(())
/// ```
#[derive(Clone)]
pub struct Model {
    entry: &'static ModelEntry,
    /// One per setting of the entry.
    values: Vec<SettingValue>,
}

impl Model {
    /// The model with this name and its default settings.
    pub fn named(name: &str) -> Result<Self, EngineError> {
        let entry = MODELS.iter().find(|entry| entry.name == name).ok_or_else(|| {
            EngineError::UnknownModel { name: name.to_owned(), known: MODEL_NAMES.join(", ") }
        })?;
        let values = entry.settings.iter().map(|setting| setting.default).collect();
        Ok(Self { entry, values })
    }

    /// The same model with another value for a setting.
    pub fn with(mut self, name: &str, value: impl Into<SettingValue>) -> Result<Self, EngineError> {
        let (entry, value) = (self.entry, value.into());
        let at = entry.settings.iter().position(|setting| setting.name == name);
        let at = at.ok_or_else(|| self.no_setting(name))?;
        let setting = &entry.settings[at];
        self.values[at] = setting.check(value).ok_or_else(|| {
            let problem = format!("{name} is {value}; expected {}", setting.expected);
            self.refusal(problem)
        })?;
        Ok(self)
    }

    /// Its entry in the list.
    pub fn entry(&self) -> &'static ModelEntry {
        self.entry
    }

    /// The network for examples of this shape and this many classes.
    pub fn network(&self, input: Shape, classes: usize) -> Result<Network, EngineError> {
        if classes < 2 {
            let problem = format!("needs at least 2 classes, but the votes have {classes}");
            return Err(self.refusal(problem));
        }
        if input.is_empty() {
            return Err(self.refusal("the examples are empty".to_owned()));
        }
        if let (InputKind::Images, Shape::Flat { .. }) = (self.entry.takes, input) {
            let vectors = MODELS.iter().filter(|entry| entry.takes == InputKind::Vectors);
            let others: Vec<String> = vectors.map(|entry| format!("`{}`", entry.name)).collect();
            let others = others.join(" or ");
            let problem = format!("needs images, but the inputs are vectors; use {others}");
            return Err(self.refusal(problem));
        }
        let network = (self.entry.network)(self, input, classes)?;
        match network.parameter_count() {
            count if count > MAX_PARAMETERS => Err(self.refusal(format!(
                "would have {count} parameters for these inputs and classes; at most {MAX_PARAMETERS} are possible"
            ))),
            _ => Ok(network),
        }
    }

    /// A setting that is a count, for the model's own file.
    fn count(&self, name: &str) -> Result<usize, EngineError> {
        match self.value(name)? {
            SettingValue::Whole(value) => Ok(usize::try_from(value).unwrap_or(usize::MAX)),
            SettingValue::Number(_) => Err(self.no_setting(name)),
        }
    }

    /// A setting that is a number, for the model's own file.
    fn number(&self, name: &str) -> Result<f64, EngineError> {
        match self.value(name)? {
            SettingValue::Number(value) => Ok(value),
            SettingValue::Whole(_) => Err(self.no_setting(name)),
        }
    }

    fn value(&self, name: &str) -> Result<SettingValue, EngineError> {
        let found = self.settings().find(|(setting, _)| *setting == name);
        found.map(|(_, value)| value).ok_or_else(|| self.no_setting(name))
    }

    /// Its settings with their values.
    fn settings(&self) -> impl Iterator<Item = (&'static str, SettingValue)> + '_ {
        self.entry.settings.iter().map(|setting| setting.name).zip(self.values.iter().copied())
    }

    fn no_setting(&self, name: &str) -> EngineError {
        let known: Vec<&str> = self.entry.settings.iter().map(|setting| setting.name).collect();
        self.refusal(format!("has no setting `{name}` of this type; it has {}", known.join(", ")))
    }

    fn refusal(&self, problem: String) -> EngineError {
        EngineError::Model { model: self.entry.name, problem }
    }
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        (self.entry.name, &self.values) == (other.entry.name, &other.values)
    }
}

impl std::fmt::Display for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let settings: Vec<String> =
            self.settings().map(|(name, value)| format!("{name} {value}")).collect();
        write!(f, "{} ({})", self.entry.name, settings.join(", "))
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// `{"name":"mlp","hidden":256,"dropout":0.1}`: the identity of a run is made of it.
impl Serialize for Model {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1 + self.values.len()))?;
        map.serialize_entry("name", self.entry.name)?;
        for (name, value) in self.settings() {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}

/// Every setting must be there, and no other.
impl<'de> Deserialize<'de> for Model {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        struct Written {
            name: String,
            #[serde(flatten)]
            settings: BTreeMap<String, SettingValue>,
        }
        let Written { name, settings } = Written::deserialize(deserializer)?;
        let mut model = Self::named(&name).map_err(D::Error::custom)?;
        if let Some(missing) =
            model.entry.settings.iter().find(|setting| !settings.contains_key(setting.name))
        {
            return Err(D::Error::missing_field(missing.name));
        }
        for (name, value) in settings {
            model = model.with(&name, value).map_err(D::Error::custom)?;
        }
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_of_the_list_has_a_network() {
        for entry in MODELS {
            let model = Model::named(entry.name).unwrap();
            assert_eq!(model.entry().name, entry.name);
            assert!(!entry.description.is_empty(), "{}", entry.name);
            let input = match entry.takes {
                InputKind::Images => Shape::Map { height: 32, width: 32, channels: 3 },
                InputKind::Vectors => Shape::Flat { width: 384 },
            };
            assert_eq!(model.network(input, 10).unwrap().classes(), 10);
            for setting in entry.settings {
                // The default is in range, and its text says the same.
                assert_eq!(setting.check(setting.default), Some(setting.default), "{setting:?}");
                assert_eq!(setting.default.to_string(), setting.default_text);
            }
        }
        assert!(Model::named("resnet").is_err());
    }

    #[test]
    fn networks_that_no_memory_holds_are_refused() {
        let images = Shape::Map { height: 32, width: 32, channels: 3 };
        let wide = Model::named("resnet18").unwrap().with("width", 4096_u64).unwrap();
        let error = wide.network(images, 10).unwrap_err().to_string();
        assert!(error.contains("parameters") && error.contains("2147483648"), "{error}");
        // What is allowed is only described here: nothing is allocated yet.
        let head = Model::named("mlp").unwrap().with("hidden", 16384_u64).unwrap();
        let width = (MAX_PARAMETERS / 16384) - 100;
        assert!(
            head.network(Shape::Flat { width }, 2).unwrap().parameter_count() <= MAX_PARAMETERS
        );
        assert!(head.network(Shape::Flat { width: width + 100 }, 2).is_err());
    }

    /// Runs are known by the hash of this text.
    #[test]
    fn models_are_written_as_they_always_were() {
        let model = |name: &str| Model::named(name).unwrap();
        for (model, text) in [
            (model("resnet18"), r#"{"name":"resnet18","width":64}"#),
            (model("smallcnn").with("width", 4_u64).unwrap(), r#"{"name":"smallcnn","width":4}"#),
            (model("mlp"), r#"{"name":"mlp","hidden":256,"dropout":0.1}"#),
            (
                model("mlp").with("dropout", 0.0).unwrap(),
                r#"{"name":"mlp","hidden":256,"dropout":0.0}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&model).unwrap(), text);
            assert_eq!(serde_json::from_str::<Model>(text).unwrap(), model);
        }
        for bad in [
            r#"{"name":"mlp","hidden":256}"#,
            r#"{"name":"mlp","hidden":256,"dropout":0.1,"width":4}"#,
            r#"{"name":"mlp","hidden":0,"dropout":0.1}"#,
            r#"{"name":"mlp","hidden":2.5,"dropout":0.1}"#,
            r#"{"name":"resnet50","width":64}"#,
        ] {
            assert!(serde_json::from_str::<Model>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn settings_are_checked() {
        let mlp = || Model::named("mlp").unwrap();
        let error = mlp().with("hidden", 16_385_u64).unwrap_err().to_string();
        assert!(error.ends_with("expected a whole number from 1 to 16384"), "{error}");
        assert!(mlp().with("dropout", 1.0).is_err() && mlp().with("dropout", f64::NAN).is_err());
        assert!(mlp().with("width", 4_u64).unwrap_err().to_string().contains("hidden, dropout"));
    }

    #[test]
    fn resnet18_has_the_usual_size() {
        let input = Shape::Map { height: 32, width: 32, channels: 3 };
        let network = Model::named("resnet18").unwrap().network(input, 10).unwrap();
        // 3×3 at 32×32: 3→64 and four 64→64; the rest halves pixels and doubles channels. The last is linear.
        let first = 1024 * 9 * 64 * (3 + 4 * 64);
        let later = 1024 * 64 * (3 * (9 * 64 / 2 + 3 * 9 * 64 + 64 / 2));
        assert_eq!(network.multiplications(), first + later + 5120);
        assert_eq!(network.parameter_count(), 11_173_962);
    }

    #[test]
    fn vectors_do_not_go_into_convolutions() {
        let model = Model::named("smallcnn").unwrap();
        let error = model.network(Shape::Flat { width: 8 }, 2).unwrap_err();
        assert!(error.to_string().contains("use `mlp`"), "{error}");
    }
}
