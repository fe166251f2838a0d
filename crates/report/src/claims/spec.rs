//! What a study says of a claim.

use serde::{Deserialize, Serialize};

use crate::tables::Votes;

/// What should be true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// The mean of every cell is below that of the arm `than` (over the seeds that both have), or
    /// below `bound`. With `level`, the one-sided p of every cell is at most that, too.
    #[default]
    Below,
    /// The same, above.
    Above,
    /// No cell differs from that of the arm `than`: the two-sided p is above `level`, and with
    /// `within` the means are at most that share of the other's mean apart. Where so few pairs
    /// could not give such a p, and there is no `within`, it is open.
    Parity,
    /// The means fall from arm to arm, in the order of `arms`.
    Ordering,
    /// The means rise from arm to arm, in the order of `arms`.
    Monotone,
    /// At least the `share` of the cells of `tables` that stand beside a published mean and standard
    /// deviation is within two of these.
    ShareWithin,
}

impl ClaimKind {
    /// What decides it, in a few words.
    pub fn statistic(self) -> &'static str {
        match self {
            Self::Below | Self::Above => "means; one-sided paired Wilcoxon",
            Self::Parity => "two-sided paired Wilcoxon",
            Self::Ordering => "means in order; one-sided paired Wilcoxon",
            Self::Monotone => "means in order",
            Self::ShareWithin => "cells within 2 published sd",
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
    /// Of these arms.
    pub arms: Vec<String>,
    /// With these numbers of votes; empty: with all votes.
    pub ks: Vec<Votes>,
    /// Of these metrics.
    pub metrics: Vec<String>,
    /// On these slices; empty: on all items.
    pub slices: Vec<String>,
    /// `below`, `above`, `parity`: the arm that the others are compared with.
    pub than: Option<String>,
    /// `below`, `above`: a number to compare with, in place of an arm.
    pub bound: Option<f64>,
    /// `parity`: how far means may be apart, as a share of the other's.
    pub within: Option<f64>,
    /// `below`, `above`: the largest p; without it p is only told. `parity`: the smallest p that is
    /// no difference. Default: 0.05.
    pub level: Option<f64>,
    /// `share_within`: the tables.
    pub tables: Vec<String>,
    /// `share_within`: the share. Default: 0.9.
    pub share: Option<f64>,
    /// What was published of it, in words.
    pub published: String,
}
