//! What a run leaves beside its weights and predictions: the rows of its history, its result, and
//! where it was trained. The JSON of each is what a store holds.
//!
//! A field that a stored file does not have reads as its default, and one that this version does not
//! know is skipped: results of older and newer versions can be listed and compared.

use std::fmt;

use dissensus_engine::Device;
use dissensus_store::Which;
use serde::{Deserialize, Serialize, Serializer};

use crate::Metrics;

/// An epoch in a run's history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EpochRow {
    /// Its number, from 0.
    pub epoch: u64,
    /// The learning rate.
    pub rate: f64,
    /// The mean training loss.
    pub loss: f64,
    /// Metrics of the part that selects the best epoch, named as in `evaluation.soft_nll`.
    #[serde(flatten)]
    pub metrics: Metrics,
}

impl EpochRow {
    /// The value of a column: `rate`, `loss`, or a metric of a part.
    pub fn column(&self, name: &str) -> Option<f64> {
        match name {
            "rate" => Some(self.rate),
            "loss" => Some(self.loss),
            metric => self.metrics.get(metric),
        }
    }

    /// Its columns with their values, but for the epoch.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Option<f64>)> {
        [("rate", Some(self.rate)), ("loss", Some(self.loss))]
            .into_iter()
            .chain(self.metrics.iter())
    }
}

/// The loss and the first metric: `loss 0.4312, evaluation.soft_nll 0.5120`.
impl fmt::Display for EpochRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loss {:.4}", self.loss)?;
        match self.metrics.iter().next() {
            Some((name, Some(value))) => write!(f, ", {name} {value:.4}"),
            _ => Ok(()),
        }
    }
}

/// What a finished run comes to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunResult {
    /// What the run has in common with those of other seeds: `sls · 5 votes`.
    pub arm: String,
    /// Its seed.
    pub seed: u64,
    /// How many epochs were trained.
    pub epochs: u64,
    /// Whether it stopped before all planned epochs.
    pub stopped_early: bool,
    /// The selected epoch, from 0.
    pub best_epoch: u64,
    /// What selected it: `soft_nll on evaluation`.
    pub selected_by: String,
    /// How many items were trained on.
    pub train_items: usize,
    /// How many parameters the network has.
    pub parameters: usize,
    /// How long training took, without interruptions.
    pub seconds: f64,
    /// The shape of an example: height, width and channels, or the width of a feature vector.
    pub input: Vec<usize>,
    /// How images are normalized; `None` for feature vectors.
    pub normalization: Option<Normalization>,
    /// The names of the features; empty where the inputs had no named columns, and in older results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// All metrics by part, in the order of the split; the last part is the one that is reported.
    #[serde(with = "crate::pairs")]
    pub parts: Vec<(String, PartResult)>,
}

/// All metrics on a part of the split.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartResult {
    /// How many items it has.
    pub items: usize,
    /// Those of the selected epoch.
    pub best: Metrics,
    /// Those of the last epoch.
    pub last: Metrics,
}

/// What images are normalized by, channel by channel: (x / 255 − mean) / deviation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Normalization {
    /// Means over the training items.
    #[serde(serialize_with = "widened")]
    pub mean: Vec<f32>,
    /// Standard deviations over the training items.
    #[serde(serialize_with = "widened")]
    pub deviation: Vec<f32>,
}

impl RunResult {
    /// The part of this name.
    pub fn part(&self, name: &str) -> Option<&PartResult> {
        self.parts.iter().find(|(known, _)| known == name).map(|(_, part)| part)
    }

    /// The part that is reported, with its name: the last of the split.
    pub fn reported(&self) -> Option<(&str, &PartResult)> {
        self.parts.last().map(|(name, part)| (name.as_str(), part))
    }

    /// The run in a line: `soft NLL 0.5120, accuracy 0.8000, selected epoch 3`, counted from 1.
    pub fn figures(&self) -> String {
        let metric = |name: &str| self.reported().and_then(|(_, part)| part.best.get(name));
        let number = |name| metric(name).map_or("–".to_owned(), |value| format!("{value:.4}"));
        let (nll, accuracy) = (number("soft_nll"), number("accuracy"));
        format!("soft NLL {nll}, accuracy {accuracy}, selected epoch {}", self.best_epoch + 1)
    }
}

impl PartResult {
    /// The metrics of the selected epoch or of the last one.
    pub fn metrics(&self, which: Which) -> &Metrics {
        match which {
            Which::Best => &self.best,
            Which::Last => &self.last,
        }
    }
}

/// The code and the machine that trained a run. It has no part in the run's id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunEnvironment {
    /// The version of the program.
    pub version: String,
    /// The device.
    pub device: String,
    /// The libraries that the device computes with; `None` where it needs none.
    pub libraries: Option<String>,
    /// How many threads.
    pub threads: usize,
    /// The operating system and the processor.
    pub system: String,
}

impl RunEnvironment {
    /// This machine, with that device.
    pub fn new(version: &str, device: &dyn Device, threads: usize) -> Self {
        Self {
            version: version.to_owned(),
            device: device.describe(),
            libraries: device.libraries(),
            threads,
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

/// As JSON always held these numbers: with the digits of the same f64.
fn widened<S: Serializer>(values: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|&value| f64::from(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_to_the_byte() {
        let text =
            r#"{"epoch":3,"rate":0.05,"loss":1.25,"test.kl":0.30000000000000004,"test.x":null}"#;
        let row: EpochRow = serde_json::from_str(text).unwrap();
        assert_eq!(
            (row.epoch, row.column("rate"), row.column("loss")),
            (3, Some(0.05), Some(1.25))
        );
        assert_eq!((row.column("test.kl"), row.column("test.x")), (Some(0.1 + 0.2), None));
        assert_eq!(serde_json::to_string(&row).unwrap(), text);
        assert_eq!(row.to_string(), "loss 1.2500, test.kl 0.3000");
    }

    /// The text is the one that 0.1.0 wrote, with numbers of f32 as those of f64.
    #[test]
    fn a_result_reads_back_to_the_byte() {
        let text = concat!(
            r#"{"arm":"soft · 5 votes","seed":2,"epochs":3,"stopped_early":false,"best_epoch":1,"#,
            r#""selected_by":"soft_nll on test","train_items":80,"parameters":170,"seconds":0.5,"#,
            r#""input":[16,16,1],"normalization":{"mean":[0.10000000149011612],"#,
            r#""deviation":[0.25]},"parts":{"validation":{"items":10,"best":{"kl":1.0},"last":{}},"#,
            r#""test":{"items":20,"best":{"soft_nll":0.5,"kl":null},"last":{"soft_nll":0.75}}}}"#,
        );
        let result: RunResult = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&result).unwrap(), text);
        assert_eq!(result.normalization.as_ref().unwrap().mean, [0.1_f32]);
        let (name, part) = result.reported().unwrap();
        assert_eq!((name, part.items), ("test", 20));
        assert_eq!(part.metrics(Which::Last).get("soft_nll"), Some(0.75));
        assert_eq!(result.part("validation").unwrap().best.get("kl"), Some(1.0));
    }

    #[test]
    fn other_versions_are_readable() {
        let text = r#"{"seconds":8.0,"new":[1],"parts":{"test":{"best":{"kl":0.5},"more":{}}}}"#;
        let result: RunResult = serde_json::from_str(text).unwrap();
        assert_eq!((result.seconds, result.normalization.is_none()), (8.0, true));
        assert_eq!(result.part("test").unwrap().best.get("kl"), Some(0.5));
        let about = r#"{"version":"0.1.0","device":"CPU","threads":1,"system":"linux","x":{}}"#;
        let about: RunEnvironment = serde_json::from_str(about).unwrap();
        assert_eq!((&*about.version, about.libraries), ("0.1.0", None));
    }
}
