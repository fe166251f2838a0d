//! The loss along the straight line between two checkpoints, and how far it rises on the way.
//!
//! At α the weights are (1 − α)·a + α·b. The barrier is the largest excess of the loss there over
//! (1 − α)·L(a) + α·L(b), and 0 where nothing lies above that line (Frankle et al., 2020).
//!
//! Batch statistics of mixed weights are not the mix of the statistics. They can be taken as the
//! mix all the same, or measured again on the training examples at every point; the second is the
//! kinder view, since it takes away what only stale statistics do. Both ends are then measured
//! again, too, so that the whole path is of one kind.

use dissensus_engine::Weights;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::GeometryError;
use crate::error::{count, finite};
use crate::vectors::STRETCH;

/// Where batch statistics on the path come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistics {
    /// Mixed as the weights are.
    #[default]
    Interpolated,
    /// Measured again at every point.
    Recomputed,
}

/// How to walk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct BarrierSettings {
    /// Points, both ends among them.
    pub points: usize,
    /// Where batch statistics come from.
    pub statistics: Statistics,
}

impl Default for BarrierSettings {
    fn default() -> Self {
        Self { points: 21, statistics: Statistics::default() }
    }
}

/// A point of the path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// How far along, from 0 to 1.
    pub alpha: f64,
    pub loss: f64,
    /// The loss less the straight line between the losses of the ends.
    pub excess: f64,
}

/// A path and its barrier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Barrier {
    /// How it was walked.
    pub settings: BarrierSettings,
    /// The losses of both ends.
    pub ends: [f64; 2],
    /// The largest excess, at least 0.
    pub barrier: f64,
    /// Where it is; 0 where nothing lies above the line.
    pub at: f64,
    pub path: Vec<Point>,
}

/// Walks from `from` to `to`. `loss` gets the weights of a point and where its statistics come
/// from, and gives the loss there.
pub fn barrier<E: From<GeometryError>>(
    from: &Weights,
    to: &Weights,
    settings: &BarrierSettings,
    mut loss: impl FnMut(Weights, Statistics) -> Result<f64, E>,
) -> Result<Barrier, E> {
    count("the parameters of the second checkpoint", from.parameters.len(), to.parameters.len())?;
    count("the statistics of the second checkpoint", from.statistics.len(), to.statistics.len())?;
    if settings.points < 3 {
        let expected = "at least 3: both ends, and something between them";
        return Err(GeometryError::setting("points", settings.points, expected).into());
    }
    let last = (settings.points - 1) as f64;
    let mut losses = Vec::with_capacity(settings.points);
    for point in 0..settings.points {
        let alpha = point as f64 / last;
        let found = loss(mix(from, to, alpha), settings.statistics)?;
        let hint = "; look at both checkpoints";
        losses.push((alpha, finite(|| format!("the loss at α = {alpha}"), found, hint)?));
    }
    let ends = [losses[0].1, losses[losses.len() - 1].1];
    let point = |&(alpha, loss): &(f64, f64)| {
        let line = (1.0 - alpha) * ends[0] + alpha * ends[1];
        Point { alpha, loss, excess: loss - line }
    };
    let path: Vec<Point> = losses.iter().map(point).collect();
    // The ends lie on the line; rounding must not make a barrier of them.
    let inside = &path[1..path.len() - 1];
    let top = inside.iter().max_by(|a, b| a.excess.total_cmp(&b.excess));
    let top = top.filter(|point| point.excess > 0.0);
    let (barrier, at) = top.map_or((0.0, 0.0), |point| (point.excess, point.alpha));
    Ok(Barrier { settings: *settings, ends, barrier, at, path })
}

/// The weights at α. The ends are exactly the two checkpoints.
pub fn mix(from: &Weights, to: &Weights, alpha: f64) -> Weights {
    let line = |from: &[f32], to: &[f32]| -> Vec<f32> {
        let mut mixed = from.to_vec();
        mixed.par_chunks_mut(STRETCH).zip(to.par_chunks(STRETCH)).for_each(|(mixed, to)| {
            for (mixed, to) in mixed.iter_mut().zip(to) {
                *mixed = ((1.0 - alpha) * f64::from(*mixed) + alpha * f64::from(*to)) as f32;
            }
        });
        mixed
    };
    Weights {
        parameters: line(&from.parameters, &to.parameters),
        statistics: line(&from.statistics, &to.statistics),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn weights(parameters: &[f32], statistics: &[f32]) -> Weights {
        Weights { parameters: parameters.to_vec(), statistics: statistics.to_vec() }
    }

    /// Between two minima of (w² − 1)² the path is known: ((2α − 1)² − 1)², 1 in the middle. From
    /// −1 to 1, and on a convex loss nothing rises.
    #[test]
    fn closed_forms() {
        let (a, b) = (weights(&[-1.0], &[]), weights(&[1.0], &[]));
        let double = |w: Weights, _| -> Result<f64, GeometryError> {
            Ok((f64::from(w.parameters[0]).powi(2) - 1.0).powi(2))
        };
        let found = barrier(&a, &b, &BarrierSettings::default(), double).unwrap();
        assert_eq!((found.barrier, found.at, found.ends), (1.0, 0.5, [0.0, 0.0]));
        assert_eq!(found.path.len(), 21);
        for point in &found.path {
            let truth = ((2.0 * point.alpha - 1.0).powi(2) - 1.0).powi(2);
            assert!((point.loss - truth).abs() < 1e-6 && point.excess == point.loss);
        }
        // −w² + w from 1 to 3, in α: excess 4 α (1 − α) over the line from 0 to −6.
        let (a, b) = (weights(&[1.0], &[]), weights(&[3.0], &[]));
        let hill = |w: Weights, _| -> Result<f64, GeometryError> {
            Ok(-f64::from(w.parameters[0]).powi(2) + f64::from(w.parameters[0]))
        };
        let found = barrier(&a, &b, &BarrierSettings::default(), hill).unwrap();
        assert!((found.barrier - 1.0).abs() < 1e-6 && found.at == 0.5, "{found:?}");
        let bowl = |w: Weights, s| hill(w, s).map(|loss| -loss);
        let found = barrier(&a, &b, &BarrierSettings::default(), bowl).unwrap();
        assert_eq!((found.barrier, found.at), (0.0, 0.0));
        assert!(found.path[10].excess < -0.99);
    }

    #[test]
    fn the_ends_are_the_checkpoints_and_the_mode_is_passed_on() {
        let (a, b) = (weights(&[0.1, -7.3], &[0.3]), weights(&[0.7, 1e-8], &[1.7]));
        for statistics in [Statistics::Interpolated, Statistics::Recomputed] {
            let mut seen = Vec::new();
            let settings = BarrierSettings { points: 3, statistics };
            let found = barrier(&a, &b, &settings, |w, how| {
                seen.push((w, how));
                Ok::<_, GeometryError>(1.0)
            });
            assert_eq!(found.unwrap().barrier, 0.0);
            assert_eq!((&seen[0].0, &seen[2].0), (&a, &b));
            assert!((seen[1].0.statistics[0] - 1.0).abs() < 1e-6);
            assert!(seen.iter().all(|(_, how)| *how == statistics));
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let (a, b) = (weights(&[0.0], &[1.0]), weights(&[0.0], &[]));
        let run = |a, b, points, loss: f64| {
            let settings = BarrierSettings { points, ..Default::default() };
            barrier(a, b, &settings, |_, _| Ok::<_, GeometryError>(loss)).unwrap_err().to_string()
        };
        assert!(run(&a, &b, 5, 0.0).contains("the statistics of the second checkpoint: 0"));
        assert!(run(&a, &a, 2, 0.0).contains("points is 2"));
        assert!(run(&a, &a, 5, f64::NAN).contains("the loss at α = 0 is NaN"));
    }
}
