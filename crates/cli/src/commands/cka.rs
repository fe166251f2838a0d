//! `dissensus cka`

use std::process::ExitCode;

use dissensus::examine::{Cka, CkaSettings, Shared, cka};

use crate::evaluation::number;
use crate::examining::{Models, Terminal, short};
use crate::ui::table::{Cell, Form, Print as _, Table};
use crate::ui::{self, paint};

/// Compare the features of several runs by linear CKA, from 0 to 1.
///
/// Features are the inputs of the last layer. CKA is invariant to rotation and scale, so runs of
/// different seeds can be compared. Runs of different seeds hold out different items: each pair is
/// compared on the items that both hold out or, with --items all, on all items of the data. With fewer
/// items than features, CKA is high even for unrelated features; the numbers of items are shown.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The runs, two or more: their ids, or the first digits of them
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    runs: Vec<String>,
    /// The items: those that both runs of a pair have in the part (pairs), or all of the data (all)
    #[arg(long, value_name = "ITEMS", default_value = "pairs", value_parser = ["pairs", "all"])]
    items: String,
    /// The part of the split [default: the reported part, the last]
    #[arg(long, value_name = "PART")]
    part: Option<String>,
    #[command(flatten)]
    models: Models,
    /// Print as JSON
    #[arg(long, group = "form")]
    json: bool,
    /// Print the matrix as CSV
    #[arg(long, group = "form")]
    csv: bool,
    /// Print the matrix as a Markdown table
    #[arg(long, group = "form")]
    markdown: bool,
}

const EXAMPLES: &str = "\
Examples:
  dissensus cka 0f3a 77c1 b20e
  dissensus cka 0f3a 77c1 b20e --items all --markdown";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let infos = args.models.find(&args.runs)?;
    let mut opened = args.models.open()?;
    let mut models = opened.all(&infos)?;
    let shared = if args.items == "all" { Shared::All } else { Shared::Pairs };
    let settings = CkaSettings { part: args.part.clone(), shared };
    let bars = Terminal::default();
    let found = cka(&mut models, &settings, &bars.observer())?;
    drop(bars);
    if args.json {
        opened.print(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let form = Form::asked(args.csv, args.markdown, false);
    let labels: Vec<String> = models.iter().map(|model| model.label()).collect();
    ui::out(&table(&found, &labels, form).print(form))?;
    if form == Form::Terminal {
        let items = found.items.iter().enumerate().flat_map(|(at, row)| &row[at + 1..]);
        let (fewest, most) = (items.clone().min(), items.max());
        let (fewest, most) = (fewest.copied().unwrap_or(0), most.copied().unwrap_or(0));
        let items = match fewest == most {
            true => format!("{fewest} items"),
            false => format!("{fewest} to {most} items"),
        };
        ui::out(&format!("\nmean over pairs {}, on {items}\n", number(found.mean)))?;
        let widest = found.widths.iter().copied().max().unwrap_or(0);
        if fewest < widest {
            ui::err(&format!(
                "{} {fewest} items for {widest} features: CKA is high even for unrelated \
                 features; --items all uses all items of the data\n",
                paint::warn("note:")
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn table(found: &Cka, labels: &[String], form: Form) -> Table {
    let id = |run: &String| if form == Form::Csv { run.clone() } else { short(run) };
    let value = |value: &Option<f64>| match form {
        Form::Csv => value.map_or(String::new(), |v| v.to_string()),
        _ => number(*value),
    };
    let mut columns = vec!["run".to_owned(), "what".to_owned()];
    columns.extend(found.runs.iter().map(id));
    let row = |at: usize| {
        let names = [id(&found.runs[at]), labels[at].clone()].map(Cell::new);
        let values = found.values[at].iter().map(|v| Cell::new(value(v)));
        names.into_iter().chain(values).collect()
    };
    Table::new(columns, 2, (0..found.runs.len()).map(row).collect())
}
