//! Long tables in memory: every column is a list of numbers that stand for texts, so that a vote costs no text.

use std::collections::HashSet;

use dissensus_core::{BuildError, Shard, ShardVote, id_hash};
use serde_json::Value;

use super::columns;
use super::long::{ClassOrderColumn, Layout, Missing, MissingVotes, Texts};
use crate::collector::Collector;
use dissensus_io::{Coded, Frame, Problem, ReadError, cell_text, shorten};

/// The columns of a long table as numbers.
pub(super) struct CodedColumns {
    item: Coded,
    label: Coded,
    annotator: Option<Coded>,
    class: Option<Coded>,
}

impl CodedColumns {
    /// `None` where one of them has lists or objects.
    pub(super) fn of(frame: &dyn Frame, layout: &Layout) -> Option<Self> {
        let optional = |column: Option<usize>| match column {
            Some(column) => frame.coded(column).map(Some),
            None => Some(None),
        };
        let (item, (label, annotator, class)) = rayon::join(
            || frame.coded(layout.item),
            || {
                let label = frame.coded(layout.label);
                (label, optional(layout.annotator), optional(layout.class))
            },
        );
        Some(Self { item: item?, label: label?, annotator: annotator?, class: class? })
    }
}

/// What the label of a row is.
enum LabelKind {
    /// A vote for the class of this number.
    Class(u16),
    /// No vote.
    Missing,
    /// Not one of the declared classes.
    Refused(BuildError),
}

/// Not numbered yet.
const NEW: u32 = u32::MAX;

pub(super) fn read(
    frame: &dyn Frame,
    layout: Layout,
    coded: CodedColumns,
    collector: &mut Collector<'_>,
) -> Result<(), ReadError> {
    let CodedColumns { item: items, label: labels, annotator: annotators, class: places } = coded;
    let name = |column: usize| frame.columns()[column].clone();
    if let Some(categories) = frame.categories(layout.label) {
        collector.builder.declare_format(categories).map_err(|e| collector.error(e))?;
    }
    let missing_values = Missing::new(collector.options, layout.class.is_some());
    let kind = |label: &str| match missing_values.contains(label) {
        true => LabelKind::Missing,
        false => collector.builder.class(label).map_or_else(LabelKind::Refused, LabelKind::Class),
    };
    let kinds: Vec<LabelKind> = labels.texts.iter().map(kind).collect();
    let mut people = Vec::new();
    for name in annotators.iter().flat_map(|column| column.texts.iter()) {
        let number = match name {
            "" => None,
            _ => Some(collector.builder.annotator(name).map_err(|e| collector.error(e))?),
        };
        people.push(number);
    }
    // Looking at an id costs a wait for memory; most rows do without.
    let empty = items.texts.position("").map_or(Coded::NONE, |place| place as u32);
    let mut numbers = vec![NEW; items.texts.len()];
    let mut missing = MissingVotes::default();
    let mut order = ClassOrderColumn::default();
    let mut ordered = HashSet::new();
    let mut texts = Texts::default();
    for (at, (&item, &label)) in items.codes.iter().zip(&labels.codes).enumerate() {
        let row = at as u64 + 1;
        let id = || items.texts.name(item as usize);
        let written = || labels.texts.name(label as usize);
        let no_item = item == Coded::NONE || item == empty;
        if let Some(places) = &places {
            let place = places.codes[at];
            if ordered.insert((label, place)) {
                let seen = order.see(written(), places.texts.name(place as usize));
                seen.map_err(|problem| collector.error(problem).row(row))?;
            }
            // A canonical table names a class that nobody chose in a row without an item.
            if no_item && !written().is_empty() {
                continue;
            }
        }
        if no_item {
            let error = collector.error(Problem::EmptyCell { role: "item" }).row(row);
            collector.reject(error.column(name(layout.item)))?;
            continue;
        }
        if let Some(column) = layout.text {
            texts.see(id(), &cell_text(&frame.cell(at, column)).unwrap_or_default());
        }
        let class = match kinds.get(label as usize) {
            Some(LabelKind::Class(class)) => *class,
            Some(LabelKind::Missing) | None => {
                number(&mut collector.builder.shards_mut()[0], &mut numbers, item, id, row)
                    .map_err(|e| collector.error(e).row(row))?;
                missing.add(id(), row, written());
                continue;
            }
            Some(LabelKind::Refused(refused)) => {
                let error = collector.error(refused.clone()).row(row).item(id());
                collector.reject(error.column(name(layout.label)))?;
                continue;
            }
        };
        let weight = match layout.weight.map(|column| (column, frame.cell(at, column))) {
            None | Some((_, Value::Null)) => 1.0,
            Some((_, Value::String(text))) if text.is_empty() => 1.0,
            Some((column, cell)) => match columns::number(&cell) {
                Some(weight) => weight,
                None => {
                    let text = shorten(&cell_text(&cell).unwrap_or_default());
                    let error = collector.error(Problem::NotANumber { text }).row(row).item(id());
                    collector.reject(error.column(name(column)))?;
                    continue;
                }
            },
        };
        let who = annotators.as_ref().map(|column| column.codes[at] as usize);
        let annotator = who.and_then(|who| people.get(who).copied().flatten());
        let shard = &mut collector.builder.shards_mut()[0];
        let vote = ShardVote { item: "", hash: 0, class, annotator, weight, row };
        let pushed = number(shard, &mut numbers, item, id, row)
            .and_then(|number| shard.push_on(number, vote));
        if let Err(error) = pushed {
            let error = collector.error(error).row(row).item(id());
            collector.reject(error)?;
        }
    }
    missing.note(collector);
    texts.keep(collector);
    order.declare(collector)
}

/// The number of an item in the shard.
#[inline]
fn number<'a>(
    shard: &mut Shard,
    numbers: &mut [u32],
    item: u32,
    id: impl FnOnce() -> &'a str,
    row: u64,
) -> Result<u32, BuildError> {
    let known = &mut numbers[item as usize];
    if *known == NEW {
        let id = id();
        *known = shard.item(id, id_hash(id), row)?;
    }
    Ok(*known)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dissensus_core::{Ids, IdsBuilder};

    use super::*;
    use crate::{ReadOptions, VoteFile, read_bytes, read_frame};

    /// Columns of texts; an empty one is no value.
    struct Texts {
        names: Vec<String>,
        rows: Vec<Vec<Value>>,
        plain: bool,
    }

    impl Frame for Texts {
        fn columns(&self) -> &[String] {
            &self.names
        }

        fn len(&self) -> usize {
            self.rows.len()
        }

        fn cell(&self, row: usize, column: usize) -> Value {
            self.rows[row][column].clone()
        }

        fn coded(&self, column: usize) -> Option<Coded> {
            let mut texts = IdsBuilder::new();
            let code = |row: &Vec<Value>| match cell_text(&row[column]) {
                Some(text) => texts.intern(&text).unwrap().0,
                None => Coded::NONE,
            };
            let codes = self.rows.iter().map(code).collect();
            self.plain.then(|| Coded { texts: texts.finish(), codes })
        }

        fn categories(&self, column: usize) -> Option<Vec<String>> {
            (self.names[column] == "verdict").then(|| vec!["yes".into(), "no".into(), "?".into()])
        }

        fn metadata(&self, _: &str) -> Option<String> {
            None
        }
    }

    fn frame(csv: &str, plain: bool) -> Arc<Texts> {
        let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let value = |text: String| match text.is_empty() {
            true => Value::Null,
            false => Value::String(text),
        };
        let mut lines = csv.lines();
        let names = cells(lines.next().unwrap());
        let rows = lines.map(|line| cells(line).into_iter().map(value).collect()).collect();
        Arc::new(Texts { names, rows, plain })
    }

    fn notes(file: &VoteFile) -> Vec<(&str, &str)> {
        file.notes.iter().map(|note| (note.what.as_str(), note.value.as_str())).collect()
    }

    /// As the same table in a file, and as row by row.
    #[test]
    fn a_frame_is_read_as_the_file() {
        for csv in [
            "item,annotator,label\nb,ann,dog\na,ann,cat\nb,bob,cat\na,,cat\na,cem,cat\nc,cem,\nb,cem,NA\n",
            "task,worker,label,weight\n1,w1,2,0.5\n1,w2,1.0,\n2,w1,1,3\n",
            "item,annotator,label,class\na,w,zebra,0\na,v,ant,2\n,,mule,1\n",
        ] {
            let read = |plain| read_frame("x", frame(csv, plain), &ReadOptions::default()).unwrap();
            let file = read_bytes("x", csv.into(), &ReadOptions::default()).unwrap();
            for read in [read(true), read(false)] {
                assert_eq!(read.table, file.table, "{csv}");
                assert_eq!(notes(&read), notes(&file));
            }
        }
    }

    #[test]
    fn bad_rows_are_named() {
        let error = |csv: &str, options: &ReadOptions| {
            read_frame("x", frame(csv, true), options).err().unwrap().to_string()
        };
        let default = ReadOptions::default();
        let text = error("item,annotator,label\na,w,c\n,w,c\n", &default);
        assert_eq!(text, "x, row 2, column \"item\": the item is empty");
        let text = error("item,annotator,label,weight\na,w,c,heavy\n", &default);
        assert!(text.contains("row 1") && text.contains("heavy"), "{text}");
        let text = error("item,annotator,label,weight\na,w,c,-1\n", &default);
        assert!(text.contains("a vote cannot weigh -1"), "{text}");
        let text = error("item,label,label\na,c,d\n", &default);
        assert_eq!(text, "x: two columns are named \"label\"");
        let options = ReadOptions { classes: Some(vec!["c".into()]), ..default };
        let text = error("item,annotator,label\na,w,c\na,v,d\n", &options);
        assert!(text.contains("row 2") && text.contains("unknown class \"d\""), "{text}");
    }

    #[test]
    fn categories_order_the_classes() {
        let csv = "item,annotator,verdict\na,w,no\na,v,yes\n";
        let table = read_frame("x", frame(csv, true), &ReadOptions::default()).unwrap().table;
        assert_eq!(table.classes().names(), ["yes", "no", "?"]);
        assert_eq!(table.counts().unwrap().row(0, 3), [1.0, 1.0, 0.0]);
        assert_eq!(table.annotators(), &Ids::new(["w", "v"]).unwrap());
    }
}
