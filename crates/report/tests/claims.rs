//! Claims: each kind where it holds, where it does not, and where it cannot be said.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dissensus_report::book::{
    Arm, Book, Curve, Direction, Facts, ItemNumbers, Metric, Named, Reference, Row, RunKey,
};
use dissensus_report::claims::{ClaimKind, ClaimSide, ClaimSpec, Judged, Verdict, answer, judge};
use dissensus_report::tables::{Shows, TableSpec, Tally, TestKind, Votes, markdown, prepare};

fn rows(arm: &str, k: Option<u32>, metric: &str, values: &[f64]) -> Vec<Row> {
    let row = |(seed, value): (usize, &f64)| Row {
        dataset: "pictures".into(),
        arm: arm.into(),
        k,
        seed: seed as u64,
        metric: metric.into(),
        slice: "all".into(),
        value: Some(*value),
        run: format!("{arm}{k:?}{seed}"),
        ..Row::default()
    };
    values.iter().enumerate().map(row).collect()
}

fn book(rows: Vec<Row>) -> Book {
    let metric = |name: &str| Metric {
        name: name.into(),
        title: name.to_uppercase(),
        digits: 2,
        ..Metric::default()
    };
    let arm = |name: &str| Arm { name: name.into(), ..Arm::default() };
    let mut book = Book {
        arms: ["soft", "sls", "pass"].map(arm).to_vec(),
        datasets: vec![Named { name: "pictures".into(), title: "Pictures".into() }],
        metrics: ["nll", "acc"].map(metric).to_vec(),
        rows,
        ..Book::default()
    };
    for row in &book.rows {
        let of =
            RunKey { dataset: row.dataset.clone(), arm: row.arm.clone(), k: row.k, seed: row.seed };
        if !book.planned.contains(&of) {
            book.planned.push(of);
        }
    }
    book
}

fn names(all: &[&str]) -> Vec<String> {
    all.iter().map(|name| (*name).to_owned()).collect()
}

fn claim(kind: ClaimKind, arms: &[&str]) -> ClaimSpec {
    ClaimSpec {
        name: "c".into(),
        text: "It is so".into(),
        kind,
        arms: names(arms),
        metrics: names(&["nll"]),
        ..ClaimSpec::default()
    }
}

fn than(kind: ClaimKind, arms: &[&str], than: &str) -> ClaimSpec {
    ClaimSpec { than: Some(than.into()), ..claim(kind, arms) }
}

fn said(spec: &ClaimSpec, book: &Book) -> Judged {
    judge(spec, book).unwrap()
}

/// Five seeds; the arms are apart by 0.1 on the whole, and one seed of `pass` goes the other way.
fn five() -> Book {
    let mut all = rows("soft", None, "nll", &[0.5, 0.6, 0.7, 0.8, 0.9]);
    all.extend(rows("sls", None, "nll", &[0.41, 0.52, 0.63, 0.64, 0.75]));
    all.extend(rows("pass", None, "nll", &[0.3, 0.4, 0.5, 0.6, 0.95]));
    book(all)
}

#[test]
fn below_and_above_another_arm() {
    let book = five();
    let held = said(&than(ClaimKind::Below, &["sls", "pass"], "soft"), &book);
    assert_eq!((&held.verdict, held.against.len()), (&Verdict::Holds, 0));
    // scipy 1.14: wilcoxon([.05, -.2, -.2, -.2, -.2], alternative="less") is 2/32 exactly; all five
    // below give 1/32.
    assert_eq!(
        held.ours,
        "2 of 2 below; by sls: −0.11, p = 0.031; pass: −0.15, p = 0.063; after Holm 0.063, 0.063; \
         all 5 seeds agree in 1 of 2"
    );
    let failed = said(&than(ClaimKind::Above, &["sls"], "soft"), &book);
    assert_eq!(failed.verdict, Verdict::Fails);
    assert_eq!(failed.against, ["sls: −0.11, p = 1.000"]);
    assert_eq!(said(&than(ClaimKind::Above, &["soft"], "sls"), &book).verdict, Verdict::Holds);
    // With a level, p decides, too.
    let levelled = |level, arms: &[&str]| {
        said(&ClaimSpec { level: Some(level), ..than(ClaimKind::Below, arms, "soft") }, &book)
    };
    let strict = |level| levelled(level, &["sls", "pass"]).verdict;
    assert_eq!((strict(0.05), strict(0.07)), (Verdict::Partly, Verdict::Holds));
    let partly = levelled(0.05, &["sls", "pass"]);
    assert_eq!(partly.against, ["pass: −0.15, p = 0.063"]);
    assert!(partly.ours.starts_with("2 of 2 below; 1 with p up to 0.05; by"), "{}", partly.ours);
    // Not surely in any cell is no part.
    assert_eq!(levelled(0.05, &["pass"]).verdict, Verdict::Fails);
    // Five pairs give 1/32 at the least: below that nothing can be said, in either direction.
    let few = Verdict::Open("5 pairs can give no p up to 0.03".into());
    assert_eq!(strict(0.03), few.clone());
    let against = ClaimSpec { level: Some(0.03), ..than(ClaimKind::Above, &["sls"], "soft") };
    assert_eq!(said(&against, &book).verdict, few);
    // Equal means are neither below nor above.
    for kind in [ClaimKind::Below, ClaimKind::Above] {
        assert_eq!(said(&than(kind, &["soft"], "soft"), &book).verdict, Verdict::Fails);
    }
}

#[test]
fn every_cell_counts() {
    let mut all = Vec::new();
    for k in [5, 10] {
        all.extend(rows("soft", Some(k), "nll", &[0.5, 0.6]));
        let far = if k == 5 { 0.1 } else { -0.1 };
        all.extend(rows("sls", Some(k), "nll", &[0.5 - far, 0.6 - far]));
    }
    let book = book(all);
    let ks = |ks: &[u32]| ClaimSpec {
        ks: ks.iter().map(|k| Votes(Some(*k))).collect(),
        ..than(ClaimKind::Below, &["sls"], "soft")
    };
    assert_eq!(said(&ks(&[5]), &book).verdict, Verdict::Holds);
    let both = said(&ks(&[5, 10]), &book);
    assert_eq!(both.verdict, Verdict::Fails);
    assert_eq!(both.against, ["10 votes: 0.10, p = 1.000"]);
    assert!(both.ours.starts_with("1 of 2 below"), "{}", both.ours);
}

#[test]
fn below_and_above_a_number() {
    let book = five();
    let bound = |kind, bound| ClaimSpec { bound: Some(bound), ..claim(kind, &["sls"]) };
    let held = said(&bound(ClaimKind::Below, 0.6), &book);
    assert_eq!((held.verdict, held.ours.as_str()), (Verdict::Holds, "sls 0.59 (0.41 to 0.75)"));
    assert_eq!(said(&bound(ClaimKind::Below, 0.5), &book).verdict, Verdict::Fails);
    assert_eq!(said(&bound(ClaimKind::Above, 0.5), &book).verdict, Verdict::Holds);
    assert_eq!(said(&bound(ClaimKind::Above, 0.6), &book).verdict, Verdict::Fails);
}

#[test]
fn parity_needs_enough_pairs_or_a_bound() {
    let book = five();
    let spec = than(ClaimKind::Parity, &["sls"], "soft");
    // Five pairs can give no two-sided p below 0.0625.
    let open = said(&spec, &book);
    let Verdict::Open(why) = &open.verdict else { panic!("{open:?}") };
    assert_eq!(why, "5 pairs can give no p up to 0.05");
    let within = |within| said(&ClaimSpec { within: Some(within), ..spec.clone() }, &book).verdict;
    // Means 0.7 and 0.59: 15.7 % apart.
    assert_eq!((within(0.15), within(0.16)), (Verdict::Fails, Verdict::Holds));
    // Eight pairs on one side: p = 2/256.
    let base = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2];
    let moved = |by: &[f64]| {
        let values: Vec<f64> = base.iter().zip(by).map(|(a, b)| a + b).collect();
        let mut all = rows("soft", None, "nll", &base);
        all.extend(rows("sls", None, "nll", &values));
        self::book(all)
    };
    let apart = moved(&[0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08]);
    let failed = said(&spec, &apart);
    assert_eq!(failed.verdict, Verdict::Fails);
    assert_eq!(failed.ours, "0 of 1 alike; p = 0.008; means at most 5.3 % apart");
    let mixed = moved(&[0.01, -0.02, 0.03, -0.04, 0.05, -0.06, 0.07, -0.08]);
    assert_eq!(said(&spec, &mixed).verdict, Verdict::Holds);
    let lenient = ClaimSpec { level: Some(0.001), within: Some(0.5), ..spec };
    assert_eq!(said(&lenient, &apart).verdict, Verdict::Holds);
}

#[test]
fn means_in_order() {
    let book = five();
    let order = said(&claim(ClaimKind::Ordering, &["soft", "sls", "pass"]), &book);
    assert_eq!(order.verdict, Verdict::Holds);
    assert!(order.ours.starts_with("0.70 > 0.59 > 0.55 (p = 0.031 to"), "{}", order.ours);
    let wrong = said(&claim(ClaimKind::Ordering, &["sls", "soft"]), &book);
    assert_eq!((wrong.verdict, wrong.against.len()), (Verdict::Fails, 1));
    assert!(wrong.ours.starts_with("0.59 / 0.70"), "{}", wrong.ours);
    let rises = said(&claim(ClaimKind::Monotone, &["pass", "sls", "soft"]), &book);
    assert_eq!(rises.verdict, Verdict::Holds);
    assert_eq!(rises.ours, "0.55 < 0.59 < 0.70 (4 of 5 seeds)");
    assert_eq!(said(&claim(ClaimKind::Monotone, &["soft", "sls"]), &book).verdict, Verdict::Fails);
}

#[test]
fn a_claim_is_open_while_its_runs_are_not_done() {
    let mut book = five();
    let spec = than(ClaimKind::Below, &["sls"], "soft");
    let of = |arm: &str, k| RunKey { dataset: "pictures".into(), arm: arm.into(), k, seed: 5 };
    // A run of another arm, or with other votes, is none of its business.
    book.planned.extend([of("pass", None), of("sls", Some(5))]);
    assert_eq!(said(&spec, &book).verdict, Verdict::Holds);
    book.planned.push(of("soft", None));
    let open = said(&spec, &book);
    assert_eq!(open.verdict, Verdict::Open("1 of its runs are not done".into()));
    // What is known is told all the same.
    assert!(open.ours.starts_with("1 of 1 below"), "{}", open.ours);
    let missing = ClaimSpec { metrics: names(&["acc"]), ..spec.clone() };
    assert!(matches!(said(&missing, &five()).verdict, Verdict::Open(_)));
    let bound = ClaimSpec { bound: Some(0.1), than: None, ..missing };
    assert!(matches!(said(&bound, &five()).verdict, Verdict::Open(_)));
    assert!(matches!(
        said(&claim(ClaimKind::Ordering, &["soft", "none"]), &five()).verdict,
        Verdict::Open(_)
    ));
}

#[test]
fn the_share_of_cells_near_published_values() {
    let mut book = five();
    let reference = |arm: &str, mean: f64| Reference {
        arm: arm.into(),
        metric: "nll".into(),
        slice: "all".into(),
        mean,
        sd: Some(0.1),
        source: "Table 1".into(),
        ..Reference::default()
    };
    book.references = vec![reference("soft", 0.65), reference("sls", 0.45), reference("pass", 0.1)];
    let arms = names(&["soft", "sls", "pass"]);
    let table =
        |name: &str| TableSpec { name: name.into(), arms: arms.clone(), ..TableSpec::default() };
    book.tables = vec![table("main"), table("other")];
    let share = |share| ClaimSpec {
        tables: names(&["main"]),
        share: Some(share),
        ..claim(ClaimKind::ShareWithin, &[])
    };
    let held = said(&share(0.6), &book);
    assert_eq!(held.verdict, Verdict::Holds);
    assert_eq!(
        held.ours,
        "2 of 3 within 2 sd (67 %), 1 within 1; by Welch’s t test 0 of 0 differ with p below 0.05"
    );
    let failed = said(&share(0.7), &book);
    assert_eq!((failed.verdict, failed.against.len()), (Verdict::Fails, 1));
    assert!(failed.against[0].contains("pass"), "{:?}", failed.against);
    book.rows.retain(|row| row.arm != "sls");
    book.planned.retain(|of| of.arm != "sls");
    assert!(matches!(said(&share(0.5), &book).verdict, Verdict::Open(_)));
}

#[test]
fn as_a_table() {
    let mut book = five();
    book.claims = vec![
        ClaimSpec { published: "so".into(), ..than(ClaimKind::Below, &["sls"], "soft") },
        ClaimSpec { text: "Not so".into(), ..than(ClaimKind::Above, &["sls"], "soft") },
        ClaimSpec { text: "Unknown".into(), ..than(ClaimKind::Parity, &["sls"], "soft") },
    ];
    let spec = TableSpec { name: "v".into(), shows: Shows::Claims, ..TableSpec::default() };
    let table = prepare(&spec, &book).unwrap();
    let verdicts: Vec<_> = table.lines.iter().map(|line| format!("{:?}", line.cells[0])).collect();
    assert_eq!(verdicts, ["Text(\"holds\")", "Text(\"does not hold\")", "Text(\"not decided\")"]);
    assert!(table.remarks[0].starts_with("Of 3 claims 1 holds, 1 does not and 1 cannot"));
    let text = markdown(&table);
    assert!(text.contains("| It is so | holds  "), "{text}");
    assert!(text.contains("Not so — contradicted by: sls: −0.11, p = 1.000."), "{text}");
    // The page says at its head how many hold, and which do not.
    let page = dissensus_report::page::render(&book, &[table], &[], None).unwrap();
    assert!(page.contains("<td class=\"holds\">holds</td>"));
    assert!(page.contains("<td class=\"fails\">does not hold</td>"));
    let head = &page[page.find("id=\"summary\"").unwrap()..page.find("id=\"tables\"").unwrap()];
    assert!(head.contains("<li>does not hold: Not so</li>"), "{head}");
    assert!(head.contains("Of 3 claims 1 holds, "), "{head}");
    // At a scale of the study, that is said instead.
    book.scale = Some("quick".into());
    let table = prepare(&spec, &book).unwrap();
    assert!(table.remarks[0].starts_with("This is the study at scale quick"));
    let page = dissensus_report::page::render(&book, &[table], &[], None).unwrap();
    let head = &page[page.find("id=\"summary\"").unwrap()..page.find("id=\"tables\"").unwrap()];
    assert!(head.contains("scale quick") && !head.contains("does not hold"), "{head}");
}

#[test]
fn sides_tests_and_cells_that_are_enough() {
    let book = five();
    let base = than(ClaimKind::Below, &["sls", "pass"], "soft");
    // scipy 1.14: two-sided Wilcoxon of five on one side is 2/32, of four and the smallest 4/32.
    let two = said(&ClaimSpec { side: ClaimSide::Two, ..base.clone() }, &book);
    assert!(two.ours.contains("sls: −0.11, p = 0.063; pass: −0.15, p = 0.125"), "{}", two.ours);
    let none = said(&ClaimSpec { side: ClaimSide::None, ..base.clone() }, &book);
    assert_eq!(none.ours, "2 of 2 below; sls: 0.59 against 0.70; pass: 0.55 against 0.70");
    assert_eq!(none.statistic, "means");
    // scipy 1.14: ttest_rel([.41, .52, .63, .64, .75], [.5, .6, .7, .8, .9]).pvalue is 0.0040.
    let t = ClaimSpec { test: TestKind::T, side: ClaimSide::Two, ..base.clone() };
    assert!(said(&t, &book).ours.contains("sls: −0.11, p = 0.004"), "{}", said(&t, &book).ours);
    // One seed of `pass` is above.
    let every = |least| said(&ClaimSpec { every_seed: true, least, ..base.clone() }, &book);
    assert_eq!((every(None).verdict, every(Some(1)).verdict), (Verdict::Partly, Verdict::Holds));
    // The seeds' means of both: −.145, −.14, −.135, −.18, −.05.
    let pooled = said(&ClaimSpec { pooled: true, level: Some(0.05), ..base.clone() }, &book);
    assert_eq!(pooled.verdict, Verdict::Holds);
    assert_eq!(pooled.ours, "by −0.13, p = 0.031; all 5 seeds agree");
    let wrong = ClaimSpec { pooled: true, ..than(ClaimKind::Above, &["sls"], "soft") };
    assert_eq!(said(&wrong, &book).verdict, Verdict::Fails);
}

#[test]
fn better_is_by_the_direction_of_the_metric() {
    let mut all = rows("soft", None, "acc", &[0.5, 0.6, 0.7]);
    all.extend(rows("sls", None, "acc", &[0.6, 0.7, 0.8]));
    let mut book = book(all);
    let spec = ClaimSpec { metrics: names(&["acc"]), ..than(ClaimKind::Better, &["sls"], "soft") };
    for (better, verdict) in
        [(Direction::Higher, Verdict::Holds), (Direction::Lower, Verdict::Fails)]
    {
        book.metrics.iter_mut().for_each(|metric| metric.better = better);
        assert_eq!(said(&spec, &book).verdict, verdict);
    }
}

#[test]
fn between_bounds_and_the_extremes() {
    let book = five();
    let within = |bounds| ClaimSpec { bounds: Some(bounds), ..claim(ClaimKind::Between, &["sls"]) };
    assert_eq!(said(&within([0.5, 0.6]), &book).verdict, Verdict::Holds);
    assert_eq!(said(&within([0.6, 0.7]), &book).verdict, Verdict::Fails);
    let first = |kind, arms: &[&str]| said(&claim(kind, arms), &book);
    let high = first(ClaimKind::Highest, &["soft", "sls", "pass"]);
    assert_eq!(high.verdict, Verdict::Holds);
    assert_eq!(high.ours, "highest in 1 of 1: 0.70 (0.59, 0.55)");
    assert_eq!(first(ClaimKind::Highest, &["sls", "soft"]).verdict, Verdict::Fails);
    assert_eq!(first(ClaimKind::Lowest, &["pass", "soft", "sls"]).verdict, Verdict::Holds);
    assert_eq!(first(ClaimKind::Lowest, &["soft", "sls"]).verdict, Verdict::Fails);
}

#[test]
fn parity_that_holm_leaves_is_held_in_part() {
    let base = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
    let apart: Vec<f64> = base.iter().zip(1..).map(|(a, i)| a + 0.01 * f64::from(i)).collect();
    let mixed: Vec<f64> =
        base.iter().zip(1..).map(|(a, i)| a + [0.01, -0.01][i % 2] * i as f64).collect();
    let mut all = rows("soft", None, "nll", &base);
    all.extend(rows("soft", None, "acc", &base));
    all.extend(rows("sls", None, "nll", &apart));
    all.extend(rows("sls", None, "acc", &mixed));
    let book = book(all);
    let parity = |metrics: &[&str]| {
        let metrics = names(metrics);
        said(&ClaimSpec { metrics, ..than(ClaimKind::Parity, &["sls"], "soft") }, &book)
    };
    // Six on one side give 2/64 = 0.031: twice that is no difference any more.
    assert_eq!(parity(&["nll"]).verdict, Verdict::Fails);
    let both = parity(&["nll", "acc"]);
    assert_eq!(both.verdict, Verdict::Partly);
    assert!(
        both.ours.contains("p: NLL 0.031") && both.ours.contains("after Holm 0.063"),
        "{}",
        both.ours
    );
}

#[test]
fn gains_and_changes() {
    let mut all = Vec::new();
    for (k, gain) in [(5, 0.2), (25, 0.1)] {
        all.extend(rows("soft", Some(k), "nll", &[1.0, 1.2]));
        all.extend(rows("sls", Some(k), "nll", &[1.0 - gain, 1.2 - gain]));
    }
    let mut book = book(all);
    book.metrics.iter_mut().for_each(|metric| metric.better = Direction::Lower);
    let ks = |ks: &[u32]| ks.iter().map(|k| Votes(Some(*k))).collect::<Vec<_>>();
    let gain = |more: u32, fewer: u32| {
        let spec = than(ClaimKind::Gain, &["sls"], "soft");
        said(&ClaimSpec { ks: ks(&[more]), than_ks: ks(&[fewer]), ..spec }, &book)
    };
    assert_eq!((gain(5, 25).verdict, gain(25, 5).verdict), (Verdict::Holds, Verdict::Fails));
    assert_eq!(gain(5, 25).ours, "0.20 against 0.10");
    let change = |bound| {
        let spec = than(ClaimKind::Change, &["sls"], "soft");
        said(&ClaimSpec { ks: ks(&[5, 25]), bound: Some(bound), ..spec }, &book)
    };
    // 0.2 and 0.1 of 1.1: 18.2 and 9.1 %.
    assert_eq!((change(0.13).verdict, change(0.14).verdict), (Verdict::Holds, Verdict::Fails));
    assert!(
        change(0.1).ours.contains("13.6 % on average; of the means of all 13.6 %"),
        "{}",
        change(0.1).ours
    );
}

#[test]
fn correlations_over_items() {
    let mut book = five();
    let numbers = |arm: &str, seed: u64, nll: &[f64]| ItemNumbers {
        of: RunKey { dataset: "pictures".into(), arm: arm.into(), k: None, seed },
        ids: names(&["a", "b", "c", "d"]),
        columns: vec![
            ("x".into(), vec![1.0, 2.0, 3.0, 4.0]),
            ("other".into(), vec![1.0, 3.0, 2.0, 4.0]),
            ("nll".into(), nll.to_vec()),
        ],
        slices: vec![("top".into(), vec![true, true, true, false])],
    };
    for seed in 0..5 {
        book.items.push(numbers("soft", seed, &[1.0, 1.0, 1.0, 1.0]));
        // Gains of 0.1, 0.2, 0.3 and 0.05: of the first three, larger with x.
        book.items.push(numbers("sls", seed, &[0.9, 0.8, 0.7, 0.95]));
    }
    let of = |x: &str| ClaimSpec {
        x: Some(x.into()),
        y: Some("nll".into()),
        ..than(ClaimKind::Correlation, &["sls"], "soft")
    };
    // Ranks 1 2 3 4 and 2 3 4 1: 1 − 6 · 12 / 60 = −0.2.
    let all = said(&of("x"), &book);
    assert_eq!(all.verdict, Verdict::Fails);
    assert_eq!(
        all.ours,
        "−0.200 (−0.200 to −0.200); above 0 in 0 of 5 runs; seeds' means p = 1.000"
    );
    let top = ClaimSpec { slices: names(&["top"]), ..of("x") };
    assert_eq!(said(&top, &book).verdict, Verdict::Holds);
    let every = |spec: &ClaimSpec| said(&ClaimSpec { every_seed: true, ..spec.clone() }, &book);
    assert_eq!((every(&of("x")).against.len(), every(&top).verdict), (5, Verdict::Holds));
    // Without an arm to gain over, it is the column itself.
    let own = ClaimSpec { than: None, ..of("x") };
    assert!(said(&own, &book).ours.starts_with("0.200 "), "{}", said(&own, &book).ours);
    // Of the first three, ranks 1 2 3 against 1 3 2: 1 against 0.5, in all seeds.
    let than_other = ClaimSpec { than_x: Some("other".into()), ..top.clone() };
    let more = said(&than_other, &book);
    assert_eq!(more.verdict, Verdict::Holds, "{}", more.ours);
    assert!(more.ours.ends_with("against 0.500 on average; by 0.500, p = 0.031"), "{}", more.ours);
    let less = ClaimSpec { x: Some("other".into()), than_x: Some("x".into()), ..top.clone() };
    assert_eq!(said(&less, &book).verdict, Verdict::Fails);
    // Given x itself, nothing is left of it.
    let given = ClaimSpec { given: Some("x".into()), ..of("other") };
    // (0.2 − 0.8 · −0.2) … : r = −0.4 of ranks 1 3 2 4 and 2 3 4 1; partial (−0.4 + 0.16) / √(0.36 · 0.96).
    assert!(said(&given, &book).ours.starts_with("−0.408 "), "{}", said(&given, &book).ours);
    book.items.clear();
    assert!(matches!(said(&of("x"), &book).verdict, Verdict::Open(_)));
}

#[test]
fn curves_that_turn_and_facts_of_the_data() {
    let mut book = five();
    for seed in 0..5 {
        let curve = |arm: &str, values: &[f64]| Curve {
            of: RunKey { dataset: "pictures".into(), arm: arm.into(), k: None, seed },
            column: "validation.nll".into(),
            values: values.to_vec(),
            x: Vec::new(),
        };
        book.curves.push(curve("soft", &[1.0, 0.8, 0.5, 0.6]));
        book.curves.push(curve("sls", &[1.0, 0.5, 0.6, 1.0]));
    }
    let spec = |arm: &str, other: &str| ClaimSpec {
        y: Some("validation.nll".into()),
        ..than(ClaimKind::Turn, &[arm], other)
    };
    let later = said(&spec("soft", "sls"), &book);
    assert_eq!(later.verdict, Verdict::Holds);
    assert_eq!(later.ours, "3.0 against 2.0 (p = 0.031), rise 20.0 and 100.0 %");
    assert_eq!(said(&spec("sls", "soft"), &book).verdict, Verdict::Fails);
    book.facts = vec![Facts {
        dataset: "pictures".into(),
        facts: vec![("Items".into(), "103".into()), ("Entropy".into(), "0.59 ± 0.20".into())],
    }];
    let facts = |items: f64| {
        let fact = |name: &str, value| ("pictures".to_owned(), name.to_owned(), value);
        let facts = vec![fact("Items", items), fact("Entropy", 0.59)];
        said(&ClaimSpec { facts, ..claim(ClaimKind::Facts, &[]) }, &book)
    };
    assert_eq!((facts(100.0).verdict, facts(90.0).verdict), (Verdict::Holds, Verdict::Fails));
    assert_eq!(facts(100.0).ours, "1 of 2 equal; Pictures Items 103 (100)");
}

/// A study that lands nowhere near is not a page of cells.
#[test]
fn few_of_many_cells_outside_are_named() {
    let tally = Tally { compared: 90, outside: vec!["a · b".into(); 90], ..Tally::default() };
    assert_eq!(tally.outside_words().len(), 7);
    assert!(tally.sentence().ends_with("; and 84 more."), "{}", tally.sentence());
}

#[test]
fn an_answer_says_no_more_than_its_test() {
    let book = five();
    let of = |spec: &ClaimSpec| answer(spec, &book).unwrap();
    let below = than(ClaimKind::Below, &["sls"], "soft");
    let held = of(&ClaimSpec { text: "3. SLS is below soft labels".into(), ..below.clone() });
    assert_eq!(held.heading, "Holds");
    assert_eq!(
        held.sentence,
        "SLS is below soft labels (NLL 0.59 against 0.70, p = 0.031; 5 seeds, one-sided paired Wilcoxon)."
    );
    // Without a level, the claim is about means; an answer is not.
    let wide = than(ClaimKind::Below, &["pass"], "soft");
    assert_eq!(said(&wide, &book).verdict, Verdict::Holds);
    let answered = of(&wide);
    assert_eq!((answered.heading, answered.verdict), ("Not significant", Verdict::Fails));
    assert!(answered.sentence.contains("p = 0.063"), "{}", answered.sentence);
    assert_eq!(of(&than(ClaimKind::Above, &["sls"], "soft")).heading, "Does not hold");
    let both = of(&than(ClaimKind::Below, &["sls", "pass"], "soft"));
    assert_eq!(both.heading, "Holds in part");
    assert!(both.sentence.contains("NLL, sls: 0.59 against 0.70, p = 0.031; pass: "), "{both:?}");
    let untested = ClaimSpec { side: ClaimSide::None, ..wide.clone() };
    assert_eq!(of(&untested).heading, "Holds for the means");
    assert!(of(&untested).sentence.contains("(NLL 0.55 against 0.70; 5 seeds)"));
    // p of two sides is 0.125: no difference was found, which is not the same as none.
    let parity = ClaimSpec { level: Some(0.1), ..than(ClaimKind::Parity, &["pass"], "soft") };
    assert_eq!(of(&parity).heading, "No significant difference");
    // Runs at a scale decide nothing.
    let quick = Book { scale: Some("quick".into()), ..five() };
    let open = answer(&below, &quick).unwrap();
    assert_eq!(open.heading, "Not decided");
    assert!(open.sentence.contains("at scale quick") && !open.sentence.contains("p ="), "{open:?}");
}
