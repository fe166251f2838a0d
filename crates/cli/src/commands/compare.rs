//! `dissensus compare`

use std::path::PathBuf;

use dissensus::core::VoteTable;
use dissensus::stats::Alternative;
use dissensus::tables::{differences_table, seed_tests_table};
use dissensus::{
    Evaluated, ModelReading, ScoreError, ScoreOptions, SeedComparison, check_pair, compare_items,
    compare_seeds,
};
use serde::Serialize;

use crate::args::{EvaluateArgs, Models};
use crate::ui::table::{Form, print};
use crate::ui::{self, paint, progress::Terminal, text};

/// Compare models on the same items, or methods over paired seeds.
///
/// Over items: `--predictions A B C` compares B and C with A, item by item, with a 95 %
/// interval over the items. The interval holds for these trained models; it does not tell
/// whether the method would win again with other seeds.
///
/// Over seeds: `--a A1 A2 … --b B1 B2 …` pairs the files in order and tests the differences of
/// each metric exactly (Wilcoxon signed-rank), corrected over the metrics (Holm), with effect
/// sizes and the smallest p-value that this number of pairs can reach.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Models to compare: the others are compared with the first
    #[arg(long, value_name = "FILE", num_args = 2.., conflicts_with_all = ["a", "b"])]
    predictions: Vec<PathBuf>,
    /// Predictions of one method, one file per seed
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "b")]
    a: Vec<PathBuf>,
    /// Predictions of the other method, with the seeds in the same order
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "a")]
    b: Vec<PathBuf>,
    /// One-sided tests: `b` is `less` or `greater` than `a` [default: two-sided]
    #[arg(long, value_name = "SIDE", value_parser = ["less", "greater"])]
    alternative: Option<String>,
    /// Print as JSON, with every setting
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    evaluation: EvaluateArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let files = [&args.predictions[..], &args.a, &args.b].concat();
    let options = args.evaluation.options(&files)?;
    anyhow::ensure!(
        !args.predictions.is_empty() || !args.a.is_empty(),
        "nothing to compare: give --predictions A B, or --a A1 A2 … --b B1 B2 …"
    );
    // Before any file is read.
    if args.a.len() != args.b.len() {
        return Err(ScoreError::NotPaired { a: args.a.len(), b: args.b.len() }.into());
    }
    let table = args.evaluation.read_votes()?;
    if args.a.is_empty() { items(args, &options, &table) } else { seeds(args, &options, &table) }
}

/// Models on the same items: differences with intervals.
fn items(args: &Args, options: &ScoreOptions, table: &VoteTable) -> anyhow::Result<()> {
    let models = args.evaluation.evaluate(table, &args.predictions, options, Models::Common)?;
    let found = compare_items(&models, options, &Terminal::named("comparing"))?;
    for model in found.models.iter().filter(|model| model.left_out > 0) {
        ui::note(&format!(
            "{}: {} of its {} items are left out, because not all models predict them",
            model.model,
            text::thousands(model.left_out),
            text::thousands(model.items)
        ));
    }
    if args.json {
        return ui::json(&found);
    }
    print(&[differences_table(&found, Form::Terminal)], Form::Terminal)?;
    ui::remark(&format!(
        "over {} common items; bold: the interval excludes 0. It holds for these trained models; for \
         methods, compare paired seeds with --a and --b.",
        found.items
    ));
    Ok(())
}

/// Methods over paired seeds: exact tests, Holm over the metrics, effect sizes, the power note.
fn seeds(args: &Args, options: &ScoreOptions, table: &VoteTable) -> anyhow::Result<()> {
    let alternative = match args.alternative.as_deref() {
        Some("less") => Alternative::Less,
        Some(_) => Alternative::Greater,
        None => Alternative::TwoSided,
    };
    // One pair after the other: only metrics are kept.
    let (mut a, mut b, mut models) = (Vec::new(), Vec::new(), Vec::new());
    for (first, second) in args.a.iter().zip(&args.b) {
        let first = one_model(args, first, options, table)?;
        let second = one_model(args, second, options, table)?;
        check_pair((&first.name, &first.items), (&second.name, &second.items))?;
        a.push(first.values(options)?);
        b.push(second.values(options)?);
        models.extend([first.reading(), second.reading()]);
    }
    let found = compare_seeds(&a, &b, alternative)?;
    for name in &found.untested {
        ui::err(&format!("{name}: undefined or infinite for a seed, not tested\n"));
    }
    if args.json {
        return ui::json(&SeedReport { found: &found, models: &models });
    }
    print(&[seed_tests_table(&found.tests, Form::Terminal)], Form::Terminal)?;
    Ok(ui::out(&format!("\n{}\n", paint::dim(&found.note)))?)
}

/// The seed comparison, and how each file was read, pair after pair.
#[derive(Serialize)]
struct SeedReport<'a> {
    #[serde(flatten)]
    found: &'a SeedComparison,
    models: &'a [ModelReading],
}

/// The only model of a file.
fn one_model(
    args: &Args,
    file: &PathBuf,
    options: &ScoreOptions,
    table: &VoteTable,
) -> anyhow::Result<Evaluated> {
    let files = std::slice::from_ref(file);
    let mut models = args.evaluation.evaluate(table, files, options, Models::Each)?;
    match (models.pop(), models.is_empty()) {
        (Some(model), true) => Ok(model),
        _ => anyhow::bail!("{} holds several models: give one per seed", file.display()),
    }
}
