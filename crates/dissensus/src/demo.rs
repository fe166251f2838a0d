//! The demo: delivery methods on generated data, evaluated against the true distributions.

use std::sync::Arc;

use dissensus_data::blends::Blends;
use dissensus_measure::{Judged, Matrix, ModelOutput, Scorer, Settings, Targets, Truth, metric};
use dissensus_report::book::Book;
use dissensus_report::claims::{Answer, answer};
use dissensus_report::tables::{self, TableSpec};
use dissensus_sources::blends_material;
use dissensus_stats::LEVEL;
use dissensus_store::{RunId, Store, Which};
use dissensus_studies::{Plan, PlanOptions, RunSummary, Study, SummaryColumn, summarize_runs};
use dissensus_train::spec::Setting;
use dissensus_train::{EndedJob, Place};

use crate::Error;

/// Votes per item in the sparse half of the demo.
pub const VOTES: u64 = 5;

/// The title of the column of KL to the true distribution.
const TRUE_KL: &str = "KL to p*";

/// The study of the demo, with so many epochs per run and seeds per method.
pub fn study(blends: &Blends, epochs: u64, seeds: u64) -> Result<Study, Error> {
    let whole = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let settings = [("data.items", whole(blends.len() as u64)), ("training.epochs", whole(epochs))];
    let settings = settings.iter().flat_map(|(path, n)| Setting::of(path, *n, &Place::Call));
    let seeds: Vec<u64> = (0..seeds).collect();
    Ok(Study::builtin("demo")?.with_settings(settings.collect())?.seeded(&seeds))
}

/// The demo's study, on these data.
pub fn plan<'s>(study: &'s Study, blends: &Blends) -> Result<Plan<'s>, Error> {
    Ok(study.choose(&PlanOptions::default())?.plan(vec![blends_material(blends)?])?)
}

/// The finished runs of the demo, by arm.
pub fn summarize(ended: &[EndedJob], store: &Store, blends: &Blends) -> RunSummary {
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

/// What the demo shows: the question, each claim with its verdict and test, and which methods differ
/// from soft labels by the tests of the study's main table.
pub fn sentences(book: &Book) -> Result<String, Error> {
    let mut lines = vec![book.opening.question.clone()];
    for claim in &book.claims {
        let Answer { heading, sentence, .. } = answer(claim, book)?;
        lines.push(format!("{heading}: {sentence}"));
    }
    let is_main = |spec: &&TableSpec| spec.against.is_some();
    let Some(spec) = book.tables.iter().find(is_main) else { return Ok(lines.join("\n")) };
    let table = tables::prepare(spec, book)?;
    let numbers = || table.numbers().filter(|number| number.at.metric == "true_kl");
    let tests = || numbers().filter_map(|number| Some((number, number.test.as_ref()?)));
    let Some((_, first)) = tests().next() else { return Ok(lines.join("\n")) };
    let exact = if first.exact { "exact " } else { "" };
    let limit = first.smallest.filter(|p| *p >= LEVEL);
    let limit = limit.map_or(String::new(), |p| format!("; smallest possible p {p}"));
    lines.push(format!(
        "\n{TRUE_KL} against {} ({exact}two-sided paired Wilcoxon test over {} seeds, Holm's correction over {} \
         comparisons{limit}):",
        book.arm_title(&first.against),
        first.pairs,
        first.family
    ));
    let few = (u32::try_from(VOTES).ok(), format!("{VOTES} votes per item"));
    for (k, votes) in [few, (None, "all votes".to_owned())] {
        let (mut apart, mut alike) = (Vec::new(), Vec::new());
        for (number, test) in tests().filter(|(number, _)| number.at.k == k) {
            let p = test.p_words().unwrap_or("no p".to_owned());
            let words = format!("{} ({p})", book.arm_title(&number.at.arm));
            let differs = test.corrected.or(test.p).is_some_and(|p| p < LEVEL);
            if differs { apart.push(words) } else { alike.push(words) }
        }
        let kinds = [("significantly different", apart), ("not significant", alike)];
        let kinds = kinds.iter().filter(|(_, arms)| !arms.is_empty());
        let kinds: Vec<_> =
            kinds.map(|(kind, arms)| format!("{kind}: {}", arms.join(", "))).collect();
        lines.push(format!("  {votes}: {}", kinds.join("; ")));
    }
    Ok(lines.join("\n"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use dissensus_report::book::{Named, Row};

    use super::*;

    /// Results of so many seeds: every seed of the majority label is above soft labels and every seed of
    /// multipass below; stochastic labels are on both sides.
    fn book(seeds: u64) -> Book {
        let study = Study::builtin("demo").unwrap();
        let row = |arm: &str, k: Option<u32>, seed: u64| {
            let other = 0.01 * (seed + 1) as f64;
            let value = match arm {
                "majority" => 0.7 + other,
                "multipass" => 0.4 - other,
                "sls" if seed.is_multiple_of(2) => 0.5 + other,
                "sls" => 0.5 - other,
                _ => 0.5,
            };
            Row {
                dataset: "blends".into(),
                arm: arm.into(),
                k,
                seed,
                metric: "true_kl".into(),
                slice: "all".into(),
                value: Some(value),
                run: format!("{arm}{k:?}{seed}"),
                ..Row::default()
            }
        };
        let arms = || ["soft", "multipass", "sls", "majority"].into_iter();
        let cells = arms().flat_map(|arm| [(arm, Some(5)), (arm, None)]);
        Book {
            datasets: vec![Named { name: "blends".into(), title: "blends".into() }],
            metrics: study.metrics(),
            rows: cells
                .flat_map(|(arm, k)| (0..seeds).map(move |seed| row(arm, k, seed)))
                .collect(),
            opening: study.opening,
            claims: study.claims,
            tables: study.tables,
            ..Book::default()
        }
    }

    #[test]
    fn differences_are_said_with_their_tests() {
        let said = sentences(&book(8)).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[1].starts_with("Holds: Soft labels bring"), "{said}");
        assert!(
            lines[1].contains("all votes: 0.5000 against 0.7450, p = 0.004; 8 seeds"),
            "{said}"
        );
        // One of two arms is not below soft labels.
        assert!(lines[2].starts_with("Holds in part: With 5 votes per item"), "{said}");
        // 2/256 in each of four comparisons of six.
        let few = "  5 votes per item: significantly different: multipass (p = 0.047), majority (p = 0.047); \
                   not significant: sls (p = ";
        assert!(said.contains(few), "{said}");
        assert!(said.contains("over 8 seeds, Holm's correction over 6 comparisons):"), "{said}");
    }

    #[test]
    fn few_seeds_decide_nothing() {
        let said = sentences(&book(2)).unwrap();
        assert!(said.contains("Not decided: Soft labels bring"), "{said}");
        assert!(said.contains("2 pairs can give no p up to 0.05"), "{said}");
        assert!(said.contains("smallest possible p 0.5):"), "{said}");
        assert!(!said.contains("significantly different"), "{said}");
    }
}
