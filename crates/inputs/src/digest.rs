//! A content hash of inputs that does not depend on the order of rows where rows have ids.
//!
//! SHA-256 over the kind, the shape, and the rows sorted by id, each as its id and its bytes
//! (feature values as little-endian `f32`). Rows without ids are known by their place and are
//! hashed in order. Every text is preceded by its length, so that no two inputs run together.

use dissensus_core::{ContentHash, Digest};

use crate::inputs::{Inputs, Kind};

pub(crate) fn of_inputs(inputs: &Inputs) -> Digest {
    let mut hash = ContentHash::new("dissensus inputs 1");
    let shape = match inputs.kind() {
        Kind::Images(images) => {
            hash.text("images");
            vec![images.height(), images.width(), images.channels()]
        }
        Kind::Features(features) => {
            hash.text("features");
            vec![features.width()]
        }
    };
    hash.number(inputs.len() as u64);
    shape.into_iter().for_each(|axis| hash.number(axis as u64));
    hash.text(if inputs.ids().is_some() { "ids" } else { "positions" });
    let order = match inputs.ids() {
        Some(ids) => ids.sorted().into_iter().map(|row| row as usize).collect(),
        None => (0..inputs.len()).collect::<Vec<_>>(),
    };
    let mut bytes = Vec::new();
    for row in order {
        if let Some(ids) = inputs.ids() {
            hash.text(ids.name(row));
        }
        match inputs.kind() {
            Kind::Images(images) => hash.bytes(images.image(row)),
            Kind::Features(features) => {
                bytes.clear();
                bytes.extend(features.row(row).iter().flat_map(|value| value.to_le_bytes()));
                hash.bytes(&bytes);
            }
        }
    }
    hash.finish()
}
