//! Whatever is written reads back to the same table.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Cursor;

use dissensus_core::{
    ClassOrder, ClassSet, Counts, Ids, Keep, Probabilities, Scale, TableBuilder, VoteTable,
};
use dissensus_votes::write::{TARGETS, WriteError, write};
use dissensus_votes::{ReadOptions, read_bytes};
use proptest::prelude::*;

fn written(table: &VoteTable, target: &str) -> Vec<u8> {
    let target = TARGETS.iter().find(|t| t.name == target).unwrap();
    let mut out = Cursor::new(Vec::new());
    write(table, &[], target, &mut out).unwrap();
    out.into_inner()
}

fn back(table: &VoteTable, target: &str) -> VoteTable {
    read_bytes("x", written(table, target), &ReadOptions::default())
        .unwrap_or_else(|e| panic!("{target}: {e}"))
        .table
}

/// Ids and names as wild as files allow: delimiters, quotes, line breaks, "NA", numbers, accents.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        "[ -~éß日]{1,20}",
        "[,;|\"\t\n\r#{}\\[\\]]{1,4}x",
        Just("NA".to_owned()),
        Just("NaN".to_owned()),
        Just("1".to_owned()),
        Just("1.0".to_owned()),
        Just("-1".to_owned()),
        "[a-z]{30,60}",
    ]
}

fn names(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    prop::collection::hash_set(name(), n).prop_map(|set| {
        let mut names: Vec<_> = set.into_iter().collect();
        names.sort();
        names
    })
}

prop_compose! {
    fn votes()(
        items in names(1..12),
        annotators in names(1..6),
        classes in names(1..6),
        reverse in any::<bool>(),
        weighted in any::<bool>(),
        draws in prop::collection::vec((any::<u16>(), any::<u16>(), any::<u16>(), 0.0..9f64), 0..60),
    ) -> VoteTable {
        let mut classes = classes;
        if reverse {
            classes.reverse();
        }
        let mut builder = TableBuilder::new(Keep::Votes);
        builder.declare(ClassSet::new(classes.clone(), ClassOrder::Declared).unwrap()).unwrap();
        for (row, item) in items.iter().enumerate() {
            builder.item(item, row as u64).unwrap();
        }
        for (item, who, class, weight) in draws {
            let item = &items[item as usize % items.len()];
            let who = annotators.get(who as usize % (annotators.len() + 1)).map(String::as_str);
            let class = &classes[class as usize % classes.len()];
            let weight = if weighted { weight } else { 1.0 };
            builder.vote(item, who, class, weight, 999).unwrap();
        }
        builder.finish().unwrap()
    }
}

prop_compose! {
    fn sets()(
        items in names(1..8),
        annotators in names(1..6),
        classes in names(1..6),
        weighted in any::<bool>(),
        draws in prop::collection::vec((any::<u16>(), any::<u16>(), any::<u16>(), 0.0..9f64), 0..40),
    ) -> VoteTable {
        let mut builder = TableBuilder::new(Keep::Votes);
        let set = ClassSet::new(classes.clone(), ClassOrder::Declared).unwrap();
        builder.declare(set.with_scale(Scale::MultiLabel).unwrap()).unwrap();
        for (row, item) in items.iter().enumerate() {
            builder.item(item, row as u64).unwrap();
        }
        for (item, who, bits, weight) in draws {
            let item = &items[item as usize % items.len()];
            let who = annotators.get(who as usize % (annotators.len() + 1)).map(String::as_str);
            let chosen = classes.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
            let labels: Vec<&str> = chosen.map(|(_, name)| name.as_str()).collect();
            builder.vote_set(item, who, &labels, if weighted { weight } else { 1.0 }, 999).unwrap();
        }
        builder.finish().unwrap()
    }
}

proptest! {
    #[test]
    fn long_tables_carry_everything(table in votes()) {
        for target in ["csv", "parquet"] {
            let again = back(&table, target);
            prop_assert_eq!(table.classes().names(), again.classes().names(), "{}", target);
            prop_assert_eq!(table.items(), again.items(), "{}", target);
            prop_assert_eq!(table.digest(), again.digest(), "{}", target);
        }
    }

    #[test]
    fn ordinal_tables_stay_ordinal(table in votes()) {
        // Declared names that are all numbers may stand in another order than their values.
        let Ok(table) = table.with_scale(Scale::Ordinal) else { return Ok(()) };
        for target in ["csv", "parquet", "npz"] {
            let again = back(&table, target);
            prop_assert_eq!(again.scale(), Scale::Ordinal, "{}", target);
            prop_assert_eq!(table.classes().names(), again.classes().names(), "{}", target);
            prop_assert_eq!(table.counts(), again.counts(), "{}", target);
        }
    }

    #[test]
    fn sets_of_labels_stay_together(table in sets()) {
        for target in ["csv", "parquet"] {
            let again = back(&table, target);
            prop_assert_eq!(again.scale(), Scale::MultiLabel, "{}", target);
            prop_assert_eq!(table.classes().names(), again.classes().names(), "{}", target);
            prop_assert_eq!(table.items(), again.items(), "{}", target);
            prop_assert_eq!(table.digest(), again.digest(), "{}", target);
        }
        let npz = TARGETS.iter().find(|t| t.name == "npz").unwrap();
        let refused = write(&table, &[], npz, Cursor::new(Vec::new())).unwrap_err().to_string();
        let words = "an .npz file of votes is not defined for multi-label votes, only for nominal and ordinal ones";
        prop_assert_eq!(refused, words);
    }

    #[test]
    fn npz_carries_counts(table in votes()) {
        let again = back(&table, "npz");
        prop_assert_eq!(table.classes().names(), again.classes().names());
        prop_assert_eq!(table.items(), again.items());
        prop_assert_eq!(table.counts(), again.counts());
        // A second trip changes nothing.
        prop_assert_eq!(again.digest(), back(&again, "npz").digest());
    }

    #[test]
    fn npz_carries_probabilities(rows in prop::collection::vec(prop::collection::vec(0.01..1f64, 3), 1..20)) {
        let mut probabilities = Probabilities::new(3);
        for row in &rows {
            let sum: f64 = row.iter().sum();
            probabilities.push(&row.iter().map(|v| v / sum).collect::<Vec<_>>()).unwrap();
        }
        let classes = ClassSet::numbered(3).unwrap();
        let table = VoteTable::from_probabilities(classes, Ids::positions(rows.len()), probabilities).unwrap();
        prop_assert_eq!(table.digest(), back(&table, "npz").digest());
    }
}

#[test]
fn counts_become_anonymous_votes() {
    let mut counts = Counts::new();
    counts.push([(0, 3), (1, 1)]).unwrap();
    counts.push([]).unwrap();
    let table =
        VoteTable::from_counts(ClassSet::numbered(2).unwrap(), Ids::positions(2), counts).unwrap();
    for target in ["csv", "parquet"] {
        let again = back(&table, target);
        assert_eq!(table.counts(), again.counts());
        assert!(again.annotators().is_empty());
    }
}

#[test]
fn probabilities_are_no_votes() {
    let mut probabilities = Probabilities::new(2);
    probabilities.push(&[0.5, 0.5]).unwrap();
    let classes = ClassSet::numbered(2).unwrap();
    let table = VoteTable::from_probabilities(classes, Ids::positions(1), probabilities).unwrap();
    let target = TARGETS.iter().find(|t| t.name == "csv").unwrap();
    let error = write(&table, &[], target, Cursor::new(Vec::new())).unwrap_err();
    assert_eq!(error.to_string(), "only probabilities are known, and a CSV table holds votes");
    assert!(matches!(error, WriteError::NoVotes { .. }), "{error}");
}

#[test]
fn what_would_fill_the_disk_is_refused() {
    // 20,000 items of 60,000 classes, and one vote for each.
    let mut builder = TableBuilder::new(Keep::Counts);
    for row in 0..60_000_u32 {
        builder
            .vote(&format!("i{}", row % 20_000), None, &format!("c{row}"), 1.0, row.into())
            .unwrap();
    }
    let table = builder.finish().unwrap();
    let refuse = |table: &VoteTable, target: &str| {
        let target = TARGETS.iter().find(|t| t.name == target).unwrap();
        write(table, &[], target, Cursor::new(Vec::new())).unwrap_err().to_string()
    };
    let message = refuse(&table, "npz");
    assert!(message.starts_with("20000 items × 60000 classes are more cells"), "{message}");
    assert!(message.contains("a long table (csv, parquet)"), "{message}");
    written(&table, "csv");

    let mut builder = TableBuilder::new(Keep::Counts);
    builder.votes("a", "x", 300_000_000, 1).unwrap();
    let table = builder.finish().unwrap();
    assert!(refuse(&table, "csv").starts_with("300000000 votes are more than"));
    assert!(refuse(&table, "parquet").contains("npz holds counts"));
    written(&table, "npz");
}

#[test]
fn texts_of_items_are_written_or_asked_about() {
    let text =
        "item,annotator,label,text\na,ann,x,\"one, and\nmore\"\na,bob,y,\nb,ann,y,two\nc,bob,x,\n";
    let options = ReadOptions { texts: true, ..Default::default() };
    let read = |name: &str, bytes: Vec<u8>| read_bytes(name, bytes, &options).unwrap();
    let first = read("votes.csv", text.into());
    assert_eq!(first.texts.len(), 2);
    for target in TARGETS {
        let mut out = Cursor::new(Vec::new());
        let written = write(&first.table, &first.texts, target, &mut out);
        if target.name == "npz" {
            let error = written.unwrap_err();
            assert!(matches!(error, WriteError::Texts { items: 2, .. }), "{error}");
            continue;
        }
        written.unwrap();
        let again = read("again", out.into_inner());
        assert_eq!(again.texts, first.texts, "{}", target.name);
        assert_eq!(again.table.digest(), first.table.digest(), "{}", target.name);
    }
}
