//! Python's lists as text: what `str(list)` leaves in the cell of a CSV file.
//!
//! Only values are understood: numbers, texts in either quote, `None`, `nan`, `True`, `False`, and
//! lists or tuples of them; JSON's spellings (`null`, `true`, `NaN`) too. Nothing is evaluated.
//! Two values without a comma between them (numpy's `[1. 2.]`) are an error: Python itself would
//! join two texts that stand like that into one.

use serde_json::Value;

use crate::error::{Problem, shorten};

/// Lists within lists within lists are no votes.
const DEEPEST: usize = 8;

/// The entries of a list; missing ones (`None`, `nan`) are `Null`.
pub fn list(text: &str) -> Result<Vec<Value>, Problem> {
    // JSON's lists are read as JSON: its escapes differ in details.
    if let Ok(Value::Array(list)) = crate::json::parse(text.as_bytes()) {
        return Ok(list);
    }
    let mut parser = Parser { text, at: 0 };
    let parsed = parser.space().value(0);
    match parsed {
        Some(Value::Array(list)) if parser.space().rest().is_empty() => Ok(list),
        _ => Err(Problem::Shape {
            expected: "a list such as [1, 2] or ['a', 'b']",
            found: format!("{:?} (from character {})", shorten(text), parser.characters() + 1),
        }),
    }
}

/// The entries of a dictionary or of a `Counter`; nothing where the text is none.
pub fn dictionary(text: &str) -> Option<Vec<(Value, Value)>> {
    if let Ok(Value::Object(map)) = crate::json::parse(text.as_bytes()) {
        return Some(map.into_iter().map(|(key, value)| (Value::String(key), value)).collect());
    }
    let inner =
        ["Counter(", "OrderedDict(", "dict("].iter().find_map(|start| text.strip_prefix(start));
    let text = match inner {
        Some(inner) => inner.strip_suffix(')')?,
        None => text,
    };
    let mut parser = Parser { text, at: 0 };
    let mut entries = Vec::new();
    if !parser.space().eat('{') {
        return None;
    }
    while !parser.space().eat('}') {
        let key = parser.value(1)?;
        if !parser.space().eat(':') {
            return None;
        }
        entries.push((key, parser.space().value(1)?));
        if !parser.space().eat(',') && !parser.rest().starts_with('}') {
            return None;
        }
    }
    parser.space().rest().is_empty().then_some(entries)
}

/// The entries of an array as numpy prints it, without commas: `[0 1 1]`, `['a' 'b']`.
pub fn printed_array(text: &str) -> Option<Vec<Value>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?.trim();
    if inner.contains([',', '[', ']']) || inner.is_empty() {
        return None;
    }
    let mut parser = Parser { text: inner, at: 0 };
    let quoted = inner.starts_with(['\'', '"']);
    let mut entries = Vec::new();
    while !parser.space().rest().is_empty() {
        let value = parser.value(DEEPEST)?;
        let apart = parser.rest().is_empty() || parser.rest().starts_with(char::is_whitespace);
        if !apart || value.is_string() != quoted {
            return None;
        }
        entries.push(value);
    }
    Some(entries)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Characters read so far.
    fn characters(&self) -> usize {
        self.text[..self.at].chars().count()
    }

    fn space(&mut self) -> &mut Self {
        self.at = self.text.len() - self.rest().trim_start().len();
        self
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        match self.rest().chars().next()? {
            '[' if depth < DEEPEST => self.entries('[', ']', depth),
            '(' if depth < DEEPEST => self.entries('(', ')', depth),
            quote @ ('\'' | '"') => self.quoted(quote).map(Value::String),
            _ => self.word(),
        }
    }

    fn entries(&mut self, open: char, close: char, depth: usize) -> Option<Value> {
        let mut list = Vec::new();
        self.eat(open);
        loop {
            if self.space().eat(close) {
                return Some(Value::Array(list));
            }
            list.push(self.value(depth + 1)?);
            if !self.space().eat(',') {
                return self.eat(close).then_some(Value::Array(list));
            }
        }
    }

    fn quoted(&mut self, quote: char) -> Option<String> {
        self.eat(quote);
        let mut text = String::new();
        let start = self.at;
        let mut characters = self.rest().char_indices();
        while let Some((offset, character)) = characters.next() {
            match character {
                _ if character == quote => {
                    self.at = start + offset + quote.len_utf8();
                    return Some(text);
                }
                '\\' => text.push(escaped(&mut characters)?),
                _ => text.push(character),
            }
        }
        None
    }

    /// A number or a name, up to the next comma, bracket or space.
    fn word(&mut self) -> Option<Value> {
        let ends =
            |c: char| c.is_whitespace() || matches!(c, ',' | ']' | ')' | '[' | '(' | ':' | '}');
        let word = self.rest().split(ends).next()?;
        let value = match word {
            "None" | "nan" | "NaN" | "null" => Value::Null,
            "True" | "true" => true.into(),
            "False" | "false" => false.into(),
            _ => match word.parse::<i64>() {
                Ok(whole) => whole.into(),
                // Infinities have no place in JSON and none among labels.
                Err(_) => serde_json::Number::from_f64(word.parse().ok()?)?.into(),
            },
        };
        self.at += word.len();
        Some(value)
    }
}

/// The character behind a backslash.
fn escaped(characters: &mut std::str::CharIndices<'_>) -> Option<char> {
    let digits = match characters.next()?.1 {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        same @ ('\\' | '\'' | '"' | '/') => return Some(same),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let mut code = 0u32;
    for _ in 0..digits {
        code = code.checked_mul(16)?.checked_add(characters.next()?.1.to_digit(16)?)?;
    }
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn lists_as_python_writes_them() {
        let cases = [
            ("[]", json!([])),
            ("[3.0, 4, -1e3]", json!([3.0, 4, -1000.0])),
            (
                "['a', \"it's\", 'say \\'x\\'', '\\u00e9\\n']",
                json!(["a", "it's", "say 'x'", "é\n"]),
            ),
            ("[None, nan, True, False]", json!([null, null, true, false])),
            (" [ ('a', 'b'), ['c'], [] ] ", json!([["a", "b"], ["c"], []])),
            ("['x',]", json!(["x"])),
            ("[\"a\", null, \"\\ud83d\\ude00\"]", json!(["a", null, "😀"])),
        ];
        for (text, wanted) in cases {
            assert_eq!(Value::Array(list(text).unwrap()), wanted, "{text}");
        }
    }

    #[test]
    fn anything_else_is_named() {
        let cases = [
            ("", 1),
            ("3", 2),
            ("[1, 2", 6),
            ("[1. 2.]", 5),
            ("['a' 'b']", 6),
            ("['a", 3),
            ("[x]", 2),
            ("[inf]", 2),
            ("[1] [2]", 5),
            ("[__import__('os')]", 2),
            ("['\\q']", 3),
        ];
        for (text, character) in cases {
            let error = list(text).unwrap_err().to_string();
            let wanted = format!(
                "expected a list such as [1, 2] or ['a', 'b'], found {text:?} (from character {character})"
            );
            assert_eq!(error, wanted);
        }
        assert!(list(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn dictionaries_and_printed_arrays() {
        let pair = |key: &str, n: i64| (Value::from(key), Value::from(n));
        for text in [
            "{'a': 2, \"b\": 1}",
            "Counter({'a': 2, 'b': 1})",
            "{\"a\": 2, \"b\": 1}",
            "{'a':2,'b':1,}",
        ] {
            assert_eq!(dictionary(text), Some(vec![pair("a", 2), pair("b", 1)]), "{text}");
        }
        assert_eq!(dictionary("{}"), Some(Vec::new()));
        for text in [
            "{'a'}",
            "{'a': 1 'b': 2}",
            "{'a': 1",
            "{'a': 1}}",
            "[1]",
            "Counter({'a': 1}",
            "{'a': f(1)}",
        ] {
            assert_eq!(dictionary(text), None, "{text}");
        }
        assert_eq!(printed_array("[0 1\n 1]"), Some(vec![0.into(), 1.into(), 1.into()]));
        assert_eq!(printed_array("['a b' 'c']"), Some(vec!["a b".into(), "c".into()]));
        for text in ["['a''b']", "[0 'a']", "[0, 1]", "[]", "[[0 1]]", "0 1"] {
            assert_eq!(printed_array(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\[\\]('\",\\\\xu0-9a-z é.]{0,40}") {
            let _ = list(&text);
        }

        #[test]
        fn what_is_quoted_reads_back(texts in prop::collection::vec("[a-zé\"'\\\\ ,\\]\n]{0,8}", 0..6)) {
            // As Python's repr does it.
            let quote = |t: &String| {
                format!("'{}'", t.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n"))
            };
            let written = format!("[{}]", texts.iter().map(quote).collect::<Vec<_>>().join(", "));
            let read = list(&written).unwrap();
            prop_assert_eq!(read, texts.into_iter().map(Value::String).collect::<Vec<_>>());
        }
    }
}
