//! `dissensus votes ceiling FILE`

use dissensus::core::{Keep, TieRule};
use dissensus::tables::{ceiling_table, ceiling_words};
use dissensus::{ScoreOptions, ceiling};

use crate::args::{FormArgs, VoteFileArgs, read_votes, whole};
use crate::ui::{self, table, table::Form};

/// Show how well any model can score against these votes.
///
/// The votes of an item are a sample of what people would say. `half against half` divides them at
/// random and lets one half predict the other; `a perfect model` predicts the shares of the votes
/// and is judged by as many votes drawn from them. A model between the two is as good as people can
/// tell. Few votes also make entropies too low and every KL too high: by how much is printed.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    votes: VoteFileArgs,
    /// Metrics to show, separated by commas; `all` shows every one
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    metrics: Vec<String>,
    /// How often votes are divided, and drawn anew
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole::<usize>(1..=10_000), allow_negative_numbers = true)]
    repeats: usize,
    /// How ties of the majority are broken: lowest (class), or random (seeded)
    #[arg(long, value_name = "RULE", default_value = "lowest")]
    ties: TieRule,
    /// The random seed
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>(0..=u64::MAX), allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    form: FormArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let (metrics, seed, ties) = (args.metrics.clone(), args.seed, args.ties);
    let options = ScoreOptions { metrics, seed, ties, ..ScoreOptions::default() };
    options.chosen()?;
    let VoteFileArgs { file, reading } = &args.votes;
    let votes = read_votes(file, &reading.options(Keep::Counts))?.table;
    let all: Vec<usize> = (0..votes.len()).collect();
    let found = ceiling(&votes, &all, args.repeats, &options)?;
    let Some(form) = args.form.table() else { return ui::json(&found) };
    table::print(&[ceiling_table(&found, form)], form)?;
    if form == Form::Terminal {
        ui::out(&format!("\n{}\n", ceiling_words(&found, &[]).join("\n")))?;
    }
    Ok(())
}
