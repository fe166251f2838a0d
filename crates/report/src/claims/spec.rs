//! What a study says of a claim.

use serde::{Deserialize, Serialize};

use crate::tables::{TestKind, Votes};

/// What should be true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// The mean of every cell is below that of the arm `than` (over the seeds that both have), or
    /// below `bound`. With `level`, the p of every cell is at most that, too.
    #[default]
    Below,
    /// The same, above.
    Above,
    /// The same, on the better side of the arm `than`, by the metric's own direction.
    Better,
    /// The mean of every cell is within `bounds`.
    Between,
    /// No cell differs from that of the arm `than`: the two-sided p is above `level`, and with
    /// `within` the means are at most that share of the other's mean apart. It holds in part where
    /// Holm's correction leaves no difference. Where so few pairs could not give such a p, and there
    /// is no `within`, it is open.
    Parity,
    /// The means fall from arm to arm, in the order of `arms`.
    Ordering,
    /// The means rise from arm to arm, in the order of `arms`.
    Monotone,
    /// The first of `arms` has the highest mean of them.
    Highest,
    /// The first of `arms` has the lowest mean of them.
    Lowest,
    /// The gain over the arm `than`, by the metric's own direction and averaged over cells, is above 0
    /// and larger with `ks` than with `than_ks`; or, as a share of the mean of `than`, on `datasets`
    /// than on `than_datasets`.
    Gain,
    /// The gain over the arm `than`, as a share of its mean and averaged over cells, is at least `bound`.
    Change,
    /// Over the items of a run, the column `x` correlates (Spearman) with the gain in the column `y`
    /// over the arm `than`, or with `y` itself without one: above `bound` (default: 0) by a one-sided test
    /// over the seeds' means, or with `every_seed` in every run. With `given`, the correlation is partial;
    /// with `than_x`, it must be higher than that of the column `than_x`.
    Correlation,
    /// The column `y` of the training history is at its lowest later than for the arm `than`.
    Turn,
    /// The facts of data sets in `facts` are as published: numbers up to `within` of them (default: 0.05).
    Facts,
    /// At least the `share` of the cells of `tables` that stand beside a published mean and standard
    /// deviation is within two of these.
    ShareWithin,
}

/// Which side a claim's paired test asks about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimSide {
    #[default]
    One,
    /// Either.
    Two,
    /// There is no test: only the means count.
    None,
}

impl ClaimSpec {
    /// Its test and side: `one-sided paired Wilcoxon`.
    pub(super) fn test_name(&self) -> String {
        let side = if self.side == ClaimSide::Two { "two" } else { "one" };
        format!("{side}-sided {}", self.paired())
    }

    fn paired(&self) -> &'static str {
        match self.test {
            TestKind::Wilcoxon => "paired Wilcoxon",
            TestKind::T => "paired t",
        }
    }

    /// What decides it, in a few words.
    pub fn statistic(&self) -> String {
        let test = self.paired();
        let pooled = if self.pooled { " of the seeds' means over all cells" } else { "" };
        match self.kind {
            ClaimKind::Below | ClaimKind::Above if self.bound.is_some() => {
                "means over seeds".into()
            }
            ClaimKind::Below | ClaimKind::Above | ClaimKind::Better => match self.side {
                ClaimSide::None => "means".into(),
                _ => format!("means; {}{pooled}", self.test_name()),
            },
            ClaimKind::Between => "means over seeds".into(),
            ClaimKind::Parity => format!("two-sided {test}"),
            ClaimKind::Ordering => format!("means in order; one-sided {test}"),
            ClaimKind::Monotone => "means in order".into(),
            ClaimKind::Highest | ClaimKind::Lowest => "means".into(),
            ClaimKind::Gain => "difference of means".into(),
            ClaimKind::Change => "share of means".into(),
            ClaimKind::Correlation if self.given.is_some() => "partial Spearman by run".into(),
            ClaimKind::Correlation => "Spearman by run".into(),
            ClaimKind::Turn => format!("epoch of the lowest value; {test}"),
            ClaimKind::Facts => "the data".into(),
            ClaimKind::ShareWithin => "cells within 2 published sd".into(),
        }
    }
}

/// A claim of a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClaimSpec {
    /// How it is referred to.
    pub name: String,
    /// The claim, in a short sentence.
    pub text: String,
    /// What should be true.
    pub kind: ClaimKind,
    /// On these data sets; empty: all.
    pub datasets: Vec<String>,
    pub arms: Vec<String>,
    /// With these numbers of votes; empty: with all votes.
    pub ks: Vec<Votes>,
    pub metrics: Vec<String>,
    /// On these slices; empty: on all items.
    pub slices: Vec<String>,
    /// The arm that the others are compared with.
    pub than: Option<String>,
    /// `gain`: the numbers of votes, or the data sets, that others are compared with.
    pub than_ks: Vec<Votes>,
    /// The data sets.
    pub than_datasets: Vec<String>,
    /// `below`, `above`: a number to compare with, in place of an arm. `change`: the least share.
    /// `correlation`: the largest that is not enough.
    pub bound: Option<f64>,
    /// `between`: the least and the most.
    pub bounds: Option<[f64; 2]>,
    /// `parity`, `facts`: how far apart they may be, as a share of the other's.
    pub within: Option<f64>,
    /// `below`, `above`, `better`: the largest p; without it p is only told. `parity`: the smallest p
    /// that is no difference. Default: 0.05.
    pub level: Option<f64>,
    /// `below`, `above`, `better`: which side is tested. `parity` is two-sided.
    pub side: ClaimSide,
    /// Which paired test.
    pub test: TestKind,
    /// `below`, `above`, `better`: one test of each seed's mean over all cells.
    pub pooled: bool,
    /// `below`, `above`, `better`, `correlation`: every seed has to be as the mean should be.
    pub every_seed: bool,
    /// `below`, `above`, `better`, `highest`, `lowest`: so many cells are enough. Default: all.
    pub least: Option<usize>,
    /// `correlation`: the column of items.
    pub x: Option<String>,
    /// `correlation`: another column, whose correlation has to be lower.
    pub than_x: Option<String>,
    /// `correlation`: the column that the gain is in. `turn`: the column of the history.
    pub y: Option<String>,
    /// `correlation`: a column that is held constant.
    pub given: Option<String>,
    /// `facts`: the data set, what, and the published number.
    pub facts: Vec<(String, String, f64)>,
    /// `share_within`: the tables.
    pub tables: Vec<String>,
    /// `share_within`: the share. Default: 0.9.
    pub share: Option<f64>,
    /// What was published of it, in words.
    pub published: String,
}

impl ClaimSpec {
    /// The columns of items that it names.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        [&self.x, &self.than_x, &self.y, &self.given].into_iter().flatten().map(String::as_str)
    }
}
