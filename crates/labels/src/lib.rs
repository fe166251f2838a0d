//! From votes to training targets. Pure and seeded: the same table, settings and seed give the
//! same labels, whatever the number of threads, the order of the items or the batching.
//!
//! * [`targets`]: votes → the distribution p_i that an example is trained towards.
//! * [`delivery`]: how p_i reaches the loss in epoch t; one file per method, one list.
//! * [`sparse`]: fewer votes, drawn from those there are.
//! * [`subset`]: fewer items, chosen by their entropy.
//! * [`Source`]: a checked vote table with the key of every item; made once, used by all of these.
//! * [`streams`]: which random numbers belong to what, and the lines of numpy that draw them again.
//!
//! ```
//! use dissensus_core::{ClassSet, Counts, Ids, VoteTable};
//! use dissensus_labels::{Delivery, Source};
//! let mut counts = Counts::new();
//! counts.push([(0, 3), (2, 1)])?;
//! counts.push([(1, 5)])?;
//! let classes = ClassSet::numbered(3)?;
//! let table = VoteTable::from_counts(classes, Ids::new(["a", "b"])?, counts)?;
//!
//! let sls: Delivery = "sls:every=5".parse()?;
//! let prepared = sls.prepare(&Source::new(&table)?, 7)?;
//! let mut labels = [0; 2];
//! prepared.epoch(12, &mut labels)?;
//! assert_eq!(labels[1], 1);
//!
//! let soft = "soft".parse::<Delivery>()?.prepare(&Source::new(&table)?, 7)?;
//! assert_eq!(soft.targets(), Some(&[0.75, 0.0, 0.25, 0.0, 1.0, 0.0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aggregation;
pub mod delivery;
mod error;
mod help;
pub mod params;
mod parts;
mod pool;
mod source;
pub mod sparse;
pub mod streams;
pub mod subset;
pub mod targets;
#[cfg(test)]
mod testing;
mod words;

pub use aggregation::{Aggregation, AnnotatorModel, Confusions, FitReport, ItemModel, Parameter};
pub use delivery::{
    DELIVERIES, Delivers, Delivery, DeliveryEntry, Drawing, EpochBuffer, EpochTargets, Epochs,
    ListedVotes, Mixing, Prepared, Samples,
};
pub use dissensus_core::nearest;
pub use error::{LabelError, Named};
pub use help::{methods_help, targets_help};
pub use params::{Params, Setting};
pub use source::Source;
pub use streams::example_key;
pub use targets::{TARGETS, Target, TargetEntry};
