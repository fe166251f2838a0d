//! The one writer of YAML: documents in block style, of values as JSON has them.
//!
//! A text stands in quotes, as in JSON, or as a block of lines where that says the same. In both, a character
//! that some reader of YAML takes for the end of a line (U+0085, U+2028, U+2029) or refuses is only written as
//! an escape, so no text can end its own scalar. `clusters/fuzz-scripts.py` compares with PyYAML.

use serde_json::Value;

/// These documents.
pub(super) fn documents(values: &[Value]) -> String {
    let mut text = String::new();
    for value in values {
        text += "---";
        field(value, None, &mut text);
    }
    text
}

/// What follows a key, a dash or the begin of a document, `depth` levels deep.
fn field(value: &Value, depth: Option<usize>, out: &mut String) {
    let inner = depth.map_or(0, |depth| depth + 1);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            out.push('\n');
            object(fields, inner, out);
        }
        Value::Array(values) if !values.is_empty() => {
            out.push('\n');
            // Dashes stand below their key, not further in.
            let depth = depth.unwrap_or(0);
            for value in values {
                indent(depth, out);
                out.push('-');
                match value {
                    Value::Object(fields) if !fields.is_empty() => {
                        let mut first = String::new();
                        object(fields, depth + 1, &mut first);
                        out.push(' ');
                        out.push_str(first.trim_start_matches(' '));
                    }
                    Value::Array(values) if !values.is_empty() => {
                        field(value, Some(depth + 1), out);
                    }
                    value => field(value, Some(depth), out),
                }
            }
        }
        Value::String(text) if is_block(text) => {
            out.push_str(if text.ends_with('\n') { " |\n" } else { " |-\n" });
            for line in text.lines() {
                if !line.is_empty() {
                    indent(inner, out);
                }
                out.push_str(line);
                out.push('\n');
            }
        }
        Value::String(text) => {
            out.push(' ');
            quoted(text, out);
            out.push('\n');
        }
        value => {
            out.push_str(&format!(" {value}\n"));
        }
    }
}

fn object(fields: &serde_json::Map<String, Value>, depth: usize, out: &mut String) {
    for (key, value) in fields {
        indent(depth, out);
        match is_plain_key(key) {
            true => out.push_str(key),
            false => quoted(key, out),
        }
        out.push(':');
        field(value, Some(depth), out);
    }
}

fn indent(depth: usize, out: &mut String) {
    (0..depth).for_each(|_| out.push_str("  "));
}

/// Keys of Kubernetes: a letter first, and no word that YAML 1.1 reads as something else.
fn is_plain_key(key: &str) -> bool {
    let words = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || "._/-".contains(c))
        && !words.contains(&key.to_lowercase().as_str())
}

/// Whether a character means itself to every reader.
fn is_plain(c: char) -> bool {
    let odd = ['\u{85}', '\u{2028}', '\u{2029}', '\u{feff}', '\u{fffe}', '\u{ffff}'];
    !c.is_control() && !odd.contains(&c)
}

/// Whether a text is the same as a block of lines.
fn is_block(text: &str) -> bool {
    let line = |line: &str| line.is_empty() || !line.starts_with([' ', '\t']);
    text.contains('\n')
        && !text.starts_with('\n')
        && !text.ends_with("\n\n")
        && text.chars().all(|c| c == '\n' || is_plain(c))
        // Only the first line decides how deep the block is; a blank one would be lost.
        && text.lines().next().is_some_and(line)
        && text.lines().all(|line| line.is_empty() || !line.trim().is_empty())
}

/// A text in quotes. YAML has JSON's escapes, but no pairs of surrogates.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_plain(c) => out.push(c),
            c => out.push_str(&format!("\\u{:04x}", c as u32)),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_yaml() {
        let value = json!({
            "command": ["sh", "-c", "a\nb \"c\"\n", "x: y", "a\nb"],
            "env": [{ "name": "A", "value": "1" }],
            "limits": { "gpu": 1, "none": {}, "no": [] },
        });
        let expected = "---\ncommand:\n- \"sh\"\n- \"-c\"\n- |\n  a\n  b \"c\"\n- \"x: y\"\n- |-\n  a\n  b\n\
                        env:\n- name: \"A\"\n  value: \"1\"\nlimits:\n  gpu: 1\n  none: {}\n  \"no\": []\n";
        assert_eq!(documents(&[value]), expected);
    }

    #[test]
    fn no_text_ends_its_own_scalar() {
        for end in ['\u{85}', '\u{2028}', '\u{2029}', '\r', '\u{b}', '\u{feff}', '\0', '\u{7f}'] {
            let text = documents(&[json!({ "a": format!("b\n{end}---\n{end}kind: Secret\n") })]);
            assert_eq!(text.lines().count(), 2, "{text:?}");
            assert!(!text.contains(end), "{text:?}");
        }
    }

    /// What stands in quotes or in a block, read back. Not a reader of YAML, but of what is written here.
    fn read(lines: &[&str]) -> String {
        let first = lines[0].strip_prefix("a: ").unwrap();
        if let Some(keep) = first.strip_prefix('|') {
            let block: Vec<&str> =
                lines[1..].iter().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
            return block.join("\n") + if keep.is_empty() { "\n" } else { "" };
        }
        assert_eq!(lines.len(), 1);
        serde_json::from_str(first).unwrap()
    }

    proptest! {
        #[test]
        fn texts_read_back(text in "([ -~]|\n|\t|\r|\u{85}|\u{2028}|\u{2029}|\u{feff}|[é-ÿ]|🦀|- |: |#|---\n){0,40}") {
            let yaml = documents(&[json!({ "a": text })]);
            let lines: Vec<&str> = yaml.strip_suffix('\n').unwrap().split('\n').collect();
            prop_assert_eq!(lines[0], "---");
            prop_assert_eq!(read(&lines[1..]), text);
            prop_assert!(yaml.chars().all(|c| c == '\n' || is_plain(c)));
        }
    }
}
