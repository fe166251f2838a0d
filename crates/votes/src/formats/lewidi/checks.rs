//! What both years share: the items of a document, their texts, and the comparison of what a file
//! says twice with the votes.

use dissensus_core::ClassSet;
use serde_json::{Map, Value};

use crate::collector::{Collector, Finding, Places, Severity};
use dissensus_io::{Problem, ReadError, shorten};
use dissensus_io::{Source, cell_text};

/// Whether some of the first items have annotations of this kind.
pub(super) fn detect(source: &Source, kind: fn(&Value) -> bool) -> bool {
    let fits = |item: &Value| {
        item.get("annotators").is_some() && item.get("annotations").is_some_and(kind)
    };
    matches!(source, Source::Json(Value::Object(items)) if items.values().take(20).any(fits))
}

/// The items of a document, by id.
pub(super) fn items(
    source: Source,
    collector: &Collector<'_>,
    format: &'static str,
) -> Result<Map<String, Value>, ReadError> {
    match source {
        Source::Json(Value::Object(items)) => Ok(items),
        other => Err(collector.error(Problem::NotThisFormat { format, seen: other.describe() })),
    }
}

/// An error about one key of an item.
pub(super) fn shape(
    collector: &Collector<'_>,
    (id, row): (&str, u64),
    key: &str,
    expected: &'static str,
    found: &Value,
) -> ReadError {
    let found = shorten(&found.to_string());
    collector.error(Problem::Shape { expected, found }).row(row).column(key).item(id)
}

/// The entries of a text such as `Ann1,Ann2`; an empty text has none.
pub(super) fn split(text: &str) -> Vec<&str> {
    if text.trim().is_empty() { Vec::new() } else { text.split(',').map(str::trim).collect() }
}

/// The text of an item: a text, or fields of text (which some files store as a text of JSON).
pub(super) fn text_of(text: &Value) -> Option<String> {
    let fields = |map: &Map<String, Value>| -> Option<String> {
        let parts: Vec<_> = map.values().filter_map(Value::as_str).collect();
        (!parts.is_empty()).then(|| parts.join(" ⟶ "))
    };
    match text {
        Value::Object(map) => fields(map),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => fields(&map).or_else(|| Some(text.clone())),
            _ => Some(text.clone()),
        },
        _ => None,
    }
}

/// The classes that the soft labels name: in their order where all items agree on it, else sorted,
/// so that the order of the items never decides.
pub(super) fn soft_classes(items: &Map<String, Value>) -> Vec<String> {
    let soft = |item: &Value| -> Option<Vec<String>> {
        Some(item.get("soft_label")?.as_object()?.keys().cloned().collect())
    };
    let mut lists: Vec<Vec<String>> = items.values().filter_map(soft).collect();
    lists.dedup();
    if lists.len() <= 1 {
        return lists.pop().unwrap_or_default();
    }
    let mut names: Vec<String> = lists.into_iter().flatten().collect();
    names.sort();
    names.dedup();
    ClassSet::sorted(names).map(|classes| classes.names().to_vec()).unwrap_or_default()
}

/// What is compared over a whole file.
#[derive(Default)]
pub(super) struct Checks {
    rounded: Places,
    tied: Places,
}

/// Two and three places are in use; half of the last one is what rounding can do.
const ROUNDING: f64 = 0.01;

impl Checks {
    /// Compares the stated share of each class with the share of the votes.
    pub(super) fn soft_label(
        &mut self,
        collector: &mut Collector<'_>,
        (id, row): (&str, u64),
        soft: &Map<String, Value>,
        share: impl Fn(&str) -> f64,
    ) {
        // Nested soft labels say for each class how many chose it (1) and did not (0).
        let stated = |value: &Value| value.get("1").unwrap_or(value).as_f64();
        let off =
            |(class, value): (&String, &Value)| stated(value).map(|s| (s - share(class)).abs());
        let worst = soft.iter().filter_map(off).fold(0.0, f64::max);
        if worst > ROUNDING + 1e-9 {
            let message = "soft_label is not the share of the votes, which were read";
            let finding = Finding::new(Severity::Warning, "soft-label-disagrees", message);
            collector.finding(finding.at(Some(id), Some(row)).remedy("mend whichever is wrong"));
        } else if worst > 1e-9 {
            self.rounded.add(id, row);
        }
    }

    /// Compares the hard label with the amounts behind it, of votes or of shares.
    pub(super) fn hard_label(
        &mut self,
        collector: &mut Collector<'_>,
        (id, row): (&str, u64),
        hard: &Value,
        amounts: &[(&str, f64)],
    ) {
        let Some(hard) = cell_text(hard) else {
            return;
        };
        let most = amounts.iter().map(|a| a.1).fold(0.0, f64::max);
        let mut top = amounts.iter().filter(|a| a.1 >= most).map(|a| a.0);
        if top.clone().count() > 1 {
            self.tied.add(id, row);
        } else if most > 0.0 && top.next() != Some(hard.as_str()) {
            let message = "hard_label is not the class with the most votes, which were read";
            let finding = Finding::new(Severity::Warning, "hard-label-disagrees", message);
            collector.finding(finding.at(Some(id), Some(row)).remedy("mend whichever is wrong"));
        }
    }

    /// Compares a stated number with what was counted.
    pub(super) fn number(
        &self,
        collector: &mut Collector<'_>,
        (id, row): (&str, u64),
        key: &str,
        stated: &Value,
        counted: usize,
    ) {
        if !stated.is_null() && stated.as_u64() != Some(counted as u64) {
            let message = format!("{key:?} says {stated}, there are {counted}");
            let mut finding = Finding::new(Severity::Warning, "number-disagrees", message);
            finding.column = Some(key.to_owned());
            collector.finding(finding.at(Some(id), Some(row)).remedy("mend whichever is wrong"));
        }
    }

    /// Reports what was counted over the file.
    pub(super) fn report(self, collector: &mut Collector<'_>) {
        let note = Severity::Note;
        let message = "soft_label is rounded; the shares were computed from the votes";
        self.rounded.find(collector, note, "rounded-soft-label", message, "use the votes");
        let message = "hard_label on a tie: it was drawn at random";
        self.tied.find(collector, note, "hard-label-on-tie", message, "use the votes");
    }
}
