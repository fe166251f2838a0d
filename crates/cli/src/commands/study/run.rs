//! `dissensus study run`

use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::report::book::Book;
use dissensus::report::tables::{self, Tally};
use dissensus::store::Store;
use dissensus::studies::{Finals, Plan, PlanOptions, Shard};
use dissensus::train::{EndedJob, JobOutcome};
use dissensus::{
    LoadContext, ShardOutcome, StudyEvent, StudyOptions, StudyOutcome, check_stages, plan_study,
    report_tables, run_shard, run_study,
};

use super::Choice;
use crate::args::{FetchArgs, JobCount, open_device};
use crate::interrupt;
use crate::ui::progress::Terminal;
use crate::ui::runs::Bars;
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
    on: JobArgs,
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

/// Where and how runs are trained.
#[derive(clap::Args)]
struct JobArgs {
    /// Runs at a time, or auto for what is fastest on the device [default: the study's run.jobs]
    #[arg(long, value_name = "N|auto")]
    jobs: Option<JobCount>,
    /// The device: auto, cpu, cuda, one of several GPUs as in cuda:1, or cuda:exclusive
    /// [default: the study's run.device]
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Write TensorBoard curves into this folder, with one folder per run
    #[arg(long, value_name = "DIR")]
    tensorboard: Option<PathBuf>,
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

Exit codes: 0 all runs are done; 1 some failed, or were not pushed; 2 study, data or store are wrong; 130 interrupted.";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (study, context) = (args.choice.study()?, args.fetching.context()?);
    args.after.check(&args.choice, &study.name)?;
    args.on.tensorboard.as_deref().map_or(Ok(()), dissensus::files::check_outside)?;
    let plan = plan_study(&study, &args.choice.options(), &context)?;
    let store = Store::create_or_open(&args.choice.store)?;
    check_stages(&plan, &store, &context)?;
    plan.recipes().iter().for_each(|recipe| ui::note(&recipe.to_string()));
    let settings = study.run_settings()?;
    let held = interrupt::hold_training();
    let device = open_device(args.on.device.as_ref().unwrap_or(&settings.device))?;
    let bars = Bars::new();
    let transfers = Terminal::default();
    let shared = args.choice.share(&plan, &store, &transfers)?;
    let of_file = StudyOptions::of(&settings, &device);
    let options = StudyOptions {
        jobs: args.on.jobs.map_or(of_file.jobs, |jobs| jobs.0),
        curves: args.on.tensorboard.as_deref(),
        progress: &bars,
        cancel: interrupt::cancel().clone(),
        on_event: &|event| {
            say(&event, &plan, &bars, true);
            shared.iter().for_each(|shared| shared.on_event(&event, interrupt::cancel()));
        },
        ..of_file
    };
    if let Some(shard) = args.shard {
        let outcome = run_shard(&plan, &store, shard, &options);
        bars.end();
        args.after.drop_weights(&plan, &store)?;
        let all_pushed = args.choice.push_rest(shared)?;
        return Ok(say_shard(&outcome?, shard, &args.choice, all_pushed));
    }
    let outcome = run_study(&plan, &store, &options);
    bars.end();
    let all_pushed = args.choice.push_rest(shared)?;
    drop(held);
    conclude(&args.choice, &args.after, &plan, &store, &context, outcome?, all_pushed)
}

/// Prints what became of a shard.
fn say_shard(outcome: &ShardOutcome, shard: Shard, choice: &Choice, all_pushed: bool) -> ExitCode {
    let ShardOutcome { ended, examined, waiting } = outcome;
    let is_open =
        |run: &&EndedJob| matches!(run.outcome, JobOutcome::Interrupted | JobOutcome::NotStarted);
    if !closed(ended, ended.iter().filter(is_open).count(), examined.stopped) {
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
    let failed = |run: &EndedJob| matches!(run.outcome, JobOutcome::Failed(_));
    ExitCode::from(u8::from(!examined.failed.is_empty() || !all_pushed || ended.iter().any(failed)))
}

impl AfterArgs {
    /// Fails before long work where the report may not be written.
    pub(super) fn check(&self, choice: &Choice, study: &str) -> Result<(), dissensus::Error> {
        let Some(out) = &self.report else { return Ok(()) };
        let out = report::folder(&choice.store, out.as_deref());
        dissensus::check_report_folder(&out, study, self.force)
    }

    fn drop_weights(&self, plan: &Plan<'_>, store: &Store) -> anyhow::Result<()> {
        if self.drop_weights {
            let (runs, bytes) = dissensus::drop_weights(plan, store)?;
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
    outcome: StudyOutcome,
    all_pushed: bool,
) -> anyhow::Result<ExitCode> {
    let StudyOutcome { ended, examined, results, about } = outcome;
    let (failed, missing) = (results.collected.failed.len(), results.collected.missing);
    let unexamined = results.collected.unexamined.clone();
    after.drop_weights(plan, store)?;
    print_tables(&plan.book_of(results, &about)?, after.markdown)?;
    for (stage, runs) in &unexamined {
        let runs = text::count(*runs, "finished run has", "finished runs have");
        ui::note(&format!(
            "{runs} no results of the stage {stage}: `dissensus study run` computes them if the \
             weights exist"
        ));
    }
    let failed = failed + examined.failed.len();
    if !closed(&ended, missing, examined.stopped) {
        return Ok(ExitCode::from(130));
    }
    let code = u8::from(
        failed > 0
            || !all_pushed
            || ended.iter().any(|run| matches!(run.outcome, JobOutcome::Failed(_))),
    );
    let Some(out) = &after.report else {
        let next = match store.studies()?.len() {
            0 | 1 => choice.store.display().to_string(),
            _ => format!("{} --study {}", choice.store.display(), plan.study().name),
        };
        ui::err(&format!("next: dissensus report {next} --open   for figures and a page\n"));
        return Ok(ExitCode::from(code));
    };
    // A report is of the whole study, with what was left out of this call.
    let whole;
    let plan = match choice.options() == PlanOptions::default() {
        true => plan,
        false => {
            whole = plan_study(plan.study(), &PlanOptions::default(), context)?;
            &whole
        }
    };
    let written = report::write_and_say(plan, store, out.as_deref(), after.force)?;
    Ok(ExitCode::from(code.max(u8::from(!written.problems.is_empty()))))
}

/// Prints the study's tables, and what they show.
fn print_tables(book: &Book, markdown: bool) -> anyhow::Result<()> {
    let (tables, problems) = report_tables(book);
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

/// Prints what happens while a study is trained.
pub(crate) fn say(event: &StudyEvent<'_>, plan: &Plan<'_>, bars: &Bars, lines: bool) {
    match event {
        StudyEvent::Searching(runs) => {
            ui::remark(&format!("searching: {} runs", text::thousands(runs.len())));
            bars.begin(runs, false);
        }
        StudyEvent::Selected(finals) => {
            bars.end();
            say_selected(finals, plan);
        }
        StudyEvent::Training(runs) => bars.begin(runs, lines),
        StudyEvent::Ended(job) => bars.ended(job),
        StudyEvent::StageStarted { stage, total } => bars.begin_stage(stage, *total),
        StudyEvent::StageAdvanced { detail } => bars.stage_advanced(detail),
        StudyEvent::StageEnded { label, failed } => bars.stage_ended(label, *failed),
    }
}

fn say_selected(finals: &Finals, plan: &Plan<'_>) {
    for undecided in &finals.undecided {
        let (arm, open) = (&undecided.arm, undecided.open);
        ui::note(&format!("the search for {arm} has {open} runs that are not done"));
    }
    for chosen in &finals.chosen {
        let settings = chosen.settings.iter().map(|(key, value)| format!("{key} = {value}"));
        let settings = settings.collect::<Vec<_>>().join(", ");
        let votes = |k: u32| text::count(k as usize, "vote", "votes");
        let votes = chosen.k.map_or("all votes".to_owned(), votes);
        let of = match plan.study().datasets.len() {
            0 | 1 => String::new(),
            _ => format!("{} · ", chosen.dataset),
        };
        ui::err(&format!("selected for {of}{} · {votes}: {settings}\n", chosen.arm));
    }
}

/// Prints what failed and how to continue. Returns whether everything was attempted.
fn closed(ended: &[EndedJob], missing: usize, stopped: bool) -> bool {
    for run in ended {
        if let JobOutcome::Failed(reason) = &run.outcome {
            ui::err(&format!("{} {}: {reason}\n", paint::bad("failed:"), run.label));
        }
    }
    let again = ui::same_command();
    let is_open =
        |run: &EndedJob| matches!(run.outcome, JobOutcome::Interrupted | JobOutcome::NotStarted);
    let open = ended.iter().any(is_open);
    if open {
        ui::err(&format!("{missing} runs are not done; continue with\n  {again}\n"));
    } else if stopped {
        ui::err(&format!("stages are not done; continue with\n  {again}\n"));
    }
    !open && !stopped
}
