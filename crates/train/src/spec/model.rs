//! `[model]`: what is trained, with the settings that the entry of the model lists.

use dissensus_engine::{EngineError, Model, SettingValue};

use super::read::{Reader, Refusal, number, whole};
use crate::ConfigError;

pub(super) fn read(reader: &mut Reader<'_>) -> Result<Model, ConfigError> {
    let name = reader.choose("model", "name")?;
    let refused = |error: EngineError, reader: &Reader<'_>| {
        reader.conflict("model.name", format!("is {name}: {error}"))
    };
    let mut model = Model::named(name).map_err(|error| refused(error, reader))?;
    for setting in model.entry().settings {
        let value = reader.read("model", setting.name, |value| {
            let given = match setting.default {
                SettingValue::Whole(_) => SettingValue::Whole(whole(..)(value)?),
                SettingValue::Number(_) => SettingValue::Number(number(|_| true)(value)?),
            };
            setting.check(given).ok_or(Refusal::Unexpected)
        })?;
        model = model.with(setting.name, value).map_err(|error| refused(error, reader))?;
    }
    Ok(model)
}
