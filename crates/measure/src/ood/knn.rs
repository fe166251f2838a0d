//! Distance to the k-th nearest training item, between features of length 1.
//!
//! For unit vectors `‖a − b‖² = 2 − 2 a·b`: the k-th largest product belongs to the k-th nearest.
//!
//! Memory: 12 bytes per feature of the training items, and a few blocks.

use super::nearest::{Search, asked, changed};
use super::products::packed;
use super::{Needs, OodInput, OodScore, OodSettings};
use crate::{About, Direction, Matrix, MeasureError};

const NAME: &str = "knn";

pub(super) const SCORE: OodScore = OodScore {
    about: About {
        name: NAME,
        short: "KNN",
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

fn compute(input: &OodInput<'_>, settings: &OodSettings) -> Result<Vec<f64>, MeasureError> {
    let (features, training, k) = asked(NAME, input, settings)?;
    let width = features.columns();
    let rows = units("training features", training, 0..training.rows())?;
    let packed = packed(&rows, width);
    let search = Search { k, width, rows, packed, longest: 1.0 };
    search.distances(features.rows(), |range| {
        let items = units("features", features, range)?;
        let single = items.iter().map(|&v| v as f32).collect();
        Ok((items, single))
    })
}

/// Rows, brought to length 1.
fn units(
    what: &'static str,
    matrix: Matrix<'_>,
    rows: std::ops::Range<usize>,
) -> Result<Vec<f64>, MeasureError> {
    changed(what, matrix, rows, |row, values| {
        // Scaled by the largest first: squares of large features would overflow.
        let largest = values.iter().fold(0f64, |largest, v| largest.max(v.abs()));
        if largest == 0.0 {
            return Err(MeasureError::ZeroVector { what, row });
        }
        values.iter_mut().for_each(|v| *v /= largest);
        let length = values.iter().map(|v| v * v).sum::<f64>().sqrt();
        values.iter_mut().for_each(|v| *v /= length);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ood::nearest::{exact, plainly};

    #[test]
    fn exact_to_the_last_bit() {
        let units = |matrix: Matrix<'_>| units("", matrix, 0..matrix.rows()).unwrap();
        exact(compute, |features, training, k| {
            plainly(&units(features), &units(training), training.columns(), k)
        });
    }
}
