//! Names of classes beside predictions: `id2label` and `label2id` of Transformers.

use dissensus_io::cell_text;
use serde_json::Value;

/// The names in settings that hold `id2label` or `label2id`, themselves or under `config`.
pub(crate) fn in_settings(settings: &Value) -> Option<Vec<String>> {
    let settings = [Some(settings), settings.get("config")];
    settings.into_iter().flatten().find_map(|settings| {
        let numbers = settings.get("label2id").and_then(by_name);
        settings.get("id2label").and_then(by_number).or(numbers)
    })
}

/// `{"0": "no", "1": "yes"}` or `["no", "yes"]`
fn by_number(names: &Value) -> Option<Vec<String>> {
    match names {
        Value::Array(list) => list.iter().map(cell_text).collect(),
        Value::Object(map) => {
            (0..map.len()).map(|number| map.get(&number.to_string()).and_then(cell_text)).collect()
        }
        _ => None,
    }
}

/// `{"no": 0, "yes": 1}`
fn by_name(numbers: &Value) -> Option<Vec<String>> {
    let numbers = numbers.as_object()?;
    let name = |at: usize| {
        let (name, _) = numbers.iter().find(|(_, n)| n.as_u64() == Some(at as u64))?;
        Some(name.clone())
    };
    (0..numbers.len()).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        let names = |text: &str| in_settings(&serde_json::from_str(text).unwrap());
        let wanted = Some(vec!["no".to_owned(), "yes".to_owned()]);
        for text in [
            r#"{"id2label": {"1": "yes", "0": "no"}}"#,
            r#"{"config": {"label2id": {"yes": 1, "no": 0}}}"#,
            r#"{"id2label": ["no", "yes"], "label2id": {"yes": 0, "no": 1}}"#,
        ] {
            assert_eq!(names(text), wanted, "{text}");
        }
        for text in [r#"{"id2label": {"1": "yes", "2": "no"}}"#, r#"{"labels": ["no", "yes"]}"#] {
            assert_eq!(names(text), None, "{text}");
        }
    }
}
