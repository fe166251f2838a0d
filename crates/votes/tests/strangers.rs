//! No column has a role by elimination: what holds for any table, whatever its columns are called and wherever they
//! stand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dissensus_votes::{ReadOptions, VoteFile, read_bytes};
use proptest::prelude::*;

/// A table of votes: item, annotator, label (and a text), 12 items by 4 people of 6.
fn rows(seed: u64) -> Vec<[String; 4]> {
    let label =
        |i: u64, who: u64| ["pos", "neg", "neutral"][((seed ^ (i * 7 + who * 13)) % 3) as usize];
    (0..12u64)
        .flat_map(|i| (0..4u64).map(move |k| (i, (i + k) % 6)))
        .map(|(i, who)| {
            let text = format!("Here is what somebody said about thing number {i}, in some words.");
            [format!("t{i}"), format!("p{who}"), label(i, who).to_owned(), text]
        })
        .collect()
}

/// The same votes as a CSV table whose columns have these names and this order.
fn long(seed: u64, names: &[String], order: &[usize]) -> String {
    let line = |cells: Vec<&str>| cells.join(",") + "\n";
    let header = line(order.iter().map(|&c| names[c].as_str()).collect());
    let quote = |text: &str| format!("\"{text}\"");
    rows(seed).iter().fold(header, |all, row| {
        let cells: Vec<String> =
            order.iter().map(|&c| if c == 3 { quote(&row[c]) } else { row[c].clone() }).collect();
        all + &line(cells.iter().map(String::as_str).collect())
    })
}

/// One row per item, one column per person, all of the same labels.
fn wide(seed: u64, names: &[String]) -> String {
    let header = names.join(",") + "\n";
    (0..12u64).fold(header, |all, i| {
        let label = |who: u64| ["pos", "neg", "neutral"][((seed ^ (i * 5 + who * 3)) % 3) as usize];
        all + &format!("t{i},{},{},{}\n", label(0), label(1), label(2))
    })
}

/// One row per item, one column per class.
fn counts(seed: u64, names: &[String]) -> String {
    let header = names.join(",") + "\n";
    (0..12u64).fold(header, |all, i| {
        let yes = (seed ^ (i * 11)) % 6;
        all + &format!("t{i},{},{}\n", yes, 5 - yes)
    })
}

/// One row per item, the labels of three people in a cell.
fn cells(seed: u64, names: &[String]) -> String {
    let header = names.join(",") + "\n";
    (0..12u64).fold(header, |all, i| {
        let label = |who: u64| ["pos", "neg", "neutral"][((seed ^ (i * 5 + who * 3)) % 3) as usize];
        all + &format!("t{i},{}|{}|{}\n", label(0), label(1), label(0))
    })
}

/// One row per person, one column per item.
fn people_in_rows(seed: u64, names: &[String]) -> String {
    let header = names.join(",") + "\n";
    (0..12u64).fold(header, |all, who| {
        let label = |i: u64| ["pos", "neg", "neutral"][((seed ^ (i * 5 + who * 3)) % 3) as usize];
        all + &format!("p{who},{},{},{}\n", label(0), label(1), label(2))
    })
}

fn read(text: &str) -> Result<VoteFile, String> {
    read_bytes("x", text.into(), &ReadOptions::default()).map_err(|error| error.to_string())
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

/// Words that are no names of anything: consonants only.
fn word() -> impl Strategy<Value = String> {
    "[bcdfghjklmpqrtvwxz]{5,9}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn columns_of_random_words_are_refused(
        seed in 0u64..1000,
        words in prop::collection::hash_set(word(), 4),
        order in Just(vec![0usize, 1, 2, 3]).prop_shuffle(),
    ) {
        let words: Vec<String> = words.into_iter().collect();
        prop_assert!(read(&long(seed, &words, &order)).is_err());
        prop_assert!(read(&wide(seed, &words)).is_err());
        prop_assert!(read(&counts(seed, &words[..3])).is_err());
        prop_assert!(read(&cells(seed, &words[..2])).is_err());
        prop_assert!(read(&people_in_rows(seed, &words)).is_err());
    }

    #[test]
    fn the_order_of_columns_does_not_matter(
        seed in 0u64..1000,
        order in Just(vec![0usize, 1, 2, 3]).prop_shuffle(),
    ) {
        let names = names(&["item", "annotator", "label", "text"]);
        let plain = read(&long(seed, &names, &[0, 1, 2, 3])).unwrap();
        let shuffled = read(&long(seed, &names, &order)).unwrap();
        prop_assert_eq!(plain.table.digest(), shuffled.table.digest());
    }

    #[test]
    fn a_derived_column_changes_nothing(seed in 0u64..1000, which in 0usize..4) {
        let name = ["gold", "majority_vote", "mean", "n_annotators"][which];
        let add = |text: &str, value: &dyn Fn(usize) -> String| {
            let lines = text.lines().enumerate();
            let cell = |i: usize| if i == 0 { name.to_owned() } else { value(i) };
            lines.map(|(i, line)| format!("{line},{}\n", cell(i))).collect::<String>()
        };
        let label = |i: usize| match which {
            0 | 1 => ["pos", "neg", "neutral"][i / 4 % 3].to_owned(),
            2 => format!("{:.2}", (i / 4) as f64 / 7.0),
            _ => "4".to_owned(),
        };
        let long = long(seed, &names(&["item", "annotator", "label", "text"]), &[0, 1, 2, 3]);
        let with = add(&long, &label);
        prop_assert_eq!(read(&long).unwrap().table.digest(), read(&with).unwrap().table.digest());
        let wide = wide(seed, &names(&["id", "rater_1", "rater_2", "rater_3"]));
        let with = add(&wide, &label);
        prop_assert_eq!(read(&wide).unwrap().table.digest(), read(&with).unwrap().table.digest());
        let cells = cells(seed, &names(&["id", "votes"]));
        let with = add(&cells, &label);
        prop_assert_eq!(read(&cells).unwrap().table.digest(), read(&with).unwrap().table.digest());
        let counts = counts(seed, &names(&["id", "no", "yes"]));
        let with = add(&counts, &|i| if which < 2 { ["no", "yes"][i % 2].to_owned() } else { label(i) });
        prop_assert_eq!(read(&counts).unwrap().table.digest(), read(&with).unwrap().table.digest());
        let total = counts.lines().enumerate().map(|(i, l)| if i == 0 { format!("{l},total\n") } else { format!("{l},5\n") });
        let total: String = total.collect();
        prop_assert_eq!(read(&counts).unwrap().table.digest(), read(&total).unwrap().table.digest());
    }
}

#[test]
fn counts_in_rows_are_counts() {
    let text = "instance,score,count\na,1,3\na,2,1\nb,1,2\n";
    let read = read(text).unwrap();
    assert_eq!(read.table.counts().unwrap().total(), 6);
    for name in ["n", "len", "votes", "size", "freq", "n_votes"] {
        let other = text.replace("count", name);
        let read = read_bytes("x", other.into(), &ReadOptions::default()).unwrap();
        assert_eq!(read.table.counts().unwrap().total(), 6, "{name}");
    }
    // The same pair twice: it may be something else, and must be said.
    let doubt = "instance,score,count\na,1,3\na,1,1\nb,1,2\n";
    let error = read_bytes("x", doubt.into(), &ReadOptions::default()).err().unwrap().to_string();
    assert!(error.contains("how many votes"), "{error}");
    let options = ReadOptions { count: Some("count".into()), ..ReadOptions::default() };
    let table = read_bytes("x", doubt.into(), &options).unwrap().table;
    assert_eq!(table.counts().unwrap().row(0, 1), [4.0]);
}

#[test]
fn several_labels_of_an_item_are_no_votes() {
    let rows: String = (0..15).map(|i| format!("d{i},a{}\nd{i},b{}\n", i % 3, i % 2)).collect();
    let error = read(&format!("doc_id,category\n{rows}")).err().unwrap();
    assert!(error.contains("several labels of one item"), "{error}");
    let again = rows.clone() + &rows;
    assert_eq!(read(&format!("doc_id,category\n{again}")).unwrap().table.len(), 15);
}

#[test]
fn class_names_that_are_numbers_are_a_header() {
    for (header, classes) in
        [("item,1,0", ["1", "0"]), ("instance_id,3,1", ["3", "1"]), ("id,0,1", ["0", "1"])]
    {
        let text = format!("{header}\na,2,1\nb,0,3\n");
        let read = read(&text).unwrap();
        assert_eq!(read.table.classes().names(), classes);
        assert_eq!(read.table.counts().unwrap().total(), 6);
    }
}

#[test]
fn ways_are_complete_and_tried() {
    let text = long(3, &names(&["doc", "rater", "tone", "text"]), &[0, 1, 2, 3]);
    let error = read_bytes("x", text.clone().into(), &ReadOptions::default()).err().unwrap();
    let advice = error.advice.unwrap();
    assert_eq!(advice.profile.len(), 4);
    let [way] = advice.ways.as_slice() else { panic!("{:?}", advice.ways) };
    assert_eq!(way.gives, "12 items × 6 annotators, 48 votes");
    let options: ReadOptions = serde_json::from_value(way.options.clone().into()).unwrap();
    let read = read_bytes("x", text.into(), &options).unwrap();
    assert_eq!(read.table.classes().names(), ["neg", "neutral", "pos"]);
    // What is open stays open: no column is known for annotators.
    let text = long(3, &names(&["doc", "bcdfg", "tone", "text"]), &[0, 1, 2, 3]);
    let error = read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap();
    assert!(error.advice.unwrap().ways.is_empty());
}

/// Rows that are parts of an item, several questions or rounds, or may not count, are asked about.
#[test]
fn rows_that_are_more_or_less_than_votes_are_refused() {
    let pick = |of: &[&str], i: usize| of[i % of.len()].to_owned();
    let table = |header: &str, row: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (0..48).map(row).collect();
        format!("{header}\n{}\n", rows.join("\n"))
    };
    let tags = ["O", "B", "I"];
    for (text, wanted) in [
        (
            table("sentence_id,token,label", &|i| {
                format!(
                    "s{},{},{}",
                    i / 4,
                    pick(&["the", "dog", "ran", "far", "Anna"], i),
                    pick(&tags, i * i + i / 4)
                )
            }),
            "\"token\" differs between the rows of an item",
        ),
        (
            table("image,label,xmin,ymin", &|i| {
                format!("{}.jpg,{},{},{}", i / 4, pick(&tags, i * i + i / 4), i % 7, i % 5)
            }),
            "differs between the rows of an item",
        ),
        (
            table("item,annotator,criterion,label", &|i| {
                let criterion = pick(&["fluency", "relevance"], i);
                format!("t{},u{},{criterion},{}", i / 8, i / 2 % 4, 1 + (i * i + i / 3) % 5)
            }),
            "several questions are answered",
        ),
        (
            table("item,annotator,label,status", &|i| {
                let status = pick(&["approved", "approved", "rejected"], i);
                format!("t{},u{},{},{status}", i / 4, i % 4, pick(&tags, i * i + i / 4))
            }),
            "\"status\" differs between rows",
        ),
        (
            table("id,bart,t5,human", &|i| {
                let ranks = [[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 3, 2]][i % 4];
                format!("t{i},{},{},{}", ranks[0], ranks[1], ranks[2])
            }),
            "",
        ),
        (
            table("id,pos,neg,neu", &|i| {
                let share = 20 * (i % 5);
                format!("t{i},{share},{},20", 80 - share)
            }),
            "",
        ),
    ] {
        let error = read(&text).map(|found| found.table.len()).unwrap_err();
        assert!(error.contains(wanted), "{text}\n{error}");
    }
    // Of −1 and 1 alone, both are classes.
    let signs = table("id,annotator1,annotator2,annotator3", &|i| {
        let sign = |n: usize| if (i * n + n).is_multiple_of(3) { "1" } else { "-1" };
        format!("t{i},{},{},{}", sign(1), sign(2), sign(5))
    });
    assert_eq!(read(&signs).unwrap().table.classes().names(), ["-1", "1"]);
}
