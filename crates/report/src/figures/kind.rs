//! What a kind of figure is, and the list of all kinds.
//!
//! To add a kind, write its file and add it to the list; the spec of a study, its template, its
//! checks and the numbers by item that a report computes are read from there.

use serde::{Deserialize, Serialize};

use super::figure::Drawn;
use super::scope::Scope;
use crate::ReportError;

/// One line per kind: its variant, and its module.
macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident: $module:ident),* $(,)?) => {
        /// What kind of figure.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum FigureKind {
            $($(#[$about])* $kind,)*
        }

        impl FigureKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            pub(super) fn kind(self) -> &'static Kind {
                match self {
                    $(Self::$kind => &super::$module::KIND,)*
                }
            }
        }
    };
}

kinds! {
    /// Points with intervals: a panel for each metric, a point for each arm.
    #[default]
    Points: points,
    /// A line for each arm over the number of votes.
    Lines: lines,
    /// The effect of one column of items on another, in bins of equal count.
    Effect: effect,
    /// Reliability diagrams.
    Reliability: reliability,
    /// Histograms of a column of items.
    Histogram: histogram,
    /// One column of items against another.
    Scatter: scatter,
    /// One result of runs against another.
    Runs: runs,
    /// Training curves, and other lines of runs.
    Curves: curves,
    /// Items with their votes and predictions.
    #[serde(alias = "pictures")]
    Images: images,
    /// Items with each run's map of where it looks.
    Maps: maps,
}

/// Everything that is known about a kind.
pub(super) struct Kind {
    /// Its name, as a spec writes it.
    pub(super) name: &'static str,
    /// A figure of it in the template of a study, with every key explained.
    pub(super) template: &'static str,
    /// The keys of a [`FigureSpec`](super::FigureSpec) that it reads, besides those of every figure.
    pub(super) settings: &'static [Setting],
    /// Takes from a book what the figure shows.
    pub(super) prepare: fn(&Scope<'_>) -> Result<Drawn, ReportError>,
}

/// A key of a figure's spec that a kind reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    pub key: &'static str,
    /// What its value names.
    pub names: Names,
}

/// What the value of a setting names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// A metric of the results.
    Metric,
    /// A column of numbers by item, which a report has to compute.
    ItemColumn,
    /// A column of the training history, or another line of a run.
    HistoryColumn,
    Arm,
    /// A slice of the items.
    Slice,
    Item,
    /// Nothing: it is a number, a title or a switch.
    Nothing,
}

impl Setting {
    pub(super) const fn new(key: &'static str, names: Names) -> Self {
        Self { key, names }
    }

    /// A number, a title or a switch.
    pub(super) const fn plain(key: &'static str) -> Self {
        Self::new(key, Names::Nothing)
    }
}

/// The keys that figures of every kind have.
const COMMON: [&str; 7] = ["name", "title", "note", "kind", "datasets", "arms", "ks"];

impl FigureKind {
    /// Its name, as a spec writes it.
    pub fn name(self) -> &'static str {
        self.kind().name
    }

    /// A figure of it in the template of a study, with every key explained.
    pub fn template(self) -> &'static str {
        self.kind().template
    }

    /// The keys of a spec that it reads, besides those of every figure.
    pub fn settings(self) -> &'static [Setting] {
        self.kind().settings
    }

    /// All keys of a spec that it reads.
    pub fn keys(self) -> Vec<&'static str> {
        COMMON.into_iter().chain(self.settings().iter().map(|setting| setting.key)).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::spec::FigureSpec;
    use super::*;

    /// The keys of a spec, as they are written.
    fn keys() -> BTreeSet<String> {
        let spec = serde_json::to_value(FigureSpec::default()).unwrap();
        spec.as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn every_kind_is_complete() {
        let keys = keys();
        for kind in FigureKind::ALL {
            let name = kind.name();
            assert_eq!(serde_json::to_value(kind).unwrap(), name);
            let read: BTreeSet<&str> = kind.settings().iter().map(|setting| setting.key).collect();
            assert_eq!(read.len(), kind.settings().len(), "{name} lists a key twice");
            for key in read {
                assert!(keys.contains(key) && !COMMON.contains(&key), "{name}: {key}");
            }
        }
    }

    #[test]
    fn every_key_of_a_spec_is_read_by_a_kind() {
        let settings = || FigureKind::ALL.iter().flat_map(|kind| kind.settings());
        for key in keys().iter().filter(|key| !COMMON.contains(&key.as_str())) {
            assert!(settings().any(|setting| setting.key == key), "no kind reads {key}");
        }
    }

    #[test]
    fn a_key_that_names_something_gives_its_names() {
        let named = r#"{"name": "f", "metrics": ["a"], "slice": "a", "slices": ["a"], "x": "a", "y": "a",
                        "people": "a", "against": "a", "items": ["a"]}"#;
        let spec: FigureSpec = serde_json::from_str(named).unwrap();
        for setting in FigureKind::ALL.iter().flat_map(|kind| kind.settings()) {
            let expected = if setting.names == Names::Nothing { vec![] } else { vec!["a"] };
            assert_eq!(spec.names(setting.key), expected, "{}", setting.key);
        }
    }
}
