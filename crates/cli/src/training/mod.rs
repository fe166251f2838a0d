//! What `train`, `study` and `demo` share: data for a spec, runs over lanes with their bars, the final
//! table.

mod best;
mod data;
mod encoding;
mod interrupt;
mod lanes;
mod learned;
mod summary;

pub(crate) use data::{blends_material, load, material, read_inputs};
pub(crate) use encoding::{ENCODERS, Source, encode, open_encoder};
pub(crate) use interrupt::on_interrupt;
pub(crate) use lanes::{AtATime, Batch, Ended, How, Run, open_device, run_all};
pub(crate) use summary::{Column, Summary, summarize};
