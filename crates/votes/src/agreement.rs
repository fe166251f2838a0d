//! Chance-corrected agreement: how much more people agree than by chance.
//!
//! Krippendorff's α is `1 − D_o / D_e` over all pairs of votes on one item (Krippendorff, *Content
//! Analysis*, 2004, ch. 11). For nominal data two classes are equally far apart. For ordinal data the
//! squared distance of classes c ≤ k is `(n_c / 2 + n_{c+1} + … + n_{k−1} + n_k / 2)²`, where n_g is how
//! many votes class g got: the difference of their mean ranks, squared. Fleiss' κ is
//! `(P̄ − P_e) / (1 − P_e)`, where every item has the same number of votes (Fleiss, 1971).

use dissensus_core::{Counts, Scale, ScaleError};

/// A coefficient, and the scales for which it is defined.
#[derive(Clone, Copy, Debug)]
pub struct Coefficient {
    /// What it is called.
    pub name: &'static str,
    /// The scales of votes for which it is defined.
    pub scales: &'static [Scale],
    compute: fn(&Counts, usize) -> Option<f64>,
}

/// Krippendorff's α for nominal data, which grades are as well.
pub const KRIPPENDORFF_NOMINAL: Coefficient = Coefficient {
    name: "Krippendorff's α",
    scales: Scale::ONE_LABEL,
    compute: |counts, classes| krippendorff(counts, classes, |_| None),
};

/// Krippendorff's α for ordinal data.
pub const KRIPPENDORFF_ORDINAL: Coefficient = Coefficient {
    name: "Krippendorff's ordinal α",
    scales: &[Scale::Ordinal],
    compute: |counts, classes| krippendorff(counts, classes, |totals| Some(mean_ranks(totals))),
};

/// Fleiss' κ.
pub const FLEISS: Coefficient =
    Coefficient { name: "Fleiss' κ", scales: Scale::ONE_LABEL, compute: fleiss };

impl Coefficient {
    /// The coefficient of these votes, which must not be weighted. `None` where no item has two votes
    /// or all votes are alike, and for Fleiss' κ also where items have different numbers of votes.
    pub fn of(
        &self,
        scale: Scale,
        counts: &Counts,
        classes: usize,
    ) -> Result<Option<f64>, ScaleError> {
        scale.require(self.name, self.scales)?;
        Ok(if counts.is_weighted() { None } else { (self.compute)(counts, classes) })
    }
}

/// The votes of each class on items that have two votes or more.
fn pairable(counts: &Counts, classes: usize) -> Vec<f64> {
    let mut totals = vec![0.0; classes];
    for item in (0..counts.len()).filter(|&item| counts.votes(item) > 1) {
        counts.entries(item).for_each(|(class, n)| totals[class as usize] += f64::from(n));
    }
    totals
}

/// Where each class lies among the votes sorted by class: at the mean rank of its votes.
fn mean_ranks(totals: &[f64]) -> Vec<f64> {
    let below = |sum: &mut f64, &n: &f64| {
        *sum += n;
        Some(*sum - n / 2.0)
    };
    totals.iter().scan(0.0, below).collect()
}

/// The squared distances of all ordered pairs of these (class, votes): those of the classes' places, or
/// 1 between two classes without places.
fn distances(entries: impl Iterator<Item = (u16, f64)> + Clone, places: Option<&Vec<f64>>) -> f64 {
    let m: f64 = entries.clone().map(|(_, n)| n).sum();
    let Some(places) = places else {
        return m * m - entries.map(|(_, n)| n * n).sum::<f64>();
    };
    let at = |class: u16| places[class as usize];
    let mean = entries.clone().map(|(class, n)| n * at(class)).sum::<f64>() / m;
    2.0 * m * entries.map(|(class, n)| n * (at(class) - mean).powi(2)).sum::<f64>()
}

/// α, with places for the classes by the votes of each where the distances are theirs.
fn krippendorff(
    counts: &Counts,
    classes: usize,
    places: impl Fn(&[f64]) -> Option<Vec<f64>>,
) -> Option<f64> {
    let totals = pairable(counts, classes);
    let places = places(&totals);
    let mut observed = 0.0;
    for item in (0..counts.len()).filter(|&item| counts.votes(item) > 1) {
        let entries = counts.entries(item).map(|(class, n)| (class, f64::from(n)));
        observed += distances(entries, places.as_ref()) / (counts.votes(item) as f64 - 1.0);
    }
    let n: f64 = totals.iter().sum();
    let all = (0u16..).zip(totals.iter().copied());
    let expected = distances(all, places.as_ref()) / (n - 1.0);
    (n >= 2.0 && expected > 0.0).then(|| 1.0 - observed / expected)
}

fn fleiss(counts: &Counts, classes: usize) -> Option<f64> {
    let m = counts.votes(0);
    if m < 2 || (1..counts.len()).any(|item| counts.votes(item) != m) {
        return None;
    }
    let (m, items) = (m as f64, counts.len() as f64);
    let mut totals = vec![0.0; classes];
    let mut agreement = 0.0;
    for item in 0..counts.len() {
        let mut same = 0.0;
        for (class, n) in counts.entries(item) {
            let n = f64::from(n);
            totals[class as usize] += n;
            same += n * n;
        }
        agreement += (same - m) / (m * (m - 1.0));
    }
    let observed = agreement / items;
    let chance: f64 = totals.iter().map(|t| (t / (items * m)).powi(2)).sum();
    (chance < 1.0).then(|| (observed - chance) / (1.0 - chance))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rows: &[&[u32]]) -> Counts {
        let mut counts = Counts::new();
        rows.iter().for_each(|row| counts.push((0..).zip(row.iter().copied())).unwrap());
        counts
    }

    fn of(coefficient: Coefficient, rows: &[&[u32]]) -> Option<f64> {
        coefficient.of(Scale::Ordinal, &counts(rows), rows[0].len()).unwrap()
    }

    const ROWS: [&[u32]; 5] = [&[4, 0, 0], &[2, 2, 0], &[0, 1, 3], &[1, 1, 2], &[0, 4, 0]];

    /// krippendorff 0.9.0 and statsmodels 0.15.0, Python:
    ///
    /// ```python
    /// rows = [[4, 0, 0], [2, 2, 0], [0, 1, 3], [1, 1, 2], [0, 4, 0]]
    /// krippendorff.alpha(value_counts=np.array(rows), level_of_measurement="nominal")
    /// statsmodels.stats.inter_rater.fleiss_kappa(np.array(rows))
    /// ```
    #[test]
    fn nominal_agreement_is_that_of_other_tools() {
        let alpha = of(KRIPPENDORFF_NOMINAL, &ROWS).unwrap();
        assert!((alpha - 0.419_847_328_244_274_95).abs() < 1e-12, "{alpha}");
        let kappa = of(FLEISS, &ROWS).unwrap();
        assert!((kappa - 0.389_312_977_099_236_57).abs() < 1e-12, "{kappa}");
    }

    /// Pair by pair, in Python; krippendorff 0.9.0 with `level_of_measurement="ordinal"` gives the same:
    ///
    /// ```python
    /// def alpha(rows):
    ///     rows = [row for row in rows if sum(row) > 1]
    ///     k = range(len(rows[0]))
    ///     n = [sum(row[c] for row in rows) for c in k]
    ///     d = lambda c, g: (sum(n[min(c, g):max(c, g) + 1]) - (n[c] + n[g]) / 2) ** 2
    ///     pairs = lambda row: sum(row[c] * row[g] * d(c, g) for c in k for g in k)
    ///     return 1 - sum(pairs(row) / (sum(row) - 1) for row in rows) / (pairs(n) / (sum(n) - 1))
    /// ```
    #[test]
    fn ordinal_agreement_is_that_of_the_definition() {
        for (rows, expected) in [
            (&ROWS[..], ORDINAL[0]),
            (&[&[3, 1, 0, 0, 1], &[0, 0, 1, 2, 0], &[1, 0, 0, 0, 0], &[0, 2, 2, 0, 0]], ORDINAL[1]),
        ] {
            let alpha = of(KRIPPENDORFF_ORDINAL, rows).unwrap();
            assert!((alpha - expected).abs() < 1e-12, "{alpha} {expected}");
        }
    }

    const ORDINAL: [f64; 2] = [0.521_210_826_210_826_2, 0.246_184_371_184_371_2];

    #[test]
    fn undefined_is_none_and_other_scales_are_refused() {
        for rows in [&[&[2, 0, 0][..], &[3, 0, 0]], &[&[1, 0, 0], &[0, 1, 0]]] {
            for coefficient in [KRIPPENDORFF_NOMINAL, KRIPPENDORFF_ORDINAL, FLEISS] {
                assert_eq!(of(coefficient, rows), None, "{} {rows:?}", coefficient.name);
            }
        }
        assert_eq!(of(FLEISS, &[&[2, 1], &[0, 4]]), None);
        let two = counts(&[&[1, 1]]);
        let error = KRIPPENDORFF_ORDINAL.of(Scale::Nominal, &two, 2).unwrap_err().to_string();
        let words =
            "Krippendorff's ordinal α is not defined for nominal votes, only for ordinal ones";
        assert_eq!(error, words);
        assert!(FLEISS.of(Scale::MultiLabel, &two, 2).is_err());
        let mut weighted = Counts::new();
        weighted.push_weighted([(0, 2, 1.5), (1, 1, 0.5)]).unwrap();
        assert_eq!(KRIPPENDORFF_ORDINAL.of(Scale::Ordinal, &weighted, 2), Ok(None));
    }
}
