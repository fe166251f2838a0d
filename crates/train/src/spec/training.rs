//! `[training]`: epochs, batches, the optimizer and the learning rate.

use dissensus_engine::{Augment, Loss, Optimizer, Schedule};
use serde::{Deserialize, Serialize, Serializer};

use super::read::{Reader, Refusal, flag, number, whole};
use crate::{ConfigError, Place};

/// How a model is trained. Names in a stored run are older than those of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// How often each item is seen.
    pub epochs: u64,
    /// Items per step.
    #[serde(rename = "batch")]
    pub batch_size: u64,
    /// What the outputs are trained by; not written where it is the default, so that older runs keep their
    /// names.
    #[serde(default, skip_serializing_if = "Loss::is_default")]
    pub loss: Loss,
    /// The optimizer.
    pub optimizer: Optimizer,
    /// The initial learning rate.
    #[serde(rename = "rate")]
    pub learning_rate: f64,
    /// How the learning rate changes.
    pub schedule: Schedule,
    /// Random changes of images; `None` where the recipe of the data says which ([`RunPlan::on`](crate::RunPlan::on)).
    #[serde(serialize_with = "resolved")]
    pub augment: Option<Augment>,
}

impl Training {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, ConfigError> {
        let epochs = reader.read("training", "epochs", whole(1..=1_000_000))?;
        let batch_size = reader.read("training", "batch_size", whole(1..=1_000_000))?;
        let loss = Loss::named(reader.choose("training", "loss")?).unwrap_or_default();
        let optimizer = optimizer(reader)?;
        let learning_rate = reader.read("training", "learning_rate", number(|x| x > 0.0))?;
        let schedule = schedule(reader)?;
        if matches!(schedule, Schedule::Plateau { minimum, .. } if minimum > learning_rate) {
            let why = format!(
                "is above training.learning_rate, {learning_rate}; lower it, or raise that"
            );
            return Err(reader.conflict("training.plateau.minimum", why));
        }
        let augment = augment(reader)?;
        Ok(Self { epochs, batch_size, loss, optimizer, learning_rate, schedule, augment })
    }
}

/// A run is named by what this writes, and was before there were recipes.
fn resolved<S: Serializer>(augment: &Option<Augment>, to: S) -> Result<S::Ok, S::Error> {
    augment.unwrap_or_default().serialize(to)
}

fn augment(reader: &mut Reader<'_>) -> Result<Option<Augment>, ConfigError> {
    const SECTION: &str = "training.augment";
    // A table stands there as `true`.
    let stated =
        reader.read("training", "augment", |value| match (value.as_bool(), value.as_str()) {
            (Some(stated), _) => Ok(Some(stated)),
            (_, Some("recipe")) => Ok(None),
            _ => Err(Refusal::Unexpected),
        })?;
    let Some(stated) = stated else { return Ok(None) };
    if !stated {
        return Ok(Some(Augment::default()));
    }
    let crop = reader.read(SECTION, "crop", whole(0..=Augment::MAX_CROP.into()))?;
    let flip = reader.read(SECTION, "flip", flag)?;
    if ["crop", "flip"].iter().all(|key| reader.place(&format!("{SECTION}.{key}")) == Place::Call) {
        return Err(
            reader.conflict(SECTION, "needs a crop or a flip, as in { crop = 4, flip = true }")
        );
    }
    Ok(Some(Augment { crop: u8::try_from(crop).unwrap_or(u8::MAX), flip }))
}

fn below_1(x: f64) -> bool {
    (0.0..1.0).contains(&x)
}

fn optimizer(reader: &mut Reader<'_>) -> Result<Optimizer, ConfigError> {
    let adam = reader.choose("training", "optimizer")? == "adam";
    let weight_decay = reader.read("training", "weight_decay", number(|x| x >= 0.0))?;
    if adam {
        let beta1 = reader.read("training", "beta1", number(below_1))?;
        let beta2 = reader.read("training", "beta2", number(below_1))?;
        let epsilon = reader.read("training", "epsilon", number(|x| x > 0.0))?;
        return Ok(Optimizer::Adam { beta1, beta2, epsilon, weight_decay });
    }
    let momentum = reader.read("training", "momentum", number(below_1))?;
    let nesterov = reader.read("training", "nesterov", flag)?;
    if nesterov && momentum == 0.0 {
        let why = "needs a momentum, and training.momentum is 0; raise it, or set this to false";
        return Err(reader.conflict("training.nesterov", why));
    }
    Ok(Optimizer::Sgd { momentum, nesterov, weight_decay })
}

fn schedule(reader: &mut Reader<'_>) -> Result<Schedule, ConfigError> {
    const SECTION: &str = "training.plateau";
    Ok(match reader.choose("training", "schedule")? {
        "plateau" => Schedule::Plateau {
            factor: reader.read(SECTION, "factor", number(|x| x > 0.0 && x < 1.0))?,
            patience: reader.read(SECTION, "patience", whole(0..))?,
            threshold: reader.read(SECTION, "threshold", number(below_1))?,
            minimum: reader.read(SECTION, "minimum", number(|x| x >= 0.0))?,
        },
        "constant" => Schedule::Constant,
        _ => Schedule::Cosine,
    })
}
