//! Linear CKA (Kornblith, Norouzi, Lee and Hinton, 2019): how alike two representations of the same
//! items are, from 0 to 1, whatever their width, rotation and scale.
//!
//! With columns centered, X of n×d and Y of n×e,
//!
//! CKA = ‖YᵀX‖²_F / (‖XᵀX‖_F ‖YᵀY‖_F)
//!
//! The same numbers come from the Gram matrices XXᵀ and YYᵀ: ‖YᵀX‖²_F = ⟨XXᵀ, YYᵀ⟩. The first takes
//! n·d·e products, the second n²·(d + e); the cheaper is taken. This is the biased estimate of the
//! paper, which for few items and wide features is above 0 even for unrelated ones.

use rayon::prelude::*;

use crate::GeometryError;
use crate::error::finite;

/// Columns of the result that one thread computes at a time: with 512 beside them, 32 KB.
const TILE: usize = 8;

/// A representation: one row an item, centered.
#[derive(Clone, Debug)]
pub struct Features {
    items: usize,
    width: usize,
    rows: Vec<f64>,
    /// ‖XᵀX‖_F.
    size: f64,
}

impl Features {
    /// Of this many items, row by row.
    pub fn new(items: usize, values: &[f32]) -> Result<Self, GeometryError> {
        if items < 2 || values.is_empty() || !values.len().is_multiple_of(items) {
            let n = values.len();
            let text = format!("{n} numbers are not the features of {items} items (at least 2)");
            return Err(GeometryError::Data(text));
        }
        let width = values.len() / items;
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let what = || format!("feature {} of item {}", at % width, at / width);
            finite(what, f64::from(values[at]), "; look at the weights")?;
        }
        let mut means = vec![0.0; width];
        for row in values.chunks_exact(width) {
            means.iter_mut().zip(row).for_each(|(mean, &value)| *mean += f64::from(value));
        }
        means.iter_mut().for_each(|mean| *mean /= items as f64);
        let mut rows: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
        for row in rows.chunks_exact_mut(width) {
            row.iter_mut().zip(&means).for_each(|(value, mean)| *value -= mean);
        }
        // Features that are all the same leave rounding, which is no representation.
        let spread = rows.iter().map(|v| v * v).sum::<f64>();
        let length: f64 = values.iter().map(|&v| f64::from(v).powi(2)).sum();
        let mut features = Self { items, width, rows, size: 0.0 };
        if spread > 1e-24 * length {
            features.size = features.squares(&features).sqrt();
        }
        Ok(features)
    }

    /// ‖YᵀX‖²_F, in the cheaper way.
    fn squares(&self, other: &Self) -> f64 {
        let (n, d, e) = (self.items, self.width, other.width);
        if n * (d + e) < d * e {
            let (mine, theirs) = (self.columns(), other.columns());
            let sums = tiles(n, |tile| {
                let k = product(&mine, n, tile.clone(), &mine, n);
                let l = product(&theirs, n, tile, &theirs, n);
                k.iter().zip(&l).map(|(k, l)| k * l).sum()
            });
            return sums.iter().sum();
        }
        let sums = tiles(d, |tile| {
            let cross = product(&self.rows, d, tile, &other.rows, e);
            cross.iter().map(|c| c * c).sum()
        });
        sums.iter().sum()
    }

    /// The transposed rows.
    fn columns(&self) -> Vec<f64> {
        let column = |at: usize| self.rows.iter().skip(at).step_by(self.width).copied();
        (0..self.width).flat_map(column).collect()
    }
}

/// What `of` gives for every tile, in order.
fn tiles(width: usize, of: impl Fn(std::ops::Range<usize>) -> f64 + Sync) -> Vec<f64> {
    let tile = |number: usize| of(number * TILE..width.min((number + 1) * TILE));
    (0..width.div_ceil(TILE)).into_par_iter().map(tile).collect()
}

/// Rows `tile` of AᵀB, for A of width d and B of width e: a sum over their common rows.
fn product(a: &[f64], d: usize, tile: std::ops::Range<usize>, b: &[f64], e: usize) -> Vec<f64> {
    let mut out = vec![0.0; tile.len() * e];
    for (a, b) in a.chunks_exact(d).zip(b.chunks_exact(e)) {
        for (out, a) in out.chunks_exact_mut(e).zip(&a[tile.clone()]) {
            out.iter_mut().zip(b).for_each(|(out, b)| *out += a * b);
        }
    }
    out
}

/// CKA of two representations of the same items in the same order; `None` where one of them is the
/// same for all items.
pub fn cka(x: &Features, y: &Features) -> Result<Option<f64>, GeometryError> {
    if x.items != y.items {
        let text = format!("{} items beside {}; expected the same ones", x.items, y.items);
        return Err(GeometryError::Data(text));
    }
    let sizes = x.size * y.size;
    Ok((sizes > 0.0).then(|| (x.squares(y) / sizes).clamp(0.0, 1.0)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use dissensus_core::philox::Stream;

    use super::*;

    fn noise(seed: u64, len: usize) -> Vec<f32> {
        let mut stream = Stream::new([seed, 0], [0; 3]);
        (0..len).map(|_| stream.normal() as f32).collect()
    }

    fn of(items: usize, x: &[f32], y: &[f32]) -> f64 {
        let [x, y] = [x, y].map(|values| Features::new(items, values).unwrap());
        cka(&x, &y).unwrap().unwrap()
    }

    /// numpy 2.4.6:
    ///
    /// ```python
    /// def f(n, d, a): return np.sin(a * np.arange(n * d, dtype=np.float64)).astype("f4").reshape(n, d)
    /// def cka(x, y):
    ///     x, y = (v.astype("f8") - v.mean(0, dtype="f8") for v in (x, y))
    ///     return (np.linalg.norm(y.T @ x) ** 2 / np.linalg.norm(x.T @ x) / np.linalg.norm(y.T @ y))
    /// print(cka(f(50, 7, 1.3), f(50, 11, 0.7)), cka(f(6, 40, 1.3), f(6, 30, 0.7)))
    /// ```
    #[test]
    fn as_numpy() {
        let wave = |n: usize, d: usize, a: f64| -> Vec<f32> {
            (0..n * d).map(|i| (a * i as f64).sin() as f32).collect()
        };
        let tall = of(50, &wave(50, 7, 1.3), &wave(50, 11, 0.7));
        assert!((tall - GOLDEN[0]).abs() < 1e-9, "{tall}");
        // More features than items: the way by Gram matrices.
        let wide = of(6, &wave(6, 40, 1.3), &wave(6, 30, 0.7));
        assert!((wide - GOLDEN[1]).abs() < 1e-9, "{wide}");
    }

    #[test]
    fn one_with_itself_rotated_scaled_and_shifted() {
        let (n, d) = (40, 6);
        let x = noise(1, n * d);
        assert!((of(n, &x, &x) - 1.0).abs() < 1e-12);
        // A rotation in the plane of two columns after another, a scale and a shift.
        let mut turned = x.clone();
        for row in turned.chunks_exact_mut(d) {
            for at in 0..d - 1 {
                let (a, b) = (row[at], row[at + 1]);
                (row[at], row[at + 1]) = (0.6 * a - 0.8 * b, 0.8 * a + 0.6 * b);
            }
            row.iter_mut().for_each(|v| *v = 2.5 * *v + 7.0);
        }
        assert!((of(n, &x, &turned) - 1.0).abs() < 1e-6);
        let other = noise(2, n * 9);
        assert!((of(n, &x, &other) - of(n, &turned, &other)).abs() < 1e-6);
        assert!((of(n, &x, &other) - of(n, &other, &x)).abs() < 1e-12);
        // A stretch of one column alone is seen.
        let mut stretched = x.clone();
        stretched.iter_mut().step_by(d).for_each(|v| *v *= 10.0);
        assert!(of(n, &x, &stretched) < 0.9);
        // Unrelated ones: about (d + e) / n of the biased estimate at most.
        assert!(of(4000, &noise(3, 4000 * 5), &noise(4, 4000 * 5)) < 0.01);
    }

    #[test]
    fn both_ways_agree_and_no_thread_shows() {
        let (x, y) = (noise(5, 30 * 100), noise(6, 30 * 64));
        let by_gram = of(30, &x, &y);
        // Columns of zeros change nothing, but with them the way by Gram matrices is the cheaper.
        let x_few: Vec<f32> = x.chunks(100).flat_map(|row| row[..20].to_vec()).collect();
        let padded: Vec<f32> =
            x_few.chunks(20).flat_map(|row| [row, &[0.0; 80][..]].concat()).collect();
        assert!((of(30, &padded, &y) - of(30, &x_few, &y)).abs() < 1e-12);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| of(30, &x, &y)), by_gram);
    }

    #[test]
    fn pairs_and_the_undefined() {
        let (x, flat) = (noise(7, 20), vec![0.7; 20]);
        let all: Vec<Features> =
            [&x, &flat, &x].map(|values| Features::new(10, values).unwrap()).into();
        let of = |i: usize, j: usize| cka(&all[i], &all[j]).unwrap();
        assert!((0..3).all(|i| of(i, 1).is_none() && of(1, i).is_none()));
        assert!((of(0, 2).unwrap() - 1.0).abs() < 1e-12 && of(0, 2) == of(2, 0));
        assert!(Features::new(3, &x).is_err() && Features::new(1, &x).is_err());
        let error = Features::new(2, &[1.0, f32::NAN, 0.0, 0.0]).unwrap_err().to_string();
        assert!(error.contains("feature 1 of item 0"), "{error}");
        let fewer = Features::new(5, &x).unwrap();
        assert!(cka(&all[0], &fewer).is_err());
    }

    const GOLDEN: [f64; 2] = [0.000476825986374726, 0.636869495316938];
}
