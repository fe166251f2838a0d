//! The Lanczos process: an orthonormal basis of v, Hv, H²v, … in which H is tridiagonal.
//!
//! Every new vector is made orthogonal to all before it, twice. Without that, rounding lets copies
//! of converged eigenvalues appear (Paige, 1976); with it the Ritz values can be taken at their word.

use dissensus_engine::Real;

use super::tridiagonal::{Spectrum, spectrum};
use super::{Operator, product};
use crate::GeometryError;
use crate::error::finite;
use crate::vectors::{Basis, PRODUCTS, dot, epsilon};

/// How far the process has come.
#[derive(Debug)]
pub(super) struct Krylov<F> {
    basis: Basis<F>,
    diagonal: Vec<f64>,
    /// The numbers beside the diagonal; the last one leads out of the basis.
    beside: Vec<f64>,
    largest: f64,
}

impl<F: Real> Krylov<F> {
    /// From a first vector.
    pub(super) fn new(start: Vec<F>) -> Result<Self, GeometryError> {
        let mut basis = Basis::new();
        basis.extend(start, 0.0)?;
        Ok(Self { basis, diagonal: Vec::new(), beside: Vec::new(), largest: 0.0 })
    }

    /// Whether there is a vector to go on from: false once the basis holds all that H makes of the
    /// first one.
    pub(super) fn goes_on(&self) -> bool {
        self.basis.vectors().len() > self.diagonal.len()
    }

    /// Steps made, one product each.
    pub(super) fn steps(&self) -> usize {
        self.diagonal.len()
    }

    /// One product, and one more vector.
    pub(super) fn step<O: Operator<Number = F> + ?Sized>(
        &mut self,
        operator: &mut O,
    ) -> Result<(), GeometryError> {
        let Some(q) = self.basis.vectors().get(self.diagonal.len()) else { return Ok(()) };
        let w = product(operator, q)?;
        let along = finite(|| "vᵀHv".to_owned(), dot(q, &w), PRODUCTS)?;
        self.diagonal.push(along);
        self.largest = self.largest.max(along.abs());
        let least = self.rounding();
        let out = self.basis.extend(w, least)?;
        self.beside.push(if out > least { out } else { 0.0 });
        self.largest = self.largest.max(out);
        Ok(())
    }

    /// Goes on with a given vector, where the process has come to its end: H then falls
    /// apart into blocks.
    pub(super) fn restart(&mut self, with: Vec<F>) -> Result<(), GeometryError> {
        // Signs have the length √n; what is left of them is nothing when the basis is complete.
        let least = 1e3 * epsilon::<F>() * (with.len() as f64).sqrt();
        self.basis.extend(with, least)?;
        Ok(())
    }

    /// What rounding leaves of a vector that should be 0.
    pub(super) fn rounding(&self) -> f64 {
        16.0 * epsilon::<F>() * self.largest
    }

    /// The eigenvalues after the first `steps`, and the number that leads out of them.
    pub(super) fn spectrum(&self, steps: usize) -> Result<(Spectrum, f64), GeometryError> {
        let steps = steps.min(self.diagonal.len());
        let inner = spectrum(&self.diagonal[..steps], &self.beside[..steps.saturating_sub(1)])?;
        Ok((inner, steps.checked_sub(1).map_or(0.0, |last| self.beside[last])))
    }
}
