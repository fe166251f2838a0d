//! What an example is trained towards: votes → distributions. One file per estimator, and
//! [`TARGETS`] lists them. To add one, write its file and add its line.
//!
//! The result is an [`Aggregation`]. Its targets are a vote table again, whose distributions are the
//! estimates: the table itself for `frequencies` (its counts stay, so that every delivery works),
//! probabilities for the others.

pub mod dawid_skene;
pub mod dirichlet;
mod frequencies;

use std::sync::Arc;

use dissensus_core::{Scale, VoteTable};
use serde::{Deserialize, Serialize};

use crate::params::Given;
use crate::source::probabilities;
use crate::{Aggregation, LabelError, Params, Setting};

/// The estimators of targets.
pub const TARGETS: &[TargetEntry] = &[frequencies::ENTRY, dirichlet::ENTRY, dawid_skene::ENTRY];

/// An estimator of the list.
#[derive(Clone, Copy, Debug)]
pub struct TargetEntry {
    /// The name to type.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// How p_i is computed.
    pub formula: &'static str,
    /// What has to be known of the votes.
    pub needs: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// The scales of votes for which it is defined.
    pub scales: &'static [Scale],
    /// Whether votes stay votes, so that deliveries that count them work.
    pub keeps_counts: bool,
    /// Its settings, in the order in which they are written.
    pub settings: &'static [Setting],
    make: fn(&mut Given) -> Result<Estimator, LabelError>,
}

type Estimated<'a> = Result<Aggregation<'a>, LabelError>;
/// An estimator with its settings.
type Estimator = Arc<dyn Fn(&VoteTable) -> Estimated<'_> + Send + Sync>;

fn estimator(estimate: impl Fn(&VoteTable) -> Estimated<'_> + Send + Sync + 'static) -> Estimator {
    Arc::new(estimate)
}

/// An estimator with checked settings. Prints and serializes as its name with all of them.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Target {
    entry: &'static TargetEntry,
    text: String,
    estimator: Estimator,
}

impl Params {
    /// The target of this name, where the settings are its own and in range.
    pub fn check_target(&self) -> Result<Target, LabelError> {
        let entry = self.find("target", TARGETS, |entry| entry.name)?;
        let mut given = self.given(entry.name, entry.settings)?;
        let estimator = (entry.make)(&mut given)?;
        Ok(Target { entry, text: given.text(), estimator })
    }
}

impl Target {
    /// Its entry in the list.
    pub fn entry(&self) -> &'static TargetEntry {
        self.entry
    }

    /// The targets of a table's items, and what was estimated for them.
    pub fn estimate<'a>(&self, table: &'a VoteTable) -> Result<Aggregation<'a>, LabelError> {
        let Self { entry, .. } = self;
        table.scale().require(&format!("the target {}", entry.name), entry.scales)?;
        (self.estimator)(table)
    }
}

/// A table with these distributions, row by row, for the items of another.
fn with_rows(table: &VoteTable, rows: &[f64]) -> Result<VoteTable, LabelError> {
    let (classes, items) = (table.classes(), table.items());
    let rows = rows.chunks_exact(classes.len().max(1)).enumerate();
    let rows = probabilities(classes.len(), items, rows)?;
    Ok(VoteTable::from_probabilities(classes.clone(), items.clone(), rows)?)
}

crate::params::written_as_text!(Target, check_target);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::weighted;

    #[test]
    fn the_list_is_complete() {
        let mut names = std::collections::BTreeSet::new();
        for entry in TARGETS {
            assert!(names.insert(entry.name), "{} twice", entry.name);
            let words =
                entry.settings.iter().flat_map(|s| [s.name, s.description, s.default, s.expected]);
            let own = [entry.name, entry.description, entry.formula, entry.needs, entry.reference];
            for text in own.into_iter().chain(words) {
                assert!(!text.is_empty() && text.trim() == text, "{}: {text:?}", entry.name);
            }
            let target: Target = entry.name.parse().unwrap_or_else(|error| {
                panic!("{}: its defaults are refused: {error}", entry.name)
            });
            let printed: Params = target.to_string().parse().unwrap();
            let defaults = entry.settings.iter().filter(|setting| !setting.came_later);
            let defaults: Vec<_> = defaults.map(|s| (s.name.into(), s.default.into())).collect();
            assert_eq!(printed.settings, defaults, "{target}");
            assert_eq!(target.to_string().parse::<Target>().unwrap(), target);
        }
        let votes = weighted(&[&[("1", 1.0), ("2", 1.0)]]);
        for (entry, scale) in
            TARGETS.iter().flat_map(|entry| Scale::ALL.map(|scale| (entry, scale)))
        {
            let table = votes.clone().with_scale(scale).unwrap();
            let estimate = entry.name.parse::<Target>().unwrap().estimate(&table).map(|_| ());
            let refused =
                matches!(&estimate, Err(LabelError::Scale(error)) if error.found == scale);
            assert_eq!(
                refused,
                !entry.scales.contains(&scale),
                "{} {scale}: {estimate:?}",
                entry.name
            );
        }
        let error = "dirichle".parse::<Target>().unwrap_err().to_string();
        assert!(error.starts_with(r#"unknown target "dirichle"; did you mean "dirichlet"?"#));
    }
}
