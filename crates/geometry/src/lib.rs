//! The geometry of what was trained: where in the loss two ways of training end, and how alike
//! what they learned is.
//!
//! * [`curvature`]: extreme eigenvalues, traces and the spectral density of a Hessian that is only
//!   known by its products.
//! * [`variance`]: how much the last layer's gradient varies when labels are drawn from votes.
//! * [`barrier`]: the loss along the straight line between two checkpoints.
//! * [`cka`]: how alike two representations of the same items are.
//! * [`gradcam`]: where in an image a class is seen, and whether other runs see it there, too.
//! * [`model`]: all of this over a runner of the engine.
//!
//! Everything but [`model`] works on plain slices and closures. Every estimate carries its error,
//! what it cost, and whether it met its tolerance: a number that did not converge says so. Random
//! numbers are Philox's, keyed by what they belong to, and sums have a fixed order, so that a
//! result is the same on any number of threads.
//!
//! ```
//! use dissensus_geometry::curvature::{Operator, PowerSettings, power};
//! struct Matrix;
//! impl Operator for Matrix {
//!     type Number = f64;
//!     fn len(&self) -> usize {
//!         2
//!     }
//!     fn apply(&mut self, v: &[f64]) -> Result<Vec<f64>, dissensus_geometry::GeometryError> {
//!         Ok(vec![2.0 * v[0] + v[1], v[0] + 2.0 * v[1]])
//!     }
//! }
//! let top = power(&mut Matrix, &PowerSettings::default())?.top;
//! assert!((top.value - 3.0).abs() < 1e-5 && top.converged);
//! # Ok::<(), dissensus_geometry::GeometryError>(())
//! ```

// For helpers that unit tests share with the tests of the whole crate.
#[cfg(test)]
extern crate self as dissensus_geometry;

pub mod barrier;
pub mod cka;
pub mod curvature;
mod error;
pub mod gradcam;
pub mod model;
pub mod variance;
mod vectors;

pub use error::GeometryError;
