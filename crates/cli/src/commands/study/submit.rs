//! `dissensus study submit` and `cancel`

use std::process::ExitCode;

use clap::builder::{PossibleValue, PossibleValuesParser};
use dissensus::cluster::{self, ClusterJob, Resources, SYSTEMS, SlurmOptions, System};
use dissensus::store::Store;
use dissensus::studies::Shard;

use super::Choice;
use crate::args::{ExecutionArgs, FetchArgs, whole};
use crate::ui::{self, text};

/// Run a study on a cluster, in shards.
///
/// On Slurm, writes a job array and a job that finishes the study into the study's folder of the store, with the
/// study as it is now, and submits them. A shard whose node fails is queued again, and so is one that nears its time
/// limit: it stops after the current epochs and later continues from its checkpoints. No accounting database is
/// needed. For Kubernetes, Ray and SSH, --dry-run prints what to apply or run yourself.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    choice: Choice,
    /// The kind of cluster
    #[arg(long, value_name = "SYSTEM", value_parser = systems())]
    on: String,
    /// How many shards: jobs that each train a share of the runs
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=Shard::MOST as u64), allow_negative_numbers = true)]
    shards: usize,
    /// Only print the scripts
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    execution: ExecutionArgs,
    /// At most N shards at a time
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=Shard::MOST as u64), allow_negative_numbers = true)]
    at_once: Option<usize>,
    /// GPUs of a shard
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=64), allow_negative_numbers = true)]
    gpus: Option<u32>,
    /// CPU cores of a shard
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1024), allow_negative_numbers = true)]
    cpus: Option<u32>,
    /// Memory of a shard, as the system writes it, such as 16G or 16Gi
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    /// The program on the machines of the cluster [default: this one on Slurm, otherwise dissensus]
    #[arg(long, value_name = "PATH")]
    program: Option<String>,
    /// The time limit of a shard, such as 4:00:00
    #[arg(long, value_name = "TIME", help_heading = "Slurm")]
    time: Option<String>,
    /// Seconds before the time limit at which a shard stops and is queued again; more than an epoch takes
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = whole::<u32>(1..=65_535), allow_negative_numbers = true, help_heading = "Slurm")]
    warning: u32,
    /// The partition
    #[arg(long, value_name = "NAME", help_heading = "Slurm")]
    partition: Option<String>,
    /// The account that is charged
    #[arg(long, value_name = "NAME", help_heading = "Slurm")]
    account: Option<String>,
    /// Another option of sbatch, such as --extra=--constraint=a100; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true, help_heading = "Slurm")]
    extra: Vec<String>,
    /// The image of containers, with the program
    #[arg(long, value_name = "IMAGE", help_heading = "Kubernetes")]
    image: Option<String>,
    /// The claim of a volume that all containers mount at /data, for the store and the data
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes")]
    claim: Option<String>,
    /// The machines, separated by commas
    #[arg(long, value_name = "HOST,…", value_delimiter = ',', help_heading = "SSH")]
    hosts: Vec<String>,
    #[command(flatten)]
    fetching: FetchArgs,
}

const EXAMPLES: &str = "\
Examples:
  dissensus study submit mine.toml --on slurm --shards 8 --gpus 1 --time 4:00:00
  dissensus study status mine.toml           the queue and the store
  dissensus study cancel mine.toml
  dissensus study submit mine.toml --on slurm --shards 8 --dry-run
  dissensus study submit mine.toml --on kubernetes --shards 8 --image example/dissensus:0.1 \\
    --claim runs --store /data/runs --dry-run > study.yaml
  dissensus study submit mine.toml --on ray --shards 8 --gpus 1 --dry-run > shards.py
  dissensus study submit mine.toml --on ssh --shards 4 --hosts a,b --dry-run > shards.sh";

fn systems() -> PossibleValuesParser {
    let value = |system: &System| PossibleValue::new(system.name).help(system.about);
    PossibleValuesParser::new(SYSTEMS.iter().map(value))
}

pub(crate) fn submit(args: &Args) -> anyhow::Result<ExitCode> {
    let study = args.choice.study()?;
    let Some(system) = System::named(&args.on) else { anyhow::bail!("there is no {}", args.on) };
    let slurm = system.next.is_empty();
    anyhow::ensure!(
        args.choice.local.is_none(),
        "--local is a folder of this machine; the machines of a cluster choose their own"
    );
    let store = system.store(&args.choice.store.to_string_lossy())?;
    let program = match (&args.program, slurm) {
        (Some(program), _) => program.clone(),
        (None, true) => std::env::current_exe()?.display().to_string(),
        (None, false) => "dissensus".to_owned(),
    };
    let job = ClusterJob {
        study: &study,
        named: args.choice.named(),
        selection: args.choice.selection(),
        run_options: args.execution.words(),
        store,
        program,
        directory: std::env::current_dir()?,
        shards: args.shards,
        resources: Resources {
            gpus: args.gpus,
            cpus: args.cpus,
            memory: args.memory.clone(),
            at_once: args.at_once,
        },
        slurm: SlurmOptions {
            partition: args.partition.clone(),
            account: args.account.clone(),
            time: args.time.clone(),
            warning: args.warning,
            extra: args.extra.clone(),
        },
        image: args.image.clone(),
        claim: args.claim.clone(),
        hosts: args.hosts.clone(),
    };
    let scripts = system.scripts(&job)?;
    if args.dry_run {
        for script in &scripts {
            if let [_, _, ..] = &scripts[..] {
                ui::data(format!("# {}\n", script.name).as_bytes())?;
            }
            ui::data(script.text.as_bytes())?;
        }
        if !slurm {
            ui::err(&format!("next: {}\n", system.next));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (choice, load) = (args.choice.options(), args.fetching.context()?);
    let (submission, logs) = system.submit(&job, &choice, &load)?;
    let jobs: Vec<&str> = submission.jobs().collect();
    let (shards, jobs) = (text::count(args.shards, "shard", "shards"), jobs.join(", "));
    ui::out(&format!("submitted {shards} and a last step as jobs {jobs}\n"))?;
    let next = format!("next: dissensus study status {}", args.choice.typed());
    ui::err(&format!("logs: {}\n{next}\n", logs.display()));
    Ok(ExitCode::SUCCESS)
}

/// Cancel the jobs of a study that was submitted.
///
/// What was trained stays in the store. `dissensus study submit` continues, and so does `dissensus study run`.
#[derive(clap::Args)]
pub(crate) struct CancelArgs {
    #[command(flatten)]
    choice: Choice,
}

pub(crate) fn cancel(args: &CancelArgs) -> anyhow::Result<()> {
    let (study, store) = (args.choice.study()?, Store::open(&args.choice.store)?);
    let jobs = cluster::cancel(&store, &study.name)?;
    let text = match jobs.is_empty() {
        true => "none of its jobs is in the queue\n".to_owned(),
        false => format!("cancelled {}\n", jobs.join(", ")),
    };
    Ok(ui::out(&text)?)
}
