//! Recipes: how runs are trained where a spec does not say so. What the inputs show decides how images are
//! augmented, and the model decides its optimizer ([`ModelEntry`](dissensus_engine::models::ModelEntry)).
//!
//! | inputs | shifted by up to | flipped |
//! |---|---|---|
//! | photographs | 1/8 of the shorter side (4 of 32 pixels) | yes |
//! | photographs of characters | the same | no: a mirrored character is another or none |
//! | a user's own images in colour | the same | no: it is not known whether left and right matter |
//! | a user's own images in grey, generated patterns | – | no |
//! | features, and any inputs of a model that takes vectors | – | no |

use std::fmt;

use dissensus_engine::{Augment, InputKind, Model};
use dissensus_inputs::{Content, Inputs, Kind};
use serde::Serialize;

use crate::{RunPlan, Spec, Task, TrainError};

/// A setting that the spec does not state, and where its value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recipe {
    /// The key, as in `training.augment`.
    pub key: &'static str,
    /// The value, in TOML.
    pub value: String,
    /// Where it comes from, in words.
    pub from: String,
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ({})", self.key, self.value, self.from)
    }
}

/// The augmentation of these inputs for this model, and why.
fn augmentation(inputs: &Inputs, model: &Model) -> (Augment, String) {
    let none = |why: String| (Augment::default(), why);
    let Kind::Images(images) = inputs.kind() else {
        return none("feature vectors are not augmented".to_owned());
    };
    let entry = model.entry();
    if entry.takes == InputKind::Vectors {
        return none(format!("{} takes images as vectors", entry.name));
    }
    let (height, width) = (images.height(), images.width());
    if height.min(width) < 8 {
        return none(format!("images of {height}×{width} pixels are too small"));
    }
    let crop = u8::try_from(height.min(width) / 8).unwrap_or(u8::MAX).min(Augment::MAX_CROP);
    let (flip, shown) = match (inputs.content(), images.channels()) {
        (Content::Photographs, _) => (true, "photographs"),
        (Content::Characters, _) => (false, "characters, which are not to be mirrored"),
        (Content::Generated, _) => return none(format!("{}: generated patterns", inputs.name())),
        (Content::Unknown, 1) => {
            return none("grey images of your own: set it if they are photographs".to_owned());
        }
        (Content::Unknown, _) => {
            (false, "colour images of your own, mirrored only if you set flip")
        }
    };
    let name = match inputs.content() {
        Content::Unknown => String::new(),
        _ => format!("{}: ", inputs.name()),
    };
    (Augment { crop, flip }, format!("{name}{shown}, {height}×{width} pixels"))
}

impl RunPlan {
    /// That images can be augmented as the plan says.
    pub fn check_augment(&self, task: &Task) -> Result<(), TrainError> {
        let augment = self.training.augment.unwrap_or_default();
        let refused = |why: String| Err(TrainError::Data(format!("training.augment {why}")));
        match task.inputs().kind() {
            _ if augment.is_none() => Ok(()),
            Kind::Features(_) => {
                refused("is set, and the inputs are feature vectors; set it to false".to_owned())
            }
            Kind::Images(images) => {
                let (height, width) = (images.height(), images.width());
                if usize::from(augment.crop) < height.min(width) {
                    return Ok(());
                }
                refused(format!(
                    "shifts by up to {} pixels, and the images have {height}×{width}; set a crop \
                     below the shorter side",
                    augment.crop
                ))
            }
        }
    }

    /// The plan on these data: settings that it leaves to the recipe of the data are filled in.
    pub fn on(&self, task: &Task) -> Self {
        let mut plan = self.clone();
        let recipe = || augmentation(task.inputs(), &plan.model).0;
        plan.training.augment = Some(plan.training.augment.unwrap_or_else(recipe));
        plan
    }
}

impl Task {
    /// Whether its inputs are images that it makes sense to augment.
    pub fn may_be_augmented(&self) -> bool {
        let inputs = self.inputs();
        matches!(inputs.kind(), Kind::Images(_)) && inputs.content() != Content::Generated
    }

    /// How the images of these data are augmented for this model.
    pub fn augmentation(&self, model: &Model) -> Recipe {
        let (augment, from) = augmentation(self.inputs(), model);
        Recipe { key: "training.augment", value: augment.to_string(), from }
    }
}

impl Spec {
    /// Fills in the settings that the spec leaves to the recipe of the data, and returns these and those
    /// that come from the model.
    pub fn resolve(&mut self, task: &Task) -> Vec<Recipe> {
        let mut recipes = Vec::new();
        if self.training.augment.is_none() {
            self.training.augment = Some(augmentation(task.inputs(), &self.model).0);
            recipes.push(task.augmentation(&self.model));
        }
        if !self.stated.contains("training.optimizer") {
            let entry = self.model.entry();
            let value = format!("{:?}", entry.optimizer);
            let from = format!("the default of {}", entry.name);
            recipes.push(Recipe { key: "training.optimizer", value, from });
        }
        recipes
    }
}

#[cfg(test)]
mod tests {
    use dissensus_inputs::{Features, Images};

    use super::*;

    fn images(side: usize, channels: usize, content: Content) -> Inputs {
        let pixels = vec![7; 2 * side * side * channels];
        let images = Images::new("x", side, side, channels, pixels).unwrap();
        Inputs::new("x", None, Kind::Images(images)).unwrap().showing(content)
    }

    #[test]
    fn what_inputs_show_decides() {
        let model = |name| Model::named(name).unwrap();
        for (side, channels, content, crop, flip) in [
            (32, 3, Content::Photographs, 4, true),
            (32, 3, Content::Characters, 4, false),
            (32, 3, Content::Unknown, 4, false),
            (224, 3, Content::Photographs, 28, true),
            (1024, 3, Content::Photographs, 63, true),
            (16, 1, Content::Generated, 0, false),
            (28, 1, Content::Unknown, 0, false),
            (4, 3, Content::Photographs, 0, false),
        ] {
            let found = augmentation(&images(side, channels, content), &model("resnet18"));
            assert_eq!(found.0, Augment { crop, flip }, "{side} {channels} {content:?}");
        }
        let photographs = images(32, 3, Content::Photographs);
        assert!(augmentation(&photographs, &model("mlp")).0.is_none());
        let features = Features::new("x", 2, vec![0.5; 4]).unwrap();
        let features = Inputs::new("x", None, Kind::Features(features)).unwrap();
        assert!(augmentation(&features, &model("mlp")).0.is_none());
    }
}
