//! Layouts in which tools and published datasets store votes: each is read right, to the vote, or
//! refused with the option that reads it. The contents are made up.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use dissensus_core::{Ballots, Scale, Vote, VoteTable};
use dissensus_io::npy;
use dissensus_votes::{ReadOptions, read_bytes};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// What becomes of a file.
enum Outcome {
    /// The format, the classes in order, and for each item its votes per class: `"a 1 2, b 0 3"`.
    Read { format: &'static str, classes: &'static str, votes: &'static str },
    /// A part of the error, and of what it says to do.
    Refused { error: &'static str, remedy: &'static str },
}

struct Layout {
    name: &'static str,
    file: Vec<u8>,
    /// The options of reading, as JSON.
    options: &'static str,
    outcome: Outcome,
}

fn read(
    name: &'static str,
    file: impl Into<Vec<u8>>,
    options: &'static str,
    format: &'static str,
    classes: &'static str,
    votes: &'static str,
) -> Layout {
    let outcome = Outcome::Read { format, classes, votes };
    Layout { name, file: file.into(), options, outcome }
}

fn refused(
    name: &'static str,
    file: impl Into<Vec<u8>>,
    options: &'static str,
    error: &'static str,
    remedy: &'static str,
) -> Layout {
    Layout { name, file: file.into(), options, outcome: Outcome::Refused { error, remedy } }
}

/// What is wrong with a layout, if anything.
fn check(layout: &Layout) -> Option<String> {
    let options: ReadOptions = serde_json::from_str(layout.options).expect(layout.name);
    match (&layout.outcome, read_bytes("x", layout.file.clone(), &options)) {
        (Outcome::Read { format, classes, votes }, Ok(reading)) => {
            let table = &reading.table;
            let row = |item: usize| {
                let votes: Vec<String> = match (table.counts(), table.ballots()) {
                    (Some(counts), _) => {
                        let votes = counts.row(item, table.classes().len());
                        votes.iter().map(ToString::to_string).collect()
                    }
                    (None, Ballots::Votes(votes)) => {
                        votes.of(item).map(|vote| set(table, &vote)).collect()
                    }
                    (None, _) => panic!("{}: no votes", layout.name),
                };
                format!("{} {}", table.items().name(item), votes.join(" "))
            };
            let rows: Vec<String> = (0..table.len()).map(row).collect();
            let found = (reading.format.name, table.classes().names().join(" "), rows.join(", "));
            let wanted = (*format, (*classes).to_owned(), (*votes).to_owned());
            (found != wanted).then(|| format!("read as {found:?}, not {wanted:?}"))
        }
        (Outcome::Refused { error, remedy }, Err(found)) => {
            let (text, advice) = (found.to_string(), found.problem.remedy().unwrap_or_default());
            let right = text.contains(error) && advice.contains(remedy);
            (!right).then(|| format!("refused with {text:?} and {advice:?}"))
        }
        (Outcome::Read { .. }, Err(error)) => Some(format!("refused: {error}")),
        (Outcome::Refused { .. }, Ok(reading)) => {
            let notes: Vec<String> =
                reading.notes.iter().map(|n| format!("{}: {}", n.what, n.value)).collect();
            Some(format!("read, with the notes {notes:?}"))
        }
    }
}

/// A vote for several labels: `ann=x+y`.
fn set(table: &VoteTable, vote: &Vote<'_>) -> String {
    let who = vote.annotator.map_or("?", |who| table.annotators().name(who as usize));
    let labels: Vec<&str> = vote.labels.iter().map(|&class| table.classes().name(class)).collect();
    format!("{who}={}", labels.join("+"))
}

fn check_all(layouts: &[Layout]) {
    let wrong: Vec<String> =
        layouts.iter().filter_map(|l| Some(format!("{}: {}", l.name, check(l)?))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const NONE: &str = "{}";
/// Two items with two votes and one.
const TWO: &str = "a 1 1, b 0 1";

#[test]
fn long_tables() {
    let ambiguous: String = (0..24).map(|i| format!("{}\t{}\t{}\n", i % 2, i / 2, i % 3)).collect();
    let twelve: String =
        (0..12).map(|i| format!("{i},w{},{}\n", i % 3, ["yes", "no"][i % 2])).collect();
    let words = "w1,i1,yes\nw2,i1,no\nw1,i2,no\nw3,i2,no\n";
    let nameless = "q,who,ans\n1,anna,yes\n1,ben,no\n2,anna,no\n2,ben,no\n3,anna,no\n3,ben,yes\n";
    let scores: String =
        (0..40).map(|i| format!("i{},w{i},{}\n", i / 2, i as f64 * 0.37)).collect();
    let texts: String = (0..9)
        .map(|i| format!("i{i},w,\"Here somebody answers in a whole sentence, number {i}.\"\n"))
        .collect();
    let many: String = (0..30).map(|i| format!("i{i},w{},c{i}\n", i % 4)).collect();
    let sizes: String = (0..20).map(|i| format!("{}\t{}\t{}\n", i % 10, i / 10, i % 3)).collect();
    check_all(&[
        read(
            "crowd-kit",
            "task\tworker\tlabel\na\tw1\tno\na\tw2\tyes\nb\tw1\tyes\n",
            NONE,
            "long",
            "no yes",
            TWO,
        ),
        read(
            "crowd-kit of old",
            "task,performer,label\na,w1,no\na,w2,yes\nb,w1,yes\n",
            NONE,
            "long",
            "no yes",
            TWO,
        ),
        read(
            "item, annotator, label",
            "item,annotator,label\na,w1,no\na,w2,yes\nb,w1,yes\n",
            NONE,
            "long",
            "no yes",
            TWO,
        ),
        read(
            "semicolons",
            "Task ID;Worker ID;Answer\na;w1;no\na;w2;yes\nb;w1;yes\n",
            NONE,
            "long",
            "no yes",
            TWO,
        ),
        read(
            "pipes",
            "unit|rater|judgment\na|w1|no\na|w2|yes\nb|w1|yes\n",
            NONE,
            "long",
            "no yes",
            TWO,
        ),
        read(
            "JSON Lines",
            "{\"uid\": \"a\", \"user_id\": 1, \"rating\": 0}\n{\"uid\": \"a\", \"user_id\": 2, \"rating\": 1}\n{\"uid\": \"b\", \"user_id\": 1, \"rating\": 1}\n",
            NONE,
            "long",
            "0 1",
            TWO,
        ),
        read(
            "JSON array",
            "[{\"task\": \"a\", \"worker\": 1, \"label\": \"no\"}, {\"task\": \"a\", \"worker\": 2, \"label\": \"yes\"}, {\"task\": \"b\", \"worker\": 1, \"label\": \"yes\"}]",
            NONE,
            "long",
            "no yes",
            TWO,
        ),
        read(
            "byte-order mark",
            "\u{feff}item,annotator,label\na,w1,no\na,w2,yes\nb,w1,yes\n",
            NONE,
            "long",
            "no yes",
            TWO,
        ),
        refused(
            "a column named after the task",
            "instance_id,user_id,text,toxicity\na,1,Hi there,0\na,2,Hi there,1\nb,1,Ho,1\n",
            NONE,
            "no known vote format fits",
            "`item`, `annotator` and `label`",
        ),
        read(
            "0, 0.0 and \"0 \"",
            "item,annotator,label\na,w1,0\na,w2,1\nb,w1,1.0\nb,w2,0.0\nb,w3,0 \n",
            NONE,
            "long",
            "0 1",
            "a 1 1, b 2 1",
        ),
        read(
            "numbers as text in JSON",
            "{\"item\": \"a\", \"annotator\": 1, \"label\": \"0\"}\n{\"item\": \"a\", \"annotator\": 2, \"label\": 0.0}\n{\"item\": \"b\", \"annotator\": 1, \"label\": 1}\n",
            NONE,
            "long",
            "0 1",
            "a 2 0, b 0 1",
        ),
        read(
            "declared classes written otherwise",
            "item,annotator,label\na,w1,0.0\na,w2,yes \nb,w1,yes\n",
            "{\"classes\": [\"yes\", \"0\"]}",
            "long",
            "yes 0",
            "a 1 1, b 1 0",
        ),
        read(
            "missing votes",
            "item,annotator,label\na,w1,no\na,w2,yes\na,w3,NA\na,w4,\nb,w1,yes\n",
            NONE,
            "long",
            "no yes",
            TWO,
        ),
        read(
            "missing votes by name",
            "item,annotator,label\na,w1,0\na,w2,1\na,w3,99\na,w4,99.0\nb,w1,1\n",
            "{\"missing\": [\"99\"]}",
            "long",
            "0 1",
            TWO,
        ),
        read(
            "weights",
            "item,annotator,label,weight\na,w1,no,0.5\na,w2,yes,1\nb,w1,yes,2\n",
            NONE,
            "long",
            "no yes",
            "a 0.5 1, b 0 2",
        ),
        read(
            "canonical table",
            "item,annotator,label,class\na,w1,yes,0\na,w2,no,1\nb,w1,no,1\n",
            NONE,
            "long",
            "yes no",
            TWO,
        ),
        refused(
            "triples without names",
            "7\t1\t0\n7\t2\t1\n8\t1\t1\n",
            NONE,
            "three columns without a header",
            "`item` and `annotator`",
        ),
        refused(
            "triples with spaces",
            "7 1 0\n7 2 1\n8  1 1\n",
            NONE,
            "three columns without a header",
            "`item` and `annotator`",
        ),
        read(
            "worker item label, with spaces",
            "w1 7 0\nw2 7 1\nw1 8 1\n",
            NONE,
            "long",
            "0 1",
            "7 1 1, 8 0 1",
        ),
        read(
            "workers of Mechanical Turk first",
            "A2KX9PLM41ZT0,7,0\nA1BB9PLM41ZT0,7,1\nA2KX9PLM41ZT0,8,1\n",
            NONE,
            "long",
            "0 1",
            "7 1 1, 8 0 1",
        ),
        read(
            "header with spaces",
            "worker item label\nw1 7 0\nw2 7 1\nw1 8 1\n",
            NONE,
            "long",
            "0 1",
            "7 1 1, 8 0 1",
        ),
        refused(
            "pairs without names",
            "7\t0\n7\t1\n8\t1\n",
            NONE,
            "two columns without a header",
            "`item` and `label`",
        ),
        refused(
            "four columns without names",
            "1 2 0 1\n2 2 1 0\n1 1 1 1\n",
            NONE,
            "four columns without names",
            "`ignore = #4`",
        ),
        read(
            "the same, the fourth left out",
            "1 2 0 1\n2 2 1 0\n1 1 1 1\n",
            "{\"ignore\": [\"#4\"], \"item\": \"#1\", \"annotator\": \"#2\"}",
            "long",
            "0 1",
            "1 1 1, 2 0 1",
        ),
        refused(
            "a matrix of three columns",
            "1 2 0\n1 2 1\n1 2 2\n2 2 1\n1 2 0\n2 2 2\n1 1 2\n1 2 1\n",
            NONE,
            "three columns without a header",
            "`values = labels`",
        ),
        refused(
            "triples whose order is doubtful",
            ambiguous.clone(),
            NONE,
            "three columns without a header",
            "`item`",
        ),
        read(
            "the same, said",
            "1\t7\t0\n2\t7\t1\n1\t8\t1\n",
            "{\"item\": \"#2\", \"annotator\": \"#1\"}",
            "long",
            "0 1",
            "7 1 1, 8 0 1",
        ),
        refused(
            "words without names",
            words,
            NONE,
            "the columns w1, i1, yes",
            "`item`, `annotator` and `label`",
        ),
        read(
            "the same, said",
            words,
            "{\"header\": false, \"item\": \"#2\", \"annotator\": \"#1\", \"label\": \"#3\"}",
            "long",
            "no yes",
            "i1 1 1, i2 2 0",
        ),
        refused(
            "names that say nothing",
            nameless,
            NONE,
            "no known vote format fits",
            "`item`, `annotator` and `label`",
        ),
        read(
            "the same, said",
            nameless,
            "{\"item\": \"q\", \"annotator\": \"who\", \"label\": \"ans\"}",
            "long",
            "no yes",
            "1 1 1, 2 2 0, 3 1 1",
        ),
        refused(
            "two columns of labels",
            "item,annotator,label,answer\na,w1,no,yes\na,w2,yes,no\nb,w1,yes,yes\n",
            NONE,
            "expected one column of labels, found label, answer",
            "`label`",
        ),
        read(
            "the same, said",
            "item,annotator,label,answer\na,w1,no,yes\na,w2,yes,no\nb,w1,yes,yes\n",
            "{\"label\": \"answer\"}",
            "long",
            "no yes",
            "a 1 1, b 0 1",
        ),
        refused(
            "an id that numbers the rows",
            format!("id,worker,label\n{twelve}"),
            NONE,
            "\"id\" may number the rows",
            "`item`",
        ),
        refused(
            "continuous scores",
            format!("item,annotator,score\n{scores}"),
            NONE,
            "this is a table of annotators (one row per annotator)",
            "`label`",
        ),
        refused(
            "sentences as labels",
            format!("item,annotator,answer\n{texts}"),
            NONE,
            "labels as long as sentences are hardly classes",
            "`label`",
        ),
        refused(
            "as many classes as items",
            format!("item,annotator,category\n{many}"),
            NONE,
            "has a value of its own for every item",
            "`label`",
        ),
        refused(
            "a header that was denied",
            "item,annotator,label\na,w1,0\na,w2,1\nb,w1,1\n",
            "{\"header\": false}",
            "three columns without a header",
            "`item`",
        ),
        refused(
            "a first row of sizes",
            format!("10\t2\t3\n{sizes}"),
            NONE,
            "three columns without a header",
            "`item`",
        ),
        refused(
            "a longer first row of sizes",
            "3 2 2 2 1\n7 1 0\n7 2 1\n8 1 1\n",
            NONE,
            "row 1: \"3 2 2 2 1\" reads like sizes: it has 5 cells, the other rows 3",
            "remove it",
        ),
        refused(
            "a table of annotators",
            "annotator,age,gender,education\nw1,20,f,BA\nw2,30,m,MA\n",
            NONE,
            "a file that describes annotators (age, gender, education)",
            "",
        ),
        refused(
            "an unknown column",
            "item,annotator,label\na,w1,no\n",
            "{\"label\": \"verdict\"}",
            "there is no column \"verdict\"",
            "`label`",
        ),
        read(
            "a column left out",
            "item,annotator,label,vote\na,w1,no,1\na,w2,yes,0\nb,w1,yes,0\n",
            "{\"ignore\": [\"vote\"]}",
            "long",
            "no yes",
            TWO,
        ),
    ]);
}

/// Parquet with a column of lists, written as the libraries of Arrow do.
fn parquet(items: &[&str], labels: &[&[&str]]) -> Vec<u8> {
    let schema = "message schema { required binary item (UTF8); optional group label (LIST) {
        repeated group list { optional binary element (UTF8); } } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let bytes = |text: &&str| ByteArray::from(*text);
    let mut column = group.next_column().unwrap().unwrap();
    let ids: Vec<ByteArray> = items.iter().map(bytes).collect();
    column.typed::<ByteArrayType>().write_batch(&ids, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values: Vec<ByteArray> = labels.iter().flat_map(|list| list.iter().map(bytes)).collect();
    let levels = vec![3i16; values.len()];
    let starts: Vec<i16> =
        labels.iter().flat_map(|list| (0..list.len()).map(|i| i16::from(i > 0))).collect();
    column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), Some(&starts)).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// One annotator's labels stay one vote, with its annotator.
#[test]
fn sets_of_labels() {
    const SETS: &str = "{\"scale\": \"multilabel\"}";
    let lists = "{\"item\": \"a\", \"annotator\": 1, \"label\": [\"x\", \"y\"]}\n{\"item\": \"a\", \"annotator\": 2, \"label\": [\"x\"]}\n{\"item\": \"b\", \"annotator\": 1, \"label\": []}\n";
    let one_hot = "item,annotator,x,y\na,w1,1,1\na,w2,1,0\nb,w1,0,1\nb,w2,0,0\n";
    let canonical = "item,annotator,label,multilabel_class,vote\na,w1,x,0,0\na,w2,x,0,1\na,w1,y,1,0\nb,w1,,,2\nc,,,,\n,,z,2,\n";
    let lewidi = r#"{"9": {"annotators": "A,B", "annotations": {"A": "y", "B": "x,y"}, "soft_label": {"x": {"0": 0.5, "1": 0.5}, "y": {"0": 0, "1": 1}}}}"#;
    let wide = "id,rater_1,rater_2\na,x;y,x\nb,y,y\n";
    let prodigy = "{\"text\": \"T\", \"options\": [{\"id\": \"x\"}, {\"id\": \"y\"}], \"accept\": [\"x\", \"y\"], \"answer\": \"accept\", \"_input_hash\": 1, \"_annotator_id\": \"ann\"}\n{\"text\": \"T\", \"options\": [{\"id\": \"x\"}, {\"id\": \"y\"}], \"accept\": [], \"answer\": \"accept\", \"_input_hash\": 1, \"_annotator_id\": \"ben\"}\n";
    check_all(&[
        read("lists in JSON Lines", lists, SETS, "long", "x y", "a 1=x+y 2=x, b "),
        read(
            "lists in Parquet",
            parquet(&["a", "a", "b"], &[&["x", "y"], &["x"], &["y"]]),
            SETS,
            "long",
            "x y",
            "a ?=x+y ?=x, b ?=y",
        ),
        read(
            "labels with a separator",
            "item,annotator,label\na,w1,x;y\na,w2,x\nb,w1,y\n",
            SETS,
            "long",
            "x y",
            "a w1=x+y w2=x, b w1=y",
        ),
        read(
            "one-hot columns, where none may be marked",
            one_hot,
            "{\"one_hot\": [\"x\", \"y\"], \"scale\": \"multilabel\"}",
            "long",
            "x y",
            "a w1=x+y w2=x, b w1=y w2=",
        ),
        read("wide", wide, SETS, "wide", "x y", "a rater_1=x+y rater_2=x, b rater_1=y rater_2=y"),
        read("Le-Wi-Di", lewidi, SETS, "lewidi-2025", "x y", "9 A=y B=x+y"),
        read("Prodigy", prodigy, SETS, "prodigy", "x y", "1 ann=x+y ben="),
        read(
            "canonical, in any order",
            canonical,
            NONE,
            "long",
            "x y z",
            "a w1=x+y w2=x, b w1=, c ",
        ),
        read(
            "canonical, split again",
            canonical.replace("b,w1,,,2\n", ""),
            "{\"multilabel\": \"votes\"}",
            "long",
            "x y z",
            "a 2 1 0, c 0 0 0",
        ),
        refused(
            "canonical, as one label",
            canonical,
            "{\"scale\": \"nominal\"}",
            "a vote on item \"a\" is for 2 classes, and nominal votes are for one",
            "",
        ),
        refused(
            "canonical without votes",
            canonical.replace("vote", "ballot"),
            NONE,
            "expected a column named `vote`",
            "",
        ),
        refused(
            "canonical, a vote of two annotators",
            canonical.replace("a,w1,y", "a,w2,y"),
            NONE,
            "expected one item, annotator and weight in all rows of a vote",
            "",
        ),
        refused(
            "a label twice",
            "{\"item\": \"a\", \"annotator\": 1, \"label\": [\"x\", \"x\"]}\n",
            SETS,
            "expected each label once in a vote for several",
            "",
        ),
        refused(
            "split and kept together",
            lists,
            "{\"scale\": \"multilabel\", \"multilabel\": \"each\"}",
            "`multilabel` splits them",
            "only `scale` or only `multilabel`",
        ),
        refused(
            "counts",
            "id,x,y\na,3,1\nb,0,4\n",
            SETS,
            "a table of counts is not defined for multi-label votes",
            "",
        ),
    ]);
}

#[test]
fn ordinal_classes() {
    const ORDINAL: &str = "{\"scale\": \"ordinal\"}";
    let numbers = "item,annotator,label\na,w1,10\na,w2,9\nb,w1,-1\n";
    let words = "item,annotator,label\na,w1,good\na,w2,bad\nb,w1,bad\n";
    check_all(&[
        read("numbers", numbers, ORDINAL, "long", "-1 9 10", "a 0 1 1, b 1 0 0"),
        refused("words", words, ORDINAL, "bad, good are only sorted by name", "`classes`"),
        read(
            "words in order",
            words,
            "{\"scale\": \"ordinal\", \"classes\": [\"good\", \"fair\", \"bad\"]}",
            "long",
            "good fair bad",
            "a 1 0 1, b 0 0 1",
        ),
        refused(
            "numbers in another order",
            numbers,
            "{\"scale\": \"ordinal\", \"classes\": [\"-1\", \"10\", \"9\"]}",
            "\"9\" comes after \"10\"",
            "`classes`",
        ),
        read(
            "counts of words in the order of the columns",
            "id,poor,fair,good\na,3,1,0\nb,0,4,9\n",
            "{\"scale\": \"ordinal\", \"values\": \"counts\"}",
            "matrix",
            "poor fair good",
            "a 3 1 0, b 0 4 9",
        ),
    ]);
    let scale = |text: &str, options: &str| {
        let options: ReadOptions = serde_json::from_str(options).unwrap();
        read_bytes("x", text.into(), &options).unwrap().table.scale()
    };
    let written = "item,annotator,label,ordinal_class\na,w,low,0\nb,w,high,1\n";
    assert_eq!(scale(written, NONE), Scale::Ordinal);
    assert_eq!(scale(written, "{\"scale\": \"nominal\"}"), Scale::Nominal);
    assert_eq!(scale(numbers, NONE), Scale::Nominal);
}

#[test]
fn votes_for_several_labels() {
    let lists = "{\"item\": \"a\", \"annotator\": 1, \"label\": [\"x\", \"y\"]}\n{\"item\": \"a\", \"annotator\": 2, \"label\": [\"x\"]}\n{\"item\": \"b\", \"annotator\": 1, \"label\": [\"y\"]}\n";
    let joined = "item,annotator,label\na,w1,x;y\na,w2,x\nb,w1,y\n";
    let one_hot = "item,annotator,x,y\na,w1,1,0\na,w2,0,1\nb,w1,0,1\n";
    let several = "item,annotator,x,y\na,w1,1,1\na,w2,1,0\nb,w1,0,1\nb,w2,0,0\n";
    let flags = "id,rater_id,text,unclear,joy,fear\na,1,Some text that is long enough to be one,False,1,0\na,2,Some text that is long enough to be one,False,1,1\nb,1,Another text that is long enough to be one,True,0,0\n";
    let parquet = || parquet(&["a", "a", "b"], &[&["x", "y"], &["x"], &["y"]]);
    let wide = "id,rater_1,rater_2\na,x;y,x\nb,y,y\n";
    let votes = "{\"id\": \"a\", \"label\": [1, 0, 1]}\n{\"id\": \"b\", \"label\": [0]}\n";
    let ask = "`multilabel`";
    check_all(&[
        refused("lists in JSON Lines", lists, NONE, "several labels in one vote: \"x, y\"", ask),
        read(
            "a share each",
            lists,
            "{\"multilabel\": \"each\"}",
            "long",
            "x y",
            "a 1.5 0.5, b 0 1",
        ),
        read("a vote each", lists, "{\"multilabel\": \"votes\"}", "long", "x y", "a 2 1, b 0 1"),
        read(
            "one against the rest",
            lists,
            "{\"multilabel\": \"only=y\"}",
            "long",
            "not y y",
            "a 1 1, b 0 1",
        ),
        refused("lists in Parquet", parquet(), NONE, "several labels in one vote: \"x, y\"", ask),
        read(
            "a share each, Parquet",
            parquet(),
            "{\"multilabel\": \"each\"}",
            "long",
            "x y",
            "a 1.5 0.5, b 0 1",
        ),
        read(
            "one against the rest, Parquet",
            parquet(),
            "{\"multilabel\": \"only=y\"}",
            "long",
            "not y y",
            "a 1 1, b 0 1",
        ),
        refused(
            "labels with a separator",
            joined,
            NONE,
            "several labels in one vote: \"x;y\"",
            "`separator`",
        ),
        read(
            "a share each, separator",
            joined,
            "{\"multilabel\": \"each\"}",
            "long",
            "x y",
            "a 1.5 0.5, b 0 1",
        ),
        read(
            "one against the rest, separator",
            joined,
            "{\"multilabel\": \"only=y\"}",
            "long",
            "not y y",
            "a 1 1, b 0 1",
        ),
        read(
            "a vote each, separator",
            joined,
            "{\"multilabel\": \"votes\"}",
            "long",
            "x y",
            "a 2 1, b 0 1",
        ),
        read(
            "a class that is written so",
            joined,
            "{\"classes\": [\"x\", \"y\", \"x;y\"]}",
            "long",
            "x y x;y",
            "a 1 0 1, b 0 1 0",
        ),
        read(
            "another separator",
            "item,annotator,label\na,w1,x+y\na,w2,x\nb,w1,y\n",
            "{\"multilabel\": \"each\", \"separator\": \"+\"}",
            "long",
            "x y",
            "a 1.5 0.5, b 0 1",
        ),
        read(
            "doccano's CSV",
            "id,text,label\na,Hi,x#y\nb,Ho,y\nc,Hu,x\n",
            "{\"multilabel\": \"each\"}",
            "long",
            "x y",
            "a 0.5 0.5, b 0 1, c 1 0",
        ),
        refused(
            "doccano's CSV, unsaid",
            "id,text,label\na,Hi,x#y\nb,Ho,y\nc,Hu,x\n",
            NONE,
            "several labels in one vote: \"x#y\"",
            ask,
        ),
        read("one-hot columns", one_hot, NONE, "long", "x y", TWO),
        refused(
            "one-hot columns with several",
            several,
            NONE,
            "no known vote format fits",
            "`item`, `annotator` and `label`",
        ),
        read(
            "a share each, one-hot",
            several,
            "{\"one_hot\": [\"x\", \"y\"], \"multilabel\": \"each\"}",
            "long",
            "x y",
            "a 1.5 0.5, b 0 1",
        ),
        read(
            "one against the rest, one-hot",
            several,
            "{\"one_hot\": [\"x\", \"y\"], \"multilabel\": \"only=x\"}",
            "long",
            "not x x",
            "a 0 2, b 2 0",
        ),
        refused(
            "one-hot columns without a rule",
            several,
            "{\"one_hot\": [\"x\", \"y\"]}",
            "several labels in one vote: \"x, y\"",
            ask,
        ),
        refused(
            "emotions per rater",
            flags,
            NONE,
            "no known vote format fits",
            "`item`, `annotator` and `label`",
        ),
        read(
            "emotions per rater, said",
            flags,
            "{\"one_hot\": [\"joy\", \"fear\"], \"multilabel\": \"each\"}",
            "long",
            "joy fear",
            "a 1.5 0.5, b 0 0",
        ),
        refused(
            "a number in a one-hot column",
            one_hot.replace("a,w1,1", "a,w1,2"),
            "{\"one_hot\": [\"x\", \"y\"]}",
            "expected 0 or 1 in a one-hot column, found \"2\"",
            "",
        ),
        refused(
            "a separator in a wide table",
            wide,
            NONE,
            "several labels in one vote: \"x;y\"",
            ask,
        ),
        read(
            "a share each, wide",
            wide,
            "{\"multilabel\": \"each\"}",
            "wide",
            "x y",
            "a 1.5 0.5, b 0 2",
        ),
        read(
            "one against the rest, wide",
            wide,
            "{\"multilabel\": \"only=y\"}",
            "wide",
            "not y y",
            "a 1 1, b 0 2",
        ),
        read(
            "lists in a wide table",
            "{\"id\": \"a\", \"rater_1\": [\"x\", \"y\"], \"rater_2\": [\"x\"]}\n{\"id\": \"b\", \"rater_1\": [\"y\"], \"rater_2\": []}\n",
            "{\"multilabel\": \"each\"}",
            "wide",
            "x y",
            "a 1.5 0.5, b 0 1",
        ),
        refused(
            "votes of several people in a list",
            votes,
            NONE,
            "several labels in one vote",
            "`votes`",
        ),
        read(
            "votes of several people, said",
            votes,
            "{\"multilabel\": \"votes\"}",
            "long",
            "0 1",
            "a 1 2, b 1 0",
        ),
    ]);
}

#[test]
fn wide_tables() {
    let ratings = "id,anna,ben,cleo\na,1,2,2\nb,3,5,4\nc,1,1,2\nd,5,4,5\n";
    let other = "id,source,anna,ben\na,web,no,yes\nb,web,yes,yes\nc,app,no,no\nd,web,no,yes\n";
    let binary = "id,anna,ben,cleo\na,0,1,1\nb,1,1,1\nc,0,0,1\nd,0,0,0\n";
    let gold = "id,anna,ben,label\na,no,yes,yes\nb,yes,yes,yes\nc,no,no,no\nd,no,yes,no\n";
    let zeros = "1 0 2 0\n0 2 2 1\n1 1 0 0\n2 2 2 2\n";
    check_all(&[
        read(
            "columns named after raters",
            "id,rater_1,rater_2\na,no,yes\nb,,yes\n",
            NONE,
            "wide",
            "no yes",
            TWO,
        ),
        refused(
            "columns named after people",
            "id,anna,ben,cleo\na,no,yes,\nb,,yes,\nc,no,yes,yes\nd,no,no,no\n",
            NONE,
            "no known vote format fits",
            "`item`, `annotator` and `label`",
        ),
        refused(
            "a text column is no annotator",
            "id,comment,anna,ben\na,This is a comment that somebody wrote.,no,yes\nb,And here is one more of them all.,yes,yes\nc,The third of these comments is here.,no,no\n",
            NONE,
            "no known vote format fits",
            "`item`, `annotator` and `label`",
        ),
        read(
            "a label beside raters",
            "id,label,rater1,rater2\na,yes,no,yes\nb,yes,yes,yes\n",
            NONE,
            "wide",
            "no yes",
            "a 1 1, b 0 2",
        ),
        read(
            "-1 for no vote",
            "id,worker_1,worker_2,worker_3\na,0,1,-1\nb,-1,1,-1\n",
            NONE,
            "wide",
            "0 1",
            TWO,
        ),
        read(
            "columns by a pattern",
            "id,label_1,label_2,gold\na,no,yes,no\nb,,yes,yes\n",
            "{\"annotators\": [\"label_*\"]}",
            "wide",
            "no yes",
            TWO,
        ),
        read(
            "columns by a list",
            other,
            "{\"annotators\": [\"anna\", \"ben\"]}",
            "wide",
            "no yes",
            "a 1 1, b 0 2, c 2 0, d 1 1",
        ),
        refused(
            "columns left out",
            other,
            "{\"ignore\": [\"source\"]}",
            "no known vote format fits",
            "`item`, `annotator` and `label`",
        ),
        refused(
            "a column with other values",
            other,
            NONE,
            "no known vote format fits",
            "`item`, `annotator` and `label`",
        ),
        refused(
            "ratings by people",
            ratings,
            NONE,
            "votes per class (items × classes), or the labels of annotators",
            "`values = labels`",
        ),
        read(
            "the same, said",
            ratings,
            "{\"values\": \"labels\"}",
            "wide",
            "1 2 3 4 5",
            "a 1 2 0 0 0, b 0 0 1 1 1, c 2 1 0 0 0, d 0 0 0 1 2",
        ),
        refused(
            "0 and 1 by people",
            binary,
            NONE,
            "votes per class (items × classes), or the labels of annotators",
            "`values = labels`",
        ),
        read(
            "the same by a list",
            binary,
            "{\"annotators\": [\"anna\", \"ben\", \"cleo\"]}",
            "wide",
            "0 1",
            "a 1 2, b 0 3, c 2 1, d 3 0",
        ),
        refused(
            "a gold label beside people",
            gold,
            NONE,
            "no known vote format fits",
            "`item`, `annotator` and `label`",
        ),
        read(
            "the same, said",
            gold,
            "{\"annotators\": [\"anna\", \"ben\"]}",
            "wide",
            "no yes",
            "a 1 1, b 0 2, c 2 0, d 1 1",
        ),
        read(
            "a printed matrix with -1",
            " 0  1 -1 0 2\n-1  1 -1 2 2\n",
            NONE,
            "wide",
            "0 1 2",
            "1 2 1 1, 2 0 1 2",
        ),
        refused(
            "a printed matrix with 0 for no vote",
            zeros.replace('\n', " 1\n"),
            NONE,
            "votes per class (items × classes), or the labels of annotators",
            "`missing = 0`",
        ),
        read(
            "the same, said",
            zeros.replace('\n', " 1\n"),
            "{\"values\": \"labels\", \"missing\": [\"0\"]}",
            "wide",
            "1 2",
            "1 2 1, 2 2 2, 3 3 0, 4 1 4",
        ),
        read(
            "patterns and their numbers",
            "rater_1,rater_2,n\n1,1,2\n1,2,1\n",
            NONE,
            "wide",
            "1 2",
            "1.1 2 0, 1.2 2 0, 2.1 1 1",
        ),
        read(
            "JSON Lines",
            "{\"id\": \"a\", \"annotator1\": \"no\", \"annotator2\": \"yes\"}\n{\"id\": \"b\", \"annotator1\": null, \"annotator2\": \"yes\"}\n",
            NONE,
            "wide",
            "no yes",
            TWO,
        ),
        refused(
            "an annotator column in a wide table",
            "id,rater_1,rater_2\na,no,yes\n",
            "{\"annotators\": [\"coder_*\"]}",
            "there is no column \"coder_*\"",
            "",
        ),
    ]);
}

fn npy_file(descr: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
    [npy::header(descr, shape), data.to_vec()].concat()
}

fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    use std::io::Write;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn matrices() {
    let floats = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let nan = npy_file("<f8", &[2, 3], &floats(&[0.0, 1.0, f64::NAN, f64::NAN, 1.0, f64::NAN]));
    let texts = |texts: &[&str]| {
        let mut out = Vec::new();
        npy::write_texts(&mut out, texts.iter().copied()).unwrap();
        out
    };
    let counts = npy_file("|u1", &[2, 2], &[1, 1, 0, 1]);
    let archive = npz(&[
        ("counts.npy", counts),
        ("items.npy", texts(&["a", "b"])),
        ("classes.npy", texts(&["no", "yes"])),
    ]);
    check_all(&[
        read(
            "counts per class",
            "id,no,yes\na,3,1\nb,0,4\n",
            NONE,
            "matrix",
            "no yes",
            "a 3 1, b 0 4",
        ),
        refused(
            "different numbers of votes",
            "id,no,yes\na,3,1\nb,0,2\nc,1,1\n",
            NONE,
            "votes per class (items × classes), or the labels of annotators",
            "`values = labels`",
        ),
        read(
            "counts by a pattern",
            "id,n_no,n_yes,total\na,1,1,2\nb,0,1,1\n",
            "{\"counts\": [\"n_*\"]}",
            "matrix",
            "n_no n_yes",
            TWO,
        ),
        read(
            "counts without a column",
            "id,no,yes,total\na,1,1,2\nb,0,1,1\n",
            "{\"counts\": [\"no\", \"yes\"]}",
            "matrix",
            "no yes",
            TWO,
        ),
        read(
            "an index of pandas",
            ",no,yes\n0,3,1\n1,0,4\n",
            NONE,
            "matrix",
            "no yes",
            "0 3 1, 1 0 4",
        ),
        read(
            "numpy counts",
            npy_file("|u1", &[2, 2], &[30, 20, 0, 47]),
            NONE,
            "npy",
            "0 1",
            "0 30 20, 1 0 47",
        ),
        read(
            "numpy labels with -1",
            npy_file("|i1", &[2, 3], &[0, 1, 0xff, 0xff, 1, 0xff]),
            NONE,
            "npy",
            "0 1",
            "0 1 1, 1 0 1",
        ),
        read("numpy labels with NaN", nan, NONE, "npy", "0 1", "0 1 1, 1 0 1"),
        refused(
            "numpy labels with 0 for no vote",
            npy_file("|u1", &[3, 4], &[1, 0, 2, 0, 0, 2, 2, 1, 2, 2, 2, 2]),
            NONE,
            "votes per class (items × classes), or the labels of annotators",
            "`values = labels`",
        ),
        read(
            "the same, said",
            npy_file("|u1", &[3, 4], &[1, 0, 2, 0, 0, 2, 2, 1, 2, 2, 2, 2]),
            "{\"values\": \"labels\", \"missing\": [\"0\"]}",
            "npy",
            "1 2",
            "0 1 1, 1 1 2, 2 0 4",
        ),
        read("our archive", archive, NONE, "npz", "no yes", TWO),
        refused(
            "missing values of counts",
            "id,no,yes\na,3,1\nb,0,4\n",
            "{\"missing\": [\"0\"]}",
            "`missing` has no meaning in the format matrix",
            "leave it out",
        ),
    ]);
}

#[test]
fn exports_of_tools() {
    let studio = r#"[{"id": 7, "data": {"text": "Hi"}, "annotations": [
        {"completed_by": 1, "result": [{"type": "choices", "from_name": "mood", "value": {"choices": ["no"]}}]},
        {"completed_by": 2, "result": [{"type": "choices", "from_name": "mood", "value": {"choices": ["yes"]}}]}]},
        {"id": 8, "data": {"text": "Ho"}, "annotations": [
        {"completed_by": 1, "result": [{"type": "choices", "from_name": "mood", "value": {"choices": ["yes"]}}]}]}]"#;
    let studio_csv = "text,id,mood,annotator,annotation_id,created_at,updated_at,lead_time\nHi,7,no,1,100,t,t,2.5\nHi,7,yes,2,101,t,t,1.5\nHo,8,\"{\"\"choices\"\": [\"\"no\"\", \"\"yes\"\"]}\",1,102,t,t,3\n";
    let feedback = r#"[{"fields": {"text": "Hi"}, "external_id": "a", "responses": [
        {"user_id": "u1", "status": "submitted", "values": {"mood": {"value": "no"}}},
        {"user_id": "u2", "status": "submitted", "values": {"mood": {"value": "yes"}}},
        {"user_id": "u3", "status": "discarded", "values": {"mood": {"value": "yes"}}}]},
        {"fields": {"text": "Ho"}, "external_id": "b", "responses": [
        {"user_id": "u1", "status": "submitted", "values": {"mood": {"value": "yes"}}},
        {"user_id": "u2", "status": "discarded", "values": {}}]}]"#;
    let feedback_rows = r#"{"text": "Hi", "external_id": "a", "mood": {"user_id": ["u1", "u2", "u3"], "value": ["no", "yes", "yes"], "status": ["submitted", "submitted", "discarded"]}}
{"text": "Ho", "external_id": "b", "mood": {"user_id": ["u1"], "value": ["yes"], "status": ["submitted"]}}
"#;
    let classification = r#"{"text": "Hi", "prediction": null, "prediction_agent": null, "annotation": "no", "annotation_agent": "u1", "id": "a", "status": "Validated"}
{"text": "Ho", "prediction": null, "prediction_agent": null, "annotation": "yes", "annotation_agent": "u2", "id": "b", "status": "Discarded"}
{"text": "Hu", "prediction": null, "prediction_agent": null, "annotation": null, "annotation_agent": null, "id": "c", "status": "Default"}
"#;
    let nested = r#"[{"id": "a", "fields": {"text": "Hi"}, "metadata": {}, "suggestions": {"mood": {"value": "no"}}, "responses": {"mood": [{"value": "no", "user_id": "u1"}, {"value": "yes", "user_id": "u2"}]}, "status": "completed"},
        {"id": "b", "fields": {"text": "Ho"}, "metadata": {}, "suggestions": {}, "responses": {"mood": [{"value": "yes", "user_id": "u1"}]}, "status": "completed"}]"#;
    let flat = r#"{"id": "a", "mood.responses": ["no", "yes", "no"], "mood.responses.users": ["u1", "u2", "u3"], "mood.responses.status": ["submitted", "submitted", "draft"]}
{"id": "b", "mood.responses": ["yes"], "mood.responses.users": ["u1"], "mood.responses.status": ["submitted"]}
"#;
    let choices = r#"{"text": "Hi", "accept": ["no"], "answer": "accept", "_input_hash": 7, "_session_id": "u1"}
{"text": "Hi", "accept": ["yes"], "answer": "accept", "_input_hash": 7, "_session_id": "u2"}
{"text": "Ho", "accept": ["yes"], "answer": "accept", "_input_hash": 8, "_session_id": "u1"}
{"text": "Ho", "accept": [], "answer": "accept", "_input_hash": 8, "_session_id": "u2"}
"#;
    let mturk = "HITId,HITTypeId,AssignmentId,WorkerId,AssignmentStatus,Input.text,Answer.mood,Approve,Reject\na,t,1,A1,Approved,Hi,no,x,\na,t,2,A2,Submitted,Hi,yes,,\na,t,3,A3,Rejected,Hi,yes,,x\nb,t,4,A1,Approved,Ho,yes,x,\n";
    let task_answers = "HITId,WorkerId,Answer.taskAnswers\na,A1,\"[{\"\"mood\"\":{\"\"label\"\":\"\"no\"\"}}]\"\na,A2,\"[{\"\"mood\"\":{\"\"label\"\":\"\"yes\"\"}}]\"\nb,A1,\"[{\"\"mood\"\":{\"\"label\"\":\"\"yes\"\"}}]\"\n";
    let toloka = "INPUT:image\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:task_id\tASSIGNMENT:worker_id\tASSIGNMENT:status\nx.jpg\tno\t\ta\tw1\tAPPROVED\nx.jpg\tyes\t\ta\tw2\tSUBMITTED\nx.jpg\tyes\t\ta\tw3\tSKIPPED\ny.jpg\tyes\t\tb\tw1\tAPPROVED\n";
    let potato = "user\tinstance_id\tdisplayed_text\tmood:::no\tmood:::yes\nann\ta\tHi\t1\t\nben\ta\tHi\t\t2\nann\tb\tHo\t\t2\n";
    let inception = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Mood|value\n\n\n#Text=Hi there\n1-1\t0-2\tHi\t_\t\n";
    let old_doccano = "{\"id\": \"a\", \"text\": \"Hi\", \"annotations\": [{\"label\": 1, \"user\": 1}, {\"label\": 2, \"user\": 2}], \"meta\": {}}\n{\"id\": \"b\", \"text\": \"Ho\", \"annotations\": [{\"label\": 2, \"user\": 1}], \"meta\": {}}\n";
    check_all(&[
        read("Label Studio", studio, NONE, "label-studio", "no yes", "7 1 1, 8 0 1"),
        read(
            "Label Studio without ids",
            studio.replace("\"id\": 7, ", "").replace("\"id\": 8, ", ""),
            NONE,
            "label-studio",
            "no yes",
            "0 1 1, 1 0 1",
        ),
        refused(
            "Label Studio, CSV",
            studio_csv,
            NONE,
            "several labels in one vote: \"no, yes\"",
            "`multilabel`",
        ),
        read(
            "Label Studio, CSV, said",
            studio_csv,
            "{\"multilabel\": \"each\"}",
            "label-studio",
            "no yes",
            "7 1 1, 8 0.5 0.5",
        ),
        read(
            "Label Studio, JSON-MIN",
            r#"[{"text": "Hi", "id": 7, "mood": "no", "annotator": 1, "annotation_id": 1}, {"text": "Hi", "id": 7, "mood": "yes", "annotator": 2, "annotation_id": 2}]"#,
            NONE,
            "label-studio",
            "no yes",
            "7 1 1",
        ),
        refused(
            "Label Studio, another question",
            studio,
            "{\"label\": \"topic\"}",
            "expected one question to read, found mood",
            "`label`",
        ),
        read("Argilla 2, flattened", flat, NONE, "argilla", "no yes", TWO),
        read("Argilla 2, to_json", nested, NONE, "argilla", "no yes", TWO),
        read("Argilla 1, feedback", feedback, NONE, "argilla", "no yes", TWO),
        read("Argilla 1, feedback as a dataset", feedback_rows, NONE, "argilla", "no yes", TWO),
        read(
            "Argilla 1, text classification",
            classification,
            NONE,
            "argilla",
            "no",
            "a 1, b 0, c 0",
        ),
        read(
            "Prodigy, choices, one of them empty",
            choices,
            NONE,
            "prodigy",
            "no yes",
            "7 1 1, 8 0 1",
        ),
        read(
            "Prodigy, one against the rest",
            choices,
            "{\"multilabel\": \"only=yes\"}",
            "prodigy",
            "not yes yes",
            "7 1 1, 8 1 1",
        ),
        refused(
            "Prodigy, a label for choices",
            choices,
            "{\"label\": \"yes\"}",
            "`label` has no meaning in the format prodigy (answers by choice)",
            "",
        ),
        read(
            "Prodigy, accept and reject",
            "{\"text\": \"Hi\", \"label\": \"SPORT\", \"answer\": \"accept\", \"_input_hash\": 7}\n{\"text\": \"Hi\", \"label\": \"SPORT\", \"answer\": \"reject\", \"_input_hash\": 7}\n",
            NONE,
            "prodigy",
            "SPORT not SPORT",
            "7 1 1",
        ),
        read("Mechanical Turk", mturk, NONE, "mturk", "no yes", TWO),
        read(
            "Mechanical Turk by input",
            mturk,
            "{\"item\": \"Input.text\"}",
            "mturk",
            "no yes",
            "Hi 1 1, Ho 0 1",
        ),
        read("Mechanical Turk, task answers", task_answers, NONE, "mturk", "no yes", TWO),
        read("Toloka", toloka, NONE, "toloka", "no yes", TWO),
        read("Potato", potato, NONE, "potato", "no yes", TWO),
        refused(
            "INCEpTION",
            inception,
            NONE,
            "a WebAnno TSV file (INCEpTION), which marks spans of text",
            "",
        ),
        read(
            "doccano",
            "{\"id\": 7, \"text\": \"Hi\", \"label\": [\"no\"], \"Comments\": []}\n{\"id\": 8, \"text\": \"Ho\", \"label\": [\"yes\"], \"Comments\": []}\n",
            NONE,
            "long",
            "no yes",
            "7 1 0, 8 0 1",
        ),
        refused(
            "doccano, spans",
            "{\"id\": 7, \"text\": \"Hi\", \"label\": [[0, 2, \"X\"]]}\n",
            NONE,
            "expected a label or a list of labels, found [0,2,\"X\"]",
            "",
        ),
        read("doccano of old", old_doccano, NONE, "huggingface", "1 2", TWO),
    ]);
}

#[test]
fn published_datasets() {
    check_all(&[
        read(
            "annotators in a struct",
            "{\"id\": \"a\", \"annotators\": {\"annotator_id\": [1, 2], \"label\": [\"no\", \"yes\"]}}\n{\"id\": \"b\", \"annotators\": {\"annotator_id\": [1], \"label\": [\"yes\"]}}\n",
            NONE,
            "huggingface",
            "no yes",
            TWO,
        ),
        read(
            "a list of structs",
            "{\"id\": \"a\", \"votes\": [{\"worker\": 1, \"answer\": \"no\"}, {\"worker\": 2, \"answer\": \"yes\"}]}\n{\"id\": \"b\", \"votes\": [{\"worker\": 1, \"answer\": \"yes\"}]}\n",
            NONE,
            "huggingface",
            "no yes",
            TWO,
        ),
        read(
            "answers by task and worker",
            r#"{"a": {"w1": 0, "w2": 1}, "b": {"w1": 1}}"#,
            NONE,
            "peerannot",
            "0 1",
            TWO,
        ),
        read(
            "answers by worker and task",
            r#"{"w1": {"a": 0, "b": 1}, "w2": {"a": 1}}"#,
            NONE,
            "peerannot",
            "0 1",
            TWO,
        ),
        refused(
            "sizes of a dataset",
            r#"{"name": "toy", "n_classes": 2, "n_workers": 4}"#,
            NONE,
            "metadata.json, which has none",
            "",
        ),
        read(
            "annotations joined by commas",
            r#"{"a": {"text": "Hi", "annotations": "0,1", "annotators": "Ann1,Ann2", "soft_label": {"0": 0.5, "1": 0.5}}, "b": {"text": "Ho", "annotations": "1", "annotators": "Ann1", "soft_label": {"0": 0.0, "1": 1.0}}}"#,
            NONE,
            "lewidi-2023",
            "0 1",
            TWO,
        ),
        refused(
            "annotations of several labels",
            r#"{"a": {"text": "Hi", "annotations": {"Ann1": "x,y"}, "annotators": "Ann1", "soft_label": {}}}"#,
            NONE,
            "several labels in one vote",
            "`multilabel`",
        ),
        read(
            "annotations by annotator",
            r#"{"a": {"text": "Hi", "annotations": {"Ann1": "x,y", "Ann2": "x"}, "annotators": "Ann1,Ann2", "soft_label": {}}}"#,
            "{\"multilabel\": \"each\"}",
            "lewidi-2025",
            "x y",
            "a 1.5 0.5",
        ),
        read(
            "counters",
            "{\"uid\": \"a\", \"label_counter\": {\"e\": 1, \"n\": 1}, \"label_count\": [1, 1, 0]}\n{\"uid\": \"b\", \"label_counter\": {\"n\": 1}, \"label_count\": [0, 1, 0]}\n",
            NONE,
            "chaosnli",
            "e n c",
            "a 1 1 0, b 0 1 0",
        ),
        read(
            "scores and users in lists",
            "instance_id,scores,users,label\na,\"[1.0, 2.0]\",\"['u1', 'u2']\",1.5\nb,[2.0],['u1'],2.0\n",
            NONE,
            "popquorn",
            "1 2",
            TWO,
        ),
    ]);
}

/// An option that has no meaning in a format is an error, whatever the format.
#[test]
fn options_without_meaning_are_errors() {
    let counter = "{\"uid\": \"a\", \"label_counter\": {\"e\": 1}, \"label_count\": [1, 0, 0]}\n";
    let peers = r#"{"a": {"w1": 0, "w2": 1}, "b": {"w1": 1}}"#;
    let lewidi = r#"{"a": {"text": "Hi", "annotations": "0,1", "annotators": "Ann1,Ann2"}}"#;
    let array = || npy_file("|u1", &[2, 2], &[30, 20, 0, 47]);
    let wide = "id,rater_1,rater_2\na,no,yes\nb,,yes\n";
    let leave = "leave it out";
    check_all(&[
        refused(
            "annotator",
            counter,
            "{\"annotator\": \"worker\"}",
            "`annotator` has no meaning in the format chaosnli",
            leave,
        ),
        refused(
            "label",
            counter,
            "{\"label\": \"entropy\"}",
            "`label` has no meaning in the format chaosnli",
            leave,
        ),
        refused(
            "item",
            counter,
            "{\"item\": \"uid\"}",
            "`item` has no meaning in the format chaosnli",
            leave,
        ),
        refused(
            "multilabel",
            lewidi,
            "{\"multilabel\": \"each\"}",
            "`multilabel` has no meaning in the format lewidi-2023",
            leave,
        ),
        refused(
            "item of an array",
            array(),
            "{\"item\": \"id\"}",
            "`item` has no meaning in the format npy",
            leave,
        ),
        refused(
            "annotator of an array",
            array(),
            "{\"annotator\": \"id\"}",
            "`annotator` has no meaning in the format npy",
            leave,
        ),
        refused(
            "label of answers",
            peers,
            "{\"label\": \"x\"}",
            "`label` has no meaning in the format peerannot",
            leave,
        ),
        refused(
            "values of answers",
            peers,
            "{\"values\": \"labels\"}",
            "`values` has no meaning in the format peerannot",
            leave,
        ),
        refused(
            "delimiter of JSON",
            peers,
            "{\"delimiter\": \";\"}",
            "`delimiter` has no meaning in the format peerannot",
            leave,
        ),
        refused(
            "header of JSON Lines",
            counter,
            "{\"header\": true}",
            "`header` has no meaning in the format chaosnli",
            leave,
        ),
        refused(
            "weight of a wide table",
            wide,
            "{\"format\": \"wide\", \"weight\": \"w\"}",
            "`weight` has no meaning in the format wide",
            leave,
        ),
        refused(
            "label of a wide table",
            wide,
            "{\"format\": \"wide\", \"label\": \"x\"}",
            "`label` has no meaning in the format wide",
            leave,
        ),
        refused(
            "columns of annotators in a long table",
            "item,annotator,label\na,w,x\n",
            "{\"format\": \"long\", \"annotators\": [\"w*\"]}",
            "`annotators` has no meaning in the format long",
            leave,
        ),
    ]);
}

#[test]
fn small_files_are_doubted_too() {
    check_all(&[
        refused(
            "four scores",
            "id,score\n1,0.153\n2,0.78123\n3,0.412\n4,0.991\n",
            NONE,
            "numbers with fractions (scores, means or other aggregates)",
            "`label`",
        ),
        read(
            "scores that are meant",
            "id,score\n1,0.5\n2,0.25\n3,0.75\n",
            r#"{"label": "score"}"#,
            "long",
            "0.25 0.5 0.75",
            "1 0 1 0, 2 1 0 0, 3 0 0 1",
        ),
        refused(
            "a small matrix",
            "3 2 4\n1 2 0\n0 2 1\n4 0 0\n",
            NONE,
            "three columns without a header",
            "`item`",
        ),
        refused(
            "a column per annotator, without their names",
            "id,question,q1,q2,q3\n1,is it?,yes,no,yes\n2,what?,yes,yes,yes\n3,who?,no,no,no\n",
            NONE,
            "no annotator column and no column of votes",
            "",
        ),
    ]);
}
