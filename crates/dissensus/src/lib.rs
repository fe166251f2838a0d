//! Train and judge classifiers on how people actually voted.

mod context;
mod data;
mod data_error;
mod encoding;
mod open;

pub use context::LoadContext;
pub use data::{blends_material, load_material, load_task, read_inputs};
pub use data_error::DataError;
pub use dissensus_core as core;
pub use encoding::{ENCODERS, Source as EncoderSource, encode, open_encoder};
pub use open::find_data;
