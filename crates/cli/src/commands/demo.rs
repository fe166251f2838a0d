//! `dissensus demo`

mod training;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::data::blends::{Blends, SIDE, Settings, VotesPerItem, class_names};
use dissensus::votes::summary::summarize;

use super::study::at_least_one;
use crate::ui::{self, bars, paint, text};

/// Train six delivery methods on generated data, on a CPU.
///
/// `blends` are small grey images, each a blend of two glyphs, with the votes of a simulated
/// population of annotators. The true distribution of the votes is known exactly, unlike that of any
/// real dataset. Nothing is downloaded; the same seed gives the same bytes. One small network is then
/// trained with every delivery method, with few votes per item and with all votes, and evaluated
/// against the votes and against the true distribution. This takes about a minute on two cores.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Only generate and show the data
    #[arg(long)]
    no_train: bool,
    /// Epochs per run
    #[arg(long, value_name = "N", default_value_t = 30)]
    epochs: u64,
    /// Seeds per method
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one)]
    seeds: u64,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "dissensus-demo")]
    store: PathBuf,
    /// Save votes.csv, images.npy and truth.npz into this folder, and do not train
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
    #[arg(long, default_value_t = Settings::default().seed)]
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
    super::votes::print_summary(&name, &[], &summary)?;
    ui::out(&images(&blends)?)?;
    if let Some(folder) = &args.out {
        for path in dissensus::save_blends(&blends, folder, args.force)? {
            ui::err(&format!("wrote {}\n", path.display()));
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
    training::run(args, &blends)
}

/// A clear image, a doubtful one and one that splits people, each with votes and true distribution.
fn images(blends: &Blends) -> anyhow::Result<String> {
    let mut page = String::new();
    writeln!(page, "\n{}", paint::title("Three images, their votes and their true distributions"))?;
    let mut order: Vec<usize> = (0..blends.len()).collect();
    let entropy = |item: usize| dissensus::core::entropy(blends.truth(item));
    order.sort_by(|&a, &b| entropy(a).total_cmp(&entropy(b)));
    let counts = blends.table().counts();
    let names = class_names();
    for share in [5, 75, 99] {
        let Some(&item) = order.get(blends.len() * share / 100) else {
            continue;
        };
        let votes = counts.as_ref().map(|c| c.row(item, names.len())).unwrap_or_default();
        let total: f64 = votes.iter().sum();
        let truth = blends.truth(item);
        let mut classes: Vec<usize> = (0..names.len()).collect();
        classes.sort_by(|&a, &b| truth[b].total_cmp(&truth[a]));
        let mut lines = vec![
            paint::strong(blends.table().items().name(item)),
            paint::dim(&format!("{:<11} {:<20}       {}", "", "votes", "truth")),
        ];
        for &class in classes.iter().take(4) {
            let cast = votes.get(class).copied().unwrap_or(0.0) / total.max(1.0);
            let name = text::pad(names[class], 11);
            let (left, right) = (bars::bar(cast, 1.0, 20), bars::bar(truth[class], 1.0, 20));
            let (cast, true_share) = (100.0 * cast, 100.0 * truth[class]);
            lines.push(format!("{name} {left} {cast:>3.0} %  {right} {true_share:>3.0} %"));
        }
        for row in 0..SIDE / 2 {
            let line = lines.get(row).map_or("", String::as_str);
            writeln!(page, "  {}   {line}", half_blocks(blends.image(item), row))?;
        }
        writeln!(page)?;
    }
    Ok(page)
}

/// Two rows of pixels as one line of text: shades of grey as blocks.
fn half_blocks(image: &[u8], row: usize) -> String {
    const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    let pixel = |y: usize, x: usize| u32::from(image.get(y * SIDE + x).copied().unwrap_or(0));
    (0..SIDE)
        .flat_map(|x| {
            let mean = (pixel(2 * row, x) + pixel(2 * row + 1, x)) / 2;
            let shade = SHADES[(mean as usize * SHADES.len() / 256).min(SHADES.len() - 1)];
            [shade]
        })
        .collect()
}
