//! What votes allow, whatever the model: people against people, and the bias of few votes.
//!
//! ```
//! use dissensus_evaluate::{ScoreOptions, ceiling};
//! let votes = "item,label\na,cat\na,dog\na,dog\na,cat\nb,cat\nb,cat\nc,dog\nc,cat\n";
//! let votes = dissensus_votes::read_bytes("votes.csv", votes.into(), &Default::default())?.table;
//! let all: Vec<usize> = (0..votes.len()).collect();
//! let found = ceiling(&votes, &all, 20, &ScoreOptions::default())?;
//! assert_eq!(found.items, 3);
//! assert!(found.bias > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use dissensus_core::VoteTable;
use dissensus_measure::Matrix;
use dissensus_measure::ceiling::{Ceiling, CeilingSettings};

use crate::evaluate::{ScoreError, ScoreOptions};

/// What the votes of these items allow, from this many divisions of the votes, in the metrics of the
/// options.
pub fn ceiling(
    votes: &VoteTable,
    items: &[usize],
    repeats: usize,
    options: &ScoreOptions,
) -> Result<Ceiling, ScoreError> {
    options.require(votes.scale())?;
    let counts = votes.counts().ok_or(ScoreError::OnlyShares)?;
    let classes = votes.classes().len();
    let mut rows = Vec::with_capacity(items.len() * classes);
    items.iter().for_each(|&item| rows.extend(counts.row(item, classes)));
    let how = CeilingSettings { repeats, seed: options.seed, ties: options.ties };
    let metrics = options.chosen()?;
    Matrix::new(&rows[..], classes)
        .and_then(|rows| Ceiling::new(rows, &metrics, options.settings, how))
        .map_err(|source| ScoreError::Measure { model: "votes".to_owned(), source })
}
