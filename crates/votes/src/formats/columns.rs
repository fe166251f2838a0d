//! Which column of a table plays which role: named by the user, or guessed from known names.

use std::cmp::Reverse;
use std::collections::HashSet;

use dissensus_core::plain_label;
use serde_json::Value;

use crate::options::ReadOptions;
use dissensus_io::{Problem, shorten};
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

    /// Names that such a column goes by, the surest first; compared without case, `_`, `-`, space.
    fn known(self) -> &'static [&'static str] {
        match self {
            Self::Item => &[
                "item",
                "itemid",
                "task",
                "taskid",
                "instanceid",
                "instance",
                "exampleid",
                "example",
                "uid",
                "sampleid",
                "sample",
                "questionid",
                "question",
                "imageid",
                "image",
                "docid",
                "document",
                "documentid",
                "textid",
                "unitid",
                "unit",
                "subject",
                "hitid",
                "pairid",
                "commentid",
                "tweetid",
                "postid",
                "rowid",
                "id",
            ],
            Self::Annotator => &[
                "annotator",
                "annotatorid",
                "worker",
                "workerid",
                "user",
                "userid",
                "rater",
                "raterid",
                "labeler",
                "labelerid",
                "labeller",
                "coder",
                "coderid",
                "judge",
                "judgeid",
                "participant",
                "participantid",
                "reviewer",
                "expert",
                "username",
                "performer",
                "performerid",
            ],
            Self::Label => &[
                "label",
                "annotation",
                "answer",
                "vote",
                "class",
                "category",
                "rating",
                "response",
                "choice",
                "judgment",
                "judgement",
                "verdict",
                "score",
                "value",
            ],
            Self::Weight => &["weight", "voteweight"],
            Self::Text => &[
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
            ],
        }
    }
}

fn plain(name: &str) -> String {
    let kept = name.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.'));
    kept.flat_map(char::to_lowercase).collect()
}

/// The column of a role by its known names.
pub(super) fn guess(columns: &[String], role: Role) -> Option<usize> {
    guess_among(columns, role, &[])
}

fn guess_among(columns: &[String], role: Role, ignored: &[usize]) -> Option<usize> {
    let plain: Vec<String> = columns.iter().map(|c| plain(c)).collect();
    let fits = |known: &str| (0..plain.len()).find(|c| plain[*c] == known && !ignored.contains(c));
    role.known().iter().find_map(|known| fits(known))
}

/// The column that the user named: a name, or `#2` for the second.
pub(super) fn named(columns: &[String], name: &str) -> Option<usize> {
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
            Ok(guess_among(&table.columns, role, &taken))
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

/// The same with what the columns may be.
pub(super) fn no_role(table: &Table, role: Role) -> Problem {
    let columns = table.columns.join(", ");
    let columns = match propose(table) {
        Some(proposal) => format!("{columns}; {proposal}"),
        None => columns,
    };
    Problem::NoColumn { role: role.name(), columns }
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
pub(super) fn like_person(name: &str) -> bool {
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

/// What the columns of a table without telling names may be, with the reasons.
pub(super) fn propose(table: &Table) -> Option<String> {
    let columns: Vec<(usize, HashSet<String>)> = (0..table.columns.len())
        .filter(|&c| !is_text(table, c))
        .map(|c| (c, values(table, c)))
        .filter(|(_, values)| values.len() > 1)
        .collect();
    if let Some(answers) = same_answers(table, &columns) {
        return Some(answers);
    }
    let fraction = |value: &String| value.parse::<f64>().is_ok_and(|v| v.fract() != 0.0);
    let labels =
        columns.iter().filter(|(_, values)| values.len() <= 30 && !values.iter().any(fraction));
    // The last of several: labels stand behind what they are about.
    let (label, classes) = labels.min_by_key(|(c, values)| (values.len(), Reverse(*c)))?;
    let mut rest: Vec<&(usize, HashSet<String>)> =
        columns.iter().filter(|(c, _)| c != label).collect();
    // People first, then by how many different values there are: most are items.
    rest.sort_by_cached_key(|(c, values)| (!holds_people(table, *c), values.len()));
    let name = |column: usize| &table.columns[column];
    let label = format!("{:?} the label ({} values)", name(*label), classes.len());
    match rest.as_slice() {
        [] => None,
        [(item, ids)] => Some(format!(
            "perhaps {:?} is the item ({} values) and {label}",
            name(*item),
            ids.len()
        )),
        [(who, people), .., (item, ids)] => Some(format!(
            "perhaps {:?} is the item ({} values), {:?} the annotator ({} values) and {label}",
            name(*item),
            ids.len(),
            name(*who),
            people.len(),
        )),
    }
}

/// Two or more columns with the same few values, each of them repeated: the answers of one annotator
/// per column.
fn same_answers(table: &Table, columns: &[(usize, HashSet<String>)]) -> Option<String> {
    let few = |values: &HashSet<String>| values.len() * 2 <= table.sample.len() + 1;
    let alike = |values: &HashSet<String>| {
        columns.iter().filter(|(_, other)| few(other) && other == values).count()
    };
    let (_, answers) = columns.iter().filter(|(_, v)| few(v)).max_by_key(|(_, v)| alike(v))?;
    let number = |value: &String| value.parse::<f64>().is_ok();
    if alike(answers) < 2 || answers.iter().all(number) {
        return None;
    }
    let names = columns
        .iter()
        .filter(|(_, v)| v.is_subset(answers))
        .map(|(c, _)| format!("{:?}", table.columns[*c]));
    let names = names.collect::<Vec<_>>().join(", ");
    Some(format!(
        "perhaps {names} are annotators and hold their labels (the same {} values)",
        answers.len()
    ))
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
