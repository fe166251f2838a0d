//! `smallcnn`: three 3×3 convolutions (strides 1, 2, 2) with batch norm and ReLU, pooling, linear.
//! Small enough to train many of them on a CPU.

use super::setting::setting;
use super::{InputKind, Model, ModelEntry};
use crate::error::EngineError;
use crate::network::{Builder, Network, Shape};

pub(super) const ENTRY: ModelEntry = ModelEntry {
    name: "smallcnn",
    description: "three convolutions with batch norm, pooling and a linear layer, for small images",
    takes: InputKind::Images,
    optimizer: "sgd",
    settings: &[setting!(whole "width" = 16, 1 to 4096, "channels of the first convolution")],
    network,
};

fn network(model: &Model, input: Shape, classes: usize) -> Result<Network, EngineError> {
    let width = model.count("width")?;
    let mut b = Builder::new(input);
    let mut x = 0;
    for (place, stride) in [1, 2, 2].into_iter().enumerate() {
        x = b.conv(&format!("conv{}", place + 1), x, width << place, 3, stride);
        x = b.batch_norm(&format!("bn{}", place + 1), x);
        x = b.relu(x);
    }
    x = b.pool(x);
    b.linear("fc", x, classes);
    b.finish()
}
