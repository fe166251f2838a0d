//! Which column of a table plays which role: named by the user, or guessed from known names.

use std::collections::HashSet;

use dissensus_core::plain_label;
use serde_json::Value;

use crate::names;
use crate::options::ReadOptions;
use crate::profile::Profile;
use dissensus_io::{Problem, ReadOption, shorten};
use dissensus_io::{Row, Table, cell_text};

/// What a column can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The id of what was voted on.
    Item,
    /// Who voted.
    Annotator,
    /// The class voted for.
    Label,
    /// How much the vote counts.
    Weight,
    /// What was voted on, in words.
    Text,
}

impl Role {
    /// Its name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Item => "item",
            Self::Annotator => "annotator",
            Self::Label => "label",
            Self::Weight => "weight",
            Self::Text => "text",
        }
    }

    /// What the user says about it.
    fn said(self, options: &ReadOptions) -> Option<&str> {
        let said = match self {
            Self::Item => &options.item,
            Self::Annotator => &options.annotator,
            Self::Label => &options.label,
            Self::Weight => &options.weight,
            Self::Text => &options.text,
        };
        said.as_deref()
    }

    /// How sure a name is for it, the lower the surer; `None` for one that is not known.
    fn known(self, name: &str) -> Option<usize> {
        const TEXTS: [&str; 10] = [
            "text",
            "sentence",
            "comment",
            "tweet",
            "content",
            "post",
            "message",
            "review",
            "utterance",
            "body",
        ];
        let place = |list: &[&str]| list.iter().position(|known| *known == names::plain(name));
        match self {
            Self::Item => names::item(name),
            Self::Annotator => names::annotator(name).then_some(0),
            Self::Label => names::label(name),
            Self::Weight => place(&["weight", "voteweight"]),
            Self::Text => place(&TEXTS),
        }
    }
}

/// The columns whose names are known for a role, the surest first.
fn candidates(columns: &[String], role: Role, taken: &[usize]) -> Vec<usize> {
    let known = |c: usize| Some((role.known(&columns[c])?, c)).filter(|_| !taken.contains(&c));
    let mut found: Vec<(usize, usize)> = (0..columns.len()).filter_map(known).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, c)| c).collect()
}

/// The field of a role by its known names: the surest of several names for items, the only one of others.
pub(super) fn guess(columns: &[String], role: Role) -> Option<usize> {
    match candidates(columns, role, &[]).as_slice() {
        [only] => Some(*only),
        [first, ..] if role == Role::Item => Some(*first),
        _ => None,
    }
}

/// The column of a role by its known names. Of several, those stay that the data do not speak against; where
/// they do not say the same of every row, the user must choose.
fn guess_among(table: &Table, role: Role, taken: &[usize]) -> Result<Option<usize>, Problem> {
    let mut found = candidates(&table.columns, role, taken);
    if found.len() < 2 || matches!(role, Role::Weight | Role::Text) {
        return Ok(found.first().copied());
    }
    let profile = Profile::of(&table.columns, table.sample.iter());
    let people = found.clone();
    let mut prefer = |keep: &dyn Fn(usize) -> bool| {
        if found.iter().any(|&c| keep(c)) {
            found.retain(|&c| keep(c));
        }
    };
    let expected = match role {
        Role::Item => {
            prefer(&|c| profile.distinct(c) > 1);
            // Where people vote, a row is a vote and its own number no item; else a row is an item.
            let votes = !candidates(&table.columns, Role::Annotator, taken).is_empty();
            prefer(&|c| profile.is_unique(c) != votes);
            // Nobody votes on the same item again and again: that is what holds several items.
            if let Some(&who) = candidates(&table.columns, Role::Annotator, taken).first() {
                prefer(&|c| profile.distinct_pairs(c, who) * 50 >= profile.filled(who) * 49);
            }
            "one column of items"
        }
        Role::Annotator => {
            prefer(&|c| profile.distinct(c) > 1);
            // Somebody who is not logged in may have a name and no id.
            let most = people.iter().map(|&c| profile.filled(c)).max().unwrap_or(0);
            prefer(&|c| profile.filled(c) == most);
            "one column of annotators"
        }
        _ => {
            prefer(&|c| profile.distinct(c) > 1 && !profile.is_text(c));
            if let Some(item) = guess_among(table, Role::Item, taken)? {
                prefer(&|c| !profile.constant_within(c, item));
            }
            "one column of labels"
        }
    };
    let found = found;
    if found[1..].iter().all(|&c| profile.same_partition(found[0], c)) {
        return Ok(Some(found[0]));
    }
    let option = match role {
        Role::Item => ReadOption::Item,
        Role::Annotator => ReadOption::Annotator,
        _ => ReadOption::Label,
    };
    let found = found.iter().map(|&c| table.columns[c].clone()).collect();
    Err(Problem::Choice { expected, found, option })
}

/// The column that the user named: a name, or `#2` for the second.
pub(crate) fn named(columns: &[String], name: &str) -> Option<usize> {
    let number = || name.strip_prefix('#')?.parse::<usize>().ok()?.checked_sub(1);
    let by_name = columns.iter().position(|c| c == name);
    by_name.or_else(|| number().filter(|&i| i < columns.len()))
}

/// The column of a role: as the user says, else guessed.
pub(super) fn find(
    table: &Table,
    role: Role,
    options: &ReadOptions,
) -> Result<Option<usize>, Problem> {
    match role.said(options) {
        None => {
            // A column that the user gives another role is not guessed to have this one.
            let roles = [Role::Item, Role::Annotator, Role::Label, Role::Weight];
            let roles = if role == Role::Text { &[] } else { &roles[..] };
            let said = roles.iter().filter_map(|role| named(&table.columns, role.said(options)?));
            let taken: Vec<usize> = ignored(table, options)?.into_iter().chain(said).collect();
            guess_among(table, role, &taken)
        }
        Some(name) => match named(&table.columns, name) {
            Some(column) => Ok(Some(column)),
            None => Err(no_such_column(table, name)),
        },
    }
}

fn no_such_column(table: &Table, name: &str) -> Problem {
    Problem::NoSuchColumn { name: shorten(name), columns: table.columns.join(", ") }
}

/// The columns that names and patterns mean, in the order of the table. Each must mean one.
pub(super) fn matching(table: &Table, patterns: &[String]) -> Result<Vec<usize>, Problem> {
    let mut found = Vec::new();
    for pattern in patterns {
        let before = found.len();
        match named(&table.columns, pattern) {
            Some(column) => found.push(column),
            None => {
                found.extend((0..table.columns.len()).filter(|&c| {
                    pattern.contains(['*', '?']) && matches(pattern, &table.columns[c])
                }))
            }
        }
        if found.len() == before {
            return Err(no_such_column(table, pattern));
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Whether a text fits a pattern, in which `*` stands for any characters and `?` for one.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where the last star stands, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (p, t) = (*at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// The columns that the user leaves out.
pub(super) fn ignored(table: &Table, options: &ReadOptions) -> Result<Vec<usize>, Problem> {
    options.ignore.as_ref().map_or(Ok(Vec::new()), |patterns| matching(table, patterns))
}

/// The column of texts, where texts are wanted; none of those that `votes` are in.
pub(super) fn text(
    table: &Table,
    options: &ReadOptions,
    votes: &[Option<usize>],
) -> Result<Option<usize>, Problem> {
    if !options.texts && options.text.is_none() {
        return Ok(None);
    }
    let found = find(table, Role::Text, options)?;
    Ok(found.filter(|column| !votes.contains(&Some(*column))))
}

/// The column of texts in a format that always carries them: the one that the user names, or `text`.
pub(super) fn own_text(table: &Table, options: &ReadOptions) -> Result<Option<usize>, Problem> {
    match &options.text {
        Some(_) => find(table, Role::Text, options),
        None => Ok(table.column("text")),
    }
}

/// The error for a role without a column.
pub(super) fn no_column(table: &Table, role: Role) -> Problem {
    Problem::NoColumn { role: role.name(), columns: table.columns.join(", ") }
}

/// Whether a cell is a number or the text of one.
pub(super) fn number(cell: &Value) -> Option<f64> {
    match cell {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The different values of a column in the first rows, as labels are compared; missing ones left
/// out.
pub(super) fn values(table: &Table, column: usize) -> HashSet<String> {
    let text = |row: &Row| cell_text(row.cell(column));
    let texts = table.sample.iter().filter_map(text);
    let plain = texts.map(|text| plain_label(&text).into_owned());
    plain.filter(|text| !text.is_empty() && text != "NaN").collect()
}

/// Whether a column holds sentences: a text is never a vote.
pub(super) fn is_text(table: &Table, column: usize) -> bool {
    let texts: Vec<String> =
        table.sample.iter().filter_map(|row| cell_text(row.cell(column))).collect();
    let words: usize = texts.iter().map(|text| text.split_whitespace().count()).sum();
    let letters: usize = texts.iter().map(|text| text.chars().count()).sum();
    let different: HashSet<&String> = texts.iter().collect();
    // A few long names of classes come again and again.
    !texts.is_empty()
        && (words > 4 * texts.len() || letters > 40 * texts.len())
        && different.len() * 2 > texts.len()
}

/// Whether a name reads like a person's: `w12`, `worker_3`, `Ann1`, or an id of Mechanical Turk.
pub(crate) fn like_person(name: &str) -> bool {
    const WORDS: [&str; 11] = [
        "w",
        "worker",
        "user",
        "ann",
        "annotator",
        "rater",
        "labeler",
        "coder",
        "participant",
        "judge",
        "expert",
    ];
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let word = word.trim_end_matches(['_', '-', ' ']).to_ascii_lowercase();
    let turk = name.len() >= 12
        && name.starts_with('A')
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && name.bytes().any(|b| b.is_ascii_digit());
    turk || (word.len() < name.len() && WORDS.contains(&word.as_str()))
}

/// Whether the first rows name people in a column.
pub(super) fn holds_people(table: &Table, column: usize) -> bool {
    let values = values(table, column);
    !values.is_empty() && values.iter().all(|value| like_person(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_in_any_spelling() {
        let columns: Vec<String> =
            ["Worker ID", "task_id", "id", "Label"].iter().map(ToString::to_string).collect();
        assert_eq!(guess(&columns, Role::Item), Some(1));
        assert_eq!(guess(&columns, Role::Annotator), Some(0));
        assert_eq!(guess(&columns, Role::Label), Some(3));
        assert_eq!(guess(&columns, Role::Weight), None);
        assert_eq!(named(&columns, "#2"), Some(1));
        assert_eq!(named(&columns, "#9"), None);
        assert_eq!(named(&columns, "id"), Some(2));
    }

    #[test]
    fn patterns() {
        let fits =
            [("label_*", "label_12"), ("*", ""), ("a?c*", "abcd"), ("*_x", "a_x_x"), ("a", "a")];
        assert!(fits.iter().all(|(pattern, text)| matches(pattern, text)));
        let others = [("label_*", "labels"), ("a?", "a"), ("*_x", "a_xy"), ("", "a")];
        assert!(others.iter().all(|(pattern, text)| !matches(pattern, text)));
    }

    #[test]
    fn people_are_told_by_their_names() {
        assert!(["w12", "Worker_3", "A2KX9PLM41ZT0"].iter().all(|name| like_person(name)));
        assert!(["12", "img_3", "word", "ABERDEENSHIRE"].iter().all(|name| !like_person(name)));
    }
}
