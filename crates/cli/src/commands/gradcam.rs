//! `dissensus gradcam`

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use dissensus::engine::network::Shape;
use dissensus::examine::{
    CamSettings, Maps, Model, Seeing, Slice, SliceStability, StabilitySettings, gradcam, overlay,
    png, stability,
};
use dissensus::io::FileError;
use serde::Serialize;

use crate::evaluation::number;
use crate::examining::{Models, Terminal, short};
use crate::ui::table::{Cell, Form, Print as _, Table};
use crate::ui::{self, files, text};

/// Draw Grad-CAM maps over images, as PNG files.
///
/// A map is bright where the last convolutional block supports the class. With several runs, maps of
/// the same items are drawn for each, and the stability of the maps is printed: the mean correlation
/// over pairs of runs, on all images that both runs hold out and on those that people disagree on
/// most.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The runs: their ids, or the first digits of them
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
    /// The items by their ids, separated by commas
    #[arg(long, value_name = "ID,…", value_delimiter = ',', conflicts_with = "top")]
    items: Vec<String>,
    /// The N items of the part that people disagree on most [default: 8]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// The class to map: the predicted class, or the majority class of the votes
    #[arg(long, value_name = "CLASS", default_value = "predicted")]
    #[arg(value_parser = ["predicted", "majority"])]
    class: String,
    /// Slices to measure stability on, separated by commas: all, high, top:SHARE, above:NATS
    #[arg(
        long = "slice",
        value_name = "SLICE,…",
        value_delimiter = ',',
        default_value = "all,high"
    )]
    slices: Vec<String>,
    /// The part of the split [default: the reported part, the last]
    #[arg(long, value_name = "PART")]
    part: Option<String>,
    /// The folder to write PNG files into
    #[arg(long, value_name = "DIR", default_value = "gradcam")]
    out: PathBuf,
    /// Enlarge the images this many times [default: to about 256 pixels]
    #[arg(long, value_name = "TIMES")]
    scale: Option<usize>,
    /// The opacity of the map, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    opacity: f32,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    models: Models,
    /// Print as JSON, with the maps
    #[arg(long, group = "form")]
    json: bool,
    /// Print as CSV
    #[arg(long, group = "form")]
    csv: bool,
}

const EXAMPLES: &str = "\
Examples:
  dissensus gradcam 0f3a --top 20 --out maps
  dissensus gradcam 0f3a --items 17,204 --class majority
  dissensus gradcam 0f3a 77c1 b20e --top 4         and the stability of their maps";

/// The default number of items.
const TOP: usize = 8;

/// About how many pixels a side has.
const SIDE: usize = 256;

#[derive(Serialize)]
struct Report<'a> {
    runs: &'a [Maps],
    /// The PNG files, by run and then item.
    files: &'a [Vec<PathBuf>],
    stability: &'a [SliceStability],
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let slices: Vec<Slice> =
        args.slices.iter().map(|slice| Ok(slice.parse()?)).collect::<anyhow::Result<_>>()?;
    let infos = args.models.find(&args.runs)?;
    let mut opened = args.models.open()?;
    let mut models = opened.all(&infos)?;
    let class = if args.class == "majority" { Seeing::Majority } else { Seeing::Predicted };
    let settings = CamSettings { class };
    let ids = args.ids(&models[0])?;
    let paths: Vec<Vec<PathBuf>> = models.iter().map(|model| args.paths(model, &ids)).collect();
    if let Some(path) = paths.iter().flatten().find(|path| !args.force && path.exists()) {
        return Err(FileError::Exists { path: path.clone() }.into());
    }
    let bars = Terminal::default();
    let mut found = Vec::new();
    for (model, paths) in models.iter_mut().zip(&paths) {
        let rows = model.rows(&ids)?;
        let maps = gradcam(model, &rows, &settings, &bars.observer())?;
        let times = args.scale.unwrap_or_else(|| match model.dataset().shape() {
            Shape::Map { height, width, .. } => (SIDE / height.max(width).max(1)).clamp(1, 64),
            Shape::Flat { .. } => 1,
        });
        for (item, path) in maps.items.iter().zip(paths) {
            let bytes = png(&overlay(model, &maps, item, times, args.opacity)?)?;
            files::replace(path, |out| out.write_all(&bytes))
                .with_context(|| format!("writing {}", path.display()))?;
        }
        found.push(maps);
    }
    let stable = match models.len() {
        1 => Vec::new(),
        _ => {
            let settings = StabilitySettings { part: args.part.clone(), slices, cam: settings };
            stability(&mut models, &settings, &Terminal::named("stability").observer())?
        }
    };
    drop(bars);
    if args.json {
        opened.print(&Report { runs: &found, files: &paths, stability: &stable })?;
        return Ok(ExitCode::SUCCESS);
    }
    let form = Form::asked(args.csv, false, false);
    ui::out(&table(&found, &paths).print(form))?;
    if let (Some(table), Form::Terminal) = (alike(&stable), form) {
        ui::out(&format!("\n{}", table.print(form)))?;
    }
    let files = paths.iter().map(Vec::len).sum();
    let files = text::count(files, "image", "images");
    ui::err(&format!("wrote {files} into {}\n", args.out.display()));
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// The items: as given, or the most divided ones of the first run.
    fn ids(&self, model: &Model) -> anyhow::Result<Vec<String>> {
        if !self.items.is_empty() {
            return Ok(self.items.clone());
        }
        let rows = model.most_divided(self.part.as_deref(), self.top.unwrap_or(TOP))?;
        let id = |row: u32| model.items().name(row as usize).to_owned();
        Ok(rows.into_iter().map(id).collect())
    }

    fn paths(&self, model: &Model, ids: &[String]) -> Vec<PathBuf> {
        let path = |id: &String| {
            let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
            let item: String = id.chars().map(plain).collect();
            self.out.join(format!("{}-{item}.png", short(model.id())))
        };
        ids.iter().map(path).collect()
    }
}

fn table(found: &[Maps], paths: &[Vec<PathBuf>]) -> Table {
    let mut rows = Vec::new();
    for (maps, paths) in found.iter().zip(paths) {
        for (item, path) in maps.items.iter().zip(paths) {
            let nothing = item.map.iter().all(|&v| v == 0.0);
            let cells = [
                short(&maps.run),
                text::one_line(&item.item, 40),
                text::one_line(&item.class, 30),
                path.display().to_string() + if nothing { " (empty map)" } else { "" },
                number(Some(item.probability)),
                number(Some(item.votes)),
                number(Some(item.entropy)),
            ];
            rows.push(cells.map(Cell::new).to_vec());
        }
    }
    let columns = ["run", "item", "class", "file", "predicted", "votes", "entropy"];
    Table::new(columns.map(str::to_owned).to_vec(), 4, rows)
}

fn alike(stable: &[SliceStability]) -> Option<Table> {
    let row = |one: &SliceStability| {
        let stability = &one.stability;
        let cells = [
            one.slice.to_string(),
            text::thousands(one.items as u64),
            text::thousands(stability.correlations as u64),
            text::thousands(stability.undefined as u64),
            number(stability.mean),
        ];
        cells.map(Cell::new).to_vec()
    };
    let columns = ["slice", "items", "pairs of maps", "without correlation", "stability"];
    let columns = columns.map(str::to_owned).to_vec();
    (!stable.is_empty()).then(|| Table::new(columns, 1, stable.iter().map(row).collect()))
}
