//! Runs as a table: one row per arm, mean ± standard deviation over seeds, the best value of a
//! column bold.

use dissensus_measure::{Direction, Metric};
use dissensus_report::tables::{TextCell, TextTable};
use dissensus_stats::describe;
use dissensus_store::{Store, Which};
use dissensus_train::{EndedJob, RunEnvironment, RunResult};
use serde::Serialize;

/// A metric of an arm over its seeds.
#[derive(Clone, Debug, Serialize)]
pub struct ArmMetric {
    /// Its name.
    pub metric: String,
    /// The value of each run.
    pub values: Vec<Option<f64>>,
    /// Over seeds; undefined where a run has no value.
    pub mean: Option<f64>,
    /// Over seeds; undefined for one.
    pub sd: Option<f64>,
    #[serde(skip)]
    direction: Direction,
}

/// An arm: runs that differ in their seeds alone.
#[derive(Clone, Debug, Serialize)]
pub struct ArmSummary {
    /// Its name.
    pub arm: String,
    /// The seeds of its runs.
    pub seeds: Vec<u64>,
    /// The ids of its runs.
    pub runs: Vec<String>,
    /// One per column.
    pub figures: Vec<ArmMetric>,
}

/// The finished runs of a training, by arm.
#[derive(Clone, Debug, Serialize)]
pub struct RunSummary {
    /// The part that is reported.
    pub part: String,
    /// The epoch that is reported.
    pub which: &'static str,
    /// The arms, in the order of their first runs.
    pub arms: Vec<ArmSummary>,
}

/// The value of a run in a column.
pub type ValueOf<'a> = Box<dyn Fn(&EndedJob, &RunResult) -> Option<f64> + 'a>;

/// A column: what it is called, whether less or more is better, and its value for a run.
pub struct SummaryColumn<'a> {
    /// Its title.
    pub name: String,
    /// Which values are better.
    pub direction: Direction,
    /// The value of a run.
    pub value: ValueOf<'a>,
}

impl<'a> SummaryColumn<'a> {
    /// A metric of the reported part.
    pub fn metric(metric: &'static Metric, which: Which) -> Self {
        let name = metric.about.name;
        Self {
            name: name.to_owned(),
            direction: metric.about.direction,
            value: Box::new(move |_, result| result.reported()?.1.metrics(which).get(name)),
        }
    }
}

/// Where a finished run was trained, by which version, and for how long.
#[derive(Clone, Debug, Serialize)]
pub struct RunOrigin {
    /// The run.
    pub run: String,
    /// The version of the program.
    pub version: String,
    /// The device.
    pub device: String,
    /// How long training took.
    pub seconds: f64,
}

impl RunOrigin {
    /// The origins of the runs that finished.
    pub fn of(ended: &[EndedJob], store: &Store) -> Vec<Self> {
        let finished = ended.iter().filter_map(|run| Some((&run.id, run.outcome.result()?)));
        let origin = finished.filter_map(|(run, result)| {
            let about = store.find(run).ok()?.about;
            let RunEnvironment { version, device, .. } = serde_json::from_value(about).ok()?;
            Some(Self { run: run.clone(), version, device, seconds: result.seconds })
        });
        origin.collect()
    }
}

/// Groups finished runs by arm, in the order in which they come.
pub fn summarize_runs(
    ended: &[EndedJob],
    columns: &[SummaryColumn<'_>],
    which: Which,
) -> RunSummary {
    let mut summary = RunSummary { part: String::new(), which: which.name(), arms: Vec::new() };
    let mut rows: Vec<Vec<Vec<Option<f64>>>> = Vec::new();
    for run in ended {
        let Some(result) = run.outcome.result() else { continue };
        if let Some((part, _)) = result.reported() {
            part.clone_into(&mut summary.part);
        }
        let name = run.plan.arm();
        let at = summary.arms.iter().position(|arm| arm.arm == name).unwrap_or_else(|| {
            let (seeds, runs, figures) = (Vec::new(), Vec::new(), Vec::new());
            summary.arms.push(ArmSummary { arm: name, seeds, runs, figures });
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
        let figure = |(values, column): (Vec<Option<f64>>, &SummaryColumn<'_>)| {
            let known: Vec<f64> = values.iter().copied().flatten().collect();
            let whole = known.len() == values.len();
            ArmMetric {
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

impl RunSummary {
    /// One row per arm, one column per metric.
    pub fn table(&self) -> TextTable {
        let first = self.arms.first();
        let names = first.map_or(Vec::new(), |arm| {
            arm.figures.iter().map(|figure| figure.metric.clone()).collect()
        });
        let several = self.arms.iter().any(|arm| arm.seeds.len() > 1);
        let best: Vec<Option<f64>> = (0..names.len()).map(|column| self.best(column)).collect();
        let rows = self.arms.iter().map(|arm| {
            let mut row =
                vec![TextCell::new(arm.arm.clone()), TextCell::new(arm.seeds.len().to_string())];
            for (figure, best) in arm.figures.iter().zip(&best) {
                let text = match (figure.mean, figure.sd) {
                    (None, _) => "–".to_owned(),
                    (Some(mean), Some(sd)) if several => format!("{mean:.4} ± {sd:.4}"),
                    (Some(mean), _) => format!("{mean:.4}"),
                };
                let best = figure.mean.is_some() && figure.mean == *best && self.arms.len() > 1;
                row.push(TextCell { bold: best, ..TextCell::new(text) });
            }
            row
        });
        let mut columns = vec!["arm".to_owned(), "seeds".to_owned()];
        columns.extend(names);
        TextTable::new(columns, 1, rows.collect())
    }

    /// The best mean of a column, where less or more of it is better.
    fn best(&self, column: usize) -> Option<f64> {
        let figures = self.arms.iter().filter_map(|arm| arm.figures.get(column));
        let means = figures.filter_map(|figure| Some((figure.mean?, figure.direction)));
        means
            .reduce(|best, new| if new.1.is_better(new.0, best.0) { new } else { best })
            .filter(|(_, direction)| direction.is_directed())
            .map(|(mean, _)| mean)
    }
}
