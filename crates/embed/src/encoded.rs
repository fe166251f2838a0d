//! Vectors that were computed before an error.

use std::fmt;

/// The vectors of the first items of an input.
#[derive(Clone, Default, PartialEq)]
pub struct Encoded {
    pub rows: usize,
    /// Their vectors, row by row.
    pub vectors: Vec<f32>,
}

/// Vectors are long, and an error is printed in one line.
impl fmt::Debug for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Encoded {{ rows: {}, vectors: [..] }}", self.rows)
    }
}
