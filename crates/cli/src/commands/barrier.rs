//! `dissensus barrier`

use dissensus::examine::{Model, PathSettings, barrier};
use dissensus::format_number;
use dissensus::geometry::barrier::Statistics;
use dissensus::tables::{barrier_table, statistics_name};

use crate::args::{FormArgs, ModelArgs, ask};
use crate::ui::table::{Form, print};
use crate::ui::{self, paint, text};

/// Compute the loss barrier on the straight line between the weights of two runs.
///
/// At α the weights are (1 − α)·A + α·B. The barrier is the largest excess of the soft NLL there over
/// the straight line between the losses of both ends: near 0 if both lie in one basin. The loss is
/// over the items that both runs have in the part. Batch statistics on the path are interpolated like
/// the weights, or recomputed at every point on the items that both were trained on; both are shown,
/// since interpolated statistics alone can cause a barrier.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The run to start from: its id, or the first digits of it
    #[arg(value_name = "A")]
    from: String,
    /// The run at the other end
    #[arg(value_name = "B")]
    to: String,
    /// How batch statistics on the path are computed
    #[arg(long, value_name = "HOW", default_value = "both")]
    #[arg(value_parser = ["interpolated", "recomputed", "both"])]
    statistics: String,
    /// Number of points on the path, both ends included
    #[arg(long, value_name = "N", default_value_t = 21)]
    points: usize,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    form: FormArgs,
}

const EXAMPLES: &str = "\
Examples:
  dissensus barrier 0f3a 77c1                for example soft and sls of one seed
  dissensus barrier 0f3a 77c1 --csv > path.csv";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut opened = args.models.open(&[&args.from, &args.to])?;
    let settings = PathSettings {
        part: args.models.part.clone(),
        points: args.points,
        statistics: match args.statistics.as_str() {
            "interpolated" => vec![Statistics::Interpolated],
            "recomputed" => vec![Statistics::Recomputed],
            _ => PathSettings::default().statistics,
        },
    };
    let [from, to] = &mut opened.models[..] else { anyhow::bail!("a path needs two runs") };
    let found = ask("", |observer| barrier(from, to, &settings, observer))?;
    let name =
        |model: &Model| format!("{} ({})", &model.id()[..8.min(model.id().len())], model.label());
    let (from, to) = (name(from), name(to));
    let Some(form) = args.form.table() else { return opened.json(&found) };
    if form == Form::Terminal {
        let (items, part) = (text::thousands(found.items), &found.part);
        let line = format!("{from} to {to}, soft NLL over {items} items of {part}\n");
        ui::out(&paint::title(&line))?;
        for path in &found.paths {
            let height = paint::strong(&format_number(Some(path.barrier)));
            let how = statistics_name(path.settings.statistics);
            let at = format!(", at α = {}", path.at);
            let at = if path.barrier > 0.0 { at.as_str() } else { "" };
            ui::out(&format!("barrier {height}, statistics {how}{at}\n"))?;
        }
        ui::out("\n")?;
    }
    print(&[barrier_table(&found, form)], form)
}
