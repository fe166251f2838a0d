//! `dissensus study run`

use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::store::Store;
use dissensus::studies::{Job, Plan, PlanOptions, distinct};
use dissensus::train::{EndedJob, JobOutcome, RunJob};

use super::{Choice, planned, planned_after, stages};
use crate::fetching::Fetching;
use crate::reporting;
use crate::training::{AtATime, Batch, run_all};
use crate::ui::{self, paint, text};

/// Run a study: everything in it that is not done yet.
///
/// A study is a commented TOML file: what is compared (arms), on which data, with how many votes and
/// seeds, a grid to search first where there is one, and the tables and figures that come of it.
/// What is in the store already is not trained again, and a run that was interrupted goes on where it
/// stopped; a run that fails does not stop the others. Stages that need the models (curvature,
/// out-of-distribution detection and the like) follow, and what they find stays in the store when the
/// weights are gone. Afterwards all results are collected into one table (results.csv and
/// results.parquet in the store), and the study's tables are printed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    on: JobArgs,
    /// Delete the weights of runs when all stages are done with them: they are most of a store
    #[arg(long)]
    drop_weights: bool,
    /// Print the tables as Markdown
    #[arg(long)]
    markdown: bool,
    /// Write the report, too: tables, figures and a page, as `dissensus report` does [default: STORE-report]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    report: Option<Option<PathBuf>>,
    #[command(flatten)]
    fetching: Fetching,
}

/// How runs are run.
#[derive(clap::Args, Clone)]
pub(crate) struct JobArgs {
    /// Runs at a time, or auto for what is fastest on the device
    #[arg(long, value_name = "N|auto", default_value = "auto")]
    jobs: AtATime,
    /// Where to train: auto, cpu, cuda, one of several GPUs as in cuda:1, or cuda:exclusive
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// Write curves for TensorBoard into this folder, one below it for each run
    #[arg(long, value_name = "DIR")]
    tensorboard: Option<PathBuf>,
}

impl JobArgs {
    fn device(&self) -> &str {
        &self.device
    }

    pub(crate) fn on(device: &str) -> Self {
        Self { jobs: AtATime(None), device: device.to_owned(), tensorboard: None }
    }
}

const EXAMPLES: &str = "\
Examples:
  dissensus study list                       the studies that come with the program
  dissensus study run demo                   one of them
  dissensus study show demo > mine.toml      to copy and change
  dissensus study run mine.toml --arms soft,sls --seeds 2
  dissensus study run mine.toml --arms soft,sls --votes-per-item all --seeds 5-9 --drop-weights
  dissensus report runs --open               what came out, as a page
  dissensus study run soft-label --fetch --report    a published study, from its data to its page

Exit codes: 0 all runs are done; 1 some failed; 2 the study or the data is wrong; 130 interrupted.";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let study = args.choice.study()?;
    let fetching = &args.fetching;
    let plan = planned_after(&study, &args.choice.options(), &|data| fetching.data(data));
    let plan = plan.map_err(|error| fetching.hinted(error))?;
    let store = Store::create_or_open(&args.choice.store)?;
    stages::check(&plan, &store, fetching).map_err(|error| fetching.hinted(error))?;
    let ended = train_all(&plan, &store, &args.on, true)?;
    let examined = stages::examine(&plan, &store, args.on.device())?;
    let collected = plan.collect(&store, &dissensus::environment())?;
    if args.drop_weights {
        stages::drop_weights(&plan, &store)?;
    }

    let book = plan.book(&store)?;
    let (tables, problems) = dissensus::report_tables(&book);
    for table in &tables {
        match args.markdown {
            true => ui::out(&dissensus::report::tables::markdown(table))?,
            false => ui::out(&reporting::terminal(table))?,
        }
        ui::out("\n")?;
    }
    match (book.scale_note(), dissensus::report::tables::Tally::of(&tables)) {
        (Some(note), _) => ui::out(&format!("{note}\n\n"))?,
        (None, Some(tally)) => ui::out(&format!("{}\n\n", tally.sentence()))?,
        (None, None) => {}
    }
    for problem in problems {
        ui::err(&format!("{} {problem}\n", paint::warn("left out:")));
    }
    ui::err(&stages::missing(&collected));
    let failed = collected.failed.len() + examined.failed.len();
    if !closed(args, &ended, collected.missing, examined.stopped) {
        return Ok(ExitCode::from(130));
    }
    let code = u8::from(
        failed > 0 || ended.iter().any(|run| matches!(run.outcome, JobOutcome::Failed(_))),
    );
    match &args.report {
        Some(out) => {
            // A report is of the whole study, with what was left out of this call.
            let plan = match args.choice.options() == PlanOptions::default() {
                true => plan,
                false => planned(&study, &PlanOptions::default())?,
            };
            let written = reporting::write_and_say(&plan, &store, out.as_deref())?;
            Ok(ExitCode::from(code.max(u8::from(!written.problems.is_empty()))))
        }
        None => {
            let next = match store.studies()?.len() {
                0 | 1 => args.choice.store.display().to_string(),
                _ => format!("{} --study {}", args.choice.store.display(), study.name),
            };
            ui::err(&format!("next: dissensus report {next} --open   for figures and a page\n"));
            Ok(ExitCode::from(code))
        }
    }
}

/// Trains the searches, then what they decide on.
pub(crate) fn train_all(
    plan: &Plan<'_>,
    store: &Store,
    how: &JobArgs,
    lines: bool,
) -> anyhow::Result<Vec<EndedJob>> {
    let searches = plan.searches();
    let mut ended = Vec::new();
    if !searches.is_empty() {
        ui::err(&paint::dim(&format!(
            "searching: {} runs\n",
            text::thousands(distinct(&searches).len() as u64)
        )));
        ended.extend(train(plan, &searches, store, how, false)?);
    }
    let finals = plan.finals(store)?;
    for undecided in &finals.undecided {
        ui::err(&format!(
            "{} the search for {} has {} runs that are not done\n",
            paint::warn("note:"),
            undecided.arm,
            undecided.open
        ));
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
        ui::err(&format!("chosen for {of}{} · {votes}: {settings}\n", chosen.arm));
    }
    ended.extend(train(plan, &finals.jobs, store, how, lines)?);
    Ok(ended)
}

fn train(
    plan: &Plan<'_>,
    jobs: &[Job],
    store: &Store,
    how: &JobArgs,
    lines: bool,
) -> anyhow::Result<Vec<EndedJob>> {
    let runs: Vec<RunJob<'_>> = distinct(jobs)
        .into_iter()
        .map(|job| RunJob { task: plan.task(job), plan: &job.run, label: job.label() })
        .collect();
    run_all(&Batch {
        runs: &runs,
        store,
        device: &how.device,
        jobs: how.jobs.0,
        threads: None,
        checkpoint: dissensus::train::spec::Checkpoint::Auto,
        tensorboard: false,
        curves: how.tensorboard.as_deref(),
        lines,
    })
}

/// Says what failed, and how to go on where there is more to do. Whether all is done that can be.
fn closed(args: &Args, ended: &[EndedJob], missing: usize, stopped: bool) -> bool {
    for run in ended {
        if let JobOutcome::Failed(reason) = &run.outcome {
            ui::err(&format!("{} {}: {reason}\n", paint::bad("failed:"), run.label));
        }
    }
    let words = args.choice.words();
    let is_open =
        |run: &EndedJob| matches!(run.outcome, JobOutcome::Interrupted | JobOutcome::NotStarted);
    let open = ended.iter().any(is_open);
    if open {
        ui::err(&format!("{missing} runs are not done; go on by\n  dissensus study run {words}\n"));
    } else if stopped {
        ui::err(&format!("stages are not done; go on by\n  dissensus study run {words}\n"));
    }
    !open && !stopped
}
