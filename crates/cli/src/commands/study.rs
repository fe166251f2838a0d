//! `dissensus study …`

mod finish;
mod list;
mod new;
mod run;
mod status;
mod submit;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dissensus::cluster::selection;
use dissensus::studies::{PlanOptions, SeedChoice, Study, VoteChoice};
use dissensus::{Error, Location};

use crate::args::{quoted, store_flag};

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
        Command::Run(args) => return run::run(&args),
        Command::Finish(args) => return finish::run(&args),
        Command::Submit(args) => return submit::submit(&args),
        Command::Status(args) => status::run(&args)?,
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
    #[arg(long, value_name = "DIR|URL", env = "DISSENSUS_STORE", default_value = Location::BESIDE)]
    store: PathBuf,
    /// With a bucket, the folder of runs on this machine [default: runs]
    #[arg(long, value_name = "DIR")]
    local: Option<PathBuf>,
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

impl Choice {
    /// Where the runs are.
    fn location(&self) -> Result<Location, Error> {
        Location::parse(&self.store, self.local.as_deref())
    }

    fn study(&self) -> anyhow::Result<Study> {
        let mut study = dissensus::study::open(&self.study)?;
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
        let local = self.local.as_ref().map(|local| format!(" --local {}", quoted(local)));
        words + &store_flag(&self.store) + &local.unwrap_or_default()
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
