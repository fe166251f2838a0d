//! What is said of the data sets of a study.

use dissensus_inputs::Kind;
use dissensus_report::book::Facts;
use dissensus_stats::describe;

use crate::{Material, Plan};

pub(super) fn of(plan: &Plan<'_>) -> Vec<Facts> {
    let each = |(name, material): (&str, &Material)| Facts {
        dataset: name.to_owned(),
        facts: facts(material),
    };
    plan.datasets().into_iter().map(each).collect()
}

fn facts(material: &Material) -> Vec<(String, String)> {
    let (task, table) = (&material.task, material.task.table());
    let classes = table.classes().len();
    let most = (classes.max(2) as f64).ln();
    let normalized: Vec<f64> = task.truth().entropy().iter().map(|nats| nats / most).collect();
    let spread = match (describe::mean(&normalized), describe::sd(&normalized)) {
        (Ok(mean), Ok(Some(sd))) => format!("{mean:.2} ± {sd:.2}"),
        (Ok(mean), _) => format!("{mean:.2}"),
        _ => "–".to_owned(),
    };
    let votes = table.counts().map(|counts| {
        let total: f64 =
            (0..table.len()).map(|item| counts.row(item, classes).iter().sum::<f64>()).sum();
        format!("{:.1}", total / table.len().max(1) as f64)
    });
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
        ("Items".to_owned(), table.len().to_string()),
        ("Classes".to_owned(), classes.to_string()),
    ];
    all.extend(votes.map(|votes| ("Votes an item".to_owned(), votes)));
    all.push(("Normalized entropy".to_owned(), spread));
    all.push(("Inputs".to_owned(), inputs));
    all
}
