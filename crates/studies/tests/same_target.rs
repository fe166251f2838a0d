//! The built-in studies of the first paper: how many runs they are, that every table, figure and claim
//! can be made of them, and which runs their stages look into.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;

use common::Lab;
use dissensus_core::{ClassOrder, ClassSet, Counts, Ids, VoteTable};
use dissensus_engine::Augment;
use dissensus_inputs::{Content, Images, Inputs, Kind};
use dissensus_report::claims::{Verdict, judge};
use dissensus_studies::{PlanOptions, Study, distinct};
use dissensus_train::spec::{Data, Votes};
use dissensus_train::{Spec, Task};

/// Generated pictures in place of the real ones: what is planned does not depend on them.
fn load(data: &Data) -> common::Loaded<dissensus_studies::Material> {
    assert_eq!(data.name(), "cifar10h");
    common::load(data)
}

/// The recipe of photographs is that of the study: a spec that says nothing else than the dataset, the model
/// and the precision has its runs.
#[test]
fn a_spec_without_settings_has_the_runs_of_the_study() {
    let study = Study::builtin("same-target").unwrap();
    let plan = common::plan_with(&study, &PlanOptions::default(), &mut load).unwrap();
    let jobs = plan.finals(&Lab::new().store).unwrap().jobs;
    let text = "data.dataset = 'cifar10h'\nmodel.name = 'resnet18'\n\
                delivery.methods = ['soft', 'sls']\nrun = { seeds = 2, precision = 'bf16' }\n";
    let mut spec = Spec::parse(text, "spec", &[]).unwrap();
    let pixels = vec![0; 4 * 32 * 32 * 3];
    let images = Kind::Images(Images::new("cifar10h", 32, 32, 3, pixels).unwrap());
    let ids = Ids::positions(4);
    let inputs = Inputs::new("cifar10h", Some(ids.clone()), images).unwrap();
    let mut counts = Counts::new();
    (0..4).for_each(|_| counts.push([(0, 3), (1, 2)]).unwrap());
    let classes = ClassSet::new(["a", "b"].map(str::to_owned).to_vec(), ClassOrder::Declared);
    let table = VoteTable::from_counts(classes.unwrap(), ids, counts).unwrap();
    let task = |inputs: Inputs| Task::new("cifar10h", &table, &inputs).unwrap().0;
    // Without knowing what they show, images in colour are not mirrored.
    let unknown = spec.clone().resolve(&task(inputs.clone()));
    assert_eq!(unknown[0].value, "{ crop = 4, flip = false }");
    spec.resolve(&task(inputs.showing(Content::Photographs)));
    for run in spec.runs() {
        assert!(jobs.iter().any(|job| job.run == run), "{}", run.label());
    }
}

#[test]
fn the_whole_study_is_165_trainings_of_the_published_settings() {
    let study = Study::builtin("same-target").unwrap();
    let plan = common::plan_with(&study, &PlanOptions::default(), &mut load).unwrap();
    let jobs = plan.finals(&Lab::new().store).unwrap().jobs;
    // Five arms of ten seeds; three of five; a sweep of four arms and four k; a probe of three; noise;
    // and twice five seeds of SLS that are there already.
    assert_eq!(distinct(&jobs).len(), 50 + 15 + 80 + 15 + 5);
    assert_eq!(jobs.len(), 50 + 15 + 80 + 15 + 5 + 10);
    for job in &jobs {
        let (training, run) = (&job.run.training, &job.run);
        assert_eq!((training.epochs, training.batch_size, training.learning_rate), (200, 128, 0.1));
        assert_eq!(training.augment, Some(Augment { crop: 4, flip: true }));
        assert_eq!(run.split.shares, [0.8, 0.2]);
        assert_eq!((run.split.seed, run.split.stratify), (job.seed, true));
        assert_eq!((&*run.selection.metric, &*run.selection.on), ("soft_nll", "evaluation"));
        if let Votes::Drawn { replacement, .. } = run.votes {
            assert!(replacement);
        }
    }
    let seeds = |arm: &str, k| jobs.iter().filter(|job| job.arm == arm && job.k == k).count();
    assert_eq!((seeds("soft", None), seeds("soft", Some(5)), seeds("mixup", None)), (10, 5, 10));
    assert_eq!((seeds("multipass", None), seeds("deterministic", Some(50))), (5, 5));
    // A sitting: both arms of a barrier, five seeds each.
    let sitting = PlanOptions {
        only: ["soft", "sls"].map(str::to_owned).to_vec(),
        ks: vec![None],
        between: Some((5, 9)),
        seeds: None,
    };
    let part = common::plan_with(&study, &sitting, &mut load).unwrap();
    let part = part.finals(&Lab::new().store).unwrap().jobs;
    assert_eq!(part.len(), 10);
    assert!(part.iter().all(|job| job.seed >= 5 && job.k.is_none()));
    let none = PlanOptions { ks: vec![Some(7)], ..PlanOptions::default() };
    assert!(common::plan_with(&study, &none, &mut load).is_err());
    // A claim waits for all runs of the study, not only for those of a sitting.
    let part = common::plan_with(&study, &sitting, &mut load).unwrap();
    assert_eq!(part.book(&Lab::new().store).unwrap().planned.len(), jobs.len());
}

#[test]
fn tables_and_figures_are_those_of_the_paper_with_every_published_value() {
    let study = Study::builtin("same-target").unwrap();
    let tables: BTreeSet<&str> = study.tables.iter().map(|table| table.name.as_str()).collect();
    assert!((1..=9).all(|n| tables.contains(&*format!("table{n}"))));
    let figures: BTreeSet<&str> = study.figures.iter().map(|figure| figure.name.as_str()).collect();
    assert!((1..=12).all(|n| figures.contains(&*format!("figure{n}"))));
    // Nothing trained: everything can be prepared, every published value stands in some table, and
    // no claim is decided.
    let (plan, lab) =
        (common::plan_with(&study, &PlanOptions::default(), &mut load).unwrap(), Lab::new());
    let book = plan.book(&lab.store).unwrap();
    let prepare = |spec| dissensus_report::tables::prepare(spec, &book).unwrap();
    let prepared: Vec<_> = book.tables.iter().map(prepare).collect();
    let tally = dissensus_report::tables::Tally::of(&prepared).unwrap();
    assert_eq!(tally.waiting, study.references.len());
    for spec in &book.figures {
        dissensus_report::figures::prepare(spec, &book).unwrap();
    }
    // Every claim of the paper is a line, by its number.
    for n in 1..=21 {
        let start = format!("{n}. ");
        assert!(book.claims.iter().any(|claim| claim.text.starts_with(&start)), "no claim {n}");
    }
    for claim in &book.claims {
        let judged = judge(claim, &book).unwrap();
        assert!(matches!(judged.verdict, Verdict::Open(_)), "{judged:?}");
        assert!(claim.name == "cells" || !claim.published.is_empty(), "{}", claim.name);
    }
    let count = |source: &str| study.references.iter().filter(|one| one.source == source).count();
    let counts: Vec<usize> = (1..=9).map(|n| count(&format!("Table {n}"))).collect();
    assert_eq!(counts, [16, 20, 16, 24, 10, 16, 24, 12, 9]);
}

#[test]
fn quick_is_the_same_study_in_small() {
    let quick = Study::builtin("same-target").unwrap().scaled("quick").unwrap();
    let plan = common::plan_with(&quick, &PlanOptions::default(), &mut load).unwrap();
    let jobs = plan.finals(&Lab::new().store).unwrap().jobs;
    assert_eq!(distinct(&jobs).len(), 10 + 6 + 16 + 6 + 2);
    assert!(jobs.iter().all(|job| job.run.training.epochs == 12 && job.seed < 2));
    let ks: BTreeSet<Option<u32>> = jobs.iter().map(|job| job.k).collect();
    assert_eq!(ks, [None, Some(5), Some(50)].into());
    let whole = Study::builtin("same-target").unwrap();
    assert_eq!(quick.tables.len(), whole.tables.len());
    assert_eq!(quick.figures.len(), whole.figures.len());
    // What is stored of it is the same study again.
    let written = quick.to_toml();
    assert_eq!(Study::parse(&written, "study.toml").unwrap().to_toml(), written);
}

#[test]
fn the_further_study_takes_real_votes_without_replacement() {
    let study = Study::builtin("same-target-further").unwrap();
    let plan = common::plan_with(&study, &PlanOptions::default(), &mut load);
    let jobs = plan.unwrap().finals(&Lab::new().store).unwrap().jobs;
    assert_eq!((jobs.len(), distinct(&jobs).len()), (50, 50));
    for job in &jobs {
        assert!(matches!(job.run.votes, Votes::Drawn { replacement: false, .. }), "{job:?}");
    }
}

/// 75 runs of the first two questions, and 80 of the last two, which share soft labels and SLS.
#[test]
fn the_study_of_reasons_is_155_runs() {
    let study = Study::builtin("same-target-why").unwrap();
    let plan = common::plan_with(&study, &PlanOptions::default(), &mut load).unwrap();
    let jobs = plan.finals(&Lab::new().store).unwrap().jobs;
    assert_eq!((jobs.len(), distinct(&jobs).len()), (155, 155));
    let few: Vec<_> = jobs.iter().filter(|job| job.k.is_some()).collect();
    assert_eq!(few.len(), 80);
    for job in few {
        let run = &job.run;
        assert!(matches!(run.votes, Votes::Drawn { replacement: true, .. }), "{job:?}");
        assert_eq!(
            (&run.split.shares[..], &*run.selection.on),
            (&[0.7, 0.1, 0.2][..], "validation")
        );
        let prior = job.arm.ends_with("-dirichlet");
        let target = if prior { "dirichlet:alpha=0.1" } else { "frequencies" };
        assert_eq!(run.target.to_string(), target);
    }
    let book = plan.book(&Lab::new().store).unwrap();
    for spec in &book.tables {
        dissensus_report::tables::prepare(spec, &book).unwrap();
    }
    for spec in &book.figures {
        dissensus_report::figures::prepare(spec, &book).unwrap();
    }
    for claim in &book.claims {
        let judged = judge(claim, &book).unwrap();
        assert!(matches!(judged.verdict, Verdict::Open(_)), "{judged:?}");
    }
}

/// Three real votes per item, and another data set to judge on; the loader is told both.
#[test]
fn the_sparse_study_is_judged_on_another_data_set() {
    let study = Study::builtin("same-target-cifar10n").unwrap();
    let mut asked = Vec::new();
    let mut load = |data: &Data| {
        asked.push((data.name().to_owned(), data.evaluate_on.clone()));
        common::load(data)
    };
    let plan = common::plan_with(&study, &PlanOptions::default(), &mut load).unwrap();
    let jobs = plan.finals(&Lab::new().store).unwrap().jobs;
    assert_eq!((jobs.len(), distinct(&jobs).len()), (12, 12));
    assert!(jobs.iter().all(|job| job.run.training.epochs == 60 && job.run.split.shares == [1.0]));
    assert_eq!(asked, [("cifar10n".to_owned(), Some("cifar10h".to_owned()))]);
    let book = plan.book(&Lab::new().store).unwrap();
    for spec in &book.tables {
        dissensus_report::tables::prepare(spec, &book).unwrap();
    }
    for spec in &book.figures {
        dissensus_report::figures::prepare(spec, &book).unwrap();
    }
}
