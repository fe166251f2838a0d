//! `[model]`: what is trained.

use dissensus_engine::Model;

use super::read::{Reader, number, whole};
use crate::ConfigError;

pub(super) fn read(reader: &mut Reader<'_>) -> Result<Model, ConfigError> {
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let name = reader.choose("model", "name")?;
    if name == "mlp" {
        let hidden = size(reader.read("model", "hidden", whole(1..=16384))?);
        let dropout = reader.read("model", "dropout", number(|x| (0.0..1.0).contains(&x)))?;
        return Ok(Model::Mlp { hidden, dropout });
    }
    let width = size(reader.read("model", "width", whole(1..=4096))?);
    Ok(if name == "smallcnn" { Model::SmallCnn { width } } else { Model::ResNet18 { width } })
}
