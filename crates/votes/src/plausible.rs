//! Whether votes can be meant as they were read. A guess that the data speak against stops the
//! reading; what the user said is read, and the linter reports the same doubts.

use std::collections::{BTreeSet, HashMap};

use dissensus_core::{Ballots, ClassOrder, VoteTable};
use dissensus_io::{Problem, ReadOption, python, shorten};

use crate::names;
use crate::options::{MultiLabel, ReadOptions};

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
/// every item.
pub(crate) fn certain(table: &VoteTable, agreed: bool, options: &ReadOptions) -> bool {
    let several = options.multilabel != MultiLabel::Error;
    let said = ReadOptions {
        missing: options.missing.clone(),
        classes: options.classes.clone(),
        ..ReadOptions::default()
    };
    let classes = table.classes().len();
    let is_votes = matches!(table.ballots(), Ballots::Votes(_));
    table.len() > 1
        && classes > 1
        && votes(table) > 0
        && !continuous(table)
        && !sentences(table)
        && !as_many_classes_as_items(table)
        && !one_vote_each(table)
        && against_names(table, &said).is_none()
        && !one_label_each(table)
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
    3 * (0..table.len()).map(again).sum::<usize>() >= votes.len().max(1)
}

/// Whether nobody is named, and no item has a label twice although several have several: these may be labels of
/// the item, and another column may hold their numbers.
fn one_label_each(table: &VoteTable) -> bool {
    const ITEMS: usize = 4;
    let Some(counts) = table.counts().filter(|_| table.annotators().is_empty()) else {
        return false;
    };
    let several = (0..table.len()).filter(|&item| counts.votes(item) > 1).count();
    several >= ITEMS && (0..table.len()).all(|item| counts.entries(item).all(|(_, n)| n == 1))
}

/// A class that may mean that there is no vote, by its name and those of the others.
fn no_class(names: &[String]) -> Option<&str> {
    const WORDS: [&str; 16] = [
        "skip",
        "skipped",
        "missing",
        "undefined",
        "no answer",
        "noanswer",
        "not answered",
        "no label",
        "unlabeled",
        "n.a.",
        "na.",
        "#n/a",
        "(empty)",
        "empty",
        "[]",
        "{}",
    ];
    const CODES: [f64; 10] = [-1.0, -9.0, -99.0, -999.0, -9999.0, 98.0, 99.0, 999.0, 9999.0, -77.0];
    const SMALL: f64 = 20.0;
    let numbers: Vec<f64> = names.iter().map_while(|name| name.parse().ok()).collect();
    if numbers.len() == names.len() {
        let (codes, others): (Vec<f64>, Vec<f64>) = numbers.iter().partition(|n| CODES.contains(n));
        let [code] = codes.as_slice() else { return None };
        let most = others.iter().copied().fold(f64::MIN, f64::max);
        // −1, 0 and 1 are a scale of their own.
        let scale = *code == -1.0 && most <= 1.0;
        let fits = others.len() > 1 && others.iter().all(|n| (0.0..=SMALL).contains(n)) && !scale;
        let place = numbers.iter().position(|n| n == code)?;
        return fits.then(|| names[place].as_str());
    }
    let word = |name: &&String| name.chars().filter(|c| c.is_alphabetic()).count() > 1;
    if names.iter().filter(word).count() < 2 {
        return None;
    }
    let none = |name: &&String| {
        WORDS.contains(&name.trim().to_lowercase().as_str())
            || name.trim().chars().all(|c| "-–—._?*/#".contains(c))
    };
    let mut found = names.iter().filter(none);
    found.next().filter(|_| found.next().is_none()).map(String::as_str)
}

/// What the names of classes and annotators say against a table, unless the user has said what they mean.
pub(crate) fn against_names(table: &VoteTable, options: &ReadOptions) -> Option<Problem> {
    if matches!(table.classes().order(), ClassOrder::Declared | ClassOrder::Format) {
        return annotators(table, options)
            .filter(|_| table.classes().order() == ClassOrder::Declared);
    }
    classes(table, options).or_else(|| annotators(table, options))
}

fn classes(table: &VoteTable, options: &ReadOptions) -> Option<Problem> {
    let names = table.classes().names();
    let is_list = |name: &&String| {
        let name = name.trim();
        (name.starts_with('[')
            && name.ends_with(']')
            && python::list(name).is_ok_and(|list| !list.is_empty()))
            || (name.starts_with("{\"") && name.ends_with('}'))
    };
    let lists: Vec<&String> = names.iter().filter(is_list).collect();
    if !lists.is_empty() && lists.len() * 2 >= names.len() {
        let several = |name: &&&String| python::list(name.trim()).is_ok_and(|list| list.len() > 1);
        return Some(match lists.iter().find(several) {
            Some(name) => Problem::MultiLabel { text: shorten(name) },
            None => Problem::Doubt {
                doubt: format!("labels are lists or objects ({:?})", shorten(lists[0])),
                options: &[ReadOption::Multilabel],
                remedy: "say with `multilabel` how a list of labels counts, or write labels as plain texts",
            },
        });
    }
    let mut spellings: HashMap<String, &String> = HashMap::new();
    for name in names.iter().filter(|name| name.chars().count() > 1) {
        if let Some(other) = spellings.insert(name.to_lowercase(), name) {
            return Some(Problem::Doubt {
                doubt: format!(
                    "the classes {other:?} and {name:?} differ in upper and lower case only"
                ),
                options: &[ReadOption::Classes],
                remedy: "write them alike; if they are two classes, declare all with `classes`",
            });
        }
    }
    if options.missing.is_none()
        && votes(table) >= ENOUGH
        && let Some(name) = no_class(names)
    {
        return Some(Problem::Doubt {
            doubt: format!("{name:?} may be a class, or mean that there is no vote"),
            options: &[ReadOption::Missing, ReadOption::Classes],
            remedy: "if it is no vote, name it with `missing`; if it is a class, declare all with `classes`",
        });
    }
    None
}

fn annotators(table: &VoteTable, options: &ReadOptions) -> Option<Problem> {
    if options.annotator.is_some() || options.annotators.is_some() {
        return None;
    }
    let mut people = table.annotators().iter();
    let doubt = |name: &str, what: &str| Problem::Doubt {
        doubt: format!("an annotator is called {name:?}: {what}"),
        options: &[ReadOption::Rows, ReadOption::Annotator, ReadOption::Ignore],
        remedy: "leave it out with `rows` (`rows = COLUMN!=NAME`) or `ignore`; if it is one, name the column of annotators with \
                 `annotator`",
    };
    let all = table.annotators().len();
    let models = table.annotators().iter().filter(|name| names::model_annotator(name)).count();
    if let Some(name) = people.find(|name| names::reference_annotator(name)) {
        return Some(doubt(name, "this is a reference or made of the votes, and no vote"));
    }
    // Where every annotator is a model, models are what votes.
    let name = table
        .annotators()
        .iter()
        .find(|name| names::model_annotator(name))
        .filter(|_| models < all)?;
    Some(doubt(name, "this is a model among people"))
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

/// `None` among words may be a class, as in "favor, against, none", or Python's word for a missing value; `NA` among
/// other codes may be North America.
pub(crate) fn none(missing: &BTreeSet<&str>, table: Option<&VoteTable>) -> Option<Problem> {
    let names = table?.classes().names();
    let words = || names.iter().any(|name| name.parse::<f64>().is_err());
    let code =
        |name: &String| name.chars().count() == 2 && name.chars().all(|c| c.is_ascii_uppercase());
    let doubtful = |value: &&&str| match **value {
        "NA" => names.len() > 1 && names.iter().all(code),
        _ => words(),
    };
    let value = missing.iter().find(doubtful)?;
    Some(Problem::Doubt {
        doubt: format!("{value:?} may be a class, or mean that there is no vote"),
        options: &[ReadOption::Missing],
        remedy: "say which with `missing`: `missing = None` (or NA) if it is no vote, else the values that are none \
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
