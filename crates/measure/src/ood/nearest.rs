//! The k-th nearest of many rows, exactly and fast.
//!
//! Who is near is told by inner products of all pairs in single precision, which are off by at most
//! δ. Where P is the k-th largest of them, rows with a product above P + 2δ are nearer than the
//! k-th nearest and those below P − 2δ are farther, whatever the rounding. The few in between are
//! measured in double precision, from the differences, which do not cancel for near rows. So the
//! distance has the bits of a search in double precision over all pairs.

use std::ops::Range;

use dissensus_linalg::Packed;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::products::{self, Take, products};
use super::{OodInput, OodSettings};
use crate::{Matrix, MeasureError, truth};

/// Items a task looks at together: they stay in the cache while the training items pass by.
const ITEMS: usize = 128;

/// Features of the items, features of the training items, and k, as a score of distances needs them.
pub(super) fn asked<'a>(
    name: &'static str,
    input: &OodInput<'a>,
    settings: &OodSettings,
) -> Result<(Matrix<'a>, Matrix<'a>, usize), MeasureError> {
    let missing = |what| MeasureError::Missing { score: name, what };
    let features = input.features.ok_or(missing("features"))?;
    let training = input.training.ok_or(missing("features of the training items"))?;
    let k = settings.neighbours;
    truth::size("columns of the training features", training.columns(), features.columns())?;
    if !(1..=training.rows()).contains(&k) {
        let (value, expected) = (k.to_string(), "from 1 to the number of training items");
        return Err(MeasureError::Setting { name: "neighbours", value, expected });
    }
    Ok((features, training, k))
}

/// Rows of numbers, each changed in place by `change`, which is told the row.
pub(super) fn changed(
    what: &'static str,
    matrix: Matrix<'_>,
    rows: Range<usize>,
    change: impl Fn(usize, &mut [f64]) -> Result<(), MeasureError> + Sync,
) -> Result<Vec<f64>, MeasureError> {
    let (width, start) = (matrix.columns(), rows.start);
    let mut values = vec![0.0; rows.len() * width];
    let read = |(at, values): (usize, &mut [f64])| {
        matrix.read_finite(what, start + at, values)?;
        change(start + at, values)
    };
    // All of them, so that the error is that of the first row that has one.
    let done: Vec<Result<(), MeasureError>> =
        values.par_chunks_exact_mut(width).with_min_len(64).enumerate().map(read).collect();
    done.into_iter().collect::<Result<(), _>>()?;
    Ok(values)
}

pub(super) struct Search {
    /// Which of the nearest is asked for.
    pub k: usize,
    /// The numbers of a row.
    pub width: usize,
    /// The rows that distances are measured to.
    pub rows: Vec<f64>,
    /// What items are multiplied with: the larger a product, the nearer the row.
    pub packed: Packed,
    /// The lengths of the longest rows that are multiplied, one times the other.
    pub longest: f64,
}

impl Search {
    /// The distance of each of `count` items to its k-th nearest row. `items` gives the items of a
    /// range: as they are measured, and as they are multiplied.
    pub(super) fn distances(
        &self,
        count: usize,
        items: impl Fn(Range<usize>) -> Result<(Vec<f64>, Vec<f32>), MeasureError> + Sync,
    ) -> Result<Vec<f64>, MeasureError> {
        let doubt = 2.0 * self.longest * f64::from(products::error(self.packed.depth()));
        let starts: Vec<usize> = (0..count).step_by(ITEMS).collect();
        let blocks: Vec<Result<Vec<f64>, MeasureError>> = starts
            .into_par_iter()
            .map(|start| {
                let range = start..(start + ITEMS).min(count);
                let mut nearest = vec![Nearest::new(self.k, doubt as f32); range.len()];
                let (measured, multiplied) = items(range)?;
                products(&self.packed, &multiplied, &mut nearest);
                let last = |(item, nearest): (&[f64], Nearest)| nearest.last(item, &self.rows);
                Ok(measured.chunks_exact(self.width).zip(nearest).map(last).collect())
            })
            .collect();
        Ok(blocks.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }
}

/// Squared distances of an item to the rows at some places.
struct Squares<'a> {
    item: &'a [f64],
    rows: &'a [f64],
    places: &'a [usize],
}

/// Sums that are kept side by side: a fixed number, so that no machine's registers change a bit.
const SUMS: usize = 16;

impl WithSimd for Squares<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<f64> {
        let (width, item) = (self.item.len(), self.item.as_chunks::<SUMS>());
        let square = |&place: &usize| {
            let row = self.rows[place * width..][..width].as_chunks::<SUMS>();
            let mut sums = [0.0; SUMS];
            for (a, b) in item.0.iter().zip(row.0) {
                for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
                    *sum += (a - b) * (a - b);
                }
            }
            let rest = item.1.iter().zip(row.1).map(|(a, b)| (a - b) * (a - b));
            sums.iter().sum::<f64>() + rest.sum::<f64>()
        };
        self.places.iter().map(square).collect()
    }
}

/// What may be among the k nearest of an item: its largest products so far, and where they were.
#[derive(Clone)]
struct Nearest {
    k: usize,
    /// 2δ, what two products must differ by for their order to be sure.
    doubt: f32,
    /// Unordered; at least k once as many were seen.
    found: Vec<(f32, usize)>,
    /// Products below are not among the k nearest.
    bar: f32,
    /// How many are kept before those that fell behind are dropped.
    room: usize,
}

/// Products that are looked at together: most have none that matters.
const GLANCE: usize = 16;

impl Take for Nearest {
    #[inline(always)]
    fn take(&mut self, start: usize, products: &[f32]) {
        for (chunk, products) in products.chunks(GLANCE).enumerate() {
            // No early end, so that it becomes one comparison of a register.
            if products.iter().fold(false, |any, &product| any | (product >= self.bar)) {
                self.keep(start + chunk * GLANCE, products);
            }
        }
        if self.found.len() > self.room {
            self.drop_far();
        }
    }
}

impl Nearest {
    fn new(k: usize, doubt: f32) -> Self {
        Self { k, doubt, found: Vec::new(), bar: f32::NEG_INFINITY, room: 4 * k }
    }

    #[inline(never)]
    fn keep(&mut self, start: usize, products: &[f32]) {
        let kept = products.iter().enumerate().filter(|(_, product)| **product >= self.bar);
        self.found.extend(kept.map(|(at, &product)| (product, start + at)));
    }

    #[inline(never)]
    fn drop_far(&mut self) {
        self.bar = self.kth() - self.doubt;
        self.found.retain(|(product, _)| *product >= self.bar);
        // Twice what stays, so that items that are all alike are not sifted again and again.
        self.room = self.room.max(2 * self.found.len());
    }

    /// The k-th largest product.
    fn kth(&mut self) -> f32 {
        let (_, kth, _) = self.found.select_nth_unstable_by(self.k - 1, |a, b| b.0.total_cmp(&a.0));
        kth.0
    }

    /// The distance of the item to its k-th nearest of the training rows.
    fn last(mut self, item: &[f64], rows: &[f64]) -> f64 {
        let kth = self.kth();
        let nearer = self.found.iter().filter(|(product, _)| product - kth > self.doubt).count();
        let open = self.found.iter().filter(|(product, _)| (product - kth).abs() <= self.doubt);
        let places: Vec<usize> = open.map(|(_, place)| *place).collect();
        let mut squares = Arch::new().dispatch(Squares { item, rows, places: &places });
        let (_, last, _) = squares.select_nth_unstable_by(self.k - nearer - 1, f64::total_cmp);
        last.sqrt()
    }
}

/// Every distance in double precision, sorted: what the scores are to give, bit for bit.
#[cfg(test)]
pub(super) fn plainly(items: &[f64], rows: &[f64], width: usize, k: usize) -> Vec<f64> {
    let places: Vec<usize> = (0..rows.len() / width).collect();
    let of = |item| {
        let mut all = Squares { item, rows, places: &places }.with_simd(pulp::Scalar);
        all.sort_unstable_by(f64::total_cmp);
        all[k - 1].sqrt()
    };
    items.chunks_exact(width).map(of).collect()
}

/// Features of three kinds, 1,200 of 40 numbers each: spread out; so close together that single
/// precision cannot order them; and many of them equal.
#[cfg(test)]
pub(super) fn three_kinds() -> [(&'static str, Vec<f64>); 3] {
    const WIDTH: usize = 40;
    let u = crate::testing::uniform(14, 1200 * WIDTH);
    let spread: Vec<f64> = u.iter().map(|u| u - 0.3).collect();
    let close: Vec<f64> = u.iter().map(|u| 1.0 + 1e-7 * u).collect();
    let equal: Vec<f64> =
        (0..1200 * WIDTH).map(|at| spread[at / WIDTH % 7 * WIDTH + at % WIDTH]).collect();
    [("spread", spread), ("close", close), ("equal", equal)]
}

/// Runs a score on the first 200 of the features of each kind, the others being the training items.
#[cfg(test)]
pub(super) fn exact(
    compute: fn(&OodInput<'_>, &OodSettings) -> Result<Vec<f64>, MeasureError>,
    wanted: impl Fn(Matrix<'_>, Matrix<'_>, usize) -> Vec<f64>,
) {
    const WIDTH: usize = 40;
    for (kind, values) in three_kinds() {
        let features = Matrix::new(&values[..200 * WIDTH], WIDTH).unwrap();
        let training = Matrix::new(&values[200 * WIDTH..], WIDTH).unwrap();
        let (features_in, training_in) = (Some(features), Some(training));
        let input = OodInput { features: features_in, training: training_in, ..Default::default() };
        for neighbours in [1, 2, 50, 999, 1000] {
            let settings = OodSettings { neighbours, ..Default::default() };
            let ours = compute(&input, &settings).unwrap();
            assert_eq!(ours, wanted(features, training, neighbours), "{kind} {neighbours}");
        }
    }
}
