//! Runs as a table: a row an arm, mean ± standard deviation over seeds, the best of a column bold.

use dissensus::measure::Direction;
use dissensus::stats::describe;
use dissensus::store::Which;
use dissensus::train::{EndedJob, RunResult};
use serde::Serialize;

use crate::ui::table::{Cell, Table};

/// A metric of an arm over its seeds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) metric: String,
    pub(crate) values: Vec<Option<f64>>,
    pub(crate) mean: Option<f64>,
    /// Over seeds; undefined for one.
    pub(crate) sd: Option<f64>,
    #[serde(skip)]
    direction: Direction,
}

/// An arm: runs that differ in their seeds alone.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Arm {
    pub(crate) arm: String,
    pub(crate) seeds: Vec<u64>,
    pub(crate) runs: Vec<String>,
    pub(crate) figures: Vec<Figure>,
}

/// Everything that was run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    /// The part that is reported.
    pub(crate) part: String,
    /// The epoch that is reported.
    pub(crate) which: &'static str,
    pub(crate) arms: Vec<Arm>,
}

/// The value of a run in a column.
type ValueOf<'a> = Box<dyn Fn(&EndedJob, &RunResult) -> Option<f64> + 'a>;

/// A column: what it is called, whether less or more is better, and its value for a run.
pub(crate) struct Column<'a> {
    pub(crate) name: String,
    pub(crate) direction: Direction,
    pub(crate) value: ValueOf<'a>,
}

impl<'a> Column<'a> {
    /// A metric of the reported part.
    pub(crate) fn metric(metric: &'static dissensus::measure::Metric, which: Which) -> Self {
        let name = metric.about.name;
        Self {
            name: name.to_owned(),
            direction: metric.about.direction,
            value: Box::new(move |_, result| result.reported()?.1.metrics(which).get(name)),
        }
    }
}

/// Groups finished runs by arm, in the order in which they come.
pub(crate) fn summarize(ended: &[EndedJob], columns: &[Column<'_>], which: Which) -> Summary {
    let mut summary = Summary { part: String::new(), which: which.name(), arms: Vec::new() };
    let mut rows: Vec<Vec<Vec<Option<f64>>>> = Vec::new();
    for run in ended {
        let Some(result) = run.outcome.result() else { continue };
        if let Some((part, _)) = result.reported() {
            part.clone_into(&mut summary.part);
        }
        let name = run.plan.arm();
        let at = summary.arms.iter().position(|arm| arm.arm == name).unwrap_or_else(|| {
            let (seeds, runs, figures) = (Vec::new(), Vec::new(), Vec::new());
            summary.arms.push(Arm { arm: name, seeds, runs, figures });
            rows.push(vec![Vec::new(); columns.len()]);
            summary.arms.len() - 1
        });
        summary.arms[at].seeds.push(run.plan.seed);
        summary.arms[at].runs.push(run.id.clone());
        for (values, column) in rows[at].iter_mut().zip(columns) {
            values.push((column.value)(run, result));
        }
    }
    for (arm, values) in summary.arms.iter_mut().zip(rows) {
        let figure = |(values, column): (Vec<Option<f64>>, &Column<'_>)| {
            let known: Vec<f64> = values.iter().copied().flatten().collect();
            let whole = known.len() == values.len();
            Figure {
                metric: column.name.clone(),
                mean: describe::mean(&known).ok().filter(|_| whole),
                sd: describe::sd(&known).ok().flatten().filter(|_| whole),
                values,
                direction: column.direction,
            }
        };
        arm.figures = values.into_iter().zip(columns).map(figure).collect();
    }
    summary
}

impl Summary {
    /// The table.
    pub(crate) fn table(&self) -> Table {
        let first = self.arms.first();
        let names = first.map_or(Vec::new(), |arm| {
            arm.figures.iter().map(|figure| figure.metric.clone()).collect()
        });
        let several = self.arms.iter().any(|arm| arm.seeds.len() > 1);
        let best: Vec<Option<f64>> = (0..names.len()).map(|column| self.best(column)).collect();
        let rows = self.arms.iter().map(|arm| {
            let mut row = vec![Cell::new(arm.arm.clone()), Cell::new(arm.seeds.len().to_string())];
            for (figure, best) in arm.figures.iter().zip(&best) {
                let text = match (figure.mean, figure.sd) {
                    (None, _) => "–".to_owned(),
                    (Some(mean), Some(sd)) if several => format!("{mean:.4} ± {sd:.4}"),
                    (Some(mean), _) => format!("{mean:.4}"),
                };
                let best = figure.mean.is_some() && figure.mean == *best && self.arms.len() > 1;
                row.push(Cell { bold: best, ..Cell::new(text) });
            }
            row
        });
        let mut columns = vec!["arm".to_owned(), "seeds".to_owned()];
        columns.extend(names);
        Table::new(columns, 1, rows.collect())
    }

    fn best(&self, column: usize) -> Option<f64> {
        let figures = self.arms.iter().filter_map(|arm| arm.figures.get(column));
        let means = figures.filter_map(|figure| Some((figure.mean?, figure.direction)));
        means
            .reduce(|best, new| if new.1.is_better(new.0, best.0) { new } else { best })
            .filter(|(_, direction)| direction.is_directed())
            .map(|(mean, _)| mean)
    }
}
