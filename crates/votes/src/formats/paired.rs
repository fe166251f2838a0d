//! Wide tables in which annotators and labels stand side by side, in numbered pairs of columns: `worker1, label1,
//! worker2, label2`, or `Score1 … Score5, TurkId1 … TurkId5`.

use std::collections::BTreeMap;

use super::Format;
use super::columns;
use super::item_rows::ItemColumns;
use super::long::{Missing, MissingVotes};
use super::long_rows;
use crate::collector::Collector;
use crate::names;
use crate::options::ReadOptions;
use crate::plausible::Guesses;
use crate::profile::Profile;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, Source, Table, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "paired",
    title: "Wide table with annotators and labels side by side, in numbered pairs of columns",
    layout: "CSV, TSV, JSON Lines or Parquet with columns such as worker1, label1, worker2, label2, …",
    trap: "the columns of annotators hold ids and no labels: each belongs to the label of its number",
    examples: &[Example::text(
        "pairs.csv",
        "id,worker1,label1,worker2,label2\na,w3,yes,w7,no\nb,w7,no,w1,no\n",
    )],
    options: &[
        O::Item,
        O::Label,
        O::Ignore,
        O::Text,
        O::Classes,
        O::Missing,
        O::Multilabel,
        O::Separator,
    ],
    detect,
    read,
};

/// The pairs of columns, and what their labels are called.
struct Pairs {
    stem: String,
    columns: Vec<(usize, usize)>,
}

fn pairs(table: &Table, options: &ReadOptions) -> Option<Pairs> {
    let ignored = columns::ignored(table, options).ok()?;
    let mut stems: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for (c, name) in table.columns.iter().enumerate().filter(|(c, _)| !ignored.contains(c)) {
        if let Some((stem, tail)) = names::series(name) {
            stems.entry(stem).or_default().insert(tail, c);
        }
    }
    let people: Vec<_> = stems.iter().filter(|(stem, _)| names::annotator_stem(stem)).collect();
    let [(who, people)] = people.as_slice() else { return None };
    let mut labels = stems.iter().filter(|(stem, columns)| {
        let known = match &options.label {
            Some(said) => names::plain(said) == **stem,
            None => names::label_stem(stem),
        };
        stem != who && known && columns.len() >= 2 && columns.keys().eq(people.keys())
    });
    let (stem, labels) = labels.next().filter(|_| true)?;
    let columns: Vec<(usize, usize)> =
        people.values().copied().zip(labels.values().copied()).collect();
    // The columns of annotators hold people: more of them than there are columns, and none is a label.
    let profile = Profile::of(&table.columns, table.sample.iter());
    let ids: std::collections::HashSet<&str> =
        columns.iter().flat_map(|(who, _)| profile.values(*who)).collect();
    let own =
        columns.iter().all(|(_, label)| profile.values(*label).all(|value| !ids.contains(value)));
    (own || ids.len() > 30).then(|| Pairs { stem: stem.clone(), columns })
}

fn detect(source: &Source, options: &ReadOptions) -> bool {
    matches!(source, Source::Table(table) if options.annotators.is_none() && pairs(table, options).is_some())
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let not_this = Problem::NotThisFormat { format: FORMAT.name, seen };
    let Source::Table(table) = source else {
        return Err(collector.error(not_this));
    };
    let Some(Pairs { stem, columns }) = pairs(&table, collector.options) else {
        return Err(collector.error(not_this));
    };
    let options = collector.options;
    let rows = ItemColumns::find(&table, &[], collector)?;
    let (who, label) = columns[0];
    let name = |c: usize| table.columns[c].clone();
    collector.note(
        "pairs of columns",
        format!("{} and {}, … ({})", name(who), name(label), columns.len()),
    );
    collector.guesses =
        Some(Guesses { labels: options.label.is_none().then_some(stem), ..Guesses::default() });
    let values = columns.iter().flat_map(|(_, label)| columns::values(&table, *label)).collect();
    let separator = long_rows::separator(&values, collector);
    let missing_values = Missing::new(options, false);
    let mut missing = MissingVotes::default();
    rows.each(table, collector, |row, id, collector| {
        for &(who, label) in &columns {
            let labels = long_rows::cell_labels(row.cell(label), separator);
            let labels = match labels {
                Ok(labels) => labels,
                Err(problem) => {
                    let error = collector.error(problem).row(row.number).item(id);
                    collector.reject(error)?;
                    continue;
                }
            };
            let several: Vec<&str> = labels
                .iter()
                .map(String::as_str)
                .filter(|label| !missing_values.contains(label))
                .collect();
            if several.is_empty() {
                missing.add(id, row.number, labels.first().map_or("", String::as_str));
                continue;
            }
            let who = cell_text(row.cell(who)).filter(|who| !who.trim().is_empty());
            collector.vote_several(id, who.as_deref(), &several, row.number)?;
        }
        Ok(())
    })?;
    missing.note(collector);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};

    #[test]
    fn numbers_say_what_belongs_together() {
        let text = "Id,Score1,Score2,TurkId1,TurkId2\na,13,9,A1XX,A2YY\nb,9,,A2YY,A1XX\nc,13,13,A3ZZ,A1XX\n";
        let reading = read_bytes("x", text.into(), &ReadOptions::default()).unwrap();
        assert_eq!(reading.format.name, "paired");
        assert_eq!(reading.table.annotators().len(), 3);
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        assert_eq!(reading.table.counts().unwrap().total(), 5);
    }
}
