//! Distance to the k-th nearest training item, between features of length 1.
//!
//! Exact: the inner products of all pairs, in blocks that fit the cache. For unit vectors
//! `‖a − b‖² = 2 − 2 a·b`, so the k-th largest product names the k-th nearest item; the distance to
//! it is then taken from the difference itself, which does not cancel for near items.
//! Memory: 8 bytes a feature of the training items, and a few blocks.

use rayon::prelude::*;

use super::{Needs, OodInput, OodScore, OodSettings};
use crate::{About, Direction, Matrix, MeasureError, truth};

const NAME: &str = "knn";

pub(super) const SCORE: OodScore = OodScore {
    about: About {
        name: NAME,
        title: "distance to the k-th nearest training item",
        formula: "‖f/‖f‖ − g/‖g‖‖, g the k-th nearest of the training items' features",
        unit: "Euclidean distance of unit vectors, from 0 to 2",
        direction: Direction::HigherIsOut,
        settings: "neighbours k (50 by default, at most the number of training items). Needs \
                   features of the items and of the training items; exact, no index",
        reference: "Sun, Ming, Zhu and Li, Out-of-distribution detection with deep nearest \
                    neighbors, ICML 2022",
    },
    needs: Needs::Features,
    compute,
};

/// Items a task looks at together, and training items it holds against them at a time.
const ITEMS: usize = 32;
const TRAINING: usize = 256;
/// A tile of products that stays in registers: items by training items.
const TILE: usize = 4;

fn compute(input: &OodInput<'_>, settings: &OodSettings) -> Result<Vec<f64>, MeasureError> {
    let missing = |what| MeasureError::Missing { score: NAME, what };
    let features = input.features.ok_or(missing("features"))?;
    let training = input.training.ok_or(missing("features of the training items"))?;
    let (k, width) = (settings.neighbours, features.columns());
    truth::size("columns of the training features", training.columns(), width)?;
    if !(1..=training.rows()).contains(&k) {
        let (value, expected) = (k.to_string(), "from 1 to the number of training items");
        return Err(MeasureError::Setting { name: "neighbours", value, expected });
    }
    let training = normalized("training features", training, 0..training.rows())?;
    let panels: Vec<Vec<f64>> =
        training.par_chunks(TILE * width).map(|rows| panel(rows, width)).collect();
    let starts: Vec<usize> = (0..features.rows()).step_by(ITEMS).collect();
    let blocks: Vec<Result<Vec<f64>, MeasureError>> = starts
        .into_par_iter()
        .map(|start| {
            let rows = start..(start + ITEMS).min(features.rows());
            let items = normalized("features", features, rows)?;
            Ok(distances(&items, &training, &panels, width, k))
        })
        .collect();
    Ok(blocks.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

/// Rows of length 1.
fn normalized(
    what: &'static str,
    matrix: Matrix<'_>,
    rows: std::ops::Range<usize>,
) -> Result<Vec<f64>, MeasureError> {
    let width = matrix.columns();
    let mut values = vec![0.0; rows.len() * width];
    for (values, row) in values.chunks_exact_mut(width).zip(rows) {
        matrix.read_finite(what, row, values)?;
        // Scaled by the largest first: squares of large features would overflow.
        let largest = values.iter().fold(0f64, |largest, v| largest.max(v.abs()));
        if largest == 0.0 {
            return Err(MeasureError::ZeroVector { what, row });
        }
        values.iter_mut().for_each(|v| *v /= largest);
        let length = values.iter().map(|v| v * v).sum::<f64>().sqrt();
        values.iter_mut().for_each(|v| *v /= length);
    }
    Ok(values)
}

/// A few rows, interleaved column by column; rows that are lacking are zeros.
fn panel(rows: &[f64], width: usize) -> Vec<f64> {
    let mut panel = vec![0.0; TILE * width];
    for (at, row) in rows.chunks_exact(width).enumerate() {
        row.iter().enumerate().for_each(|(column, &v)| panel[column * TILE + at] = v);
    }
    panel
}

/// The distance of each item to its k-th nearest.
fn distances(
    items: &[f64],
    training: &[f64],
    panels: &[Vec<f64>],
    width: usize,
    k: usize,
) -> Vec<f64> {
    let count = training.len() / width;
    let mut nearest = vec![Nearest { k, found: Vec::new(), least: f64::NEG_INFINITY }; ITEMS];
    let item_panels: Vec<Vec<f64>> =
        items.chunks(TILE * width).map(|rows| panel(rows, width)).collect();
    let mut products = vec![0.0; ITEMS * TRAINING];
    for (block, panels) in panels.chunks(TRAINING / TILE).enumerate() {
        for (a, item_panel) in item_panels.iter().enumerate() {
            for (b, panel) in panels.iter().enumerate() {
                let tile = tile(item_panel, panel);
                for (i, row) in tile.iter().enumerate() {
                    let at = (a * TILE + i) * TRAINING + b * TILE;
                    products[at..at + TILE].copy_from_slice(row);
                }
            }
        }
        let start = block * TRAINING;
        let valid = TRAINING.min(count - start);
        for (nearest, products) in nearest.iter_mut().zip(products.chunks_exact(TRAINING)) {
            nearest.take(start, &products[..valid]);
        }
    }
    let items = items.chunks_exact(width).zip(nearest);
    items
        .map(|(item, nearest)| {
            let at = nearest.last();
            let other = &training[at * width..(at + 1) * width];
            item.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
        })
        .collect()
}

/// The inner products of a few items (rows) with a few training items (columns).
fn tile(items: &[f64], training: &[f64]) -> [[f64; TILE]; TILE] {
    let mut sums = [[0.0; TILE]; TILE];
    let columns = items.chunks_exact(TILE).zip(training.chunks_exact(TILE));
    for (a, b) in columns {
        for (sums, a) in sums.iter_mut().zip(a) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
    }
    sums
}

/// The k largest products seen so far, unordered, and where they were.
#[derive(Clone)]
struct Nearest {
    k: usize,
    found: Vec<(f64, usize)>,
    /// What a product must exceed to belong to them.
    least: f64,
}

impl Nearest {
    fn take(&mut self, start: usize, products: &[f64]) {
        for (at, &product) in products.iter().enumerate() {
            if product > self.least {
                self.found.push((product, start + at));
            }
        }
        if self.found.len() > self.k {
            self.cut();
            self.least = self.found[self.k - 1].0;
        }
    }

    /// Puts the k-th largest at its place, of equals the first, and drops what is beyond.
    fn cut(&mut self) {
        let by = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        self.found.select_nth_unstable_by(self.k - 1, by);
        self.found.truncate(self.k);
    }

    fn last(mut self) -> usize {
        self.cut();
        self.found[self.k - 1].1
    }
}
