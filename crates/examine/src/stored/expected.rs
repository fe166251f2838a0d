//! What a trained model takes: the shape of an example, and how images are normalized.

use dissensus_engine::network::Shape;
use dissensus_engine::{Dataset, InputKind};
use dissensus_inputs::{Inputs, Kind};
use dissensus_train::describe_shape;
use serde::Deserialize;
use serde_json::Value;

use crate::ExamineError;

/// What images are normalized by, channel by channel.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Normalization {
    mean: Vec<f32>,
    deviation: Vec<f32>,
}

/// What of a result says how inputs must be.
#[derive(Deserialize)]
struct Stated {
    /// `None` for feature vectors.
    normalization: Option<Normalization>,
    /// Height, width and channels, or the width of a vector; results need not say it.
    #[serde(default)]
    input: Option<Vec<usize>>,
}

/// What a model takes.
#[derive(Debug)]
pub(super) struct ExpectedInputs {
    /// How images are normalized; `None` where it takes feature vectors.
    normalization: Option<Normalization>,
    size: Size,
}

#[derive(Debug, PartialEq)]
enum Size {
    /// The shape that was trained on.
    Exactly(Shape),
    /// Images of any size with so many channels: the convolutions end in a mean over pixels.
    Channels(usize),
    Numbers(usize),
}

impl ExpectedInputs {
    /// As the result of run `id` says, or else the shape of its `first` weights.
    pub(super) fn of(
        id: &str,
        takes: InputKind,
        first: &[usize],
        result: &Value,
    ) -> Result<Self, ExamineError> {
        let spec = |reason: String| ExamineError::Spec { id: id.to_owned(), reason };
        if result.get("normalization").is_none() {
            let reason = "its result does not say how images are normalized; it was trained by an \
                          older version: remove it and train it again";
            return Err(spec(reason.to_owned()));
        }
        let Stated { normalization, input } = Stated::deserialize(result)
            .map_err(|error| spec(format!("its result cannot be read: {error}")))?;
        let size = match (input.as_deref(), takes, first) {
            (Some(&[height, width, channels]), ..) => {
                Size::Exactly(Shape::Map { height, width, channels })
            }
            (Some(&[width]), ..) => Size::Exactly(Shape::Flat { width }),
            (_, InputKind::Vectors, &[_, numbers]) => Size::Numbers(numbers),
            (_, InputKind::Images, &[_, channels, _, _]) => Size::Channels(channels),
            (_, _, shape) => {
                return Err(spec(format!(
                    "its first weights have the shape {shape:?}, which is not that of its model"
                )));
            }
        };
        Ok(Self { normalization, size })
    }

    /// The inputs as the engine takes them, or an error where they do not fit.
    pub(super) fn dataset(&self, id: &str, inputs: Inputs) -> Result<Dataset, ExamineError> {
        let name = inputs.name().to_owned();
        let dataset = match (inputs.into_kind(), &self.normalization) {
            (Kind::Images(images), Some(Normalization { mean, deviation })) => Dataset::Images {
                height: images.height(),
                width: images.width(),
                channels: images.channels(),
                pixels: images.pixels().into(),
                mean: mean.clone(),
                deviation: deviation.clone(),
            },
            (Kind::Features(features), None) => {
                Dataset::Vectors { width: features.width(), values: features.values().into() }
            }
            (Kind::Images(images), None) => {
                let (height, width, channels) =
                    (images.height(), images.width(), images.channels());
                return Err(self.refusal(id, &name, Shape::Map { height, width, channels }));
            }
            (Kind::Features(features), Some(_)) => {
                return Err(self.refusal(id, &name, Shape::Flat { width: features.width() }));
            }
        };
        self.check(id, &name, dataset.shape())?;
        Ok(dataset)
    }

    fn check(&self, id: &str, name: &str, found: Shape) -> Result<(), ExamineError> {
        let fits = match self.size {
            Size::Exactly(shape) => shape == found,
            Size::Channels(channels) => channels == found.channels(),
            Size::Numbers(numbers) => numbers == found.len(),
        };
        if fits { Ok(()) } else { Err(self.refusal(id, name, found)) }
    }

    fn refusal(&self, id: &str, name: &str, found: Shape) -> ExamineError {
        let expected = match self.size {
            Size::Exactly(shape) => describe_shape(shape),
            Size::Channels(1) => "grey images (1 channel)".to_owned(),
            Size::Channels(channels) => format!("images with {channels} channels"),
            Size::Numbers(numbers) if self.normalization.is_some() => {
                format!("images of {numbers} numbers")
            }
            Size::Numbers(width) => describe_shape(Shape::Flat { width }),
        };
        let (name, id, found) = (name.to_owned(), id.to_owned(), describe_shape(found));
        ExamineError::Shape { name, id, expected, found }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use serde_json::json;

    const MLP: InputKind = InputKind::Vectors;
    const CNN: InputKind = InputKind::Images;

    fn takes(
        takes: InputKind,
        shape: &[usize],
        result: &Value,
    ) -> Result<ExpectedInputs, ExamineError> {
        ExpectedInputs::of("0123", takes, shape, result)
    }

    fn map(height: usize, channels: usize) -> Shape {
        Shape::Map { height, width: height, channels }
    }

    #[test]
    fn shapes_are_checked_as_far_as_they_are_known() {
        let images =
            json!({ "normalization": { "mean": [0.5, 0.5, 0.5], "deviation": [0.2, 0.2, 0.2] } });
        let cnn = takes(CNN, &[4, 3, 3, 3], &images).unwrap();
        assert!(
            cnn.check("0123", "x", map(32, 3)).is_ok()
                && cnn.check("0123", "x", map(16, 3)).is_ok()
        );
        let error = cnn.check("0123", "x.npy", map(16, 1)).unwrap_err().to_string();
        let expected = "x.npy does not fit run 0123: expected images with 3 channels, came \
                        images of 16×16×1; bring the inputs into the form that it was trained on";
        assert_eq!(error, expected);
        let vectors = json!({ "normalization": null });
        let mlp = takes(MLP, &[8, 5], &vectors).unwrap();
        assert!(mlp.check("0123", "x", Shape::Flat { width: 5 }).is_ok());
        let error = mlp.check("0123", "x", Shape::Flat { width: 4 }).unwrap_err().to_string();
        let expected = "expected feature vectors of 5 numbers, came feature vectors of 4 numbers";
        assert!(error.contains(expected), "{error}");
        let flat = takes(MLP, &[8, 256], &images).unwrap();
        assert!(
            flat.check("0123", "x", map(16, 1)).is_ok()
                && flat.check("0123", "x", map(8, 1)).is_err()
        );
    }

    #[test]
    fn a_size_that_is_stated_is_checked() {
        let mut result =
            json!({ "normalization": { "mean": [0.5, 0.5, 0.5], "deviation": [0.2, 0.2, 0.2] } });
        result["input"] = json!([32, 32, 3]);
        let cnn = takes(CNN, &[4, 3, 3, 3], &result).unwrap();
        assert!(cnn.check("0123", "x", map(32, 3)).is_ok());
        let error = cnn.check("0123", "x", map(16, 3)).unwrap_err().to_string();
        assert!(error.contains("expected images of 32×32×3, came images of 16×16×3"), "{error}");
    }

    #[test]
    fn results_that_say_too_little_are_named() {
        let error = takes(CNN, &[4, 3, 3, 3], &json!({})).unwrap_err().to_string();
        assert!(error.contains("trained by an older version"), "{error}");
        let odd = takes(CNN, &[4, 3], &json!({ "normalization": null })).unwrap_err().to_string();
        assert!(odd.contains("have the shape [4, 3]"), "{odd}");
        let bad = takes(CNN, &[4, 3, 3, 3], &json!({ "normalization": 7 })).unwrap_err();
        assert!(bad.to_string().contains("cannot be read"), "{bad}");
    }
}
