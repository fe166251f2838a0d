//! Counts (or probabilities) with items and classes as `.npz`, as `numpy.load` reads it.

use std::io::{Seek, Write};

use dissensus_core::limits::MAX_DENSE_CELLS;
use dissensus_core::{Ballots, Counts, Scale, VoteTable};
use dissensus_io::npy::{self, ArrayWriter};
use dissensus_io::npz::NpzWriter;

use super::{ItemTexts, Target, WriteError, WriteSeek};

pub(super) const TARGET: Target = Target {
    name: "npz",
    ending: ".npz",
    title: "counts (or probabilities), items and classes for numpy",
    write,
};

fn write(
    table: &VoteTable,
    texts: &ItemTexts<'_>,
    out: &mut dyn WriteSeek,
) -> Result<(), WriteError> {
    let items = texts.iter().flatten().count();
    if items > 0 {
        return Err(WriteError::Texts { items, target: "an .npz file" });
    }
    let shape = [table.len(), table.classes().len()];
    if (shape[0] as u64).saturating_mul(shape[1] as u64) > MAX_DENSE_CELLS {
        let [items, classes] = shape;
        return Err(WriteError::TooManyCells { items, classes, target: TARGET.name });
    }
    table.scale().require("an .npz file of votes", Scale::ONE_LABEL)?;
    let mut npz = NpzWriter::new(out);
    match (table.counts(), table.ballots()) {
        (Some(counts), _) => {
            write_counts(&mut npz, &counts, shape)?;
            if counts.is_weighted() {
                let mut weights = ArrayWriter::new(npz.array("weights")?, &shape)?;
                (0..shape[0]).try_for_each(|item| weights.push(&counts.row(item, shape[1])))?;
                weights.finish()?;
            }
        }
        (None, Ballots::Probabilities(rows)) => {
            let mut shares = ArrayWriter::new(npz.array("probabilities")?, &shape)?;
            (0..shape[0]).try_for_each(|item| shares.push(rows.row(item)))?;
            shares.finish()?;
        }
        (None, _) => {}
    }
    write_texts(&mut npz, "items", table.items().iter())?;
    let names = table.classes().names().iter().map(String::as_str);
    write_texts(&mut npz, "classes", names)?;
    if table.scale() != Scale::Nominal {
        write_texts(&mut npz, "scale", std::iter::once(table.scale().name()))?;
    }
    Ok(npz.finish()?)
}

fn write_counts(
    npz: &mut NpzWriter<impl Write + Seek>,
    counts: &Counts,
    shape: [usize; 2],
) -> Result<(), WriteError> {
    let mut array = ArrayWriter::new(npz.array("counts")?, &shape)?;
    let mut row = vec![0u32; shape[1]];
    for item in 0..shape[0] {
        row.fill(0);
        for (class, count) in counts.entries(item) {
            if let Some(cell) = row.get_mut(class as usize) {
                *cell = count;
            }
        }
        array.push(&row)?;
    }
    Ok(array.finish()?)
}

fn write_texts<'t>(
    npz: &mut NpzWriter<impl Write + Seek>,
    name: &str,
    texts: impl ExactSizeIterator<Item = &'t str> + Clone,
) -> Result<(), WriteError> {
    if let Some(id) = texts.clone().find(|text| text.ends_with('\0')) {
        return Err(WriteError::Id { id: id.to_owned(), target: "the end of a numpy text" });
    }
    Ok(npy::write_texts(npz.array(name)?, texts)?)
}
