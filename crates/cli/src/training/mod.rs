//! What `train` and `demo` share: data for a spec, runs over lanes with their bars, the final table.

mod data;
mod interrupt;
mod lanes;
mod summary;

pub(crate) use data::{load, read_inputs};
pub(crate) use interrupt::on_interrupt;
pub(crate) use lanes::{Batch, Ended, How, run_all};
pub(crate) use summary::{Column, Summary, summarize};
