//! The models, one file each, in one list.

mod mlp;
mod resnet18;
mod smallcnn;

use serde::{Deserialize, Serialize};

use crate::error::EngineError;
use crate::network::{Network, Shape};

/// A model of the list.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub description: &'static str,
    /// True when it takes pictures; false when it takes vectors.
    pub pictures: bool,
}

/// Every model.
pub const MODELS: &[About] = &[mlp::ABOUT, smallcnn::ABOUT, resnet18::ABOUT];

/// A model with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase", deny_unknown_fields)]
pub enum Model {
    /// Two layers on vectors.
    Mlp {
        /// Width of the hidden layer.
        hidden: usize,
        /// Dropout before the last layer.
        dropout: f64,
    },
    /// Three convolutions on small pictures.
    SmallCnn {
        /// Channels of the first.
        width: usize,
    },
    /// ResNet-18 with a stem for small pictures.
    ResNet18 {
        /// Channels of the first stage.
        width: usize,
    },
}

impl Model {
    /// The model with this name and its usual settings.
    pub fn named(name: &str) -> Result<Self, EngineError> {
        match name {
            "mlp" => Ok(Self::Mlp { hidden: 256, dropout: 0.1 }),
            "smallcnn" => Ok(Self::SmallCnn { width: 16 }),
            "resnet18" => Ok(Self::ResNet18 { width: 64 }),
            _ => {
                let known: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
                Err(EngineError::UnknownModel { name: name.to_owned(), known: known.join(", ") })
            }
        }
    }

    /// Its entry in the list.
    pub fn about(&self) -> &'static About {
        match self {
            Self::Mlp { .. } => &mlp::ABOUT,
            Self::SmallCnn { .. } => &smallcnn::ABOUT,
            Self::ResNet18 { .. } => &resnet18::ABOUT,
        }
    }

    /// The network for examples of this shape and this many classes.
    pub fn network(&self, input: Shape, classes: usize) -> Result<Network, EngineError> {
        let model = self.about().name;
        let refuse = |problem: String| Err(EngineError::Model { model, problem });
        if classes < 2 {
            return refuse(format!("needs at least 2 classes, the votes have {classes}"));
        }
        if input.is_empty() {
            return refuse("the examples are empty".into());
        }
        let (Self::Mlp { hidden: width, .. } | Self::SmallCnn { width } | Self::ResNet18 { width }) =
            *self;
        if width == 0 || width > 1 << 14 {
            return refuse(format!("a width of {width} cannot be; take 1 to 16384"));
        }
        match (*self, input) {
            (Self::Mlp { hidden, dropout }, _) => {
                if !(0.0..1.0).contains(&dropout) {
                    return refuse(format!("a dropout of {dropout} cannot be; take 0 to below 1"));
                }
                mlp::network(input, hidden, dropout, classes)
            }
            (_, Shape::Flat { .. }) => {
                refuse("needs pictures, and the inputs are vectors; take `mlp`".into())
            }
            (Self::SmallCnn { width }, _) => smallcnn::network(input, width, classes),
            (Self::ResNet18 { width }, _) => resnet18::network(input, width, classes),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_model_of_the_list_has_a_network() {
        for about in MODELS {
            let model = Model::named(about.name).unwrap();
            assert_eq!(model.about().name, about.name);
            let input = match about.pictures {
                true => Shape::Map { height: 32, width: 32, channels: 3 },
                false => Shape::Flat { width: 384 },
            };
            assert_eq!(model.network(input, 10).unwrap().classes(), 10);
        }
        assert!(Model::named("resnet").is_err());
    }

    #[test]
    fn resnet18_has_the_usual_size() {
        let input = Shape::Map { height: 32, width: 32, channels: 3 };
        let network = Model::named("resnet18").unwrap().network(input, 10).unwrap();
        assert_eq!(network.parameter_count(), 11_173_962);
    }

    #[test]
    fn vectors_do_not_go_into_convolutions() {
        let error = Model::SmallCnn { width: 8 }.network(Shape::Flat { width: 8 }, 2).unwrap_err();
        assert!(error.to_string().contains("take `mlp`"), "{error}");
    }
}
