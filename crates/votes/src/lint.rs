//! The linter: what may go wrong with a vote file, with a place and a remedy.
//!
//! Readers report what only they can see (a rounded soft label, a cancelled annotation); this
//! module adds what shows in the table. Every check is one function in `CHECKS`.

use std::collections::HashMap;
use std::path::Path;

use dissensus_core::{Ballots, Counts, Keep, VoteTable};
use serde::Serialize;

use crate::collector::{Finding, Note, Severity};
use crate::options::ReadOptions;
use crate::reading::{VoteFile, read};
use dissensus_io::ReadError;

/// What the linter says of a file.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The file.
    pub file: String,
    /// The format, where it could be told.
    pub format: Option<&'static str>,
    /// Items, annotators, classes and votes, where the file could be read.
    pub size: Option<Size>,
    /// What was guessed.
    pub notes: Vec<Note>,
    /// The findings, the worst first.
    pub findings: Vec<Finding>,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Size {
    /// Items.
    pub items: usize,
    /// Annotators.
    pub annotators: usize,
    /// Classes.
    pub classes: usize,
    /// Votes; `None` where only probabilities are known.
    pub votes: Option<u64>,
}

impl Report {
    /// How many findings are this bad.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.severity == severity).count()
    }
}

/// Reads a file to the end, whatever is wrong with single rows, and reports.
pub fn lint(path: &Path, options: &ReadOptions) -> Report {
    let options = ReadOptions { collect: true, keep: Keep::VotesAndRows, ..options.clone() };
    report(&path.display().to_string(), read(path, &options))
}

/// Reports on what was read, or on why it was not.
pub fn report(file: &str, reading: Result<VoteFile, ReadError>) -> Report {
    let (format, size, notes, mut findings) = match reading {
        Err(error) => (None, None, Vec::new(), vec![Finding::from(&error)]),
        Ok(reading) => {
            let counts = reading.table.counts();
            let size = Size {
                items: reading.table.len(),
                annotators: reading.table.annotators().len(),
                classes: reading.table.classes().len(),
                votes: counts.as_ref().map(|c| c.total()),
            };
            let mut findings = reading.findings;
            let view = View { table: &reading.table, counts: counts.as_deref() };
            findings.extend(CHECKS.iter().filter_map(|check| check(&view)));
            (Some(reading.format.name), Some(size), reading.notes, findings)
        }
    };
    findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
    Report { file: file.to_owned(), format, size, notes, findings }
}

struct View<'a> {
    table: &'a VoteTable,
    counts: Option<&'a Counts>,
}

/// All checks of a table.
const CHECKS: &[fn(&View<'_>) -> Option<Finding>] = &[
    empty,
    without_votes,
    duplicates,
    lookalike_classes,
    unused_classes,
    one_class_annotators,
    shares_only,
    rounded_shares,
    single_votes,
    ties,
    unanimous,
];

fn empty(view: &View<'_>) -> Option<Finding> {
    let message = "there are no votes in it";
    view.table.is_empty().then(|| Finding::new(Severity::Error, "no-votes", message))
}

/// A finding about the items that a test picks, placed at the first.
fn items_where(
    view: &View<'_>,
    (severity, code, message): (Severity, &str, &str),
    test: impl Fn(usize, &Counts) -> bool,
) -> Option<Finding> {
    let counts = view.counts?;
    let mut items = (0..view.table.len()).filter(|&item| test(item, counts));
    let first = items.next()?;
    let row = match view.table.ballots() {
        Ballots::Votes(votes) => votes.of(first).next().and_then(|vote| vote.row),
        _ => None,
    };
    let finding = Finding::new(severity, code, message).times(1 + items.count() as u64);
    Some(finding.at(Some(view.table.items().name(first)), row))
}

fn without_votes(view: &View<'_>) -> Option<Finding> {
    let about = (Severity::Warning, "item-without-votes", "an item without votes");
    let finding = items_where(view, about, |item, counts| counts.votes(item) == 0)?;
    Some(finding.remedy("training refuses such items by name: drop them, or have them labelled"))
}

fn single_votes(view: &View<'_>) -> Option<Finding> {
    let about = (Severity::Note, "single-vote", "an item with one vote: no disagreement can show");
    items_where(view, about, |item, counts| counts.votes(item) == 1)
}

fn unanimous(view: &View<'_>) -> Option<Finding> {
    let about = (Severity::Note, "unanimous", "an item whose votes all went to one class");
    items_where(view, about, |item, counts| {
        counts.votes(item) > 1 && counts.entries(item).count() == 1
    })
}

fn ties(view: &View<'_>) -> Option<Finding> {
    let about = (Severity::Note, "tie", "an item whose most-voted class is not alone");
    let finding = items_where(view, about, |item, counts| {
        let most = counts.amounts(item).map(|(_, a)| a).fold(0.0, f64::max);
        most > 0.0 && counts.amounts(item).filter(|(_, a)| *a == most).count() > 1
    })?;
    Some(finding.remedy("whatever needs one label for it names its rule for ties"))
}

fn duplicates(view: &View<'_>) -> Option<Finding> {
    let Ballots::Votes(votes) = view.table.ballots() else {
        return None;
    };
    let (mut count, mut first) = (0, None);
    let mut seen: HashMap<u32, u16> = HashMap::new();
    for item in 0..view.table.len() {
        seen.clear();
        for vote in votes.of(item) {
            let Some(annotator) = vote.annotator else {
                continue;
            };
            // A vote split over several labels is still one vote.
            if vote.weight == 1.0 && seen.insert(annotator, vote.class).is_some() {
                count += 1;
                first.get_or_insert((item, annotator, vote.row));
            }
        }
    }
    let (item, annotator, row) = first?;
    let who = view.table.annotators().name(annotator as usize);
    let message = format!("an annotator voted twice on an item (first: {who:?})");
    let finding = Finding::new(Severity::Warning, "duplicate-vote", message).times(count);
    let remedy = "all of them count: drop the repeats if they are not meant";
    Some(finding.at(Some(view.table.items().name(item)), row).remedy(remedy))
}

fn lookalike_classes(view: &View<'_>) -> Option<Finding> {
    let plain = |name: &String| name.trim().to_lowercase();
    let mut seen: HashMap<String, &String> = HashMap::new();
    let pair = view.table.classes().names().iter().find_map(|name| {
        let other = seen.insert(plain(name), name)?;
        Some(format!("{other:?} and {name:?} differ only in case or spaces"))
    })?;
    let finding = Finding::new(Severity::Warning, "lookalike-classes", pair);
    Some(finding.remedy("if they mean the same, spell them the same"))
}

fn unused_classes(view: &View<'_>) -> Option<Finding> {
    let counts = view.counts?;
    let mut used = vec![false; view.table.classes().len()];
    for item in 0..view.table.len() {
        counts.entries(item).for_each(|(class, _)| used[class as usize] = true);
    }
    let names = view.table.classes().names().iter().zip(&used).filter(|(_, used)| !**used);
    let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let message = format!("classes that nobody chose: {}", names.join(", "));
    let finding = Finding::new(Severity::Warning, "unused-class", message);
    Some(finding.times(names.len() as u64).remedy("check their spelling, or leave them out"))
}

/// Votes that an annotator must have cast before voting for one class only says something.
const MANY: u32 = 10;

fn one_class_annotators(view: &View<'_>) -> Option<Finding> {
    let Ballots::Votes(votes) = view.table.ballots() else {
        return None;
    };
    // For each annotator: votes, the first class, and whether there was another.
    let mut tally = vec![(0u32, 0u16, false); view.table.annotators().len()];
    for vote in (0..view.table.len()).flat_map(|item| votes.of(item)) {
        if let Some(entry) = vote.annotator.and_then(|a| tally.get_mut(a as usize)) {
            entry.2 |= entry.0 > 0 && entry.1 != vote.class;
            entry.1 = vote.class;
            entry.0 += 1;
        }
    }
    let mut stuck = tally.iter().enumerate().filter(|(_, t)| t.0 >= MANY && !t.2);
    let (who, &(n, class, _)) = stuck.next()?;
    let more = stuck.count() as u64;
    let (who, class) = (view.table.annotators().name(who), view.table.classes().name(class));
    let message = format!(
        "an annotator with {MANY} votes or more who always votes the same (first: {who:?}, {n} × {class:?})"
    );
    let finding = Finding::new(Severity::Warning, "one-class-annotator", message).times(1 + more);
    Some(finding.remedy("look at their votes; annotator weights (Dawid–Skene) discount them"))
}

fn shares_only(view: &View<'_>) -> Option<Finding> {
    let message = "probabilities without counts: how many people voted is not known";
    matches!(view.table.ballots(), Ballots::Probabilities(_)).then(|| {
        let finding = Finding::new(Severity::Note, "no-counts", message);
        finding.remedy("soft targets and SLS work; multipass needs counts")
    })
}

fn rounded_shares(view: &View<'_>) -> Option<Finding> {
    let Ballots::Probabilities(rows) = view.table.ballots() else {
        return None;
    };
    let off = |item: &usize| (rows.row(*item).iter().sum::<f64>() - 1.0).abs() > 1e-9;
    let mut items = (0..view.table.len()).filter(off);
    let first = items.next()?;
    let message = "probabilities that do not sum to 1 exactly: they were rounded";
    let finding = Finding::new(Severity::Note, "rounded-probabilities", message);
    let finding = finding.times(1 + items.count() as u64);
    Some(finding.at(Some(view.table.items().name(first)), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_bytes;

    fn codes(text: &str, options: &ReadOptions) -> Vec<(String, u64, Option<u64>)> {
        let keep = Keep::VotesAndRows;
        let options = ReadOptions { collect: true, keep, ..options.clone() };
        let report = report("x", read_bytes("x", text.into(), &options));
        report.findings.into_iter().map(|f| (f.code, f.count, f.row)).collect()
    }

    fn found(code: &str, count: u64, row: Option<u64>) -> (String, u64, Option<u64>) {
        (code.to_owned(), count, row)
    }

    #[test]
    fn every_trap_is_found() {
        let mut text = String::from("item,annotator,label\n");
        (0..12).for_each(|i| text += &format!("i{i},bot,Yes\n"));
        text += "i0,w,no\ni1,w,yes\ni1,w,no\ni2,v,\nlone,v,\nbad,w\n";
        let classes = ["Yes", "yes", "no", "never"].map(String::from).to_vec();
        let options = ReadOptions { classes: Some(classes), ..ReadOptions::default() };
        assert_eq!(
            codes(&text, &options),
            [
                found("ragged-row", 1, Some(19)),
                found("item-without-votes", 1, None),
                found("duplicate-vote", 1, Some(16)),
                found("lookalike-classes", 1, None),
                found("unused-class", 1, None),
                found("one-class-annotator", 1, None),
                found("missing-value", 2, Some(17)),
                found("single-vote", 10, Some(4)),
                found("tie", 2, Some(2)),
            ]
        );
    }

    #[test]
    fn shares_have_no_counts() {
        let text = "id,cat,dog\na,0.333,0.666\nb,0.5,0.5\n";
        let expected = [found("no-counts", 1, None), found("rounded-probabilities", 1, None)];
        assert_eq!(codes(text, &ReadOptions::default()), expected);
    }

    #[test]
    fn an_unreadable_file_is_one_error() {
        let report = report("x", read_bytes("x", vec![], &ReadOptions::default()));
        assert_eq!(
            (report.count(Severity::Error), report.findings[0].code.as_str()),
            (1, "empty-file")
        );
    }
}
