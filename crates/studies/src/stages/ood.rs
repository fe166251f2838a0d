//! How well a run's model tells foreign inputs from those that it is judged on, as metrics named by
//! set, score and figure: `svhn.energy.auroc`. Sets are those of the catalogue that have images, and
//! files or folders of the user.

use std::sync::Arc;

use dissensus_examine::{OodSettings, Outside, ood};
use dissensus_inputs::WITH_IMAGES;
use dissensus_measure::About;
use dissensus_measure::ood::{FIGURES, OodScore, OodSettings as Chosen, Row, SCORES, score};
use dissensus_report::book::Metric;
use serde::Deserialize;
use serde_json::{Value, json};

use super::settings::{MANY, count};
use super::{Examiner, Found, Kept, Read, StageEntry, capital};
use crate::context::Models;
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::study::unknown;
use crate::{Number, StudyError};

pub(super) const ENTRY: StageEntry = StageEntry {
    name: "ood",
    about: "out-of-distribution detection of other data sets; needs the weights",
    always: false,
    keys: &["sets", "scores", "items", "neighbours", "epsilon"],
    template: r#"# Out-of-distribution detection: datasets with images, and your own images or vectors. Results for the
# latter are stored by name: change the name when the files change.
# [stages.ood]
# sets = ["svhn", "cifar100", { name = "mine", inputs = "foreign.npy" }]
# Default: energy, msp, odin, entropy, margin, knn.
# scores = ["energy", "msp", "odin", "entropy", "margin", "knn", "knn_raw"]
# The largest number of items per set.
# items = 1000
# neighbours = 50
# epsilon = 0.0014
# precision = "f32"
"#,
    read: Read::Examiner(read),
};

/// The scores where a study names none: as many as ever, so that what is kept of old studies is found.
const USUAL: [&str; 6] = ["energy", "msp", "odin", "entropy", "margin", "knn"];

struct Detection {
    sets: Vec<ForeignSet>,
    scores: Vec<&'static OodScore>,
    /// At most so many items of each set, the first of them.
    items: Option<usize>,
    chosen: Chosen,
}

/// A set as a study names it.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum ForeignSet {
    /// Of the catalogue.
    Known(String),
    /// Of one's own.
    Own(OwnSet),
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnSet {
    name: String,
    inputs: String,
}

impl ForeignSet {
    fn name(&self) -> &str {
        match self {
            Self::Known(name) => name,
            Self::Own(own) => &own.name,
        }
    }

    /// Where it is from: its name in the catalogue, or its path.
    fn source(&self) -> &str {
        match self {
            Self::Known(name) => name,
            Self::Own(own) => &own.inputs,
        }
    }

    /// What results are kept by. Where a file lies says nothing of what is in it.
    fn told(&self) -> Value {
        match self {
            Self::Known(name) => json!(name),
            Self::Own(own) => json!({ "name": own.name }),
        }
    }
}

/// The sets of a study; those of the catalogue must be there, and no name twice.
fn sets(section: &Section<'_>) -> Result<Option<Vec<ForeignSet>>, StudyError> {
    const SETS: &str = "a list of data sets with pictures, and of tables as in { name = \"mine\", \
                        inputs = \"foreign.npy\" }, no name twice, those of your own of letters, \
                        digits, `-` and `_`";
    let Some(sets) = section.get::<Vec<ForeignSet>>("sets", SETS)? else { return Ok(None) };
    let mut names: Vec<&str> = Vec::new();
    for set in &sets {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let sound = match set {
            ForeignSet::Known(name) if WITH_IMAGES.contains(&name.as_str()) => true,
            ForeignSet::Known(name) => {
                let (key, place) = (section.key("sets"), section.place("sets"));
                return Err(unknown(&key, name, WITH_IMAGES.iter().copied(), &place));
            }
            ForeignSet::Own(own) => {
                !own.name.is_empty() && own.name.chars().all(plain) && !own.inputs.is_empty()
            }
        };
        if !sound || names.contains(&set.name()) {
            return Err(section.unexpected("sets", SETS).into());
        }
        names.push(set.name());
    }
    Ok(Some(sets))
}

fn read(section: &Section<'_>, _: &[SliceRule]) -> Result<Arc<dyn Examiner>, StudyError> {
    let usual = || ["svhn", "cifar100"].map(|name| ForeignSet::Known(name.to_owned())).to_vec();
    let scores = match section.get::<Vec<String>>("scores", "a list of scores")? {
        None => SCORES.iter().filter(|score| USUAL.contains(&score.about.name)).collect(),
        Some(names) => {
            let known = || SCORES.iter().map(|score| score.about.name);
            let (key, place) = (section.key("scores"), section.place("scores"));
            let find =
                |name: &String| score(name).ok_or_else(|| unknown(&key, name, known(), &place));
            names.iter().map(find).collect::<Result<_, _>>()?
        }
    };
    // The spread that is told is that over seeds.
    let mut chosen = Chosen { replicates: 0, ..Chosen::default() };
    chosen.neighbours = count(section, "neighbours", MANY)?.unwrap_or(chosen.neighbours);
    let epsilon = section.checked("epsilon", "a number, at least 0", |epsilon: f64| {
        (epsilon >= 0.0 && epsilon.is_finite()).then_some(epsilon)
    })?;
    chosen.epsilon = epsilon.unwrap_or(chosen.epsilon);
    Ok(Arc::new(Detection {
        sets: sets(section)?.unwrap_or_else(usual),
        scores,
        items: count(section, "items", MANY)?,
        chosen,
    }))
}

fn named(set: &str, score: &str, figure: &str) -> String {
    format!("{set}.{score}.{figure}")
}

/// A data set as it is written in tables.
fn shown(name: &str) -> &str {
    match name {
        "svhn" => "SVHN",
        "cifar100" => "CIFAR-100",
        "cifar10h" => "CIFAR-10H",
        "cifar10n" => "CIFAR-10N",
        other => other,
    }
}

impl Examiner for Detection {
    fn settings(&self) -> Value {
        json!({
            "sets": self.sets.iter().map(ForeignSet::told).collect::<Vec<_>>(),
            "scores": self.scores.iter().map(|score| score.about.name).collect::<Vec<_>>(),
            "items": self.items,
            "chosen": self.chosen,
        })
    }

    fn metrics(&self) -> Vec<Metric> {
        let metric = |set: &str, score: &About, figure: &About| Metric {
            name: named(set, score.name, figure.name),
            title: format!("{} {} {}", shown(set), score.short, figure.short),
            better: figure.direction,
            digits: 4,
            what: format!(
                "{} of {} in detecting items of {set} among those of the study",
                capital(figure.title),
                score.title
            ),
            formula: format!("score: {}; figure: {}", score.formula, figure.formula),
            settings: format!(
                "inside is the reported part; ε = {}, {} neighbours. Score: {}",
                self.chosen.epsilon, self.chosen.neighbours, score.settings
            ),
            source: score.reference.to_owned(),
        };
        let mut metrics = Vec::new();
        for set in &self.sets {
            for score in &self.scores {
                let figures = FIGURES.iter().map(|figure| &figure.about);
                metrics.extend(figures.map(|figure| metric(set.name(), &score.about, figure)));
            }
        }
        metrics
    }

    fn needs(&self) -> Vec<&str> {
        self.sets.iter().map(ForeignSet::source).collect()
    }

    fn examine(&self, runs: &[Finished<'_>], models: &Models<'_>) -> Found {
        let mut outside = Vec::new();
        for set in &self.sets {
            let inputs = models.inputs(set.source())?;
            let inputs = match self.items {
                Some(most) if most < inputs.len() => inputs.select(&(0..most).collect::<Vec<_>>()),
                _ => (*inputs).clone(),
            };
            outside.push(Outside::named(set.name().to_owned(), inputs));
        }
        let asked = OodSettings {
            scores: self.scores.iter().map(|score| score.about.name.to_owned()).collect(),
            chosen: self.chosen,
            ..OodSettings::default()
        };
        let mut all = Vec::new();
        for run in runs {
            let mut model = models.open(run)?;
            let found = ood(&mut model, &outside, models.device(), &asked, &models.observer)?;
            let number =
                |row: &Row| Number::new(&named(&row.out, row.score, row.figure), "all", row.value);
            all.push(Some(Kept::of(found.rows.iter().map(number).collect())));
        }
        Ok(all)
    }
}
