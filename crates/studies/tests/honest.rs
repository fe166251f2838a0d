//! What a report says of itself: where epochs are selected, and what needs no model.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Lab, plan, study};
use dissensus_report::book::Book;
use dissensus_report::tables::prepare;
use dissensus_studies::Study;
use serde_json::json;

const TABLE: &str = "
[[slice]]
name = 'high'
top = 0.25
[stages]
truth = {}
[[table]]
name = 'main'
down = ['k', 'arm']
metrics = ['soft_nll', 'kl', 'accuracy', 'best_epoch']
against = { arm = 'soft' }
[[table]]
name = 'across'
down = ['k']
across = ['arm']
metrics = ['kl']
";

const PARTS: &str = "[split]\nparts = 'train/validation/test'\nshares = [0.6, 0.2, 0.2]\n";

fn book(study: &Study) -> Book {
    let (plan, lab) = (plan(study), Lab::new());
    lab.all(&plan);
    let collected = plan.collect(&lab.store, &json!({})).unwrap();
    assert!(collected.rows.iter().all(|row| !row.arm.starts_with("baseline")));
    plan.book(&lab.store).unwrap()
}

#[test]
fn selection_on_the_judged_items_is_said() {
    let on_judged = book(&study(TABLE));
    assert_eq!(on_judged.notes.len(), 1);
    assert!(on_judged.notes[0].starts_with("The epoch of every run is selected on the items"));
    let table = prepare(&on_judged.tables[0], &on_judged).unwrap();
    assert!(table.remarks.contains(&on_judged.notes[0]), "{:?}", table.remarks);
    let apart = book(&study(&format!("{PARTS}{TABLE}")));
    assert_eq!(apart.notes, [""; 0]);
    // The first paper's study selects on what it judges; one of the user does not.
    let note = |name: &str| {
        let study = Study::builtin(name).unwrap();
        common::plan(&study).book(&Lab::new().store).unwrap().notes.len()
    };
    assert_eq!(note("same-target-further"), 1);
}

#[test]
fn baselines_come_last_and_bound_the_scores() {
    let book = book(&study(TABLE));
    let table = prepare(&book.tables[0], &book).unwrap();
    let arm = |line: usize| table.lines[line].heads[1].title.as_str();
    // Two arms with two numbers of votes, and three baselines.
    assert_eq!(table.lines.len(), 4 + 3);
    let names = ["class prior", "uniform", "the votes themselves"];
    for (line, name) in (4..).zip(names) {
        assert_eq!(arm(line), format!("baseline: {name}"));
        let numbers = table.lines[line].cells.iter().filter_map(|cell| cell.number());
        for number in numbers {
            assert!(!number.best && number.test.is_none() && number.published.is_none());
        }
    }
    assert!(table.remarks.iter().any(|remark| remark.starts_with("Baselines need no model")));
    let mean = |line: usize, column: usize| table.lines[line].cells[column].number().unwrap().mean;
    let (prior, uniform, votes) = (4, 5, 6);
    // A prediction of ten classes alike, and KL = NLL − H: the bound of KL is 0.
    assert!((mean(uniform, 0).unwrap() - 10f64.ln()).abs() < 1e-12);
    assert!(mean(votes, 1).unwrap().abs() < 1e-12);
    let entropy = mean(votes, 0).unwrap();
    for line in 0..=prior {
        assert!(mean(line, 0).unwrap() > entropy, "line {line}");
        let difference = mean(line, 0).unwrap() - mean(line, 1).unwrap();
        assert!((difference - entropy).abs() < 1e-9, "line {line}");
    }
    assert!(mean(prior, 0) <= mean(uniform, 0).map(|nll| nll + 0.1));
    // A uniform prediction has no class, and none of them has an epoch.
    assert!(mean(prior, 2).is_some() && mean(uniform, 2).is_none() && mean(votes, 2).is_none());
    assert!((4..7).all(|line| mean(line, 3).is_none()));
    // Where arms go across there is no line for them, and a remark has their numbers.
    let across = prepare(&book.tables[1], &book).unwrap();
    assert_eq!(across.lines.len(), 2);
    let number = table.lines[uniform].cells[1].number().unwrap();
    let value = format!("Of uniform: KL {:.*}", number.digits, number.mean.unwrap());
    assert!(across.remarks.iter().any(|remark| remark.contains(&value)), "{value} {across:?}");
}
