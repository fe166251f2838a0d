//! The stages of a study that need models: checks before training, and one bar per stage.

use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use dissensus::store::Store;
use dissensus::studies::{Collected, Plan, StageProgress};
use indicatif::ProgressBar;

use crate::fetching::Fetching;
use crate::ui::{self, paint, progress, text};

/// Checks that the inputs which stages need after training exist.
pub(super) fn check(plan: &Plan<'_>, store: &Store, fetching: &Fetching) -> anyhow::Result<()> {
    let cache = dissensus::data::default_cache_dir()?;
    for name in plan.needs(store)? {
        fetching.named(name)?;
        let later = || format!("a stage of the study needs {name} after training");
        match dissensus::inputs::WITH_IMAGES.contains(&name) {
            true => drop(dissensus::data::locate(name, &cache).with_context(later)?),
            false => {
                anyhow::ensure!(Path::new(name).exists(), "{}, and it does not exist", later())
            }
        }
    }
    Ok(())
}

/// One note per stage that has no results for some runs.
pub(super) fn missing(collected: &Collected) -> String {
    let line = |(stage, runs): (&String, &usize)| {
        let runs = text::count(*runs, "finished run has", "finished runs have");
        format!(
            "{} {runs} no results of the stage {stage}: `dissensus study run` computes them if the \
             weights exist\n",
            paint::warn("note:")
        )
    };
    collected.unexamined.iter().map(line).collect()
}

/// A bar for the current stage.
pub(super) struct Bars<'a> {
    /// Those of training, which is over.
    training: &'a crate::training::Bars,
    stage: String,
    bar: Option<ProgressBar>,
    begun: Option<Instant>,
    all: usize,
}

impl<'a> Bars<'a> {
    pub(super) fn new(training: &'a crate::training::Bars) -> Self {
        Self { training, stage: String::new(), bar: None, begun: None, all: 0 }
    }

    pub(super) fn end(&mut self) {
        let Some(bar) = self.bar.take() else { return };
        bar.finish_and_clear();
        let seconds = self.begun.take().map_or(0.0, |begun| begun.elapsed().as_secs_f64());
        let done = bar.position();
        let line = format!("stage {}: {done} of {}, {seconds:.1} s\n", self.stage, self.all);
        ui::err(&paint::dim(&line));
    }
}

impl StageProgress for Bars<'_> {
    fn begun(&mut self, stage: &str, all: usize) {
        self.training.end();
        self.end();
        stage.clone_into(&mut self.stage);
        self.all = all;
        self.begun = Some(Instant::now());
        self.bar = Some(progress::steps(all as u64, stage));
    }

    fn looking(&mut self, label: &str, task: &str, done: u64, total: Option<u64>) {
        if let Some(bar) = &self.bar {
            let total = total.map_or(String::new(), |total| format!("/{total}"));
            bar.set_message(format!("{}: {label}, {task} {done}{total}", self.stage));
        }
    }

    fn looked(&mut self, label: &str, failed: Option<&str>) {
        let Some(bar) = &self.bar else { return };
        bar.inc(1);
        if let Some(reason) = failed {
            let line = format!("{} {label}: {reason}\n", paint::bad("failed:"));
            bar.suspend(|| ui::err(&line));
        }
    }
}
