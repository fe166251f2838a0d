//! `dissensus store sync`

use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::remote::{SyncCounts, SyncDirection, SyncOptions, Synced};
use dissensus::sync_store;

use crate::args::whole;
use crate::interrupt;
use crate::ui::progress::Terminal;
use crate::ui::{self, paint, text};

/// Keep a store and a bucket in step: push finished runs, and pull those of others.
///
/// Finished runs, results of stages and the texts of studies are pushed where the bucket lacks them, and
/// pulled where the store does; weights, checkpoints and unfinished runs stay where they are. Objects are
/// created once and never changed or deleted, so many machines may push at once, and an interrupted sync
/// continues where it stopped. Checksums are verified on both sides. A run of which the two sides have
/// different predictions is listed, and neither is moved.
///
/// Credentials and settings come from the environment, as other programs use it: AWS_ACCESS_KEY_ID,
/// AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT and AWS_ALLOW_HTTP for s3://;
/// GOOGLE_APPLICATION_CREDENTIALS for gs://; AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY
/// for az://.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder of runs
    #[arg(value_name = "STORE", env = "DISSENSUS_STORE")]
    store: PathBuf,
    /// The bucket: s3://BUCKET/PREFIX, gs://…, az://… or file:///FOLDER
    #[arg(value_name = "URL")]
    url: String,
    /// Only to the bucket
    #[arg(long)]
    push: bool,
    /// Only from the bucket
    #[arg(long, conflicts_with = "push")]
    pull: bool,
    /// Only print what would be moved
    #[arg(long)]
    dry_run: bool,
    /// Transfers at a time
    #[arg(long, value_name = "N", default_value = "8", value_parser = whole::<usize>(1..=256))]
    jobs: usize,
}

const EXAMPLES: &str = "\
Examples:
  dissensus store sync runs s3://lab/votes
  dissensus store sync runs s3://lab/votes --pull --dry-run
  dissensus store sync runs file:///mnt/shared/votes --push

Exit codes: 0 both sides agree; 1 some transfers failed, or a run has different predictions on the two
sides; 2 the store or the address is wrong, or the bucket cannot be listed; 130 interrupted.";

const STOPPING: &str = "\nending after the transfers that are under way\n";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let held = interrupt::hold(STOPPING);
    let bar = Terminal::default();
    let options = SyncOptions {
        direction: match (args.push, args.pull) {
            (true, _) => SyncDirection::Push,
            (_, true) => SyncDirection::Pull,
            _ => SyncDirection::Both,
        },
        dry_run: args.dry_run,
        jobs: args.jobs,
        progress: &bar,
        cancel: interrupt::cancel().clone(),
        ..SyncOptions::default()
    };
    let synced = sync_store(&args.store, &args.url, &options)?;
    drop(held);
    ui::out(&table(&synced, args.dry_run))?;
    synced.report(&bar);
    if synced.cancelled {
        ui::err(&format!("interrupted; continue with\n  {}\n", ui::same_command()));
        return Ok(ExitCode::from(130));
    }
    Ok(ExitCode::from(u8::from(synced.has_problems())))
}

/// What was moved, one line per direction.
fn table(synced: &Synced, dry_run: bool) -> String {
    let (pushed, pulled) = match dry_run {
        true => ("would push", "would pull"),
        false => ("pushed", "pulled"),
    };
    let line = |what: &str, counts: &SyncCounts| {
        let (runs, files) = (text::thousands(counts.runs), text::thousands(counts.files));
        let size = if counts.bytes > 0 { text::size(counts.bytes) } else { String::new() };
        format!("{what:<12}{runs:>8}{files:>8}  {size}").trim_end().to_owned() + "\n"
    };
    let mut table = paint::dim(&format!("{:<12}{:>8}{:>8}\n", "", "runs", "files"));
    table += &line(pushed, &synced.pushed);
    table += &line(pulled, &synced.pulled);
    table + &line("same", &synced.same)
}
