//! A study whose runs are judged on another data set: its items are compared and shown, and what is
//! said of the data tells the two apart.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Lab;
use dissensus_core::{Cancel, Silent};
use dissensus_data::blends::{Blends, Settings, VotesPerItem};
use dissensus_engine::Cpu;
use dissensus_examine::Model;
use dissensus_geometry::cka::{Features, cka};
use dissensus_inputs::from_blends;
use dissensus_sources::LoadContext;
use dissensus_store::Which;
use dissensus_studies::{Material, PlanOptions, StageContext, Study};
use dissensus_train::spec::Data;
use dissensus_train::{Task, Voted};
use serde_json::json;

const STUDY: &str = "
[study]
name = 'sparse'
[data]
dataset = 'few'
evaluate_on = 'many'
[model]
name = 'smallcnn'
width = 4
[training]
epochs = 2
batch_size = 32
learning_rate = 0.05
[run]
seeds = 2
[[arm]]
name = 'soft'
delivery = 'soft'
[[arm]]
name = 'sls'
delivery = 'sls'
votes = [2]
[[slice]]
name = 'high'
top = 0.25
[stages.cka]
[stages.gradcam]
arms = ['soft']
";

fn blends(items: usize, votes: u32, seed: u64) -> Blends {
    let votes = VotesPerItem::Fixed(votes);
    let settings = Settings { items, votes, seed, annotators: 50, ..Settings::default() };
    settings.check().unwrap().generate().unwrap()
}

fn load(data: &Data) -> common::Loaded<Material> {
    assert_eq!((data.name(), data.evaluate_on.as_deref()), ("few", Some("many")));
    let (own, other) = (blends(60, 3, 0), blends(40, 50, 1));
    let (own_inputs, inputs) = (from_blends(&own)?, from_blends(&other)?);
    let own = Voted { name: "few", table: own.table(), inputs: &own_inputs };
    let other = Voted { name: "many", table: other.table(), inputs: &inputs };
    Ok(Task::judged_on(own, other)?.0.into())
}

#[test]
fn the_judged_set_is_what_is_looked_at() {
    let study = Study::parse(STUDY, "sparse.toml").unwrap();
    let plan = common::plan_with(&study, &PlanOptions::default(), &mut load).unwrap();
    let lab = Lab::new();
    assert_eq!(lab.all(&plan), 4);
    let context = StageContext::new(&Cpu, true, LoadContext::default());
    let examined = plan.examine(&lab.store, &context, &Cancel::new(), &Silent).unwrap();
    assert_eq!(examined.failed, []);
    plan.collect(&lab.store, &json!({})).unwrap();
    let book = plan.book(&lab.store).unwrap();

    let fact = |what: &str| {
        let found = book.facts[0].facts.iter().find(|(name, _)| name == what);
        found.map(|(_, value)| value.as_str()).unwrap_or_else(|| panic!("{what}"))
    };
    assert_eq!((fact("Items"), fact("Votes per item")), ("60", "3.0"));
    assert_eq!((fact("Judged on"), fact("Votes per item judged on")), ("many, 40 items", "50.0"));
    assert_ne!(fact("Normalized entropy"), fact("Normalized entropy judged on"));
    let shown: Vec<&str> = book.collections[0].items.iter().map(|item| &*item.id).collect();
    assert_eq!((shown.len(), shown[0], shown[39]), (40, "blend-00000", "blend-00039"));
    assert_eq!(book.collections[0].items[0].votes.iter().sum::<f64>(), 50.0);

    // Features are compared on items that nobody was trained on: all of them, there being so few.
    let jobs = plan.finals(&lab.store).unwrap().jobs;
    let mut features = jobs.iter().filter(|job| job.arm == "soft").map(|job| {
        let (info, task) = (lab.store.run(&job.id).unwrap(), plan.task(job));
        let mut model = Model::open(&info, task, Which::Best, &Cpu, &Default::default()).unwrap();
        let rows: Vec<u32> = (60..100).collect();
        Features::new(40, &model.features(&rows, &dissensus_examine::Observer::silent()).unwrap())
            .unwrap()
    });
    let (one, two) = (features.next().unwrap(), features.next().unwrap());
    let wanted = cka(&one, &two).unwrap();
    let value = |metric: &str, slice: &str| {
        let mut rows = book.rows.iter();
        let row =
            rows.find(|row| (&*row.arm, &*row.metric, &*row.slice) == ("soft", metric, slice));
        row.unwrap().value
    };
    assert!(wanted.is_some());
    assert_eq!(value("cka", "all"), wanted);
    assert!(value("gradcam_stability", "high").is_some());
}
