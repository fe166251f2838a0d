//! What a study says will come out, as lines that hold or do not.
//!
//! A [`ClaimSpec`] names arms, metrics, numbers of votes and slices, and what should be true of their
//! means over seeds; [`judge`] looks into the results and says whether it is, with the numbers that
//! decide it. A claim whose runs are not all done is open: it is neither. [`answer`] says the same in a
//! sentence for readers.
//!
//! A *cell* of a claim is one metric of one arm, on one data set, with one number of votes, on one
//! slice. A claim of several cells holds where all of them do.

mod answer;
mod cells;
mod curves;
mod gains;
mod items;
mod judge;
mod spec;

pub use answer::{Answer, answer};
pub use judge::{Judged, Verdict, judge};
pub use spec::{ClaimKind, ClaimSide, ClaimSpec};
