//! Whether runs look at the same places: the mean Pearson correlation of their maps of the same
//! image, over all pairs of runs and all images that both have.
//!
//! Every (pair, image) counts the same. A map that is the same everywhere has no correlation; how
//! many such there were is stated, and they are left out of the mean.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Cams;
use crate::GeometryError;
use crate::error::count;

/// The maps of a run, and of which items they are.
#[derive(Clone, Copy, Debug)]
pub struct RunMaps<'a> {
    /// By map, the item: a number that means the same in all runs.
    pub items: &'a [u32],
    pub cams: &'a Cams,
}

/// Two runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairStability {
    /// Their places in the list of runs.
    pub runs: [usize; 2],
    /// The mean correlation; `None` where none is defined.
    pub mean: Option<f64>,
    /// Images with a correlation.
    pub images: usize,
    /// Images that both have, but without one.
    pub undefined: usize,
}

/// All runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// The mean correlation; `None` where none is defined.
    pub mean: Option<f64>,
    pub correlations: usize,
    /// Pairs of maps without one.
    pub undefined: usize,
    /// The pairs of runs.
    pub pairs: Vec<PairStability>,
}

/// How alike the maps are; with `among`, of those items alone.
pub fn stability(runs: &[RunMaps<'_>], among: Option<&[u32]>) -> Result<Stability, GeometryError> {
    for (run, seen) in runs.iter().enumerate() {
        count(&format!("the maps of run {run}"), seen.items.len(), seen.cams.len())?;
        let (first, own) = (runs[0].cams, seen.cams);
        if (first.height, first.width) != (own.height, own.width) {
            let text = format!(
                "the maps of run {run} are {}×{}, those of run 0 {}×{}",
                own.height, own.width, first.height, first.width
            );
            return Err(GeometryError::Data(text));
        }
    }
    let among: Option<std::collections::HashSet<u32>> =
        among.map(|it| it.iter().copied().collect());
    let places: Vec<HashMap<u32, usize>> = runs
        .iter()
        .map(|seen| seen.items.iter().enumerate().map(|(at, &item)| (item, at)).collect())
        .collect();
    let numbers = (0..runs.len()).flat_map(|a| (a + 1..runs.len()).map(move |b| [a, b]));
    let pair = |[a, b]: [usize; 2]| -> (f64, PairStability) {
        // In the order of the first run, so that the sum has one order.
        let common = runs[a].items.iter().enumerate().filter_map(|(at, item)| {
            let wanted = among.as_ref().is_none_or(|among| among.contains(item));
            let other = places[b].get(item)?;
            wanted.then_some((runs[a].cams.map(at)?, runs[b].cams.map(*other)?))
        });
        let (mut sum, mut images, mut undefined) = (0.0, 0, 0);
        for (x, y) in common {
            match correlation(x, y) {
                Some(r) => (sum, images) = (sum + r, images + 1),
                None => undefined += 1,
            }
        }
        let mean = (images > 0).then(|| sum / images as f64);
        (sum, PairStability { runs: [a, b], mean, images, undefined })
    };
    let numbers: Vec<[usize; 2]> = numbers.collect();
    let found: Vec<(f64, PairStability)> = numbers.into_par_iter().map(pair).collect();
    let correlations: usize = found.iter().map(|(_, pair)| pair.images).sum();
    let undefined = found.iter().map(|(_, pair)| pair.undefined).sum();
    let sum: f64 = found.iter().map(|(sum, _)| sum).sum();
    let mean = (correlations > 0).then(|| sum / correlations as f64);
    let pairs = found.into_iter().map(|(_, pair)| pair).collect();
    Ok(Stability { mean, correlations, undefined, pairs })
}

/// Pearson's; `None` where one side does not vary.
fn correlation(x: &[f32], y: &[f32]) -> Option<f64> {
    let n = x.len() as f64;
    let mean = |v: &[f32]| v.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
    let varies = |v: &[f32]| v.iter().any(|value| *value != v[0]);
    if !varies(x) || !varies(y) {
        return None;
    }
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (x, y) = (f64::from(*x) - mean_x, f64::from(*y) - mean_y);
        (xx, yy, xy) = (xx + x * x, yy + y * y, xy + x * y);
    }
    let r = xy / (xx * yy).sqrt();
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn cams(maps: &[[f32; 4]]) -> Cams {
        Cams { height: 2, width: 2, values: maps.concat() }
    }

    const A: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
    const B: [f32; 4] = [1.0, 0.0, 1.0, 0.0];
    /// Orthogonal to A and B once centered.
    const C: [f32; 4] = [0.0, 0.0, 1.0, 1.0];
    const NOTHING: [f32; 4] = [0.0; 4];

    #[test]
    fn by_hand() {
        let (one, two, three) = (cams(&[A, B, C]), cams(&[A, A]), cams(&[NOTHING, C]));
        let runs = [
            RunMaps { items: &[10, 20, 30], cams: &one },
            RunMaps { items: &[20, 30], cams: &two },
            RunMaps { items: &[20, 10], cams: &three },
        ];
        // 0–1: items 20 (B, A: −1) and 30 (C, A: 0); 0–2: 20 undefined, 10 (A, C: 0); 1–2: undefined.
        let found = stability(&runs, None).unwrap();
        let pairs: Vec<_> =
            found.pairs.iter().map(|p| (p.runs, p.mean, p.images, p.undefined)).collect();
        assert_eq!(
            pairs,
            [([0, 1], Some(-0.5), 2, 0), ([0, 2], Some(0.0), 1, 1), ([1, 2], None, 0, 1)]
        );
        assert!((found.mean.unwrap() + 1.0 / 3.0).abs() < 1e-12);
        assert_eq!((found.correlations, found.undefined), (3, 2));
        let some = stability(&runs, Some(&[30])).unwrap();
        assert_eq!((some.mean, some.correlations), (Some(0.0), 1));
        let none = stability(&runs[..1], None).unwrap();
        assert_eq!((none.mean, none.pairs.len()), (None, 0));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let one = cams(&[A]);
        assert!(stability(&[RunMaps { items: &[1, 2], cams: &one }], None).is_err());
        let wide = Cams { height: 1, width: 4, values: A.to_vec() };
        let runs = [RunMaps { items: &[1], cams: &one }, RunMaps { items: &[1], cams: &wide }];
        let error = stability(&runs, None).unwrap_err().to_string();
        assert!(error.contains("run 1 are 1×4"), "{error}");
    }
}
