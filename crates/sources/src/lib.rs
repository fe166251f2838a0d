//! Votes, inputs and encoded vectors, as a study or a command names them: known datasets, files, and the
//! encoders that make vectors of texts and images.
//!
//! * [`load_material`] and [`load_task`]: the `[data]` section of a study, loaded and matched by id.
//! * [`read_inputs`]: a file, a folder, or a dataset of the catalogue.
//! * [`open_encoder`], [`encode`] and [`encode_data`]: texts and images as vectors.
//! * [`fetch_data`] and [`fetch_named`]: what is not in the cache yet.
//! * [`known_task`] and [`task_among`]: data that have a given identity.

mod context;
mod encoding;
mod error;
mod fetch;
mod identity;
mod load;
mod material;

pub use context::LoadContext;
pub use encoding::{ENCODERS, EncoderSource, encode, open_encoder};
pub use error::SourceError;
pub use fetch::{fetch_data, fetch_named};
pub use identity::{known_task, task_among};
pub use load::{blends_material, encode_data, load_material, load_task, read_inputs};
pub use material::Material;
