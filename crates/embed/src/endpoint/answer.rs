//! The answer to a request, checked.

use serde::Deserialize;

use super::http::said;

#[derive(Deserialize)]
struct Answer {
    data: Vec<Row>,
    model: Option<String>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Row {
    index: Option<usize>,
    embedding: Vec<f64>,
}

#[derive(Deserialize)]
struct Usage {
    total_tokens: Option<u64>,
    prompt_tokens: Option<u64>,
}

/// Vectors in the order of the texts.
#[derive(Debug, PartialEq)]
pub(super) struct Vectors {
    pub(super) width: usize,
    pub(super) values: Vec<f32>,
    /// What the server counted, where it says so.
    pub(super) tokens: Option<u64>,
}

/// Why an answer does not do.
#[derive(Debug, PartialEq)]
pub(super) enum Wrong {
    /// It ends too early: another try may bring the rest.
    CutOff,
    /// It is not what was asked for: what was expected, and what came.
    Not(String),
}

/// Reads the answer of a model to a request of so many texts. `width` is what is known of the vectors.
pub(super) fn read(
    body: &[u8],
    model: &str,
    texts: usize,
    width: Option<usize>,
) -> Result<Vectors, Wrong> {
    let not = |problem: String| Err(Wrong::Not(problem));
    let answer: Answer = match serde_json::from_slice(body) {
        Ok(answer) => answer,
        Err(error) if error.is_eof() => return Err(Wrong::CutOff),
        Err(error) => {
            let words = said(body);
            let found =
                if error.is_data() && !words.is_empty() { words } else { error.to_string() };
            return not(format!("expected vectors as JSON, found: {found}"));
        }
    };
    if let Some(found) = answer.model.as_deref().filter(|found| !is_same_model(model, found)) {
        return not(format!("expected vectors of the model {model:?}, found those of {found:?}"));
    }
    if answer.data.len() != texts {
        return not(format!("expected {texts} vectors, found {}", answer.data.len()));
    }
    let mut rows: Vec<Option<Vec<f64>>> = vec![None; texts];
    for (at, row) in answer.data.into_iter().enumerate() {
        // A server that leaves out all indices keeps the order; one that leaves out some collides.
        let index = row.index.unwrap_or(at);
        match rows.get_mut(index) {
            Some(place @ None) => *place = Some(row.embedding),
            Some(Some(_)) => return not(format!("found index {index} twice")),
            None => return not(format!("found index {index} in an answer to {texts} texts")),
        }
    }
    let width = width.or_else(|| rows.first()?.as_ref().map(Vec::len)).unwrap_or(0);
    let mut values = Vec::with_capacity(width * texts);
    for (index, row) in rows.into_iter().flatten().enumerate() {
        if row.len() != width || width == 0 {
            let found = row.len();
            return not(format!("expected vectors of {width} numbers, number {index} has {found}"));
        }
        if let Some(value) = row.iter().find(|value| !(**value as f32).is_finite()) {
            return not(format!("vector {index} holds {value:e}, which is not a finite f32"));
        }
        if row.iter().all(|value| *value as f32 == 0.0) {
            return not(format!("vector {index} is all zeros"));
        }
        values.extend(row.iter().map(|&value| value as f32));
    }
    let tokens = answer.usage.and_then(|usage| usage.total_tokens.or(usage.prompt_tokens));
    Ok(Vectors { width, values, tokens })
}

/// Whether both name one model. A server may leave out its owner, and add or leave out its version, as in
/// `small` and `owner/small-v2`.
fn is_same_model(asked: &str, found: &str) -> bool {
    let plain = |name: &str| {
        let name = name.trim().trim_end_matches('/').to_lowercase();
        name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
    };
    let (asked, found) = (plain(asked), plain(found));
    let is_version = |rest: &str| {
        let number =
            rest.strip_prefix(['-', '@', '.', '_']).map(|rest| rest.trim_start_matches('v'));
        rest.is_empty()
            || rest.starts_with(':')
            || number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let longer = |long: &str, short: &str| long.strip_prefix(short).is_some_and(is_version);
    longer(&found, &asked) || longer(&asked, &found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"data": [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1.5, -2]}], "usage": {"prompt_tokens": 7, "total_tokens": 9}}"#;

    fn wrong(text: &str) -> String {
        match read(text.as_bytes(), "small", 2, None).unwrap_err() {
            Wrong::CutOff => "cut off".to_owned(),
            Wrong::Not(problem) => problem,
        }
    }

    #[test]
    fn vectors_come_by_index() {
        let vectors = read(GOOD.as_bytes(), "small", 2, None).unwrap();
        assert_eq!(vectors.values, [1.5, -2.0, 3.0, 4.0]);
        assert_eq!((vectors.width, vectors.tokens), (2, Some(9)));
        let plain = r#"{"data": [{"embedding": [1]}, {"embedding": [2]}]}"#;
        let vectors = read(plain.as_bytes(), "small", 2, None).unwrap();
        assert_eq!((vectors.values, vectors.tokens), (vec![1.0, 2.0], None));
    }

    #[test]
    fn the_model_is_the_one_that_was_asked() {
        let same =
            ["small", "small-1", "Small-v2", "owner/small", "small:latest", "small-2024-02-15"];
        assert!(same.iter().all(|found| is_same_model("small", found)));
        assert!(same.iter().all(|asked| is_same_model(asked, "small")));
        let other = ["large", "small-large", "smaller", "text-small", "small-en"];
        assert!(!other.iter().any(|found| is_same_model("small", found)));
        let answered = |model: &str| {
            wrong(&GOOD.replace("{\"data\"", &format!("{{\"model\": {model:?}, \"data\"")))
        };
        let wanted = "expected vectors of the model \"small\", found those of \"large\"";
        assert_eq!(answered("large"), wanted);
    }

    #[test]
    fn what_does_not_do_is_said() {
        assert_eq!(wrong(&GOOD.replace("[3, 4]", "[0, -0.0]")), "vector 1 is all zeros");
        assert_eq!(wrong(&GOOD[..GOOD.len() - 9]), "cut off");
        assert_eq!(wrong(""), "cut off");
        assert!(wrong("busy").contains("expected vectors as JSON"));
        assert!(wrong(r#"{"error": {"message": "no such model"}}"#).ends_with("no such model"));
        assert!(wrong(&GOOD.replace("[3, 4]", "[3, NaN]")).contains("expected vectors as JSON"));
        assert!(wrong(&GOOD.replace("[3, 4]", "[3, \"4\"]")).contains("invalid type: string"));
        assert!(wrong(&GOOD.replace("[3, 4]", "\"AABB\"")).contains("invalid type: string"));
        assert!(wrong(&GOOD.replace("[3, 4]", "[3, null]")).contains("invalid type: null"));
        assert!(wrong(&GOOD.replace("[3, 4]", "[3, 1e39]")).contains("not a finite f32"));
        assert!(wrong(&GOOD.replace("[3, 4]", "[3, 1e999]")).contains("expected vectors as JSON"));
        assert_eq!(
            wrong(&GOOD.replace("[3, 4]", "[3]")),
            "expected vectors of 2 numbers, number 1 has 1"
        );
        let empty = GOOD.replace("[3, 4]", "[]").replace("[1.5, -2]", "[]");
        assert!(wrong(&empty).contains("vectors of 0 numbers"));
        assert_eq!(wrong(&GOOD.replace("\"index\": 1", "\"index\": 0")), "found index 0 twice");
        assert!(wrong(&GOOD.replace("\"index\": 1", "\"index\": 2")).contains("found index 2 in"));
        let three = read(GOOD.as_bytes(), "small", 3, None).unwrap_err();
        assert_eq!(three, Wrong::Not("expected 3 vectors, found 2".into()));
        let wide = read(GOOD.as_bytes(), "small", 2, Some(3)).unwrap_err();
        assert_eq!(wide, Wrong::Not("expected vectors of 3 numbers, number 0 has 2".into()));
    }
}
