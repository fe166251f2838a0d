//! The book of a small study that is really trained: every part of it is there, and right.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Lab, plan, small, study};
use dissensus_inputs::{Features, Inputs, Kind};
use dissensus_labels::{Source, sparse};
use dissensus_report::book::{Book, Direction, RunKey};
use dissensus_store::Which;
use dissensus_studies::{Job, Material, Plan, PlanOptions, Study};
use dissensus_train::spec::Data;
use dissensus_train::{EpochRow, RunResult, Task};
use serde_json::json;

const SHOWN: &str = "
[[slice]]
name = 'high'
top = 0.25
[[table]]
name = 'main'
metrics = ['soft_nll']
[[figure]]
name = 'effect'
kind = 'effect'
arms = ['sls']
ks = [3]
x = 'target_js'
y = 'soft_nll'
against = 'soft'
[[claim]]
name = 'c'
kind = 'correlation'
arms = ['sls']
than = 'soft'
ks = [3]
slices = ['high']
x = 'target_l1'
than_x = 'other_target_js'
y = 'soft_nll'
given = 'label_variance'
[[figure]]
name = 'scatter'
kind = 'scatter'
arms = ['soft']
ks = ['all']
x = 'annotator_entropy'
y = 'prediction_entropy'
[[figure]]
name = 'curves'
kind = 'curves'
metrics = ['loss', 'evaluation.soft_nll']
[[reference]]
arm = 'soft'
metric = 'kl'
mean = 0.5
sd = 0.1
n = 10
source = 'Table 2'
";

struct Made {
    lab: Lab,
    book: Book,
    jobs: Vec<Job>,
}

fn made(plan: &Plan<'_>) -> Made {
    let lab = Lab::new();
    lab.all(plan);
    plan.collect(&lab.store, &json!({"machine": "test bench"})).unwrap();
    let book = plan.book(&lab.store).unwrap();
    let jobs = plan.finals(&lab.store).unwrap().jobs;
    Made { lab, book, jobs }
}

fn of(job: &Job) -> RunKey {
    RunKey { dataset: job.dataset.clone(), arm: job.arm.clone(), k: job.k, seed: job.seed }
}

#[test]
fn everything_is_there() {
    let study = study(SHOWN);
    let plan = plan(&study);
    let Made { lab, book, jobs } = made(&plan);
    assert_eq!((book.name.as_str(), book.title.as_str()), ("small", "A small study"));
    assert_eq!((book.about.as_str(), book.arms[0].title.as_str()), ("Two arms.", "Soft labels"));
    let arms: Vec<&str> = book.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!((arms, book.datasets.len()), (vec!["soft", "sls"], 1));
    assert_eq!((book.tables.len(), book.figures.len(), book.references.len()), (1, 3, 1));
    assert_eq!((book.missing, book.failed.len(), book.chosen.len()), (0, 0, 0));
    assert_eq!(book.settings, study.to_toml());
    let told = |name: &str| &book.provenance.iter().find(|line| line.0 == name).unwrap().1;
    assert_eq!((told("trained by").as_str(), told("trained on").as_str()), ("test 1", "CPU"));
    assert_eq!(
        (told("runs").as_str(), told("collected: machine").as_str()),
        ("8 finished", "test bench")
    );

    // Every metric of the rows is explained.
    let known: BTreeSet<&str> = book.metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert!(!book.rows.is_empty() && book.rows.iter().all(|row| known.contains(&*row.metric)));
    let nll = book.metrics.iter().find(|metric| metric.name == "soft_nll").unwrap();
    assert_eq!((nll.title.as_str(), nll.better, nll.digits), ("soft NLL", Direction::Lower, 4));
    assert!(!nll.formula.is_empty() && !nll.settings.is_empty() && !nll.source.is_empty());

    for job in &jobs {
        let info = lab.store.run(&job.id).unwrap();
        let curve = |column: &str| {
            let curve = book.curves.iter().find(|c| c.of == of(job) && c.column == column);
            curve.unwrap().values.clone()
        };
        let history: Vec<EpochRow> = info.history().unwrap();
        let losses: Vec<f64> = history.iter().map(|row| row.loss).collect();
        assert_eq!(curve("loss"), losses);
        assert_eq!(curve("evaluation.soft_nll").len(), 2);
        assert!(!book.curves.iter().any(|curve| curve.column == "epoch"));
        let bins = book.reliability.iter().find(|one| one.of == of(job)).unwrap();
        assert!(bins.bins.len() <= 15 && bins.bins.is_sorted_by(|a, b| a.0 <= b.0));
        let items: u64 = bins.bins.iter().map(|bin| bin.2).sum();
        let evaluated = info.predictions(Which::Best).unwrap().unwrap().ids().len();
        assert_eq!(items, evaluated as u64);
    }
}

#[test]
fn items_have_the_columns_that_figures_ask_for_and_no_others() {
    let study = study(SHOWN);
    let plan = plan(&study);
    let Made { lab, book, jobs } = made(&plan);
    let columns = |job: &Job| -> Vec<&str> {
        let items = book.items.iter().find(|items| items.of == of(job));
        items.map_or(vec![], |i| i.columns.iter().map(|(name, _)| name.as_str()).collect())
    };
    for job in &jobs {
        let expected: &[&str] = match (job.arm.as_str(), job.k) {
            (_, Some(3)) => {
                &["label_variance", "soft_nll", "target_js", "target_l1", "other_target_js"]
            }
            ("soft", None) => &["annotator_entropy", "prediction_entropy"],
            _ => &[],
        };
        assert_eq!(columns(job), expected, "{}", job.label());
    }
    // The distance is that of the votes which training draws.
    let job = jobs.iter().find(|job| job.k == Some(3) && job.seed == 1).unwrap();
    let items = book.items.iter().find(|items| items.of == of(job)).unwrap();
    let table = plan.task(job).table();
    let source = Source::new(table).unwrap();
    let drawn = sparse::with_replacement(&source, 3, 1).unwrap().distributions();
    let full = table.distributions();
    let values = |name: &str| &items.columns.iter().find(|column| column.0 == name).unwrap().1;
    for (id, distance) in items.ids.iter().zip(values("target_js")) {
        let at = table.items().position(id).unwrap();
        let (p, q) = (full[at].as_ref().unwrap().values(), drawn[at].as_ref().unwrap().values());
        let half = |a: f64, m: f64| if a > 0.0 { 0.5 * a * (a / m).ln() } else { 0.0 };
        let divergence: f64 =
            p.iter().zip(q).map(|(p, q)| half(*p, (p + q) / 2.0) + half(*q, (p + q) / 2.0)).sum();
        assert!((divergence.max(0.0).sqrt() - distance).abs() < 1e-7, "{id}: {distance}");
    }
    assert!(values("target_js").iter().any(|distance| *distance > 0.05));
    let other = values("target_js").iter().zip(values("other_target_js"));
    assert!(other.filter(|(own, other)| own != other).count() > items.ids.len() / 4);
    for (place, id) in items.ids.iter().enumerate() {
        let at = table.items().position(id).unwrap();
        let (p, q) = (full[at].as_ref().unwrap().values(), drawn[at].as_ref().unwrap().values());
        let l1: f64 = p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum();
        let variance = 1.0 - p.iter().map(|p| p * p).sum::<f64>();
        assert!((values("target_l1")[place] - l1).abs() < 1e-6, "{id}");
        assert!((values("label_variance")[place] - variance).abs() < 1e-6, "{id}");
    }
    // At least a quarter of the items is in the slice, and none of the others has a higher entropy.
    let (name, inside) = &items.slices[0];
    let entropy = |id: &String| {
        let p = full[table.items().position(id).unwrap()].as_ref().unwrap().values();
        -p.iter().filter(|p| **p > 0.0).map(|p| p * p.ln()).sum::<f64>()
    };
    let of = |is: bool| {
        let those = items.ids.iter().zip(inside).filter(move |(_, inside)| **inside == is);
        those.map(|(id, _)| entropy(id)).collect::<Vec<f64>>()
    };
    assert!(name == "high" && of(true).len() >= inside.len() / 4 && !of(false).is_empty());
    let lowest = of(true).into_iter().fold(f64::INFINITY, f64::min);
    assert!(of(false).into_iter().all(|entropy| entropy < lowest + 1e-9));
    // The mean over items is the metric.
    let nll = values("soft_nll");
    let mean = nll.iter().sum::<f64>() / nll.len() as f64;
    let result: RunResult = lab.store.run(&job.id).unwrap().result().unwrap().unwrap();
    let expected = result.part("evaluation").unwrap().best.get("soft_nll").unwrap();
    assert!((mean - expected).abs() < 1e-12);
}

#[test]
fn vectors_are_shown_as_the_pictures_behind_them_and_classes_by_their_names() {
    let mut seen: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut load = |data: &Data| -> common::Loaded<Material> {
        let material = common::load(data)?;
        let pictures = material.task.inputs();
        let Kind::Images(images) = pictures.kind() else { panic!("pictures") };
        let values: Vec<f32> = images.pixels().iter().map(|p| f32::from(*p) / 255.0).collect();
        let features = Features::new("f", images.pixels().len() / images.len(), values)?;
        let ids = material.task.table().items().clone();
        let each = ids.iter().enumerate();
        seen = each.map(|(at, id)| (id.to_owned(), images.image(at).to_vec())).collect();
        let inputs = Inputs::new("f", Some(ids.clone()), Kind::Features(features))?;
        let (task, _) = Task::new("pixels by nobody", material.task.table(), &inputs)?;
        // In another order than the vectors.
        let turned: Vec<usize> = (0..images.len()).rev().collect();
        let shown = Inputs::new("p", Some(ids), pictures.kind().clone())?.select(&turned);
        Ok(Material { pictures: Some(shown), ..Material::from(task) })
    };
    let text = |classes: &str| {
        let more = "[[dataset]]\nname = 'named'\nclasses = [CLASSES]\n";
        small(&more.replace("CLASSES", classes)).replace("smallcnn'\nwidth = 4", "mlp'")
    };
    let few = Study::parse(&text("'x', 'y'"), "small.toml").unwrap();
    let error = common::plan_with(&few, &PlanOptions::default(), &mut load).err().unwrap();
    let error = error.to_string();
    assert!(error.contains("names 2 classes, and the data have 10"), "{error}");
    assert!(error.contains("small.toml"), "{error}");

    let names: Vec<String> = (0..10).map(|class| format!("'class {class}'")).collect();
    let study = Study::parse(&text(&names.join(", ")), "small.toml").unwrap();
    let plan = common::plan_with(&study, &PlanOptions::default(), &mut load).unwrap();
    let book = made(&plan).book;
    let collection = &book.collections[0];
    assert_eq!(collection.classes[9], "class 9");
    for item in &collection.items {
        assert_eq!(item.picture.as_ref().unwrap().pixels, seen[&item.id]);
    }
    let inputs = book.facts[0].facts.iter().find(|(what, _)| what == "Inputs").unwrap();
    assert_eq!(inputs.1, "256 numbers by nobody");
}

#[test]
fn items_to_look_at_have_votes_pictures_and_the_mean_over_seeds() {
    let study = study(SHOWN);
    let plan = plan(&study);
    let Made { lab, book, jobs } = made(&plan);
    let [collection] = &book.collections[..] else { panic!("one data set") };
    let table = plan.task(&jobs[0]).table();
    assert_eq!(collection.classes, table.classes().names());
    let by = |arm: &str, k: Option<u32>| (arm.to_owned(), k);
    let expected =
        [by("soft", Some(3)), by("soft", None), by("sls", Some(3)), by("sls", None)].to_vec();
    assert_eq!(collection.predicted_by, expected);
    let mut seen = 0;
    for item in &collection.items {
        assert_eq!(item.text.as_deref(), Some(format!("<b>{}</b>", item.id).as_str()));
        let picture = item.picture.as_ref().unwrap();
        assert_eq!(picture.pixels.len(), picture.width * picture.height * picture.channels);
        assert_eq!(item.votes.iter().sum::<f64>(), 8.0);
        assert_eq!(item.predictions.len(), 4);
        let mut sum = vec![0.0; collection.classes.len()];
        let mut seeds = 0;
        for job in jobs.iter().filter(|job| job.arm == "sls" && job.k.is_none()) {
            let found = lab.store.run(&job.id).unwrap().predictions(Which::Best).unwrap().unwrap();
            let Some(row) = found.ids().iter().position(|id| *id == item.id) else { continue };
            let logits = found.logits().chunks(sum.len()).nth(row).unwrap();
            let top = logits.iter().copied().fold(f32::MIN, f32::max);
            let parts: Vec<f64> = logits.iter().map(|z| f64::from(z - top).exp()).collect();
            let total: f64 = parts.iter().sum();
            sum.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part / total);
            seeds += 1;
        }
        let mean = &item.predictions[3];
        assert_eq!(mean.is_empty(), seeds == 0);
        for (mean, sum) in mean.iter().zip(&sum) {
            assert!((f64::from(*mean) - sum / f64::from(seeds)).abs() < 1e-6);
        }
        seen = seen.max(seeds);
    }
    assert_eq!(seen, 2, "some item is evaluated by both seeds");
    // Two splits of a fifth each: not every item is evaluated, and none twice in the list.
    let ids: BTreeSet<&str> = collection.items.iter().map(|item| item.id.as_str()).collect();
    assert!(ids.len() == collection.items.len() && ids.len() < table.len());
}
