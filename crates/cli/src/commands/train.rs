//! `dissensus train`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use dissensus::engine::Optimizer;
use dissensus::store::{RunId, RunInfo, Store, Which};
use dissensus::studies::{RunOrigin, RunSummary, SummaryColumn, summarize_runs};
use dissensus::train::spec::DataSource;
use dissensus::train::{
    EndedJob, Recipe, RunJob, RunPlan, Spec, Task, check_loss, describe_shape, state_name, template,
};
use dissensus::{Context, Location, load_task};
use serde::Serialize;
use serde_json::Value;

use crate::args::{ExecutionArgs, FormArgs, context};
use crate::interrupt;
use crate::ui::runs::{Bars, failures};
use crate::ui::table::{Form, print};
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
    #[command(flatten)]
    on: ExecutionArgs,
    /// Only list the runs and their states. Data are read, but large generated data are not made: runs that
    /// are not in the store then have no id yet
    #[arg(long)]
    dry_run: bool,
    /// Metrics of the table, separated by commas; `all` means every one
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    metrics: Vec<String>,
    /// Report the last epoch instead of the selected one
    #[arg(long)]
    last: bool,
    #[command(flatten)]
    form: FormArgs,
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
    runs: Vec<RunOrigin>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(path) = args.spec.as_ref().filter(|_| !args.template) else {
        ui::out(template())?;
        return Ok(ExitCode::SUCCESS);
    };
    let chosen = dissensus::metrics(&args.metrics)?;
    let name = path.display().to_string();
    let text = match name.as_str() {
        "-" => std::io::read_to_string(std::io::stdin()).context("reading standard input")?,
        _ => std::fs::read_to_string(path).with_context(|| format!("reading {name}"))?,
    };
    let mut spec = Spec::parse(&text, &name, &args.sets)?;
    let folder = args.store.clone().unwrap_or_else(|| spec.run.store.clone());
    let mut data = spec.data.clone();
    let generated = data.source == DataSource::Dataset(BLENDS.to_owned());
    let wanted = data.items.filter(|items| args.dry_run && generated && *items > MOST_GENERATED);
    if wanted.is_some() {
        // A few generated items are like all of them.
        data.items = Some(FEW_GENERATED);
    }
    let task = load_task(&data, &context())?;
    let recipes = spec.resolve(&task);
    let plans = spec.runs();
    // What does not fit the data fits no run.
    plans.iter().try_for_each(|plan| plan.check_augment(&task))?;
    spec.model.network(task.shape(), task.table().classes().len())?;
    check_loss(spec.training.loss, task.table().classes())?;
    if args.dry_run {
        return dry_run(args, &folder, (&task, wanted), &spec, &recipes);
    }
    let matters = |recipe: &&Recipe| recipe.key == "training.augment" && task.may_be_augmented();
    recipes.iter().filter(matters).for_each(|recipe| ui::note(&recipe.to_string()));
    let bars = Bars::new(true);
    let execution = args.on.over(spec.run.execution.clone());
    let context = bars.context(Context::create(&Location::folder(&folder)?, execution)?);
    let held = interrupt::hold_training();
    let ended = context.train(&RunJob::all(&task, &plans));
    drop(held);
    let ended = ended?;
    let (which, epoch) = if args.last { (Which::Last, "Last") } else { (Which::Best, "Selected") };
    let columns = chosen.into_iter().map(|metric| SummaryColumn::metric(metric, which));
    let summary = summarize_runs(&ended, &columns.collect::<Vec<_>>(), which);
    match args.form.table() {
        None => ui::json(&Report {
            version: dissensus::VERSION,
            store: folder.display().to_string(),
            spec: &spec,
            summary: &summary,
            runs: RunOrigin::of(&ended, &context.store),
        })?,
        _ if summary.arms.is_empty() => {}
        Some(form) => {
            if form == Form::Terminal {
                let title = paint::title(&format!("{epoch} epoch on {}", summary.part));
                ui::out(&format!("{title}, mean ± sd over seeds\n"))?;
            }
            print(&[summary.table()], form)?;
        }
    }
    Ok(closing(&ended, &folder))
}

/// The dataset that is generated.
const BLENDS: &str = "blends";
/// The most items that a dry run generates, for the ids of runs; and how many where there would be more.
const MOST_GENERATED: u64 = 5000;
const FEW_GENERATED: u64 = 100;

/// What would be trained, and how.
#[derive(Serialize)]
struct Planned<'a> {
    version: &'static str,
    store: String,
    spec: &'a Spec,
    /// Settings that the spec does not state, and where they come from.
    recipes: &'a [Recipe],
    runs: Vec<PlannedRun>,
}

#[derive(Serialize)]
struct PlannedRun {
    /// `None` where the data were not made, and the store has no run of these settings.
    id: Option<String>,
    label: String,
    state: String,
}

fn dry_run(
    args: &Args,
    folder: &Path,
    (task, wanted): (&Task, Option<u64>),
    spec: &Spec,
    recipes: &[Recipe],
) -> anyhow::Result<ExitCode> {
    let store = Store::open(folder).ok();
    // Data that were not made have no digest: the newest run of these settings is the one.
    let like = |planned: &Value, run: &RunInfo| {
        let data = |run: &Value| (run["data"]["name"].clone(), run["data"]["items"].as_u64());
        run.spec["run"] == planned["run"] && data(&run.spec) == (data(planned).0, wanted)
    };
    let all = match (&store, wanted) {
        (Some(store), Some(_)) => store.runs()?.runs,
        _ => Vec::new(),
    };
    let run = |plan: RunPlan| {
        let planned = plan.with_data(task.identity().clone()).to_value();
        let id = wanted.is_none().then(|| RunId::of(&planned));
        let known = match &id {
            Some(id) => store.as_ref().and_then(|store| store.run(id).ok()),
            None => all.iter().rev().find(|run| like(&planned, run)).cloned(),
        };
        let id = id.or_else(|| known.as_ref().map(|run| run.id.clone()));
        let state = known.map_or("to train".to_owned(), |run| {
            format!("{}, epoch {}", state_name(&run.status.state), run.status.epoch)
        });
        PlannedRun { id: id.map(|id| id.to_string()), label: plan.label(), state }
    };
    let runs: Vec<PlannedRun> = spec.runs().into_iter().map(run).collect();
    if args.form.table().is_none() {
        let (version, store) = (dissensus::VERSION, folder.display().to_string());
        ui::json(&Planned { version, store, spec, recipes, runs })?;
        return Ok(ExitCode::SUCCESS);
    }
    let training = &spec.training;
    let optimizer = match training.optimizer {
        Optimizer::Sgd { .. } => "sgd",
        Optimizer::Adam { .. } => "adam",
    };
    let augment = training.augment.unwrap_or_default();
    let (shape, classes) = (describe_shape(task.shape()), task.table().classes().len());
    ui::err(&format!(
        "data      {}: {} items, {classes} classes, {shape}\n\
         model     {}\n\
         training  {} epochs in batches of {}; {optimizer}, learning rate {}; augment = {augment}\n",
        task.identity().name,
        wanted.map_or(task.table().len(), |items| items as usize),
        spec.model,
        training.epochs,
        training.batch_size,
        training.learning_rate,
    ));
    if !recipes.is_empty() {
        ui::err("settings that come from a recipe:\n");
    }
    recipes.iter().for_each(|recipe| ui::err(&format!("  {recipe}\n")));
    for PlannedRun { id, label, state } in runs {
        let id = id.unwrap_or_else(|| format!("{:16}", "–"));
        ui::out(&format!("{id}  {label}  {}\n", paint::dim(&state)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the closing lines, and returns the exit code.
fn closing(ended: &[EndedJob], folder: &Path) -> ExitCode {
    let failed = failures(ended);
    if !failed.is_empty() {
        let (many, all) = (failed.len(), ended.len());
        ui::err(&format!("\n{} {many} of {all} runs\n", paint::bad("failed:")));
        failed.iter().for_each(|line| ui::err(&format!("  {line}\n")));
    }
    let open = ended.iter().filter(|run| run.outcome.is_open()).count();
    if open > 0 {
        let again = ui::same_command();
        ui::err(&format!("\n{open} runs are not done; continue them with\n  {again}\n"));
        return ExitCode::from(130);
    }
    ui::remark(&format!("\nnext: dissensus runs list --store {}", folder.display()));
    ExitCode::from(u8::from(!failed.is_empty()))
}
