//! How well a run's model tells foreign inputs from those that it is judged on.
//!
//! Inside are the items of a part of the split, outside other data sets, normalized as the run's
//! training images were. Every score is "higher = more out-of-distribution"; distances are to the
//! features of all items that the run was trained on.

use dissensus_engine::network::Shape;
use dissensus_engine::{Dataset, Device, Link, Precision, Runner};
use dissensus_inputs::Inputs;
use dissensus_measure::ood::{
    Needs, OodInput, OodScore, OodSettings as Chosen, Row, SCORES, rows as detection_rows, score,
};
use dissensus_measure::{Matrix, MeasureError, ModelOutput};
use dissensus_train::{describe_shape, engine_dataset};
use serde::{Deserialize, Serialize};

use crate::model::in_strides;
use crate::{ExamineError, Model, Observer, Slice};

/// A data set of foreign inputs.
#[derive(Clone, Debug)]
pub struct Outside {
    /// What it is called in tables.
    pub name: String,
    /// Its images or vectors, not normalized yet.
    data: Dataset,
}

impl Outside {
    /// These inputs, under the name of their own.
    pub fn new(inputs: Inputs) -> Self {
        Self::named(inputs.name().to_owned(), inputs)
    }

    /// These inputs under another name.
    pub fn named(name: impl Into<String>, inputs: Inputs) -> Self {
        let data = engine_dataset(&inputs, None);
        Self { name: name.into(), data }
    }

    /// How many inputs.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// True without inputs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of one of them.
    pub fn shape(&self) -> Shape {
        self.data.shape()
    }

    /// The inputs as a model takes them.
    fn like(&self, model: &Model) -> Result<Dataset, ExamineError> {
        let mut data = self.data.clone();
        let fits = match (model.dataset(), &mut data) {
            (
                Dataset::Images { mean, deviation, .. },
                Dataset::Images { mean: own_mean, deviation: own_deviation, .. },
            ) => {
                own_mean.clone_from(mean);
                own_deviation.clone_from(deviation);
                true
            }
            (Dataset::Vectors { .. }, Dataset::Vectors { .. }) => true,
            _ => false,
        };
        if fits && data.shape() == model.dataset().shape() {
            return Ok(data);
        }
        let (expected, found) =
            (describe_shape(model.dataset().shape()), describe_shape(self.shape()));
        let (name, id) = (self.name.clone(), model.id().to_owned());
        Err(ExamineError::Shape { name, id, expected, found })
    }
}

/// How to detect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OodSettings {
    /// Which part of the split is inside; `None` for the one that is reported.
    pub part: Option<String>,
    /// The scores by name; none for all.
    pub scores: Vec<String>,
    /// Whether the scores of all items are kept.
    pub keep: bool,
    /// What can be chosen about scores and intervals.
    pub chosen: Chosen,
}

/// The scores of a set's items, in its order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OodScores {
    pub score: String,
    /// The outside set's name; `None` for the inside items.
    pub out: Option<String>,
    /// One number per item, higher = more out-of-distribution.
    pub values: Vec<f64>,
}

/// How well foreign inputs are told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ood {
    pub run: String,
    pub settings: OodSettings,
    /// The part of the split that is inside.
    pub part: String,
    /// Its items.
    pub inside: usize,
    /// The outside sets with their sizes.
    pub outside: Vec<(String, usize)>,
    /// By score, then outside set, then figure.
    pub rows: Vec<Row>,
    /// The scores of all items, where they were to be kept.
    pub scores: Vec<OodScores>,
}

impl Ood {
    /// A figure of a score on a set.
    pub fn row(&self, score: &str, out: &str, figure: &str) -> Option<&Row> {
        self.rows.iter().find(|row| (row.score, &*row.out, row.figure) == (score, out, figure))
    }
}

/// What a model says of a set.
#[derive(Default)]
struct Said {
    logits: Vec<f32>,
    perturbed: Option<Vec<f32>>,
    features: Option<Vec<f32>>,
    width: usize,
}

/// Tells every outside set from the inside items, by every score.
pub fn ood(
    model: &mut Model,
    outside: &[Outside],
    device: &dyn Device,
    settings: &OodSettings,
    observer: &Observer<'_>,
) -> Result<Ood, ExamineError> {
    let scores = chosen(&settings.scores)?;
    check_loss(model, &scores)?;
    // What does not fit is said before anything is computed.
    let data: Vec<Dataset> = outside.iter().map(|set| set.like(model)).collect::<Result<_, _>>()?;
    let inside = model.chosen(settings.part.as_deref(), Slice::All, 1)?;
    let trained = model.trained_on().to_vec();
    let of = &settings.chosen;
    let needs = |needs: Needs| scores.iter().any(|score| score.needs == needs);
    let (perturbed, features) = (needs(Needs::Perturbed), needs(Needs::Features));
    if perturbed && model.settings().precision == Precision::Bf16 {
        // A step of ODIN is smaller than what 8 bits of an input can show.
        let expected = "f32, tf32 or bf16x3 where odin is among the scores".to_owned();
        let (name, value) = ("precision", "bf16".to_owned());
        return Err(ExamineError::Setting { name, value, expected });
    }
    let training = match features {
        true => model.features(&trained, observer)?,
        false => Vec::new(),
    };
    let familiar =
        said(model.runner(), &inside.rows, (perturbed, features), of, "inside", observer)?;
    let mut foreign = Vec::new();
    for (set, data) in outside.iter().zip(&data) {
        let mut runner = model.over(device, data)?;
        let rows: Vec<u32> = (0..data.len() as u32).collect();
        foreign.push(said(&mut *runner, &rows, (perturbed, features), of, &set.name, observer)?);
    }
    let classes = model.classes().len();
    let (mut rows, mut kept) = (Vec::new(), Vec::new());
    let (mut done, most) = (0, scores.len() * outside.len());
    for score in &scores {
        let compute = |said: &Said, set: &str| {
            let told = |source| ExamineError::Ood { set: set.to_owned(), source };
            let input = said.input(&training, classes).map_err(told)?;
            (score.compute)(&input, of).map_err(told)
        };
        let inner = compute(&familiar, "inside items")?;
        for (set, said) in outside.iter().zip(&foreign) {
            let outer = compute(said, &set.name)?;
            rows.extend(detection_rows(score, &set.name, &inner, &outer, of)?);
            if settings.keep {
                kept.push(named(score, Some(&set.name), outer));
            }
            done += 1;
            observer.advanced("scores", done, most)?;
        }
        if settings.keep {
            kept.push(named(score, None, inner));
        }
    }
    Ok(Ood {
        run: model.id().to_owned(),
        settings: settings.clone(),
        part: inside.part,
        inside: inside.rows.len(),
        outside: outside.iter().map(|set| (set.name.clone(), set.len())).collect(),
        rows,
        scores: kept,
    })
}

impl Said {
    fn input<'a>(
        &'a self,
        training: &'a [f32],
        classes: usize,
    ) -> Result<OodInput<'a>, MeasureError> {
        let matrix = |values: &'a [f32]| Matrix::new(values, self.width);
        let features = self.features.as_deref();
        let perturbed = self.perturbed.as_deref().map(|values| Matrix::new(values, classes));
        Ok(OodInput {
            predictions: Some(ModelOutput::Logits(Matrix::new(&self.logits[..], classes)?)),
            perturbed: perturbed.transpose()?,
            features: features.map(matrix).transpose()?,
            training: features.map(|_| matrix(training)).transpose()?,
        })
    }
}

fn said(
    runner: &mut dyn Runner,
    rows: &[u32],
    (perturbed, features): (bool, bool),
    of: &Chosen,
    set: &str,
    observer: &Observer<'_>,
) -> Result<Said, ExamineError> {
    let logits = in_strides(rows, set, observer, |some| Ok(runner.logits(some)?))?;
    let mut said = Said { logits, ..Said::default() };
    if perturbed {
        let (t, epsilon) = (of.odin_temperature, of.epsilon);
        let what = format!("{set}, perturbed");
        let moved =
            in_strides(rows, &what, observer, |some| Ok(runner.perturbed(some, t, epsilon)?))?;
        said.perturbed = Some(moved);
    }
    if features {
        let what = format!("{set}, features");
        let values = in_strides(rows, &what, observer, |some| Ok(runner.features(some)?))?;
        said.width = values.len() / rows.len().max(1);
        said.features = Some(values);
    }
    Ok(said)
}

/// Refuses scores of softmax outputs for a model that has none: energies of logits, and moved inputs.
fn check_loss(model: &Model, scores: &[OodScore]) -> Result<(), ExamineError> {
    let loss = model.network().head().loss;
    let of_softmax = |score: &&OodScore| matches!(score.needs, Needs::Logits | Needs::Perturbed);
    if loss.link() == Link::Softmax || !scores.iter().any(|score| of_softmax(&score)) {
        return Ok(());
    }
    let names = |of: &dyn Fn(&&OodScore) -> bool| {
        SCORES.iter().filter(of).map(|score| score.about.name).collect::<Vec<_>>().join(", ")
    };
    let (id, loss) = (model.id().to_owned(), loss.name());
    let (needs, others) = (names(&of_softmax), names(&|score| !of_softmax(score)));
    Err(ExamineError::NoSoftmax { id, loss, needs, others })
}

fn chosen(names: &[String]) -> Result<Vec<OodScore>, ExamineError> {
    if names.is_empty() {
        return Ok(SCORES.to_vec());
    }
    let find = |name: &String| {
        score(name).copied().ok_or_else(|| {
            let known: Vec<&str> = SCORES.iter().map(|score| score.about.name).collect();
            let expected = format!("one of {}", known.join(", "));
            ExamineError::Setting { name: "a score", value: format!("{name:?}"), expected }
        })
    };
    names.iter().map(find).collect()
}

fn named(score: &OodScore, out: Option<&str>, values: Vec<f64>) -> OodScores {
    OodScores { score: score.about.name.to_owned(), out: out.map(str::to_owned), values }
}
