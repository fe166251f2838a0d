//! The demo: delivery methods on generated data, evaluated against the true distributions.

use std::sync::Arc;

use dissensus_data::blends::Blends;
use dissensus_measure::{
    Direction, Judged, Matrix, ModelOutput, Scorer, Settings, Targets, Truth, metric,
};
use dissensus_report::book::Book;
use dissensus_report::tables::{self, Number, Test};
use dissensus_stats::LEVEL;
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

/// What the demo shows: a sentence for few votes and one for all, by the tests of the study's main
/// table.
pub fn demo_sentences(book: &Book) -> Result<String, Error> {
    let Some(spec) = book.tables.first() else { return Ok(String::new()) };
    let table = tables::prepare(spec, book)?;
    let line = |(k, votes): (Option<u32>, String)| {
        let of = |number: &&Number| number.at.metric == "true_kl" && number.at.k == k;
        let numbers: Vec<&Number> = table.numbers().filter(of).collect();
        let arms = ["soft", "multipass", "sls", "majority"].iter().filter_map(|name| {
            let number = numbers.iter().find(|number| number.at.arm == *name)?;
            Some(format!("{} {:.3}", book.arm_title(name), number.mean?))
        });
        let arms = arms.collect::<Vec<_>>().join(", ");
        let tests = || numbers.iter().filter_map(|n| Some((&n.at.arm, n.test.as_ref()?)));
        let p = |test: &Test| test.corrected.or(test.p);
        let apart = tests().filter(|(_, test)| p(test).is_some_and(|p| p < LEVEL));
        let apart: Vec<&str> = apart.map(|(arm, _)| book.arm_title(arm)).collect();
        let floor = tests().find_map(|(_, test)| Some((test.smallest?, test.pairs)));
        let said = match (apart.is_empty(), floor) {
            (false, _) => format!("significantly different from soft labels: {}", apart.join(", ")),
            (true, Some((p, seeds))) if p >= LEVEL => {
                format!("no significant difference (smallest possible p {p} with {seeds} seeds)")
            }
            (true, _) => "no significant difference".to_owned(),
        };
        format!("With {votes}, {TRUE_KL} is: {arms};\n{said}.")
    };
    let few = (u32::try_from(DEMO_VOTES).ok(), format!("{DEMO_VOTES} votes per item"));
    Ok([few, (None, "all votes".to_owned())].map(line).join("\n"))
}
