//! Sums in parallel that are the same bits for any number of threads: chunks of a fixed size, each
//! summed in order, then their sums in order.

use rayon::prelude::*;

/// Rows a task works on.
pub(crate) const CHUNK: usize = 8192;

/// Rows a task works on where each task owns a table of totals: at most 16 tables.
pub(crate) fn wide_chunk(rows: usize) -> usize {
    rows.div_ceil(16).max(2 * CHUNK)
}

/// Sum of `term` over both columns.
pub(crate) fn sum2(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64 + Sync) -> f64 {
    let chunks: Vec<f64> = a
        .par_chunks(CHUNK)
        .zip(b.par_chunks(CHUNK))
        .map(|(a, b)| {
            // Eight running sums: shorter chains of rounding, and of waiting.
            let mut sums = [0.0; 8];
            for (a, b) in a.chunks(8).zip(b.chunks(8)) {
                let terms = a.iter().zip(b).map(|(&a, &b)| term(a, b));
                sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            }
            sums.iter().sum()
        })
        .collect();
    chunks.iter().sum()
}

/// The mean; `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| sum2(values, values, |a, _| a) / values.len() as f64)
}

/// Adds `from` to `into`, cell by cell.
pub(crate) fn add(into: &mut [f64], from: &[f64]) {
    into.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_chunk_borders() {
        let values: Vec<f64> = (0..3 * CHUNK + 5).map(|v| v as f64).collect();
        let n = values.len() as f64;
        assert_eq!(mean(&values), Some((n - 1.0) / 2.0));
        assert_eq!(sum2(&values, &values, |a, b| a - b), 0.0);
        assert_eq!(mean(&[]), None);
    }
}
