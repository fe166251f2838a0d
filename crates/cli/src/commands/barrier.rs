//! `dissensus barrier`

use std::process::ExitCode;

use dissensus::examine::{PathSettings, Paths, barrier};
use dissensus::geometry::barrier::{Barrier, Statistics};

use crate::evaluation::number;
use crate::examining::{Models, Terminal, short};
use crate::ui::table::{Cell, Form, Print as _, Table};
use crate::ui::{self, bars, paint, text};

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
    /// The part of the split [default: the reported part, the last]
    #[arg(long, value_name = "PART")]
    part: Option<String>,
    #[command(flatten)]
    models: Models,
    /// Print as JSON
    #[arg(long, group = "form")]
    json: bool,
    /// Print the path as CSV
    #[arg(long, group = "form")]
    csv: bool,
    /// Print the path as a Markdown table
    #[arg(long, group = "form")]
    markdown: bool,
}

const EXAMPLES: &str = "\
Examples:
  dissensus barrier 0f3a 77c1                for example soft and sls of one seed
  dissensus barrier 0f3a 77c1 --csv > path.csv";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let infos = args.models.find(&[args.from.clone(), args.to.clone()])?;
    let mut opened = args.models.open()?;
    let mut from = opened.model(&infos[0])?;
    let to = opened.model(&infos[1])?;
    let settings = PathSettings {
        part: args.part.clone(),
        points: args.points,
        statistics: match args.statistics.as_str() {
            "interpolated" => vec![Statistics::Interpolated],
            "recomputed" => vec![Statistics::Recomputed],
            _ => PathSettings::default().statistics,
        },
    };
    let bar = Terminal::default();
    let found = barrier(&mut from, &to, &settings, &bar.observer())?;
    drop(bar);
    if args.json {
        opened.print(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let form = Form::asked(args.csv, args.markdown, false);
    if form != Form::Terminal {
        ui::out(&table(&found, form).print(form))?;
        return Ok(ExitCode::SUCCESS);
    }
    let line = format!(
        "{} ({}) to {} ({}), soft NLL over {} items of {}\n",
        short(from.id()),
        from.label(),
        short(to.id()),
        to.label(),
        text::thousands(found.items as u64),
        found.part
    );
    ui::out(&paint::title(&line))?;
    for path in &found.paths {
        let (height, at) = (number(Some(path.barrier)), path.at);
        let place = if path.barrier > 0.0 { format!(", at α = {at}") } else { String::new() };
        let how = name(path.settings.statistics);
        ui::out(&format!("barrier {}, statistics {how}{place}\n", paint::strong(&height)))?;
    }
    ui::out("\n")?;
    ui::out(&table(&found, form).print(form))?;
    Ok(ExitCode::SUCCESS)
}

fn name(statistics: Statistics) -> &'static str {
    match statistics {
        Statistics::Interpolated => "interpolated",
        Statistics::Recomputed => "recomputed",
    }
}

/// The widest bar.
const WIDE: usize = 24;

/// Both paths side by side, with bars in a terminal.
fn table(found: &Paths, form: Form) -> Table {
    let terminal = form == Form::Terminal;
    // Losses are far above 0, and what matters is how they differ: bars begin at the lowest.
    let losses = || found.paths.iter().flat_map(|path| &path.path).map(|point| point.loss);
    let (low, high) = (losses().fold(f64::MAX, f64::min), losses().fold(f64::MIN, f64::max));
    let mut columns = vec!["α".to_owned()];
    for path in &found.paths {
        let how = name(path.settings.statistics);
        columns.extend(match form {
            Form::Csv => vec![format!("loss_{how}"), format!("excess_{how}")],
            Form::Terminal => {
                let range = format!("{low:.2} to {high:.2}");
                vec![how.to_owned(), "excess".to_owned(), text::pad(&range, WIDE)]
            }
            _ => vec![how.to_owned(), "excess".to_owned()],
        });
    }
    if form == Form::Csv {
        "alpha".clone_into(&mut columns[0]);
    }
    let shown = |value: f64| match form {
        Form::Csv => value.to_string(),
        _ => number(Some(value)),
    };
    let row = |at: usize| {
        let first: Option<&Barrier> = found.paths.first();
        let alpha = first.map_or(0.0, |path| path.path[at].alpha);
        let alpha = if form == Form::Csv { alpha.to_string() } else { format!("{alpha:.2}") };
        let mut cells = vec![Cell::new(alpha)];
        for path in &found.paths {
            let point = &path.path[at];
            cells.push(Cell::new(shown(point.loss)));
            cells.push(Cell::new(shown(point.excess)));
            if terminal {
                cells.push(Cell::new(bars::bar(point.loss - low, high - low, WIDE)));
            }
        }
        cells
    };
    let points = found.paths.first().map_or(0, |path| path.path.len());
    Table::new(columns, 0, (0..points).map(row).collect())
}
