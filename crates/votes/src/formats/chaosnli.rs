//! ChaosNLI (Nie, Zhou and Bansal, EMNLP 2020): a hundred votes on each item, as counts.
//!
//! `label_counter` holds the votes by label name and is what is read; `label_count` repeats them
//! in the order entailment, neutral, contradiction (or 1, 2 for αNLI) and must agree. `entropy` is
//! in bits.

use serde_json::Value;

use super::Format;
use crate::collector::{Collector, Finding, Severity};
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, shorten};
use dissensus_io::{Source, Table, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "chaosnli",
    title: "ChaosNLI: counts of a hundred votes per item, with texts",
    layout: r#"JSON Lines: {"uid", "label_counter": {"e": 30, "n": 70}, "label_count": [30, 70, 0], "example": {…}}"#,
    trap: "its entropy is in bits and its counts are in the order e, n, c; both are checked",
    examples: &[Example::text(
        "votes.jsonl",
        r#"{"uid": "a1", "label_counter": {"e": 30, "n": 70}, "label_count": [30, 70, 0], "example": {"premise": "A dog runs.", "hypothesis": "It is outside."}}
{"uid": "a2", "label_counter": {"c": 100}, "label_count": [0, 0, 100], "example": {"premise": "A cat sleeps.", "hypothesis": "It runs."}}
"#,
    )],
    options: &[O::Classes],
    detect,
    read,
};

fn table(source: &Source) -> Option<&Table> {
    match source {
        Source::Table(table) => Some(table),
        _ => None,
    }
}

fn detect(source: &Source, _: &ReadOptions) -> bool {
    table(source).is_some_and(|t| t.column("uid").is_some() && t.column("label_counter").is_some())
}

/// The classes of a file, from the length of its first `label_count`.
fn class_names(count: &Value) -> Option<&'static [&'static str]> {
    match count.as_array().map(Vec::len) {
        Some(3) => Some(&["e", "n", "c"]),
        Some(2) => Some(&["1", "2"]),
        _ => None,
    }
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Table(table) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let (Some(uid), Some(counter)) = (table.column("uid"), table.column("label_counter")) else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let (count, example) = (table.column("label_count"), table.column("example"));
    let entropy = table.column("entropy");
    let mut names = None;
    for row in table.rows(&collector.options.limits) {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        let number = row.number;
        let shape =
            |collector: &Collector<'_>, column: &str, expected: &'static str, cell: &Value| {
                let found = shorten(&cell.to_string());
                collector.error(Problem::Shape { expected, found }).row(number).column(column)
            };
        let Some(id) = cell_text(row.cell(uid)).filter(|id| !id.is_empty()) else {
            let error =
                collector.error(Problem::EmptyCell { role: "item" }).row(number).column("uid");
            collector.reject(error)?;
            continue;
        };
        let Value::Object(votes) = row.cell(counter) else {
            let expected = "an object of label: votes";
            let error = shape(collector, "label_counter", expected, row.cell(counter)).item(&id);
            collector.reject(error)?;
            continue;
        };
        let listed = count.map(|c| row.cell(c)).unwrap_or(&Value::Null);
        if names.is_none() {
            names = class_names(listed);
            if let Some(names) = names {
                let names = names.iter().map(ToString::to_string).collect();
                collector.builder.declare_format(names).map_err(|e| collector.error(e))?;
            }
        }
        let mut entries = Vec::new();
        for (label, n) in votes {
            match n.as_u64().and_then(|n| u32::try_from(n).ok()) {
                Some(n) => entries.push((label.as_str(), n)),
                None => {
                    let text = shorten(&n.to_string());
                    let error = collector.error(Problem::NotACount { text }).row(number).item(&id);
                    collector.reject(error.column(format!("label_counter.{label}")))?;
                }
            }
        }
        if !collector.new_item(&id, number)? {
            continue;
        }
        for &(label, n) in &entries {
            collector.votes(&id, label, n, number)?;
        }
        check_repeats(
            collector,
            &id,
            number,
            &entries,
            names,
            listed,
            entropy.map(|c| row.cell(c)),
        );
        if let Some(text) = example.and_then(|c| text_of(row.cell(c))) {
            collector.text(&id, text);
        }
    }
    Ok(())
}

/// The file says the same thing up to three times; where it disagrees with itself, say so.
fn check_repeats(
    collector: &mut Collector<'_>,
    id: &str,
    row: u64,
    entries: &[(&str, u32)],
    names: Option<&'static [&'static str]>,
    listed: &Value,
    entropy: Option<&Value>,
) {
    let votes = |name: &str| entries.iter().find(|e| e.0 == name).map_or(0, |e| e.1);
    if let (Some(names), Some(listed)) = (names, listed.as_array()) {
        let same = listed.len() == names.len()
            && names.iter().zip(listed).all(|(n, l)| l.as_u64() == Some(u64::from(votes(n))));
        if !same {
            let message = "label_count disagrees with label_counter, which was read";
            let finding = Finding::new(Severity::Warning, "counts-disagree", message);
            collector.finding(finding.at(Some(id), Some(row)).remedy("mend whichever is wrong"));
        }
    }
    if let Some(bits) = entropy.and_then(Value::as_f64) {
        let amounts: Vec<f64> = entries.iter().map(|e| f64::from(e.1)).collect();
        let nats = dissensus_core::entropy(&amounts);
        if (nats / std::f64::consts::LN_2 - bits).abs() > 1e-3 {
            let message = "the stated entropy is not that of the votes in bits";
            let finding = Finding::new(Severity::Warning, "entropy-disagrees", message);
            collector
                .finding(finding.at(Some(id), Some(row)).remedy("it is computed from the votes"));
        }
    }
}

fn text_of(example: &Value) -> Option<String> {
    let field = |key: &str| example.get(key).and_then(Value::as_str);
    let join = |keys: &[&str]| -> Option<String> {
        let parts: Option<Vec<_>> = keys.iter().map(|k| field(k)).collect();
        Some(parts?.join(" ⟶ "))
    };
    join(&["premise", "hypothesis"]).or_else(|| join(&["obs1", "hyp1", "hyp2", "obs2"]))
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};

    const LINE: &str = r#"{"uid": "a", "label_counter": {"n": 70, "e": 30}, "label_count": [30, 70, 0], "entropy": 0.8812908992306927, "example": {"premise": "P.", "hypothesis": "H."}}"#;

    #[test]
    fn counts_in_the_fixed_order() {
        let reading = read_bytes("x", LINE.into(), &ReadOptions::default()).unwrap();
        assert_eq!(reading.format.name, "chaosnli");
        assert_eq!(reading.table.classes().names(), ["e", "n", "c"]);
        assert_eq!(reading.table.counts().unwrap().row(0, 3), [30.0, 70.0, 0.0]);
        assert_eq!(reading.texts, [("a".to_owned(), "P. ⟶ H.".to_owned())]);
        assert!(reading.findings.is_empty());
    }

    #[test]
    fn disagreement_with_itself_is_found() {
        let line = LINE.replace("[30, 70, 0]", "[70, 30, 0]").replace("0.88", "0.61");
        let reading = read_bytes("x", line.into(), &ReadOptions::default()).unwrap();
        let codes: Vec<_> = reading.findings.iter().map(|f| f.code.as_str()).collect();
        assert_eq!(codes, ["counts-disagree", "entropy-disagrees"]);
    }

    #[test]
    fn bad_lines_are_named() {
        let twice = format!("{LINE}\n{LINE}\n");
        let error = read_bytes("x", twice.into(), &ReadOptions::default()).err().unwrap();
        assert_eq!(error.to_string(), "x, row 2: item \"a\" appears twice");
        let negative = LINE.replace("30}", "-30}");
        let error = read_bytes("x", negative.into(), &ReadOptions::default()).err().unwrap();
        assert_eq!(
            error.to_string(),
            "x, row 1, column \"label_counter.e\", item \"a\": \"-30\" is not a number of votes (a whole number, 0 or more)"
        );
        let unknown = format!(
            "{LINE}\n{}\n",
            LINE.replace("\"a\"", "\"b\"").replace("\"e\": 30", "\"x\": 30")
        );
        let error = read_bytes("x", unknown.into(), &ReadOptions::default()).err().unwrap();
        assert_eq!(error.problem.code(), "unknown-class");
    }
}
