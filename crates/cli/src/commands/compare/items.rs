//! Models on the same items: differences with bootstrap intervals.

use std::process::ExitCode;

use dissensus_core::VoteTable;
use dissensus_measure::{Metric, Scorer};
use dissensus_stats::bootstrap::{
    BootstrapSettings, IntervalMethod, Plan, bootstrap, bootstrap_mean,
};
use dissensus_stats::effect::cohen_dz;
use serde::Serialize;

use super::Args;
use crate::judging::{Model, number};
use crate::ui::table::{Cell, Form, Table};
use crate::ui::{self, paint, progress};

/// Replicates of a metric that is computed anew for each, at the most.
const SET_REPLICATES: usize = 200;

/// A model against the first, in one metric.
#[derive(Serialize)]
struct Difference {
    model: String,
    metric: &'static str,
    baseline_value: Option<f64>,
    value: Option<f64>,
    difference: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    /// Cohen's d_z over items, where the metric has a value for each.
    d_z: Option<f64>,
}

#[derive(Serialize)]
struct Report<'a> {
    baseline: &'a str,
    items: usize,
    replicates: usize,
    seed: u64,
    differences: &'a [Difference],
}

pub(super) fn run(
    args: &Args,
    chosen: &[&'static Metric],
    table: &VoteTable,
) -> anyhow::Result<ExitCode> {
    let judged = args.judge.judge(table, &args.predictions, true)?;
    judged.print_notes();
    let [first, others @ ..] = &judged.models[..] else {
        anyhow::bail!("nothing to compare with");
    };
    let mut differences = Vec::new();
    let bar = progress::steps(others.len() * chosen.len(), "comparing");
    for other in others {
        for metric in chosen {
            differences.push(difference(args, first, other, metric)?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    if args.json {
        let report = Report {
            baseline: &first.name,
            items: first.items.len(),
            replicates: args.judge.replicates,
            seed: args.judge.seed,
            differences: &differences,
        };
        ui::out(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let columns = ["model", "metric", &first.name, "value", "difference", "95 % interval", "d_z"];
    let rows = differences.iter().map(|d| {
        let clear = matches!((d.low, d.high), (Some(l), Some(h)) if l > 0.0 || h < 0.0);
        let interval = match (d.low, d.high) {
            (Some(low), Some(high)) => format!("[{}, {}]", number(Some(low)), number(Some(high))),
            _ => "–".to_owned(),
        };
        vec![
            Cell::new(&d.model),
            Cell::new(d.metric),
            Cell::new(number(d.baseline_value)),
            Cell::new(number(d.value)),
            Cell { text: number(d.difference), best: clear },
            Cell::new(interval),
            Cell::new(number(d.d_z)),
        ]
    });
    let page = Table {
        columns: columns.iter().map(ToString::to_string).collect(),
        names: 2,
        rows: rows.collect(),
    };
    ui::out(&page.print(Form::Terminal))?;
    let items = first.items.len();
    let note = format!(
        "over {items} common items; bold: the interval excludes 0. It speaks of these trained \
         models; for methods, compare paired seeds with --a and --b.\n"
    );
    ui::err(&paint::dim(&note));
    Ok(ExitCode::SUCCESS)
}

fn difference(
    args: &Args,
    first: &Model,
    other: &Model,
    metric: &'static Metric,
) -> anyhow::Result<Difference> {
    let settings = args.judge.settings();
    let (a, b) = (Scorer::new(&first.judged, settings)?, Scorer::new(&other.judged, settings)?);
    let (va, vb) = ((metric.compute)(&a).value, (metric.compute)(&b).value);
    let gap = |a: Option<f64>, b: Option<f64>| Some(b? - a?).filter(|d| d.is_finite());
    let mut result = Difference {
        model: other.name.clone(),
        metric: metric.about.name,
        baseline_value: va,
        value: vb,
        difference: gap(va, vb),
        low: None,
        high: None,
        d_z: None,
    };
    if result.difference.is_none() || first.items.len() < 2 || args.judge.replicates == 0 {
        return Ok(result);
    }
    let (replicates, seed) = (args.judge.replicates, args.judge.seed);
    let per_item = metric.per_item.and_then(|of| Some((of(&a)?, of(&b)?)));
    let drawn = match per_item {
        Some((a, b)) => {
            let gaps: Vec<f64> = a.iter().zip(b.iter()).map(|(a, b)| b - a).collect();
            result.d_z = cohen_dz(&gaps)?.dz;
            let boot = BootstrapSettings { replicates, seed, ..BootstrapSettings::default() };
            bootstrap_mean(&gaps, &boot)?
        }
        None => {
            let method = IntervalMethod::Percentile;
            let replicates = replicates.min(SET_REPLICATES);
            let boot =
                BootstrapSettings { replicates, method, seed, ..BootstrapSettings::default() };
            // The same items for both models in every replicate: the difference is paired.
            let value = |model: &Model, rows: &[usize]| {
                let some = model.judged.select(rows).ok()?;
                (metric.compute)(&Scorer::new(&some, settings).ok()?).value
            };
            let statistic = |rows: &[usize]| gap(value(first, rows), value(other, rows));
            bootstrap(&Plan::Rows { n: first.items.len() }, statistic, &boot)?
        }
    };
    (result.low, result.high) = (drawn.low, drawn.high);
    Ok(result)
}
