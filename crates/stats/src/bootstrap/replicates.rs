//! Bootstrap replicates: drawn in parallel, the same for any number of threads.

use dissensus_core::philox::Stream;
use rayon::prelude::*;

use super::{BootstrapSettings, Plan};
use crate::describe::{quantile_of_sorted, sorted};
use crate::special::normal_quantile;

/// Values of a statistic on its replicates.
pub(super) struct Replicates {
    /// The defined ones, ascending.
    pub(super) sorted: Vec<f64>,
    pub(super) undefined: usize,
}

fn stream(settings: &BootstrapSettings, replicate: usize) -> Stream {
    Stream::new([settings.seed, settings.stream], [replicate as u64, 0, 0])
}

impl Replicates {
    pub(super) fn draw(
        plan: &Plan,
        statistic: &(impl Fn(&[usize]) -> Option<f64> + Sync),
        settings: &BootstrapSettings,
    ) -> Self {
        let replicates = (0..settings.replicates).into_par_iter();
        Self::new(replicates.map_init(Vec::new, |rows, replicate| {
            plan.draw(&mut stream(settings, replicate), rows);
            statistic(rows)
        }))
    }

    pub(super) fn draw_means(values: &[f64], settings: &BootstrapSettings) -> Self {
        let n = values.len();
        Self::new((0..settings.replicates).into_par_iter().map(|replicate| {
            let mut stream = stream(settings, replicate);
            let sum: f64 = (0..n).map(|_| values[stream.below(n as u64) as usize]).sum();
            Some(sum / n as f64).filter(|mean| mean.is_finite())
        }))
    }

    /// Replicates that need no drawing.
    pub(super) fn all_equal(value: f64) -> Self {
        Self { sorted: vec![value], undefined: 0 }
    }

    fn new(values: impl ParallelIterator<Item = Option<f64>>) -> Self {
        let values: Vec<Option<f64>> = values.collect();
        let defined: Vec<f64> = values.iter().flatten().copied().collect();
        Self { undefined: values.len() - defined.len(), sorted: sorted(&defined) }
    }

    /// What rounding may add to a replicate that is the estimate on paper.
    fn rounding(&self) -> f64 {
        1e-12 * self.sorted.iter().fold(0f64, |largest, v| largest.max(v.abs()))
    }

    /// Whether every replicate is the estimate.
    pub(super) fn all_near(&self, estimate: f64) -> bool {
        let slack = self.rounding();
        self.sorted.iter().all(|value| (value - estimate).abs() <= slack)
    }

    /// z₀: the normal quantile of the share of replicates below the estimate, those equal to it
    /// counted half. `None` (infinite) where all lie on one side.
    pub(super) fn bias(&self, estimate: f64) -> Option<f64> {
        let slack = self.rounding();
        let below = self.sorted.partition_point(|value| *value < estimate - slack);
        let up_to = self.sorted.partition_point(|value| *value <= estimate + slack);
        let share = (below + up_to) as f64 / (2 * self.sorted.len()) as f64;
        Some(normal_quantile(share)).filter(|z| z.is_finite())
    }

    /// The quantiles at two levels; there is at least one replicate.
    pub(super) fn at(&self, (low, high): (f64, f64)) -> (Option<f64>, Option<f64>) {
        let at = |level| Some(quantile_of_sorted(&self.sorted, level));
        (at(low), at(high))
    }
}

/// The statistic with each unit left out; `None` where it is undefined for one of them.
pub(super) fn jackknife(
    plan: &Plan,
    statistic: &(impl Fn(&[usize]) -> Option<f64> + Sync),
) -> Option<Vec<f64>> {
    let units = (0..plan.units()).into_par_iter();
    units
        .map_init(Vec::new, |rows, unit| {
            plan.without(unit, rows);
            statistic(rows)
        })
        .collect()
}
