//! Rows of numbers as they come in: single or double precision, borrowed, computed with in f64.

use crate::MeasureError;

/// Numbers of either width. Single precision is widened as it is read, never copied whole.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
}

impl Numbers<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }
}

macro_rules! from_numbers {
    ($($number:ty => $variant:ident),*) => {$(
        impl<'a> From<&'a [$number]> for Numbers<'a> {
            fn from(values: &'a [$number]) -> Self {
                Self::$variant(values)
            }
        }

        impl<'a> From<&'a Vec<$number>> for Numbers<'a> {
            fn from(values: &'a Vec<$number>) -> Self {
                Self::$variant(values)
            }
        }

        impl<'a, const N: usize> From<&'a [$number; N]> for Numbers<'a> {
            fn from(values: &'a [$number; N]) -> Self {
                Self::$variant(values)
            }
        }
    )*};
}

from_numbers!(f32 => F32, f64 => F64);

/// Row-major numbers, one row per item.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    values: Numbers<'a>,
    columns: usize,
}

impl<'a> Matrix<'a> {
    /// Rows of `columns` values each. No rows are fine; no columns, or a row cut short, are not.
    pub fn new(values: impl Into<Numbers<'a>>, columns: usize) -> Result<Self, MeasureError> {
        let values = values.into();
        let len = values.len();
        match len.checked_rem(columns) {
            Some(0) => Ok(Self { values, columns }),
            _ => Err(MeasureError::Shape { len, columns }),
        }
    }

    /// Rows of the same length: `Matrix::from_rows(&[[0.75, 0.25], [0.1, 0.9]])`.
    pub fn from_rows<T, const N: usize>(rows: &'a [[T; N]]) -> Result<Self, MeasureError>
    where
        &'a [T]: Into<Numbers<'a>>,
    {
        Self::new(rows.as_flattened(), N)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    /// How many values a row has; at least 1.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Writes the row into `into`, which has a place for each column.
    pub(crate) fn read(&self, row: usize, into: &mut [f64]) {
        let range = row * self.columns..(row + 1) * self.columns;
        match self.values {
            Numbers::F64(values) => into.copy_from_slice(&values[range]),
            Numbers::F32(values) => {
                into.iter_mut().zip(&values[range]).for_each(|(to, &v)| *to = f64::from(v));
            }
        }
    }

    /// As [`read`](Self::read), and every value must be finite.
    pub(crate) fn read_finite(
        &self,
        what: &'static str,
        row: usize,
        into: &mut [f64],
    ) -> Result<(), MeasureError> {
        self.read(row, into);
        match into.iter().position(|v| !v.is_finite()) {
            Some(column) => Err(MeasureError::NotFinite { what, row, column, value: into[column] }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_checked() {
        let values = [1.0f32, 2.0, 3.0, 4.0];
        let matrix = Matrix::new(&values[..], 2).unwrap();
        let mut row = [0.0; 2];
        matrix.read(1, &mut row);
        assert_eq!((matrix.rows(), row), (2, [3.0, 4.0]));
        assert_eq!(
            Matrix::new(&values[..], 3).err(),
            Some(MeasureError::Shape { len: 4, columns: 3 })
        );
        assert_eq!(
            Matrix::new(&values[..], 0).err(),
            Some(MeasureError::Shape { len: 4, columns: 0 })
        );
        assert_eq!(Matrix::new(&[0f64; 0], 3).unwrap().rows(), 0);
        let matrix = Matrix::from_rows(&[[1.0f64, 2.0], [3.0, 4.0], [5.0, 6.0]]).unwrap();
        matrix.read(2, &mut row);
        assert_eq!((matrix.rows(), matrix.columns(), row), (3, 2, [5.0, 6.0]));
        assert!(Matrix::from_rows(&[[0f32; 0]; 2]).is_err());
    }
}
