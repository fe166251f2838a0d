//! The canonical long table as Parquet (zstd), in row groups of bounded size.

use std::sync::Arc;

use dissensus_core::{Scale, VoteTable};
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::{ItemTexts, Target, WriteError, WriteSeek, class_column, is_weighted, long_rows};

pub(super) const TARGET: Target =
    Target { name: "parquet", ending: ".parquet", title: "canonical long table", write };

/// Rows in a row group.
const GROUP: usize = 1 << 20;

/// Columns of a row group: values where there are any, and for each row whether there is one.
#[derive(Default)]
struct Group {
    items: Vec<ByteArray>,
    has_item: Vec<i16>,
    annotators: Vec<ByteArray>,
    has_annotator: Vec<i16>,
    labels: Vec<ByteArray>,
    classes: Vec<i32>,
    has_label: Vec<i16>,
    votes: Vec<i64>,
    has_vote: Vec<i16>,
    weights: Vec<f64>,
    has_weight: Vec<i16>,
    texts: Vec<ByteArray>,
    has_text: Vec<i16>,
}

impl From<ParquetError> for WriteError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
                Ok(error) => Self::Io(*error),
                Err(other) => Self::Encode(other.to_string()),
            },
            other => Self::Encode(other.to_string()),
        }
    }
}

fn write(
    table: &VoteTable,
    texts: &ItemTexts<'_>,
    out: &mut dyn WriteSeek,
) -> Result<(), WriteError> {
    let weighted = is_weighted(table);
    let weight = if weighted { "OPTIONAL DOUBLE weight;" } else { "" };
    let sets = table.scale() == Scale::MultiLabel;
    let (class, vote) =
        (class_column(table.scale()), if sets { "OPTIONAL INT64 vote;" } else { "" });
    let text = if texts.is_empty() { "" } else { "OPTIONAL BYTE_ARRAY text (UTF8);" };
    let schema = format!(
        "message votes {{ OPTIONAL BYTE_ARRAY item (UTF8); OPTIONAL BYTE_ARRAY annotator (UTF8); \
         OPTIONAL BYTE_ARRAY label (UTF8); OPTIONAL INT32 {class}; {vote} {weight} {text} }}"
    );
    let schema = Arc::new(parse_message_type(&schema)?);
    let zstd = Compression::ZSTD(ZstdLevel::try_new(1)?);
    let properties = Arc::new(WriterProperties::builder().set_compression(zstd).build());
    let mut writer = SerializedFileWriter::new(out, schema, properties)?;
    let mut group = Group::default();
    // Each text is copied once; its rows share it.
    let labels: Vec<ByteArray> =
        table.classes().names().iter().map(|n| ByteArray::from(n.as_str())).collect();
    let annotators: Vec<ByteArray> = table.annotators().iter().map(ByteArray::from).collect();
    let mut last: Option<(usize, ByteArray)> = None;
    long_rows(table, "Parquet", |row| {
        if let Some(item) = row.item {
            let bytes = match &last {
                Some((same, bytes)) if *same == item => bytes.clone(),
                _ => ByteArray::from(table.items().name(item)),
            };
            last = Some((item, bytes.clone()));
            group.items.push(bytes);
        }
        group.has_item.push(i16::from(row.item.is_some()));
        group.annotators.extend(row.annotator.and_then(|a| annotators.get(a).cloned()));
        group.has_annotator.push(i16::from(row.annotator.is_some()));
        if let Some(class) = row.class {
            group.labels.extend(labels.get(class as usize).cloned());
            group.classes.push(i32::from(class));
        }
        group.has_label.push(i16::from(row.class.is_some()));
        group.votes.extend(row.vote.map(|vote| vote as i64));
        group.has_vote.push(i16::from(row.vote.is_some()));
        group.weights.push(row.weight);
        group.has_weight.push(1);
        let text =
            row.item.filter(|_| row.first).and_then(|item| texts.get(item).copied().flatten());
        group.has_text.push(i16::from(text.is_some()));
        group.texts.extend(text.map(ByteArray::from));
        if group.has_item.len() == GROUP {
            flush(&mut writer, std::mem::take(&mut group))?;
        }
        Ok::<(), WriteError>(())
    })?;
    flush(&mut writer, group)?;
    writer.close()?;
    Ok(())
}

fn flush(
    writer: &mut SerializedFileWriter<&mut dyn WriteSeek>,
    group: Group,
) -> Result<(), WriteError> {
    if group.has_item.is_empty() {
        return Ok(());
    }
    let mut row_group = writer.next_row_group()?;
    let mut index = 0;
    while let Some(mut column) = row_group.next_column()? {
        match (index, column.untyped()) {
            (0, ColumnWriter::ByteArrayColumnWriter(w)) => {
                w.write_batch(&group.items, Some(&group.has_item), None)?
            }
            (1, ColumnWriter::ByteArrayColumnWriter(w)) => {
                w.write_batch(&group.annotators, Some(&group.has_annotator), None)?
            }
            (2, ColumnWriter::ByteArrayColumnWriter(w)) => {
                w.write_batch(&group.labels, Some(&group.has_label), None)?
            }
            (3, ColumnWriter::Int32ColumnWriter(w)) => {
                w.write_batch(&group.classes, Some(&group.has_label), None)?
            }
            (4, ColumnWriter::Int64ColumnWriter(w)) => {
                w.write_batch(&group.votes, Some(&group.has_vote), None)?
            }
            (4 | 5, ColumnWriter::DoubleColumnWriter(w)) => {
                w.write_batch(&group.weights, Some(&group.has_weight), None)?
            }
            (4.., ColumnWriter::ByteArrayColumnWriter(w)) => {
                w.write_batch(&group.texts, Some(&group.has_text), None)?
            }
            _ => return Err(WriteError::Encode("an unexpected Parquet column".into())),
        };
        column.close()?;
        index += 1;
    }
    row_group.close()?;
    Ok(())
}
