//! `mlp`: linear, GELU, dropout, linear. A head on frozen features.

use super::About;
use crate::error::EngineError;
use crate::network::{Builder, Network, Shape};

pub(super) const ABOUT: About = About {
    name: "mlp",
    description: "two linear layers with GELU and dropout between them, on feature vectors",
    pictures: false,
};

pub(super) fn network(
    input: Shape,
    hidden: usize,
    dropout: f64,
    classes: usize,
) -> Result<Network, EngineError> {
    // Pictures are taken as plain vectors.
    let mut b = Builder::new(Shape::Flat { width: input.len() });
    let h = b.linear("hidden", 0, hidden);
    let h = b.gelu(h);
    let h = b.dropout(h, dropout);
    b.linear("output", h, classes);
    b.finish()
}
