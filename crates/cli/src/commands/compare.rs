//! `dissensus compare`

use std::path::PathBuf;

use dissensus::core::VoteTable;
use dissensus::measure::Score;
use dissensus::stats::Alternative;
use dissensus::tables::{differences_table, seed_tests_table};
use dissensus::{ScoreError, ScoreOptions, compare_items, compare_seeds};

use crate::args::EvaluateArgs;
use crate::ui::table::{Form, print};
use crate::ui::{self, paint, progress::Terminal};

/// Compare models on the same items, or methods over paired seeds.
///
/// Over items: `--predictions A B C` compares B and C with A, item by item, with a bootstrap
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
    let options = args.evaluation.options()?;
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

/// Models on the same items: differences with bootstrap intervals.
fn items(args: &Args, options: &ScoreOptions, table: &VoteTable) -> anyhow::Result<()> {
    let models = args.evaluation.evaluate(table, &args.predictions, options, true)?;
    if let Some(more) = models.iter().find(|model| model.matched_items > model.items.len()) {
        let (items, name, own) = (models[0].items.len(), &more.name, more.matched_items);
        ui::note(&format!(
            "the models predict different items ({name}: {own}); all are compared on the {items} that \
             every one of them predicts"
        ));
    }
    let found = compare_items(&models, options, &Terminal::named("comparing"))?;
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
    // One file after the other: only its metrics are kept.
    let mut items: Option<Vec<usize>> = None;
    let mut differ = false;
    let mut values = |file: &PathBuf| -> anyhow::Result<Vec<Score>> {
        let models = args.evaluation.evaluate(table, std::slice::from_ref(file), options, false)?;
        let [model] = &models[..] else {
            anyhow::bail!("{} holds several models: give one per seed", file.display());
        };
        differ |= *items.get_or_insert_with(|| model.items.clone()) != model.items;
        Ok(model.values(options)?)
    };
    let a = args.a.iter().map(&mut values).collect::<anyhow::Result<Vec<_>>>()?;
    let b = args.b.iter().map(values).collect::<anyhow::Result<Vec<_>>>()?;
    let found = compare_seeds(&a, &b, alternative)?;
    if differ {
        ui::note("the files predict different items; each seed is evaluated on its own");
    }
    for name in &found.untested {
        ui::err(&format!("{name}: undefined or infinite for a seed, not tested\n"));
    }
    if args.json {
        return ui::json(&found);
    }
    print(&[seed_tests_table(&found.tests, Form::Terminal)], Form::Terminal)?;
    Ok(ui::out(&format!("\n{}\n", paint::dim(&found.note)))?)
}
