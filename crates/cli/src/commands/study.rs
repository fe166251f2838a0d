//! `dissensus study …`

mod finish;
mod list;
mod new;
mod run;
mod status;
mod submit;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dissensus::SharedStudy;
use dissensus::cluster::selection;
use dissensus::remote::is_remote_url;
use dissensus::store::Store;
use dissensus::studies::{Plan, PlanOptions, SeedChoice, Study, VoteChoice};

pub(crate) use run::say;

use super::store::say_synced;
use crate::args::{quoted, store_flag};
use crate::interrupt;
use crate::ui::progress::Terminal;
use crate::ui::{self, paint, text};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    New(Box<new::Args>),
    Run(run::Args),
    Finish(finish::Args),
    Submit(Box<submit::Args>),
    Status(status::Args),
    Cancel(submit::CancelArgs),
    /// List the built-in studies, and those of a store
    List(list::ListArgs),
    Show(list::ShowArgs),
}

pub(crate) fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::New(args) => new::run(&args)?,
        Command::Run(mut args) => {
            args.choice.resolve_store()?;
            return run::run(&args);
        }
        Command::Finish(mut args) => {
            args.choice.resolve_store()?;
            return finish::run(&args);
        }
        Command::Submit(args) => return submit::submit(&args),
        Command::Status(mut args) => {
            args.choice.resolve_store()?;
            status::run(&args)?;
        }
        Command::Cancel(args) => submit::cancel(&args)?,
        Command::List(args) => list::list(&args)?,
        Command::Show(args) => list::show(&args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The study, and which of its runs.
#[derive(clap::Args)]
pub(crate) struct Choice {
    /// A built-in study (`dissensus study list`), or a file
    #[arg(value_name = "NAME|FILE")]
    study: String,
    /// The folder of runs; or a bucket (s3://BUCKET/PREFIX, gs://…, az://…, file:///FOLDER) that runs are
    /// pulled from and pushed to
    #[arg(long, value_name = "DIR|URL", env = "DISSENSUS_STORE", default_value = FOLDER)]
    store: PathBuf,
    /// With a bucket, the folder of runs on this machine [default: runs]
    #[arg(long, value_name = "DIR")]
    local: Option<PathBuf>,
    /// The address of the bucket; `store` is then the folder on this machine.
    #[arg(skip)]
    bucket: Option<String>,
    /// Only these arms, separated by commas
    #[arg(long, value_name = "ARM,…", value_delimiter = ',')]
    arms: Vec<String>,
    /// Only these numbers of votes per item, such as 5,all
    #[arg(long, value_name = "K,…", value_delimiter = ',')]
    votes_per_item: Vec<VoteChoice>,
    /// At most N seeds per arm; or a range of seeds, such as 5-9
    #[arg(long, value_name = "N|A-B")]
    seeds: Option<SeedChoice>,
    /// One of the scales that the study defines, such as quick
    #[arg(long, value_name = "SCALE")]
    scale: Option<String>,
    /// Set a key of all runs, such as training.epochs=20; may be repeated
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    sets: Vec<String>,
}

/// The default folder of runs.
const FOLDER: &str = "runs";

impl Choice {
    /// Tells the address of a bucket from a folder.
    fn resolve_store(&mut self) -> anyhow::Result<()> {
        match self.store.to_str().filter(|text| is_remote_url(text)) {
            Some(url) => {
                self.bucket = Some(url.to_owned());
                self.store = self.local.take().unwrap_or_else(|| FOLDER.into());
            }
            None if self.local.is_some() => {
                anyhow::bail!(
                    "--local is the folder of runs beside a bucket; --store names no bucket"
                )
            }
            None => {}
        }
        Ok(())
    }

    /// Shares the runs of a study through the bucket, where there is one, and pulls what it has.
    fn share<'a>(
        &self,
        plan: &Plan<'_>,
        store: &'a Store,
        progress: &'a Terminal,
    ) -> anyhow::Result<Option<SharedStudy<'a>>> {
        let Some(url) = &self.bucket else { return Ok(None) };
        let (shared, pulled) = SharedStudy::open(url, plan, store, progress, interrupt::cancel())?;
        let runs = text::count(pulled.pulled.runs, "run", "runs");
        ui::remark(&format!("pulled {runs} from {url} into {}", self.store.display()));
        say_synced(&pulled);
        Ok(Some(shared))
    }

    /// The store as it is, with what a bucket has of the study.
    fn open(&self, plan: &Plan<'_>) -> anyhow::Result<Store> {
        if self.bucket.is_none() {
            return Ok(Store::open(&self.store)?);
        }
        let store = Store::create_or_open(&self.store)?;
        self.share(plan, &store, &Terminal::default())?;
        Ok(store)
    }

    /// Pushes what the bucket lacks. Whether it has everything then, and no other version of a run.
    fn push_rest(&self, shared: Option<SharedStudy<'_>>) -> anyhow::Result<bool> {
        let Some(shared) = shared else { return Ok(true) };
        let synced = match shared.finish(interrupt::cancel()) {
            Ok(synced) => synced,
            Err(error) => {
                let error = anyhow::Error::from(error);
                ui::err(&format!("{} {error:#}\n", paint::bad("not pushed:")));
                ui::err(&format!(
                    "the runs are in {}; the same command pushes them\n",
                    self.store.display()
                ));
                return Ok(false);
            }
        };
        say_synced(&synced);
        Ok(!synced.has_problems())
    }

    fn study(&self) -> anyhow::Result<Study> {
        let mut study = dissensus::open_study(&self.study)?;
        if let Some(scale) = &self.scale {
            study = study.scaled(scale)?;
        }
        Ok(study.with_overrides(&self.sets)?)
    }

    /// The study as a command names it.
    fn named(&self) -> Vec<String> {
        let mut words = vec![self.study.clone()];
        words.extend(self.scale.iter().flat_map(|scale| ["--scale".to_owned(), scale.clone()]));
        words.extend(self.sets.iter().flat_map(|set| ["--set".to_owned(), set.clone()]));
        words
    }

    /// The options that select runs.
    fn selection(&self) -> Vec<String> {
        selection(&self.options())
    }

    /// The study, its runs and the store, for a command to be typed.
    fn typed(&self) -> String {
        let words = self.named().into_iter().chain(self.selection());
        let words = words.map(|word| quoted(Path::new(&word))).collect::<Vec<_>>().join(" ");
        words
            + &match &self.bucket {
                None => store_flag(&self.store),
                Some(url) => {
                    let local = match self.store == Path::new(FOLDER) {
                        true => String::new(),
                        false => format!(" --local {}", quoted(&self.store)),
                    };
                    format!(" --store {}{local}", quoted(Path::new(url)))
                }
            }
    }

    fn options(&self) -> PlanOptions {
        let (seeds, between) = match self.seeds {
            None => (None, None),
            Some(SeedChoice::Most(most)) => (Some(most), None),
            Some(SeedChoice::Between(first, last)) => (None, Some((first, last))),
        };
        let ks = self.votes_per_item.iter().map(|votes| votes.0).collect();
        PlanOptions { only: self.arms.clone(), ks, seeds, between }
    }
}
