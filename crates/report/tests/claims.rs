//! Claims: each kind where it holds, where it does not, and where it cannot be said.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dissensus_report::book::{Arm, Book, Metric, Named, Reference, Row, RunKey};
use dissensus_report::claims::{ClaimKind, ClaimSpec, Judged, Verdict, judge};
use dissensus_report::tables::{Shows, TableSpec, Tally, Votes, markdown, prepare};

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
        "2 of 2 below; by sls −0.11, pass −0.15; p = 0.031 to 0.063; all 5 seeds agree in 1 of 2"
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
    // Five pairs give 1/32 at the least: below that it cannot be said. Means that are not so can.
    let few = Verdict::Open("5 pairs can give no p up to 0.03".into());
    assert_eq!(strict(0.03), few);
    let against = ClaimSpec { level: Some(0.03), ..than(ClaimKind::Above, &["sls"], "soft") };
    assert_eq!(said(&against, &book).verdict, Verdict::Fails);
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
    assert_eq!(both.against, ["sls · 10 votes: 0.10, p = 1.000"]);
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
    assert_eq!(held.ours, "2 of 3 within 2 sd (67 %), 1 within 1");
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

/// A study that lands nowhere near is not a page of cells.
#[test]
fn few_of_many_cells_outside_are_named() {
    let tally = Tally { compared: 90, outside: vec!["a · b".into(); 90], ..Tally::default() };
    assert_eq!(tally.outside_words().len(), 7);
    assert!(tally.sentence().ends_with("; and 84 more."), "{}", tally.sentence());
}
