//! Methods over paired seeds: exact tests, Holm over the metrics, effect sizes, the power note.

use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::core::VoteTable;
use dissensus::measure::Score;
use dissensus::stats::Alternative;
use dissensus::{ScoreError, ScoreOptions, SeedTest, compare_seeds};

use super::Args;
use crate::evaluation::number;
use crate::ui::table::{Cell, Form, Print as _, Table};
use crate::ui::{self, paint};

pub(super) fn run(
    args: &Args,
    options: &ScoreOptions,
    table: &VoteTable,
) -> anyhow::Result<ExitCode> {
    // Before any file is read.
    if args.a.len() != args.b.len() {
        return Err(ScoreError::NotPaired { a: args.a.len(), b: args.b.len() }.into());
    }
    let alternative = match args.alternative.as_deref() {
        Some("less") => Alternative::Less,
        Some(_) => Alternative::Greater,
        None => Alternative::TwoSided,
    };
    // One file after the other: only its metrics are kept.
    let values = |file: &PathBuf| -> anyhow::Result<Vec<Score>> {
        let evaluated =
            args.evaluation.evaluate(table, std::slice::from_ref(file), options, false)?;
        evaluated.print_notes();
        let [model] = &evaluated.models[..] else {
            anyhow::bail!("{} holds several models: give one per seed", file.display());
        };
        Ok(model.values(options)?)
    };
    let a = args.a.iter().map(values).collect::<anyhow::Result<Vec<_>>>()?;
    let b = args.b.iter().map(values).collect::<anyhow::Result<Vec<_>>>()?;
    let found = compare_seeds(&a, &b, alternative)?;
    for name in &found.untested {
        ui::err(&format!("{name}: undefined or infinite for a seed, not tested\n"));
    }
    if args.json {
        ui::out(&format!("{}\n", serde_json::to_string_pretty(&found)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    ui::out(&to_table(&found.tests).print(Form::Terminal))?;
    ui::out(&format!("\n{}\n", paint::dim(&found.note)))?;
    Ok(ExitCode::SUCCESS)
}

fn to_table(tests: &[SeedTest]) -> Table {
    let columns = [
        "metric",
        "a",
        "b",
        "b − a",
        "Wilcoxon p",
        "Holm",
        "t p",
        "sign p",
        "d_z",
        "rank-biserial",
    ];
    let spread = |mean: f64, sd: Option<f64>| match sd {
        Some(sd) => format!("{} ± {}", number(Some(mean)), number(Some(sd))),
        None => number(Some(mean)),
    };
    let rows = tests.iter().map(|t| {
        vec![
            Cell::new(t.metric),
            Cell::new(spread(t.mean_a, t.sd_a)),
            Cell::new(spread(t.mean_b, t.sd_b)),
            Cell::new(number(Some(t.mean_difference))),
            Cell::new(number(t.wilcoxon_p)),
            Cell { bold: t.is_significant(), ..Cell::new(number(t.wilcoxon_p_holm)) },
            Cell::new(number(t.t_p)),
            Cell::new(number(t.sign_p)),
            Cell::new(number(t.d_z)),
            Cell::new(number(t.rank_biserial)),
        ]
    });
    Table::new(columns.iter().map(ToString::to_string).collect(), 1, rows.collect())
}
