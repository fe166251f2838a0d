//! Which column of a table plays which role: named by the user, or guessed from known names.

use serde_json::Value;

use crate::options::ReadOptions;
use dissensus_io::Table;
use dissensus_io::{Problem, shorten};

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
    let plain: Vec<String> = columns.iter().map(|c| plain(c)).collect();
    role.known().iter().find_map(|known| plain.iter().position(|p| p == known))
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
    said: Option<&str>,
) -> Result<Option<usize>, Problem> {
    match said {
        None => Ok(guess(&table.columns, role)),
        Some(name) => match named(&table.columns, name) {
            Some(column) => Ok(Some(column)),
            None => Err(Problem::NoSuchColumn {
                name: shorten(name),
                columns: table.columns.join(", "),
            }),
        },
    }
}

/// The column of texts, where texts are wanted; none of those that `votes` are in.
pub(super) fn text(
    table: &Table,
    options: &ReadOptions,
    votes: &[Option<usize>],
) -> Result<Option<usize>, Problem> {
    if !options.texts {
        return Ok(None);
    }
    let found = find(table, Role::Text, options.text.as_deref())?;
    Ok(found.filter(|column| !votes.contains(&Some(*column))))
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
}
