//! The list of keys of the sections that only studies have. Tables, figures, claims and references
//! are read as types of the report, and stages list their own keys.

use dissensus_train::spec::{Key, When};

const NAME: &str = "a name of letters, digits and the characters - _ . : =";
const FILE_NAME: &str = "a name of letters, digits, dashes and underscores, at most 60";
const TEXT: &str = "a text";
const NAMES: &str = "a list of names";
const SET: &str = "a table of keys of runs, as in { \"training.epochs\" = 20 }";
const SEEDS: &str = "how many (at least 1), or a list of whole numbers, at least 0, none twice";
const COUNT: &str = "a whole number, at least 1";
const AXES: &str = "a table of keys of runs, each with a list of values, none twice";

const fn key(section: &'static str, name: &'static str, expected: &'static str) -> Key {
    Key { section, name, when: When::Always, default: None, expected }
}

/// The keys of `[study]`, `[[dataset]]`, `[[arm]]`, `[grid]`, `[[slice]]` and `[scale.NAME]`.
pub const STUDY_KEYS: &[Key] = &[
    key("study", "name", FILE_NAME),
    key("study", "title", TEXT),
    key("study", "about", TEXT),
    key("study", "question", TEXT),
    key("study", "main_claim", "the name of a claim"),
    key("study", "main_figure", "the name of a figure"),
    key("study", "references", "the name of a file"),
    key("study", "scale", "the name of a scale"),
    key("study", "defaults", "1 or 2"),
    key("study", "set", SET),
    key("dataset", "name", NAME),
    key("dataset", "title", TEXT),
    key("dataset", "classes", NAMES),
    key("dataset", "set", SET),
    key("arm", "name", NAME),
    key("arm", "title", TEXT),
    key("arm", "about", TEXT),
    key("arm", "delivery", "a delivery method, as in \"sls:every=5\""),
    key(
        "arm",
        "votes",
        "a list of numbers of votes, \"all\", and tables as in { k = 5, seeds = 3 }, none twice",
    ),
    key("arm", "seeds", SEEDS),
    key("arm", "set", SET),
    key("arm", "datasets", NAMES),
    key("grid", "select", "the name of a metric"),
    key("grid", "on", "the name of a part of the split"),
    key("grid", "seed", "a whole number, at least 0"),
    key(
        "slice",
        "name",
        "a name of letters, digits and the characters - _ . : =, other than `all`",
    ),
    key("slice", "top", "a share of the items, above 0 and up to 1"),
    key("slice", "above", "an entropy in nats, at least 0"),
    key("scale", "about", TEXT),
    key("scale", "items", COUNT),
    key("scale", "seeds", COUNT),
    key("scale", "ks", "a list of numbers of votes, or \"all\""),
    key("scale", "set", SET),
    key("scale", "grid", AXES),
];
