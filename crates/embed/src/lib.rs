//! Frozen encoders: texts and pictures as vectors, by models that are not trained here.
//!
//! An [`Encoder`] turns texts or pictures into rows of numbers. Which one it was, by name and by a
//! digest of all that decides its output, goes with every vector.

mod bert;
pub mod cache;
mod encoded;
mod encoder;
pub mod endpoint;
mod error;
mod folder;
pub mod onnx;
mod pairs;
pub mod pictures;
mod transformer;
mod vit;

pub use bert::Bert;
pub use cache::{Cache, CacheError, Cached};
pub use encoded::Encoded;
pub use encoder::{Encoder, Identity, Kind, Picture, Progress};
pub use endpoint::{Endpoint, EndpointError};
pub use error::EmbedError;
pub use folder::open_folder;
pub use onnx::{OnnxEncoder, OnnxSettings};
pub use pairs::Pairing;
pub use vit::{Preprocessing, Vit};
