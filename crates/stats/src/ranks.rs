//! Midranks, kept as whole numbers.
//!
//! Tied values share the mean of the places they take: (first + last) / 2, counted from 1. Twice a
//! midrank is always whole, so sums of doubled ranks compare exactly, without rounding.

/// The doubled midrank of each value. −0 and 0 are tied.
pub(crate) fn doubled(values: &[f64]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    let mut start = 0;
    for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let end = start + group.len();
        group.iter().for_each(|&at| ranks[at] = (start + 1 + end) as u64);
        start = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ties_share_the_mean_place() {
        assert_eq!(doubled(&[3.0, -1.0, 3.0, 0.0, -0.0, 3.0]), [10, 2, 10, 5, 5, 10]);
    }

    proptest! {
        #[test]
        fn ranks_sum_to_that_of_the_places(values in prop::collection::vec(-3i8..3, 1..40)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let n = values.len() as u64;
            prop_assert_eq!(doubled(&values).iter().sum::<u64>(), n * (n + 1));
        }
    }
}
