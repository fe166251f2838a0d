//! The data model of dissensus: plain, checked values without files or tensors.
//!
//! ```
//! use dissensus_core::{Keep, TableBuilder};
//!
//! let mut builder = TableBuilder::new(Keep::Votes);
//! for (row, (item, who, label)) in
//!     (1..).zip([("a", "ann", "cat"), ("a", "bob", "dog"), ("a", "cem", "cat"), ("b", "ann", "dog")])
//! {
//!     builder.vote(item, Some(who), label, 1.0, row)?;
//! }
//! let table = builder.finish()?;
//! assert_eq!(table.classes().names(), ["cat", "dog"]);
//! let shares = table.distributions()[0].clone().unwrap();
//! assert_eq!(shares.values(), [2.0 / 3.0, 1.0 / 3.0]);
//! # Ok::<(), dissensus_core::BuildError>(())
//! ```
//!
//! * [`ClassSet`]: the classes of a task, in a stated order and on a [`Scale`].
//! * [`Ids`]: item and annotator ids; everything is matched by id, never by position.
//! * [`VoteTable`]: who voted for what on which item; or counts; or probabilities.
//! * [`Counts`], [`Distribution`]: what the votes on an item amount to.
//! * [`TieRule`], [`Direction`]: which class wins a tie; which way a number is better.
//! * [`TableBuilder`]: how readers make a table, one vote at a time or in parallel shards.
//! * [`match_ids`]: rows of anything matched with items, by id.
//! * [`nearest`]: the known name that is nearest to what was typed.
//! * [`Progress`], [`Cancel`]: how long work reports what it does, and how it is asked to stop.
//! * [`results`]: the tidy table of a study's results.
//! * [`philox`]: the counter-based generator behind everything that is random here.

#![warn(missing_docs)]

mod append;
mod builder;
mod classes;
mod counts;
mod digest;
mod direction;
mod distribution;
mod ids;
pub mod limits;
mod matching;
mod nearest;
mod numbers;
pub mod philox;
mod progress;
pub mod results;
mod scale;
mod table;
mod ties;
mod votes;

pub use append::AppendError;
pub use builder::{BuildError, HEAVIEST, Keep, Shard, ShardVote, TableBuilder, plain_label};
pub use classes::{ClassError, ClassOrder, ClassSet};
pub use counts::{Counts, CountsError, Probabilities};
pub use digest::{ContentHash, Digest};
pub use direction::Direction;
pub use distribution::{
    Distribution, DistributionError, SUM_TOLERANCE, entropy, normalized_entropy,
};
pub use ids::{Ids, IdsBuilder, RepeatedId, id_hash};
pub use matching::{
    Alike, IdCandidate, IdChoice, Joined, MatchError, Matched, Missing, choose_ids, folded,
    id_name_rank, is_id_name, match_ids,
};
pub use nearest::{did_you_mean, nearest, nearest_names};
pub use numbers::thousands;
pub use progress::{Batch, Cancel, Ending, Event, Progress, Silent, Unit};
pub use scale::{Scale, ScaleError};
pub use table::{Ballots, TableError, VoteTable};
pub use ties::{TieRule, UnknownTieRule};
pub use votes::{Vote, Votes};
