//! What transformer encoders share: products with packed matrices, norms, attention, layers, and
//! the reading of weights.
//!
//! Tokens of many sequences lie below each other as the rows of one matrix, without padding: a
//! linear layer sees a plain matrix, and attention goes over each sequence by itself. Every number
//! is one chain of additions in an order that the model's shapes alone fix, so a vector has the
//! same bits whatever else is in its batch, on any number of threads and with any registers.

mod attention;
mod files;
mod layer;
mod math;
mod rows;
mod weights;

pub(crate) use files::{config, folder_name, json, optional, read, sha256};
pub(crate) use layer::{Act, Layer, Linear, Norms, Shape, Stack, Work};
pub(crate) use rows::{Norm, unit};
pub(crate) use weights::Weights;

#[cfg(test)]
pub(crate) mod testing;
