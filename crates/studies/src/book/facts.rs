//! What is said of the data sets of a study.

use std::ops::Range;

use dissensus_inputs::Kind;
use dissensus_report::book::Facts;
use dissensus_stats::describe;
use dissensus_train::Task;

use crate::{Material, Plan};

pub(super) fn of(plan: &Plan<'_>) -> Vec<Facts> {
    let each = |(name, material): (&str, &Material)| Facts {
        dataset: name.to_owned(),
        facts: facts(material),
    };
    plan.datasets().into_iter().map(each).collect()
}

fn facts(material: &Material) -> Vec<(String, String)> {
    let task = &material.task;
    let classes = task.table().classes().len();
    let inputs = match task.inputs().kind() {
        Kind::Images(images) => {
            format!("pictures, {}×{}×{}", images.height(), images.width(), images.channels())
        }
        Kind::Features(features) => {
            // Vectors of an encoder carry its name in that of the data.
            let name = &task.identity().name;
            let by = name.split_once(" by ").map_or(String::new(), |(_, who)| format!(" by {who}"));
            format!("{} numbers{by}", features.width())
        }
    };
    let mut all = vec![
        ("Items".to_owned(), task.own().len().to_string()),
        ("Classes".to_owned(), classes.to_string()),
    ];
    all.extend(voted(task, task.own(), ""));
    all.push(("Inputs".to_owned(), inputs));
    if let (Some(places), Some(on)) = (task.judged(), &task.identity().judged_on) {
        all.push(("Judged on".to_owned(), format!("{}, {} items", on.name, places.len())));
        all.extend(voted(task, places, " judged on"));
    }
    all
}

/// How many votes these items have, and how much people disagree on them.
fn voted(task: &Task, places: Range<usize>, which: &str) -> Vec<(String, String)> {
    let table = task.table();
    let classes = table.classes().len();
    let most = (classes.max(2) as f64).ln();
    let entropies = task.truth().entropy().get(places.clone()).unwrap_or_default();
    let normalized: Vec<f64> = entropies.iter().map(|nats| nats / most).collect();
    let spread = match (describe::mean(&normalized), describe::sd(&normalized)) {
        (Ok(mean), Ok(Some(sd))) => format!("{mean:.2} ± {sd:.2}"),
        (Ok(mean), _) => format!("{mean:.2}"),
        _ => "–".to_owned(),
    };
    let votes = table.counts().map(|counts| {
        let items = places.len().max(1) as f64;
        let total: f64 = places.map(|item| counts.row(item, classes).iter().sum::<f64>()).sum();
        format!("{:.1}", total / items)
    });
    let mut all = Vec::new();
    all.extend(votes.map(|votes| (format!("Votes per item{which}"), votes)));
    all.push((format!("Normalized entropy{which}"), spread));
    all
}
