//! Pearson's correlation: r = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² Σ (y − ȳ)²). K. Pearson, *Notes on
//! regression and inheritance in the case of two parents* (1895).

use std::cmp::Ordering;

use super::{
    Coefficient, Correlation, CorrelationMethod, CorrelationResult, CorrelationSettings, pairings,
    result,
};
use crate::describe::{Centred, compensated_sum, scale};
use crate::{StatsError, check};

/// Pearson's correlation with its p value.
pub fn pearson(
    x: &[f64],
    y: &[f64],
    settings: &CorrelationSettings,
) -> Result<CorrelationResult, StatsError> {
    check::pairs(("x", x), ("y", y))?;
    let found = match (centred(x), centred(y)) {
        (Some(x), Some(y)) => Coefficient {
            r: Some(r(&x, &y)),
            exact: match settings.method {
                CorrelationMethod::T => None,
                CorrelationMethod::Exact => Some(exact(&x, &y)?),
            },
        },
        _ => Coefficient { r: None, exact: None },
    };
    Ok(result(Correlation::Pearson, settings, x.len(), found))
}

/// Deviations from the mean, the largest near 1; `None` where there are none.
fn centred(values: &[f64]) -> Option<Vec<f64>> {
    let Centred { mut values, varies, .. } = Centred::new(values, scale(values));
    // Once more: deviations of values that hardly differ may be tiny.
    let scale = scale(&values);
    values.iter_mut().for_each(|v| *v /= scale);
    varies.then_some(values)
}

fn square(x: &[f64]) -> f64 {
    dot(x, x.iter().copied())
}

fn r(x: &[f64], y: &[f64]) -> f64 {
    let product = dot(x, y.iter().copied());
    // Two pairs always lie on a line.
    if x.len() == 2 {
        1f64.copysign(product)
    } else {
        (product / (square(x) * square(y)).sqrt()).clamp(-1.0, 1.0)
    }
}

fn dot(x: &[f64], y: impl Iterator<Item = f64>) -> f64 {
    compensated_sum(x.iter().zip(y).map(|(x, y)| x * y))
}

fn exact(x: &[f64], y: &[f64]) -> Result<(f64, f64), StatsError> {
    let observed = dot(x, y.iter().copied());
    // Pairings whose r is the same on paper differ by the rounding of the deviations.
    let slack = 1e-13 * (square(x) * square(y)).sqrt();
    pairings::tails(x.len(), |order| match dot(x, order.iter().map(|&at| y[at])) - observed {
        d if d.abs() < slack => Ordering::Equal,
        d if d < 0.0 => Ordering::Less,
        _ => Ordering::Greater,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(x: &[f64], y: &[f64]) -> f64 {
        pearson(x, y, &CorrelationSettings::default()).unwrap().r.unwrap()
    }

    #[test]
    fn extreme_values_keep_their_correlation() {
        let (x, y) = ([1.0, 2.0, 4.0, 3.0], [1.0, 3.0, 2.0, 5.0]);
        let plain = run(&x, &y);
        let huge = x.map(|v| v * 4e307);
        let tiny = y.map(|v| v * 1e-300);
        assert!((run(&huge, &tiny) - plain).abs() < 1e-14);
        let shifted = x.map(|v| 1.0 + v * 1e-9);
        assert!((run(&shifted, &y) - plain).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn symmetric_and_blind_to_scale(
            pairs in prop::collection::vec((-1e3..1e3f64, -1e3..1e3f64), 3..20), a in 0.1..9.0f64,
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let line: Vec<f64> = x.iter().map(|v| 5.0 - a * v).collect();
            prop_assert!((run(&x, &y) - run(&y, &x)).abs() < 1e-15);
            prop_assert!((run(&x, &y) + run(&line, &y)).abs() < 1e-9);
        }
    }
}
