//! Multipass under another shuffle seed: the same votes, each once per cycle, in another order. A
//! control on the order of traversal, not a method to deploy.

use dissensus_core::Scale;

use super::{Delivers, DeliveryEntry, method, multipass};

/// What is added to the seed of the shuffle.
pub const SHUFFLE_OFFSET: u64 = 1000;

pub(super) const ENTRY: DeliveryEntry = DeliveryEntry {
    name: "deterministic",
    title: "multipass, another order",
    description: "multipass in another order, a control",
    formula: "vote (t mod m_i) of the votes of example i, shuffled with the seed + 1000",
    delivers: Delivers::Labels,
    scales: Scale::ONE_LABEL,
    needs_counts: true,
    settings: &[],
    make: |_| {
        Ok(method(|source, seed| {
            multipass::shuffled("deterministic", source, seed.wrapping_add(SHUFFLE_OFFSET))
        }))
    },
};

#[cfg(test)]
mod tests {
    use crate::testing::{counted, shares};
    use crate::{Delivery, Source};

    #[test]
    fn another_order_of_the_same_votes() {
        let table = counted(&vec![vec![3, 4, 5]; 20]);
        let source = Source::new(&table).unwrap();
        let cycle = |name: &str, seed| {
            let prepared = name.parse::<Delivery>().unwrap().prepare(&source, seed).unwrap();
            (0..20)
                .map(|i| (0..12).map(|t| prepared.label(t, i).unwrap()).collect())
                .collect::<Vec<Vec<u16>>>()
        };
        let (mut ours, mut theirs) = (cycle("deterministic", 3), cycle("multipass", 3));
        assert_ne!(ours, theirs);
        assert_eq!(ours, cycle("multipass", 1003));
        ours.iter_mut().chain(&mut theirs).for_each(|votes| votes.sort());
        assert_eq!(ours, theirs);
    }

    #[test]
    fn the_error_names_the_method() {
        let table = shares(&[vec![1.0]]);
        let delivery: Delivery = "deterministic".parse().unwrap();
        let error = delivery.prepare(&Source::new(&table).unwrap(), 0).unwrap_err().to_string();
        assert!(error.starts_with("deterministic needs vote counts"), "{error}");
    }
}
