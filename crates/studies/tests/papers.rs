//! The shapes of two published studies fit a file: seeds that differ by votes, arms that share runs, a
//! large grid on several data sets with a validation part.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Lab;
use dissensus_inputs::{Features, Inputs, Kind};
use dissensus_studies::{Study, distinct};
use dissensus_train::Task;
use dissensus_train::spec::Data;

const DELIVERY: &str = "
[study]
name = 'delivery'
[data]
dataset = 'cifar10h'
[training]
augment = { crop = 4, flip = true }
[run]
precision = 'bf16'
[[arm]]
name = 'soft'
delivery = 'soft'
votes = [{ k = 'all', seeds = 10 }, { k = [5, 10, 25, 50], seeds = 5 }]
[[arm]]
name = 'sls'
delivery = 'sls'
votes = [{ k = 'all', seeds = 10 }, { k = [5, 10, 25, 50], seeds = 5 }]
[[arm]]
name = 'majority'
delivery = 'majority'
seeds = 10
[[arm]]
name = 'label_smoothing'
delivery = 'label_smoothing'
seeds = 10
[[arm]]
name = 'mixup'
delivery = 'mixup'
seeds = 10
[[arm]]
name = 'multipass'
delivery = 'multipass'
votes = ['all', 5, 10, 25, 50]
seeds = 5
[[arm]]
name = 'deterministic'
delivery = 'deterministic'
votes = ['all', 5, 10, 25, 50]
seeds = 5
[[arm]]
name = 'shuffled_sls'
delivery = 'shuffled_sls'
seeds = 5
[[arm]]
name = 'every-1'
delivery = 'sls:every=1'
seeds = 5
[[arm]]
name = 'every-5'
delivery = 'sls:every=5'
seeds = 5
[[arm]]
name = 'every-10'
delivery = 'sls:every=10'
seeds = 5
[[arm]]
name = 'every-50'
delivery = 'sls:every=50'
seeds = 5
[[slice]]
name = 'high'
top = 0.1
[[table]]
name = 'sweep'
down = ['arm']
across = ['k']
arms = ['soft', 'sls', 'multipass', 'deterministic']
ks = [5, 10, 25, 50]
metrics = ['soft_nll']
against = { arm = 'soft', side = 'better', family = 'table' }
[[reference]]
arm = 'sls'
k = 5
metric = 'soft_nll'
mean = 0.5599
source = 'Table 1'
";

#[test]
fn seeds_by_votes_and_shared_runs() {
    let study = Study::parse(DELIVERY, "delivery.toml").unwrap();
    let plan = common::plan_with(&study, &Default::default(), &mut common::load).unwrap();
    let jobs = plan.finals(&Lab::new().store).unwrap().jobs;
    // Ten seeds of five arms, five of three more, a sweep of four arms and k, and a probe whose
    // first arm is one that is there.
    assert_eq!(jobs.len(), 50 + 15 + 80 + 20);
    assert_eq!(distinct(&jobs).len(), 50 + 15 + 80 + 15);
    let votes =
        |arm: &str, k: Option<u32>| jobs.iter().filter(|job| job.arm == arm && job.k == k).count();
    assert_eq!((votes("soft", None), votes("soft", Some(5)), votes("mixup", None)), (10, 5, 10));
    assert!(jobs.iter().all(|job| job.run.training.augment.unwrap().crop == 4));
    // Features would not do for this model, and nothing is trained before that is said.
    let error =
        common::plan_with(&study, &Default::default(), &mut features).map(|_| ()).unwrap_err();
    assert!(error.to_string().starts_with("soft on cifar10h: "), "{error}");
}

const EMBEDDINGS: &str = "
[study]
name = 'embeddings'
[split]
parts = 'train/validation/test'
shares = [0.7, 0.15, 0.15]
[model]
name = 'mlp'
[training]
optimizer = 'adam'
[selection.stop]
patience = 5
minimum = 1e-4
[run]
seeds = 10
[[dataset]]
name = 'chaosnli'
title = 'ChaosNLI'
set = { data.votes = 'chaosnli.jsonl', data.inputs = 'chaosnli.npz' }
[[dataset]]
name = 'popquorn'
set = { data.votes = 'popquorn.csv', data.inputs = 'popquorn.npz' }
[[arm]]
name = 'soft'
delivery = 'soft'
[[arm]]
name = 'hard'
delivery = 'majority'
[grid]
'training.learning_rate' = [1e-3, 1e-4, 1e-5]
'training.batch_size' = [8, 16, 32]
'training.epochs' = [10, 15, 20]
'training.weight_decay' = [0.0, 1e-4]
'training.schedule' = ['constant', 'plateau']
on = 'validation'
[[table]]
name = 'chosen'
shows = 'chosen'
[scale.quick]
grid = { 'training.learning_rate' = [1e-3], 'training.batch_size' = [8], 'training.epochs' = [10] }
";

fn features(data: &Data) -> common::Loaded<Task> {
    let blends = common::load(data)?;
    let table = blends.task.table();
    let values = (0..table.len() * 3).map(|at| at as f32 / 100.0).collect();
    let kind = Kind::Features(Features::new("features", 3, values)?);
    let inputs = Inputs::new("features", Some(table.items().clone()), kind)?;
    Ok(Task::new(data.name(), table, &inputs)?.0)
}

#[test]
fn a_large_grid_on_several_data_sets() {
    let study = Study::parse(EMBEDDINGS, "embeddings.toml").unwrap();
    let plan = common::plan_with(&study, &Default::default(), &mut features).unwrap();
    let searches = plan.searches();
    assert_eq!(searches.len(), 108 * 2 * 2);
    assert_eq!(distinct(&searches).len(), searches.len());
    assert!(searches.iter().all(|job| job.run.selection.on == "validation"));
    // The same split for both arms.
    assert_eq!(searches[0].run.split, searches[108].run.split);
    let finals = plan.finals(&Lab::new().store).unwrap();
    assert_eq!((finals.jobs.len(), finals.undecided[0].runs, finals.undecided[0].more), (0, 10, 9));
    let quick = study.clone().scaled("quick").unwrap();
    let plan = common::plan_with(&quick, &Default::default(), &mut features).unwrap();
    assert_eq!(plan.searches().len(), 4 * 2 * 2);
}
