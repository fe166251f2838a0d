//! The file of a study of someone's own votes: which delivery of them makes the best model?
//!
//! What is chosen here is a beginning for every data set, and not the best for any: it stands in the
//! file, with a word on why, to be changed there.

use dissensus_core::VoteTable;
use dissensus_engine::network::Shape;

use crate::{Study, StudyError};

/// What a study of one's own is written from.
#[derive(Clone, Debug)]
pub struct Own<'a> {
    /// The name of the study.
    pub name: &'a str,
    /// Its file, as commands name it.
    pub file: &'a str,
    /// The keys of `[spec.data]` and what they are set to.
    pub data: &'a [(&'static str, String)],
    /// The votes.
    pub table: &'a VoteTable,
    /// What an input looks like.
    pub shape: Shape,
    /// The model; `None` for the one that fits the inputs.
    pub model: Option<&'a str>,
    /// How many seeds.
    pub seeds: u64,
}

/// Steps of training that a small network has enough with.
const STEPS: usize = 4000;
/// The share of the items that is trained on.
const TRAINED: f64 = 0.7;
/// Items of the study at its quick scale.
const QUICK: usize = 400;

impl Own<'_> {
    /// The study, as a file with comments. It has been read back, and is one.
    pub fn text(&self) -> Result<String, StudyError> {
        let text = self.written();
        Study::parse(&text, "the study that was written")?;
        Ok(text)
    }

    /// On how many items people disagree.
    pub fn divided(&self) -> usize {
        let all = self.table.distributions();
        all.iter().flatten().filter(|of| of.values().iter().all(|&share| share < 1.0)).count()
    }

    fn written(&self) -> String {
        let pictures = matches!(self.shape, Shape::Map { .. });
        let counts = self.table.counts();
        let arms: &[_] = if counts.is_some() { &ARMS } else { &ARMS_WITHOUT_VOTES };
        let runs = arms.len() as u64 * self.seeds;
        let mut text = self.head(runs);
        text += "\n# What is compared. An arm can have its own `votes`, `seeds` and settings (`set`), too.\n";
        for (name, title, about) in arms {
            text += &format!(
                "[[arm]]\nname = \"{name}\"\ntitle = \"{title}\"\nabout = \"{about}\"\n\
                 delivery = \"{name}\"\n\n"
            );
        }
        let hard: Vec<&str> = arms.iter().map(|arm| arm.0).filter(|a| HARD.contains(a)).collect();
        let hard: Vec<String> = hard.into_iter().map(quoted).collect();
        text += &REST.replace("HARD", &hard.join(", "));
        if pictures {
            text += PICTURES;
        }
        let items = match self.table.len() > QUICK {
            true => format!("items = {QUICK}\n"),
            false => String::new(),
        };
        text += &format!(
            "\n# `--scale quick`: the same study in seconds, to see that all works.\n[scale.quick]\n\
             about = \"few items, epochs and seeds\"\n{items}seeds = 2\n\
             set = {{ \"training.epochs\" = 4 }}\n"
        );
        text
    }

    /// What the data are, and what all runs have in common.
    fn head(&self, runs: u64) -> String {
        let Own { name, file, table, .. } = *self;
        let (items, classes) = (table.len(), table.classes().len());
        let votes = table.counts().map(|counts| {
            let mut votes: Vec<u64> = (0..counts.len()).map(|item| counts.votes(item)).collect();
            votes.sort_unstable();
            votes.get(votes.len() / 2).copied().unwrap_or(0)
        });
        let divided = 100.0 * self.divided() as f64 / items.max(1) as f64;
        let said = match votes {
            Some(1) => "1 vote an item (the median)".to_owned(),
            Some(votes) => format!("{votes} votes an item (the median)"),
            None => "shares in place of votes".to_owned(),
        };
        let trained = (TRAINED * items as f64).ceil() as usize;
        let batch = match trained {
            5000.. => 128,
            1000.. => 64,
            _ => 32,
        };
        let steps = trained.div_ceil(batch).max(1);
        let epochs = (STEPS / steps).clamp(30, 100);
        let data: String =
            self.data.iter().map(|(key, value)| format!("{key} = {}\n", quoted(value))).collect();
        let (model, why, training) = match self.shape {
            Shape::Map { .. } => (
                self.model.unwrap_or("smallcnn"),
                "or \"resnet18\": stronger, and slow without a GPU",
                "optimizer = \"sgd\"\nrate = 0.1\n\
                 # Common for photographs: augment = { crop = 4, flip = true }\n",
            ),
            Shape::Flat { .. } => (
                self.model.unwrap_or("mlp"),
                "one hidden layer on the vectors",
                "optimizer = \"adam\"\nrate = 0.001\n",
            ),
        };
        let cycle = match votes {
            Some(votes) if votes > epochs as u64 => {
                "   # fewer than the votes of an item: multipass does not come to all".to_owned()
            }
            _ => String::new(),
        };
        format!(
            "# Which delivery of these votes makes the best model? `dissensus study new` wrote this; change it\n\
             # as you like. {items} items, {classes} classes, {said}; people disagree on {divided:.0} % of the items.\n\
             #\n\
             #     dissensus study run {file} --scale quick   # to see that all works\n\
             #     dissensus study run {file}   # all {runs} runs\n\
             #     dissensus report runs --study {name} --open   # tables, figures and a page\n\
             \n\
             [study]\n\
             name = \"{name}\"\n\
             title = \"Which delivery of the votes makes the best model?\"\n\
             \n\
             # What all runs have in common: sections and keys of `dissensus train --template`.\n\
             [spec.data]\n\
             {data}\
             votes_per_item = \"all\"   # or [5, \"all\"]: what if only five people had been asked?\n\
             \n\
             # The epoch is chosen on one part and judged on another; every seed has a split of its own.\n\
             [spec.split]\n\
             parts = \"train/validation/test\"\n\
             \n\
             [spec.model]\n\
             name = \"{model}\"   # {why}\n\
             \n\
             [spec.training]\n\
             epochs = {epochs}{cycle}\n\
             batch = {batch}\n\
             {training}\
             \n\
             [spec.selection]\n\
             metric = \"soft_nll\"\n\
             on = \"validation\"\n\
             \n\
             [spec.run]\n\
             seeds = {}   # with fewer than 8, no exact p survives the correction for four comparisons\n",
            self.seeds
        )
    }
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

type Known = (&'static str, &'static str, &'static str);

const ARMS: [Known; 5] = [
    ("soft", "soft labels", "The loss sees the distribution of the votes."),
    (
        "sls",
        "drawn labels",
        "The loss sees a label that is drawn from the votes anew in every epoch.",
    ),
    ("multipass", "multipass", "The loss sees the votes one by one, each once in a cycle."),
    (
        "majority",
        "majority label",
        "The loss sees the label with the most votes; the rest is lost.",
    ),
    (
        "label_smoothing",
        "label smoothing",
        "The majority label, mixed with a little of every class.",
    ),
];

/// Shares have no votes that could be shown one by one.
const ARMS_WITHOUT_VOTES: [Known; 4] = [ARMS[0], ARMS[1], ARMS[3], ARMS[4]];

const HARD: [&str; 2] = ["sls", "multipass"];

const REST: &str = r#"# The tenth of the items that people disagree on most.
[[slice]]
name = "divided"
top = 0.1

# What is asked, with what decides it: exact paired tests over the seeds.
[[claim]]
name = "votes"
text = "It helps to keep the votes: soft labels are below the majority label"
kind = "below"
metrics = ["soft_nll"]
arms = ["soft"]
than = "majority"
level = 0.05

[[claim]]
name = "hard"
text = "It helps to hand out labels one at a time: hard delivery is below soft labels"
kind = "below"
metrics = ["soft_nll"]
arms = [HARD]
than = "soft"
level = 0.05

[[table]]
name = "verdicts"
title = "What was asked, and what came out"
shows = "claims"

[[table]]
name = "main"
title = "What each delivery makes of the same votes"
note = "The selected epoch, on items that neither training nor the selection saw."
down = ["k", "arm"]
metrics = ["soft_nll", "kl", "accuracy", "ece_mass", "entropy_spearman"]
against = { arm = "soft", family = "column" }

[[table]]
name = "divided"
title = "All items, and those that people disagree on most"
down = ["k", "arm"]
across = ["slice"]
metrics = ["kl"]
slices = ["all", "divided"]

[[figure]]
name = "metrics"
title = "Every seed, and the mean of each arm"
kind = "points"
metrics = ["soft_nll", "kl", "accuracy", "ece_mass"]

[[figure]]
name = "reliability"
title = "Confidence, and how often people agree"
kind = "reliability"

[[figure]]
name = "entropies"
title = "How divided people are, and how unsure the model is"
kind = "scatter"
x = "annotator_entropy"
x_title = "entropy of the votes"
y = "prediction_entropy"
y_title = "entropy of the prediction"

[[figure]]
name = "curves"
title = "Training"
kind = "curves"
metrics = ["loss", "validation.soft_nll"]
"#;

const PICTURES: &str = r#"
[[figure]]
name = "pictures"
title = "What divides people, and what each arm makes of it"
kind = "pictures"
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
            counts.push([(0, votes - split), (1, split)]);
        }
        VoteTable::from_counts(classes(), Ids::positions(items), counts)
    }

    fn written(table: &VoteTable, shape: Shape) -> String {
        let data = [("votes", "my \"votes\".csv".to_owned()), ("inputs", "vectors.npz".to_owned())];
        let own = Own {
            name: "mine",
            file: "mine.toml",
            data: &data,
            table,
            shape,
            model: None,
            seeds: 8,
        };
        own.text().unwrap()
    }

    const VECTORS: Shape = Shape::Flat { width: 8 };

    #[test]
    fn fits_vectors_and_pictures() {
        let table = counts(1000, 200);
        let text = written(&table, VECTORS);
        let head =
            "1000 items, 2 classes, 200 votes an item (the median); people disagree on 25 % of";
        assert!(text.contains(head), "{text}");
        assert!(text.contains("name = \"mlp\"") && text.contains("optimizer = \"adam\""), "{text}");
        assert!(text.contains("multipass does not come to all"), "{text}");
        assert!(text.contains("items = 400") && !text.contains("kind = \"pictures\""), "{text}");
        let study = Study::parse(&text, "mine.toml").unwrap();
        assert_eq!((study.arms.len(), study.scales.len(), study.claims.len()), (5, 1, 2));
        let text = written(&counts(300, 5), Shape::Map { height: 8, width: 8, channels: 1 });
        assert!(
            text.contains("name = \"smallcnn\"") && text.contains("kind = \"pictures\""),
            "{text}"
        );
        assert!(!text.contains("items = 400") && !text.contains("does not come"), "{text}");
    }

    /// Votes that cannot be shown one by one.
    #[test]
    fn shares_have_no_multipass() {
        let mut rows = Probabilities::new(2);
        (0..10).for_each(|_| rows.push(&[0.5, 0.5]).unwrap());
        let table = VoteTable::from_probabilities(classes(), Ids::positions(10), rows);
        let text = written(&table, VECTORS);
        assert!(!text.contains("multipass") && text.contains("arms = [\"sls\"]"), "{text}");
        assert!(text.contains("shares in place of votes"), "{text}");
    }
}
