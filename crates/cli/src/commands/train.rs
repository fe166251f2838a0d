//! `dissensus train`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use dissensus::store::{RunId, Store, Which};
use dissensus::train::{
    EndedJob, JobOptions, JobOutcome, RunEnvironment, RunJob, Spec, run_jobs, template,
};
use dissensus::{RunSummary, SummaryColumn, state_name, summarize_runs};
use serde::Serialize;

use crate::training::{AtATime, Bars, load, on_interrupt, open_device};
use crate::ui::table::{Form, Print as _};
use crate::ui::{self, paint};

/// Train models on how people voted.
///
/// A spec is a small TOML file: the data, the split, the model, the delivery methods to compare,
/// the training, the seeds. Every method, number of votes and seed is a run; runs share the cores,
/// and the table at the end has the mean and the standard deviation over seeds. The id of a run is
/// the digest of its settings: a run that is in the store already is not trained again, and one that
/// was interrupted (Ctrl-C, a crash, a kill) continues and ends with the same numbers.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The spec; `-` is standard input
    #[arg(value_name = "SPEC.toml", required_unless_present = "template")]
    spec: Option<PathBuf>,
    /// Print a spec with every key explained, to copy and change
    #[arg(long)]
    template: bool,
    /// Override a key of the spec, such as training.epochs=20; may be repeated
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    sets: Vec<String>,
    /// The folder of runs [default: the spec's run.store]
    #[arg(long, value_name = "DIR", env = "DISSENSUS_STORE")]
    store: Option<PathBuf>,
    /// The device: auto, cpu, cuda, one of several GPUs as in cuda:1, or cuda:exclusive
    /// [default: the spec's run.device]
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Runs at a time, or auto for what is fastest on the device [default: the spec's run.jobs]
    #[arg(long, value_name = "N|auto")]
    jobs: Option<AtATime>,
    /// Only list the runs and their states
    #[arg(long)]
    dry_run: bool,
    /// Metrics of the table, separated by commas; `all` means every one
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    metrics: Vec<String>,
    /// Report the last epoch instead of the selected one
    #[arg(long)]
    last: bool,
    /// Print as JSON, with the values of every seed
    #[arg(long, group = "form")]
    json: bool,
    /// Print as CSV
    #[arg(long, group = "form")]
    csv: bool,
    /// Print as a Markdown table
    #[arg(long, group = "form")]
    markdown: bool,
    /// Print as a LaTeX table (booktabs)
    #[arg(long, group = "form")]
    latex: bool,
}

const EXAMPLES: &str = "\
Examples:
  dissensus train --template > study.toml          a spec to start from
  dissensus train study.toml                       train everything in it
  dissensus train study.toml --set training.epochs=20 --set run.seeds=1
  dissensus train study.toml --dry-run             what would be trained

Exit codes: 0 all runs are done; 1 some failed; 2 the spec or the data is wrong; 130 interrupted.";

#[derive(Serialize)]
struct Report<'a> {
    /// Of the program that prints this.
    version: &'static str,
    store: String,
    spec: &'a Spec,
    #[serde(flatten)]
    summary: &'a RunSummary,
    /// Where each run was trained, by which version, and for how long.
    runs: Vec<Made>,
}

#[derive(Serialize)]
struct Made {
    run: String,
    version: String,
    device: String,
    seconds: f64,
}

fn made(store: &Store, ended: &[EndedJob]) -> Vec<Made> {
    let finished = ended.iter().filter_map(|run| Some((&run.id, run.outcome.result()?)));
    let made = finished.filter_map(|(run, result)| {
        let about = store.find(run).ok()?.about;
        let RunEnvironment { version, device, .. } = serde_json::from_value(about).ok()?;
        Some(Made { run: run.clone(), version, device, seconds: result.seconds })
    });
    made.collect()
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(path) = args.spec.as_ref().filter(|_| !args.template) else {
        ui::out(template())?;
        return Ok(ExitCode::SUCCESS);
    };
    // From the start: data may take long to read.
    on_interrupt();
    let chosen = dissensus::metrics(&args.metrics)?;
    let name = path.display().to_string();
    let text = match name.as_str() {
        "-" => std::io::read_to_string(std::io::stdin()).context("reading standard input")?,
        _ => std::fs::read_to_string(path).with_context(|| format!("reading {name}"))?,
    };
    let spec = Spec::parse(&text, &name, &args.sets)?;
    let folder = args.store.clone().unwrap_or_else(|| spec.run.store.clone());
    let task = load(&spec.data)?;
    let plans = spec.runs();
    // A model that does not fit the data fits no run.
    spec.model.network(task.shape(), task.table().classes().len())?;
    if args.dry_run {
        return dry_run(&folder, &task, &plans);
    }
    let store = Store::create_or_open(&folder)?;
    let size = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok());
    let device = open_device(args.device.as_ref().unwrap_or(&spec.run.device))?;
    let (jobs, bars) = (RunJob::all(&task, &plans), Bars::new());
    bars.begin(&jobs, true);
    let ended = run_jobs(
        &jobs,
        &JobOptions {
            version: dissensus::VERSION,
            jobs: args.jobs.map_or_else(|| size(spec.run.jobs), |jobs| jobs.0),
            threads: size(spec.run.threads),
            checkpoint: spec.run.checkpoint,
            tensorboard: spec.run.tensorboard,
            progress: &bars,
            cancel: on_interrupt().clone(),
            on_end: &|job| bars.ended(job),
            ..JobOptions::new(&store, &device)
        },
    );
    bars.end();
    let ended = ended?;
    let which = if args.last { Which::Last } else { Which::Best };
    let column = |metric| SummaryColumn::metric(metric, which);
    let columns: Vec<SummaryColumn<'_>> = chosen.into_iter().map(column).collect();
    let summary = summarize_runs(&ended, &columns, which);
    let form = Form::asked(args.csv, args.markdown, args.latex);
    if args.json {
        let report = Report {
            version: dissensus::VERSION,
            store: folder.display().to_string(),
            spec: &spec,
            summary: &summary,
            runs: made(&store, &ended),
        };
        ui::out(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else if !summary.arms.is_empty() {
        if form == Form::Terminal {
            let epoch = if args.last { "last" } else { "selected" };
            let title = format!("{epoch} epoch on {}", summary.part);
            let mut title: String = paint::title(&capital(&title));
            title += ", mean ± sd over seeds\n";
            ui::out(&title)?;
        }
        ui::out(&summary.table().print(form))?;
    }
    Ok(closing(&ended, &folder, &args.command(path)))
}

impl Args {
    /// The command that continues the same runs.
    fn command(&self, path: &std::path::Path) -> String {
        let mut words = vec!["dissensus train".to_owned(), path.display().to_string()];
        for set in &self.sets {
            words.push(format!("--set '{set}'"));
        }
        words.extend(self.store.iter().map(|store| format!("--store {}", store.display())));
        words.join(" ")
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |c| c.to_uppercase().chain(letters).collect())
}

fn dry_run(
    folder: &std::path::Path,
    task: &dissensus::train::Task,
    plans: &[dissensus::train::RunPlan],
) -> anyhow::Result<ExitCode> {
    let store = Store::open(folder).ok();
    let mut page = String::new();
    for plan in plans {
        let id = RunId::of(&plan.with_data(task.identity().clone()).to_value());
        let known = store.as_ref().and_then(|store| store.run(&id).ok());
        let state = known.map_or("to train".to_owned(), |run| {
            format!("{}, epoch {}", state_name(&run.status.state), run.status.epoch)
        });
        page += &format!("{id}  {}  {}\n", plan.label(), paint::dim(&state));
    }
    ui::out(&page)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the closing lines, and returns the exit code.
fn closing(ended: &[EndedJob], folder: &std::path::Path, again: &str) -> ExitCode {
    let count =
        |wanted: fn(&JobOutcome) -> bool| ended.iter().filter(|run| wanted(&run.outcome)).count();
    let failed = count(|outcome| matches!(outcome, JobOutcome::Failed(_)));
    let open = count(|outcome| matches!(outcome, JobOutcome::Interrupted | JobOutcome::NotStarted));
    let store = folder.display();
    if failed > 0 {
        ui::err(&format!("\n{} {failed} of {} runs\n", paint::bad("failed:"), ended.len()));
        for run in ended {
            if let JobOutcome::Failed(reason) = &run.outcome {
                ui::err(&format!("  {}: {reason}\n", run.plan.label()));
            }
        }
    }
    if open > 0 {
        ui::err(&format!("\n{open} runs are not done; continue them with\n  {again}\n"));
        return ExitCode::from(130);
    }
    ui::err(&paint::dim(&format!("\nnext: dissensus runs list --store {store}\n")));
    if failed > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS }
}
