//! The distribution with the noise of another example: the target in epoch t is p_i + ξ, where ξ
//! has the mean 0 and the covariance s² (Diag(q) − qqᵀ) of the example that
//! [`shuffled_sls`](super::shuffled_sls) would take the distribution from.
//!
//! All examples together get the noise of `soft_noise`, in amount and in shape, but an example that
//! people agree on may get much and one that they disagree on none. It tells the alignment of noise
//! with disagreement from the noise itself.
//!
//! The numbers z_k are those of [`soft_noise`](super::soft_noise).

use dissensus_core::Scale;

use super::shuffled_sls::donors;
use super::soft_noise::{Noise, SCALE, Shape, scale};
use super::{Delivers, DeliveryEntry, method};

pub(super) const ENTRY: DeliveryEntry = DeliveryEntry {
    name: "shuffled_noise",
    title: "soft labels with shuffled noise",
    description: "the annotator distribution with the noise that soft_noise adds to another example, a control",
    formula: "p_i + xi, drawn anew in every epoch: xi has the mean 0 and the covariance \
           scale^2 (Diag(q) - q q^T), where q is the distribution of the example that stands in for i",
    delivers: Delivers::EpochDistributions,
    scales: Scale::ONE_LABEL,
    needs_counts: false,
    settings: &[SCALE],
    make: |given| {
        let scale = scale(given)?;
        Ok(method(move |source, seed| {
            source.check_memory("the arrays of soft labels", 2)?;
            let others = source.with_votes_of(&donors(source, seed))?.distributions();
            Noise::kind(source, seed, scale, Shape::Labels(Some(others)))
        }))
    },
};
