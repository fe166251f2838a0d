//! What `train`, `study` and `demo` share: loading of data, progress of runs, interruption.

mod interrupt;
mod jobs;
mod loading;

pub(crate) use interrupt::on_interrupt;
pub(crate) use jobs::{AtATime, Bars, open_device};
pub(crate) use loading::{encode, find_data, load, material, open_encoder};
