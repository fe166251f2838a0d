//! Where curves of training turn: the epoch of the lowest value, and how far they rise after it.

use std::collections::BTreeMap;

use dissensus_stats::{Alternative, describe};

use super::ClaimSpec;
use super::cells::{Pairs, asked, places};
use super::judge::{Outcome, named, p_words};
use crate::ReportError;
use crate::book::Book;
use crate::tables::CellKey;
use crate::tables::words::number;

/// By seed, the epoch of the lowest value (from 1), and the rise from there to the last epoch as a share.
type Turns = BTreeMap<u64, (f64, f64)>;

fn turns(book: &Book, at: &CellKey, arm: &str, column: &str) -> Turns {
    let here = book.curves.iter().filter(|curve| {
        let of = &curve.of;
        curve.column == column && of.arm == arm && of.k == at.k && of.dataset == at.dataset
    });
    let turn = |values: &[f64]| {
        let mut known = values.iter().copied().enumerate().filter(|(_, value)| value.is_finite());
        let (epoch, lowest) = known.clone().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let (_, last) = known.next_back()?;
        Some(((epoch + 1) as f64, (last - lowest) / lowest.abs()))
    };
    here.filter_map(|curve| Some((curve.of.seed, turn(&curve.values)?))).collect()
}

/// `turn`: later than those of another arm.
pub(super) fn turn(spec: &ClaimSpec, book: &Book) -> Result<Outcome, ReportError> {
    let mut outcome = Outcome::default();
    let (Some(column), Some(than)) = (&spec.y, &spec.than) else { return Ok(outcome) };
    let mut words = Vec::new();
    for at in places(&ClaimSpec { metrics: vec![String::new()], ..spec.clone() }, book) {
        for arm in &spec.arms {
            let place = named(spec, book, &at, if spec.arms.len() > 1 { arm } else { "" });
            let (own, other) = (turns(book, &at, arm, column), turns(book, &at, than, column));
            let epochs = |all: &Turns| all.iter().map(|(seed, turn)| (*seed, turn.0)).collect();
            let asked = asked(spec, spec.side, Alternative::Greater);
            let Some(found) = Pairs::of(&epochs(&own), &epochs(&other), asked, &place)? else {
                outcome.open.get_or_insert(format!("{place}: no seed that both have"));
                continue;
            };
            outcome.seen += 1;
            let rise = |all: &Turns| {
                let rises: Vec<f64> = all.values().map(|turn| 100.0 * turn.1).collect();
                describe::mean(&rises).map_or(String::new(), |mean| number(mean, 1))
            };
            let text = format!(
                "{place} {} against {} ({}), rise {} and {} %",
                number(found.other + found.mean, 1),
                number(found.other, 1),
                p_words(found.p),
                rise(&own),
                rise(&other)
            );
            if found.mean <= 0.0 {
                outcome.against.push(text.trim().to_owned());
            }
            words.push(text.trim().to_owned());
        }
    }
    outcome.ours = words.join("; ");
    Ok(outcome)
}
