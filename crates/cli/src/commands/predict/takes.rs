//! What a trained model takes: the shape of an example, and how pictures are normalized.

use anyhow::Context as _;
use dissensus_engine::network::Shape;
use dissensus_engine::{InputKind, Model};
use dissensus_store::Tensors;
use serde::Deserialize;
use serde_json::Value;

/// What pictures are normalized by, channel by channel.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Normalization {
    pub(super) mean: Vec<f32>,
    pub(super) deviation: Vec<f32>,
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
pub(super) struct Takes {
    /// How pictures are normalized; `None` where it takes feature vectors.
    pub(super) normalization: Option<Normalization>,
    expected: Expected,
}

#[derive(Debug, PartialEq)]
enum Expected {
    /// The shape that was trained on.
    Exactly(Shape),
    /// Pictures of any size with so many channels: the convolutions end in a mean over pixels.
    Channels(usize),
    /// So many numbers.
    Numbers(usize),
}

impl Takes {
    pub(super) fn of(model: &Model, weights: &Tensors<'_>, result: &Value) -> anyhow::Result<Self> {
        anyhow::ensure!(
            result.get("normalization").is_some(),
            "its result does not say how pictures are normalized; it was trained by an older \
             version: remove it and train it again"
        );
        let Stated { normalization, input } =
            Stated::deserialize(result).context("its result cannot be read")?;
        let first = weights.iter().next().map(|tensor| tensor.shape().to_vec());
        let expected = match (input.as_deref(), model.entry().takes, first.as_deref()) {
            (Some(&[height, width, channels]), ..) => {
                Expected::Exactly(Shape::Map { height, width, channels })
            }
            (Some(&[width]), ..) => Expected::Exactly(Shape::Flat { width }),
            (_, InputKind::Vectors, Some(&[_, numbers])) => Expected::Numbers(numbers),
            (_, InputKind::Images, Some(&[_, channels, _, _])) => Expected::Channels(channels),
            (_, _, shape) => anyhow::bail!(
                "its first weights have the shape {:?}, which is not that of its model",
                shape.unwrap_or_default()
            ),
        };
        Ok(Self { normalization, expected })
    }

    /// Refuses inputs of another shape.
    pub(super) fn check(&self, name: &str, came: Shape) -> anyhow::Result<()> {
        let fits = match self.expected {
            Expected::Exactly(shape) => shape == came,
            Expected::Channels(channels) => channels == came.channels(),
            Expected::Numbers(numbers) => numbers == came.len(),
        };
        anyhow::ensure!(fits, self.refusal(name, came));
        Ok(())
    }

    /// What is expected, and what came instead.
    pub(super) fn refusal(&self, name: &str, came: Shape) -> String {
        let pictures = self.normalization.is_some();
        let expected = match self.expected {
            Expected::Exactly(shape) => described(shape),
            Expected::Channels(1) => "grey pictures (1 channel)".to_owned(),
            Expected::Channels(channels) => format!("pictures with {channels} channels"),
            Expected::Numbers(numbers) if pictures => format!("pictures of {numbers} numbers"),
            Expected::Numbers(width) => described(Shape::Flat { width }),
        };
        format!(
            "{name} does not fit the model: expected {expected}, came {}; bring the inputs into \
             the form that it was trained on",
            described(came)
        )
    }
}

fn described(shape: Shape) -> String {
    match shape {
        Shape::Map { height, width, channels } => {
            format!("pictures of {height}×{width}×{channels}")
        }
        Shape::Flat { width } => format!("feature vectors of {width} numbers"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use serde_json::json;

    const MLP: &str = "mlp";
    const CNN: &str = "smallcnn";

    fn takes(model: &str, shape: &[usize], result: &Value) -> anyhow::Result<Takes> {
        let model = Model::named(model).unwrap();
        let mut weights = Tensors::new();
        weights.push("first", shape, vec![0.0; shape.iter().product()]).unwrap();
        Takes::of(&model, &weights, result)
    }

    fn map(height: usize, channels: usize) -> Shape {
        Shape::Map { height, width: height, channels }
    }

    #[test]
    fn shapes_are_checked_as_far_as_they_are_known() {
        let pictures =
            json!({ "normalization": { "mean": [0.5, 0.5, 0.5], "deviation": [0.2, 0.2, 0.2] } });
        let cnn = takes(CNN, &[4, 3, 3, 3], &pictures).unwrap();
        assert!(cnn.check("x", map(32, 3)).is_ok() && cnn.check("x", map(16, 3)).is_ok());
        let error = cnn.check("x.npy", map(16, 1)).unwrap_err().to_string();
        let expected = "x.npy does not fit the model: expected pictures with 3 channels, came \
                        pictures of 16×16×1; bring the inputs into the form that it was trained on";
        assert_eq!(error, expected);
        let vectors = json!({ "normalization": null });
        let mlp = takes(MLP, &[8, 5], &vectors).unwrap();
        assert!(mlp.check("x", Shape::Flat { width: 5 }).is_ok());
        let error = mlp.check("x", Shape::Flat { width: 4 }).unwrap_err().to_string();
        let expected = "expected feature vectors of 5 numbers, came feature vectors of 4 numbers";
        assert!(error.contains(expected), "{error}");
        let flat = takes(MLP, &[8, 256], &pictures).unwrap();
        assert!(flat.check("x", map(16, 1)).is_ok() && flat.check("x", map(8, 1)).is_err());
    }

    #[test]
    fn a_size_that_is_stated_is_checked() {
        let mut result =
            json!({ "normalization": { "mean": [0.5, 0.5, 0.5], "deviation": [0.2, 0.2, 0.2] } });
        result["input"] = json!([32, 32, 3]);
        let cnn = takes(CNN, &[4, 3, 3, 3], &result).unwrap();
        assert!(cnn.check("x", map(32, 3)).is_ok());
        let error = cnn.check("x", map(16, 3)).unwrap_err().to_string();
        assert!(
            error.contains("expected pictures of 32×32×3, came pictures of 16×16×3"),
            "{error}"
        );
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
