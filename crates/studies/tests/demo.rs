//! The built-in demo: its runs, as a training spec would make them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Lab;
use dissensus_studies::{PlanOptions, Study};
use dissensus_train::{RunPlan, Spec};

/// The spec with the runs of `dissensus demo`.
const SPEC: &str = r#"
[data]
dataset = "blends"
items = 2000
votes_per_item = [5, "all"]

[model]
name = "smallcnn"

[delivery]
methods = ["soft", "multipass", "sls", "majority"]

[training]
epochs = 20
batch_size = 64
optimizer = "sgd"
learning_rate = 0.1

[run]
seeds = 8
"#;

#[test]
fn its_runs_are_those_of_the_spec() {
    let study = Study::builtin("demo").unwrap();
    let mut asked = Vec::new();
    let mut load = |data: &dissensus_train::spec::Data| {
        asked.push((data.name().to_owned(), data.items));
        common::load(data)
    };
    let plan = common::plan_with(&study, &PlanOptions::default(), &mut load).unwrap();
    let jobs = plan.finals(&Lab::new().store).unwrap().jobs;
    let runs: Vec<RunPlan> = jobs.iter().map(|job| job.run.clone()).collect();
    let plans = Spec::parse(SPEC, "demo", &[]).unwrap().runs();
    let plans: Vec<RunPlan> = plans.iter().map(|run| run.on(plan.task(&jobs[0]))).collect();
    assert_eq!(runs, plans);
    assert_eq!(runs.len(), 4 * 2 * 8);
    // Loaded once, and never asked for votes.
    assert_eq!(asked, [("blends".to_owned(), Some(2000))]);
    for job in &jobs {
        let spec = job.run.with_data(plan.task(job).identity().clone());
        assert_eq!(job.id, dissensus_store::RunId::of(&spec.to_value()));
        assert_eq!(plan.spec(job), spec);
    }
    assert!(plan.searches().is_empty());
    let arms: Vec<&str> = study.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(arms, ["soft", "multipass", "sls", "majority"]);
}

#[test]
fn its_quick_scale_is_small() {
    let study = Study::builtin("demo").unwrap().scaled("quick").unwrap();
    let plan = common::plan(&study);
    let jobs = plan.finals(&Lab::new().store).unwrap().jobs;
    assert_eq!(jobs.len(), 4 * 2 * 2);
    assert!(jobs.iter().all(|job| job.run.training.epochs == 4));
    assert_eq!(plan.task(&jobs[0]).table().len(), 400);
}
