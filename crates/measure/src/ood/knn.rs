//! Distance to the k-th nearest training item, between features of length 1.
//!
//! Exact, and fast: for unit vectors `‖a − b‖² = 2 − 2 a·b`, so the k-th largest product belongs to
//! the k-th nearest item. Products of all pairs are taken in single precision, off by at most δ.
//! Where P is the k-th largest of them, items with a product above P + 2δ are nearer than the k-th
//! nearest and those below P − 2δ are farther, whatever the rounding. The few in between are
//! measured in double precision, from the differences, which do not cancel for near items. So the
//! score has the bits of a search in double precision over all pairs.
//!
//! Memory: 12 bytes a feature of the training items, and a few blocks.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::products::{self, Packed, Take};
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

/// Items a task looks at together: they stay in the cache while the training items pass by.
const ITEMS: usize = 128;

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
    let training = units("training features", training, 0..training.rows())?;
    let packed = Packed::new(&training, width);
    let starts: Vec<usize> = (0..features.rows()).step_by(ITEMS).collect();
    let blocks: Vec<Result<Vec<f64>, MeasureError>> = starts
        .into_par_iter()
        .map(|start| {
            let rows = start..(start + ITEMS).min(features.rows());
            let items = units("features", features, rows.clone())?;
            let single: Vec<f32> = items.iter().map(|&v| v as f32).collect();
            let mut nearest = vec![Nearest::new(k, width); rows.len()];
            packed.products(&single, &mut nearest);
            let last = |(item, nearest): (&[f64], Nearest)| nearest.last(item, &training);
            Ok(items.chunks_exact(width).zip(nearest).map(last).collect())
        })
        .collect();
    Ok(blocks.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

/// Rows, brought to length 1.
fn units(
    what: &'static str,
    matrix: Matrix<'_>,
    rows: std::ops::Range<usize>,
) -> Result<Vec<f64>, MeasureError> {
    let (width, start) = (matrix.columns(), rows.start);
    let mut values = vec![0.0; rows.len() * width];
    let unit = |(at, values): (usize, &mut [f64])| {
        let row = start + at;
        matrix.read_finite(what, row, values)?;
        // Scaled by the largest first: squares of large features would overflow.
        let largest = values.iter().fold(0f64, |largest, v| largest.max(v.abs()));
        if largest == 0.0 {
            return Err(MeasureError::ZeroVector { what, row });
        }
        values.iter_mut().for_each(|v| *v /= largest);
        let length = values.iter().map(|v| v * v).sum::<f64>().sqrt();
        values.iter_mut().for_each(|v| *v /= length);
        Ok(())
    };
    // All of them, so that the error is that of the first row that has one.
    let done: Vec<Result<(), MeasureError>> =
        values.par_chunks_exact_mut(width).with_min_len(64).enumerate().map(unit).collect();
    done.into_iter().collect::<Result<(), _>>()?;
    Ok(values)
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
    fn new(k: usize, width: usize) -> Self {
        let doubt = 2.0 * products::error(width);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    /// Every distance in double precision, sorted.
    fn plainly(features: Matrix<'_>, training: Matrix<'_>, k: usize) -> Vec<f64> {
        let units = |matrix: Matrix<'_>| units("", matrix, 0..matrix.rows()).unwrap();
        let (width, rows) = (training.columns(), units(training));
        let places: Vec<usize> = (0..training.rows()).collect();
        let of = |item| {
            let mut all = Squares { item, rows: &rows, places: &places }.with_simd(pulp::Scalar);
            all.sort_unstable_by(f64::total_cmp);
            all[k - 1].sqrt()
        };
        units(features).chunks_exact(width).map(of).collect()
    }

    /// Features of three kinds: spread out; so close together that single precision cannot order
    /// them; and many of them equal. The bits are those of the plain search.
    #[test]
    fn exact_to_the_last_bit() {
        const WIDTH: usize = 40;
        let u = uniform(14, 1200 * WIDTH);
        let spread: Vec<f64> = u.iter().map(|u| u - 0.3).collect();
        let close: Vec<f64> = u.iter().map(|u| 1.0 + 1e-7 * u).collect();
        let equal: Vec<f64> =
            (0..1200 * WIDTH).map(|at| spread[at / WIDTH % 7 * WIDTH + at % WIDTH]).collect();
        for (kind, values) in [("spread", &spread), ("close", &close), ("equal", &equal)] {
            let features = Matrix::new(&values[..200 * WIDTH], WIDTH).unwrap();
            let training = Matrix::new(&values[200 * WIDTH..], WIDTH).unwrap();
            let (features_in, training_in) = (Some(features), Some(training));
            let input =
                OodInput { features: features_in, training: training_in, ..Default::default() };
            for neighbours in [1, 2, 50, 999, 1000] {
                let settings = OodSettings { neighbours, ..Default::default() };
                let ours = compute(&input, &settings).unwrap();
                assert_eq!(ours, plainly(features, training, neighbours), "{kind} {neighbours}");
            }
        }
    }
}
