//! The operations: each file has the forward, backward and tangent passes of one.
//!
//! A pass takes the examples of one batch, in buffers laid out by [`super::frame::Frame`]. In a
//! tangent pass every value x has a tangent ẋ (how it moves when the parameters move along a
//! direction), and every gradient dx a tangent dẋ; the tangent of the parameters' gradient is the
//! Hessian times the direction.

pub(crate) mod conv;
pub(crate) mod dropout;
pub(crate) mod linear;
pub(crate) mod norm;
pub(crate) mod optimizer;
pub(crate) mod pointwise;
pub(crate) mod pool;
pub(crate) mod predicted_class;
pub(crate) mod tile;
mod vectorized;
pub(crate) mod winograd;

use crate::scalar::Real;

use super::team::Team;

/// What one operation reads and writes of one kind of quantity: into `out`, which it replaces or,
/// where another operation has written to it before, adds to.
pub(crate) struct Into<'a, F> {
    pub(crate) out: &'a mut [F],
    pub(crate) add: bool,
}

impl<'a, F> Into<'a, F> {
    /// What is there is replaced.
    pub(crate) fn replace(out: &'a mut [F]) -> Self {
        Self { out, add: false }
    }
}

/// \[r\]\[c\] → \[c\]\[r\], in blocks that stay in the first-level cache.
pub(crate) fn transpose<F: Real>(
    team: &Team,
    from: &[F],
    rows: usize,
    columns: usize,
    to: &mut [F],
) {
    const SIDE: usize = 16;
    team.stretches(to, SIDE * rows, 8 * from.len(), |block, to| {
        let first = block * SIDE;
        for row in (0..rows).step_by(SIDE) {
            for c in 0..to.len() / rows {
                for r in row..(row + SIDE).min(rows) {
                    to[c * rows + r] = from[r * columns + first + c];
                }
            }
        }
    });
}
