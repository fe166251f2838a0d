//! Tables of feature vectors, in every container that holds one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use dissensus_inputs::{InputError, Inputs, Kind, ReadOptions, read_bytes};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

fn read(text: &str, options: &ReadOptions) -> Result<Inputs, InputError> {
    read_bytes("t.csv", text.into(), options)
}

fn error(text: &str) -> String {
    read(text, &ReadOptions::default()).unwrap_err().to_string()
}

/// Ids (empty where there are none), width, values.
fn parts(inputs: &Inputs) -> (Vec<&str>, usize, &[f32]) {
    let Kind::Features(features) = inputs.kind() else { panic!("features") };
    let ids = inputs.ids().map(|ids| ids.iter().collect()).unwrap_or_default();
    (ids, features.width(), features.values())
}

#[test]
fn columns_of_numbers() {
    let default = ReadOptions::default();
    let plain = read("id,u,v\na,1,2.5\nb,-3,4e2\n", &default).unwrap();
    assert_eq!(parts(&plain), (vec!["a", "b"], 2, &[1.0, 2.5, -3.0, 400.0][..]));
    let pandas = read(",u,v\n7,1,2\n8,3,4\n", &default).unwrap();
    assert_eq!(parts(&pandas).0, ["7", "8"]);
    let named = read("u\tItem_ID\tv\n1\ta\t2\n3\tb\t4\n", &default).unwrap();
    assert_eq!(parts(&named), (vec!["a", "b"], 2, &[1.0, 2.0, 3.0, 4.0][..]));
    let without = read("u,v\n1,2\n3,4\n", &default).unwrap();
    assert!(without.ids().is_none());
    let said = ReadOptions { id: Some("v".to_owned()), ..ReadOptions::default() };
    assert_eq!(
        parts(&read("u,v\n1,2\n3,4\n", &said).unwrap()),
        (vec!["2", "4"], 1, &[1.0, 3.0][..])
    );
    let lines = read("{\"id\": 3, \"u\": 1}\n{\"id\": 4, \"u\": 2}\n", &default).unwrap();
    assert_eq!(parts(&lines), (vec!["3", "4"], 1, &[1.0, 2.0][..]));
    let array = read("[{\"id\": \"a\", \"u\": 1}]", &default).unwrap();
    assert_eq!(parts(&array), (vec!["a"], 1, &[1.0][..]));
}

#[test]
fn nothing_is_left_out_unless_the_user_says_so() {
    let text = "id,text,u,label\na,hello,1,0\nb,world,2,1\n";
    assert!(error(text).contains("the column \"label\" looks like an answer"), "{}", error(text));
    let skip = |names: &[&str]| ReadOptions {
        skip: names.iter().map(ToString::to_string).collect(),
        ..ReadOptions::default()
    };
    let error = read(text, &skip(&["label"])).unwrap_err().to_string();
    let wanted = "t.csv, row 2, id \"a\", column \"text\": expected a number, found \"hello\"";
    assert!(error.starts_with(wanted), "{error}");
    let inputs = read(text, &skip(&["label", "#2"])).unwrap();
    assert_eq!(parts(&inputs), (vec!["a", "b"], 1, &[1.0, 2.0][..]));
    let error = read(text, &skip(&["lable"])).unwrap_err().to_string();
    assert!(error.contains("no column \"lable\" (option `skip`)"), "{error}");
    assert!(read(text, &skip(&["text", "u", "label"])).is_err());
    let resize = ReadOptions { resize: Some([2, 2]), ..ReadOptions::default() };
    let error = read("id,u\na,1\n", &resize).unwrap_err();
    assert!(
        matches!(error, InputError::Inapplicable { option: dissensus_io::ReadOption::Resize, .. }),
        "{error}"
    );
}

#[test]
fn one_column_of_lists() {
    let text = "{\"uid\": \"a\", \"embedding\": [1, 2.5], \"label\": 1}\n\
                {\"uid\": \"b\", \"embedding\": [3, 4], \"label\": 0}\n";
    let inputs = read(text, &ReadOptions::default()).unwrap();
    assert_eq!(parts(&inputs), (vec!["a", "b"], 2, &[1.0, 2.5, 3.0, 4.0][..]));
    assert_eq!(inputs.notes(), ["columns left out: label"]);
    let csv = "id,features\na,\"[1, 2]\"\nb,\"[3, 4]\"\n";
    assert_eq!(parts(&read(csv, &ReadOptions::default()).unwrap()).2, [1.0, 2.0, 3.0, 4.0]);
    let key = ReadOptions { key: Some("v".to_owned()), ..ReadOptions::default() };
    let other = read("{\"id\": 1, \"v\": [1]}\n{\"id\": 2, \"v\": [2]}\n", &key).unwrap();
    assert_eq!(parts(&other), (vec!["1", "2"], 1, &[1.0, 2.0][..]));
    let ragged = text.replace("[3, 4]", "[3]");
    let wanted = "t.csv, row 2, id \"b\", column \"embedding\": expected a list of 2 numbers, as \
                  in the rows before, found a list of 1";
    assert_eq!(error(&ragged), wanted);
    let hole = text.replace("[3, 4]", "[3, null]");
    assert!(error(&hole).contains("row 2, id \"b\", column \"embedding[1]\": expected a number"));
}

#[test]
fn bad_values_are_named_with_id_and_column() {
    let wanted = "t.csv, row 3, id \"b\", column \"v\": inf is not a finite 32-bit float";
    assert!(error("id,u,v\na,1,2\nb,1,inf\n").starts_with(wanted));
    assert!(error("id,u,v\na,1,2\nb,NaN,1\n").contains("id \"b\", column \"u\": NaN"));
    assert!(error("id,u,v\na,1,2\nb,1,1e39\n").contains("column \"v\": 1"));
    assert!(error("id,u,v\na,1,2\nb,,1\n").contains("column \"u\": expected a number, found \"\""));
    let twice = error("id,u\na,1\nb,2\na,3\n");
    assert!(twice.starts_with("t.csv: row 2 and row 4 have the same id \"a\""), "{twice}");
    assert!(error("id,u\na,1\n,2\n").starts_with("t.csv, row 3: the id is empty"));
    assert!(error("id,u\na,1\nb,2,3\n").contains("3 cells where 2 are expected"));
    assert!(error("id,u\n").contains("at least one item"), "{}", error("id,u\n"));
    let image = read_bytes("p", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), &ReadOptions::default());
    let message = image.unwrap_err().to_string();
    assert!(message.contains("this is an image (PNG)"), "{message}");
    let mut small = ReadOptions::default();
    small.limits.cells = 3;
    let error = read("id,u,v\na,1,2\nb,3,4\n", &small).unwrap_err().to_string();
    assert!(error.contains("4 feature values are more than the limit of 3"), "{error}");
}

#[test]
fn parquet_columns_and_lists() {
    let write = |schema: &str,
                 fill: &dyn Fn(
        &mut parquet::file::writer::SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    )| {
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut file = Vec::new();
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(&mut file, schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        fill(&mut group);
        group.close().unwrap();
        writer.close().unwrap();
        file
    };
    let columns = write("message m { required int64 item; required float u; }", &|group| {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&[5, 6], None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<FloatType>().write_batch(&[0.1, -2.0], None, None).unwrap();
        column.close().unwrap();
    });
    let inputs = read_bytes("t", columns.clone(), &ReadOptions::default()).unwrap();
    assert_eq!(parts(&inputs), (vec!["5", "6"], 1, &[0.1, -2.0][..]));
    let cut = read_bytes("t", columns[..columns.len() - 9].to_vec(), &ReadOptions::default());
    assert!(matches!(cut, Err(InputError::Read(_))));
    let schema = "message m { required binary id (UTF8); required group embedding (LIST) { \
                  repeated group list { required float element; } } }";
    let lists = write(schema, &|group| {
        let mut column = group.next_column().unwrap().unwrap();
        let ids = [ByteArray::from("a"), ByteArray::from("b")];
        column.typed::<ByteArrayType>().write_batch(&ids, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let values = [0.1, 2.0, 3.0, 4.0];
        let (definitions, repetitions) = ([1, 1, 1, 1], [0, 1, 0, 1]);
        let column_writer = column.typed::<FloatType>();
        column_writer.write_batch(&values, Some(&definitions), Some(&repetitions)).unwrap();
        column.close().unwrap();
    });
    let inputs = read_bytes("t", lists, &ReadOptions::default()).unwrap();
    assert_eq!(parts(&inputs), (vec!["a", "b"], 2, &[0.1, 2.0, 3.0, 4.0][..]));
}

#[test]
fn a_column_that_looks_like_ids_is_used_or_refused() {
    let lists = |names: [&str; 2]| {
        let [first, second] = names;
        format!(
            "{{\"{first}\": \"b\", \"{second}\": \"x\", \"embedding\": [1, 2]}}\n\
             {{\"{first}\": \"a\", \"{second}\": \"y\", \"embedding\": [3, 4]}}\n"
        )
    };
    let options = ReadOptions::default();
    let inputs = read(&lists(["stimulus", "label"]), &options).unwrap();
    assert_eq!(parts(&inputs), (vec!["b", "a"], 2, &[1.0, 2.0, 3.0, 4.0][..]));
    let notes = ["ids are taken from \"stimulus\"", "columns left out: label"];
    assert_eq!(inputs.notes(), notes);
    let error = read(&lists(["stimulus", "trial"]), &options).unwrap_err().to_string();
    assert!(error.contains("the ids could be in stimulus, trial, but no name says so"), "{error}");
    let by_position = ReadOptions { by_position: true, ..ReadOptions::default() };
    let inputs = read(&lists(["stimulus", "trial"]), &by_position).unwrap();
    assert!(inputs.ids().is_none() && inputs.is_by_position());
    // A number that a name calls an id is no feature.
    let inputs = read("question_id,u\n7,0.5\n9,1.5\n", &options).unwrap();
    assert_eq!(parts(&inputs), (vec!["7", "9"], 1, &[0.5, 1.5][..]));
}
