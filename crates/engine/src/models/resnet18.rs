//! `resnet18`: the residual network with 18 layers of He et al. (2016), with the stem that is usual
//! for small images: a 3×3 convolution of stride 1 and no pooling. Four stages of two basic
//! blocks, with w, 2w, 4w and 8w channels; the first block of stages 2 to 4 halves the size.
//! Names as in torchvision's state dict.

use super::setting::setting;
use super::{InputKind, Model, ModelEntry};
use crate::error::EngineError;
use crate::network::{Builder, Network, NodeId, Shape};

pub(super) const ENTRY: ModelEntry = ModelEntry {
    name: "resnet18",
    description: "ResNet-18 with a 3×3 stem for small images",
    takes: InputKind::Images,
    optimizer: "sgd",
    settings: &[setting!(whole "width" = 64, 1 to 4096, "channels of the first stage")],
    network,
};

fn network(model: &Model, input: Shape, classes: usize) -> Result<Network, EngineError> {
    let width = model.count("width")?;
    let mut b = Builder::new(input);
    let mut x = b.conv("conv1", 0, width, 3, 1);
    x = b.batch_norm("bn1", x);
    x = b.relu(x);
    for stage in 0..4 {
        for block in 0..2 {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let name = format!("layer{}.{block}", stage + 1);
            x = basic_block(&mut b, &name, x, width << stage, stride);
        }
    }
    x = b.pool(x);
    b.linear("fc", x, classes);
    b.finish()
}

fn basic_block(b: &mut Builder, name: &str, x: NodeId, width: usize, stride: usize) -> NodeId {
    let mut y = b.conv(&format!("{name}.conv1"), x, width, 3, stride);
    y = b.batch_norm(&format!("{name}.bn1"), y);
    y = b.relu(y);
    y = b.conv(&format!("{name}.conv2"), y, width, 3, 1);
    y = b.batch_norm(&format!("{name}.bn2"), y);
    let shortcut = if stride == 1 {
        x
    } else {
        let s = b.conv(&format!("{name}.downsample.0"), x, width, 1, stride);
        b.batch_norm(&format!("{name}.downsample.1"), s)
    };
    let sum = b.add(y, shortcut);
    b.relu(sum)
}
