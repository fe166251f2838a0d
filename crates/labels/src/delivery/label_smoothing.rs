//! The majority label mixed with the uniform distribution: (1 − ε) · onehot + ε / K.
//!
//! Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, *Rethinking the Inception architecture for
//! computer vision* (CVPR 2016).

use rayon::prelude::*;

use dissensus_core::Scale;

use super::majority::{TIES, majorities};
use super::{Delivers, DeliveryEntry, Kind, method};
use crate::Setting;

pub(super) const ENTRY: DeliveryEntry = DeliveryEntry {
    name: "label_smoothing",
    title: "label smoothing",
    description: "the majority label, smoothed",
    formula: "(1 - epsilon) onehot + epsilon / K of the majority label, in every epoch",
    delivers: Delivers::Distributions,
    scales: Scale::ONE_LABEL,
    needs_counts: false,
    settings: &[
        Setting {
            name: "epsilon",
            description: "how much of the target is uniform",
            default: "0.1",
            expected: "a number from 0 to 1",
            came_later: false,
        },
        TIES,
    ],
    make: |given| {
        let epsilon: f64 = given.next(|epsilon| (0.0..=1.0).contains(epsilon))?;
        let ties = given.next(|_| true)?;
        Ok(method(move |source, seed| {
            let labels = majorities(source, ties, seed)?;
            let classes = source.classes().len().max(1);
            let mut rows = vec![epsilon / classes as f64; labels.len() * classes];
            let each = rows.par_chunks_exact_mut(classes).with_min_len(1024).zip(&labels);
            each.for_each(|(row, &label)| row[label as usize] += 1.0 - epsilon);
            Ok(Kind::Soft(rows))
        }))
    },
};

#[cfg(test)]
mod tests {
    use crate::testing::counted;
    use crate::{Delivery, Source};

    #[test]
    fn the_rest_is_uniform() {
        let table = counted(&[vec![0, 3, 1, 0], vec![2, 2, 0, 0]]);
        let source = Source::new(&table).unwrap();
        let rows = |text: &str| {
            let prepared = text.parse::<Delivery>().unwrap().prepare(&source, 1).unwrap();
            prepared.targets().unwrap().to_vec()
        };
        assert_eq!(rows("label_smoothing")[..4], [0.1 / 4.0, 0.9 + 0.1 / 4.0, 0.025, 0.025]);
        assert_eq!(rows("label_smoothing:epsilon=0.2")[4..], [0.8 + 0.2 / 4.0, 0.05, 0.05, 0.05]);
        assert_eq!(rows("label_smoothing:epsilon=0")[..4], [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(rows("label_smoothing:epsilon=1"), [0.25; 8]);
        let ties = "label_smoothing:ties=error".parse::<Delivery>().unwrap();
        assert!(ties.prepare(&source, 1).is_err());
    }
}
