//! What every verb gives for some files, as JSON: crates/python/tests/test_parity.py compares it with the command
//! line and with Python, bit by bit.
//!
//!     cargo run -p dissensus --example parity -- FOLDER
//!
//! The folder has `votes.csv`, `long.csv` (also votes), `x.csv` and `y.csv` (predictions), `features.npz` and
//! `study.toml`. The votes of `long.csv` are written as `rust.csv`, `rust.parquet` and `rust.npz`.

use std::error::Error;
use std::path::{Path, PathBuf};

use dissensus::core::results::Row;
use dissensus::engine::Cpu;
use dissensus::labels::{Delivery, Target};
use dissensus::stats::Alternative;
use dissensus::store::Which;
use dissensus::studies::{PlanOptions, Study};
use dissensus::votes::lint::lint;
use dissensus::votes::summary::summarize;
use dissensus::votes::write::{target_of, write_file};
use dissensus::{
    Context, DeliverOptions, FitOptions, LoadContext, Location, RunPlan, ScoreOptions, Silent,
    VoteTable, ceiling, compare_items, compare_seeds, deliver, evaluate, evaluate_common, fit,
    read_inputs, read_predictions, read_votes, study,
};
use serde_json::json;

const SETTINGS: [&str; 6] = [
    "model.name=mlp",
    "model.hidden=8",
    "training.epochs=4",
    "training.optimizer=adam",
    "training.learning_rate=0.01",
    "run.seeds=[5]",
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).map(PathBuf::from).ok_or("expected a folder")?;
    let votes = read_votes(&folder.join("votes.csv"), &Default::default())?;
    let files = ["x.csv", "y.csv"].map(|name| folder.join(name));
    let models = read_predictions(&votes, &files, |_| Default::default())?;

    let metrics = vec!["all".to_owned()];
    let options =
        ScoreOptions { metrics, replicates: Some(100), seed: 3, ..ScoreOptions::default() };
    let scores = evaluate(&votes, &models[0], &options)?.score_by_entropy(4, &options, &Silent)?;
    let all: Vec<usize> = (0..votes.len()).collect();
    let allowed = ceiling(&votes, &all, 5, &options)?;

    let options = ScoreOptions::default();
    let common = evaluate_common(&votes, &models, &options)?;
    let compared = compare_items(&common, &options, &Silent)?;
    let values: Vec<_> =
        common.iter().map(|model| model.values(&options)).collect::<Result<_, _>>()?;
    let (a, b) = (values.clone(), values.into_iter().rev().collect::<Vec<_>>());
    let seeds = compare_seeds(&a, &b, Alternative::TwoSided)?;

    let settings = SETTINGS.map(str::to_owned);
    let inputs =
        read_inputs(&folder.join("features.npz"), &Default::default(), &Default::default())?;
    let plan = RunPlan::of_settings("multipass", &settings)?;
    let trained = fit(&votes, &inputs, &plan, &Cpu, &FitOptions::default())?;
    let judged = trained.predictions(Which::Best);

    let file = folder.join("long.csv");
    let long = read_votes(&file, &Default::default())?;
    for ending in ["csv", "parquet", "npz"] {
        let path = folder.join(format!("rust.{ending}"));
        write_file(&long, &[], &path, target_of(&path)?, false)?;
    }

    let found = json!({
        "inspect": summarize(&long, &[], 5),
        "lint": lint(&file, &Default::default()),
        "study": study(&folder)?,
        "score": scores,
        "ceiling": allowed,
        "compare": compared,
        "compare_seeds": seeds,
        "labels": csv(&votes, "multipass", None)?,
        "targets": csv(&votes, "soft", Some("dirichlet"))?,
        "fit": json!({ "ids": judged.ids(), "logits": judged.logits(), "history": trained.history }),
    });
    Ok(serde_json::to_writer(std::io::stdout().lock(), &found)?)
}

/// The results of the study, run in a store of its own.
fn study(folder: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let study = Study::read(&folder.join("study.toml"))?;
    let plan = study::plan(&study, &PlanOptions::default(), &LoadContext::default())?;
    let location = Location::folder(&folder.join("rust"))?;
    let context = Context::create(&location, study.run_settings()?.execution)?;
    let ended = study::run(&plan, &context)?;
    Ok(ended.results.collected.results().cloned().collect())
}

/// The rows that `dissensus deliver` writes for epochs 2 to 4.
fn csv(votes: &VoteTable, method: &str, target: Option<&str>) -> Result<String, Box<dyn Error>> {
    let target = target.map(str::parse::<Target>).transpose()?;
    let options = DeliverOptions { target, seed: 7, ..DeliverOptions::default() };
    let delivered = deliver(votes, &method.parse::<Delivery>()?, &options)?;
    let mut bytes = Vec::new();
    delivered.write_csv(&(2..5), &mut bytes)?;
    Ok(String::from_utf8(bytes)?)
}
