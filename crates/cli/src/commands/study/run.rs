//! `dissensus study run`

use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::report::book::Book;
use dissensus::report::tables::{self, Tally};
use dissensus::store::Store;
use dissensus::studies::{Plan, PlanOptions, Shard};
use dissensus::train::spec::Execution;
use dissensus::{Context, LoadContext, study};

use super::Choice;
use crate::args::{ExecutionArgs, FetchArgs};
use crate::interrupt;
use crate::ui::runs::{Bars, say_failed};
use crate::ui::table::style;
use crate::ui::{self, paint, report, text};

/// Run a study: everything in it that is not done yet.
///
/// A study is a commented TOML file: the arms to compare, the data, the numbers of votes and seeds, an
/// optional grid to search first, and the tables and figures. Runs that are in the store already are
/// not trained again, and interrupted runs continue; a run that fails does not stop the others. Stages
/// that need the models (curvature, out-of-distribution detection and others) follow; their results
/// stay in the store when the weights are deleted. Then all results are collected into one table
/// (results.csv and results.parquet in the store), and the study's tables are printed.
///
/// If --store is a bucket, runs that are done there are pulled into a folder of this machine instead of
/// being trained, and every run is pushed when it is done. What could not be pushed stays in the folder,
/// and the same command pushes it later.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) choice: Choice,
    #[command(flatten)]
    on: ExecutionArgs,
    /// Write TensorBoard curves into this folder, with one folder per run
    #[arg(long, value_name = "DIR")]
    tensorboard: Option<PathBuf>,
    /// Only the runs of one of N disjoint shares of equal work, such as 2/8, each on its own machine;
    /// `dissensus study finish` follows
    #[arg(long, value_name = "I/N", conflicts_with_all = ["markdown", "report"])]
    shard: Option<Shard>,
    #[command(flatten)]
    after: AfterArgs,
    #[command(flatten)]
    fetching: FetchArgs,
}

/// What is done when all runs have ended.
#[derive(clap::Args)]
pub(super) struct AfterArgs {
    /// Delete the weights of runs that no stage needs any more; they take most of the space
    #[arg(long)]
    drop_weights: bool,
    /// Print the tables as Markdown
    #[arg(long)]
    markdown: bool,
    /// Also write the report, as `dissensus report` does [default: STORE-report]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    report: Option<Option<PathBuf>>,
    /// Write the report into a folder that holds other files than a report of the study; files of the same names are replaced
    #[arg(long, requires = "report")]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  dissensus study list                       the built-in studies
  dissensus study run demo                   one of them
  dissensus study show demo > mine.toml      to copy and change
  dissensus study run mine.toml --arms soft,sls --seeds 2
  dissensus study run mine.toml --arms soft,sls --votes-per-item all --seeds 5-9 --drop-weights
  dissensus report runs --open               the results as a page
  dissensus study run mine.toml --store s3://lab/mine     runs shared between machines
  dissensus study run soft-label --fetch --report    a published study, from its data to its page
  dissensus study run mine.toml --shard 2/8  one eighth of it, on one of eight machines

Exit codes: 0 all runs are done; 1 some failed, or were not pushed; 2 study, data or store are
wrong, or a stage needs weights that are gone; 130 interrupted.";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (study, load) = (args.choice.study()?, args.fetching.context()?);
    args.after.check(&args.choice, &study.name)?;
    args.tensorboard.as_deref().map_or(Ok(()), dissensus::files::check_outside)?;
    let plan = study::plan(&study, &args.choice.options(), &load)?;
    let location = args.choice.location()?;
    let execution = Execution {
        curves: args.tensorboard.clone(),
        ..args.on.over(study.run_settings()?.execution)
    };
    let bars = Bars::new(true);
    let context = bars.context(Context::create(&location, execution)?);
    study::check_stages(&plan, &context.store, &load)?;
    plan.recipes().iter().for_each(|recipe| ui::note(&recipe.to_string()));
    let held = interrupt::hold_training();
    if let Some(shard) = args.shard {
        let outcome = study::run_shard(&plan, shard, &context)?;
        args.after.drop_weights(&plan, &context.store)?;
        return Ok(say_shard(&outcome, shard, &args.choice));
    }
    let outcome = study::run(&plan, &context);
    drop(held);
    conclude(&args.choice, &args.after, &plan, &context.store, &load, outcome?)
}

/// Prints what became of a shard.
fn say_shard(outcome: &study::ShardOutcome, shard: Shard, choice: &Choice) -> ExitCode {
    let study::ShardOutcome { ended, examined, waiting, all_pushed } = outcome;
    let failed = say_failed(ended);
    let open = ended.iter().filter(|run| run.outcome.is_open()).count();
    if !closed(open > 0, open, examined.stopped) {
        return ExitCode::from(130);
    }
    let (index, of) = (shard.index(), shard.of());
    if *waiting > 0 {
        let runs = text::count(*waiting, "final run waits", "final runs wait");
        ui::note(&format!(
            "{runs} for search runs of other shards; when those are done, continue with\n  {}",
            ui::same_command()
        ));
    } else {
        let typed = choice.typed();
        let next = format!("next: when all {of} shards are done, dissensus study finish {typed}");
        ui::err(&format!("shard {index} of {of} is done\n{next}\n"));
    }
    ExitCode::from(u8::from(!examined.failed.is_empty() || !all_pushed || failed))
}

impl AfterArgs {
    /// Fails before long work where the report may not be written.
    pub(super) fn check(&self, choice: &Choice, study: &str) -> Result<(), dissensus::Error> {
        let Some(out) = &self.report else { return Ok(()) };
        let out = report::folder(&choice.location()?.folder, out.as_deref());
        dissensus::report::check_folder(&out, study, self.force)
    }

    fn drop_weights(&self, plan: &Plan<'_>, store: &Store) -> anyhow::Result<()> {
        if self.drop_weights {
            let (runs, bytes) = dissensus::study::drop_weights(plan, store)?;
            let (runs, bytes) = (text::count(runs, "run", "runs"), text::size(bytes));
            ui::remark(&format!("deleted the weights of {runs}, {bytes}"));
        }
        Ok(())
    }
}

/// Prints the results of a study, and writes its report where it is asked for.
pub(super) fn conclude(
    choice: &Choice,
    after: &AfterArgs,
    plan: &Plan<'_>,
    store: &Store,
    context: &LoadContext<'_>,
    outcome: study::StudyOutcome,
) -> anyhow::Result<ExitCode> {
    let study::StudyOutcome { ended, examined, results, about, all_pushed } = outcome;
    let (failed, missing) = (results.collected.failed.len(), results.collected.missing);
    let unexamined = results.collected.unexamined.clone();
    let has_less = !results.collected.without_weights.is_empty();
    after.drop_weights(plan, store)?;
    print_tables(&plan.book_of(results, &about)?, after.markdown)?;
    for (stage, runs) in &unexamined {
        let runs = text::count(*runs, "finished run has", "finished runs have");
        ui::note(&format!(
            "{runs} no results of the stage {stage}: `dissensus study run` computes them if the \
             weights exist"
        ));
    }
    let some_failed = say_failed(&ended) || failed > 0 || !examined.failed.is_empty();
    let open = ended.iter().any(|run| run.outcome.is_open());
    if !closed(open, missing, examined.stopped) {
        return Ok(ExitCode::from(130));
    }
    let code = if has_less { 2 } else { u8::from(some_failed || !all_pushed) };
    let Some(out) = &after.report else {
        let folder = store.path().display();
        let next = match store.studies()?.len() {
            0 | 1 => folder.to_string(),
            _ => format!("{folder} --study {}", plan.study().name),
        };
        ui::err(&format!("next: dissensus report {next} --open   for figures and a page\n"));
        return Ok(ExitCode::from(code));
    };
    // A report is of the whole study, with what was left out of this call.
    let whole;
    let plan = match choice.options() == PlanOptions::default() {
        true => plan,
        false => {
            whole = study::plan(plan.study(), &PlanOptions::default(), context)?;
            &whole
        }
    };
    let written = report::write_and_say(plan, store, out.as_deref(), after.force)?;
    Ok(ExitCode::from(code.max(u8::from(!written.problems.is_empty()))))
}

/// Prints the study's tables, and what they show.
fn print_tables(book: &Book, markdown: bool) -> anyhow::Result<()> {
    let (tables, problems) = dissensus::report::all_tables(book);
    for table in &tables {
        let text = match markdown {
            true => tables::markdown(table),
            false => tables::terminal(table, &style()),
        };
        ui::out(&format!("{text}\n"))?;
    }
    let tally = || Tally::of(&tables).map(|tally| tally.sentence());
    if let Some(sentence) = book.scale_note().or_else(tally) {
        ui::out(&format!("{sentence}\n\n"))?;
    }
    for problem in problems {
        ui::err(&format!("{} {problem}\n", paint::warn("left out:")));
    }
    Ok(())
}

/// Prints how to continue. Returns whether everything was attempted.
fn closed(open: bool, missing: usize, stopped: bool) -> bool {
    let again = ui::same_command();
    if open {
        ui::err(&format!("{missing} runs are not done; continue with\n  {again}\n"));
    } else if stopped {
        ui::err(&format!("stages are not done; continue with\n  {again}\n"));
    }
    !open && !stopped
}
