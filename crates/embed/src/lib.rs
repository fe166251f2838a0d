//! Frozen encoders: texts and images as vectors, by models that are not trained here.
//!
//! An [`Encoder`] turns texts or images into rows of numbers. Its [`Identity`], a name and a digest of
//! everything that decides its output, goes with every vector. A folder of weights in safetensors
//! (DINOv2, the BERT family) is opened by [`open_folder`] and run natively; an ONNX file by
//! [`OnnxEncoder`], which needs ONNX Runtime; an embeddings endpoint by [`Endpoint`]. [`Cached`] keeps
//! vectors, so nothing is encoded, or paid for, twice.
//!
//! ```no_run
//! use dissensus_embed::{Cache, Cached, Encoder, open_folder};
//!
//! let encoder = open_folder("models/minilm".as_ref(), None)?;
//! let encoder = Cached::new(encoder, &Cache::open("cache/embeddings")?)?;
//! let vectors = encoder.texts(&["A cat sits.", "A dog runs."], &mut |_done| true)?;
//! assert_eq!(vectors.len(), 2 * 384);
//! assert_eq!(encoder.identity().digest.len(), 64);
//! # Ok::<(), dissensus_embed::EmbedError>(())
//! ```

mod bert;
pub mod cache;
mod encoded;
mod encoder;
pub mod endpoint;
mod error;
mod folder;
pub mod images;
pub mod onnx;
mod pairs;
mod transformer;
mod vit;

pub use bert::Bert;
pub use cache::{Cache, CacheError, Cached};
pub use encoded::Encoded;
pub use encoder::{Encoder, Identity, Image, Kind, Progress};
pub use endpoint::{Endpoint, EndpointError};
pub use error::EmbedError;
pub use folder::open_folder;
pub use onnx::{OnnxEncoder, OnnxSettings};
pub use pairs::Pairing;
pub use vit::{Preprocessing, Vit};
