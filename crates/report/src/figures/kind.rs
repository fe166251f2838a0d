//! What a kind of figure is: the trait that its file implements, and the list of all kinds.
//!
//! To add a kind, write its file and add its line to the list; the spec of a study, its checks and
//! the numbers by item that a report computes are read from there.

use serde::{Deserialize, Serialize};

use super::figure::Figure;
use super::look::Form;
use super::scope::Scope;
use crate::ReportError;

/// The prepared data of one kind of figure, and everything that is known about the kind.
pub(super) trait Kind: Sized {
    /// The keys of a [`FigureSpec`](super::FigureSpec) that it reads, besides those of every figure.
    const SETTINGS: &'static [Setting];

    /// Takes from a book what the figure shows, and says how its numbers are made.
    fn prepare(scope: &Scope<'_>) -> Result<(Self, String), ReportError>;
    /// The data as drawn: one row for each mark.
    fn csv(&self) -> String;
    /// The drawing, with the figure's title, note and legend.
    fn svg(&self, figure: &Figure, form: Form) -> String;
}

/// A key of a figure's spec that a kind reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key.
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
    /// An arm.
    Arm,
    /// A slice of the items.
    Slice,
    /// An item.
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

/// One line per kind: its file, which is also its name in a spec, and its data.
macro_rules! kinds {
    ($first_file:ident::$First:ident, $($file:ident::$Data:ident),+ $(,)?) => {
        /// What kind of figure.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum FigureKind {
            #[doc = concat!("[`", stringify!($First), "`](super::", stringify!($First), ").")]
            #[default]
            $First,
            $(
                #[doc = concat!("[`", stringify!($Data), "`](super::", stringify!($Data), ").")]
                $Data,
            )+
        }

        /// The data of a figure, by its kind.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "the data of each kind have their own documentation")]
        pub enum Drawing {
            $First(super::$First),
            $($Data(super::$Data),)+
        }

        kinds!(@methods $first_file::$First, $($file::$Data),+);
    };
    (@methods $($file:ident::$Data:ident),+) => {
        impl FigureKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$Data),+];

            /// Its name, as a spec writes it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Data => stringify!($file),)+
                }
            }

            /// The keys of a spec that it reads, besides those of every figure.
            pub fn settings(self) -> &'static [Setting] {
                match self {
                    $(Self::$Data => <super::$file::$Data as Kind>::SETTINGS,)+
                }
            }

            pub(super) fn prepare(
                self,
                scope: &Scope<'_>,
            ) -> Result<(Drawing, String), ReportError> {
                match self {
                    $(Self::$Data => super::$file::$Data::prepare(scope)
                        .map(|(data, note)| (Drawing::$Data(data), note)),)+
                }
            }
        }

        impl Drawing {
            pub(super) fn csv(&self) -> String {
                match self {
                    $(Self::$Data(data) => Kind::csv(data),)+
                }
            }

            pub(super) fn svg(&self, figure: &Figure, form: Form) -> String {
                match self {
                    $(Self::$Data(data) => Kind::svg(data, figure, form),)+
                }
            }
        }
    };
}

kinds! {
    points::Points,
    lines::Lines,
    effect::Effect,
    reliability::Reliability,
    histogram::Histogram,
    scatter::Scatter,
    runs::Runs,
    curves::Curves,
    pictures::Pictures,
    maps::Maps,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::spec::FigureSpec;
    use super::*;

    /// The keys that figures of every kind have.
    const COMMON: [&str; 7] = ["name", "title", "note", "kind", "datasets", "arms", "ks"];

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
        let named = r#"{"name": "f", "metrics": ["a"], "slice": "a", "x": "a", "y": "a",
                        "people": "a", "against": "a", "items": ["a"]}"#;
        let spec: FigureSpec = serde_json::from_str(named).unwrap();
        for setting in FigureKind::ALL.iter().flat_map(|kind| kind.settings()) {
            let expected = if setting.names == Names::Nothing { vec![] } else { vec!["a"] };
            assert_eq!(spec.names(setting.key), expected, "{}", setting.key);
        }
    }
}
