//! A matrix that is written down, to hold the estimators to.

use dissensus_geometry::GeometryError;
use dissensus_geometry::curvature::Operator;

/// A dense symmetric matrix in f64.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dense {
    rows: usize,
    values: Vec<f64>,
}

impl Dense {
    /// The matrix of these rows, one after another.
    pub(crate) fn new(rows: usize, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), rows * rows);
        for at in 0..rows * rows {
            let (value, mirrored) = (values[at], values[at % rows * rows + at / rows]);
            assert!((value - mirrored).abs() <= 1e-6 * (1.0 + value.abs()), "not symmetric");
        }
        Self { rows, values }
    }

    /// The diagonal matrix of these eigenvalues.
    pub(crate) fn diagonal(eigenvalues: &[f64]) -> Self {
        let rows = eigenvalues.len();
        let mut values = vec![0.0; rows * rows];
        values.iter_mut().step_by(rows + 1).zip(eigenvalues).for_each(|(at, value)| *at = *value);
        Self { rows, values }
    }

    /// The values, row by row.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }
}

impl Operator for Dense {
    type Number = f64;

    fn len(&self) -> usize {
        self.rows
    }

    fn apply(&mut self, vector: &[f64]) -> Result<Vec<f64>, GeometryError> {
        assert_eq!(vector.len(), self.rows);
        let row = |row: &[f64]| row.iter().zip(vector).map(|(a, v)| a * v).sum();
        Ok(self.values.chunks_exact(self.rows.max(1)).map(row).collect())
    }
}
