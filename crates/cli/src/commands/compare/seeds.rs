//! Methods over paired seeds: exact tests, Holm over the metrics, effect sizes, the power note.

use std::process::ExitCode;

use dissensus_core::VoteTable;
use dissensus_measure::{Metric, Scorer};
use dissensus_stats::Alternative;
use dissensus_stats::adjust::Correction;
use dissensus_stats::describe;
use dissensus_stats::effect::{cohen_dz, rank_biserial};
use dissensus_stats::paired::{
    PairedTest, WilcoxonSettings, ZeroMethod, differences, paired_t, sign_test, wilcoxon,
};
use dissensus_stats::smallest::SmallestP;
use serde::Serialize;

use super::Args;
use crate::judging::number;
use crate::ui::table::{Cell, Form, Table};
use crate::ui::{self, paint};

/// The level that the note speaks of.
const LEVEL: f64 = 0.05;

/// Two methods in one metric.
#[derive(Serialize)]
struct Test {
    metric: &'static str,
    a: Vec<f64>,
    b: Vec<f64>,
    mean_a: f64,
    sd_a: Option<f64>,
    mean_b: f64,
    sd_b: Option<f64>,
    mean_difference: f64,
    wilcoxon_p: Option<f64>,
    wilcoxon_p_holm: Option<f64>,
    t_p: Option<f64>,
    sign_p: Option<f64>,
    d_z: Option<f64>,
    rank_biserial: Option<f64>,
}

#[derive(Serialize)]
struct Report<'a> {
    pairs: usize,
    alternative: &'static str,
    smallest_p: Option<f64>,
    note: String,
    tests: &'a [Test],
}

pub(super) fn run(
    args: &Args,
    chosen: &[&'static Metric],
    table: &VoteTable,
) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        args.a.len() == args.b.len(),
        "--a has {} files and --b {}: seeds are paired in order",
        args.a.len(),
        args.b.len()
    );
    // `b − a` is tested, so that `less` reads as "b is less".
    let alternative = match args.alternative.as_deref() {
        Some("less") => Alternative::Less,
        Some(_) => Alternative::Greater,
        None => Alternative::TwoSided,
    };
    let values = |files: &[std::path::PathBuf]| -> anyhow::Result<Vec<Vec<Option<f64>>>> {
        let mut rows = Vec::new();
        for file in files {
            let judged = args.judge.judge(table, std::slice::from_ref(file), false)?;
            judged.print_notes();
            let [model] = &judged.models[..] else {
                anyhow::bail!("{} holds several models: give one a seed", file.display());
            };
            let scorer = Scorer::new(&model.judged, args.judge.settings())?;
            rows.push(chosen.iter().map(|metric| (metric.compute)(&scorer).value).collect());
        }
        Ok(rows)
    };
    let (a, b) = (values(&args.a)?, values(&args.b)?);
    let mut tests = Vec::new();
    for (at, metric) in chosen.iter().enumerate() {
        let column = |rows: &[Vec<Option<f64>>]| -> Option<Vec<f64>> {
            rows.iter().map(|row| row[at].filter(|v| v.is_finite())).collect()
        };
        match (column(&a), column(&b)) {
            (Some(a), Some(b)) => tests.push(test(metric, a, b, alternative)?),
            _ => {
                let name = metric.about.name;
                ui::err(&format!("{name}: undefined or infinite for a seed, not tested\n"));
            }
        }
    }
    let raw: Vec<Option<f64>> = tests.iter().map(|t| t.wilcoxon_p).collect();
    let holm = Correction::Holm.adjust(&raw)?;
    for (test, p) in tests.iter_mut().zip(holm.p) {
        test.wilcoxon_p_holm = p;
    }
    let smallest = SmallestP::of(PairedTest::Wilcoxon, alternative, args.a.len(), 0)?;
    let note = smallest.as_ref().map_or(String::new(), |smallest| smallest.note(LEVEL));
    if args.json {
        let report = Report {
            pairs: args.a.len(),
            alternative: alternative.name(),
            smallest_p: smallest.map(|smallest| smallest.p),
            note,
            tests: &tests,
        };
        ui::out(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    ui::out(&to_table(&tests).print(Form::Terminal))?;
    ui::out(&format!("\n{}\n", paint::dim(&note)))?;
    Ok(ExitCode::SUCCESS)
}

fn test(
    metric: &'static Metric,
    a: Vec<f64>,
    b: Vec<f64>,
    alternative: Alternative,
) -> anyhow::Result<Test> {
    let d = differences(&b, &a)?;
    let settings = WilcoxonSettings { alternative, ..WilcoxonSettings::default() };
    Ok(Test {
        metric: metric.about.name,
        mean_a: describe::mean(&a)?,
        sd_a: describe::sd(&a)?,
        mean_b: describe::mean(&b)?,
        sd_b: describe::sd(&b)?,
        mean_difference: describe::mean(&d)?,
        wilcoxon_p: wilcoxon(&d, &settings)?.p,
        wilcoxon_p_holm: None,
        t_p: paired_t(&d, alternative)?.p,
        sign_p: sign_test(&d, alternative)?.p,
        d_z: cohen_dz(&d)?.dz,
        rank_biserial: rank_biserial(&d, ZeroMethod::default())?.r,
        a,
        b,
    })
}

fn to_table(tests: &[Test]) -> Table {
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
            Cell {
                text: number(t.wilcoxon_p_holm),
                best: t.wilcoxon_p_holm.is_some_and(|p| p < LEVEL),
            },
            Cell::new(number(t.t_p)),
            Cell::new(number(t.sign_p)),
            Cell::new(number(t.d_z)),
            Cell::new(number(t.rank_biserial)),
        ]
    });
    Table {
        columns: columns.iter().map(ToString::to_string).collect(),
        names: 1,
        rows: rows.collect(),
    }
}
