//! `dissensus study finish`

use std::collections::BTreeMap;
use std::process::ExitCode;

use dissensus::studies::{MissingRun, Plan, Shard, StudyError};
use dissensus::{Context, Error, study};

use super::Choice;
use super::run::{AfterArgs, conclude};
use crate::args::{FetchArgs, whole};
use crate::interrupt;
use crate::ui::runs::Bars;
use crate::ui::{self, paint};

/// Finish a study whose runs were trained by shards: stages over several runs, results, tables.
///
/// Trains nothing. When runs are missing, it lists them and stops. Stages that look at one run at a time
/// were computed by the shards; those that compare runs (barrier, cka, gradcam, draws), and what is left of
/// the others, are computed now. The results are the same as those of `dissensus study run` on one machine.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) choice: Choice,
    /// The number of shards, to list missing runs by shard
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=Shard::MOST as u64), allow_negative_numbers = true)]
    shards: Option<usize>,
    /// The device: auto, cpu, cuda, one of several GPUs as in cuda:1, or cuda:exclusive
    /// [default: the study's run.device]
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    #[command(flatten)]
    after: AfterArgs,
    #[command(flatten)]
    fetching: FetchArgs,
}

const EXAMPLES: &str = "\
Examples:
  dissensus study run mine.toml --shard 1/2      on one machine
  dissensus study run mine.toml --shard 2/2      on another, with the same store
  dissensus study finish mine.toml --shards 2

Exit codes: 0 all is done; 1 runs are missing, or some failed; 2 study, data or store are wrong;
130 interrupted.";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (study, load) = (args.choice.study()?, args.fetching.context()?);
    args.after.check(&args.choice, &study.name)?;
    let plan = study::plan(&study, &args.choice.options(), &load)?;
    let bars = Bars::new(true);
    let mut execution = study.run_settings()?.execution;
    execution.device = args.device.clone().unwrap_or(execution.device);
    let context = bars.context(Context::open(&args.choice.location()?, execution)?);
    study::check_stages(&plan, &context.store, &load)?;
    let held = interrupt::hold_training();
    let outcome = study::finish(&plan, &context);
    drop(held);
    match outcome {
        Err(Error::Study(StudyError::Unfinished { runs, total })) => {
            ui::err(&missing(&plan, &runs, total, args.shards));
            Ok(ExitCode::from(1))
        }
        outcome => conclude(&args.choice, &args.after, &plan, &context.store, &load, outcome?),
    }
}

/// The missing runs, by shard.
fn missing(plan: &Plan<'_>, runs: &[MissingRun], total: usize, shards: Option<usize>) -> String {
    let mut text =
        format!("{} {} of {total} runs are not done\n", paint::bad("missing:"), runs.len());
    let shares = shards.map(|shards| plan.shares(shards));
    let mut by_shard: BTreeMap<Option<usize>, Vec<&MissingRun>> = BTreeMap::new();
    for run in runs {
        let shard = shares.as_ref().and_then(|shares| shares.shard_of(&run.id));
        by_shard.entry(shard).or_default().push(run);
    }
    for (shard, runs) in by_shard {
        if let (Some(shard), Some(of)) = (shard, shards) {
            text += &format!("shard {shard}/{of}\n");
        }
        for run in runs {
            text += &format!("  {}  {}\n", run.label, run.state);
        }
    }
    text
}
