//! A study of a user's own votes: does it matter how they are delivered?
//!
//! The settings are a starting point for any dataset. They are written into the file with comments, to
//! be changed there.

use dissensus_core::{Scale, VoteTable};
use dissensus_engine::network::Shape;
use dissensus_engine::{InputKind, MODELS};
use dissensus_labels::{DELIVERIES, DeliveryEntry};
use dissensus_train::Recipe;
use dissensus_train::spec::Data;

use crate::{Study, StudyError};

/// What a study of a user's own votes is written from.
#[derive(Clone, Debug)]
pub struct NewStudy<'a> {
    /// The name of the study.
    pub name: &'a str,
    /// Its file, as in a command.
    pub file: &'a str,
    /// The data.
    pub data: &'a Data,
    /// The votes.
    pub table: &'a VoteTable,
    /// The shape of an input.
    pub shape: Shape,
    /// The model; `None` for the one that fits the inputs.
    pub model: Option<&'a str>,
    /// How the images are augmented; of no effect where the model takes vectors.
    pub augment: &'a Recipe,
    /// How many seeds.
    pub seeds: u64,
    /// The parts of a split that comes with the data, training first.
    pub parts: Option<&'a [(String, Vec<usize>)]>,
}

/// Training steps that are enough for a small network.
const STEPS: usize = 4000;
/// Below so many items, a tenth of them is too few to select an epoch on.
const FEW: usize = 300;
/// Items at the quick scale.
const QUICK: usize = 400;

impl NewStudy<'_> {
    /// The study, as a file with comments. It is checked to be valid.
    pub fn text(&self) -> Result<String, StudyError> {
        self.table.scale().require("training", Scale::ONE_LABEL)?;
        let text = self.written();
        Study::parse(&text, "the study that was written")?;
        Ok(text)
    }

    /// How many items have votes for more than one class.
    pub fn divided(&self) -> usize {
        let all = self.table.distributions();
        all.iter().flatten().filter(|of| of.values().iter().all(|&share| share < 1.0)).count()
    }

    /// The keys of `[split]` with comments, the part that selects an epoch, and the share of the items
    /// that is trained on.
    fn split(&self, items: usize) -> (String, &'static str, f64) {
        const THREE: &str = "# Epochs are selected on the validation part and judged on the test part.\n\
                             parts = \"train/validation/test\"\n";
        const TWO: &str = "# There is no validation part: the epoch is selected on the items that are \
                           judged,\n# and its numbers are optimistic.\nparts = \"train/evaluation\"\n";
        if let Some(parts) = self.parts {
            let train = parts.first().map_or(0, |(_, places)| places.len());
            let share = train as f64 / items.max(1) as f64;
            let (keys, on) = match parts.len() {
                3 => (THREE, "validation"),
                _ => (TWO, "evaluation"),
            };
            return (format!("# The split comes with the data.\n{keys}"), on, share);
        }
        let (shares, why) = match items < FEW {
            true => ([0.6, 0.2, 0.2], "   # of few items, a larger share to select on"),
            false => ([0.7, 0.1, 0.2], ""),
        };
        let keys = format!("{THREE}# Each seed has its own split.\nshares = {shares:?}{why}\n");
        (keys, "validation", shares[0])
    }

    /// The keys of `[training]` that the model and what the images show decide.
    fn training(&self, model: &str) -> String {
        let entry = MODELS.iter().find(|entry| entry.name == model);
        let mut text = match entry.map_or("sgd", |entry| entry.optimizer) {
            "adam" => "optimizer = \"adam\"\nlearning_rate = 0.001\n",
            _ => "optimizer = \"sgd\"\nlearning_rate = 0.1\n",
        }
        .to_owned();
        if entry.is_some_and(|entry| entry.takes == InputKind::Images) {
            let Recipe { value, from, .. } = self.augment;
            text += &format!("augment = {value}   # {from}\n");
        }
        text
    }

    fn written(&self) -> String {
        let table = self.table;
        let (items, counts) = (table.len(), table.counts());
        // Shares have no votes that could be shown one by one.
        let usable = |entry: &&DeliveryEntry| counts.is_some() || !entry.needs_counts;
        let arms =
            ARMS.iter().filter_map(|name| DELIVERIES.iter().find(|entry| entry.name == *name));
        let arms: Vec<&DeliveryEntry> = arms.filter(usable).collect();
        let votes = counts.map(|counts| {
            let mut votes: Vec<u64> = (0..counts.len()).map(|item| counts.votes(item)).collect();
            votes.sort_unstable();
            votes.get(votes.len() / 2).copied().unwrap_or(0)
        });
        let said = match votes {
            Some(1) => "1 vote per item (median)".to_owned(),
            Some(votes) => format!("{votes} votes per item (median)"),
            None => "shares instead of votes".to_owned(),
        };
        let (split, on, share) = self.split(items);
        let trained = (share * items as f64).ceil() as usize;
        let batch = match trained {
            5000.. => 128,
            1000.. => 64,
            _ => 32,
        };
        let epochs = (STEPS / trained.div_ceil(batch).max(1)).clamp(30, 100);
        let cycle = match votes {
            Some(votes) if votes > epochs as u64 => {
                "   # fewer than the votes per item: multipass does not show all of them"
            }
            _ => "",
        };
        let (model, why, pictures) = match self.shape {
            Shape::Map { .. } => {
                ("smallcnn", "or \"resnet18\": more accurate, and slow without a GPU", PICTURES)
            }
            Shape::Flat { .. } => ("mlp", "one hidden layer on the vectors", ""),
        };
        let (model, why) = self.model.map_or((model, why), |model| (model, "as asked for"));
        let training = self.training(model);
        let data = self.data.to_toml();
        let arm = |DeliveryEntry { name, title, description, .. }: &&DeliveryEntry| {
            let about = sentence(description);
            format!(
                "[[arm]]\nname = \"{name}\"\ntitle = \"{title}\"\nabout = \"{about}\"\n\
                 delivery = \"{name}\"\n\n"
            )
        };
        let hard = arms
            .iter()
            .map(|arm| arm.name)
            .filter(|arm| HARD.contains(arm))
            .map(|arm| format!("{arm:?}"));
        let divided = 100.0 * self.divided() as f64 / items.max(1) as f64;
        filled(&[
            ("name", self.name.to_owned()),
            ("file", self.file.to_owned()),
            ("items", items.to_string()),
            ("classes", table.classes().len().to_string()),
            ("said", said),
            ("divided", format!("{divided:.0}")),
            ("runs", (arms.len() as u64 * self.seeds).to_string()),
            ("data", data),
            ("model", model.to_owned()),
            ("why", why.to_owned()),
            ("split", split),
            ("on", on.to_owned()),
            ("epochs", epochs.to_string()),
            ("cycle", cycle.to_owned()),
            ("batch", batch.to_string()),
            ("training", training),
            ("seeds", self.seeds.to_string()),
            ("arms", arms.iter().map(arm).collect()),
            ("hard", hard.collect::<Vec<_>>().join(", ")),
            ("pictures", pictures.to_owned()),
            ("quick", if items > QUICK { format!("items = {QUICK}\n") } else { String::new() }),
        ])
    }
}

/// The study, with names in braces where values are inserted.
const TEMPLATE: &str = include_str!("own.toml");

/// The template with these values. Inserted values are not searched for names.
fn filled(values: &[(&str, String)]) -> String {
    let (mut text, mut rest) = (String::new(), TEMPLATE);
    while let Some((before, after)) = rest.split_once('{') {
        let value = values.iter().find_map(|(name, value)| {
            let after = after.strip_prefix(name)?.strip_prefix('}')?;
            Some((value.as_str(), after))
        });
        let (value, after) = value.unwrap_or(("{", after));
        text = text + before + value;
        rest = after;
    }
    text + rest
}

/// A line of a list as a sentence.
fn sentence(line: &str) -> String {
    let mut letters = line.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// The deliveries to compare: a choice of those that train one model each and are no controls.
const ARMS: [&str; 5] = ["soft", "sls", "multipass", "majority", "label_smoothing"];

const HARD: [&str; 2] = ["sls", "multipass"];

const PICTURES: &str = r#"
[[figure]]
name = "pictures"
title = "Items with the most disagreement, and the predictions of each arm"
kind = "images"
count = 8
"#;

#[cfg(test)]
mod tests {
    use dissensus_core::{ClassOrder, ClassSet, Counts, Ids, Probabilities};

    use super::*;

    fn classes() -> ClassSet {
        ClassSet::new(["a", "b"].map(str::to_owned).to_vec(), ClassOrder::Declared).unwrap()
    }

    fn counts(items: usize, votes: u32) -> VoteTable {
        let mut counts = Counts::new();
        for item in 0..items {
            let split = if item % 4 == 0 { 1 } else { 0 };
            counts.push([(0, votes - split), (1, split)]).unwrap();
        }
        VoteTable::from_counts(classes(), Ids::positions(items), counts).unwrap()
    }

    fn written(table: &VoteTable, shape: Shape) -> String {
        let mut data = Data::of_file("my \"votes\".csv", Default::default());
        data.inputs = Some("vectors.npz".into());
        let own = NewStudy {
            name: "mine",
            file: "mine.toml",
            data: &data,
            table,
            shape,
            model: None,
            augment: &photographs(),
            seeds: 8,
            parts: None,
        };
        own.text().unwrap()
    }

    fn photographs() -> Recipe {
        let value = "{ crop = 4, flip = true }".to_owned();
        Recipe { key: "training.augment", value, from: "photographs".to_owned() }
    }

    const VECTORS: Shape = Shape::Flat { width: 8 };

    #[test]
    fn fits_vectors_and_images() {
        let table = counts(1000, 200);
        let text = written(&table, VECTORS);
        let head =
            "1000 items, 2 classes, 200 votes per item (median); annotators disagree on 25 % of";
        assert!(text.contains(head), "{text}");
        assert!(text.contains("name = \"mlp\"") && text.contains("optimizer = \"adam\""), "{text}");
        assert!(text.contains("multipass does not show all"), "{text}");
        assert!(text.contains("items = 400") && !text.contains("kind = \"images\""), "{text}");
        let study = Study::parse(&text, "mine.toml").unwrap();
        assert_eq!((study.arms.len(), study.scales.len(), study.claims.len()), (5, 1, 2));
        let text = written(&counts(300, 5), Shape::Map { height: 8, width: 8, channels: 1 });
        assert!(
            text.contains("name = \"smallcnn\"") && text.contains("kind = \"images\""),
            "{text}"
        );
        assert!(text.contains("augment = { crop = 4, flip = true }   # photographs\n"), "{text}");
        assert!(!text.contains("items = 400") && !text.contains("does not show"), "{text}");
    }

    /// The epoch is never selected on the items that are judged, unless the data leave no other way.
    #[test]
    fn epochs_are_selected_on_a_part_of_their_own() {
        for (items, shares) in [(100, "[0.6, 0.2, 0.2]"), (1000, "[0.7, 0.1, 0.2]")] {
            let text = written(&counts(items, 5), VECTORS);
            assert!(text.contains(&format!("shares = {shares}")), "{text}");
            assert!(text.contains("on = \"validation\""), "{text}");
        }
        let table = counts(10, 5);
        let parts =
            [("train".to_owned(), vec![0, 1, 2, 3, 4, 5, 6]), ("test".into(), vec![7, 8, 9])];
        let mut data = Data::of_file("v.csv", Default::default());
        data.inputs = Some("i.npz".into());
        let own = NewStudy {
            name: "mine",
            file: "mine.toml",
            data: &data,
            table: &table,
            shape: VECTORS,
            model: None,
            augment: &photographs(),
            seeds: 8,
            parts: Some(&parts),
        };
        let text = own.text().unwrap();
        assert!(text.contains("on = \"evaluation\"") && text.contains("optimistic"), "{text}");
    }

    /// Votes that cannot be shown one by one.
    #[test]
    fn shares_have_no_multipass() {
        let mut rows = Probabilities::new(2);
        (0..10).for_each(|_| rows.push(&[0.5, 0.5]).unwrap());
        let table = VoteTable::from_probabilities(classes(), Ids::positions(10), rows).unwrap();
        let text = written(&table, VECTORS);
        assert!(!text.contains("multipass") && text.contains("arms = [\"sls\"]"), "{text}");
        assert!(text.contains("shares instead of votes"), "{text}");
    }
}
