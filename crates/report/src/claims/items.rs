//! Correlations over the items of a run: of a column with another, or with what an item gains.

use std::collections::{BTreeMap, HashMap};

use dissensus_stats::correlation::{CorrelationSettings, partial_spearman, spearman};
use dissensus_stats::{Alternative, LEVEL, describe};

use super::cells::{Pairs, asked, places};
use super::judge::{Outcome, p_words, with_range};
use super::{ClaimSide, ClaimSpec};
use crate::ReportError;
use crate::book::{Book, ItemNumbers};
use crate::tables::CellKey;
use crate::tables::words::number;

/// Digits of a correlation.
const DIGITS: usize = 3;

/// A seed, and a correlation of it.
type BySeed = (u64, f64);

/// Runs, by seed.
type Runs<'a> = BTreeMap<u64, &'a ItemNumbers>;

fn runs<'a>(book: &'a Book, at: &CellKey, arm: &str) -> Runs<'a> {
    let here = book.items.iter().filter(|numbers| {
        let of = &numbers.of;
        of.arm == arm && of.k == at.k && of.dataset == at.dataset
    });
    here.map(|numbers| (numbers.of.seed, numbers)).collect()
}

pub(super) fn correlation(spec: &ClaimSpec, book: &Book) -> Result<Outcome, ReportError> {
    let (Some(x), Some(y)) = (&spec.x, &spec.y) else { return Ok(Outcome::default()) };
    let mut outcome = Outcome::default();
    let (mut own, mut others): (Vec<BySeed>, Vec<BySeed>) = (Vec::new(), Vec::new());
    let cells = places(&ClaimSpec { metrics: vec![String::new()], ..spec.clone() }, book);
    for at in &cells {
        let than = spec.than.as_deref().map(|arm| runs(book, at, arm));
        for arm in &spec.arms {
            let mut any = false;
            for (seed, numbers) in runs(book, at, arm) {
                let other = match &than {
                    Some(than) => match than.get(&seed) {
                        Some(other) => Some(*other),
                        None => continue,
                    },
                    None => None,
                };
                let run = Run { numbers, other, y, given: spec.given.as_deref(), slice: &at.slice };
                if let Some(r) = run.correlation(x)? {
                    own.push((seed, r));
                    any = true;
                }
                if let Some(than_x) = &spec.than_x {
                    others.extend(run.correlation(than_x)?.map(|r| (seed, r)));
                }
            }
            if !any {
                let votes = crate::tables::words::votes_title(at.k);
                outcome.open.get_or_insert(format!("{arm} · {votes}: no run"));
            }
        }
    }
    let values: Vec<f64> = own.iter().map(|(_, r)| *r).collect();
    let Ok(mean) = describe::mean(&values) else { return Ok(outcome) };
    let told = with_range(mean, values.iter().copied(), DIGITS);
    if spec.than_x.is_some() {
        let (first, second) = (by_seed(&own)?, by_seed(&others)?);
        let asked = asked(spec, ClaimSide::One, Alternative::Greater);
        let Some(pairs) = Pairs::of(&first, &second, asked, &spec.name)? else {
            return Ok(outcome);
        };
        outcome.seen = 1;
        let than = number(pairs.other, DIGITS);
        let (by, p) = (number(pairs.mean, DIGITS), p_words(pairs.p));
        outcome.ours = format!("{told} against {than} on average; by {by}, {p}");
        let small = pairs.p.is_some_and(|p| p <= LEVEL);
        if !(pairs.mean > 0.0 && small) {
            outcome.against.push(format!("by {by}, {p}"));
        }
        return Ok(outcome);
    }
    let bound = spec.bound.unwrap_or(0.0);
    let above = values.iter().filter(|r| **r > bound).count();
    outcome.ours = format!("{told}; above {bound} in {above} of {} runs", values.len());
    if !spec.every_seed {
        outcome.seen = 1;
        let over = by_seed(&own)?.into_iter().map(|(seed, r)| (seed, r - bound)).collect();
        let asked = asked(spec, ClaimSide::One, Alternative::Greater);
        let pairs = Pairs::tested(over, bound, asked, &spec.name)?;
        let p = p_words(pairs.p);
        outcome.ours += &format!("; seeds' means {p}");
        if pairs.smallest.is_some_and(|smallest| smallest > LEVEL) {
            let seeds = pairs.differences.len();
            outcome.open.get_or_insert(format!("{seeds} seeds can give no p up to {LEVEL}"));
        } else if !(pairs.mean > 0.0 && pairs.p.is_some_and(|p| p <= LEVEL)) {
            outcome.against.push(format!("{}, {p}", number(mean, DIGITS)));
        }
        return Ok(outcome);
    }
    outcome.seen = values.len();
    let below = own.iter().filter(|(_, r)| *r <= bound);
    outcome.against =
        below.map(|(seed, r)| format!("seed {seed}: {}", number(*r, DIGITS))).collect();
    Ok(outcome)
}

/// The mean of each seed.
fn by_seed(all: &[BySeed]) -> Result<BTreeMap<u64, f64>, ReportError> {
    let mut seeds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    all.iter().for_each(|(seed, r)| seeds.entry(*seed).or_default().push(*r));
    let failed = |source| ReportError::Stats { place: "correlations".to_owned(), source };
    seeds.iter().map(|(seed, all)| Ok((*seed, describe::mean(all).map_err(failed)?))).collect()
}

/// A run, and the one that it gains over.
struct Run<'a> {
    numbers: &'a ItemNumbers,
    other: Option<&'a ItemNumbers>,
    y: &'a str,
    given: Option<&'a str>,
    slice: &'a str,
}

impl Run<'_> {
    /// Spearman's correlation of a column with the gain, over the items of the slice.
    fn correlation(&self, x: &str) -> Result<Option<f64>, ReportError> {
        let column = |name: &str| self.numbers.column(name);
        let (Some(x), Some(y)) = (column(x), column(self.y)) else { return Ok(None) };
        let inside = self.numbers.slice(self.slice);
        let given = match self.given {
            Some(name) => match column(name) {
                Some(given) => Some(given),
                None => return Ok(None),
            },
            None => None,
        };
        let others: Option<HashMap<&str, f64>> = match self.other {
            Some(other) => match other.column(self.y) {
                Some(y) => {
                    Some(other.ids.iter().map(String::as_str).zip(y.iter().copied()).collect())
                }
                None => return Ok(None),
            },
            None => None,
        };
        let (mut xs, mut ys, mut zs) = (Vec::new(), Vec::new(), Vec::new());
        for (at, id) in self.numbers.ids.iter().enumerate() {
            let gain = match &others {
                Some(others) => others.get(id.as_str()).map(|other| other - y[at]),
                None => Some(y[at]),
            };
            let z = given.map_or(0.0, |given| given[at]);
            let Some(gain) = gain.filter(|gain| gain.is_finite()) else { continue };
            if x[at].is_finite() && z.is_finite() && inside.is_none_or(|inside| inside[at]) {
                xs.push(x[at]);
                ys.push(gain);
                zs.push(z);
            }
        }
        let failed = |source| ReportError::Stats { place: "correlation".to_owned(), source };
        let found = match given {
            None => spearman(&xs, &ys, &CorrelationSettings::default()).map(|found| found.r),
            Some(_) => partial_spearman(&xs, &ys, &zs),
        };
        found.map_err(failed)
    }
}
