//! Paired tests in tables, against p values that are counted by hand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod tables_common;

use dissensus_report::book::Book;
use dissensus_report::tables::{Against, Dimension, Family, Side, TableSpec, Test, TestKind};
use tables_common::{add, bare, book, number, some, spec, table};

fn against(test: TestKind, side: Side, family: Family) -> TableSpec {
    let against = Against { arm: "soft".into(), test, side, family, raw: false };
    TableSpec { against: Some(against), ..spec("tested") }
}

fn test_of(spec: &TableSpec, book: &Book, line: usize, column: usize) -> Test {
    number(&table(spec, book), line, column).test.clone().unwrap()
}

/// Of five differences of one sign, the pattern is one of 32: p = 1/32 and 2/32.
#[test]
fn five_seeds_of_one_sign() {
    let two = against(TestKind::Wilcoxon, Side::Two, Family::None);
    let found = test_of(&two, &book(), 1, 0);
    assert_eq!((found.p, found.smallest, found.pairs), (Some(0.0625), Some(0.0625), 5));
    assert!((found.difference.unwrap() + 0.03).abs() < 1e-12);
    assert!(found.exact && found.corrected.is_none());
    let better = against(TestKind::Wilcoxon, Side::Better, Family::None);
    let found = test_of(&better, &book(), 1, 0);
    assert_eq!((found.p, found.smallest), (Some(0.03125), Some(0.03125)));
    let table = table(&two, &book());
    assert!((0..2).all(|column| number(&table, 0, column).test.is_none()), "no arm against itself");
}

/// Signed ranks +1 +2 +3 +4 −5. Ten subsets of {1, …, 5} sum to at most 5 (the empty one, the five
/// of one rank, 1+2, 1+3, 1+4, 2+3): W⁻ = 5 has the tail 10/32, W⁺ = 10 the tail 25/32, as seven
/// subsets sum to 11 or more.
#[test]
fn mixed_signs() {
    let two = against(TestKind::Wilcoxon, Side::Two, Family::None);
    assert_eq!(test_of(&two, &book(), 2, 0).p, Some(0.625));
    // Lower is better, and `majority` is mostly higher.
    let better = against(TestKind::Wilcoxon, Side::Better, Family::None);
    assert_eq!(test_of(&better, &book(), 2, 0).p, Some(25.0 / 32.0));
}

/// The differences of accuracy are 0.01 once and 0 otherwise: one pair that differs.
#[test]
fn equal_pairs_raise_the_floor() {
    let better = against(TestKind::Wilcoxon, Side::Better, Family::None);
    let found = test_of(&better, &book(), 1, 1);
    assert_eq!((found.p, found.smallest, found.pairs), (Some(0.5), Some(0.5), 5));
}

/// With 2 degrees of freedom p = 1 − t / √(2 + t²); differences 1, 2, 3 have t = 2√3.
#[test]
fn the_t_test() {
    let mut book = bare();
    add(&mut book, "soft", None, "nll", &some(&[1.0, 1.0, 1.0]));
    add(&mut book, "sls", None, "nll", &some(&[2.0, 3.0, 4.0]));
    let found = test_of(&against(TestKind::T, Side::Two, Family::None), &book, 1, 0);
    assert!((found.p.unwrap() - (1.0 - (12f64 / 14.0).sqrt())).abs() < 1e-12);
    assert_eq!((found.smallest, found.exact), (None, false));
    let remarks = table(&against(TestKind::T, Side::Two, Family::None), &book).remarks.join(" ");
    assert!(remarks.contains("paired t test, two-sided, against Soft labels, paired by seed (3 "));
    assert!(!remarks.contains("attainable"), "{remarks}");
}

#[test]
fn pairs_are_by_seed_and_both_must_be_defined() {
    let mut book = bare();
    add(&mut book, "soft", None, "nll", &some(&[1.0, 2.0, 3.0]));
    add(&mut book, "sls", None, "nll", &[None, Some(2.5), Some(3.25), Some(9.0)]);
    book.rows.reverse();
    let two = against(TestKind::Wilcoxon, Side::Two, Family::None);
    let found = test_of(&two, &book, 1, 0);
    assert_eq!((found.pairs, found.difference), (2, Some(0.375)));
    // Against an arm that the table does not show.
    let hidden = TableSpec { arms: vec!["sls".into()], ..two.clone() };
    assert_eq!(test_of(&hidden, &book, 0, 0).pairs, 2);

    let mut apart = bare();
    add(&mut apart, "soft", None, "nll", &some(&[1.0]));
    add(&mut apart, "sls", None, "nll", &[None, Some(2.5)]);
    let found = test_of(&two, &apart, 1, 0);
    assert_eq!((found.p, found.undefined.as_deref()), (None, Some("no seed that both have")));
    let infinite = &mut apart.rows[1];
    infinite.value = Some(f64::INFINITY);
    let found = test_of(&two, &apart, 1, 0);
    assert_eq!((found.p, found.undefined.as_deref()), (None, Some("an infinite value")));
    let remarks = table(&two, &apart).remarks;
    assert_eq!(remarks.last().unwrap(), "No p in 1 cell: an infinite value.");
}

/// Raw p, one-sided: NLL 1/32 and 25/32; accuracy 1/2 and, for four pairs of the wrong sign, 1.
#[test]
fn holm_over_columns_and_over_the_table() {
    let corrected = |family| {
        let table = table(&against(TestKind::Wilcoxon, Side::Better, family), &book());
        let of = |line, column| number(&table, line, column).test.clone().unwrap();
        let p = [of(1, 0), of(2, 0), of(1, 1), of(2, 1)].map(|test| test.corrected.unwrap());
        (p, of(1, 0).family)
    };
    assert_eq!(corrected(Family::Column), ([0.0625, 0.78125, 1.0, 1.0], 2));
    assert_eq!(corrected(Family::Table), ([0.125, 1.0, 1.0, 1.0], 4));
}

#[test]
fn p_before_the_correction_beside_it() {
    let mut spec = against(TestKind::Wilcoxon, Side::Better, Family::Table);
    spec.against.as_mut().unwrap().raw = true;
    let text = dissensus_report::tables::markdown(&table(&spec, &book()));
    assert!(text.contains("(p = 0.031, Holm 0.125)"), "{text}");
    assert!(text.contains("beside it p corrected by Holm over the 4 tests of the table"), "{text}");
}

/// Means of 2 and 3, and of 4 and 5: +50 and +25 %, on average 37.5 %; means of means 3 and 4.
#[test]
fn changes_from_an_arm_and_their_average() {
    let mut book = bare();
    for (k, values) in [(5, [2.0, 3.0]), (10, [4.0, 5.0])] {
        add(&mut book, "soft", Some(k), "nll", &some(&[values[0]]));
        add(&mut book, "sls", Some(k), "nll", &some(&[values[1]]));
    }
    let spec = TableSpec {
        down: vec![Dimension::K],
        across: vec![Dimension::Arm],
        metrics: vec!["nll".into()],
        arms: vec!["soft".into(), "sls".into()],
        change: true,
        ..against(TestKind::T, Side::Two, Family::None)
    };
    let text = dissensus_report::tables::markdown(&table(&spec, &book));
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(lines[0].contains("Δ SLS"), "{text}");
    assert!(lines[2].contains("+50.0 %") && lines[3].contains("+25.0 %"), "{text}");
    assert!(lines[4].contains("average") && lines[4].contains("+37.5 %"), "{text}");
    assert!(lines[4].contains("3.0000") && lines[4].contains("4.0000"), "{text}");
}

#[test]
fn the_remark_says_what_the_test_can_show() {
    let remarks = |side, family| {
        let spec =
            TableSpec { metrics: vec!["nll".into()], ..against(TestKind::Wilcoxon, side, family) };
        table(&spec, &book()).remarks[2..].join(" ")
    };
    assert_eq!(
        remarks(Side::Two, Family::None),
        "p: exact Wilcoxon signed-rank test, two-sided, against Soft labels, paired by seed (5 \
         pairs). The smallest attainable p is 0.0625; no p below 0.05 is attainable."
    );
    assert_eq!(
        remarks(Side::Better, Family::None),
        "p: exact Wilcoxon signed-rank test, one-sided (better, by the metric's own direction), \
         against Soft labels, paired by seed (5 pairs). The smallest attainable p is 0.03125."
    );
    assert_eq!(
        remarks(Side::Better, Family::Column),
        "p: exact Wilcoxon signed-rank test, one-sided (better, by the metric's own direction), \
         against Soft labels, paired by seed (5 pairs), corrected by Holm over the 2 tests of a \
         column. The smallest attainable p is 0.03125 (0.0625 after Holm); no p below 0.05 is \
         attainable."
    );
}

#[test]
fn a_metric_without_a_direction_is_tested_on_both_sides() {
    let mut book = bare();
    add(&mut book, "soft", None, "entropy", &some(&[1.0, 2.0, 3.0]));
    add(&mut book, "sls", None, "entropy", &some(&[1.5, 2.25, 3.125]));
    let better = against(TestKind::Wilcoxon, Side::Better, Family::None);
    assert_eq!(test_of(&better, &book, 1, 0).p, Some(0.25));
    let remarks = table(&better, &book).remarks.join(" ");
    assert!(remarks.contains("two-sided for a metric that has none"), "{remarks}");
}

/// Bold is the best mean of a column where the table's own test tells it from the others.
#[test]
fn only_what_a_test_separates_is_bold() {
    let bold = |spec: &TableSpec, book: &Book| -> Vec<bool> {
        let table = table(spec, book);
        (0..table.lines.len()).map(|line| number(&table, line, 0).bold).collect()
    };
    let remarks = |spec: &TableSpec, book: &Book| table(spec, book).remarks.join(" ");
    let better = against(TestKind::Wilcoxon, Side::Better, Family::None);
    let nll = TableSpec { metrics: vec!["nll".into()], ..better };
    assert_eq!(bold(&nll, &book()), [false, true, false]);
    assert!(
        remarks(&nll, &book()).contains("Bold: the best mean, where its test has p below 0.05")
    );
    // Two-sided, five pairs cannot give such a p.
    let two = TableSpec {
        metrics: nll.metrics.clone(),
        ..against(TestKind::Wilcoxon, Side::Two, Family::None)
    };
    assert_eq!(bold(&two, &book()), [false; 3]);
    let words = "no significant difference (smallest possible p 0.0625 with 5 seeds).";
    assert!(remarks(&two, &book()).contains(words), "{}", remarks(&two, &book()));
    // Nor can Holm's correction over two tests.
    let family = TableSpec {
        metrics: nll.metrics.clone(),
        ..against(TestKind::Wilcoxon, Side::Better, Family::Column)
    };
    assert_eq!(bold(&family, &book()), [false; 3]);
    assert!(remarks(&family, &book()).contains("(smallest possible p 0.0625 with 5 seeds)"));
    // Without a test nothing is bold, though a mean is the best.
    let untested = TableSpec { against: None, ..nll.clone() };
    assert_eq!(bold(&untested, &book()), [false; 3]);
    assert!(number(&table(&untested, &book()), 1, 0).best);
    // An arm that lacks a seed has its mean over other runs.
    let mut fewer = book();
    fewer.rows.retain(|row| row.arm != "majority" || row.seed != 4);
    assert_eq!(bold(&nll, &fewer), [false; 3]);
    let why = "Means over different seeds are not compared, and none of them is bold.";
    assert!(remarks(&nll, &fewer).contains(why), "{}", remarks(&nll, &fewer));
}

/// Three seeds: an exact two-sided p is 0.25 or more.
#[test]
fn three_seeds_separate_nothing() {
    let mut book = bare();
    add(&mut book, "soft", None, "nll", &some(&[0.5, 0.6, 0.7]));
    add(&mut book, "sls", None, "nll", &some(&[0.1, 0.2, 0.3]));
    let two = against(TestKind::Wilcoxon, Side::Two, Family::None);
    let table = table(&two, &book);
    assert!(number(&table, 1, 0).best && !number(&table, 1, 0).bold);
    let words = "no significant difference (smallest possible p 0.25 with 3 seeds).";
    assert!(table.remarks.join(" ").contains(words), "{:?}", table.remarks);
    let page = dissensus_report::page::render(&book, &[table], &[], None).unwrap();
    let words = "no significant difference between <strong>SLS</strong>, 0.2000 ± 0.1000 (n = 3), \
                 and <strong>Soft labels</strong>: p = 0.250 (smallest possible p 0.25 with 3 seeds)";
    assert!(page.contains(words) && !page.contains("has the best mean"), "{page}");
}

/// Of many comparisons a summary tells how many are significant, and names no arm where none is.
#[test]
fn many_comparisons_are_counted() {
    let mut book = bare();
    for k in 1..=7 {
        add(&mut book, "soft", Some(k), "nll", &some(&[0.5, 0.6, 0.7]));
        add(&mut book, "sls", Some(k), "nll", &some(&[0.1, 0.2, 0.3]));
    }
    let across = vec![Dimension::K];
    let spec = TableSpec { across, ..against(TestKind::Wilcoxon, Side::Two, Family::None) };
    let page = |book: &Book| {
        dissensus_report::page::render(book, &[table(&spec, book)], &[], None).unwrap()
    };
    let words = "No significant difference in any of 7 comparisons of “Main results” (smallest \
                 possible p 0.25 with 3 seeds).";
    assert!(page(&book).contains(words));
    // Six seeds of one sign: 2 / 2⁶ is below 0.05.
    let six = some(&[0.5, 0.6, 0.7, 0.5, 0.6, 0.7]);
    let below = some(&[0.1, 0.2, 0.3, 0.11, 0.22, 0.33]);
    let mut more = bare();
    for k in 1..=7 {
        add(&mut more, "soft", Some(k), "nll", &six);
        add(&mut more, "sls", Some(k), "nll", &below);
    }
    let words = "In 7 of 7 comparisons of “Main results” the best mean differs significantly from \
                 <strong>Soft labels</strong>: <strong>SLS</strong> in 7";
    assert!(page(&more).contains(words));
    // Without one seed of an arm, its means are not compared.
    more.rows.retain(|row| row.arm != "sls" || row.seed != 5 || row.k != Some(1));
    assert!(page(&more).contains("In 6 of 7 comparisons"));
}
