//! Spearman's correlation: Pearson's, of midranks. The sums are over whole numbers (doubled ranks)
//! and so exact; ties compare as ties. C. Spearman, *The proof and measurement of association
//! between two things* (1904).

use super::{
    Coefficient, Correlation, CorrelationMethod, CorrelationResult, CorrelationSettings, pairings,
    result,
};
use crate::{StatsError, check, ranks};

/// Spearman's correlation with its p value.
pub fn spearman(
    x: &[f64],
    y: &[f64],
    settings: &CorrelationSettings,
) -> Result<CorrelationResult, StatsError> {
    check::pairs(("x", x), ("y", y))?;
    let (x, y) = (deviations(x), deviations(y));
    let square = |v: &[i64]| dot(v, v.iter().copied()) as f64;
    let r = match (square(&x), square(&y)) {
        (0.0, _) | (_, 0.0) => None,
        (xx, yy) => Some(dot(&x, y.iter().copied()) as f64 / (xx * yy).sqrt()),
    };
    let exact = match settings.method {
        CorrelationMethod::Exact if r.is_some() => {
            let observed = dot(&x, y.iter().copied());
            let compare = |order: &[usize]| dot(&x, order.iter().map(|&at| y[at])).cmp(&observed);
            Some(pairings::tails(x.len(), compare)?)
        }
        _ => None,
    };
    let found = Coefficient { r: r.map(|r| r.clamp(-1.0, 1.0)), exact };
    Ok(result(Correlation::Spearman, settings, x.len(), found))
}

/// Doubled midranks less their mean, n + 1.
fn deviations(values: &[f64]) -> Vec<i64> {
    let mean = values.len() as i64 + 1;
    ranks::doubled(values).into_iter().map(|rank| rank as i64 - mean).collect()
}

fn dot(x: &[i64], y: impl Iterator<Item = i64>) -> i128 {
    x.iter().zip(y).map(|(&x, y)| i128::from(x) * i128::from(y)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(pairs: &[(f64, f64)], method: CorrelationMethod) -> CorrelationResult {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        spearman(&x, &y, &CorrelationSettings { method, ..Default::default() }).unwrap()
    }

    proptest! {
        #[test]
        fn blind_to_order_and_monotone_maps(
            pairs in prop::collection::vec((-5i8..5, -5i8..5), 2..8), seed: u64,
        ) {
            let pairs: Vec<(f64, f64)> =
                pairs.into_iter().map(|(x, y)| (f64::from(x), f64::from(y))).collect();
            let mut moved: Vec<(f64, f64)> = pairs.iter().map(|&(x, y)| (x.exp(), y.powi(3))).collect();
            dissensus_core::philox::Stream::new([seed, 0], [0; 3]).shuffle(&mut moved);
            for method in [CorrelationMethod::T, CorrelationMethod::Exact] {
                let (a, b) = (run(&pairs, method), run(&moved, method));
                prop_assert_eq!((a.r, a.p), (b.r, b.p));
            }
        }
    }
}
