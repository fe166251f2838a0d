//! The texts of known datasets: what people read before they voted, by item.
//!
//! | dataset | texts of an item |
//! |---|---|
//! | `chaosnli`, `chaosnli-snli`, `chaosnli-mnli` | premise, hypothesis |
//! | `chaosnli-alphanli` | first observation, two hypotheses, second observation |
//! | others whose files carry texts (`popquorn`) | one |

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::votes::{Part, parts};
use crate::error::{InputError, listed};

/// The texts of every item of a set of votes ([`votes`](super::votes())), with the items' ids, in
/// the order of the votes. Every item has as many as the first, and none is empty.
pub fn texts(name: &str, cache_dir: &Path) -> Result<Vec<(String, Vec<String>)>, InputError> {
    let mut items = Vec::new();
    for part in &parts(name, cache_dir)? {
        let mut found = match part.reading.format.name {
            "chaosnli" => chaosnli(&part.path)?,
            _ => single(part),
        };
        for id in part.reading.table.items().iter() {
            items.push((part.id(id), found.remove(id).unwrap_or_default()));
        }
    }
    complete(name, &items)?;
    Ok(items)
}

/// The texts that the reader of votes came by.
fn single(part: &Part) -> HashMap<String, Vec<String>> {
    part.reading.texts.iter().map(|(id, text)| (id.clone(), vec![text.clone()])).collect()
}

#[derive(Deserialize)]
struct Line {
    uid: String,
    example: Example,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Example {
    Pair { premise: String, hypothesis: String },
    Story { obs1: String, hyp1: String, hyp2: String, obs2: String },
}

/// The reader of votes gives the texts of an item as one, to look at; here they stay apart.
fn chaosnli(path: &Path) -> Result<HashMap<String, Vec<String>>, InputError> {
    let text = std::fs::read_to_string(path).map_err(|error| InputError::io(path, error))?;
    let mut texts = HashMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let Line { uid, example } =
            serde_json::from_str(line).map_err(|error| InputError::Dataset {
                name: "chaosnli",
                file: path.display().to_string(),
                expected: "an example with its texts in every line",
                found: format!("line {}: {error}", at + 1),
            })?;
        let example = match example {
            Example::Pair { premise, hypothesis } => vec![premise, hypothesis],
            Example::Story { obs1, hyp1, hyp2, obs2 } => vec![obs1, hyp1, hyp2, obs2],
        };
        texts.insert(uid, example);
    }
    Ok(texts)
}

fn complete(name: &str, items: &[(String, Vec<String>)]) -> Result<(), InputError> {
    let expected = items.iter().map(|(_, texts)| texts.len()).max().unwrap_or(0).max(1);
    let lacks = |texts: &[String]| {
        texts.len() != expected || texts.iter().any(|text| text.trim().is_empty())
    };
    let missing: Vec<&str> =
        items.iter().filter(|item| lacks(&item.1)).map(|item| item.0.as_str()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(InputError::WithoutTexts {
        name: name.to_owned(),
        missing: missing.len(),
        of: items.len(),
        ids: listed(&missing),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_without_text_is_named() {
        let item = |id: &str, texts: &[&str]| {
            (id.to_owned(), texts.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let good = [item("a", &["P.", "H."]), item("b", &["P.", "I."])];
        assert!(complete("made-up", &good).is_ok());
        let bad = [item("a", &["P.", "H."]), item("b", &["P."]), item("c", &["P.", " "])];
        assert_eq!(
            complete("made-up", &bad).unwrap_err().to_string(),
            "2 of the 3 items of 'made-up' have no text, or not all of theirs: b, c"
        );
        assert!(complete("made-up", &[item("a", &[])]).is_err(), "no texts at all");
    }

    #[test]
    fn texts_stay_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let lines = r#"{"uid": "a", "example": {"premise": "P ⟶ Q.", "hypothesis": "H."}}
{"uid": "b", "example": {"obs1": "1", "hyp1": "2", "hyp2": "3", "obs2": "4"}}
"#;
        std::fs::write(&path, lines).unwrap();
        let texts = chaosnli(&path).unwrap();
        assert_eq!(texts["a"], ["P ⟶ Q.", "H."]);
        assert_eq!(texts["b"], ["1", "2", "3", "4"]);
        std::fs::write(&path, lines.replace("hypothesis", "h")).unwrap();
        let message = chaosnli(&path).unwrap_err().to_string();
        assert!(
            message.contains("line 1") && message.contains("the dataset 'chaosnli' again"),
            "{message}"
        );
    }
}
