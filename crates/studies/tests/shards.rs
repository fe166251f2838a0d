//! Shares of a study's runs: disjoint, complete, balanced, and the same whatever is done.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;

use common::{Lab, plan, study};
use dissensus_store::RunId;
use dissensus_studies::{Job, Plan, Shard, Shares, Study};

/// The runs of each shard.
fn parts(jobs: &[Job], shares: &Shares, of: usize) -> Vec<BTreeSet<RunId>> {
    let runs = |index| {
        let shard = Shard::new(index, of).unwrap();
        let own = jobs.iter().filter(|job| shares.has(shard, &job.id));
        own.map(|job| job.id.clone()).collect()
    };
    (1..=of).map(runs).collect()
}

fn all(lab: &Lab, plan: &Plan<'_>) -> Vec<Job> {
    plan.searches().into_iter().chain(plan.finals(&lab.store).unwrap().jobs).collect()
}

/// Every run is in one part.
fn partition(jobs: &[Job], parts: &[BTreeSet<RunId>]) {
    let every: BTreeSet<RunId> = jobs.iter().map(|job| job.id.clone()).collect();
    let sum: usize = parts.iter().map(BTreeSet::len).sum();
    assert_eq!(sum, every.len(), "parts overlap, or are not complete");
    assert_eq!(parts.iter().flatten().cloned().collect::<BTreeSet<_>>(), every);
}

/// Eight short runs and four that take ten times as long.
fn uneven() -> Study {
    study(
        "[[arm]]\nname = 'long'\ndelivery = 'soft'\nvotes = [5]\nseeds = 4\n\
           set = { 'training.epochs' = 20 }\n",
    )
}

#[test]
fn shards_are_disjoint_complete_and_balanced() {
    let (study, lab) = (uneven(), Lab::new());
    let plan = plan(&study);
    let jobs = all(&lab, &plan);
    for of in [1, 2, 3, 4, 7, 40] {
        let shares = plan.shares(of);
        let parts = parts(&jobs, &shares, of);
        partition(&jobs, &parts);
        // No shard has more than the mean and one run.
        let epochs = |job: &Job| job.run.training.epochs;
        let total: u64 = jobs.iter().map(epochs).sum();
        let most = jobs.iter().map(epochs).max().unwrap();
        let mut shown = 0.0;
        for (index, part) in (1..).zip(&parts) {
            let own = jobs.iter().filter(|job| part.contains(&job.id)).map(epochs).sum::<u64>();
            assert!(own <= total / of as u64 + most, "shard {index} of {of}: {own} of {total}");
            let share = shares.work(Shard::new(index, of).unwrap());
            assert!((share - own as f64 / total as f64).abs() < 1e-9, "{share}");
            shown += share;
        }
        assert!((shown - 1.0).abs() < 1e-9);
    }
    // Long runs are not together.
    let parts = parts(&jobs, &plan.shares(4), 4);
    let long = |part: &BTreeSet<RunId>| {
        jobs.iter().filter(|job| job.arm == "long" && part.contains(&job.id)).count()
    };
    assert_eq!(parts.iter().map(long).collect::<Vec<_>>(), [1, 1, 1, 1]);
}

#[test]
fn what_is_done_changes_no_shard() {
    let (study, lab) = (study(""), Lab::new());
    let plan = plan(&study);
    let jobs = all(&lab, &plan);
    let before = parts(&jobs, &plan.shares(3), 3);
    assert_eq!(plan.missing(&lab.store).unwrap().len(), 8);
    lab.train(&plan, &jobs[2..5]);
    let missing = plan.missing(&lab.store).unwrap();
    assert_eq!((missing.len(), missing[0].state), (5, "missing"));
    assert_eq!(parts(&jobs, &plan.shares(3), 3), before);
    lab.all(&plan);
    assert_eq!(plan.missing(&lab.store).unwrap(), []);
    assert_eq!(parts(&jobs, &plan.shares(3), 3), before);
}

/// Final runs are shared out before their settings are known, and no two shards ever train the same run,
/// also where arms share runs.
#[test]
fn a_grid_is_shared_out_before_it_is_searched() {
    let twin = "[[arm]]\nname = 'twin'\ndelivery = 'soft'\nvotes = [3]\n\
                [grid]\n'training.learning_rate' = [0.05, 0.01, 0.002]\n";
    let (study, lab) = (study(twin), Lab::new());
    let plan = plan(&study);
    let shares = plan.shares(3);
    let searches = plan.searches();
    let first = parts(&searches, &shares, 3);
    partition(&searches, &first);
    // Three points of four arms; those of the twin are the first arm's.
    assert_eq!(first.iter().map(BTreeSet::len).collect::<Vec<_>>(), [4, 4, 4]);
    let shard = |index| Shard::new(index, 3).unwrap();
    let waiting = |index| plan.waiting(&lab.store, &shares, shard(index)).unwrap();
    let at_first: usize = (1..=3).map(waiting).sum();
    // One more seed of each arm, the twin's among them.
    assert_eq!(at_first, 5);
    let own: Vec<Job> =
        searches.iter().filter(|job| shares.has(shard(1), &job.id)).cloned().collect();
    lab.train(&plan, &own);
    assert!(plan.missing(&lab.store).unwrap().len() >= 8);
    lab.train(&plan, &searches);
    assert_eq!((1..=3).map(waiting).sum::<usize>(), 0);
    let jobs = all(&lab, &plan);
    partition(&jobs, &parts(&jobs, &plan.shares(3), 3));
    assert_eq!(parts(&searches, &plan.shares(3), 3), first);
}
