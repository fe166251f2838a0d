//! Results as tables: for a terminal, as Markdown, as LaTeX, or as CSV with exact numbers.

use std::path::PathBuf;

use dissensus_examine::{Cka, Curvature, DrawnMaps, ItemMap, Ood, Paths, SliceStability, Variance};
use dissensus_geometry::barrier::Statistics;
use dissensus_geometry::curvature::{BlockTrace, Estimate};
use dissensus_measure::ceiling::{Ceiling, CeilingScore, Spread};
use dissensus_measure::ood::Row as OodRow;
use dissensus_measure::{Metric, metric};
use dissensus_report::plain::{
    bar, format_interval, format_number, format_significant, format_spread, one_line, thousands,
};
use dissensus_report::tables::{Columns, TableForm, TextTable};
use dissensus_studies::{StatusReport, Tally};

use crate::cluster::{ClusterStatus, ShardStatus, TaskState};
use crate::{Difference, ItemComparison, Scores, SeedTest, Slice};

/// Models and slices by metrics. Nothing is bold: there is no test of the differences.
pub fn scores_table(scores: &[Scores], metrics: &[&'static Metric], form: TableForm) -> TextTable {
    let mut columns = Columns::new(form).name("model", |s: &Scores| one_line(&s.model, 40));
    if scores.iter().any(|s| s.slice != Slice::All) {
        columns = columns.name("slice", |s| s.slice.to_string());
    }
    columns = columns.count("items", |s| s.items);
    for (at, metric) in metrics.iter().enumerate() {
        let name = metric.about.name;
        let head = format!("{name} {}", metric.about.direction.arrow());
        let cell = move |s: &Scores| {
            let m = &s.metrics[at];
            format_interval(m.value, m.low, m.high)
        };
        columns = columns.people(|columns| columns.number(head.trim_end(), cell)).csv(|columns| {
            columns
                .value(name, move |s| s.metrics[at].value)
                .value(&format!("{name}_low"), move |s| s.metrics[at].low)
                .value(&format!("{name}_high"), move |s| s.metrics[at].high)
        });
    }
    columns.table(scores)
}

/// What the votes allow in each metric.
pub fn ceiling_table(ceiling: &Ceiling, form: TableForm) -> TextTable {
    let spread = |spread: Option<Spread>| {
        let part = |of: fn(Spread) -> f64| spread.map(of);
        format_interval(part(|s| s.mean), part(|s| s.low), part(|s| s.high))
    };
    let name = |s: &CeilingScore| {
        let arrow = metric(s.metric).map_or("", |metric| metric.about.direction.arrow());
        format!("{} {arrow}", s.metric).trim_end().to_owned()
    };
    let half = |s: &CeilingScore| spread(s.half) + if s.smoothed { " *" } else { "" };
    type Column = (&'static str, fn(&CeilingScore) -> Option<Spread>);
    let columns: [Column; 2] = [("half", |s| s.half), ("perfect", |s| s.perfect)];
    Columns::new(form)
        .people(|table| {
            let table = table.name("metric", name).number("half against half", half);
            table.number("a perfect model", |s| spread(s.perfect))
        })
        .csv(|table| {
            let table = table.name("metric", |s: &CeilingScore| s.metric);
            columns.iter().fold(table, |table, &(name, of)| {
                table
                    .value(name, move |s| of(s).map(|spread| spread.mean))
                    .value(&format!("{name}_low"), move |s| of(s).map(|spread| spread.low))
                    .value(&format!("{name}_high"), move |s| of(s).map(|spread| spread.high))
            })
        })
        .table(&ceiling.metrics)
}

/// The words that go with [`ceiling_table`], and what it means for models' scores.
pub fn ceiling_words(ceiling: &Ceiling, models: &[Scores]) -> Vec<String> {
    let number = |value: f64| format_number(Some(value));
    let mut lines = vec![format!(
        "{} items with {:.1} votes each on average; [least, largest] of {} repeats",
        thousands(ceiling.items),
        ceiling.votes_per_item,
        ceiling.repeats
    )];
    if ceiling.left_out > 0 {
        lines.push(format!("{} items have fewer than two votes", thousands(ceiling.left_out)));
    }
    if ceiling.metrics.iter().any(|score| score.smoothed) {
        lines.push("* half a vote is added to each class of the half that predicts".to_owned());
    }
    lines.push(format!(
        "the entropy of the votes, {} nats, is too low by about {} or more; the KL of any model is too high by as much",
        number(ceiling.entropy),
        number(ceiling.bias)
    ));
    for model in models.iter().filter(|model| model.slice == Slice::All) {
        for score in &model.metrics {
            let (Some(value), name) = (score.value, score.metric) else { continue };
            let what = match (name, ceiling.disattenuated(name, value)) {
                ("kl", _) => {
                    format!("{}, without the bias {}", number(value), number(value - ceiling.bias))
                }
                (_, Some(more)) => {
                    format!("{}, with endless votes {}", number(value), number(more))
                }
                _ => continue,
            };
            lines.push(format!("{}: {name} {what}", model.model));
        }
    }
    lines
}

/// Differences of models; bold where the interval excludes 0.
pub fn differences_table(found: &ItemComparison, form: TableForm) -> TextTable {
    let interval = |d: &Difference| match (d.low, d.high) {
        (Some(_), Some(_)) => format!("[{}, {}]", format_number(d.low), format_number(d.high)),
        _ => "–".to_owned(),
    };
    Columns::new(form)
        .name("model", |d: &Difference| d.model.clone())
        .name("metric", |d| d.metric)
        .value(&found.baseline, |d| d.baseline_value)
        .value("value", |d| d.value)
        .bold("difference", |d| (format_number(d.difference), d.excludes_zero()))
        .number("95 % interval", interval)
        .value("d_z", |d| d.d_z)
        .table(&found.differences)
}

/// Tests of two methods over seeds; bold where the corrected p is below 0.05.
pub fn seed_tests_table(tests: &[SeedTest], form: TableForm) -> TextTable {
    Columns::new(form)
        .name("metric", |t: &SeedTest| t.metric)
        .number("a", |t| format_spread(t.mean_a, t.sd_a))
        .number("b", |t| format_spread(t.mean_b, t.sd_b))
        .value("b − a", |t| Some(t.mean_difference))
        .value("Wilcoxon p", |t| t.wilcoxon_p)
        .bold("Holm", |t| (format_number(t.wilcoxon_p_holm), t.is_significant()))
        .value("t p", |t| t.t_p)
        .value("sign p", |t| t.sign_p)
        .value("d_z", |t| t.d_z)
        .value("rank-biserial", |t| t.rank_biserial)
        .table(tests)
}

/// A curvature with the label of its run.
type Labelled<'a> = (&'a String, &'a Curvature);

/// Curvatures, eigenvalues, blocks and variances, as far as there are any; CSV has only the first.
pub fn curvature_tables(
    labels: &[String],
    found: &[Curvature],
    variances: &[Variance],
    form: TableForm,
) -> Vec<TextTable> {
    let rows: Vec<Labelled<'_>> = labels.iter().zip(found).collect();
    // The loss of cross-entropy is a metric.
    let plain = found.iter().all(|one| one.trained_by.is_default());
    let loss = if plain { "soft_nll" } else { "loss" };
    let mut tables = vec![curvatures(loss, form).table(&rows)];
    if form != TableForm::Csv {
        tables.extend([eigenvalues(found, form), blocks(found, form), varying(variances, form)]);
    }
    tables.retain(|table| !table.lines.is_empty());
    tables
}

fn curvatures<'a>(loss: &str, form: TableForm) -> Columns<'a, Labelled<'a>> {
    type Of = fn(&Curvature) -> Option<Estimate>;
    let exact = |columns: Columns<'a, Labelled<'a>>, name: &str, of: Of| {
        columns
            .value(name, move |(_, one)| of(one).map(|e| e.value))
            .value(&format!("{name}_error"), move |(_, one)| of(one).and_then(|e| e.error))
    };
    let converged = |columns: Columns<'a, Labelled<'a>>, name: &str, of: Of| {
        let said =
            move |one: &Curvature| of(one).map_or(String::new(), |e| e.converged.to_string());
        columns.number(name, move |(_, one)| said(one))
    };
    Columns::new(form)
        .run(|(_, one): &Labelled<'_>| one.run.clone())
        .name("what", |(label, _)| (*label).clone())
        .csv(|columns| columns.name("part", |(_, one)| one.part.clone()))
        .name("slice", |(_, one)| one.settings.slice)
        .count("items", |(_, one)| one.items)
        .value(loss, |(_, one)| Some(one.loss))
        .people(|columns| {
            columns
                .number("λ_max", |(_, one)| format_estimate(one.lambda_max()))
                .number("trace", |(_, one)| format_estimate(one.trace()))
        })
        .csv(|columns| {
            let columns = columns.value("gradient_norm", |(_, one)| Some(one.gradient_norm));
            let columns = exact(columns, "lambda_max", Curvature::lambda_max);
            let columns = converged(columns, "lambda_max_converged", Curvature::lambda_max);
            let columns = exact(columns, "lambda_min", Curvature::lambda_min);
            let columns = exact(columns, "trace", Curvature::trace);
            converged(columns, "trace_converged", Curvature::trace)
        })
        .number("products", |(_, one)| one.products)
}

/// The eigenvalues that Lanczos found.
fn eigenvalues(found: &[Curvature], form: TableForm) -> TextTable {
    let mut rows = Vec::new();
    for one in found {
        let Some(extremes) = &one.extremes else { continue };
        let named = |sign: &'static str| {
            move |(at, e): (usize, &Estimate)| (one, format!("λ{sign}{}", at + 1), *e)
        };
        rows.extend(extremes.largest.iter().enumerate().map(named("")));
        rows.extend(extremes.smallest.iter().enumerate().map(named("−")));
    }
    Columns::new(form)
        .run(|(one, ..): &(&Curvature, String, Estimate)| one.run.clone())
        .name("slice", |(one, ..)| one.settings.slice)
        .name("eigenvalue", |(_, name, _)| name.clone())
        .number("by Lanczos", |(.., estimate)| format_estimate(Some(*estimate)))
        .table(&rows)
}

fn blocks(found: &[Curvature], form: TableForm) -> TextTable {
    let mut rows = Vec::new();
    for one in found {
        let Some(traces) = &one.traces else { continue };
        let share = |block: &BlockTrace| block.trace.value / traces.trace.value;
        rows.extend(traces.blocks.iter().map(|block| (one, block, share(block))));
    }
    Columns::new(form)
        .run(|(one, ..): &(&Curvature, &BlockTrace, f64)| one.run.clone())
        .name("slice", |(one, ..)| one.settings.slice)
        .name("block", |(_, block, _)| block.name.clone())
        .count("parameters", |(_, block, _)| block.parameters)
        .number("trace", |(_, block, _)| format_estimate(Some(block.trace)))
        .number("share", |(.., share)| format!("{:.1} %", 100.0 * share))
        .table(&rows)
}

fn varying(found: &[Variance], form: TableForm) -> TextTable {
    Columns::new(form)
        .run(|one: &Variance| one.run.clone())
        .count("items", |one| one.items.len())
        .number("gradient variance", |one| format_significant(one.mean, 4))
        .value("Spearman with entropy", |one| one.correlation.r)
        .table(found)
}

/// The losses on the paths between two runs, with bars in a terminal.
pub fn barrier_table(found: &Paths, form: TableForm) -> TextTable {
    /// The widest bar.
    const WIDE: usize = 24;
    // Losses are far above 0, and what matters is how they differ: bars begin at the lowest.
    let losses = || found.paths.iter().flat_map(|path| &path.path).map(|point| point.loss);
    let (low, high) = (losses().fold(f64::MAX, f64::min), losses().fold(f64::MIN, f64::max));
    let Some(first) = found.paths.first() else { return TextTable::default() };
    let mut columns = Columns::new(form)
        .people(|c| c.number("α", |at: &usize| format!("{:.2}", first.path[*at].alpha)))
        .csv(|c| c.number("alpha", |at| first.path[*at].alpha));
    for path in &found.paths {
        let how = statistics_name(path.settings.statistics);
        let (loss, excess) = match form {
            TableForm::Csv => (format!("loss_{how}"), format!("excess_{how}")),
            _ => (how.to_owned(), "excess".to_owned()),
        };
        columns = columns
            .value(&loss, |at| Some(path.path[*at].loss))
            .value(&excess, |at| Some(path.path[*at].excess));
        if form == TableForm::Terminal {
            let head = format!("{:<WIDE$}", format!("{low:.2} to {high:.2}"));
            let drawn = move |at: &usize| bar(path.path[*at].loss - low, high - low, WIDE);
            columns = columns.number(&head, drawn);
        }
    }
    columns.table(&(0..first.path.len()).collect::<Vec<_>>())
}

/// How batch statistics on a path are computed, in a word.
pub fn statistics_name(statistics: Statistics) -> &'static str {
    match statistics {
        Statistics::Interpolated => "interpolated",
        Statistics::Recomputed => "recomputed",
    }
}

/// The CKA of all pairs of runs.
pub fn cka_table(found: &Cka, labels: &[String], form: TableForm) -> TextTable {
    let mut columns = Columns::new(form)
        .run(|at: &usize| found.runs[*at].clone())
        .name("what", |at| labels[*at].clone());
    for (other, run) in found.runs.iter().enumerate() {
        let head = if form == TableForm::Csv { run } else { run.get(..8).unwrap_or(run) };
        columns = columns.value(head, move |at| found.values[*at][other]);
    }
    columns.table(&(0..found.runs.len()).collect::<Vec<_>>())
}

/// The maps that were drawn, and their stability, if it was measured; CSV has only the first.
pub fn map_tables(found: &DrawnMaps, form: TableForm) -> Vec<TextTable> {
    type Row<'a> = (&'a str, &'a ItemMap, &'a PathBuf);
    let rows = found.runs.iter().zip(&found.files);
    let rows: Vec<Row<'_>> = rows
        .flat_map(|(maps, files)| maps.items.iter().zip(files).map(|(i, f)| (&*maps.run, i, f)))
        .collect();
    let file = |(_, item, path): &Row<'_>| {
        let empty = item.map.iter().all(|&value| value == 0.0);
        path.display().to_string() + if empty { " (empty map)" } else { "" }
    };
    let maps = Columns::new(form)
        .run(|(run, ..): &Row<'_>| (*run).to_owned())
        .name("item", |(_, item, _)| one_line(&item.item, 40))
        .name("class", |(_, item, _)| one_line(&item.class, 30))
        .name("file", file)
        .value("predicted", |(_, item, _)| Some(item.probability))
        .value("votes", |(_, item, _)| Some(item.votes))
        .value("entropy", |(_, item, _)| Some(item.entropy))
        .table(&rows);
    let stability = Columns::new(form)
        .name("slice", |one: &SliceStability| one.slice)
        .count("items", |one| one.items)
        .count("pairs of maps", |one| one.stability.correlations)
        .count("without correlation", |one| one.stability.undefined)
        .value("stability", |one| one.stability.mean)
        .table(&found.stability);
    let several = form != TableForm::Csv && !found.stability.is_empty();
    if several { vec![maps, stability] } else { vec![maps] }
}

/// Out-of-distribution detection by set and score; CSV has every figure in a row of its own.
pub fn ood_table(found: &Ood, form: TableForm) -> TextTable {
    if form == TableForm::Csv {
        return Columns::new(form)
            .run(|_| found.run.clone())
            .name("out", |row: &OodRow| row.out.clone())
            .name("score", |row| row.score)
            .name("figure", |row| row.figure)
            .value("value", |row| row.value)
            .value("low", |row| row.low)
            .value("high", |row| row.high)
            .table(&found.rows);
    }
    let interval = |row: &OodRow| {
        let value = row.value.map_or("–".to_owned(), |value| format!("{value:.4}"));
        match (row.low, row.high) {
            (Some(low), Some(high)) => format!("{value} [{low:.3}, {high:.3}]"),
            _ => value,
        }
    };
    let mut scores: Vec<&str> = found.rows.iter().map(|row| row.score).collect();
    scores.dedup();
    let outs = found.outside.iter().map(|(out, _)| out.as_str());
    let rows: Vec<(&str, &str)> =
        outs.flat_map(|out| scores.iter().map(move |score| (out, *score))).collect();
    let mut columns = Columns::new(form)
        .name("out", |(out, _): &(&str, &str)| out.to_string())
        .name("score", |(_, score)| score.to_string());
    for (figure, title) in [("auroc", "AUROC"), ("aupr_out", "AUPR"), ("fpr95", "FPR95")] {
        columns = columns.number(title, move |(out, score)| {
            found.row(score, out, figure).map_or("–".to_owned(), interval)
        });
    }
    columns.table(&rows)
}

/// How far the arms of a study are.
pub fn status_table(status: &StatusReport, form: TableForm) -> TextTable {
    type Row<'a> = (&'a str, &'a str, &'a Tally);
    let mut rows: Vec<Row<'_>> =
        status.arms.iter().map(|arm| (&*arm.dataset, &*arm.arm, &arm.runs)).collect();
    rows.push(("", "all, each once", &status.runs));
    let count = |n: usize| if n == 0 { "–".to_owned() } else { n.to_string() };
    Columns::new(form)
        .name("data", |(data, ..): &Row<'_>| data.to_string())
        .name("arm", |(_, arm, _)| arm.to_string())
        .number("done", |(.., runs)| count(runs.done))
        .number("running", |(.., runs)| count(runs.running))
        .number("interrupted", |(.., runs)| count(runs.interrupted))
        .number("failed", |(.., runs)| count(runs.failed))
        .number("missing", |(.., runs)| count(runs.missing))
        .table(&rows)
}

/// The shards of a study on a cluster.
pub fn cluster_table(status: &ClusterStatus, form: TableForm) -> TextTable {
    let dash = || "–".to_owned();
    let said = |row: &ShardStatus, of: fn(&TaskState) -> &str| {
        let said = row.task.as_ref().map(of).filter(|said| !said.is_empty());
        said.map_or_else(dash, str::to_owned)
    };
    let count = |n: Option<usize>| n.map_or_else(dash, |n| n.to_string());
    Columns::new(form)
        .name("shard", |row: &ShardStatus| row.shard.to_string())
        .number("ended", move |row| count(row.ended))
        .number("runs", move |row| count(row.runs))
        .name("queue", move |row| said(row, |task| &task.state))
        .name("node", move |row| said(row, |task| &task.node))
        .name("reason", move |row| said(row, |task| &task.reason))
        .table(&status.shards)
}

/// An estimate with its error: `104.9 ± 0.1`; one that did not converge has a question mark.
fn format_estimate(estimate: Option<Estimate>) -> String {
    let Some(Estimate { value, error, converged, .. }) = estimate else { return "–".to_owned() };
    let (value, doubt) = (format_significant(value, 4), if converged { "" } else { " ?" });
    match error {
        Some(error) => format!("{value} ± {}{doubt}", format_significant(error, 2)),
        None => format!("{value}{doubt}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_and_their_errors() {
        let estimate =
            Estimate { value: 104.87, error: Some(0.0396), products: 9, converged: true };
        assert_eq!(format_estimate(Some(estimate)), "104.9 ± 0.040");
        let cut_off = Estimate { error: Some(12.3), converged: false, ..estimate };
        assert_eq!(format_estimate(Some(cut_off)), "104.9 ± 12 ?");
        assert_eq!(format_estimate(None), "–");
    }
}
