//! The library's loading of data, with its notes and bars on standard error.

use std::path::Path;

use dissensus::core::VoteTable;
use dissensus::embed::Encoder;
use dissensus::inputs::Inputs;
use dissensus::store::Store;
use dissensus::studies::Material;
use dissensus::train::spec::{Data, Pair};
use dissensus::train::{DataIdentity, Task};
use dissensus::{DataError, EncoderSource, LoadContext};

use crate::ui::progress::Terminal;

pub(crate) fn load(data: &Data) -> Result<Task, DataError> {
    dissensus::load_task(data, &LoadContext::new(&Terminal::default()))
}

pub(crate) fn material(data: &Data) -> Result<Material, DataError> {
    dissensus::load_material(data, &LoadContext::new(&Terminal::default()))
}

pub(crate) fn open_encoder(name: &str) -> Result<Box<dyn Encoder>, DataError> {
    dissensus::open_encoder(name, &LoadContext::new(&Terminal::default()))
}

pub(crate) fn encode(
    encoder: Box<dyn Encoder>,
    source: &EncoderSource,
    table: &VoteTable,
    pair: Pair,
) -> Result<Inputs, DataError> {
    dissensus::encode(encoder, source, table, pair, &LoadContext::new(&Terminal::default()))
}

pub(crate) fn find_data(
    wanted: &DataIdentity,
    spec: Option<&Path>,
    store: &Store,
) -> Result<Option<Task>, DataError> {
    dissensus::find_data(wanted, spec, store, &LoadContext::new(&Terminal::default()))
}
