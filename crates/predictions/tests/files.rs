//! Files of predictions as people have them, against the votes on the items a, b, c with the classes
//! cat, dog, fox: read with the right numbers, or refused with a message that says what to do.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Cursor;
use std::sync::Arc;

use dissensus_core::VoteTable;
use dissensus_io::npy;
use dissensus_io::npz::NpzWriter;
use dissensus_predictions::{
    ByPosition, ClassOrder, Join, Kind, Matched, PredictionProblem, ReadOptions, align, join,
    read_bytes,
};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// The predictions for a, b and c in most of the files, classes in the order cat, dog, fox.
const P: [f64; 9] = [0.7, 0.2, 0.1, 0.1, 0.3, 0.6, 0.25, 0.5, 0.25];
const Z: [f64; 9] = [2.5, -1.0, 0.5, -3.0, 0.25, 1.5, 0.0, 4.0, -0.5];

enum Wanted {
    /// The numbers of a, b, c; what they are; how many notes there are, and a part of one.
    Read(Vec<f64>, Kind, &'static [&'static str]),
    /// Parts of the message and of the remedy.
    Refused(&'static [&'static str], &'static str),
}
use Wanted::{Read, Refused};

fn probabilities(notes: &'static [&'static str]) -> Wanted {
    Read(P.to_vec(), Kind::Probabilities, notes)
}

fn logits(notes: &'static [&'static str]) -> Wanted {
    Read(Z.to_vec(), Kind::Logits, notes)
}

fn table(text: &str) -> VoteTable {
    // A table of small whole numbers is read as counts only where that is said.
    let counts = dissensus_votes::ReadOptions {
        values: Some(dissensus_votes::Values::Counts),
        ..Default::default()
    };
    let read = |options| dissensus_votes::read_bytes("votes.csv", text.to_owned().into(), options);
    read(&Default::default()).or_else(|_| read(&counts)).unwrap().table
}

fn votes() -> VoteTable {
    table("id,cat,dog,fox\na,3,1,0\nb,0,4,4\nc,2,2,1\n")
}

fn npy(values: &[f64], shape: &[usize]) -> Vec<u8> {
    let mut file = Vec::new();
    npy::write_array(&mut file, shape, values).unwrap();
    file
}

/// A matrix of three columns, and lists of texts.
fn npz(name: &str, values: &[f64], texts: &[(&str, &[&str])]) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut npz = NpzWriter::new(&mut file);
    let shape = [values.len() / 3, 3];
    npy::write_array(npz.array(name).unwrap(), &shape, values).unwrap();
    for (name, list) in texts {
        npy::write_texts(npz.array(name).unwrap(), list.iter().copied()).unwrap();
    }
    npz.finish().unwrap();
    file.into_inner()
}

fn with_numbers(values: &[f64], name: &str, numbers: &[u32]) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut npz = NpzWriter::new(&mut file);
    npy::write_array(npz.array("probs").unwrap(), &[values.len() / 3, 3], values).unwrap();
    npy::write_array(npz.array(name).unwrap(), &[numbers.len()], numbers).unwrap();
    npz.finish().unwrap();
    file.into_inner()
}

fn parquet(ids: &[&str], columns: [(&str, &[f64]); 3]) -> Vec<u8> {
    let [x, y, z] = columns.map(|(name, _)| name);
    let schema = format!(
        "message m {{ required binary uid (UTF8); required double {x}; required double {y}; required \
         double {z}; }}"
    );
    let mut file = Vec::new();
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(&mut file, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let ids: Vec<ByteArray> = ids.iter().map(|id| ByteArray::from(*id)).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&ids, None, None).unwrap();
    column.close().unwrap();
    for (_, values) in columns {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    file
}

fn check(case: &str, votes: &VoteTable, bytes: Vec<u8>, options: &ReadOptions, wanted: Wanted) {
    let read = read_bytes("model.x", bytes, options);
    let outcome = match &read {
        Ok(models) => align(votes, &models[0])
            .map(|aligned| (&models[0], aligned))
            .map_err(|error| (error.to_string(), error.remedy())),
        Err(error) => {
            Err((error.to_string(), error.problem.remedy().unwrap_or_default().to_owned()))
        }
    };
    match (outcome, wanted) {
        (Ok((model, aligned)), Read(values, kind, notes)) => {
            assert_eq!(model.kind, kind, "{case}");
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
            let same = aligned.values.len() == values.len();
            assert!(
                same && aligned.values.iter().zip(&values).all(close),
                "{case}: {:?}",
                aligned.values
            );
            let all: Vec<String> =
                model.notes.iter().chain(&aligned.notes).map(ToString::to_string).collect();
            assert_eq!(all.len(), notes.len(), "{case}: {all:?}");
            for (note, part) in all.iter().zip(notes) {
                assert!(note.contains(part), "{case}: {note:?} lacks {part:?}");
            }
        }
        (Err((message, remedy)), Refused(parts, way)) => {
            assert!(message.contains("model.x"), "{case}: {message}");
            for part in parts {
                assert!(message.contains(part), "{case}: {message:?} lacks {part:?}");
            }
            assert!(remedy.contains(way), "{case}: {remedy:?} lacks {way:?}");
            assert!(!message.contains("no votes") && !message.contains("vote format"), "{message}");
        }
        (Ok((model, aligned)), Refused(parts, _)) => {
            panic!("{case}: read {model:?} as {:?}, should say {parts:?}", aligned.values)
        }
        (Err((message, _)), Read(..)) => panic!("{case}: {message}"),
    }
}

fn auto() -> ReadOptions {
    ReadOptions::default()
}

fn said(kind: Kind) -> ReadOptions {
    ReadOptions { kind: Some(kind), ..auto() }
}

fn by_position(items: bool, classes: bool) -> ReadOptions {
    ReadOptions { by_position: ByPosition { items, classes }, ..auto() }
}

fn ordered(order: &str) -> ReadOptions {
    ReadOptions { class_order: Some(order.parse().unwrap()), ..auto() }
}

fn with_id(id: &str) -> ReadOptions {
    ReadOptions { id: Some(id.to_owned()), ..auto() }
}

#[test]
fn what_numbers_are_is_certain_or_refused() {
    let one_bad = |bad: &str| {
        let mut text = "id,cat,dog,fox\n".to_owned();
        for i in 0..1513 {
            text += &format!("x{i},0.7,0.2,0.1\n");
        }
        text + bad
    };
    let cases: Vec<(&str, String, ReadOptions, Wanted)> = vec![
        (
            "rounded to 2 decimals",
            "id,cat,dog,fox\na,0.33,0.33,0.33\nb,0.67,0.17,0.17\nc,0.25,0.5,0.25\n".into(),
            auto(),
            Read(
                [&[1.0 / 3.0; 3][..], &[0.67 / 1.01, 0.17 / 1.01, 0.17 / 1.01], &P[6..]].concat(),
                Kind::Probabilities,
                &["2 of 3 rows do not sum to 1 (off by up to 1.00e-2) and were normalized; the values have 2 decimals"],
            ),
        ),
        (
            "percentages",
            "id,cat,dog,fox\na,70,20,10\nb,10,30,60\nc,25,50,25\n".into(),
            auto(),
            probabilities(&["percentages"]),
        ),
        (
            "percentages with signs",
            "id,cat,dog,fox\na,70 %,20 %,10 %\nb,10%,30%,60%\nc,25%,50%,25%\n".into(),
            auto(),
            probabilities(&["percentages"]),
        ),
        (
            "one bad row of many: its sum",
            one_bad("b,0.7,0.2,0.9\n"),
            auto(),
            Refused(
                &["the numbers of 1 of 1514 rows are not probabilities: row 1515 (item \"b\") sums \
                   to 1.8, not 1"],
                "correct or remove these rows; if all numbers are logits, say so with `logits`",
            ),
        ),
        (
            "one bad row of many: a negative value",
            one_bad("b,0.7,-0.2,0.5\n"),
            auto(),
            Refused(&["row 1515 (item \"b\") has the negative value -0.2 in number 2"], "`logits`"),
        ),
        (
            "one bad row, said to be probabilities",
            "id,cat,dog,fox\na,0.7,0.2,0.1\nb,0.1,0.3,0.1\n".into(),
            said(Kind::Probabilities),
            Refused(&["row 3 (item \"b\") sums to 0.5, not 1"], "correct or remove"),
        ),
        (
            "probabilities that were clipped",
            "id,cat,dog,fox\na,0.7001,0.2002,0.1003\nb,0.9999999,0.001,0.001\nc,0.2,0.3,0.5\n".into(),
            auto(),
            Refused(&["2 of 3 rows", "sums to 1.0006"], "or say `probabilities`, which normalizes"),
        ),
        (
            "four significant digits",
            "id,cat,dog,fox\na,7.123e-01,2.876e-01,1.234e-4\nb,1e-1,3e-1,6e-1\nc,0.25,0.5,0.25\n".into(),
            auto(),
            Read(
                [[0.7123, 0.2876, 1.234e-4].map(|v| v / 1.0000234), [0.1, 0.3, 0.6], [0.25, 0.5, 0.25]]
                    .concat(),
                Kind::Probabilities,
                &["1 of 3 rows do not sum to 1"],
            ),
        ),
        (
            "decimal commas",
            "id;cat;dog;fox\na;0,7;0,2;0,1\nb;0,1;0,3;0,6\nc;0,25;0,5;0,25\n".into(),
            auto(),
            probabilities(&[]),
        ),
        (
            "commas that may stand between thousands",
            "id;cat;dog;fox\na;1,125;-2,512;1,100\nb;2,100;3,125;-1,600\n".into(),
            auto(),
            Refused(&["numbers with decimal commas"], ""),
        ),
        (
            "values from 0 to 1 that do not sum to 1",
            "id,cat,dog,fox\na,0.9,0.8,0.1\nb,0.1,0.3,0.2\nc,0.2,0.9,0.9\n".into(),
            auto(),
            Refused(
                &["between 0 and 1, but rows do not sum to 1: row 2 (item \"a\") sums to 1.8"],
                "say `logits` if these are logits",
            ),
        ),
        (
            "logits from 0 to 1, as said",
            "id,cat,dog,fox\na,0.7,0.2,0.1\nb,0.1,0.3,0.6\nc,0.25,0.5,0.25\n".into(),
            said(Kind::Logits),
            Read(P.to_vec(), Kind::Logits, &["although every row sums to 1"]),
        ),
        (
            "logits",
            "id,cat,dog,fox\na,2.5,-1,0.5\nb,-3,0.25,1.5\nc,0,4,-0.5\n".into(),
            auto(),
            logits(&["taken for logits: the values are between -3.0000 and 4.0000"]),
        ),
        (
            "no value is negative",
            "id,cat,dog,fox\na,2.5,1,0.5\nb,3,0.25,1.5\nc,0,4,0.5\n".into(),
            auto(),
            Refused(&["no value is negative", "row 2 (item \"a\") sums to 4"], "`logits`"),
        ),
        (
            "negative probabilities",
            "id,cat,dog,fox\na,1.2,-0.3,0.1\nb,-0.1,0.5,0.6\nc,0.5,0.6,-0.1\n".into(),
            auto(),
            Refused(&["every row sums to 1", "-0.3 in row 2 is negative"], "`logits`"),
        ),
        (
            "hard labels: names",
            "id,prediction\na,cat\nb,dog\nc,dog\n".into(),
            auto(),
            Refused(&["\"prediction\" holds one class per item: hard labels"], "predict_proba"),
        ),
        (
            "hard labels: numbers",
            "id,y_pred\na,0\nb,1\nc,1\n".into(),
            auto(),
            Refused(&["hard labels"], "predict_proba"),
        ),
        (
            "one-hot rows",
            "id,cat,dog,fox\na,1,0,0\nb,0,1,0\nc,0,1,0\n".into(),
            auto(),
            Refused(&["look like hard labels", "KL are infinite"], "say so with `probabilities`"),
        ),
        (
            "one-hot rows, as said",
            "id,cat,dog,fox\na,1,0,0\nb,0,1,0\nc,0,1,0\n".into(),
            said(Kind::Probabilities),
            Read(vec![1., 0., 0., 0., 1., 0., 0., 1., 0.], Kind::Probabilities, &[]),
        ),
        (
            "one number per item",
            "id,p\na,0.7\nb,0.1\nc,0.25\n".into(),
            auto(),
            Refused(&["only \"p\" holds numbers: one number per item"], "1 - p"),
        ),
        (
            "NaN",
            "id,cat,dog,fox\na,0.7,0.2,0.1\nb,nan,0.3,0.6\n".into(),
            auto(),
            Refused(&["row 3, column \"cat\", item \"b\": NaN is not a finite number"], "correct"),
        ),
        (
            "infinite",
            "id,cat,dog,fox\na,0.7,0.2,0.1\nb,0.1,0.3,-inf\n".into(),
            auto(),
            Refused(&["row 3, column \"fox\", item \"b\": -inf is not"], "correct"),
        ),
        (
            "a cell without a number",
            "id,cat,dog,fox\na,0.7,0.2,0.1\nb,0.1,n/a,0.6\nc,0.25,0.5,0.25\n".into(),
            auto(),
            Refused(&["row 3, column \"dog\", item \"b\": \"n/a\" is not a number"], "correct"),
        ),
        (
            "logits in the name, probabilities in the file",
            "{\"id\": \"a\", \"logits\": [0.7, 0.2, 0.1]}\n{\"id\": \"b\", \"logits\": [0.1, 0.3, 0.6]}\n"
                .into(),
            auto(),
            Refused(&["named logits, but every row sums to 1"], "`logits` or `probabilities`"),
        ),
    ];
    for (case, text, options, wanted) in cases {
        check(case, &votes(), text.into(), &options, wanted);
    }
}

#[test]
fn classes_are_matched_by_name_or_refused() {
    let map = |text: &str| ReadOptions { class_map: Some(text.parse().unwrap()), ..auto() };
    let german = "id,Katze,Hund,Fuchs\na,0.7,0.2,0.1\nb,0.1,0.3,0.6\nc,0.25,0.5,0.25\n";
    let cases: Vec<(&str, &str, ReadOptions, Wanted)> = vec![
        (
            "names in another order",
            "id,fox,cat,dog\nb,0.6,0.1,0.3\nc,0.25,0.25,0.5\na,0.1,0.7,0.2\n",
            auto(),
            probabilities(&["classes are matched by name: cat → cat, dog → dog, fox → fox"]),
        ),
        (
            "names with a prefix",
            "id,prob_Fox,prob_Cat,prob_Dog\nb,0.6,0.1,0.3\nc,0.25,0.25,0.5\na,0.1,0.7,0.2\n",
            auto(),
            probabilities(&["similar names: prob_Cat → cat, prob_Dog → dog, prob_Fox → fox"]),
        ),
        (
            "numbered columns",
            "id,LABEL_0,LABEL_1,LABEL_2\na,0.7,0.2,0.1\nb,0.1,0.3,0.6\nc,0.25,0.5,0.25\n",
            auto(),
            Refused(
                &[
                    "the order of the classes of model.x is not known: it has LABEL_0, LABEL_1, LABEL_2",
                ],
                "`class_order`",
            ),
        ),
        (
            "numbered columns, in the order that is said",
            "id,LABEL_2,LABEL_0,LABEL_1\na,0.1,0.7,0.2\nb,0.6,0.1,0.3\nc,0.25,0.25,0.5\n",
            ordered("cat,dog,fox"),
            probabilities(&[
                "in the order that was said: LABEL_0 → cat, LABEL_1 → dog, LABEL_2 → fox",
            ]),
        ),
        (
            "an order that is not one of the classes",
            "id,LABEL_0,LABEL_1,LABEL_2\na,0.7,0.2,0.1\n",
            ordered("cat,dog,emu"),
            Refused(
                &["is said to be cat,dog,emu, and the classes of the votes are cat, dog, fox"],
                "once",
            ),
        ),
        (
            "no header",
            "a,0.7,0.2,0.1\nb,0.1,0.3,0.6\nc,0.25,0.5,0.25\n",
            ordered("by name"),
            probabilities(&["ids are taken from \"#1\"", "column 1 → cat, column 2 → dog"]),
        ),
        (
            "other names",
            german,
            auto(),
            Refused(
                &[
                    "the classes of model.x are Katze, Hund, Fuchs, those of the votes cat, dog, fox",
                ],
                "`class_map = FILE=VOTES`, a pair for each class",
            ),
        ),
        (
            "a class map",
            german,
            map("Katze=cat,Hund=dog,Fuchs=fox"),
            probabilities(&["by name: Katze → cat, Hund → dog, Fuchs → fox"]),
        ),
        (
            "a class map of another order",
            "id,Hund,Katze,fox\na,0.2,0.7,0.1\nb,0.3,0.1,0.6\nc,0.5,0.25,0.25\n",
            map("Katze=cat,Hund=dog"),
            probabilities(&["by name: Katze → cat, Hund → dog, fox → fox"]),
        ),
        (
            "a class map with a wrong name",
            german,
            map("Kater=cat"),
            Refused(&["the class map names \"Kater\"", "Katze, Hund, Fuchs"], "`class_map"),
        ),
        (
            "by position, as said",
            german,
            by_position(false, true),
            probabilities(&["classes are matched by position, as said: column 1 → cat"]),
        ),
        (
            "too many classes",
            "id,cat,dog,fox,emu\na,0.4,0.3,0.2,0.1\n",
            auto(),
            Refused(
                &["predicts 4 classes (cat, dog, fox, emu), the votes have 3: cat, dog, fox"],
                "remove columns that are no classes",
            ),
        ),
        (
            "too few classes",
            "id,cat,dog\na,0.4,0.6\n",
            auto(),
            Refused(&["predicts 2 classes (cat, dog)"], "predict every class"),
        ),
        (
            "columns beside the classes",
            "id,label,cat,dog,fox,confidence,split\na,0,0.7,0.2,0.1,0.7,x\nb,2,0.1,0.3,0.6,0.6,x\nc,1,0.25,0.5,0.25,0.5,x\n",
            auto(),
            probabilities(&["not read: label, confidence, split"]),
        ),
        (
            "a column that may be a class",
            "id,cat,dog,fox,quality\na,0.7,0.2,0.1,0.7\nb,0.1,0.3,0.6,0.6\nc,0.25,0.5,0.25,0.5\n",
            auto(),
            Refused(&["(the columns are cat, dog, fox, quality)"], "remove columns that are no"),
        ),
    ];
    for (case, text, options, wanted) in cases {
        check(case, &votes(), text.into(), &options, wanted);
    }
    // Names of the votes that the classes begin with: the map is there to be copied.
    let nli = table("id,e,n,c\na,3,1,0\nb,0,4,4\nc,2,2,1\n");
    let text = "id,contradiction,neutral,entailment\na,0.1,0.2,0.7\n";
    let wanted = Refused(
        &["contradiction, neutral, entailment, those of the votes e, n, c"],
        "`class_map = contradiction=c,neutral=n,entailment=e`",
    );
    check("abbreviated names", &nli, text.into(), &auto(), wanted);
}

#[test]
fn ids_decide_and_are_never_passed_over() {
    let shuffled = [&P[3..6], &P[6..], &P[..3]].concat();
    let abc: &[&str] = &["a", "b", "c"];
    let bca: &[&str] = &["b", "c", "a"];
    let classes: (&str, &[&str]) = ("classes", &["cat", "dog", "fox"]);
    const UNNAMED: &str = "classes are matched by position";
    let cases: Vec<(&str, Vec<u8>, ReadOptions, Wanted)> = vec![
        (
            "npz with ids and classes",
            npz("probabilities", &shuffled, &[("ids", bca), classes]),
            auto(),
            probabilities(&[]),
        ),
        (
            "npz with uid",
            npz("probs", &shuffled, &[("uid", bca), classes]),
            auto(),
            probabilities(&[]),
        ),
        (
            "npz with names",
            npz("probs", &shuffled, &[("names", bca), classes]),
            auto(),
            probabilities(&[]),
        ),
        (
            "npz with ids of an unknown name",
            npz("probs", &shuffled, &[("stimuli", bca), classes]),
            auto(),
            probabilities(&["ids are taken from \"stimuli\""]),
        ),
        (
            "npz with two lists that may be ids",
            npz("probs", &shuffled, &[("stimuli", bca), ("trials", abc)]),
            auto(),
            Refused(
                &["the ids could be in stimuli, trials"],
                "with `id`, or say `by_position = items`",
            ),
        ),
        (
            "the same, named",
            npz("probs", &shuffled, &[("stimuli", bca), ("trials", abc), classes]),
            with_id("stimuli"),
            probabilities(&[]),
        ),
        (
            "npz with whole numbers that may be ids",
            with_numbers(&P, "order", &[2, 0, 1]),
            auto(),
            Refused(&["the ids could be in order, but no name says so"], "with `id`"),
        ),
        (
            "npz with labels beside the predictions",
            with_numbers(&P, "labels", &[0, 2, 1]),
            auto(),
            Refused(
                &["the order of the classes of model.x is not known", "no names of classes"],
                "`class_order`",
            ),
        ),
        (
            "npz with too few ids",
            npz("probs", &P, &[("ids", &["a", "b"])]),
            auto(),
            Refused(&["ids has 2 entries for 3 rows"], ""),
        ),
        (
            "npy without ids",
            npy(&P, &[3, 3]),
            by_position(false, true),
            Refused(
                &["model.x: its 3 rows have no ids"],
                "or say `by_position = items` if the rows are in the order of the votes",
            ),
        ),
        (
            "npy without ids, as said",
            npy(&P, &[3, 3]),
            by_position(true, true),
            probabilities(&["items are matched by position, as said", UNNAMED]),
        ),
        (
            "logits from PyTorch as npy, as said",
            npy(&Z, &[3, 3]),
            ReadOptions { class_order: Some(ClassOrder::ByName), ..by_position(true, false) },
            logits(&[
                "taken for logits",
                "items are matched by position, as said",
                "in the order that was said",
            ]),
        ),
        (
            "npy of another length",
            npy(&P[..6], &[2, 3]),
            by_position(true, true),
            Refused(&["it has 2 rows without ids, the votes have 3 items"], "array `ids`"),
        ),
        (
            "npy, classes × items",
            npy(&Z[..6], &[3, 2]),
            auto(),
            Refused(&["predicts 2 classes, the votes have 3"], "transpose"),
        ),
        (
            "npz with ids as Python objects",
            {
                let mut file = Cursor::new(Vec::new());
                let mut npz = NpzWriter::new(&mut file);
                npy::write_array(npz.array("probs").unwrap(), &[3, 3], &P).unwrap();
                let header = npy::header("|O", &[3]);
                std::io::Write::write_all(&mut npz.array("names").unwrap(), &header).unwrap();
                npz.finish().unwrap();
                file.into_inner()
            },
            auto(),
            Refused(&["column \"names\": not a readable array"], ""),
        ),
        (
            "npy of labels",
            {
                let mut file = Vec::new();
                npy::write_array(&mut file, &[3], &[0u32, 2, 1]).unwrap();
                file
            },
            auto(),
            Refused(&["list of whole numbers: hard labels"], "predict_proba"),
        ),
        (
            "npy of one number per item",
            npy(&P[..3], &[3]),
            auto(),
            Refused(&["list of numbers: one number per item"], "1 - p"),
        ),
        (
            "an option that means nothing",
            npy(&P, &[3, 3]),
            with_id("uid"),
            Refused(&["read as npy, for which the option `id` means nothing"], "remove the option"),
        ),
        (
            "ids that are not used, as said",
            npz("probs", &P, &[("ids", &["x", "y", "z"]), classes]),
            by_position(true, false),
            probabilities(&["matched by position, as said"]),
        ),
        (
            "an id column of an unknown name, and not the first",
            "cat,dog,fox,stimulus\n0.1,0.3,0.6,b\n0.25,0.5,0.25,c\n0.7,0.2,0.1,a\n".into(),
            auto(),
            probabilities(&["ids are taken from \"stimulus\""]),
        ),
        (
            "two columns that may be ids",
            "cat,dog,fox,premise,hypothesis\n0.1,0.3,0.6,b,B\n0.25,0.5,0.25,c,C\n".into(),
            auto(),
            Refused(&["the ids could be in premise, hypothesis"], "`id`"),
        ),
        (
            "row numbers of pandas in place of ids",
            ",cat,dog,fox\n0,0.7,0.2,0.1\n1,0.1,0.3,0.6\n2,0.25,0.5,0.25\n".into(),
            auto(),
            Refused(
                &["model.x: no id is among the votes (its first is \"0\", theirs \"a\")"],
                "`id`",
            ),
        ),
        (
            "missing items",
            "id,cat,dog,fox\nc,0.25,0.5,0.25\nz,0.7,0.2,0.1\n".into(),
            auto(),
            Read(P[6..].to_vec(), Kind::Probabilities, &[]),
        ),
        (
            "duplicate ids",
            "id,cat,dog,fox\na,0.7,0.2,0.1\nb,0.1,0.3,0.6\na,0.25,0.5,0.25\n".into(),
            auto(),
            Refused(
                &["row 4: the item \"a\" is predicted twice: it is in row 2"],
                "one row per item",
            ),
        ),
        (
            "an empty id",
            "id,cat,dog,fox\na,0.7,0.2,0.1\n,0.1,0.3,0.6\n".into(),
            auto(),
            Refused(&["row 3, column \"id\"", "the id is empty"], ""),
        ),
        (
            "a column that is not there",
            "id,cat,dog,fox\na,0.7,0.2,0.1\n".into(),
            with_id("uid"),
            Refused(&["there is no \"uid\" in it (option `id`); there are id, cat, dog, fox"], ""),
        ),
        (
            "parquet with the classes in another order",
            parquet(
                bca,
                [("fox", &[0.6, 0.25, 0.1]), ("cat", &[0.1, 0.25, 0.7]), ("dog", &[0.3, 0.5, 0.2])],
            ),
            auto(),
            probabilities(&["classes are matched by name"]),
        ),
    ];
    for (case, bytes, options, wanted) in cases {
        check(case, &votes(), bytes, &options, wanted);
    }
}

#[test]
fn json_in_many_layouts() {
    const UNNAMED: &str = "classes are matched by position";
    let cases: Vec<(&str, &str, ReadOptions, Wanted)> = vec![
        (
            "JSON Lines with objects",
            r#"{"uid": "b", "probs": {"dog": 0.3, "cat": 0.1, "fox": 0.6}}
{"uid": "c", "probs": {"fox": 0.25, "cat": 0.25, "dog": 0.5}}
{"uid": "a", "probs": {"cat": 0.7, "dog": 0.2, "fox": 0.1}}
"#,
            auto(),
            probabilities(&["classes are matched by name"]),
        ),
        (
            "JSON Lines where a class is missing",
            r#"{"uid": "b", "probs": {"dog": 0.3, "cat": 0.1, "fox": 0.6}}
{"uid": "c", "probs": {"fox": 0.5, "emu": 0.1, "cat": 0.4}}
"#,
            auto(),
            Refused(&["row 2, column \"probs\", item \"c\"", "the classes are"], "each class"),
        ),
        (
            "JSON Lines of a Hugging Face pipeline, with ids",
            r#"{"id": "a", "output": [{"label": "cat", "score": 0.7}, {"label": "dog", "score": 0.2}, {"label": "fox", "score": 0.1}]}
{"id": "b", "output": [{"label": "fox", "score": 0.6}, {"label": "dog", "score": 0.3}, {"label": "cat", "score": 0.1}]}
{"id": "c", "output": [{"label": "dog", "score": 0.5}, {"label": "cat", "score": 0.25}, {"label": "fox", "score": 0.25}]}
"#,
            auto(),
            probabilities(&[]),
        ),
        (
            "a Hugging Face pipeline with top_k=None",
            r#"[[{"label": "cat", "score": 0.7}, {"label": "dog", "score": 0.2}, {"label": "fox", "score": 0.1}],
 [{"label": "fox", "score": 0.6}, {"label": "dog", "score": 0.3}, {"label": "cat", "score": 0.1}],
 [{"label": "dog", "score": 0.5}, {"label": "cat", "score": 0.25}, {"label": "fox", "score": 0.25}]]"#,
            by_position(true, false),
            probabilities(&["items are matched by position, as said"]),
        ),
        (
            "a Hugging Face pipeline with the first class only",
            r#"[{"label": "cat", "score": 0.7}, {"label": "fox", "score": 0.6}, {"label": "dog", "score": 0.5}]"#,
            auto(),
            Refused(&["\"label\" holds one class per item: hard labels"], "top_k=None"),
        ),
        (
            "predict_proba(x).tolist()",
            "[[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.25, 0.5, 0.25]]",
            by_position(true, true),
            probabilities(&["items are matched by position", UNNAMED]),
        ),
        (
            "an object by id",
            r#"{"c": [0.25, 0.5, 0.25], "a": [0.7, 0.2, 0.1], "b": [0.1, 0.3, 0.6]}"#,
            by_position(false, true),
            probabilities(&[UNNAMED]),
        ),
        (
            "an object of arrays",
            r#"{"ids": ["b", "c", "a"], "classes": ["cat", "dog", "fox"], "probabilities": [[0.1, 0.3, 0.6], [0.25, 0.5, 0.25], [0.7, 0.2, 0.1]]}"#,
            auto(),
            probabilities(&[]),
        ),
        (
            "numpy arrays as text in a CSV file",
            "id,probs\na,[0.7 0.2 0.1]\nb,[0.1 0.3 0.6]\nc,[0.25 0.5  0.25]\n",
            by_position(false, true),
            probabilities(&[UNNAMED]),
        ),
        (
            "rows of different length",
            "{\"id\": \"a\", \"probs\": [0.7, 0.2, 0.1]}\n{\"id\": \"b\", \"probs\": [0.1, 0.9]}\n",
            auto(),
            Refused(
                &["row 2, column \"probs\", item \"b\": 2 numbers, where the first row has 3"],
                "each class",
            ),
        ),
        (
            "two columns of lists",
            "{\"id\": \"a\", \"u\": [0.7, 0.2, 0.1], \"v\": [1, 2]}\n{\"id\": \"b\", \"u\": [0.1, 0.3, 0.6], \"v\": [1, 2]}\n",
            auto(),
            Refused(&["the predictions could be in u, v"], "`key`"),
        ),
        (
            "something else",
            "{\"model\": \"bert\"}",
            auto(),
            Refused(&["no predictions were found in it"], "a table with an id"),
        ),
        ("nothing", "id,cat,dog,fox\n", auto(), Refused(&["there are no predictions in it"], "")),
    ];
    for (case, text, options, wanted) in cases {
        check(case, &votes(), text.into(), &options, wanted);
    }
}

#[test]
fn votes_without_ids_are_matched_by_position_and_that_is_said() {
    let counts = npy(&[3., 1., 0., 0., 4., 4., 2., 2., 1.], &[3, 3]);
    let votes = dissensus_votes::read_bytes("v.npy", counts, &Default::default()).unwrap().table;
    assert_eq!(votes.items().iter().collect::<Vec<_>>(), ["0", "1", "2"]);
    let notes = &["no ids on either side"];
    let named = "cat,dog,fox\n0.7,0.2,0.1\n0.1,0.3,0.6\n0.25,0.5,0.25\n";
    let wanted = Refused(
        &["the classes of model.x are cat, dog, fox, those of the votes 0, 1, 2"],
        "`class_map = ",
    );
    check("names for classes that are only numbered", &votes, named.into(), &auto(), wanted);
    let found = read_bytes("m.csv", named.into(), &by_position(false, true)).unwrap();
    let aligned = align(&votes, &found[0]).unwrap();
    assert_eq!((aligned.matched, &aligned.values[..]), (Matched::ByPosition, &P[..]));
    assert!(aligned.notes[0].to_string().contains(notes[0]), "{:?}", aligned.notes);
    let from_one = "id,0,1,2\n1,0.7,0.2,0.1\n2,0.1,0.3,0.6\n3,0.25,0.5,0.25\n";
    let wanted =
        Refused(&["model.x: only 2 of the 3 ids are among the votes"], "`by_position = items`");
    check("numbered from 1", &votes, from_one.into(), &auto(), wanted);
}

#[test]
fn several_predictions_per_item_are_asked_about() {
    let long = |seed: u32, p: f64| format!("a,{seed},cat,{p}\na,{seed},dog,{}\n", 1.0 - p);
    let wide = |seed: u32, p: f64| format!("a,{seed},{p},{}\n", 1.0 - p);
    let tables = [
        format!("id,seed,cat,dog\n{}{}", wide(1, 0.75), wide(2, 0.25)),
        format!("id,seed,class,probability\n{}{}", long(1, 0.75), long(2, 0.25)),
    ];
    let votes = "id,cat,dog\na,3,1\nb,1,3\n";
    let values = Some(dissensus_votes::Values::Counts);
    let options = dissensus_votes::ReadOptions { values, ..Default::default() };
    let votes = dissensus_votes::read_bytes("v.csv", votes.into(), &options).unwrap().table;
    for text in &tables {
        let read = |runs: bool| {
            let options = ReadOptions { runs, ..ReadOptions::default() };
            dissensus_predictions::read_bytes_for("m.csv", text.clone().into(), &votes, &options)
        };
        let refused = read(false).unwrap_err();
        assert!(matches!(refused.problem, PredictionProblem::SeveralRuns { .. }), "{refused}");
        let models = read(true).unwrap();
        assert_eq!(
            models.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(),
            ["seed 1", "seed 2"]
        );
        let joined = join(&votes, &models, Join::Seeds, &ReadOptions::default()).unwrap();
        assert_eq!(joined.values, [0.5, 0.5], "{text}");
    }
    // Folds have items of their own: one model.
    let folds =
        "id,fold,class,probability\na,1,cat,0.75\na,1,dog,0.25\nb,2,cat,0.25\nb,2,dog,0.75\n";
    let found =
        dissensus_predictions::read_bytes_for("m.csv", folds.into(), &votes, &auto()).unwrap();
    assert_eq!((found.len(), &found[0].values[..]), (1, &[0.75, 0.25, 0.25, 0.75][..]));
}

#[test]
fn names_beside_numbers_name_the_classes() {
    let document = r#"{"id2label": {"0": "dog", "1": "cat"}, "ids": ["a", "b"], "probs": [[0.75, 0.25], [0.1, 0.9]]}"#;
    let found = read_bytes("m.json", document.into(), &auto()).unwrap();
    assert_eq!(found[0].classes.as_ref().unwrap(), &["dog", "cat"]);
    let named = ReadOptions { class_names: "dog,cat".parse().ok(), ..auto() };
    let read = |text: &str| read_bytes("m.csv", text.into(), &named);
    let found = read("id,LABEL_1,LABEL_0\na,0.75,0.25\nb,0.1,0.9\n").unwrap();
    assert_eq!(found[0].classes.as_ref().unwrap(), &["cat", "dog"]);
    let refused = read("id,cat,dog\na,0.75,0.25\nb,0.1,0.9\n").unwrap_err().to_string();
    assert!(refused.contains("names its classes itself"), "{refused}");
    let answers = ReadOptions { answers: true, ..auto() };
    let found = read_bytes("m.csv", "id,cat,dog\na,6,2\nb,1,9\n".into(), &answers).unwrap();
    assert_eq!(found[0].values, [0.75, 0.25, 0.1, 0.9]);
    let refused = read_bytes("m.csv", "id,cat,dog\na,6,2\nb,0,0\n".into(), &answers).unwrap_err();
    assert!(refused.to_string().contains("row 3"), "{refused}");
}
