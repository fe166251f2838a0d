//! What `train`, `study` and `demo` share: data for a spec, runs with their bars, the final table.

mod interrupt;
mod jobs;
mod loading;

pub(crate) use interrupt::on_interrupt;
pub(crate) use jobs::{AtATime, Bars, open_device};
pub(crate) use loading::{encode, find_data, load, material, open_encoder};
