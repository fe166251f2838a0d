//! Picture encoders from ONNX files.
//!
//! A small reader and executor of our own: picture encoders are convolutions, pools, sums and a
//! few others (`operators.rs` has the list), and what is not among them is refused by name. A
//! picture goes through the graph alone, so that its vector does not depend on its neighbours;
//! pictures are spread over the cores.
//!
//! | file | what |
//! |---|---|
//! | `wire.rs`, `model.rs` | bytes → nodes and stored tensors |
//! | `operators.rs`, `attributes.rs` | node → operation, or an error |
//! | `plan.rs` | the steps to an output |
//! | `tensor.rs`, `window.rs` | shapes, memory, where windows lie |
//! | `product.rs`, `conv.rs` | the inner loops |
//! | `pool.rs`, `pointwise.rs`, `shaping.rs`, `matrix.rs` | everything else |

mod attributes;
mod conv;
mod encoder;
mod matrix;
mod model;
mod operators;
mod plan;
mod pointwise;
mod pool;
mod product;
mod shaping;
mod tensor;
#[cfg(test)]
mod tests;
mod window;
mod wire;

pub use encoder::{OnnxEncoder, OnnxSettings};
