//! The distribution with noise of the same strength in every direction: the target in epoch t is
//! p_i + ξ_it, where
//!
//! ξ = s · √((1 − ‖p‖²) / (K − 1)) · (z − mean(z)), z of K independent standard normal numbers.
//!
//! ξ sums to 0, and the trace of its covariance is s² (1 − ‖p‖²): that of a label drawn from p. So
//! an example gets as much noise as in `soft_noise`, but not in its directions, the classes that
//! people chose. It tells the amount of noise from its shape.
//!
//! The numbers z_k are those of [`soft_noise`](super::soft_noise).

use dissensus_core::Scale;

use super::soft_noise::{Noise, SCALE, Shape, scale};
use super::{Delivers, DeliveryEntry, method};

pub(super) const ENTRY: DeliveryEntry = DeliveryEntry {
    name: "isotropic_noise",
    title: "soft labels with isotropic noise",
    description: "the annotator distribution with as much noise as soft_noise, equal in all directions, a control",
    formula: "p_i + xi, drawn anew in every epoch: xi has the mean 0 and the covariance \
           scale^2 (1 - |p_i|^2) / (K - 1) (I - 11^T / K)",
    delivers: Delivers::EpochDistributions,
    scales: Scale::ONE_LABEL,
    needs_counts: false,
    settings: &[SCALE],
    make: |given| {
        let scale = scale(given)?;
        Ok(method(move |source, seed| Noise::kind(source, seed, scale, Shape::Isotropic)))
    },
};
