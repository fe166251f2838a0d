//! Published values beside ours.
//!
//! The difference is (our mean − theirs) / their standard deviation over seeds; the verdict says
//! whether that is at most 1 or 2. Their standard deviation is itself uncertain, and ours may be
//! another: where both are known, and how many seeds they are of, Welch's t test says how likely
//! such a difference is between two studies of the same thing.

use std::collections::HashMap;

use dissensus_stats::Alternative;
use dissensus_stats::unpaired::{Sample, welch};

use super::table::{CellKey, Head, Number, Published, Table, Verdict};
use crate::ReportError;
use crate::book::{Book, Reference};

/// Published values by what they are of.
pub(super) fn references(book: &Book) -> Result<HashMap<CellKey, &Reference>, ReportError> {
    let mut datasets: Vec<&str> = book.datasets.iter().map(|d| d.name.as_str()).collect();
    for row in &book.rows {
        if !datasets.contains(&row.dataset.as_str()) {
            datasets.push(&row.dataset);
        }
    }
    let mut all: HashMap<CellKey, &Reference> = HashMap::new();
    for reference in &book.references {
        let mut at = CellKey {
            dataset: reference.dataset.clone(),
            arm: reference.arm.clone(),
            k: reference.k,
            metric: reference.metric.clone(),
            slice: reference.slice.clone(),
        };
        if at.dataset.is_empty() {
            if datasets.len() > 1 {
                return Err(ReportError::ReferenceWithoutDataset {
                    of: at.words(),
                    source_name: reference.source.clone(),
                    datasets: datasets.join(", "),
                });
            }
            at.dataset = datasets.first().map(|name| (*name).to_owned()).unwrap_or_default();
        }
        let of = at.words();
        if let Some(first) = all.insert(at, reference) {
            return Err(ReportError::ReferenceTwice {
                of,
                first: first.mean,
                first_source: first.source.clone(),
                second: reference.mean,
                second_source: reference.source.clone(),
            });
        }
    }
    Ok(all)
}

/// A published value, compared with ours.
pub(super) fn compare(number: &Number, reference: &Reference) -> Published {
    let ours = number.mean;
    let sd = reference.sd.filter(|sd| sd.is_finite() && *sd > 0.0);
    let difference = match (ours, sd) {
        (Some(ours), Some(sd)) => Some((ours - reference.mean) / sd),
        _ => None,
    };
    let verdict = ours.map(|_| match difference.map(f64::abs) {
        None => Verdict::NoSd,
        Some(away) if away <= 1.0 => Verdict::Within1Sd,
        Some(away) if away <= 2.0 => Verdict::Within2Sd,
        Some(_) => Verdict::Outside,
    });
    Published {
        mean: reference.mean,
        sd: reference.sd,
        n: reference.n,
        source: reference.source.clone(),
        difference,
        p: welch_p(number, reference),
        verdict,
    }
}

/// Two-sided; `None` without a standard deviation or a number of seeds of either.
fn welch_p(number: &Number, reference: &Reference) -> Option<f64> {
    let ours = Sample { n: number.n, mean: number.mean?, sd: number.sd? };
    let n = usize::try_from(reference.n?).ok()?;
    let theirs = Sample { n, mean: reference.mean, sd: reference.sd? };
    welch(ours, theirs, Alternative::TwoSided).ok()?.p
}

/// One cell beside its published value.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside<'a> {
    /// The heads of its line.
    pub line: Vec<&'a Head>,
    /// The heads of its column, from above.
    pub column: Vec<&'a Head>,
    /// Our value.
    pub ours: &'a Number,
    pub published: &'a Published,
}

impl Table {
    /// The cells that have a published value, line by line.
    pub fn published(&self) -> Vec<Beside<'_>> {
        let mut cells = Vec::new();
        for line in &self.lines {
            for (at, cell) in line.cells.iter().enumerate() {
                let Some(ours) = cell.number() else { continue };
                let Some(published) = &ours.published else { continue };
                let (line, column) = (line.heads.iter().collect(), self.column(at));
                cells.push(Beside { line, column, ours, published });
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_in_their_sd() {
        let reference = |sd| Reference { mean: 0.5, sd, n: Some(10), ..Reference::default() };
        let verdict = |ours, sd| {
            let ours = Number { mean: ours, ..Number::default() };
            let published = compare(&ours, &reference(sd));
            (published.difference, published.verdict)
        };
        assert_eq!(verdict(Some(0.75), Some(0.25)), (Some(1.0), Some(Verdict::Within1Sd)));
        assert_eq!(verdict(Some(0.0), Some(0.25)), (Some(-2.0), Some(Verdict::Within2Sd)));
        assert_eq!(verdict(Some(1.25), Some(0.25)), (Some(3.0), Some(Verdict::Outside)));
        assert_eq!(verdict(Some(0.5), None), (None, Some(Verdict::NoSd)));
        assert_eq!(verdict(Some(0.5), Some(0.0)), (None, Some(Verdict::NoSd)));
        assert_eq!(verdict(None, Some(0.25)), (None, None));
    }

    #[test]
    fn welch_where_both_spreads_and_counts_are_known() {
        // scipy.stats.ttest_ind_from_stats(0.0157, 0.004, 5, 0.0209, 0.0022, 5, equal_var=False)
        let ours = Number { mean: Some(0.0157), sd: Some(0.004), n: 5, ..Number::default() };
        let theirs =
            Reference { mean: 0.0209, sd: Some(0.0022), n: Some(5), ..Reference::default() };
        let p = compare(&ours, &theirs).p.unwrap();
        assert!((p - 0.042_329_956_689_093_29).abs() < 1e-12, "{p}");
        assert_eq!(compare(&ours, &Reference { n: None, ..theirs.clone() }).p, None);
        assert_eq!(compare(&ours, &Reference { sd: None, ..theirs.clone() }).p, None);
        assert_eq!(compare(&Number { sd: None, ..ours }, &theirs).p, None);
    }
}
