//! Parquet files that claim more than they hold, or hold what other tables cannot.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use dissensus_votes::{Limits, ReadOptions, read_bytes};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// A long table of items `a`, `b`, … that all have the label `label`, with weights.
fn table(label: &str, weights: &[f64], compression: Compression) -> Vec<u8> {
    let schema = "message votes { required binary item (UTF8); required binary label (UTF8); required double weight; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let name = |i: usize| ByteArray::from(char::from(b'a' + i as u8).to_string().as_str());
    let items: Vec<ByteArray> = (0..weights.len()).map(name).collect();
    for texts in [items, vec![ByteArray::from(label); weights.len()]] {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
        column.close().unwrap();
    }
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(weights, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    file
}

fn error(bytes: Vec<u8>, limits: Limits) -> String {
    let options = ReadOptions { limits, ..ReadOptions::default() };
    read_bytes("x", bytes, &options).err().unwrap().to_string()
}

#[test]
fn infinities_are_seen_and_nan_is_an_empty_cell() {
    let plain = Compression::UNCOMPRESSED;
    let infinite = table("x", &[1.0, f64::INFINITY], plain);
    assert_eq!(error(infinite, Limits::default()), "x, row 2, item \"b\": a vote cannot weigh inf");
    let nan = table("x", &[2.0, f64::NAN], plain);
    let reading = read_bytes("x", nan, &ReadOptions::default()).unwrap();
    assert_eq!(reading.table.counts().unwrap().row(1, 1), [1.0]);
}

#[test]
fn limits_hold_whatever_the_codec() {
    let label = "x".repeat(50_000);
    let small = Limits { document: 200_000, ..Limits::default() };
    let gzip = Compression::GZIP(Default::default());
    let brotli = Compression::BROTLI(Default::default());
    for codec in
        [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip, brotli, Compression::LZ4_RAW]
    {
        // The label stands in the dictionary once, and in every row.
        let file = table(&label, &[1.0; 8], codec);
        assert!(read_bytes("x", file.clone(), &ReadOptions::default()).is_ok(), "{codec:?}");
        let wanted = "x, row 4: the table, unpacked, is larger than 200000 bytes";
        assert_eq!(error(file.clone(), small), wanted, "{codec:?}");
        let tiny = Limits { cells: 20, ..Limits::default() };
        assert_eq!(error(file, tiny), "x: there are more than 20 values in the table");
    }
}

#[test]
fn a_page_that_unpacks_to_more_than_it_says() {
    for codec in [Compression::GZIP(Default::default()), Compression::BROTLI(Default::default())] {
        let mut file = table(&"x".repeat(50_000), &[1.0], codec);
        // The dictionary's header: type, then the length unpacked (50 004, doubled, in 7 bits a
        // byte).
        let header = [0x15, 4, 0x15, 0xa8, 0x8d, 0x06];
        let at = file.windows(header.len()).position(|w| w == header).unwrap();
        file[at + 4] -= 1;
        let wanted = "x: not a readable Parquet file: a page that unpacks to more than it says";
        assert_eq!(error(file, Limits::default()), wanted, "{codec:?}");
    }
}

#[test]
fn every_cut_and_every_changed_byte_is_an_error_or_a_table() {
    let file = table("x", &[1.0, 2.0], Compression::SNAPPY);
    let options = ReadOptions::default();
    for at in 0..file.len() {
        assert!(read_bytes("x", file[..at].to_vec(), &options).is_err(), "cut at {at}");
        for change in [1, 0x80, 0xff] {
            let mut changed = file.clone();
            changed[at] ^= change;
            drop(read_bytes("x", changed, &options));
        }
    }
}
