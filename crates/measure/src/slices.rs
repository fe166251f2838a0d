//! Items by how much people disagree on them: sets of indices to measure apart.
//!
//! Quantile slices: the items sorted by value are cut into parts of equal size as numpy's
//! `array_split` does (the first n mod parts have one more). Equal values are never parted: a cut
//! within a run of equals moves up to its end, and slices left empty drop out, so that a slice may
//! be larger than its share. Each says which share of the items it really covers.

use serde::Serialize;

use crate::order::{ascending, cuts};
use crate::{MeasureError, Truth};

/// Some of the items.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Slice {
    /// The share of all items that lie below it.
    pub from: f64,
    /// That share with its own items.
    pub to: f64,
    /// Its smallest value.
    pub lower: f64,
    /// Its largest value.
    pub upper: f64,
    /// Its items, ascending.
    pub items: Vec<usize>,
}

/// Slices by annotator entropy, from unanimous to most divided.
pub fn by_entropy(truth: &Truth, parts: usize) -> Result<Vec<Slice>, MeasureError> {
    by_quantile(truth.entropy(), parts)
}

/// Slices by quantile of any value of the items; at most `parts`, none of them empty.
pub fn by_quantile(values: &[f64], parts: usize) -> Result<Vec<Slice>, MeasureError> {
    if parts == 0 {
        let (value, expected) = (parts.to_string(), "a whole number from 1 up");
        return Err(MeasureError::Setting { name: "parts", value, expected });
    }
    let order = sorted(values)?;
    let ends = cuts(values.len(), parts, |a, b| values[order[a]] == values[order[b]]);
    let starts = std::iter::once(0).chain(ends.iter().copied());
    Ok(starts.zip(ends.iter().copied()).map(|(a, b)| slice(values, &order, a, b)).collect())
}

/// The `share` of the items with the highest values, rounded up; items equal to the lowest of
/// them come along. Without items, `None`.
pub fn top(values: &[f64], share: f64) -> Result<Option<Slice>, MeasureError> {
    if !(share > 0.0 && share <= 1.0) {
        let (value, expected) = (share.to_string(), "a share above 0 and up to 1");
        return Err(MeasureError::Setting { name: "share", value, expected });
    }
    let order = sorted(values)?;
    let n = values.len();
    if n == 0 {
        return Ok(None);
    }
    let mut start = n - ((share * n as f64).ceil() as usize).clamp(1, n);
    while start > 0 && values[order[start - 1]] == values[order[start]] {
        start -= 1;
    }
    Ok(Some(slice(values, &order, start, n)))
}

fn sorted(values: &[f64]) -> Result<Vec<usize>, MeasureError> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(row) => {
            let value = values[row];
            Err(MeasureError::NotFinite { what: "values", row, column: 0, value })
        }
        None => Ok(ascending(values)),
    }
}

fn slice(values: &[f64], order: &[usize], start: usize, end: usize) -> Slice {
    let n = values.len() as f64;
    let mut items = order[start..end].to_vec();
    let (lower, upper) = (values[items[0]], values[items[items.len() - 1]]);
    items.sort_unstable();
    Slice { from: start as f64 / n, to: end as f64 / n, lower, upper, items }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_with_ties() {
        let values = [0.0, 0.9, 0.0, 0.3, 0.0, 0.5, 0.0, 0.7];
        let slices = by_quantile(&values, 4).unwrap();
        // Four unanimous items fill two quarters and stay together.
        let items: Vec<_> = slices.iter().map(|slice| slice.items.clone()).collect();
        assert_eq!(items, [vec![0, 2, 4, 6], vec![3, 5], vec![1, 7]]);
        assert_eq!((slices[0].from, slices[0].to), (0.0, 0.5));
        assert_eq!((slices[1].lower, slices[1].upper), (0.3, 0.5));
        assert_eq!(by_quantile(&[1.0; 5], 4).unwrap().len(), 1);
        assert_eq!(by_quantile(&[], 4).unwrap(), []);
        assert!(by_quantile(&values, 0).is_err());
        assert!(by_quantile(&[0.0, f64::NAN], 2).is_err());
    }

    #[test]
    fn the_top_share_with_ties() {
        let values = [0.0, 0.9, 0.5, 0.5, 0.5];
        assert_eq!(top(&values, 0.2).unwrap().unwrap().items, [1]);
        assert_eq!(top(&values, 0.21).unwrap().unwrap().items, [1, 2, 3, 4]);
        assert_eq!(top(&values, 1.0).unwrap().unwrap().items.len(), 5);
        assert_eq!(top(&[], 0.5).unwrap(), None);
        assert!(top(&values, 0.0).is_err() && top(&values, f64::NAN).is_err());
    }
}
