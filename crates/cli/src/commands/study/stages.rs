//! The stages of a study that look into models: run after training, one model at a time, with a bar
//! for each stage.

use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use dissensus::store::{Store, Which};
use dissensus::studies::{Bench, Collected, Examined, LoadError, Onlooker, Plan};
use indicatif::ProgressBar;

use crate::commands::inputs::InputArgs;
use crate::fetching::Fetching;
use crate::training::{on_interrupt, open_device};
use crate::ui::{self, paint, progress, text};

/// That the inputs are there which stages will need when all is trained.
pub(super) fn check(plan: &Plan<'_>, store: &Store, fetching: &Fetching) -> anyhow::Result<()> {
    let cache = dissensus::data::default_cache_dir()?;
    for name in plan.needs(store)? {
        fetching.named(name)?;
        let later = || format!("a stage of the study looks at {name} when the models are trained");
        match dissensus::inputs::WITH_IMAGES.contains(&name) {
            true => drop(dissensus::data::locate(name, &cache).with_context(later)?),
            false => anyhow::ensure!(Path::new(name).exists(), "{}, and it is not there", later()),
        }
    }
    Ok(())
}

/// Looks into what is there to be looked into.
pub(super) fn examine(plan: &Plan<'_>, store: &Store, device: &str) -> anyhow::Result<Examined> {
    if !plan.has_examinations() {
        return Ok(Examined::default());
    }
    let device = open_device(device)?;
    let inputs = |name: &str| -> Result<dissensus::inputs::Inputs, LoadError> {
        Ok(InputArgs::default().read(Path::new(name))?)
    };
    let bench = Bench::new(device.device(), !device.is_gpu(), &inputs);
    let mut bars = Bars::default();
    let examined = plan.examine(store, &bench, on_interrupt(), &mut bars)?;
    bars.end();
    Ok(examined)
}

/// Deletes the weights of runs that no stage needs any more, and says how much that was.
pub(super) fn drop_weights(plan: &Plan<'_>, store: &Store) -> anyhow::Result<()> {
    let (mut runs, mut bytes) = (0, 0);
    for id in plan.spent(store)? {
        let run = store.run(&id)?;
        for which in [Which::Best, Which::Last] {
            let path = run.weights_path(which);
            let size = std::fs::metadata(&path).map_or(0, |about| about.len());
            match std::fs::remove_file(&path) {
                Ok(()) => bytes += size,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => anyhow::bail!("deleting {}: {error}", path.display()),
            }
        }
        runs += 1;
    }
    let runs = text::count(runs, "run", "runs");
    ui::err(&paint::dim(&format!("deleted the weights of {runs}, {}\n", text::size(bytes))));
    Ok(())
}

/// What is said of stages that could not look at everything, once each.
pub(super) fn missing(collected: &Collected) -> String {
    let line = |(stage, runs): (&String, &usize)| {
        let runs = text::count(*runs, "finished run has", "finished runs have");
        format!(
            "{} {runs} no numbers of the stage {stage}: it looks into models where `dissensus study \
             run` finds their weights\n",
            paint::warn("note:")
        )
    };
    collected.unexamined.iter().map(line).collect()
}

/// A bar for the stage that is under way.
#[derive(Default)]
struct Bars {
    stage: String,
    bar: Option<ProgressBar>,
    begun: Option<Instant>,
    all: usize,
}

impl Bars {
    fn end(&mut self) {
        let Some(bar) = self.bar.take() else { return };
        bar.finish_and_clear();
        let seconds = self.begun.take().map_or(0.0, |begun| begun.elapsed().as_secs_f64());
        let done = bar.position();
        let line = format!("stage {}: {done} of {}, {seconds:.1} s\n", self.stage, self.all);
        ui::err(&paint::dim(&line));
    }
}

impl Onlooker for Bars {
    fn begun(&mut self, stage: &str, all: usize) {
        self.end();
        stage.clone_into(&mut self.stage);
        self.all = all;
        self.begun = Some(Instant::now());
        self.bar = Some(progress::steps(all, stage));
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
