//! The demo: delivery methods on generated data, evaluated against the true distributions.

use std::sync::Arc;

use dissensus_data::blends::Blends;
use dissensus_measure::{
    Direction, Judged, Matrix, ModelOutput, Scorer, Settings, Targets, Truth, metric,
};
use dissensus_store::{RunId, Store, Which};
use dissensus_studies::{
    LoadError, Material, Plan, PlanOptions, RunSummary, Study, SummaryColumn, summarize_runs,
};
use dissensus_train::EndedJob;
use dissensus_train::spec::Data;

use crate::{Error, blends_material};

/// Votes per item in the sparse half of the demo.
pub const DEMO_VOTES: u64 = 5;

/// The title of the column of KL to the true distribution.
const TRUE_KL: &str = "KL to p*";

/// The study of the demo, with so many epochs per run and seeds per method.
pub fn demo_study(blends: &Blends, epochs: u64, seeds: u64) -> Result<Study, Error> {
    let sets = [format!("data.items={}", blends.len()), format!("training.epochs={epochs}")];
    let seeds: Vec<u64> = (0..seeds).collect();
    Ok(Study::builtin("demo")?.with_overrides(&sets)?.seeded(&seeds))
}

/// The demo's study, on these data.
pub fn plan_demo<'s>(study: &'s Study, blends: &Blends) -> Result<Plan<'s>, Error> {
    let mut load = |_: &Data| -> Result<Material, LoadError> { Ok(blends_material(blends)?) };
    Ok(study.plan(&PlanOptions::default(), &mut load)?)
}

/// The finished runs of the demo, by arm.
pub fn summarize_demo(ended: &[EndedJob], store: &Store, blends: &Blends) -> RunSummary {
    let named = |(name, title): (&str, &str)| {
        let column = SummaryColumn::metric(metric(name)?, Which::Best);
        Some(SummaryColumn { name: title.into(), ..column })
    };
    let first = [("soft_nll", "soft NLL"), ("kl", "KL to votes")];
    let rest =
        [("accuracy", "accuracy"), ("ece_mass", "ECE"), ("entropy_spearman", "entropy corr.")];
    let mut columns: Vec<SummaryColumn<'_>> = first.into_iter().filter_map(named).collect();
    columns.push(SummaryColumn {
        name: TRUE_KL.into(),
        direction: Direction::Lower,
        value: Box::new(|run, _| true_kl(store, blends, run)),
    });
    columns.extend(rest.into_iter().filter_map(named));
    summarize_runs(ended, &columns, Which::Best)
}

/// KL(p* ‖ q) of the selected epoch, where p* is the distribution that the votes were drawn from.
fn true_kl(store: &Store, blends: &Blends, run: &EndedJob) -> Option<f64> {
    let id: RunId = run.id.parse().ok()?;
    let predictions = store.run(&id).ok()?.predictions(Which::Best).ok()??;
    let items = blends.table().items();
    let rows: Vec<f64> = predictions
        .ids()
        .iter()
        .filter_map(|id| Some(blends.truth(items.position(id)?)))
        .flatten()
        .copied()
        .collect();
    let classes = predictions.classes().len();
    let truth = Truth::new(Targets::Probabilities(Matrix::new(&rows[..], classes).ok()?)).ok()?;
    let logits = ModelOutput::Logits(Matrix::new(predictions.logits(), classes).ok()?);
    let judged = Judged::new(Arc::new(truth), logits).ok()?;
    (metric("kl")?.compute)(&Scorer::new(&judged, Settings::default()).ok()?).value
}

/// What the demo shows, in two sentences; empty where arms are missing.
pub fn demo_sentences(summary: &RunSummary) -> String {
    let kl = |method: &str, votes: &str| {
        let arm = summary.arms.iter().find(|arm| arm.arm == format!("{method} · {votes}"))?;
        arm.figures.iter().find(|figure| figure.metric == TRUE_KL)?.mean
    };
    let few = format!("{DEMO_VOTES} votes");
    let few = ["soft", "multipass", "sls", "majority"].map(|method| kl(method, &few));
    let all = ["soft", "multipass"].map(|method| kl(method, "all votes"));
    let ([Some(soft), Some(pass), Some(sls), Some(majority)], [Some(soft_all), Some(pass_all)]) =
        (few, all)
    else {
        return String::new();
    };
    let better = |a: f64, b: f64| if a < b { "closer to" } else { "farther from" };
    format!(
        "With {DEMO_VOTES} votes per item, delivering them one by one (multipass {pass:.3}, sls \
         {sls:.3}) lands {} the truth than their average as a soft target ({soft:.3}),\nand the \
         majority label alone, which throws the disagreement away, {} ({majority:.3}). With all \
         votes, multipass lands {} it than soft ({pass_all:.3} and {soft_all:.3}).",
        better(pass.max(sls), soft),
        if majority > soft.max(pass).max(sls) { "farthest" } else { "not farthest" },
        better(pass_all, soft_all),
    )
}
