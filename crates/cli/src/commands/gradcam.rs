//! `dissensus gradcam`

use std::path::PathBuf;

use dissensus::examine::{CamSettings, Seeing, Slice, StabilitySettings};
use dissensus::tables::map_tables;
use dissensus::{MapOptions, draw_maps};

use crate::args::{FormArgs, ModelArgs, ask};
use crate::ui::table::print;
use crate::ui::{self, text};

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
    /// The N items of the part that people disagree on most
    #[arg(long, value_name = "N", default_value_t = 8)]
    top: usize,
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
    slices: Vec<Slice>,
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
    models: ModelArgs,
    #[command(flatten)]
    form: FormArgs,
}

const EXAMPLES: &str = "\
Examples:
  dissensus gradcam 0f3a --top 20 --out maps
  dissensus gradcam 0f3a --items 17,204 --class majority
  dissensus gradcam 0f3a 77c1 b20e --top 4         and the stability of their maps";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut opened = args.models.open(&args.runs)?;
    let class = if args.class == "majority" { Seeing::Majority } else { Seeing::Predicted };
    let options = MapOptions {
        items: args.items.clone(),
        top: args.top,
        stability: StabilitySettings {
            part: args.models.part.clone(),
            slices: args.slices.clone(),
            cam: CamSettings { class },
        },
        scale: args.scale,
        opacity: args.opacity,
        force: args.force,
    };
    let found = ask("", |observer| draw_maps(&mut opened.models, &args.out, &options, observer))?;
    let Some(form) = args.form.table() else { return opened.json(&found) };
    print(&map_tables(&found, form), form)?;
    let files = text::count(found.files.iter().map(Vec::len).sum(), "image", "images");
    ui::err(&format!("wrote {files} into {}\n", args.out.display()));
    Ok(())
}
