//! The list of keys: section, when a key applies, its default in TOML, and the values it accepts. The
//! reader takes defaults from here, and a test compares the template with it.

use std::sync::LazyLock;

use dissensus_engine::{LOSS_NAMES, MODEL_NAMES, MODELS};
use dissensus_votes::options::{OPTIONS, OptionEntry};

use super::data::Pair;
use super::run::{CHECKPOINTS, PRECISIONS};

/// A key of a training spec or a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its section; `training.augment` for a table within a section.
    pub section: &'static str,
    /// Its name.
    pub name: &'static str,
    /// When it applies.
    pub when: When,
    /// Its default, in TOML; `None` where it must be given or may be omitted.
    pub default: Option<&'static str>,
    /// The values it accepts, in words.
    pub expected: &'static str,
}

/// When a key applies. Elsewhere it is an error: no setting is ignored silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// While another key, named with its section, has this value.
    Is(&'static str, &'static str),
    /// Together with another key, named with its section.
    With(&'static str),
    /// While another key has this value, together with a third.
    IsWith(&'static str, &'static str, &'static str),
}

impl Key {
    /// Section and name, as in errors and overrides.
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }
}

/// The sections of a run, in the order of the template. One with a dot is a table within another.
pub const SECTIONS: &[&str] = &[
    "data",
    "split",
    "model",
    "delivery",
    "training",
    "training.plateau",
    "training.augment",
    "selection",
    "selection.stop",
    "run",
];

/// The sections that only studies have: the name, and how it is written.
pub const STUDY_SECTIONS: &[(&str, &str)] = &[
    ("study", "[study]"),
    ("dataset", "[[dataset]]"),
    ("arm", "[[arm]]"),
    ("grid", "[grid]"),
    ("slice", "[[slice]]"),
    ("stages", "[stages]"),
    ("table", "[[table]]"),
    ("claim", "[[claim]]"),
    ("reference", "[[reference]]"),
    ("figure", "[[figure]]"),
    ("scale", "[scale.NAME]"),
];

const fn key(
    section: &'static str,
    name: &'static str,
    default: &'static str,
    expected: &'static str,
) -> Key {
    Key { section, name, when: When::Always, default: Some(default), expected }
}

const fn bare(section: &'static str, name: &'static str, expected: &'static str) -> Key {
    Key { section, name, when: When::Always, default: None, expected }
}

impl Key {
    const fn is(self, other: &'static str, value: &'static str) -> Self {
        Self { when: When::Is(other, value), ..self }
    }

    const fn with(self, other: &'static str) -> Self {
        Self { when: When::With(other), ..self }
    }

    const fn is_with(self, other: &'static str, value: &'static str, third: &'static str) -> Self {
        Self { when: When::IsWith(other, value, third), ..self }
    }
}

const ADAM: &str = r#""adam""#;
const TWO: &str = "train/evaluation";
const THREE: &str = "train/validation/test";
const OPTIMIZER: &str = "training.optimizer";
const SCHEDULE: &str = "training.schedule";
const IMAGES: &str = "training.augment";
const VOTES: &str = "data.votes";
const EVALUATE_ON: &str = "data.evaluate_on";
const INPUTS: &str = "data.inputs";
const SUBSET: &str = "data.subset";
const ENTROPY_BINS: &str = "entropy-bins";

const TEXT: &str = "text that is not empty";
const YES_NO: &str = "true or false";
const COUNT: &str = "a whole number, at least 1";
const SHARES: &str = "a number above 0 for each part, with the sum 1, as in [0.8, 0.2]";
const OTHER_SHARES: &str = "a number above 0 for each part but the last, which is data.evaluate_on, \
                            with the sum 1, as in [1.0]";
const ABOVE_0: &str = "a number above 0";
const FROM_0: &str = "a number, at least 0";
const BELOW_1: &str = "a number from 0 to below 1";
const AUTO_COUNT: &str = r#""auto", or a whole number from 1 to 1024"#;
const SPLIT_FILES: &str = "a table of files with one id per line, as in { train = \"train.txt\", \
                           test = \"test.txt\" }; validation may be a third";
const AUGMENT: &str = r#""recipe", false, or a table with crop and flip"#;
const STOP: &str = "false, true, or a table with patience and minimum";
const VOTES_PER_ITEM: &str =
    r#"a whole number of votes from 1 to 1000000, or "all"; or a list of them"#;
const SEED: &str = r#""run" for each run's own seed, or a whole number, at least 0"#;
const SEEDS: &str = "how many (at least 1), or a list of whole numbers, at least 0";
const DEVICE: &str = r#""auto", "cpu", "cuda", or a GPU by its number, as in "cuda:1"; for one run at a time "cuda:exclusive""#;

/// Every key, in the order of the template. A name stands more than once where its default depends
/// on another key; the first that counts is taken.
pub static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let mut keys = FIXED.to_vec();
    let mut insert = |before: bool, path: &str, new: Vec<Key>| {
        let at = keys.iter().position(|key| key.path() == path).unwrap_or(keys.len());
        let at = if before { at } else { at + 1 };
        keys.splice(at..at, new);
    };
    insert(false, EVALUATE_ON, reading_keys().collect());
    insert(false, "model.name", model_keys().collect());
    insert(true, OPTIMIZER, optimizer_keys().collect());
    keys
});

/// How votes are read, from the list of its options.
fn reading_keys() -> impl Iterator<Item = Key> {
    OPTIONS.iter().map(|entry| bare("data", entry.option.name(), entry.expected).with(VOTES))
}

/// The optimizer of every model that has another than the default, from the entries of the models.
fn optimizer_keys() -> impl Iterator<Item = Key> {
    let others = MODELS.iter().filter(|model| model.optimizer != "sgd");
    others.map(|model| key("training", "optimizer", ADAM, TEXT).is("model.name", model.name))
}

/// The settings of every model, from the entries of the models.
fn model_keys() -> impl Iterator<Item = Key> {
    MODELS.iter().flat_map(|model| {
        model.settings.iter().map(|setting| {
            let key = key("model", setting.name, setting.default_text, setting.expected);
            key.is("model.name", model.name)
        })
    })
}

/// The keys that do not depend on a list of members.
const FIXED: &[Key] = &[
    bare("data", "dataset", "the name of a dataset"),
    bare("data", "votes", "the path of a votes file"),
    bare("data", "inputs", "the path of a file or folder with inputs"),
    bare("data", "inputs_key", "the name of an array or a column").with(INPUTS),
    bare("data", "inputs_layout", TEXT).with(INPUTS),
    bare("data", "inputs_id", "the name of a column or an array").with(INPUTS),
    bare("data", "inputs_by_position", YES_NO).with(INPUTS),
    bare("data", "inputs_resize", "a whole number of pixels, or [height, width]").with(INPUTS),
    bare("data", "encoder", "the name of an encoder, or the path of its file or folder"),
    key("data", "pair", r#""combined""#, TEXT).with("data.encoder"),
    bare("data", "evaluate_on", "the name of a dataset").with("data.dataset"),
    bare("data", "split_column", "the name of a column").with(VOTES),
    bare("data", "split_files", SPLIT_FILES),
    key("data", "votes_per_item", r#""all""#, VOTES_PER_ITEM),
    key("data", "replacement", "true", YES_NO),
    bare("data", "items", "a whole number from 1 to 10000000"),
    key("data", "subset", r#""all""#, TEXT),
    key("data", "bins", "10", COUNT).is(SUBSET, ENTROPY_BINS),
    key("data", "per_bin", "200", COUNT).is(SUBSET, ENTROPY_BINS),
    key("data", "subset_seed", "0", "a whole number, at least 0").is(SUBSET, ENTROPY_BINS),
    key("split", "parts", r#""train/evaluation""#, TEXT),
    key("split", "shares", "[1.0]", OTHER_SHARES).is_with("split.parts", TWO, EVALUATE_ON),
    key("split", "shares", "[0.9, 0.1]", OTHER_SHARES).is_with("split.parts", THREE, EVALUATE_ON),
    key("split", "shares", "[0.8, 0.2]", SHARES).is("split.parts", TWO),
    key("split", "shares", "[0.7, 0.1, 0.2]", SHARES).is("split.parts", THREE),
    key("split", "stratify", "true", YES_NO),
    key("split", "seed", r#""run""#, SEED),
    key("model", "name", r#""resnet18""#, TEXT),
    bare("delivery", "methods", "a method, or a list of methods"),
    key("delivery", "target", r#""frequencies""#, TEXT),
    key("training", "epochs", "200", "a whole number from 1 to 1000000"),
    key("training", "batch_size", "128", "a whole number from 1 to 1000000"),
    key("training", "loss", r#""cross_entropy""#, TEXT),
    key("training", "optimizer", r#""sgd""#, TEXT),
    key("training", "learning_rate", "0.1", ABOVE_0).is(OPTIMIZER, "sgd"),
    key("training", "momentum", "0.9", BELOW_1).is(OPTIMIZER, "sgd"),
    key("training", "nesterov", "false", YES_NO).is(OPTIMIZER, "sgd"),
    key("training", "weight_decay", "0.0005", FROM_0).is(OPTIMIZER, "sgd"),
    key("training", "learning_rate", "0.001", ABOVE_0).is(OPTIMIZER, "adam"),
    key("training", "beta1", "0.9", BELOW_1).is(OPTIMIZER, "adam"),
    key("training", "beta2", "0.999", BELOW_1).is(OPTIMIZER, "adam"),
    key("training", "epsilon", "0.00000001", ABOVE_0).is(OPTIMIZER, "adam"),
    key("training", "weight_decay", "0.0", FROM_0).is(OPTIMIZER, "adam"),
    key("training", "schedule", r#""cosine""#, TEXT),
    key("training.plateau", "factor", "0.5", "a number between 0 and 1").is(SCHEDULE, "plateau"),
    key("training.plateau", "patience", "10", "a whole number, at least 0").is(SCHEDULE, "plateau"),
    key("training.plateau", "threshold", "0.0001", BELOW_1).is(SCHEDULE, "plateau"),
    key("training.plateau", "minimum", "0.0", FROM_0).is(SCHEDULE, "plateau"),
    key("training", "augment", r#""recipe""#, AUGMENT),
    key("training.augment", "crop", "0", "a whole number of pixels from 0 to 63").with(IMAGES),
    key("training.augment", "flip", "false", YES_NO).with(IMAGES),
    key("selection", "metric", r#""soft_nll""#, TEXT),
    key("selection", "on", r#""evaluation""#, TEXT).is("split.parts", TWO),
    key("selection", "on", r#""validation""#, TEXT).is("split.parts", THREE),
    key("selection", "stop", "false", STOP),
    key("selection.stop", "patience", "10", COUNT).with("selection.stop"),
    key("selection.stop", "minimum", "0.0", FROM_0).with("selection.stop"),
    key("run", "seeds", "3", SEEDS),
    key("run", "precision", r#""f32""#, TEXT),
    key("run", "device", r#""auto""#, DEVICE),
    key("run", "jobs", r#""auto""#, AUTO_COUNT),
    key("run", "threads", r#""auto""#, AUTO_COUNT),
    key("run", "store", r#""runs""#, TEXT),
    key("run", "checkpoint", r#""auto""#, TEXT),
    key("run", "tensorboard", "false", YES_NO),
];

/// The names that a key accepts, by section and key; `None` for keys that accept other values.
/// Metrics, deliveries and targets have lists of their own.
pub fn choices(path: &str) -> Option<&'static [&'static str]> {
    Some(match path {
        "data.inputs_layout" => &["nhwc", "nchw"],
        "data.pair" => &Pair::NAMES,
        "data.subset" => &["all", ENTROPY_BINS],
        "split.parts" => &[TWO, THREE],
        "model.name" => MODEL_NAMES,
        "training.loss" => LOSS_NAMES,
        "training.optimizer" => &["sgd", "adam"],
        "training.schedule" => &["cosine", "constant", "plateau"],
        "run.precision" => PRECISIONS,
        "run.checkpoint" => CHECKPOINTS,
        path => {
            let is_it =
                |entry: &&OptionEntry| path.strip_prefix("data.") == Some(entry.option.name());
            let entry = OPTIONS.iter().find(is_it)?;
            return Some(entry.choices).filter(|choices| !choices.is_empty());
        }
    })
}

/// The paths of the keys that have this name, each once: `training.epochs` for `epochs`.
pub fn paths_of(name: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for path in KEYS.iter().filter(|key| key.name == name).map(Key::path) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// The names of a section's keys and tables, each once.
pub(super) fn names(section: &str) -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    let keys = KEYS.iter().filter(|key| key.section == section).map(|key| key.name);
    let prefix = format!("{section}.");
    let tables = SECTIONS.iter().filter_map(|name| name.strip_prefix(&prefix));
    for name in keys.chain(tables) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The sections that are not within another.
pub(super) fn top() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().copied().filter(|section| !section.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_complete() {
        for (at, key) in KEYS.iter().enumerate() {
            let path = key.path();
            assert!(SECTIONS.contains(&key.section), "{path}");
            assert!(!key.expected.is_empty(), "{path}");
            // A name that is listed twice has another condition each time.
            let same = |k: &&Key| (k.section, k.name, k.when) == (key.section, key.name, key.when);
            assert_eq!(KEYS.iter().position(|k| same(&k)), Some(at), "{path}");
            let other = match key.when {
                When::Always => continue,
                When::Is(other, value) => {
                    assert!(choices(other).unwrap().contains(&value), "{path}: {value}");
                    other
                }
                When::With(other) => other,
                When::IsWith(other, value, third) => {
                    assert!(choices(other).unwrap().contains(&value), "{path}: {value}");
                    third
                }
            };
            assert!(KEYS.iter().any(|key| key.path() == other), "{path} depends on {other}");
        }
        for section in SECTIONS {
            assert!(!names(section).is_empty(), "{section} has no keys");
        }
    }
}
