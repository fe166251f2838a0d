//! Logits, probabilities or percentages: what a matrix of numbers is, and which of its rows are
//! wrong.
//!
//! A row is a distribution if no value is negative and its sum misses 1 by no more than rounding: K
//! values of d decimals by K/2 · 10⁻ᵈ, values of s significant digits by 5 · 10⁻ˢ (at the most
//! [`MOST_SLACK`]), values of half precision by their last bit, others by [`FLOATING`]. Numbers are logits by a guess only where some are negative and
//! hardly any row is a distribution. Numbers from 0 to 1 never are. Whole numbers of which every row has
//! the same sum are counts of answers.

use dissensus_core::SUM_TOLERANCE;

use crate::note::Note;
use crate::options::Kind;

/// What sums of 32-bit floats miss 1 by. Such rows are not worth a note.
const FLOATING: f64 = 1e-5;
/// Rounding that moves a sum farther has lost too much.
const MOST_SLACK: f64 = 0.1;

/// Who said what the numbers are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Said {
    /// The user.
    ByUser(Kind),
    /// The name that the numbers stand under.
    ByName(Kind),
    Nobody,
}

/// Why a row is no distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowProblem {
    /// Its sum, where `whole` was expected: 1, or 100 for percentages.
    Sum {
        /// The sum.
        sum: f64,
        /// What it should be.
        whole: f64,
    },
    /// A value that is negative.
    Negative {
        /// Its column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A value above 1 (or 100).
    Above {
        /// Its column, from 0.
        column: usize,
        /// The value.
        value: f64,
        /// What it should not exceed.
        whole: f64,
    },
}

impl RowProblem {
    /// Whether the row only misses 1 by what is normalized where the user says probabilities.
    pub(crate) fn is_near(&self) -> bool {
        matches!(self, Self::Sum { sum, whole: 1.0 } if (sum - 1.0).abs() <= SUM_TOLERANCE)
    }
}

/// Why numbers are not taken for anything.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Refused {
    /// Rows that are no distributions, where most are or all should be.
    Rows(Vec<(usize, RowProblem)>),
    /// Every row has a 1 and zeros.
    OneHot,
    /// Values from 0 to 1 that do not sum to 1: the first such row and its sum.
    NotSumming { row: usize, sum: f64 },
    /// No value is negative; rows sum neither to 1 nor to 100.
    NonNegative { row: usize, sum: f64 },
    /// Rows sum to 1, and some values are negative: the first such row.
    NegativeShares { row: usize, value: f64 },
    /// Named logits, and every row is a distribution.
    NamedLogits,
}

/// What the numbers are, and what was assumed or changed.
type Settled = Result<(Kind, Vec<Note>), Refused>;

/// Tells what the numbers are, and brings rounded probabilities and percentages to a sum of 1.
pub(crate) fn settle(values: &mut [f64], width: usize, said: Said) -> Settled {
    use Kind::{Logits, Probabilities};
    let rows = values.len() / width.max(1);
    let one = Whole::of(values, width, 1.0);
    if said == Said::ByUser(Logits) {
        let bad = values.chunks(width).any(|row| one.problem(row).is_some());
        return Ok((Logits, if bad { Vec::new() } else { vec![Note::LogitsSumToOne] }));
    }
    let bad = one.bad_rows(values, width);
    let named_logits = said == Said::ByName(Logits);
    if said != Said::ByUser(Probabilities) && !named_logits && one_hot(values, width) {
        return Err(Refused::OneHot);
    }
    if bad.is_empty() {
        if named_logits {
            return Err(Refused::NamedLogits);
        }
        return Ok((Probabilities, one.normalize(values, width)));
    }
    let hundred = Whole::of(values, width, 100.0);
    let bad_percentages = hundred.bad_rows(values, width);
    let negative = values.iter().any(|v| *v < 0.0);
    if bad_percentages.is_empty() && !negative {
        if named_logits {
            return Err(Refused::NamedLogits);
        }
        let mut notes = vec![Note::Percentages];
        notes.extend(hundred.normalize(values, width));
        return Ok((Probabilities, notes));
    }
    if 2 * bad_percentages.len() < rows {
        return Err(Refused::Rows(bad_percentages));
    }
    if said == Said::ByUser(Probabilities) {
        // The user knows: what is not far off is normalized.
        let wide = Whole { slack: one.slack.max(SUM_TOLERANCE), ..one };
        let bad = wide.bad_rows(values, width);
        if !bad.is_empty() {
            return Err(Refused::Rows(bad));
        }
        return Ok((Probabilities, wide.normalize(values, width)));
    }
    match said {
        Said::ByName(Logits) => return Ok((Logits, Vec::new())),
        Said::ByName(Probabilities) => return Err(Refused::Rows(bad)),
        _ => {}
    }
    // Hardly any row of logits is a distribution by chance.
    if 10 * (rows - bad.len()) >= rows {
        return Err(Refused::Rows(bad));
    }
    let sum_of = |row: usize| values[row * width..(row + 1) * width].iter().sum::<f64>();
    let (least, most) = (values.iter().copied())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let first = bad.first().map_or(0, |(row, _)| *row);
    if least >= 0.0 && most <= 1.0 {
        return Err(Refused::NotSumming { row: first, sum: sum_of(first) });
    }
    let whole = values.iter().all(|value| value.fract() == 0.0);
    if least >= 0.0 && whole && sum_of(0) >= 2.0 && (0..rows).all(|row| sum_of(row) == sum_of(0)) {
        let answers = sum_of(0);
        values.iter_mut().for_each(|value| *value /= answers);
        let (least, most) = (answers as u64, answers as u64);
        return Ok((Probabilities, vec![Note::Samples { least, most }]));
    }
    if least >= 0.0 {
        return Err(Refused::NonNegative { row: first, sum: sum_of(first) });
    }
    if (0..rows).all(|row| (sum_of(row) - 1.0).abs() <= one.slack) {
        let at = values.iter().position(|v| *v < 0.0).unwrap_or(0);
        return Err(Refused::NegativeShares { row: at / width, value: values[at] });
    }
    Ok((Logits, vec![Note::Logits { least, most }]))
}

fn one_hot(values: &[f64], width: usize) -> bool {
    let hot =
        |row: &[f64]| row.iter().all(|v| *v == 0.0 || *v == 1.0) && row.iter().sum::<f64>() == 1.0;
    values.chunks(width).all(hot)
}

/// What rows should sum to, and by how much rounding lets them miss it.
#[derive(Clone, Copy)]
struct Whole {
    whole: f64,
    slack: f64,
    decimals: Option<u32>,
}

impl Whole {
    fn of(values: &[f64], width: usize, whole: f64) -> Self {
        let (decimals, digits) = (decimals(values), digits(values));
        // Small numbers have more decimals than digits.
        let slack = match (decimals, digits) {
            (decimals, Some(s)) if decimals.is_none_or(|d| d > s) => whole * 5.0 * power(s),
            (Some(d), _) => 0.5 * width as f64 * power(d),
            (None, _) => half_precision(values) * whole,
        };
        let slack = slack.min(MOST_SLACK * whole);
        // Whole numbers from 0 to 1 are exact.
        let slack = if decimals == Some(0) && whole == 1.0 { 0.0 } else { slack };
        Self { whole, slack: slack.max(FLOATING * whole) + 1e-9, decimals }
    }

    fn problem(&self, row: &[f64]) -> Option<RowProblem> {
        let Self { whole, slack, .. } = *self;
        let at = |test: &dyn Fn(f64) -> bool| row.iter().position(|v| test(*v));
        if let Some(column) = at(&|v| v < 0.0) {
            return Some(RowProblem::Negative { column, value: row[column] });
        }
        if let Some(column) = at(&|v| v > whole + slack) {
            return Some(RowProblem::Above { column, value: row[column], whole });
        }
        let sum: f64 = row.iter().sum();
        ((sum - whole).abs() > slack).then_some(RowProblem::Sum { sum, whole })
    }

    fn bad_rows(&self, values: &[f64], width: usize) -> Vec<(usize, RowProblem)> {
        let rows = values.chunks(width).enumerate();
        rows.filter_map(|(row, values)| Some((row, self.problem(values)?))).collect()
    }

    /// Divides rows by their sums where these are off by more than floating-point arithmetic.
    fn normalize(&self, values: &mut [f64], width: usize) -> Vec<Note> {
        let (of, mut rows, mut largest) = (values.len() / width.max(1), 0, 0.0f64);
        for row in values.chunks_mut(width) {
            row.iter_mut().for_each(|v| *v /= self.whole);
            let sum: f64 = row.iter().sum();
            if (sum - 1.0).abs() > FLOATING {
                row.iter_mut().for_each(|v| *v /= sum);
                (rows, largest) = (rows + 1, largest.max((sum - 1.0).abs()));
            }
        }
        let decimals = self.decimals;
        let note = Note::Normalized { rows, of, decimals, largest };
        if rows > 0 { vec![note] } else { Vec::new() }
    }
}

/// The decimals that all values are rounded to; `None` for more than six, which a 32-bit float cannot
/// show.
fn decimals(values: &[f64]) -> Option<u32> {
    (0..=6).find(|&d| {
        let scale = 10f64.powi(d as i32);
        let rounded = |v: &f64| {
            let scaled = v * scale;
            // A 32-bit float is off by 2⁻²⁴ of itself.
            (scaled - scaled.round()).abs() <= 6e-8 * scaled.abs() + 1e-9
        };
        values.iter().all(rounded)
    })
}

/// The significant digits that all values are rounded to; `None` for more than six.
fn digits(values: &[f64]) -> Option<u32> {
    (1..=6).find(|&s| {
        let rounded = |v: &f64| {
            let magnitude = v.abs().log10().floor() as i32;
            let scaled = v * 10f64.powi(s as i32 - 1 - magnitude);
            (scaled - scaled.round()).abs() <= 6e-8 * scaled.abs() + 1e-9
        };
        values.iter().filter(|v| **v != 0.0).all(rounded)
    })
}

fn power(decimals: u32) -> f64 {
    0.1f64.powi(decimals as i32)
}

/// How far the sum of a row of half-precision values may be from 1: the share that their last bit is
/// worth. 0 for values of full precision.
fn half_precision(values: &[f64]) -> f64 {
    let low_bits = |bits: u32| {
        values.iter().all(|&v| {
            let narrow = v as f32;
            f64::from(narrow) == v && narrow.to_bits() & ((1 << bits) - 1) == 0
        })
    };
    match (low_bits(16), low_bits(13)) {
        // bfloat16: 8 significant bits. float16: 11.
        (true, _) => 2f64.powi(-8),
        (_, true) => 2f64.powi(-11),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(rows: &[&[f64]], said: Said) -> (Settled, Vec<f64>) {
        let mut values = rows.concat();
        let found = settle(&mut values, rows[0].len(), said);
        (found, values)
    }

    #[test]
    fn rounding_is_told_from_errors_by_the_files_own_decimals() {
        let (found, values) = settled(&[&[0.33, 0.33, 0.33], &[0.5, 0.25, 0.25]], Said::Nobody);
        let (kind, notes) = found.unwrap();
        let largest = 1.0 - 0.99;
        assert!(matches!(notes[..], [Note::Normalized { rows: 1, of: 2, decimals: Some(2), .. }]));
        assert!(
            matches!(&notes[0], Note::Normalized { largest: l, .. } if (l - largest).abs() < 1e-12)
        );
        assert_eq!((kind, values[0]), (Kind::Probabilities, 0.33 / 0.99));
        // The same sum with four decimals is no rounding.
        let rows: [&[f64]; 2] = [&[0.3312, 0.3288, 0.33], &[0.5, 0.25, 0.25]];
        let sum = RowProblem::Sum { sum: rows[0].iter().sum(), whole: 1.0 };
        assert_eq!(settled(&rows, Said::Nobody).0, Err(Refused::Rows(vec![(0, sum)])));
        // Decimals survive 32-bit floats.
        let narrow: Vec<f64> = [0.33f32, 0.33, 0.33].iter().map(|v| f64::from(*v)).collect();
        assert_eq!(decimals(&narrow), Some(2));
        assert_eq!(decimals(&[1.0 / 3.0]), None);
    }

    #[test]
    fn one_bad_row_among_many_does_not_make_logits() {
        let mut rows: Vec<&[f64]> = vec![&[0.7, 0.2, 0.1]; 1514];
        for (bad, problem) in [
            (&[0.7, 0.2, 0.9][..], RowProblem::Sum { sum: 1.8, whole: 1.0 }),
            (&[1.7, 0.2, 0.1], RowProblem::Above { column: 0, value: 1.7, whole: 1.0 }),
            (&[0.9, -0.2, 0.3], RowProblem::Negative { column: 1, value: -0.2 }),
        ] {
            rows[17] = bad;
            let Err(Refused::Rows(found)) = settled(&rows, Said::Nobody).0 else {
                panic!("{bad:?}")
            };
            assert_eq!((found.len(), found[0].0), (1, 17));
            match (found[0].1, problem) {
                (RowProblem::Sum { sum: a, .. }, RowProblem::Sum { sum: b, .. }) => {
                    assert!((a - b).abs() < 1e-12)
                }
                (a, b) => assert_eq!(a, b),
            }
        }
    }

    #[test]
    fn significant_digits_are_rounding_too() {
        // Python: [float(f"{p:.3e}") for p in (0.98765432, 0.0123112, 0.00003448)]
        let rows: [&[f64]; 2] = [&[0.9877, 0.01231, 3.448e-5], &[0.9, 0.05, 0.05]];
        let (kind, notes) = settled(&rows, Said::Nobody).0.unwrap();
        assert_eq!((kind, notes.len()), (Kind::Probabilities, 1));
        // Two decimals have two digits, and are judged as decimals.
        let rows: [&[f64]; 3] = [&[0.33, 0.33, 0.3], &[0.33, 0.34, 0.33], &[0.2, 0.3, 0.5]];
        assert!(
            matches!(settled(&rows, Said::Nobody).0, Err(Refused::Rows(bad)) if bad.len() == 1)
        );
    }

    #[test]
    fn half_precision_is_rounding_too() {
        // numpy 2.1: np.array([0.7, 0.2, 0.1], dtype=np.float16).astype(float)
        let half = [0.7001953125, 0.199951171875, 0.0999755859375];
        let (kind, notes) = settled(&[&half], Said::Nobody).0.unwrap();
        assert_eq!(kind, Kind::Probabilities);
        assert!(matches!(notes[..], [Note::Normalized { decimals: None, .. }]), "{notes:?}");
    }
}
