//! What is known of a symmetric matrix that is too large to write down, from its products with
//! vectors: the Hessian of a loss in all parameters of a network.
//!
//! | function | gives | from |
//! |---|---|---|
//! | [`power`] | the eigenvalue of largest magnitude | power iteration |
//! | [`lanczos`] | the k largest and smallest eigenvalues | Lanczos, fully reorthogonalized |
//! | [`hutchinson`] | the trace, its share in every block, ‖H‖²_F | Rademacher probes, one set for all |
//! | [`hutch_plus_plus`] | the trace, with less spread where few eigenvalues dominate | a sketch and probes |
//! | [`density`] | how eigenvalues are distributed | stochastic Lanczos quadrature |
//!
//! Each stops when its own error is below a tolerance or when it has used up its products, and says
//! which of the two it was.

#[cfg(test)]
#[path = "../tests/common/dense.rs"]
mod dense;
mod density;
mod estimate;
mod hutchinson;
mod hutchpp;
mod krylov;
mod lanczos;
mod power;
mod probes;
mod tridiagonal;

pub use density::{Density, DensitySettings, Node, density};
pub use estimate::Estimate;
pub use hutchinson::{Block, BlockTrace, TraceSettings, Traces, hutchinson};
pub use hutchpp::{HutchSettings, hutch_plus_plus};
pub use lanczos::{Extremes, LanczosSettings, lanczos};
pub use power::{Power, PowerSettings, power};
pub use probes::{PROBE, SKETCH, START, rademacher};

use dissensus_engine::Real;

use crate::GeometryError;
use crate::error::count;

/// A symmetric matrix, known by its products.
pub trait Operator {
    /// The numbers that it computes with.
    type Number: Real;

    /// Its number of rows.
    fn len(&self) -> usize;

    /// True when it has no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its product with a vector.
    fn apply(&mut self, vector: &[Self::Number]) -> Result<Vec<Self::Number>, GeometryError>;
}

/// A product of the right length.
fn product<O: Operator + ?Sized>(
    operator: &mut O,
    vector: &[O::Number],
) -> Result<Vec<O::Number>, GeometryError> {
    let product = operator.apply(vector)?;
    count("a product of the operator", vector.len(), product.len())?;
    Ok(product)
}

/// Refuses an operator without rows.
fn not_empty<O: Operator + ?Sized>(operator: &O) -> Result<(), GeometryError> {
    match operator.is_empty() {
        true => Err(GeometryError::Data("an operator without rows has no curvature".into())),
        false => Ok(()),
    }
}

/// Checks a tolerance.
fn tolerance(value: f64) -> Result<f64, GeometryError> {
    match value >= 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err(GeometryError::setting("tolerance", value, "a number of at least 0")),
    }
}
