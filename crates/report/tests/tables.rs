//! Tables as data: what stands where, what is best, what is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod tables_common;

use dissensus_report::ReportError;
use dissensus_report::book::{Book, Chosen, Named};
use dissensus_report::tables::{
    Against, Cell, Dimension, Shows, TableSpec, Tally, Verdict, Votes, prepare,
};
use tables_common::{add, bare, book, number, reference, some, spec, table, titles};

#[test]
fn arms_go_down_and_metrics_across() {
    let table = table(&spec("main"), &book());
    let (lines, columns) = titles(&table);
    // `majority` has no title and is called by its name; no row has `entropy`.
    assert_eq!(lines, ["Soft labels", "SLS", "majority"]);
    assert_eq!(columns, ["Soft NLL", "Accuracy"]);
    assert_eq!(table.corner, ["Arm"]);
    let soft = number(&table, 0, 0);
    assert!((soft.mean.unwrap() - 0.582).abs() < 1e-12);
    assert!((soft.sd.unwrap() - 0.019235384061671346).abs() < 1e-12);
    assert_eq!((soft.n, soft.digits, soft.seeds.len()), (5, 4, 5));
    assert_eq!(soft.at.dataset, "blends");
    let undefined = number(&table, 2, 1);
    assert_eq!((undefined.n, undefined.seeds.len()), (4, 5));
    assert_eq!(
        table.remarks,
        [
            "Mean ± sample standard deviation over 5 seeds.",
            "Undefined values are left out: n = 4 of 5 for majority · Accuracy.",
        ]
    );
}

#[test]
fn the_order_is_the_specs() {
    let spec = TableSpec {
        arms: vec!["sls".into(), "soft".into(), "sls".into()],
        metrics: vec!["accuracy".into(), "nll".into()],
        ..spec("main")
    };
    let (lines, columns) = titles(&table(&spec, &book()));
    assert_eq!(lines, ["SLS", "Soft labels"]);
    assert_eq!(columns, ["Accuracy", "Soft NLL"]);
}

#[test]
fn the_best_follows_the_metrics_direction() {
    let mut book = book();
    add(&mut book, "soft", None, "entropy", &some(&[1.0]));
    add(&mut book, "sls", None, "entropy", &some(&[2.0]));
    let best = |spec: &TableSpec| -> Vec<Vec<bool>> {
        let table = table(spec, &book);
        let line = |line: usize| (0..3).map(|c| number(&table, line, c).best).collect();
        (0..3).map(line).collect()
    };
    assert_eq!(
        best(&spec("main")),
        [[false, false, false], [true, true, false], [false, false, false]]
    );
    let plain = TableSpec { bold: Some(false), ..spec("main") };
    assert!(best(&plain).concat().iter().all(|best| !best));
    let alone = TableSpec { arms: vec!["sls".into()], ..spec("alone") };
    assert!(!number(&table(&alone, &book), 0, 0).best, "nothing to be better than");
}

#[test]
fn equal_means_are_both_best_and_rounding_makes_none_equal() {
    let mut book = bare();
    add(&mut book, "soft", None, "nll", &some(&[0.25, 0.75]));
    add(&mut book, "sls", None, "nll", &some(&[0.5, 0.5]));
    add(&mut book, "majority", None, "nll", &some(&[0.500001, 0.500001]));
    let table = table(&spec("ties"), &book);
    let best: Vec<bool> = (0..3).map(|line| number(&table, line, 0).best).collect();
    assert_eq!(best, [true, true, false]);
}

#[test]
fn the_best_is_looked_for_within_a_data_set_and_number_of_votes() {
    let mut book = bare();
    for (arm, k, value) in
        [("soft", Some(5), 0.9), ("sls", Some(5), 0.8), ("soft", None, 0.5), ("sls", None, 0.6)]
    {
        add(&mut book, arm, k, "nll", &some(&[value, value]));
    }
    let spec = TableSpec { across: vec![Dimension::K], ..spec("votes") };
    let table = table(&spec, &book);
    assert_eq!(titles(&table).1, ["5 votes", "all votes"]);
    let best = |line, column| number(&table, line, column).best;
    assert_eq!((best(0, 0), best(1, 0), best(0, 1), best(1, 1)), (false, true, true, false));
}

#[test]
fn heads_of_several_levels_span() {
    let mut book = bare();
    for arm in ["soft", "sls"] {
        for k in [None, Some(50), Some(5)] {
            for metric in ["accuracy", "nll"] {
                // Not every arm is trained at every number of votes.
                if arm == "soft" || k != Some(50) {
                    add(&mut book, arm, k, metric, &some(&[0.5]));
                }
            }
        }
    }
    let across = TableSpec { across: vec![Dimension::K, Dimension::Metric], ..spec("across") };
    let wide = table(&across, &book);
    let level = |level: usize| -> Vec<(&str, usize)> {
        wide.heads[level].iter().map(|h| (h.title.as_str(), h.span)).collect()
    };
    assert_eq!(level(0), [("5 votes", 2), ("50 votes", 2), ("all votes", 2)]);
    assert_eq!(level(1).len(), 6);
    assert_eq!(titles(&wide).1[3], "50 votes / Accuracy");
    let empty = number(&wide, 1, 2);
    assert_eq!((empty.mean, empty.n, empty.at.k), (None, 0, Some(50)));

    let down = TableSpec { down: vec![Dimension::Arm, Dimension::K], ..spec("down") };
    let long = table(&down, &book);
    let spans: Vec<usize> = long.lines.iter().map(|line| line.heads[0].span).collect();
    assert_eq!(spans, [3, 0, 0, 2, 0], "SLS has no line for 50 votes");
    assert!(long.lines.iter().all(|line| line.heads[1].span == 1));
    assert_eq!(long.corner, ["Arm", "Votes"]);
    assert_eq!(long.lines[4].heads[0].title, "SLS");
}

#[test]
fn what_the_table_does_not_tell_apart_is_refused() {
    let mut book = book();
    add(&mut book, "soft", Some(5), "nll", &some(&[0.7]));
    assert_eq!(
        prepare(&spec("main"), &book).unwrap_err().to_string(),
        "table \"main\": the results have several values of \"k\" (5, all), and the table does \
         not tell them apart; add \"k\" to its down or across, or keep one: ks = [5]"
    );
    let one = TableSpec { ks: vec![Votes(None)], ..spec("main") };
    assert_eq!(table(&one, &book).lines.len(), 3);
    let twice = TableSpec {
        down: vec![Dimension::Arm],
        across: vec![Dimension::Arm, Dimension::K],
        ..spec("main")
    };
    let error = prepare(&twice, &book).unwrap_err();
    assert!(matches!(error, ReportError::DimensionTwice { dimension: "arm", .. }), "{error}");
}

#[test]
fn one_side_may_be_left_to_the_default() {
    let turned = TableSpec { down: vec![Dimension::Metric], ..spec("turned") };
    assert_eq!(titles(&table(&turned, &book())).1, ["Soft labels", "SLS", "majority"]);
    let turned = TableSpec { across: vec![Dimension::Arm], ..spec("turned") };
    assert_eq!(titles(&table(&turned, &book())).0, ["Soft NLL", "Accuracy"]);
}

#[test]
fn unknown_names_come_with_the_nearest() {
    let names = |name: &str| vec![name.to_owned()];
    let against = Against {
        arm: "sof".into(),
        test: Default::default(),
        side: Default::default(),
        family: Default::default(),
        raw: false,
    };
    for (spec, what, nearest) in [
        (TableSpec { arms: names("slss"), ..spec("t") }, "arm", "sls"),
        (TableSpec { metrics: names("acuracy"), ..spec("t") }, "metric", "accuracy"),
        (TableSpec { datasets: names("blend"), ..spec("t") }, "dataset", "blends"),
        (TableSpec { slices: names("al"), ..spec("t") }, "slice", "all"),
        (TableSpec { against: Some(against), ..spec("t") }, "arm", "soft"),
        (TableSpec { arms: names("x"), shows: Shows::Chosen, ..spec("t") }, "arm", "sls"),
    ] {
        match prepare(&spec, &book()).unwrap_err() {
            ReportError::UnknownName { what: of, nearest: near, place, .. } => {
                assert_eq!((of, near[0].as_str(), place.as_str()), (what, nearest, "table \"t\""));
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_study_without_results_has_tables_of_dashes() {
    let spec = TableSpec { metrics: vec!["nll".into()], ..spec("main") };
    let table_of = |book: &Book| table(&spec, book);
    let empty = table_of(&bare());
    assert_eq!(titles(&empty).0, ["Soft labels", "SLS", "majority"]);
    assert_eq!(number(&empty, 0, 0).mean, None);
    assert_eq!(empty.remarks, ["There are no results yet."]);
    assert!(table_of(&Book::default()).lines.is_empty());
    // An arm that is not trained yet, among others: listed, it stays.
    let mut book = bare();
    add(&mut book, "soft", None, "nll", &some(&[0.5]));
    assert_eq!(titles(&table_of(&book)).0, ["Soft labels"]);
    let listed = TableSpec { arms: vec!["soft".into(), "sls".into()], ..spec.clone() };
    assert_eq!(titles(&table(&listed, &book)).0, ["Soft labels", "SLS"]);
    assert_eq!(table(&listed, &book).remarks, ["One seed."]);
}

#[test]
fn slices_are_shown_where_they_are_asked_for() {
    let mut book = bare();
    add(&mut book, "soft", None, "nll", &some(&[0.5]));
    add(&mut book, "soft", None, "nll", &some(&[0.9]));
    book.rows[1].slice = "high".into();
    assert_eq!(number(&table(&spec("plain"), &book), 0, 0).mean, Some(0.5));
    let across = TableSpec { across: vec![Dimension::Slice], ..spec("slices") };
    assert_eq!(titles(&table(&across, &book)).1, ["all items", "high"]);
    let high = TableSpec { slices: vec!["high".into()], ..spec("high") };
    assert_eq!(number(&table(&high, &book), 0, 0).mean, Some(0.9));
}

#[test]
fn published_values_stand_beside_ours_and_are_counted_once() {
    let mut book = book();
    book.references = vec![
        reference("soft", "nll", 0.592, Some(0.02)), // ours 0.582: -0.5 sd
        reference("sls", "nll", 0.512, Some(0.025)), // ours 0.552: +1.6 sd
        reference("majority", "nll", 0.5, Some(0.02)), // ours 0.682: +9.1 sd
        reference("soft", "accuracy", 0.8, None),
        reference("sls", "entropy", 1.0, Some(0.1)), // ours is not there
    ];
    let spec = TableSpec {
        metrics: vec!["nll".into(), "accuracy".into(), "entropy".into()],
        note: "Words.".into(),
        ..spec("main")
    };
    let main = table(&spec, &book);
    let verdict = |line, column| {
        number(&main, line, column).published.as_ref().and_then(|published| published.verdict)
    };
    assert_eq!(verdict(0, 0), Some(Verdict::Within1Sd));
    assert_eq!(verdict(1, 0), Some(Verdict::Within2Sd));
    assert_eq!(verdict(2, 0), Some(Verdict::Outside));
    assert_eq!(verdict(0, 1), Some(Verdict::NoSd));
    assert_eq!((verdict(1, 1), verdict(1, 2)), (None, None));
    assert_eq!(main.published().len(), 5);

    let again = table(&TableSpec { name: "again".into(), ..spec.clone() }, &book);
    let tally = Tally::of(&[main, again]).unwrap();
    let counts = (tally.compared, tally.within_1_sd, tally.within_2_sd);
    assert_eq!((counts, tally.without_sd, tally.waiting), ((3, 1, 2), 1, 1));
    let [outside] = &tally.outside[..] else { panic!("{:?}", tally.outside) };
    assert!(outside.starts_with("majority · Soft NLL (table main: "), "{outside}");
    assert_eq!(
        tally.sentence(),
        "3 cells have a published mean and sd: 1 within 1 sd, 2 within 2 sd, 1 outside. \
         Outside: majority · Soft NLL (table main: ours 0.6820, published 0.5000 ± 0.0200, +9.1 \
         sd). For 1 cell, no sd was published. For 1 cell with a published value, there is no \
         result of ours yet."
    );
    assert_eq!((tally.tested, tally.told_apart), (3, 1));
    assert_eq!(
        Tally { tested: 62, told_apart: 6, ..Tally::default() }.sentence(),
        "By Welch’s t test, 6 of 62 means differ from the published one with p below 0.05; chance \
         alone would give 3.1."
    );

    let without = table(&TableSpec { published: Some(false), ..spec }, &book);
    assert!(without.published().is_empty());
    assert_eq!(Tally::of(std::slice::from_ref(&without)), None);
}

#[test]
fn published_values_must_be_clear() {
    let mut twice = book();
    twice.references =
        vec![reference("soft", "nll", 0.5, None), reference("soft", "nll", 0.6, None)];
    let error = prepare(&spec("main"), &twice).unwrap_err();
    assert!(matches!(error, ReportError::ReferenceTwice { .. }), "{error}");
    let mut unnamed = book();
    unnamed.datasets.push(Named { name: "other".into(), title: "Other".into() });
    unnamed.references = vec![reference("soft", "nll", 0.5, None)];
    let error = prepare(&spec("main"), &unnamed).unwrap_err().to_string();
    assert!(error.contains("blends, other; add `dataset"), "{error}");
    unnamed.references[0].dataset = "blends".into();
    assert!(table(&spec("main"), &unnamed).published().len() == 1);
}

#[test]
fn what_a_grid_search_chose() {
    let chosen = |arm: &str, k, settings: &[(&str, &str)]| Chosen {
        dataset: "blends".into(),
        arm: arm.into(),
        k,
        settings: settings.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect(),
    };
    let mut book = bare();
    book.chosen = vec![
        chosen("sls", None, &[("training.rate", "0.1")]),
        chosen("soft", None, &[("training.rate", "0.01"), ("model.width", "64")]),
        chosen("soft", Some(5), &[("training.rate", "0.1"), ("model.width", "32")]),
    ];
    let spec = TableSpec { shows: Shows::Chosen, ..spec("chosen") };
    let all = table(&spec, &book);
    let (lines, columns) = titles(&all);
    assert_eq!(lines, ["Soft labels / 5 votes", "Soft labels / all votes", "SLS / all votes"]);
    assert_eq!(columns, ["training.rate", "model.width"]);
    let text = |line: usize, column: usize| all.lines[line].cells[column].clone();
    assert_eq!(text(0, 1), Cell::Text("32".into()));
    assert_eq!(text(2, 1), Cell::Text(String::new()));
    assert_eq!(all.corner, ["Arm", "Votes"], "one data set is not said");
    let some = TableSpec { arms: vec!["sls".into()], ..spec };
    assert_eq!(titles(&table(&some, &book)).0, ["SLS / all votes"]);
}
