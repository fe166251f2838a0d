//! The distribution itself: the loss is H(p_i, q) = −Σ_k p_ik ln q_k.
//!
//! Peterson, Battleday, Griffiths and Russakovsky, *Human uncertainty makes classification more
//! robust* (ICCV 2019).

use dissensus_core::Scale;

use super::{Delivers, DeliveryEntry, Kind, method};

pub(super) const ENTRY: DeliveryEntry = DeliveryEntry {
    name: "soft",
    title: "soft labels",
    description: "the annotator distribution as a soft label",
    formula: "p_i itself, in every epoch",
    delivers: Delivers::Distributions,
    scales: Scale::ONE_LABEL,
    needs_counts: false,
    settings: &[],
    make: |_| {
        Ok(method(|source, _| {
            source.check_memory("the array of soft labels", 1)?;
            Ok(Kind::Soft(source.distributions()))
        }))
    },
};

#[cfg(test)]
mod tests {
    use crate::testing::{counted, shares};
    use crate::{Delivery, EpochBuffer, EpochTargets, LabelError, Source};

    #[test]
    fn rows_are_the_shares() {
        let soft: Delivery = "soft".parse().unwrap();
        let table = counted(&[vec![1, 3], vec![5, 0]]);
        let prepared = soft.prepare(&Source::new(&table).unwrap(), 0).unwrap();
        assert_eq!(prepared.targets().unwrap(), [0.25, 0.75, 1.0, 0.0]);
        let mut buffer = EpochBuffer::default();
        let targets = prepared.targets_at(9, &mut buffer);
        assert_eq!(targets, EpochTargets::Distributions(&[0.25, 0.75, 1.0, 0.0]));
        let error = LabelError::NotHard { delivery: "soft".into() };
        assert_eq!(prepared.epoch(0, &mut [0; 2]), Err(error.clone()));
        assert_eq!(prepared.epochs().unwrap_err(), error);
        let table = shares(&[vec![0.5, 0.5]]);
        let prepared = soft.prepare(&Source::new(&table).unwrap(), 0).unwrap();
        assert_eq!(prepared.targets().unwrap(), [0.5, 0.5]);
    }
}
