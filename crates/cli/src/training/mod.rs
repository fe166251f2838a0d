//! What `train`, `study` and `demo` share: data for a spec, runs with their bars, the final table.

mod data;
mod encoding;
mod interrupt;
mod jobs;
mod summary;

pub(crate) use data::{blends_material, load, material, read_inputs};
pub(crate) use encoding::{ENCODERS, Source, encode, open_encoder};
pub(crate) use interrupt::on_interrupt;
pub(crate) use jobs::{AtATime, Batch, open_device, run_all};
pub(crate) use summary::{Column, Summary, summarize};
