//! `smallcnn`: three 3×3 convolutions (strides 1, 2, 2) with batch norm and ReLU, pooling, linear.
//! Small enough to train many of on a plain CPU while one watches.

use super::About;
use crate::error::EngineError;
use crate::network::{Builder, Network, Shape};

pub(super) const ABOUT: About = About {
    name: "smallcnn",
    description: "three convolutions with batch norm, pooling and a linear layer, on small pictures",
    pictures: true,
};

pub(super) fn network(input: Shape, width: usize, classes: usize) -> Result<Network, EngineError> {
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
