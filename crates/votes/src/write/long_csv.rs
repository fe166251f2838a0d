//! The canonical long table as CSV.

use dissensus_core::{Scale, VoteTable};
use dissensus_io::shorten;

use super::{ItemTexts, Target, WriteError, WriteSeek, class_column, is_weighted, long_rows};

pub(super) const TARGET: Target =
    Target { name: "csv", ending: ".csv", title: "canonical long table", write };

fn write(
    table: &VoteTable,
    texts: &ItemTexts<'_>,
    out: &mut dyn WriteSeek,
) -> Result<(), WriteError> {
    // A file with such a character in it is binary, to other readers as to ours.
    let names = table.classes().names().iter().map(String::as_str);
    let ids = table.items().iter().chain(table.annotators().iter()).chain(names);
    let mut ids = ids.chain(texts.iter().copied().flatten());
    if let Some(id) = ids.find(|id| id.contains('\0')) {
        return Err(WriteError::Id { id: shorten(id), target: "a text table" });
    }
    let weighted = is_weighted(table);
    let encode = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(io) => WriteError::Io(io),
        other => WriteError::Encode(format!("{other:?}")),
    };
    let mut csv = csv::Writer::from_writer(out);
    let sets = table.scale() == Scale::MultiLabel;
    let mut header = vec!["item", "annotator", "label", class_column(table.scale())];
    header.extend(sets.then_some("vote"));
    header.extend(weighted.then_some("weight"));
    header.extend((!texts.is_empty()).then_some("text"));
    csv.write_record(&header).map_err(encode)?;
    let places: Vec<String> = (0..table.classes().len()).map(|c| c.to_string()).collect();
    long_rows(table, "CSV", |row| {
        let label = row.class.map_or("", |class| table.classes().name(class));
        let place = row.class.and_then(|c| places.get(c as usize)).map_or("", String::as_str);
        let item = row.item.map_or("", |item| table.items().name(item));
        let annotator = row.annotator.map_or("", |who| table.annotators().name(who));
        let cells = [item, annotator, label, place];
        if weighted || sets || !texts.is_empty() {
            let text = row.item.filter(|_| row.first).and_then(|item| texts.get(item).copied());
            let text = (!texts.is_empty()).then(|| text.flatten().unwrap_or_default());
            let vote = sets.then(|| row.vote.map_or(String::new(), |vote| vote.to_string()));
            let weight = weighted.then(|| row.weight.to_string());
            let more = vote.as_deref().into_iter().chain(weight.as_deref()).chain(text);
            csv.write_record(cells.into_iter().chain(more)).map_err(encode)
        } else {
            csv.write_record(cells).map_err(encode)
        }
    })?;
    Ok(csv.flush()?)
}
