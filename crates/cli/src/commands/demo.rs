//! `dissensus demo`

use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::core::limits::MAX_SEEDS;
use dissensus::data::blends::{Blends, Settings, VotesPerItem};
use dissensus::train::spec::Execution;
use dissensus::votes::summary::summarize;
use dissensus::{Context, Location, pages, study};

use crate::args::whole;
use crate::interrupt;
use crate::ui::runs::Bars;
use crate::ui::table::{Form, print, style};
use crate::ui::{self, paint, report};

/// Train four delivery methods on generated data, on a CPU.
///
/// `blends` are small grey images, each a blend of two glyphs, with the votes of a simulated
/// population of annotators. The true distribution of the votes is known exactly, unlike that of any
/// real dataset. Nothing is downloaded; the same seed gives the same bytes. One small network is then
/// trained by four delivery methods, with 5 votes per item and with all votes, and evaluated
/// against the votes and against the true distribution. With eight seeds each, an exact paired test
/// can tell the methods apart. This takes about 40 seconds on two cores.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Only generate and show the data
    #[arg(long)]
    no_train: bool,
    /// Epochs per run
    #[arg(long, value_name = "N", default_value_t = 20)]
    epochs: u64,
    /// Seeds per method
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = whole::<u64>(1..=MAX_SEEDS), allow_negative_numbers = true)]
    seeds: u64,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "dissensus-demo")]
    store: PathBuf,
    /// Save votes.csv, images.npz and truth.npz into this folder, and do not train
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
}

#[derive(clap::Args)]
pub(crate) struct SettingsArgs {
    /// Number of images
    #[arg(long, default_value_t = 2000)]
    items: usize,
    /// Votes per image: a number, or a range such as 3..8
    #[arg(long, default_value_t = Settings::default().votes)]
    votes: VotesPerItem,
    /// Number of annotators in the population
    #[arg(long, default_value_t = Settings::default().annotators)]
    annotators: usize,
    /// How evenly the two glyphs of an image are blended, from 0 to 1
    #[arg(long, default_value_t = Settings::default().ambiguity)]
    ambiguity: f64,
    /// The random seed
    #[arg(long, default_value_t = Settings::default().seed, value_parser = whole::<u64>(0..=u64::MAX), allow_negative_numbers = true)]
    seed: u64,
}

impl SettingsArgs {
    fn settings(&self) -> Settings {
        let &Self { items, votes, annotators, ambiguity, seed } = self;
        Settings { items, votes, annotators, ambiguity, seed, ..Settings::default() }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let blends = args.settings.settings().check()?.generate()?;
    let summary = summarize(blends.table(), &[], 0);
    let name = format!("blends (generated, seed {})", args.settings.seed);
    ui::out(&pages::votes_page(&name, &[], &summary, &style()))?;
    ui::out(&pages::images_page(&blends, &style()))?;
    if let Some(folder) = &args.out {
        for path in dissensus::save_blends(&blends, folder, args.force)? {
            ui::wrote(&path, "");
        }
        let votes = folder.join("votes.csv");
        ui::out(&format!("\nnext: dissensus votes inspect {}\n", votes.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.no_train {
        ui::out(
            "\nnext: dissensus demo --out blends   saves votes, images and true distributions\n",
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    train(args, &blends)
}

fn train(args: &Args, blends: &Blends) -> anyhow::Result<ExitCode> {
    let study = dissensus::demo::study(blends, args.epochs, args.seeds)?;
    let out = report::folder(&args.store, None);
    dissensus::report::check_folder(&out, &study.name, args.force)?;
    let plan = dissensus::demo::plan(&study, blends)?;
    let bars = Bars::new(false);
    let execution = Execution { device: "cpu".to_owned(), ..Execution::default() };
    let context = bars.context(Context::create(&Location::folder(&args.store)?, execution)?);
    let store = &context.store;
    ui::err(&format!(
        "training {} runs of a small network: {} methods, {} votes per item and all votes, {} seeds\n",
        plan.finals(store)?.jobs.len(),
        study.arms.len(),
        dissensus::demo::VOTES,
        args.seeds
    ));
    let held = interrupt::hold_training();
    let ended = study::train(&plan, &context);
    drop(held);
    let ended = ended?;
    if ended.iter().any(|run| run.outcome.result().is_none()) {
        ui::err("\nnot all runs are done; the same command continues them\n");
        return Ok(ExitCode::from(130));
    }
    let summary = dissensus::demo::summarize(&ended, store, blends);
    let title = "Delivery methods on the same votes";
    ui::out(&format!("\n{} (selected epoch, mean ± sd over seeds)\n", paint::title(title)))?;
    print(&[summary.table()], Form::Terminal)?;
    ui::out(&format!("\n{}\n", dissensus::demo::sentences(&plan.book(store)?)?))?;
    let report = dissensus::report::write(&plan, store, &out, args.force)?;
    ui::err(&report::words(&report, &out));
    let (page, store) = (report.page.display(), args.store.display());
    ui::out(&format!(
        "\nreport: {page}   figures, and every image with its votes\n\
         next: dissensus runs list --store {store}\n      \
         dissensus study new votes.csv --inputs images   the same with votes of your own\n      \
         dissensus train --template > spec.toml            only train, with every key explained\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}
