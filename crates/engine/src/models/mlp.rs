//! `mlp`: linear, GELU, dropout, linear. A head on frozen features.

use super::setting::setting;
use super::{InputKind, Model, ModelEntry};
use crate::error::EngineError;
use crate::network::{Builder, Network, Shape};

pub(super) const ENTRY: ModelEntry = ModelEntry {
    name: "mlp",
    description: "two linear layers with GELU and dropout between them, for feature vectors",
    takes: InputKind::Vectors,
    optimizer: "adam",
    settings: &[
        setting!(whole "hidden" = 256, 1 to 16384, "units of the hidden layer"),
        setting!(number "dropout" = 0.1, 0 to below 1, "share of the hidden units left out at random"),
    ],
    network,
};

fn network(model: &Model, input: Shape, classes: usize) -> Result<Network, EngineError> {
    // Images are taken as vectors.
    let mut b = Builder::new(Shape::Flat { width: input.len() });
    let h = b.linear("hidden", 0, model.count("hidden")?);
    let h = b.gelu(h);
    let h = b.dropout(h, model.number("dropout")?);
    b.linear("output", h, classes);
    b.finish()
}
