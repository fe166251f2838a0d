//! Image encoders from ONNX files, run by ONNX Runtime.
//!
//! The library is not part of the program: it is searched and loaded when the first model is
//! opened ([`RuntimeError`] says what is missing). Any model can be used that takes one batch of
//! float images, N×3×H×W or N×H×W×3, and gives floats.
//!
//! Every image is run alone, in a batch of one, and every operation on one thread: a vector does
//! not depend on what else is encoded, nor on the number of cores. Cores are used by running
//! several sessions side by side. The build of the library is part of the encoder's digest, because
//! another build may round differently.

mod encoder;
mod runtime;
mod session;

pub use encoder::{OnnxEncoder, OnnxSettings};
pub use runtime::{LIBRARY_VARIABLE, OLDEST_VERSION, RuntimeError};
