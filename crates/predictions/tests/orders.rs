//! Permuted or renamed columns of classes never change a score: the numbers are the same, or the file is
//! refused. Files that are refused are read right with what [`ways_in`] adds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;

use dissensus_core::VoteTable;
use dissensus_predictions::{ByPosition, Predictions, ReadOptions, align, read_bytes_for, ways_in};

const CLASSES: [&str; 3] = ["cat", "dog", "fox"];
const ITEMS: usize = 240;

/// Counts of votes.
fn voted(text: &str) -> VoteTable {
    let values = Some(dissensus_votes::Values::Counts);
    let options = dissensus_votes::ReadOptions { values, ..Default::default() };
    dissensus_votes::read_bytes("votes.csv", text.to_owned().into(), &options).unwrap().table
}

/// The votes, and for each item predictions in the order of [`CLASSES`] that are near to them.
fn sample(seed: u64) -> (VoteTable, Vec<[f64; 3]>) {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let (mut votes, mut rows) = (format!("id,{}\n", CLASSES.join(",")), Vec::new());
    for item in 0..ITEMS {
        let favourite = (next() * 3.0) as usize % 3;
        let counts: [u32; 3] =
            std::array::from_fn(|class| if class == favourite { 7 } else { (next() * 3.0) as u32 });
        let raw = counts.map(|n| (f64::from(n) + 1.0) * (0.5 + next()));
        let sum: f64 = raw.iter().sum();
        rows.push(raw.map(|value| value / sum));
        writeln!(votes, "i{item},{}", counts.map(|n| n.to_string()).join(",")).unwrap();
    }
    (voted(&votes), rows)
}

const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// A table with these names over the columns of the classes, in this order of the classes.
fn csv(names: [&str; 3], columns: [usize; 3], rows: &[[f64; 3]]) -> String {
    let mut text = format!("id,{}\n", names.join(","));
    for (item, row) in rows.iter().enumerate() {
        let cells = columns.map(|class| row[class].to_string());
        writeln!(text, "i{item},{}", cells.join(",")).unwrap();
    }
    text
}

/// The numbers that are matched with the votes, or nothing where the file is refused.
fn outcome(votes: &VoteTable, text: &str, options: &ReadOptions) -> Option<Vec<f64>> {
    let models = read_bytes_for("m.csv", text.into(), votes, options).ok()?;
    align(votes, &models[0]).ok().map(|aligned| aligned.values.into_owned())
}

fn close(found: &[f64], rows: &[[f64; 3]]) -> bool {
    let right: Vec<f64> = rows.iter().flatten().copied().collect();
    found.len() == right.len() && found.iter().zip(&right).all(|(a, b)| (a - b).abs() < 1e-9)
}

#[test]
fn columns_in_any_order_give_the_same_numbers_or_none() {
    for seed in 1..4 {
        let (votes, rows) = sample(seed);
        for columns in ORDERS {
            // The names move with the numbers: always the same.
            let named = columns.map(|class| CLASSES[class]);
            let prefixed = named.map(|name| format!("prob_{name}"));
            for names in [named, prefixed.each_ref().map(String::as_str)] {
                let found = outcome(&votes, &csv(names, columns, &rows), &ReadOptions::default());
                assert!(close(&found.expect("named columns are read"), &rows), "{names:?}");
            }
            // The names stay where they are, so that all but one order is wrong.
            let found = outcome(&votes, &csv(CLASSES, columns, &rows), &ReadOptions::default());
            assert_eq!(found.is_some(), columns == [0, 1, 2], "{columns:?}");
            // An order that is said does not change what names say.
            let named = csv(columns.map(|class| CLASSES[class]), columns, &rows);
            for said in ["by name", "cat,dog,fox"] {
                let said = ReadOptions { class_order: said.parse().ok(), ..Default::default() };
                if let Some(found) = outcome(&votes, &named, &said) {
                    assert!(close(&found, &rows), "{columns:?}");
                }
            }
            // The advice that is given for wrong names is right.
            let text = csv(CLASSES, columns, &rows);
            let models = read_bytes_for("m.csv", text.clone().into(), &votes, &Default::default());
            if let Err(error) = align(&votes, &models.unwrap()[0]) {
                let remedy = error.remedy();
                let map = remedy.split("class_map = ").nth(1).unwrap().split('`').next().unwrap();
                let said = ReadOptions { class_map: map.parse().ok(), ..Default::default() };
                assert!(close(&outcome(&votes, &text, &said).unwrap(), &rows), "{remedy}");
            }
            // Numbers and other words name no class.
            for names in
                [["LABEL_0", "LABEL_1", "LABEL_2"], ["p1", "p2", "p3"], ["jup", "kel", "zor"]]
            {
                let text = csv(names, columns, &rows);
                assert_eq!(outcome(&votes, &text, &ReadOptions::default()), None, "{names:?}");
                // Positions and orders that are said are checked, too.
                let by_position = ByPosition { classes: true, items: false };
                let said = ReadOptions { by_position, ..ReadOptions::default() };
                assert_eq!(outcome(&votes, &text, &said).is_some(), columns == [0, 1, 2]);
                let said =
                    ReadOptions { class_order: "cat,dog,fox".parse().ok(), ..Default::default() };
                assert_eq!(outcome(&votes, &text, &said).is_some(), columns == [0, 1, 2]);
                let trusted = ReadOptions { trust_order: true, ..said };
                assert!(outcome(&votes, &text, &trusted).is_some());
            }
        }
    }
}

#[test]
fn what_is_suggested_is_right() {
    let (votes, rows) = sample(11);
    for columns in ORDERS {
        for names in [["LABEL_0", "LABEL_1", "LABEL_2"], ["jup", "kel", "zor"], ["a1", "b1", "c1"]]
        {
            let text = csv(names, columns, &rows);
            let read = |options: &ReadOptions| {
                read_bytes_for("m.csv", text.clone().into(), &votes, options)
            };
            let ways = ways_in(&votes, &ReadOptions::default(), &read);
            let [way] = &ways[..] else { panic!("{names:?} {columns:?}: {ways:?}") };
            let order = columns.map(|class| CLASSES[class]).join(",");
            let options: Vec<(&str, &str)> =
                way.options.iter().map(|(name, v)| (name.as_str(), v.as_str().unwrap())).collect();
            assert_eq!(options, [("class_order", order.as_str())]);
            let options = ReadOptions { class_order: order.parse().ok(), ..Default::default() };
            assert!(close(&outcome(&votes, &text, &options).unwrap(), &rows));
        }
    }
}

#[test]
fn nothing_is_suggested_where_nothing_is_certain() {
    let (votes, rows) = sample(12);
    let ways = |rows: &[[f64; 3]]| {
        let text = csv(["LABEL_0", "LABEL_1", "LABEL_2"], [0, 1, 2], rows);
        let read =
            |options: &ReadOptions| read_bytes_for("m.csv", text.clone().into(), &votes, options);
        ways_in(&votes, &ReadOptions::default(), &read)
    };
    assert_eq!(ways(&[[0.5, 0.3, 0.2]; ITEMS]), []);
    // Predictions for other items fit no order.
    let mut shifted = rows.clone();
    shifted.rotate_left(7);
    assert_eq!(ways(&shifted), []);
    // Rows without ids in another order than the items.
    let array = |rows: &[[f64; 3]], options: &ReadOptions| {
        let values: Vec<f64> = rows.iter().flatten().copied().collect();
        let classes = Some(CLASSES.map(str::to_owned).to_vec());
        Predictions::from_rows("m", values, 3, None, classes, options).map(|model| vec![model])
    };
    let words =
        |rows: &[[f64; 3]]| ways_in(&votes, &ReadOptions::default(), &|o| array(rows, o)).len();
    assert_eq!((words(&rows), words(&shifted)), (1, 0));
}

#[test]
fn numbers_as_a_header_are_names_in_any_order() {
    let text = "id,0,1\na,1,3\nb,4,0\nc,1,1\n";
    let votes = voted(text);
    let read = |text: &str| outcome(&votes, text, &ReadOptions::default()).unwrap();
    assert_eq!(
        read("item,1,0\na,0.75,0.25\nb,0.1,0.9\nc,0.5,0.5\n"),
        [0.25, 0.75, 0.9, 0.1, 0.5, 0.5]
    );
    assert_eq!(read("item,1,0\na,2.5,-1\nb,-3,0.25\nc,0,4\n"), [-1.0, 2.5, 0.25, -3.0, 4.0, 0.0]);
    let text = "id,1,2,3\na,1,3,0\nb,4,0,1\n";
    let votes = voted(text);
    let found =
        outcome(&votes, "item,3,1,2\na,2.5,-1,0.5\nb,-3,1.5,0.25\n", &ReadOptions::default());
    assert_eq!(found.unwrap(), [-1.0, 0.5, 2.5, 1.5, 0.25, -3.0]);
}

#[test]
fn a_class_without_votes_is_not_left_out() {
    let (votes, rows) = sample(13);
    let wide = |name: &str, value: f64| {
        let mut text = format!("id,{},{name}\n", CLASSES.join(","));
        for (item, row) in rows.iter().enumerate() {
            let cells = row.map(|p| (p.ln() + 1.0).to_string());
            writeln!(text, "i{item},{},{}", cells.join(","), value + item as f64 / 7.0).unwrap();
        }
        text
    };
    let options = ReadOptions::default();
    assert_eq!(outcome(&votes, &wide("emu", -3.0), &options), None);
    assert!(outcome(&votes, &wide("entropy", 1.0), &options).is_some());
    // Beside probabilities, a column is no class.
    let text =
        csv(CLASSES, [0, 1, 2], &rows).replace("id,", "minutes,id,").replace("\ni", "\n2.5,i");
    assert!(close(&outcome(&votes, &text, &options).unwrap(), &rows));
}

#[test]
fn columns_are_known_by_the_votes() {
    let (votes, rows) = sample(14);
    let table = |head: &str, row: &dyn Fn(usize, [f64; 3]) -> String| {
        let body: String = rows.iter().enumerate().map(|(at, row_of)| row(at, *row_of)).collect();
        format!("{head}\n{body}")
    };
    let of = |p: [f64; 3]| format!("{},{},{}", p[0], p[1], p[2]);
    let files = [
        (
            "an index before the id",
            table("Unnamed: 0,uid,cat,dog,fox,label_ids", &|at, p| {
                format!("{at},i{at},{},{}\n", of(p), at % 3)
            }),
        ),
        (
            "an id that only counts rows",
            table("id,name_of_it,cat,dog,fox", &|at, p| format!("{at},i{at},{}\n", of(p))),
        ),
        (
            "numbers of other things",
            table("n_tokens,pairID,P(cat),P(dog),P(fox),entropy", &|at, p| {
                format!("{},i{at},{},0.5\n", at % 9, of(p))
            }),
        ),
        ("paths", table("file,cat,dog,fox", &|at, p| format!("data/i{at}.png,{}\n", of(p)))),
        (
            "two models",
            table("id,cat_logit,dog_logit,fox_logit,cat_prob,dog_prob,fox_prob", &|at, p| {
                format!("i{at},{},{}\n", of(p.map(|p| p.ln() - 2.0)), of(p))
            }),
        ),
    ];
    for (case, text) in files {
        let found = outcome(&votes, &text, &ReadOptions::default());
        let found = found.unwrap_or_else(|| {
            let read = read_bytes_for("m.csv", text.into(), &votes, &ReadOptions::default());
            panic!("{case}: {:?}", read.map(|models| align(&votes, &models[0]).err()))
        });
        assert!(close(&found, &rows), "{case}");
    }
}
