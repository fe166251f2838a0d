//! A content hash of inputs that does not depend on the order of rows where rows have ids.
//!
//! SHA-256 over the kind, the shape, and the rows sorted by id, each as its id and its bytes
//! (feature values as little-endian `f32`). Rows without ids are known by their place and are
//! hashed in order. Every text is preceded by its length, so that no two inputs run together.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::inputs::{Inputs, Kind};

/// 256 bits that name a content; prints as 64 hex digits, as the digest of a vote table does.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn text(hash: &mut Sha256, text: &str) {
    number(hash, text.len());
    hash.update(text.as_bytes());
}

fn number(hash: &mut Sha256, number: usize) {
    hash.update((number as u64).to_le_bytes());
}

pub(crate) fn of_inputs(inputs: &Inputs) -> Digest {
    let mut hash = Sha256::new();
    text(&mut hash, "dissensus inputs 1");
    let shape = match inputs.kind() {
        Kind::Images(images) => {
            text(&mut hash, "images");
            vec![images.height(), images.width(), images.channels()]
        }
        Kind::Features(features) => {
            text(&mut hash, "features");
            vec![features.width()]
        }
    };
    number(&mut hash, inputs.len());
    shape.into_iter().for_each(|axis| number(&mut hash, axis));
    text(&mut hash, if inputs.ids().is_some() { "ids" } else { "positions" });
    let order = match inputs.ids() {
        Some(ids) => ids.sorted().into_iter().map(|row| row as usize).collect(),
        None => (0..inputs.len()).collect::<Vec<_>>(),
    };
    let mut bytes = Vec::new();
    for row in order {
        if let Some(ids) = inputs.ids() {
            text(&mut hash, ids.name(row));
        }
        match inputs.kind() {
            Kind::Images(images) => hash.update(images.picture(row)),
            Kind::Features(features) => {
                bytes.clear();
                bytes.extend(features.row(row).iter().flat_map(|value| value.to_le_bytes()));
                hash.update(&bytes);
            }
        }
    }
    Digest(hash.finalize().into())
}
