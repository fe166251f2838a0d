//! How well a run's model tells foreign inputs from those that it is judged on, as metrics named by
//! set, score and figure: `svhn.energy.auroc`. Sets are those of the catalogue that have pictures, and
//! files or folders of one's own.

use std::sync::Arc;

use dissensus_engine::Precision;
use dissensus_examine::{Observer, OodSettings, Outside, ood};
use dissensus_inputs::WITH_IMAGES;
use dissensus_measure::About;
use dissensus_measure::ood::{FIGURES, OodScore, OodSettings as Chosen, SCORES, score};
use dissensus_report::book::Metric;
use serde::Deserialize;
use serde_json::{Value, json};

use super::settings::{self, precision};
use super::{Among, Examiner, Info, Kept, Made, capital};
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::study::unknown;
use crate::{Bench, Number, StudyError};

pub(super) const INFO: Info = Info {
    name: "ood",
    about: "out-of-distribution detection of other data sets; needs the weights",
    always: false,
    read,
};

/// The scores where a study names none: as many as ever, so that what is kept of old studies is found.
const USUAL: [&str; 6] = ["energy", "msp", "odin", "entropy", "margin", "knn"];

struct Detection {
    among: Among,
    sets: Vec<ForeignSet>,
    scores: Vec<&'static OodScore>,
    /// At most so many items of each set, the first of them.
    items: Option<usize>,
    chosen: Chosen,
    precision: Precision,
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
fn sets(section: &Section<'_, '_, '_>) -> Result<Option<Vec<ForeignSet>>, StudyError> {
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

fn read(section: Option<&Section<'_, '_, '_>>, _: &[SliceRule]) -> Result<Made, StudyError> {
    const KEYS: [&str; 6] = ["sets", "scores", "items", "neighbours", "epsilon", "precision"];
    let among = settings::among(section, &KEYS)?;
    let mut stage = Detection {
        among,
        sets: ["svhn", "cifar100"].map(|name| ForeignSet::Known(name.to_owned())).to_vec(),
        scores: SCORES.iter().filter(|score| USUAL.contains(&score.about.name)).collect(),
        items: None,
        // The spread that is told is that over seeds.
        chosen: Chosen { replicates: 0, ..Chosen::default() },
        precision: Precision::F32,
    };
    let Some(section) = section else { return Ok(Made::Examiner(Arc::new(stage))) };
    if let Some(sets) = sets(section)? {
        stage.sets = sets;
    }
    if let Some(names) = section.get::<Vec<String>>("scores", "a list of scores")? {
        let find = |name: &String| {
            let known = SCORES.iter().map(|score| score.about.name);
            let (key, place) = (section.key("scores"), section.place("scores"));
            score(name).ok_or_else(|| unknown(&key, name, known, &place))
        };
        stage.scores = names.iter().map(find).collect::<Result<_, _>>()?;
    }
    stage.items = settings::count(section, "items")?;
    let neighbours = settings::count(section, "neighbours")?;
    stage.chosen.neighbours = neighbours.unwrap_or(stage.chosen.neighbours);
    const EPSILON: &str = "a number, at least 0";
    match section.get::<f64>("epsilon", EPSILON)? {
        Some(epsilon) if epsilon >= 0.0 && epsilon.is_finite() => stage.chosen.epsilon = epsilon,
        Some(_) => return Err(section.unexpected("epsilon", EPSILON).into()),
        None => {}
    }
    stage.precision = precision(section)?;
    Ok(Made::Examiner(Arc::new(stage)))
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
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn settings(&self) -> Value {
        json!({
            "format": 1,
            "sets": self.sets.iter().map(ForeignSet::told).collect::<Vec<_>>(),
            "scores": self.scores.iter().map(|score| score.about.name).collect::<Vec<_>>(),
            "items": self.items,
            "chosen": self.chosen,
            "precision": self.precision,
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

    fn among(&self) -> &Among {
        &self.among
    }

    fn needs(&self) -> Vec<&str> {
        self.sets.iter().map(ForeignSet::source).collect()
    }

    fn examine(
        &self,
        runs: &[Finished<'_>],
        bench: &Bench<'_>,
        observer: &Observer<'_>,
    ) -> Result<Vec<Option<Kept>>, StudyError> {
        let mut outside = Vec::new();
        for set in &self.sets {
            let inputs = bench.inputs(set.source())?;
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
            let mut model = bench.open(run, self.precision)?;
            let found = ood(&mut model, &outside, bench.device(), &asked, observer)?;
            let number = |row: &dissensus_measure::ood::Row| {
                Number::new(&named(&row.out, row.score, row.figure), "all", row.value)
            };
            let numbers = found.rows.iter().map(number).collect();
            all.push(Some(Kept { numbers, ..Kept::default() }));
        }
        Ok(all)
    }
}
