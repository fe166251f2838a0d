//! A matrix that is written down, to hold the estimators to.

use super::Operator;
use crate::GeometryError;
use crate::error::count;

/// A dense symmetric matrix in f64.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    rows: usize,
    values: Vec<f64>,
}

impl Dense {
    /// The matrix of these rows, one after another.
    pub fn new(rows: usize, values: Vec<f64>) -> Result<Self, GeometryError> {
        count("a square matrix", rows * rows, values.len())?;
        let at = (0..rows * rows).find(|at| {
            let mirrored = at % rows * rows + at / rows;
            (values[*at] - values[mirrored]).abs() > 1e-6 * (1.0 + values[*at].abs())
        });
        match at {
            None => Ok(Self { rows, values }),
            Some(at) => {
                let (row, column) = (at / rows, at % rows);
                let text = format!("row {row}, column {column} is not as its mirror image");
                Err(GeometryError::Data(text))
            }
        }
    }

    /// The diagonal matrix of these eigenvalues.
    pub fn diagonal(eigenvalues: &[f64]) -> Self {
        let rows = eigenvalues.len();
        let mut values = vec![0.0; rows * rows];
        values.iter_mut().step_by(rows + 1).zip(eigenvalues).for_each(|(at, value)| *at = *value);
        Self { rows, values }
    }

    /// The values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

impl Operator for Dense {
    type Number = f64;

    fn len(&self) -> usize {
        self.rows
    }

    fn apply(&mut self, vector: &[f64]) -> Result<Vec<f64>, GeometryError> {
        count("a vector", self.rows, vector.len())?;
        let row = |row: &[f64]| row.iter().zip(vector).map(|(a, v)| a * v).sum();
        Ok(self.values.chunks_exact(self.rows.max(1)).map(row).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_symmetric_matrices() {
        let mut matrix = Dense::new(2, vec![1.0, 2.0, 2.0, 5.0]).unwrap();
        assert_eq!(matrix.apply(&[1.0, -1.0]).unwrap(), [-1.0, -3.0]);
        assert!(matrix.apply(&[1.0]).is_err());
        let error = Dense::new(2, vec![1.0, 2.0, 3.0, 5.0]).unwrap_err().to_string();
        assert!(error.contains("row 0, column 1"), "{error}");
        assert!(Dense::new(2, vec![1.0; 3]).is_err());
        assert_eq!(Dense::diagonal(&[2.0, 3.0]).values(), [2.0, 0.0, 0.0, 3.0]);
    }
}
