//! What the columns of a long table say against a label that was taken by its name, and against its item: other questions,
//! parts of items, groups in which ids begin anew, rows that do not count.

use std::fmt::Write as _;

use crate::names;
use crate::options::ReadOptions;
use crate::profile::{Profile, REPEATED};
use dissensus_io::{Problem, ReadOption};

/// Rows below which what is the same, or different, everywhere may be so by chance.
const ENOUGH: usize = 20;

/// Which column is what.
#[derive(Clone, Copy)]
pub(super) struct Roles {
    pub(super) item: usize,
    pub(super) annotator: Option<usize>,
    pub(super) label: usize,
    /// Whether the columns have our own names, and no others are there.
    pub(super) own: bool,
}

/// What speaks against the roles; nothing does where there is no problem.
pub(super) fn check(
    profile: &Profile,
    options: &ReadOptions,
    roles: Roles,
    free: impl Fn(usize) -> bool,
) -> Result<(), Problem> {
    let Roles { item, annotator, label, own } = roles;
    let other = |&c: &usize| c != item && c != label && Some(c) != annotator && free(c);
    let others: Vec<usize> = profile.all().filter(other).collect();
    rows_that_count(profile, &others, options)?;
    let item_said = options.item.is_some();
    let about_items = |doubt: String, remedy: &'static str| Problem::Doubt {
        doubt,
        options: &[ReadOption::Item, ReadOption::Rows, ReadOption::Label],
        remedy,
    };
    if let Some(who) = annotator {
        let again = profile.new_pairs(item, who) < 1.0;
        let varies = |&&c: &&usize| profile.varies_within(c, item);
        let column = |is: fn(&str) -> bool| {
            others
                .iter()
                .filter(varies)
                .copied()
                .find(|&c| is(profile.name(c)) && profile.distinct(c) > 1)
        };
        let few = |c: &usize| profile.distinct(*c) <= 30 && !profile.is_text(*c);
        let many = profile.rows >= ENOUGH;
        let asked = |c: &usize| few(c) && (again || many);
        if let Some(c) = column(names::question).filter(asked) {
            return Err(about_items(
                format!(
                    "{:?} differs within items: several questions are answered",
                    profile.name(c)
                ),
                "read one of them with `label` or `rows`; if it is no question, name the column of labels with `label`",
            ));
        }
        if again && let Some(c) = column(names::round) {
            return Err(about_items(
                format!(
                    "some annotators vote several times on an item, and {:?} differs: these may be several rounds",
                    profile.name(c)
                ),
                "read one of them with `rows`; to count all, name the column of labels with `label`",
            ));
        }
        let often = profile.new_pairs(item, who) < REPEATED;
        let restarts =
            |c: &usize| !item_said && !often && few(c) && profile.varying_share(*c, item) >= 0.5;
        if let Some(c) = column(names::group).filter(restarts) {
            return Err(about_items(
                format!(
                    "{:?} differs within items: ids may begin anew in each of them, and the items be others",
                    profile.name(c)
                ),
                "if so, make an item of both columns (`item = COLUMN,COLUMN`); if not, name the item with `item`",
            ));
        }
        let text = |c: &&usize| {
            !item_said
                && !often
                && profile.is_text(**c)
                && !names::about(profile.name(**c))
                && profile.varying_share(**c, item) >= 0.5
                && profile.varies_within(**c, who)
                && !profile.is_unique(**c)
        };
        if let Some(&c) = others.iter().find(text) {
            return Err(about_items(
                format!(
                    "{:?} differs within items: they may be several items each",
                    profile.name(c)
                ),
                "if so, name the column of items, or several (`item = COLUMN,COLUMN`); if not, name the item with `item`",
            ));
        }
    }
    let about_label = |doubt: String| Problem::Doubt {
        doubt,
        options: &[ReadOption::Label],
        remedy: "name the column of labels with `label`; if it is this one, name it too",
    };
    let name = profile.name(label);
    let twice = |&&c: &&usize| {
        (names::other_label(profile.name(c)) || names::other_label(name))
            && profile.alike(c, label)
            && profile.varies_within(c, item)
            && !profile.same_partition(c, label)
    };
    if let Some(&c) = others.iter().find(twice) {
        let other = profile.name(c);
        return Err(about_label(format!(
            "{name:?} and {other:?} hold labels of the same votes, before and after something"
        )));
    }
    match against_label(profile, &others, roles) {
        Some(doubt) if !own => Err(about_label(doubt)),
        _ => Ok(()),
    }
}

/// A column that says whether a row counts, where rows differ in it.
fn rows_that_count(
    profile: &Profile,
    others: &[usize],
    options: &ReadOptions,
) -> Result<(), Problem> {
    let state = |&&c: &&usize| names::state(profile.name(c)) && profile.differs(c);
    match others.iter().find(state).filter(|_| options.rows.is_none()) {
        None => Ok(()),
        Some(&c) => Err(Problem::Doubt {
            doubt: format!(
                "{:?} differs between rows: some of them may not be votes that count",
                profile.name(c)
            ),
            options: &[ReadOption::Rows, ReadOption::Ignore],
            remedy: "say which rows are read with `rows`; to count all, leave the column out with `ignore`",
        }),
    }
}

/// What the rows of items and of annotators say against a label.
fn against_label(profile: &Profile, others: &[usize], roles: Roles) -> Option<String> {
    let Roles { item, annotator, label, .. } = roles;
    let name = profile.name(label);
    // What tells rows of an item apart, where nobody is named: parts of the item, each with its label.
    let part = |&&c: &&usize| {
        let name = profile.name(c);
        let known = names::part(name) || is_place(name);
        profile.varies_within(c, item)
            && (known || profile.is_text(c) || !profile.is_unique(c))
            && (known || !names::about(name))
            && !names::count(name)
            && !names::derived(name)
    };
    let of_person = |who: usize| {
        profile.constant_within(label, who)
            && profile.varies_within(label, item)
            && profile.is_numeric(label)
    };
    if annotator.is_none()
        && let Some(&c) = others.iter().find(part)
    {
        return Some(format!(
            "no annotator is named, and {:?} differs between the rows of an item: they may be its parts, each with a \
             label, and no votes",
            profile.name(c)
        ));
    }
    if let Some(who) = annotator
        && profile.new_pairs(item, who) < REPEATED
        && (profile.rows >= ENOUGH
            || profile.new_tuples(&[item, who, label]) > profile.new_pairs(item, who))
        && others.iter().any(|&c| profile.varies_within(c, item))
    {
        return Some(
            "annotators vote several times on an item: these may be several questions, parts or rounds"
                .to_owned(),
        );
    }
    if profile.rows < ENOUGH {
        return None;
    }
    if let Some(who) = annotator.filter(|&who| profile.is_unique(who)) {
        return Some(format!(
            "every row has another annotator ({:?}): this is a table of annotators (one row per annotator), no votes",
            profile.name(who)
        ));
    }
    if annotator.is_none() && !profile.is_unique(item) && profile.new_pairs(item, label) == 1.0 {
        return Some(format!(
            "no annotator is named, and no item has a label of {name:?} twice: these may be several labels of one item \
             and no votes"
        ));
    }
    if profile.distinct(label) > 2 && profile.same_partition(label, item) {
        return Some(format!(
            "{name:?} has a value of its own for every item: it names the item and is no vote"
        ));
    }
    if profile.constant_within(label, item) {
        return Some(format!(
            "{name:?} is the same in all rows of every item: it belongs to the item and is no vote"
        ));
    }
    if annotator.is_some_and(of_person) {
        return Some(format!(
            "{name:?} is the same number in all rows of every annotator: it belongs to the annotator and is no vote"
        ));
    }
    let questions = profile.answers(item, annotator?);
    let questions: Vec<usize> = questions.into_iter().filter(|&c| c != label).collect();
    let (first, rest) = questions.split_first()?;
    let mut listed = format!("{:?}", profile.name(*first));
    for &c in rest {
        let _ = write!(listed, ", {:?}", profile.name(c));
    }
    Some(format!("several questions are answered, {name:?} and {listed}: they are not merged"))
}

/// Whether a name is one of a place within an item: a box, a span.
fn is_place(name: &str) -> bool {
    const PLACES: [&str; 14] = [
        "x", "y", "xmin", "ymin", "xmax", "ymax", "x1", "y1", "x2", "y2", "bbox", "left", "top",
        "offset",
    ];
    PLACES.contains(&names::plain(name).as_str())
}
