//! Predictions that need no model, judged on the items that runs are judged on: what is worse than
//! these has learned nothing, and nothing is better than the votes themselves.

use std::collections::BTreeSet;

use dissensus_core::results::Row;
use dissensus_measure::{Judged, Matrix, ModelOutput};
use dissensus_store::Which;
use dissensus_train::parts;
use rayon::prelude::*;

use crate::collect::Gathered;
use crate::finished::Finished;
use crate::{Job, Number, Plan, StudyError};

/// Scores of distributions: a uniform prediction has no class, and no value of other metrics.
const SCORES: [&str; 4] = ["soft_nll", "kl", "soft_brier", "true_kl"];
/// Those that nothing is below the votes themselves in: the bound of the soft NLL is their entropy,
/// that of KL is 0.
const BOUNDED: [&str; 3] = ["soft_nll", "kl", "soft_brier"];

/// The results of baselines for every data set and seed that has a finished run.
pub(super) fn rows(plan: &Plan<'_>, gathered: &Gathered) -> Result<Vec<Row>, StudyError> {
    let mut seen = BTreeSet::new();
    let ran = gathered.jobs.iter().filter(|job| gathered.ran.contains_key(&job.id));
    let jobs: Vec<&Job> = ran.filter(|job| seen.insert((&job.dataset, job.seed))).collect();
    let each = |job: &&Job| of_split(plan, gathered, job);
    Ok(jobs.par_iter().map(each).collect::<Result<Vec<_>, _>>()?.concat())
}

/// The baselines on the items that a run is judged on, by the votes that it is trained on.
fn of_split(plan: &Plan<'_>, gathered: &Gathered, job: &Job) -> Result<Vec<Row>, StudyError> {
    let Some(ran) = gathered.ran.get(&job.id) else { return Ok(Vec::new()) };
    let material = plan.material(job);
    let finished = Finished { job, info: &ran.info, result: &ran.result, material };
    let (places, judged) = finished.judged(Which::Best)?;
    let wrong = |reason: String| StudyError::Run { id: job.id.clone(), reason };
    let split = parts(&material.task, &job.run).map_err(|error| wrong(error.to_string()))?;
    let train = split.first().ok_or_else(|| wrong("it has no training part".to_owned()))?;
    let classes = judged.truth().classes();
    let mut prior = vec![0.0; classes];
    for &at in train {
        let voted = &material.task.truth().targets()[at * classes..][..classes];
        prior.iter_mut().zip(voted).for_each(|(sum, share)| *sum += share / train.len() as f64);
    }
    let uniform = vec![1.0 / classes as f64; classes];
    let baselines = [
        ("baseline: class prior", prior.repeat(places.len()), None),
        ("baseline: uniform", uniform.repeat(places.len()), Some(&SCORES[..])),
        ("baseline: the votes themselves", judged.truth().targets().to_vec(), Some(&BOUNDED[..])),
    ];
    let mut rows = Vec::new();
    for (name, shares, only) in baselines {
        let output = ModelOutput::Probabilities(Matrix::new(&shares[..], classes)?);
        let predicted = Judged::new(judged.truth().clone(), output)?;
        for (_, stage) in &plan.study().stages.stages {
            let numbers = stage.of_predictions(material, &places, &predicted, only)?;
            let wanted = |number: &Number| {
                only.is_none_or(|only| only.contains(&number.metric.trim_end_matches(".last")))
            };
            rows.extend(numbers.into_iter().filter(wanted).map(|number| Row {
                arm: name.to_owned(),
                k: None,
                run: String::new(),
                ..plan.row(job, number)
            }));
        }
    }
    Ok(rows)
}
