//! The tidy table as Parquet (zstd), for other programs.

use std::sync::Arc;

use dissensus_core::results::Row;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::StudyError;

const SCHEMA: &str = "message results {
    REQUIRED BYTE_ARRAY study (UTF8);
    REQUIRED BYTE_ARRAY dataset (UTF8);
    REQUIRED BYTE_ARRAY arm (UTF8);
    OPTIONAL INT64 k;
    REQUIRED INT64 seed (INTEGER(64, false));
    REQUIRED BYTE_ARRAY metric (UTF8);
    REQUIRED BYTE_ARRAY slice (UTF8);
    OPTIONAL DOUBLE value;
    REQUIRED BYTE_ARRAY run (UTF8);
}";

/// Rows in a row group.
const GROUP: usize = 1 << 20;

/// Rows as Parquet.
pub fn to_parquet(rows: &[&Row]) -> Result<Vec<u8>, StudyError> {
    encode(rows).map_err(|error| StudyError::Results {
        what: "the results as Parquet".into(),
        reason: error.to_string(),
    })
}

fn encode(rows: &[&Row]) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let zstd = Compression::ZSTD(ZstdLevel::try_new(3)?);
    let properties = Arc::new(WriterProperties::builder().set_compression(zstd).build());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties)?;
    for rows in rows.chunks(GROUP) {
        let mut group = writer.next_row_group()?;
        let mut at = 0;
        while let Some(mut column) = group.next_column()? {
            write(rows, at, column.untyped())?;
            column.close()?;
            at += 1;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(bytes)
}

/// The column at this place of the schema.
fn write(rows: &[&Row], at: usize, column: &mut ColumnWriter<'_>) -> Result<(), ParquetError> {
    fn there<T>(values: impl Iterator<Item = Option<T>>) -> Vec<i16> {
        values.map(|value| i16::from(value.is_some())).collect()
    }
    match (at, column) {
        (3, ColumnWriter::Int64ColumnWriter(writer)) => {
            let values: Vec<i64> = rows.iter().filter_map(|row| row.k).map(i64::from).collect();
            writer.write_batch(&values, Some(&there(rows.iter().map(|row| row.k))), None)?;
        }
        (4, ColumnWriter::Int64ColumnWriter(writer)) => {
            // The same 64 bits; the schema says that they have no sign.
            let values: Vec<i64> = rows.iter().map(|row| row.seed.cast_signed()).collect();
            writer.write_batch(&values, None, None)?;
        }
        (7, ColumnWriter::DoubleColumnWriter(writer)) => {
            let values: Vec<f64> = rows.iter().filter_map(|row| row.value).collect();
            writer.write_batch(&values, Some(&there(rows.iter().map(|row| row.value))), None)?;
        }
        (_, ColumnWriter::ByteArrayColumnWriter(writer)) => {
            let text = |row: &&Row| -> ByteArray {
                let text = match at {
                    0 => &row.study,
                    1 => &row.dataset,
                    2 => &row.arm,
                    5 => &row.metric,
                    6 => &row.slice,
                    _ => &row.run,
                };
                text.as_str().into()
            };
            let values: Vec<ByteArray> = rows.iter().map(text).collect();
            writer.write_batch(&values, None, None)?;
        }
        _ => return Err(ParquetError::General("an unexpected Parquet column".into())),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    #[test]
    fn the_same_rows_come_back() {
        let row = |k, seed, value| Row {
            study: "s, \"1\"".into(),
            dataset: "blends".into(),
            arm: "sls:every=5".into(),
            k,
            seed,
            metric: "kl".into(),
            slice: "all".into(),
            value,
            run: "0123456789abcdef".into(),
        };
        let rows = [
            row(Some(5), 0, Some(0.1 + 0.2)),
            row(None, u64::MAX, None),
            row(Some(u32::MAX), 1, Some(f64::INFINITY)),
            row(None, 2, Some(-0.0)),
        ];
        let bytes = to_parquet(&rows.iter().collect::<Vec<_>>()).unwrap();
        let file = SerializedFileReader::new(parquet_bytes(bytes)).unwrap();
        let back: Vec<Row> = file
            .get_row_iter(None)
            .unwrap()
            .map(|read| {
                let mut row = Row::default();
                for (name, field) in read.unwrap().get_column_iter() {
                    match (name.as_str(), field) {
                        ("study", Field::Str(text)) => row.study = text.clone(),
                        ("dataset", Field::Str(text)) => row.dataset = text.clone(),
                        ("arm", Field::Str(text)) => row.arm = text.clone(),
                        ("k", Field::Long(k)) => row.k = Some(u32::try_from(*k).unwrap()),
                        ("seed", Field::ULong(seed)) => row.seed = *seed,
                        ("metric", Field::Str(text)) => row.metric = text.clone(),
                        ("slice", Field::Str(text)) => row.slice = text.clone(),
                        ("value", Field::Double(value)) => row.value = Some(*value),
                        ("run", Field::Str(text)) => row.run = text.clone(),
                        ("k" | "value", Field::Null) => {}
                        other => panic!("{other:?}"),
                    }
                }
                row
            })
            .collect();
        assert_eq!(back, rows);
        assert!(back[3].value.unwrap().is_sign_negative());
        assert!(to_parquet(&[]).is_ok());
    }

    fn parquet_bytes(bytes: Vec<u8>) -> std::fs::File {
        use std::io::{Seek as _, Write as _};
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file.rewind().unwrap();
        file
    }
}
