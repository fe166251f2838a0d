//! `dissensus cka`

use dissensus::examine::{CkaSettings, Shared, cka};
use dissensus::format_number;
use dissensus::tables::cka_table;

use crate::args::{FormArgs, ModelArgs, ask};
use crate::ui;
use crate::ui::table::{Form, print};

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
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    form: FormArgs,
}

const EXAMPLES: &str = "\
Examples:
  dissensus cka 0f3a 77c1 b20e
  dissensus cka 0f3a 77c1 b20e --items all --markdown";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut opened = args.models.open(&args.runs)?;
    let shared = if args.items == "all" { Shared::All } else { Shared::Pairs };
    let settings = CkaSettings { part: args.models.part.clone(), shared };
    let found = ask("", |observer| cka(&mut opened.models, &settings, observer))?;
    let Some(form) = args.form.table() else { return opened.json(&found) };
    let labels: Vec<String> = opened.models.iter().map(|model| model.label()).collect();
    print(&[cka_table(&found, &labels, form)], form)?;
    if form == Form::Terminal {
        let items = found.items.iter().enumerate().flat_map(|(at, row)| &row[at + 1..]);
        let (fewest, most) = (items.clone().min(), items.max());
        let (fewest, most) = (fewest.copied().unwrap_or(0), most.copied().unwrap_or(0));
        let items = match fewest == most {
            true => format!("{fewest} items"),
            false => format!("{fewest} to {most} items"),
        };
        ui::out(&format!("\nmean over pairs {}, on {items}\n", format_number(found.mean)))?;
        let widest = found.widths.iter().copied().max().unwrap_or(0);
        if fewest < widest {
            ui::note(&format!(
                "{fewest} items for {widest} features: CKA is high even for unrelated features; \
                 --items all uses all items of the data"
            ));
        }
    }
    Ok(())
}
