//! Counts (or probabilities) with items and classes as `.npz`, as `numpy.load` reads it.

use std::io::Write;

use dissensus_core::{Ballots, Counts, Ids, VoteTable};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{WriteError, WriteSeek};
use dissensus_io::npy;

impl From<zip::result::ZipError> for WriteError {
    fn from(error: zip::result::ZipError) -> Self {
        match error {
            zip::result::ZipError::Io(io) => Self::Io(io),
            other => Self::Encode(other.to_string()),
        }
    }
}

pub(super) fn write(table: &VoteTable, out: &mut dyn WriteSeek) -> Result<(), WriteError> {
    let mut zip = ZipWriter::new(out);
    let (n, k) = (table.len(), table.classes().len());
    match (table.counts(), table.ballots()) {
        (Some(counts), _) => {
            start(&mut zip, "counts")?;
            write_counts(&mut zip, &counts, n, k)?;
            if counts.is_weighted() {
                start(&mut zip, "weights")?;
                zip.write_all(&npy::header("<f8", &[n, k]))?;
                for item in 0..n {
                    write_numbers(&mut zip, &counts.row(item, k))?;
                }
            }
        }
        (None, Ballots::Probabilities(rows)) => {
            start(&mut zip, "probabilities")?;
            zip.write_all(&npy::header("<f8", &[n, k]))?;
            (0..n).try_for_each(|item| write_numbers(&mut zip, rows.row(item)))?;
        }
        (None, _) => {}
    }
    start(&mut zip, "items")?;
    write_texts(&mut zip, table.items())?;
    start(&mut zip, "classes")?;
    write_texts(&mut zip, &table.classes().names().iter().collect())?;
    zip.finish()?;
    Ok(())
}

type Zip<'a> = ZipWriter<&'a mut dyn WriteSeek>;

fn start(zip: &mut Zip<'_>, name: &str) -> Result<(), WriteError> {
    // As numpy.savez: not compressed; and of any size.
    let options =
        SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    Ok(zip.start_file(format!("{name}.npy"), options)?)
}

fn write_numbers(zip: &mut Zip<'_>, row: &[f64]) -> Result<(), WriteError> {
    let bytes: Vec<u8> = row.iter().flat_map(|v| v.to_le_bytes()).collect();
    Ok(zip.write_all(&bytes)?)
}

fn write_counts(zip: &mut Zip<'_>, counts: &Counts, n: usize, k: usize) -> Result<(), WriteError> {
    zip.write_all(&npy::header("<u4", &[n, k]))?;
    let mut buffer = Vec::with_capacity(1 << 20);
    let mut row = vec![0u32; k];
    for item in 0..n {
        row.fill(0);
        for (class, count) in counts.entries(item) {
            if let Some(cell) = row.get_mut(class as usize) {
                *cell = count;
            }
        }
        buffer.extend(row.iter().flat_map(|count| count.to_le_bytes()));
        if buffer.len() > (1 << 20) - 4 * k.min(1 << 16) {
            zip.write_all(&buffer)?;
            buffer.clear();
        }
    }
    Ok(zip.write_all(&buffer)?)
}

/// Texts as numpy's fixed-width UTF-32.
fn write_texts(zip: &mut Zip<'_>, texts: &Ids) -> Result<(), WriteError> {
    if let Some(id) = texts.iter().find(|text| text.ends_with('\0')) {
        return Err(WriteError::Id { id: id.to_owned(), target: "the end of a numpy text" });
    }
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    zip.write_all(&npy::header(&format!("<U{width}"), &[texts.len()]))?;
    let mut buffer = Vec::new();
    for text in texts.iter() {
        let start = buffer.len();
        buffer.extend(text.chars().flat_map(|c| u32::from(c).to_le_bytes()));
        buffer.resize(start + 4 * width, 0);
        if buffer.len() > 1 << 20 {
            zip.write_all(&buffer)?;
            buffer.clear();
        }
    }
    Ok(zip.write_all(&buffer)?)
}
