//! The linter: what may go wrong with a vote file, with a place and a remedy.
//!
//! Readers report what only they can see (a rounded soft label, a cancelled annotation); this
//! module adds what shows in the table. Every check is one function in `CHECKS`.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use dissensus_core::{Ballots, Counts, Keep, VoteTable, folded};
use serde::Serialize;

use crate::collector::{Finding, Note, Severity};
use crate::names;
use crate::options::ReadOptions;
use crate::plausible;
use crate::reading::{VoteFile, read};
use dissensus_io::{ReadError, ReadOption};

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
            let mut findings = reading.findings.clone();
            let view = View::of(&reading, counts.as_deref());
            findings.extend(DOUBTS.iter().chain(NOTES).filter_map(|check| check(&view)));
            (Some(reading.format.name), Some(size), reading.notes, findings)
        }
    };
    findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
    Report { file: file.to_owned(), format, size, notes, findings }
}

/// What shows in a table of votes, whatever it came from.
pub fn lint_table(table: &VoteTable) -> Vec<Finding> {
    let counts = table.counts();
    let view = View { table, counts: counts.as_deref(), split: false };
    DOUBTS.iter().chain(NOTES).filter_map(|check| check(&view)).collect()
}

/// The findings of what was read that are more than notes, the worst first: what a summary must not
/// pass over in silence.
pub fn warnings(reading: &VoteFile) -> Vec<Finding> {
    let counts = reading.table.counts();
    let view = View::of(reading, counts.as_deref());
    let found = DOUBTS.iter().filter_map(|check| check(&view));
    let found = reading.findings.iter().cloned().chain(found);
    let mut found: Vec<Finding> = found.filter(|f| f.severity >= Severity::Warning).collect();
    found.sort_by_key(|f| std::cmp::Reverse(f.severity));
    found
}

struct View<'a> {
    table: &'a VoteTable,
    counts: Option<&'a Counts>,
    /// Whether votes for several labels were made several votes.
    split: bool,
}

impl<'a> View<'a> {
    fn of(reading: &'a VoteFile, counts: Option<&'a Counts>) -> Self {
        Self { table: &reading.table, counts, split: reading.split }
    }

    /// The votes of each class; shares where only these are known.
    fn class_totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.table.classes().len()];
        for item in 0..self.table.len() {
            match (self.counts, self.table.ballots()) {
                (Some(counts), _) => {
                    counts.amounts(item).for_each(|(class, n)| totals[class as usize] += n);
                }
                (None, Ballots::Probabilities(rows)) => {
                    rows.row(item).iter().zip(&mut totals).for_each(|(p, total)| *total += p);
                }
                (None, Ballots::Votes(votes)) => votes
                    .of(item)
                    .flat_map(|vote| vote.labels)
                    .for_each(|&class| totals[class as usize] += 1.0),
                (None, Ballots::Counts(_)) => {}
            }
        }
        totals
    }
}

/// `1 vote`, `2 votes`.
fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

type Check = fn(&View<'_>) -> Option<Finding>;

/// What speaks against a table.
const DOUBTS: &[Check] = &[
    empty,
    without_votes,
    duplicates,
    continuous_classes,
    many_classes,
    constant_labels,
    sum_class,
    derived_annotators,
    sentence_classes,
    one_vote_each,
    sentinels,
    padded_classes,
    lookalike_classes,
    misspelt_classes,
    unused_classes,
    one_class_annotators,
    anonymous_votes,
];

/// What only the linter says.
const NOTES: &[Check] =
    &[lookalike_items, shares_only, rounded_shares, single_votes, ties, unanimous];

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

/// Votes of nobody, among votes of people.
fn anonymous_votes(view: &View<'_>) -> Option<Finding> {
    let Ballots::Votes(votes) = view.table.ballots() else { return None };
    if view.table.annotators().is_empty() {
        return None;
    }
    let anonymous = |item| votes.of(item).filter(|vote| vote.annotator.is_none());
    let mut found =
        (0..view.table.len()).flat_map(|item| anonymous(item).map(move |vote| (item, vote.row)));
    let (item, row) = found.next()?;
    let message = "a vote without an annotator, in a file that names annotators";
    let finding = Finding::new(Severity::Warning, "vote-without-annotator", message);
    let finding = finding.times(1 + found.count() as u64);
    let remedy = "fill in who voted: what compares annotators leaves these votes out";
    Some(finding.at(Some(view.table.items().name(item)), row).remedy(remedy))
}

/// Items that are one item to a reader.
fn lookalike_items(view: &View<'_>) -> Option<Finding> {
    let (mut seen, mut count, mut first) = (HashMap::new(), 0, None);
    for id in view.table.items().iter() {
        if let Some(other) = seen.insert(folded(id), id) {
            count += 1;
            first.get_or_insert((other, id));
        }
    }
    let (other, id) = first?;
    let message =
        format!("items differ only in case, spaces or Unicode form (first: {other:?} and {id:?})");
    let finding = Finding::new(Severity::Warning, "lookalike-items", message).times(count);
    Some(finding.at(Some(id), None).remedy("write one item in one way: its votes are divided"))
}

fn duplicates(view: &View<'_>) -> Option<Finding> {
    let Ballots::Votes(votes) = view.table.ballots() else {
        return None;
    };
    if view.split {
        return None;
    }
    let (mut count, mut first) = (0, None);
    let mut seen = HashSet::new();
    for item in 0..view.table.len() {
        seen.clear();
        for vote in votes.of(item) {
            let Some(annotator) = vote.annotator else {
                continue;
            };
            // A vote split over several labels is still one vote.
            if vote.weight == 1.0 && !seen.insert(annotator) {
                count += 1;
                first.get_or_insert((item, annotator, vote.row));
            }
        }
    }
    let (item, annotator, row) = first?;
    let who = view.table.annotators().name(annotator as usize);
    let message = format!("an annotator voted twice on an item (first: {who:?})");
    // A slip repeats a few votes; a wrong column, thousands.
    let severity = if count >= 1000 { Severity::Error } else { Severity::Warning };
    let finding = Finding::new(severity, "duplicate-vote", message).times(count);
    let remedy = "all of them count: drop the repeats if they are not meant";
    Some(finding.at(Some(view.table.items().name(item)), row).remedy(remedy))
}

/// A warning about the classes whose remedy names options of reading.
fn about_classes(
    (code, message, count): (&str, String, usize),
    remedy: &str,
    options: &'static [ReadOption],
) -> Option<Finding> {
    let finding = Finding::new(Severity::Warning, code, message).times(count as u64);
    Some(Finding { options, ..finding.remedy(remedy) })
}

fn continuous_classes(view: &View<'_>) -> Option<Finding> {
    let classes = view.table.classes().len();
    plausible::continuous(view.table).then_some(())?;
    let message = format!("{classes} classes are numbers with fractions: a continuous scale");
    let remedy = "round them to a few grades first, or name another column with `label`";
    about_classes(("continuous-labels", message, classes), remedy, &[ReadOption::Label])
}

fn many_classes(view: &View<'_>) -> Option<Finding> {
    let (classes, items) = (view.table.classes().len(), view.table.len());
    let odd = plausible::as_many_classes_as_items(view.table) && !plausible::continuous(view.table);
    odd.then_some(())?;
    let message = format!("as many classes ({classes}) as items ({items})");
    let remedy = "name the column of labels with `label`";
    let finding = about_classes(("many-classes", message, classes), remedy, &[ReadOption::Label])?;
    Some(Finding { severity: Severity::Error, ..finding })
}

/// A label that belongs to the item: an attribute, or a reference label.
fn constant_labels(view: &View<'_>) -> Option<Finding> {
    const VOTES: u64 = 20;
    let votes = view.counts?.total();
    (votes >= VOTES && plausible::constant_within_items(view.table)).then_some(())?;
    let message = "the label is the same in all votes of every item: it may belong to the item";
    let finding = Finding::new(Severity::Error, "constant-label", message).times(votes);
    Some(Finding {
        options: &[ReadOption::Label],
        ..finding.remedy("name the column of labels with `label`")
    })
}

/// A class whose votes are, in every item, those of all others: the column of totals.
fn sum_class(view: &View<'_>) -> Option<Finding> {
    const ITEMS: usize = 3;
    let (counts, classes) = (view.counts?, view.table.classes());
    if view.table.len() < ITEMS || classes.len() < 3 {
        return None;
    }
    let is_sum = |class: usize| {
        (0..view.table.len()).all(|item| {
            let (mut own, mut all) = (0.0, 0.0);
            for (c, n) in counts.amounts(item) {
                all += n;
                own += if usize::from(c) == class { n } else { 0.0 };
            }
            own > 0.0 && own * 2.0 == all
        })
    };
    let class = (0..classes.len()).find(|&class| is_sum(class))?;
    let message =
        format!("the class {:?} is, in every item, the sum of the others", classes.names()[class]);
    let finding = Finding::new(Severity::Error, "sum-class", message);
    Some(Finding {
        options: &[ReadOption::Ignore],
        ..finding.remedy("leave its column out with `ignore`")
    })
}

/// An annotator that is a majority, a reference or a mean.
fn derived_annotators(view: &View<'_>) -> Option<Finding> {
    let derived: Vec<String> = view
        .table
        .annotators()
        .iter()
        .filter(|name| names::derived(name))
        .map(|name| format!("{name:?}"))
        .collect();
    if derived.is_empty() {
        return None;
    }
    let message = format!("made from votes and no annotator, by name: {}", derived.join(", "));
    let finding =
        Finding::new(Severity::Error, "derived-annotator", message).times(derived.len() as u64);
    Some(Finding {
        options: &[ReadOption::Ignore],
        ..finding.remedy("leave the column out with `ignore`")
    })
}

fn sentence_classes(view: &View<'_>) -> Option<Finding> {
    plausible::sentences(view.table).then_some(())?;
    let message = "classes as long as sentences".to_owned();
    let remedy = "name the column of labels with `label`";
    let classes = view.table.classes().len();
    about_classes(("sentence-labels", message, classes), remedy, &[ReadOption::Label])
}

fn one_vote_each(view: &View<'_>) -> Option<Finding> {
    let counts = view.counts?;
    let items = view.table.len() as u64;
    let single = items > 2 && (0..view.table.len()).all(|item| counts.votes(item) == 1);
    single.then_some(())?;
    let message = format!("each of the {items} items has one vote: labels rather than votes");
    let remedy =
        "name the column of the item with `item` if it is another; else disagreement cannot show";
    let finding = Finding::new(Severity::Warning, "one-vote-each", message).times(items);
    Some(Finding { options: &[ReadOption::Item], ..finding.remedy(remedy) })
}

/// Words that stand for "no answer" in tables of answers.
const NO_ANSWER: [&str; 20] = [
    ".",
    "?",
    "-",
    "na",
    "n/a",
    "nan",
    "none",
    "null",
    "missing",
    "unknown",
    "don't know",
    "dont know",
    "dk",
    "idk",
    "not sure",
    "no answer",
    "skip",
    "skipped",
    "refused",
    "prefer not to say",
];

fn sentinels(view: &View<'_>) -> Option<Finding> {
    let names = view.table.classes().names();
    let number = |name: &str| name.trim().parse::<f64>().ok();
    let numbers: Vec<f64> = names.iter().filter_map(|name| number(name)).collect();
    let is_code = |value: f64| {
        let digits = value.abs().to_string();
        let repeated = digits.len() >= 2 && digits.bytes().all(|b| b == digits.as_bytes()[0]);
        let nines = (repeated && matches!(digits.as_bytes()[0], b'7'..=b'9')) || value == -9.0;
        // The others are a small scale far from it.
        let near = numbers.iter().any(|other| *other != value && (other - value).abs() <= 5.0);
        let small = numbers.iter().filter(|other| other.abs() <= 20.0).count();
        nines && !near && small >= 2
    };
    // A scale from 1 on rarely has a 0.
    let scale = |most: i64| {
        names.len() as i64 == most + 1 && (0..=most).all(|v| numbers.contains(&(v as f64)))
    };
    let zero = numbers.len() == names.len() && (scale(5) || scale(7));
    let is_sentinel = |name: &&String| {
        let plain = name.trim().to_lowercase().replace('’', "'");
        let code = number(name).is_some_and(|value| is_code(value) || (zero && value == 0.0));
        code || (names.len() > 2 && NO_ANSWER.contains(&plain.as_str()))
    };
    let found: Vec<String> =
        names.iter().filter(is_sentinel).map(|name| format!("{name:?}")).collect();
    if found.is_empty() {
        return None;
    }
    let (classes, mean) = match found.len() {
        1 => ("a class", "means"),
        _ => ("classes", "mean"),
    };
    let message = format!("{classes} that often {mean} \"no answer\": {}", found.join(", "));
    let remedy = "if it is no vote, say so with `missing`";
    about_classes(("sentinel", message, found.len()), remedy, &[ReadOption::Missing])
}

fn padded_classes(view: &View<'_>) -> Option<Finding> {
    let names = view.table.classes().names().iter().filter(|name| name.trim() != name.as_str());
    let names: Vec<String> = names.map(|name| format!("{name:?}")).collect();
    if names.is_empty() {
        return None;
    }
    let message = format!(
        "spaces around the name of {}: {}",
        if names.len() == 1 { "a class" } else { "classes" },
        names.join(", ")
    );
    about_classes(("padded-class", message, names.len()), "remove the spaces", &[])
}

fn lookalike_classes(view: &View<'_>) -> Option<Finding> {
    let plain = |name: &String| -> String {
        let letters = name.chars().filter(|c| !c.is_whitespace() && !matches!(c, '_' | '-'));
        letters.flat_map(char::to_lowercase).collect()
    };
    let mut groups: HashMap<String, Vec<&String>> = HashMap::new();
    view.table
        .classes()
        .names()
        .iter()
        .filter(|name| name.parse::<f64>().is_err())
        .for_each(|name| groups.entry(plain(name)).or_default().push(name));
    let mut groups: Vec<_> = groups.into_values().filter(|group| group.len() > 1).collect();
    groups.sort();
    if groups.is_empty() {
        return None;
    }
    let quoted = |group: &Vec<&String>| {
        group.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" and ")
    };
    let all: Vec<String> = groups.iter().map(quoted).collect();
    let message = format!("{} differ only in case, spaces or hyphens", all.join("; "));
    about_classes(
        ("lookalike-classes", message, groups.len()),
        "if they mean the same, spell them the same",
        &[],
    )
}

/// Whether two names differ in one letter: changed, added, left out, or swapped with the next.
fn one_letter_apart(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same..], &b[same..]);
    match (a.len(), b.len()) {
        (n, m) if n == m => {
            a.get(1..) == b.get(1..) || (n > 1 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..])
        }
        (n, m) if n == m + 1 => a[1..] == *b,
        (n, m) if n + 1 == m => b[1..] == *a,
        _ => false,
    }
}

/// Names of this many letters that differ in one are rather one name misspelt.
const LONG: usize = 5;

fn misspelt_classes(view: &View<'_>) -> Option<Finding> {
    let names = view.table.classes().names();
    // Everything is compared with everything else.
    if names.len() > 500 {
        return None;
    }
    let totals = view.class_totals();
    let letters = |name: &str| name.chars().filter(|c| c.is_alphabetic()).count() >= LONG;
    let word = |name: &str| letters(name) && !name.chars().any(|c| c.is_ascii_digit());
    let mut found = Vec::new();
    for (i, a) in names.iter().enumerate().filter(|(_, name)| word(name)) {
        for (j, b) in names.iter().enumerate().skip(i + 1).filter(|(_, name)| word(name)) {
            let (rare, common) = if totals[i] < totals[j] { (i, j) } else { (j, i) };
            let (low, high) = (a.to_lowercase(), b.to_lowercase());
            // A misspelling is rare beside the name that is meant.
            if low != high && one_letter_apart(&low, &high) && totals[rare] * 5.0 <= totals[common]
            {
                found.push(format!("{:?} and {:?}", names[rare], names[common]));
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    let message = format!("{} differ in one letter, and the first is rare", found.join("; "));
    about_classes(
        ("misspelt-class", message, found.len()),
        "if they mean the same, spell them the same",
        &[],
    )
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
    let classes = if names.len() == 1 { "a class" } else { "classes" };
    let message = format!("{classes} that nobody chose: {}", names.join(", "));
    let finding = Finding::new(Severity::Warning, "unused-class", message);
    Some(finding.times(names.len() as u64).remedy("check the spelling"))
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
            // A set of another size than one is another answer than any class.
            let class = vote.class().unwrap_or(u16::MAX);
            entry.2 |= entry.0 > 0 && entry.1 != class;
            entry.1 = class;
            entry.0 += 1;
        }
    }
    let stuck: Vec<_> = tally.iter().enumerate().filter(|(_, t)| t.0 >= MANY && !t.2).collect();
    if stuck.is_empty() || view.table.classes().len() < 2 {
        return None;
    }
    const LISTED: usize = 5;
    let named = |&(who, &(n, class, _)): &(usize, &(u32, u16, bool))| {
        let (who, class) = (view.table.annotators().name(who), view.table.classes().name(class));
        format!("{who:?} {n} × {class:?}")
    };
    let listed: Vec<String> = stuck.iter().take(LISTED).map(named).collect();
    let more = if stuck.len() > LISTED { ", …" } else { "" };
    let (people, always) =
        (counted(stuck.len() as u64, "annotator", "annotators"), listed.join(", "));
    let votes = if stuck.len() == 1 { "votes" } else { "vote" };
    let message = format!(
        "{people} of {} with {MANY} votes or more always {votes} the same: {always}{more}",
        tally.len()
    );
    let finding = Finding::new(Severity::Warning, "one-class-annotator", message);
    let finding = finding.times(stuck.len() as u64);
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
    fn what_is_no_vote_is_an_error() {
        let said = |item: &str, label: &str| ReadOptions {
            item: Some(item.into()),
            label: Some(label.into()),
            ..ReadOptions::default()
        };
        let errors = |text: &str, options: &ReadOptions| {
            let options =
                ReadOptions { collect: true, keep: Keep::VotesAndRows, ..options.clone() };
            let report = report("x", read_bytes("x", text.into(), &options));
            let errors = report.findings.into_iter().filter(|f| f.severity == Severity::Error);
            errors.map(|f| f.code).collect::<Vec<_>>()
        };
        let rows = |label: &dyn Fn(usize, usize) -> String| {
            let row = |i: usize| format!("i{},w{},{}\n", i / 5, i % 5, label(i / 5, i % 5));
            format!("doc,annotator,label\n{}", (0..30).map(row).collect::<String>())
        };
        let of_item = rows(&|item, _| ["x", "y"][item % 2].to_owned());
        assert_eq!(errors(&of_item, &said("doc", "label")), ["constant-label"]);
        let of_row = rows(&|item, who| format!("c{item}{who}"));
        assert_eq!(errors(&of_row, &said("doc", "label")), ["many-classes"]);
        let counts = "id,no,yes,all\na,1,2,3\nb,0,4,4\nc,2,2,4\n";
        let all = Some(vec!["no".to_owned(), "yes".to_owned(), "all".to_owned()]);
        let options = ReadOptions { counts: all, ..ReadOptions::default() };
        assert_eq!(errors(counts, &options), ["sum-class"]);
        let wide = "id,rater_1,rater_2,majority\na,x,y,x\nb,y,y,y\n";
        let people = Some(vec!["rater_*".to_owned(), "majority".to_owned()]);
        let options = ReadOptions { annotators: people, ..ReadOptions::default() };
        assert_eq!(errors(wide, &options), ["derived-annotator"]);
        let repeated: String = (0..1200).map(|i| format!("a,w{},{}\n", i % 3, i % 2)).collect();
        let repeated = format!("doc,annotator,label\nb,w1,0\n{repeated}");
        assert_eq!(errors(&repeated, &said("doc", "label")), ["duplicate-vote"]);
    }

    #[test]
    fn votes_of_nobody_and_items_written_in_two_ways_are_found() {
        let count = |text: &str, code: &str| {
            let found = codes(text, &ReadOptions::default());
            found.iter().find(|(found, ..)| found == code).map_or(0, |(_, count, _)| *count)
        };
        let text = "item,annotator,label\nItem 1,w,x\nitem1,w,y\nb,,x\nb,v,y\nb,,y\n";
        assert_eq!(count(text, "vote-without-annotator"), 2);
        assert_eq!(count(text, "lookalike-items"), 1);
        let text = "item,label\na,x\na,y\nb,x\nb,y\n";
        assert_eq!(count(text, "vote-without-annotator") + count(text, "lookalike-items"), 0);
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

    /// The warnings of a table of single votes: code, count and message.
    fn warned(labels: &[(&str, usize)], options: &ReadOptions) -> Vec<(String, u64, String)> {
        let mut text = String::from("item,annotator,label\n");
        let votes = labels.iter().flat_map(|(label, n)| std::iter::repeat_n(label, *n));
        for (i, label) in votes.enumerate() {
            text += &format!("i{},w{},{label}\n", i % 4, i / 4);
        }
        let options = ReadOptions { collect: true, ..options.clone() };
        let reading = read_bytes("x", text.into(), &options).unwrap();
        let warnings = warnings(&reading).into_iter().filter(|f| f.severity == Severity::Warning);
        warnings.map(|f| (f.code, f.count, f.message)).collect()
    }

    fn warning(code: &str, count: u64, message: &str) -> (String, u64, String) {
        (code.to_owned(), count, message.to_owned())
    }

    #[test]
    fn sentinels_are_found() {
        let options = ReadOptions::default();
        let found = |labels: &[(&str, usize)]| warned(labels, &options);
        let message = "a class that often means \"no answer\": \"99\"";
        assert_eq!(found(&[("1", 4), ("2", 4), ("99", 4)]), [warning("sentinel", 1, message)]);
        let message = "a class that often means \"no answer\": \"0\"";
        let zero = [("0", 3), ("1", 3), ("2", 3), ("3", 3), ("4", 3), ("5", 3)];
        assert_eq!(found(&zero), [warning("sentinel", 1, message)]);
        let message = "classes that often mean \"no answer\": \".\", \"don't know\"";
        let words = [("yes", 4), ("no", 4), (".", 2), ("don't know", 2)];
        assert_eq!(found(&words), [warning("sentinel", 2, message)]);
        // Two classes, one of them unsure; and scales that go on.
        assert_eq!(found(&[("sure", 6), ("not sure", 6)]), []);
        assert_eq!(found(&[("95", 4), ("97", 4), ("99", 4)]), []);
    }

    #[test]
    fn names_that_are_nearly_the_same_are_found() {
        let classes = ["Yes", "yes", "on-topic", "on topic", "neutral", "nuetral", "no "];
        let declared = Some(classes.map(String::from).to_vec());
        let options = ReadOptions { classes: declared, ..ReadOptions::default() };
        let votes = [
            ("Yes", 4),
            ("yes", 4),
            ("on-topic", 4),
            ("on topic", 4),
            ("neutral", 10),
            ("nuetral", 1),
            ("no ", 3),
        ];
        assert_eq!(
            warned(&votes, &options),
            [
                warning("padded-class", 1, "spaces around the name of a class: \"no \""),
                warning(
                    "lookalike-classes",
                    2,
                    "\"Yes\" and \"yes\"; \"on-topic\" and \"on topic\" differ only in case, spaces or hyphens"
                ),
                warning(
                    "misspelt-class",
                    1,
                    "\"nuetral\" and \"neutral\" differ in one letter, and the first is rare"
                ),
            ]
        );
        // Both are common: two classes.
        assert_eq!(warned(&[("positive", 6), ("positiva", 6)], &ReadOptions::default()), []);
    }

    #[test]
    fn continuous_labels_and_single_votes_are_found() {
        let labels: Vec<String> = (0..40).map(|i| format!("{}", f64::from(i) * 0.37)).collect();
        let labels: Vec<(&str, usize)> = labels.iter().map(|label| (label.as_str(), 1)).collect();
        let options = ReadOptions { label: Some("label".into()), ..ReadOptions::default() };
        let message = "40 classes are numbers with fractions: a continuous scale";
        assert_eq!(warned(&labels, &options), [warning("continuous-labels", 40, message)]);
        let rows: String = (0..12).map(|i| format!("i{i},{}\n", ["a", "b"][i % 2])).collect();
        let text = format!("item,label\n{rows}");
        let reading = read_bytes("x", text.into(), &ReadOptions::default()).unwrap();
        let message = "each of the 12 items has one vote: labels rather than votes";
        let found = &warnings(&reading)[0];
        assert_eq!((found.code.as_str(), found.message.as_str()), ("one-vote-each", message));
    }

    #[test]
    fn all_annotators_who_always_answer_the_same_are_counted() {
        let mut text = String::from("item,annotator,label\n");
        for i in 0..12 {
            text += &format!("i{i},ann,yes\ni{i},ben,no\ni{i},cy,{}\n", ["yes", "no"][i % 2]);
        }
        let reading = read_bytes("x", text.into(), &ReadOptions::default()).unwrap();
        let found: Vec<_> = warnings(&reading).into_iter().map(|f| (f.count, f.message)).collect();
        let message = "2 annotators of 3 with 10 votes or more always vote the same: \"ann\" 12 × \
                       \"yes\", \"ben\" 12 × \"no\"";
        assert_eq!(found, [(2, message.to_owned())]);
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
