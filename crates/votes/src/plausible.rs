//! Whether votes can be meant as they were read. A guess that the data speak against stops the
//! reading; what the user said is read, and the linter reports the same doubts.

use std::collections::HashMap;

use dissensus_core::{Ballots, VoteTable};
use dissensus_io::{Problem, ReadOption, shorten};

use crate::options::ReadOptions;

/// What was guessed of a table, to be checked when it has been read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guesses {
    /// The item's column, where it was guessed.
    pub(crate) item: Option<String>,
    /// Where labels are, where it was guessed.
    pub(crate) labels: Option<String>,
    /// Whether the columns have the names that are our own, and no others are there.
    pub(crate) own: bool,
    /// Whether roles were given by the order of the columns alone.
    pub(crate) nameless: bool,
    /// The item, annotator and label of the first row of a table without names.
    pub(crate) first_row: Vec<String>,
}

/// Classes of which there may be as many as items without a doubt.
const FEW: usize = 20;
/// Votes below which nothing can be said.
const ENOUGH: u64 = 10;

fn votes(table: &VoteTable) -> u64 {
    match table.ballots() {
        Ballots::Votes(votes) => votes.len() as u64,
        Ballots::Counts(counts) => counts.total(),
        Ballots::Probabilities(_) => 0,
    }
}

/// Whether there are as many classes as items.
pub(crate) fn as_many_classes_as_items(table: &VoteTable) -> bool {
    let classes = table.classes().len();
    classes >= FEW && classes >= table.len() && votes(table) < 3 * classes as u64
}

/// Whether the classes are sentences.
pub(crate) fn sentences(table: &VoteTable) -> bool {
    let names = table.classes().names();
    let letters: usize = names.iter().map(|name| name.chars().count()).sum();
    names.len() > 2 && letters > 40 * names.len() && votes(table) < 5 * names.len() as u64
}

/// Whether the classes are values of a continuous scale.
pub(crate) fn continuous(table: &VoteTable) -> bool {
    let names = table.classes().names();
    let numbers: Vec<f64> = names.iter().map_while(|name| name.parse().ok()).collect();
    let fraction = |value: &f64| value.fract() != 0.0;
    let fractions = numbers.iter().filter(|value| fraction(value)).count();
    let (values, votes) = (numbers.len() as u64, votes(table));
    numbers.len() == names.len()
        && fractions * 2 > numbers.len()
        && (values > 30 || (values > 10 && 2 * values > votes) || (values > 2 && values == votes))
}

/// Whether several annotators voted and no item has two votes.
fn one_vote_each(table: &VoteTable) -> bool {
    table.annotators().len() > 1 && votes(table) == table.len() as u64
}

/// Whether a label is the same in all votes of every item that has several, and items differ: it belongs to the
/// item and is no vote.
pub(crate) fn constant_within_items(table: &VoteTable) -> bool {
    const ITEMS: usize = 4;
    let Some(counts) = table.counts() else { return false };
    let (mut several, mut first, mut differ) = (0, None, false);
    for item in 0..table.len() {
        let mut entries = counts.entries(item);
        let Some((class, _)) = entries.next() else { continue };
        if entries.next().is_some() {
            return false;
        }
        several += usize::from(counts.votes(item) > 1);
        differ |= *first.get_or_insert(class) != class;
    }
    several >= ITEMS && differ
}

/// Whether nothing speaks against a reading that the user has not asked for; `agreed` says that all may agree on
/// every item, `several` that one vote may be several.
pub(crate) fn certain(table: &VoteTable, agreed: bool, several: bool) -> bool {
    let classes = table.classes().len();
    let is_votes = matches!(table.ballots(), Ballots::Votes(_));
    table.len() > 1
        && classes > 1
        && votes(table) > 0
        && !continuous(table)
        && !sentences(table)
        && !as_many_classes_as_items(table)
        && !one_vote_each(table)
        && (agreed || !(is_votes && constant_within_items(table)))
        && (several || !repeated(table))
}

/// Whether annotators mostly vote on the same item again, as in a matrix of small numbers that was taken
/// for items, annotators and labels.
fn repeated(table: &VoteTable) -> bool {
    let Ballots::Votes(votes) = table.ballots() else { return false };
    let again = |item: usize| {
        // One vote that was split into labels is none that is repeated.
        let mut people: Vec<u32> = votes
            .of(item)
            .filter(|vote| vote.weight >= 1.0)
            .filter_map(|vote| vote.annotator)
            .collect();
        let all = people.len();
        people.sort_unstable();
        people.dedup();
        all - people.len()
    };
    2 * (0..table.len()).map(again).sum::<usize>() > votes.len()
}

/// A label that is several others with a separator between, and the separator: every part of it
/// must stand elsewhere too, alone or as a part.
pub(crate) fn separator_of<'l>(
    labels: impl Iterator<Item = &'l str> + Clone,
) -> Option<(&'l str, char)> {
    let decimal = |label: &'l str| label.replacen(',', ".", 1).parse::<f64>().is_ok();
    if labels.clone().all(decimal) {
        return None;
    }
    [';', '|', ',', '#'].into_iter().find_map(|separator| {
        let parts = |label: &'l str| label.split(separator).map(str::trim);
        // Of each part, how many labels have it.
        let mut known: HashMap<&str, usize> = HashMap::new();
        for label in labels.clone() {
            let mut own: Vec<&str> = parts(label).collect();
            own.sort_unstable();
            own.dedup();
            own.into_iter().for_each(|part| *known.entry(part).or_default() += 1);
        }
        let joined = |label: &&'l str| {
            label.contains(separator)
                && parts(label)
                    .all(|part| !part.is_empty() && known.get(part).is_some_and(|n| *n > 1))
        };
        labels.clone().find(joined).map(|label| (label, separator))
    })
}

/// `None` among words may be a class, as in "favor, against, none", or Python's word for a missing value.
pub(crate) fn none(is_missing: bool, table: Option<&VoteTable>) -> Option<Problem> {
    let words =
        |table: &VoteTable| table.classes().names().iter().any(|name| name.parse::<f64>().is_err());
    (is_missing && table.is_some_and(words)).then(|| Problem::Doubt {
        doubt: "\"None\" may be a class, or mean that there is no vote".to_owned(),
        options: &[ReadOption::Missing],
        remedy: "say which with `missing`: `missing = None` if it is no vote, else the values that are none \
                 (`missing = n/a`)",
    })
}

/// What speaks against the guesses.
pub(crate) fn check(
    table: &VoteTable,
    guesses: &Guesses,
    options: &ReadOptions,
) -> Option<Problem> {
    if options.classes.is_none() && !options.takes_several() {
        let names = table.classes().names().iter().map(String::as_str);
        if let Some((label, _)) = separator_of(names) {
            return Some(Problem::MultiLabel { text: shorten(label) });
        }
    }
    first_row(table, guesses)
        .or_else(|| one_value(table, guesses))
        .or_else(|| labels(table, guesses.labels.as_deref()?, options))
        .or_else(|| items(table, guesses))
}

fn labels(table: &VoteTable, place: &str, options: &ReadOptions) -> Option<Problem> {
    if options.classes.is_some() {
        return None;
    }
    let classes = table.classes().len();
    let what = if continuous(table) {
        format!("{classes} numbers with fractions are hardly classes")
    } else if sentences(table) {
        "labels as long as sentences are hardly classes".to_owned()
    } else if as_many_classes_as_items(table) {
        format!("{classes} classes for {} items are hardly classes", table.len())
    } else {
        return None;
    };
    Some(Problem::Doubt {
        doubt: format!("{what} (taken from {place:?})"),
        options: &[ReadOption::Label],
        remedy: "name the column of labels with `label`; if it is this one, name it too",
    })
}

/// Many votes for the same class or on the same item, or labels that belong to the item.
fn one_value(table: &VoteTable, guesses: &Guesses) -> Option<Problem> {
    if guesses.own {
        return None;
    }
    let (label, item) = (guesses.labels.as_ref(), guesses.item.as_ref());
    let is_votes = matches!(table.ballots(), Ballots::Votes(_));
    let (doubt, options): (String, &'static [ReadOption]) = match (label, item) {
        (Some(label), Some(_)) if table.classes().len() == 1 && votes(table) >= 2 * ENOUGH => (
            format!("all {} labels are the same (taken from {label:?})", votes(table)),
            &[ReadOption::Label],
        ),
        (Some(label), Some(_))
            if is_votes && constant_within_items(table) && votes(table) >= 2 * ENOUGH =>
        {
            (
                format!(
                    "the label is the same in all votes of every item (taken from {label:?}): it may belong to the item"
                ),
                &[ReadOption::Label],
            )
        }
        (_, Some(item)) if table.len() == 1 && votes(table) >= 2 * ENOUGH => (
            format!("all {} votes are on one item (taken from {item:?})", votes(table)),
            &[ReadOption::Item],
        ),
        _ => return None,
    };
    let remedy = match options {
        [ReadOption::Item] => {
            "name the column of items with `item`; if it is this one, name it too"
        }
        _ => "name the column of labels with `label`; if it is this one, name it too",
    };
    Some(Problem::Doubt { doubt, options, remedy })
}

fn items(table: &VoteTable, guesses: &Guesses) -> Option<Problem> {
    let (items, people) = (table.len(), table.annotators().len());
    let column = guesses.item.as_ref()?;
    if repeated(table) && votes(table) >= ENOUGH {
        return Some(Problem::Doubt {
            doubt: format!(
                "most votes would be repeated by the same annotator on the same item (taken from {column:?})"
            ),
            options: &[ReadOption::Item, ReadOption::Annotator],
            remedy: "name the columns with `item` and `annotator`; if it is as it was read, name them too",
        });
    }
    let doubt = if guesses.nameless && people > items && people as u64 >= ENOUGH {
        format!(
            "the columns have no names, and {column:?} was taken for the item: {people} annotators \
             on {items} items are more likely {people} items by {items} annotators"
        )
    } else if one_vote_each(table) && (guesses.nameless || votes(table) >= ENOUGH) {
        format!(
            "each of the {items} items has one vote, although there are {people} annotators: {column:?} \
             may number the rows"
        )
    } else {
        return None;
    };
    let remedy = "name the columns with `item` and `annotator` (a name, or #2 for the second); if it is \
                  as it was read, name them too";
    Some(Problem::Doubt { doubt, options: &[ReadOption::Item, ReadOption::Annotator], remedy })
}

/// A first row that reads like a header, or like the sizes of the table.
fn first_row(table: &VoteTable, guesses: &Guesses) -> Option<Problem> {
    let label = guesses.first_row.last()?;
    let Ballots::Votes(votes) = table.ballots() else {
        return None;
    };
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let mut words = table.classes().names().iter().filter(|name| number(name).is_none());
    let only_word = words.next().is_some_and(|word| word == label.trim()) && words.next().is_none();
    let once = || {
        let class = table.classes().names().iter().position(|name| name == label.trim());
        let all = (0..table.len()).flat_map(|item| votes.of(item));
        all.filter(|vote| vote.class().map(usize::from) == class).count() == 1
    };
    if only_word && table.classes().len() > 2 && once() {
        return Some(Problem::Doubt {
            doubt: format!("the first row reads like a header ({:?})", guesses.first_row.join(" ")),
            options: &[ReadOption::Header],
            remedy: "say so with `header = true`",
        });
    }
    // The sizes without this row, which may itself name an item, an annotator and a class.
    let alone = table.items().iter().next() == guesses.first_row.first().map(String::as_str)
        && votes.of(0).count() == 1;
    let all = votes.len();
    let (people, classes) = (table.annotators().len(), table.classes().len());
    let less = |n: usize| n.saturating_sub(1);
    let sizes = [less(table.len()), less(people), people, less(classes), classes, less(all)];
    let is_size =
        |text: &&String| number(text).is_some_and(|v| sizes.iter().any(|&s| s as f64 == v));
    let large =
        guesses.first_row.iter().filter_map(|text| number(text)).any(|v| v >= ENOUGH as f64);
    if alone && large && guesses.first_row.iter().filter(is_size).count() >= 3 {
        return Some(Problem::Doubt {
            doubt: format!("the first row reads like sizes ({:?})", guesses.first_row.join(" ")),
            options: &[],
            remedy: "remove it from the file",
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_several_parts() {
        let found = |labels: &[&'static str]| separator_of(labels.iter().copied());
        assert_eq!(found(&["a", "b", "a;b"]), Some(("a;b", ';')));
        assert_eq!(found(&["x|y", "y|z", "z|x"]), Some(("x|y", '|')));
        assert_eq!(found(&["entailment,neutral", "neutral", "entailment"]).unwrap().1, ',');
        // A part that stands nowhere else makes it a name.
        assert_eq!(found(&["Austin, TX", "Dallas, TX", "Boston"]), None);
        assert_eq!(found(&["yes", "no", "yes;"]), None);
    }
}
