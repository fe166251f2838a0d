//! `dissensus compare`

use std::path::PathBuf;
use std::process::ExitCode;

use crate::evaluation::EvaluateArgs;

mod items;
mod seeds;

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

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let options = args.evaluation.options()?;
    options.chosen()?;
    let table = args.evaluation.read_votes()?;
    if !args.a.is_empty() {
        return seeds::run(args, &options, &table);
    }
    anyhow::ensure!(
        !args.predictions.is_empty(),
        "nothing to compare: give --predictions A B, or --a A1 A2 … --b B1 B2 …"
    );
    items::run(args, &options, &table)
}
