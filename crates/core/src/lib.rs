//! The data model of dissensus: plain, checked values without files or tensors.
//!
//! * [`ClassSet`]: the classes of a task, in a stated order.
//! * [`Ids`]: item and annotator ids; everything is matched by id, never by position.
//! * [`VoteTable`]: who voted for what on which item; or counts; or probabilities.
//! * [`Counts`], [`Distribution`]: what the votes on an item amount to.
//! * [`TieRule`], [`Direction`]: which class wins a tie; which way a number is better.
//! * [`TableBuilder`]: how readers make a table, one vote at a time or in parallel shards.
//! * [`Progress`], [`Cancel`]: how long work reports what it does, and how it is asked to stop.
//! * [`results`]: the tidy table of a study's results.
//! * [`philox`]: the counter-based generator behind everything that is random here.

mod builder;
mod classes;
mod counts;
mod digest;
mod direction;
mod distribution;
mod ids;
mod join;
pub mod philox;
mod progress;
pub mod results;
mod table;
mod ties;

pub use builder::{BuildError, HEAVIEST, Keep, Shard, ShardVote, TableBuilder};
pub use classes::{ClassError, ClassOrder, ClassSet};
pub use counts::{Counts, Probabilities};
pub use digest::{ContentHash, Digest};
pub use direction::Direction;
pub use distribution::{
    Distribution, DistributionError, SUM_TOLERANCE, entropy, normalized_entropy,
};
pub use ids::{Ids, IdsBuilder, id_hash};
pub use join::JoinError;
pub use progress::{Cancel, Event, Progress, Silent, Unit};
pub use table::{Ballots, Vote, VoteTable, Votes};
pub use ties::{TieRule, UnknownTieRule};
