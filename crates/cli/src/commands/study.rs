//! `dissensus study …`

mod list;
mod new;
mod run;
mod status;

use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::studies::{PlanOptions, Study};

use crate::args::at_least_one;

pub(crate) use run::say;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    New(new::Args),
    Run(run::Args),
    Status(status::Args),
    /// List the built-in studies, and those of a store
    List(list::ListArgs),
    Show(list::ShowArgs),
}

pub(crate) fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::New(args) => new::run(&args)?,
        Command::Run(args) => return run::run(&args),
        Command::Status(args) => status::run(&args)?,
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
    /// The folder of runs
    #[arg(long, value_name = "DIR", env = "DISSENSUS_STORE", default_value = "runs")]
    store: PathBuf,
    /// Only these arms, separated by commas
    #[arg(long, value_name = "ARM,…", value_delimiter = ',')]
    arms: Vec<String>,
    /// Only these numbers of votes per item, such as 5,all
    #[arg(long, value_name = "K,…", value_delimiter = ',', value_parser = votes)]
    votes_per_item: Vec<Votes>,
    /// At most N seeds per arm; or a range of seeds, such as 5-9
    #[arg(long, value_name = "N|A-B", value_parser = seeds)]
    seeds: Option<Seeds>,
    /// One of the scales that the study defines, such as quick
    #[arg(long, value_name = "SCALE")]
    scale: Option<String>,
    /// Set a key of all runs, such as training.epochs=20; may be repeated
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    sets: Vec<String>,
}

impl Choice {
    fn study(&self) -> anyhow::Result<Study> {
        let mut study = dissensus::open_study(&self.study)?;
        if let Some(scale) = &self.scale {
            study = study.scaled(scale)?;
        }
        Ok(study.with_overrides(&self.sets)?)
    }

    fn options(&self) -> PlanOptions {
        let (seeds, between) = match self.seeds {
            None => (None, None),
            Some(Seeds::Most(most)) => (Some(most), None),
            Some(Seeds::Between(first, last)) => (None, Some((first, last))),
        };
        let ks = self.votes_per_item.iter().map(|votes| votes.0).collect();
        PlanOptions { only: self.arms.clone(), ks, seeds, between }
    }

    /// The arguments of the same choice.
    fn words(&self) -> String {
        let mut words = vec![self.study.clone()];
        words.push(format!("--store {}", self.store.display()));
        if !self.arms.is_empty() {
            words.push(format!("--arms {}", self.arms.join(",")));
        }
        if !self.votes_per_item.is_empty() {
            let k = |votes: &Votes| votes.0.map_or("all".to_owned(), |k| k.to_string());
            let ks = self.votes_per_item.iter().map(k).collect::<Vec<_>>();
            words.push(format!("--votes-per-item {}", ks.join(",")));
        }
        words.extend(self.seeds.map(|seeds| match seeds {
            Seeds::Most(most) => format!("--seeds {most}"),
            Seeds::Between(first, last) => format!("--seeds {first}-{last}"),
        }));
        words.extend(self.scale.iter().map(|scale| format!("--scale {scale}")));
        words.extend(self.sets.iter().map(|set| format!("--set '{set}'")));
        words.join(" ")
    }
}

/// A number of votes; `None` for all.
#[derive(Clone, Copy)]
struct Votes(Option<u32>);

fn votes(text: &str) -> Result<Votes, String> {
    if text == "all" {
        return Ok(Votes(None));
    }
    let number = text.parse().ok().filter(|number| *number > 0);
    number.map(|k| Votes(Some(k))).ok_or_else(|| "expected a number of votes, or all".to_owned())
}

/// Which seeds.
#[derive(Clone, Copy)]
enum Seeds {
    Most(u64),
    Between(u64, u64),
}

fn seeds(text: &str) -> Result<Seeds, String> {
    let Some((first, last)) = text.split_once('-') else {
        return at_least_one(text).map(Seeds::Most);
    };
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(Seeds::Between(first, last)),
        _ => Err("expected two seeds, the smaller first, as in 5-9".to_owned()),
    }
}
