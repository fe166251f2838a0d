//! Distance to the k-th nearest training item, between features as they are.
//!
//! For one item a, `‖a − b‖² = ‖a‖² − 2 (a·b − ‖b‖²/2)`: with a number more in every row, the order
//! of distances is again that of products. With n the length of the longest row, items get n and
//! training items `−‖b‖²/(2n)`, so that no row becomes much longer than n.
//!
//! Memory: 12 bytes per feature of the training items, and a few blocks; 8 more while it begins.

use super::nearest::{Search, asked, changed};
use super::products::packed;
use super::{Needs, OodInput, OodScore, OodSettings, each_row};
use crate::{About, Direction, MeasureError};

const NAME: &str = "knn_raw";

pub(super) const SCORE: OodScore = OodScore {
    about: About {
        name: NAME,
        short: "KNN (raw)",
        title: "distance to the k-th nearest training item, lengths kept",
        formula: "‖f − g‖, g the k-th nearest of the training items' features",
        unit: "Euclidean distance, in the features' units",
        direction: Direction::HigherIsOut,
        settings: "neighbours k (50 by default, at most the number of training items). Needs \
                   features of the items and of the training items; exact, no index. `knn` is \
                   the same between features of length 1",
        reference: "Sun, Ming, Zhu and Li, Out-of-distribution detection with deep nearest \
                    neighbors, ICML 2022 (without its normalization)",
    },
    needs: Needs::Features,
    compute,
};

fn compute(input: &OodInput<'_>, settings: &OodSettings) -> Result<Vec<f64>, MeasureError> {
    let (features, training, k) = asked(NAME, input, settings)?;
    let width = features.columns();
    let both = [("training features", training), ("features", features)];
    let most = |of: &(dyn Fn(&[f64]) -> f64 + Sync)| -> Result<f64, MeasureError> {
        let mut most = 0f64;
        for (what, matrix) in both {
            most = each_row(what, matrix, of)?.into_iter().fold(most, f64::max);
        }
        Ok(most)
    };
    // A power of two, so that nothing is rounded and no square overflows.
    let largest = most(&|row| row.iter().fold(0f64, |largest, v| largest.max(v.abs())))?;
    let scale = largest.log2().ceil().clamp(-1000.0, 1000.0).exp2();
    let scaled = |(what, matrix), rows| {
        changed(what, matrix, rows, |_, values| {
            values.iter_mut().for_each(|v| *v /= scale);
            Ok(())
        })
    };
    let square = |row: &[f64]| row.iter().map(|v| v * v).sum::<f64>();
    let longest = most(&|row| row.iter().map(|v| (v / scale) * (v / scale)).sum::<f64>())?.sqrt();
    // Not 0, should all features be.
    let n = longest.max(f64::MIN_POSITIVE.sqrt());
    let rows = scaled(both[0], 0..training.rows())?;
    let mut lifted = Vec::with_capacity(training.rows() * (width + 1));
    for row in rows.chunks_exact(width) {
        lifted.extend_from_slice(row);
        lifted.push(-square(row) / (2.0 * n));
    }
    let packed = packed(&lifted, width + 1);
    drop(lifted);
    // Rows that are multiplied are at most √2 n and √1.25 n long; the rest is room for rounding.
    let search = Search { k, width, rows, packed, longest: 1.6 * n * n };
    let distances = search.distances(features.rows(), |range| {
        let items = scaled(both[1], range)?;
        let mut single = Vec::with_capacity(items.len() / width * (width + 1));
        for item in items.chunks_exact(width) {
            single.extend(item.iter().map(|&v| v as f32));
            single.push(n as f32);
        }
        Ok((items, single))
    })?;
    Ok(distances.into_iter().map(|distance| distance * scale).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::ood::nearest::{exact, plainly};

    #[test]
    fn exact_to_the_last_bit() {
        let read =
            |matrix: Matrix<'_>| changed("", matrix, 0..matrix.rows(), |_, _| Ok(())).unwrap();
        exact(compute, |features, training, k| {
            plainly(&read(features), &read(training), training.columns(), k)
        });
    }

    /// Lengths that differ by many orders, none at all, and numbers whose squares overflow.
    #[test]
    fn any_length() {
        let features = [0.0, 0.0, 3e200, 4e200, 1e-3, 0.0];
        let training = [0.0, 0.0, 1e-3, 1e-3, -3e200, 4e200];
        let of = |features: &[f64], training: &[f64], neighbours| {
            let input = OodInput {
                features: Some(Matrix::new(features, 2).unwrap()),
                training: Some(Matrix::new(training, 2).unwrap()),
                ..Default::default()
            };
            compute(&input, &OodSettings { neighbours, ..Default::default() }).unwrap()
        };
        // Beside 5e200 a distance of 1e-3 is none: its square is below the smallest number.
        let [zero, far, near] = of(&features, &training, 1)[..] else { panic!() };
        assert_eq!((zero, near), (0.0, 0.0));
        assert!((far / 5e200 - 1.0).abs() < 1e-15, "{far}");
        assert_eq!(of(&[0.0; 4], &[0.0; 4], 2), [0.0, 0.0]);
    }
}
