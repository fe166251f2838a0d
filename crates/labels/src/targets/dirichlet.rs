//! Frequencies smoothed by a symmetric Dirichlet prior: p_ik = (c_ik + α) / (m_i + α K), the
//! posterior mean. α = 1 is Laplace's rule of succession, α = 1/2 Jeffreys' prior. The fewer the
//! votes, the stronger the pull towards uniform, so that votes have to be counted; weights will do.

use std::borrow::Cow;

use dissensus_core::Scale;

use super::{TargetEntry, estimator, with_rows};
use crate::{Aggregation, LabelError, Setting, Source};

pub(super) const ENTRY: TargetEntry = TargetEntry {
    name: "dirichlet",
    description: "frequencies smoothed by a symmetric Dirichlet prior (Laplace for alpha = 1)",
    formula: "p_ik = (c_ik + alpha) / (m_i + alpha K)",
    needs: "votes or counts",
    reference: "Good, The estimation of probabilities (1965)",
    scales: Scale::ONE_LABEL,
    keeps_counts: false,
    settings: &[Setting {
        name: "alpha",
        description: "votes that every class gets beforehand",
        default: "1",
        expected: "a number above 0",
        came_later: false,
    }],
    make: |given| {
        let alpha = given.next(|alpha: &f64| *alpha > 0.0 && alpha.is_finite())?;
        Ok(estimator(move |table| {
            let rows = smoothed(&Source::unkeyed(table)?, alpha)?;
            Ok(Aggregation::by_formula(Cow::Owned(with_rows(table, &rows)?)))
        }))
    },
};

/// The smoothed distributions, row by row.
pub fn smoothed(source: &Source<'_>, alpha: f64) -> Result<Vec<f64>, LabelError> {
    if source.is_shares() {
        return Err(LabelError::NeedsCounts { what: ENTRY.name, instead: "frequencies" });
    }
    source.check_memory(ENTRY.name, 2)?;
    let classes = source.classes().len();
    let mut rows = vec![0.0; source.len() * classes];
    for (place, row) in rows.chunks_exact_mut(classes.max(1)).enumerate() {
        let total = source.total(place) + alpha * classes as f64;
        row.fill(alpha / total);
        source.amounts(place, |class, votes| row[class as usize] = (votes + alpha) / total);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use crate::testing::{counted, shares, weighted};
    use crate::{Source, Target};

    #[test]
    fn laplace_and_jeffreys() {
        let table = counted(&[vec![3, 0, 1], vec![0, 0, 1]]);
        let estimate = |text: &str| {
            let target: Target = text.parse().unwrap();
            let smoothed = target.estimate(&table).unwrap().targets;
            Source::new(&smoothed).unwrap().distributions()
        };
        let laplace = [4.0 / 7.0, 1.0 / 7.0, 2.0 / 7.0, 0.25, 0.25, 0.5];
        assert_eq!(estimate("dirichlet"), laplace);
        assert_eq!(estimate("dirichlet:alpha=0.5")[3..], [0.2, 0.2, 0.6]);
        assert!("dirichlet:alpha=0".parse::<Target>().is_err());
    }

    #[test]
    fn weights_will_do_and_probabilities_will_not() {
        let target: Target = "dirichlet".parse().unwrap();
        let table = weighted(&[&[("x", 0.5), ("y", 1.5)]]);
        let smoothed = target.estimate(&table).unwrap().targets;
        assert_eq!(Source::new(&smoothed).unwrap().distributions(), [0.375, 0.625]);
        let error = target.estimate(&shares(&[vec![0.5, 0.5]])).unwrap_err().to_string();
        assert!(error.ends_with("use frequencies"), "{error}");
    }
}
