//! Models on the same items: differences with bootstrap intervals.

use std::process::ExitCode;

use dissensus::core::VoteTable;
use dissensus::{ScoreOptions, compare_items};

use super::Args;
use crate::evaluation::number;
use crate::ui::table::{Cell, Form, Print as _, Table};
use crate::ui::{self, paint, progress};

pub(super) fn run(
    args: &Args,
    options: &ScoreOptions,
    table: &VoteTable,
) -> anyhow::Result<ExitCode> {
    let evaluated = args.evaluation.evaluate(table, &args.predictions, options, true)?;
    evaluated.print_notes();
    let found = compare_items(&evaluated.models, options, &progress::Terminal::named("comparing"))?;
    if args.json {
        ui::out(&format!("{}\n", serde_json::to_string_pretty(&found)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let columns =
        ["model", "metric", &found.baseline, "value", "difference", "95 % interval", "d_z"];
    let rows = found.differences.iter().map(|d| {
        let interval = match (d.low, d.high) {
            (Some(low), Some(high)) => format!("[{}, {}]", number(Some(low)), number(Some(high))),
            _ => "–".to_owned(),
        };
        vec![
            Cell::new(&d.model),
            Cell::new(d.metric),
            Cell::new(number(d.baseline_value)),
            Cell::new(number(d.value)),
            Cell { bold: d.excludes_zero(), ..Cell::new(number(d.difference)) },
            Cell::new(interval),
            Cell::new(number(d.d_z)),
        ]
    });
    let page = Table::new(columns.iter().map(ToString::to_string).collect(), 2, rows.collect());
    ui::out(&page.print(Form::Terminal))?;
    let items = found.items;
    let note = format!(
        "over {items} common items; bold: the interval excludes 0. It holds for these trained \
         models; for methods, compare paired seeds with --a and --b.\n"
    );
    ui::err(&paint::dim(&note));
    Ok(ExitCode::SUCCESS)
}
