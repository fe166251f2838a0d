//! All n! ways to pair two samples, for exact p values of correlations.

use std::cmp::Ordering;

use crate::StatsError;

/// Up to so many pairs, the exact p of a correlation can be asked for: 9! = 362,880.
pub const EXACT_PAIRINGS_LIMIT: usize = 9;

/// The shares of pairings whose statistic is at most, and at least, the observed one. `compare`
/// says how the statistic of an order of the second sample stands to the observed.
pub(super) fn tails(
    n: usize,
    compare: impl Fn(&[usize]) -> Ordering,
) -> Result<(f64, f64), StatsError> {
    if n > EXACT_PAIRINGS_LIMIT {
        return Err(StatsError::ExactOutOfReach {
            n: n as u64,
            unit: "pairs",
            limit: EXACT_PAIRINGS_LIMIT as u64,
            instead: "the t distribution",
        });
    }
    let mut order: Vec<usize> = (0..n).collect();
    let (mut less, mut greater, mut all) = (0u32, 0u32, 0u32);
    let mut count = |order: &[usize]| {
        let side = compare(order);
        less += u32::from(side != Ordering::Greater);
        greater += u32::from(side != Ordering::Less);
        all += 1;
    };
    // B. R. Heap's algorithm (1963), without recursion: one swap between neighbours in the list.
    count(&order);
    let mut swaps = vec![0; n];
    let mut at = 1;
    while at < n {
        if swaps[at] < at {
            order.swap(if at % 2 == 0 { 0 } else { swaps[at] }, at);
            count(&order);
            swaps[at] += 1;
            at = 1;
        } else {
            swaps[at] = 0;
            at += 1;
        }
    }
    Ok((f64::from(less) / f64::from(all), f64::from(greater) / f64::from(all)))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_order_once() {
        for (n, factorial) in [(1, 1), (2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
            let seen = RefCell::new(BTreeSet::new());
            let first = tails(n, |order| {
                assert!(seen.borrow_mut().insert(order.to_vec()));
                order.first().copied().unwrap_or(0).cmp(&0)
            });
            assert_eq!(seen.borrow().len(), factorial);
            assert_eq!(first, Ok((1.0 / n as f64, 1.0)));
        }
        assert!(matches!(tails(10, |_| Ordering::Equal), Err(StatsError::ExactOutOfReach { .. })));
    }
}
