//! How long the whole report of 200 runs takes, each judged on 2,000 items of ten classes, and how much
//! memory. The runs are made up: what is timed is reading, measuring and gathering them.
//!
//! `cargo run --release -p dissensus-studies --example two_hundred -- make DIR` makes the store, and
//! `… -- report DIR` reports it: once with everything to be measured, and once from what was kept.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::time::Instant;

use dissensus_core::philox::Stream;
use dissensus_core::{ClassSet, Counts, Ids, VoteTable};
use dissensus_inputs::{Images, Inputs, Kind};
use dissensus_report::{figures, page, raster, tables};
use dissensus_store::{Begun, Checkpoint, Logits, Store, Tensors};
use dissensus_studies::{Job, Plan, PlanOptions, Study};
use dissensus_train::{Setup, Task};
use serde_json::json;

const ITEMS: usize = 10_000;
const CLASSES: usize = 10;
const SIDE: usize = 32;
const EPOCHS: u64 = 200;

const STUDY: &str = "
[study]
name = 'two-hundred'
[data]
dataset = 'made-up'
[model]
name = 'smallcnn'
[run]
seeds = 10
[[arm]]
name = 'soft'
delivery = 'soft'
votes = [5, 10, 25, 'all']
[[arm]]
name = 'sls'
delivery = 'sls'
votes = [5, 10, 25, 'all']
[[arm]]
name = 'multipass'
delivery = 'multipass'
votes = [5, 10, 25, 'all']
[[arm]]
name = 'deterministic'
delivery = 'deterministic'
votes = [5, 10, 25, 'all']
[[arm]]
name = 'majority'
delivery = 'majority'
votes = [5, 10, 25, 'all']
[[slice]]
name = 'high'
top = 0.1
[[slice]]
name = 'split'
above = 0.5
[[table]]
name = 'main'
down = ['k', 'arm']
metrics = ['soft_nll', 'kl', 'accuracy', 'ece_mass', 'entropy_spearman']
against = { arm = 'soft', family = 'column' }
[[table]]
name = 'slices'
down = ['arm']
across = ['k', 'slice']
metrics = ['kl']
slices = ['all', 'high', 'split']
[[figure]]
name = 'points'
kind = 'points'
metrics = ['soft_nll', 'accuracy', 'ece_mass']
[[figure]]
name = 'lines'
kind = 'lines'
metrics = ['soft_nll', 'kl']
[[figure]]
name = 'reliability'
kind = 'reliability'
[[figure]]
name = 'curves'
kind = 'curves'
metrics = ['loss', 'evaluation.soft_nll']
[[figure]]
name = 'pictures'
kind = 'pictures'
ks = ['all']
[[figure]]
name = 'effect'
kind = 'effect'
x = 'target_js'
y = 'soft_nll'
against = 'soft'
[[figure]]
name = 'scatter'
kind = 'scatter'
x = 'annotator_entropy'
y = 'prediction_entropy'
[[figure]]
name = 'histogram'
kind = 'histogram'
x = 'kl'
";

fn task() -> Result<Task, Box<dyn std::error::Error>> {
    let mut stream = Stream::new([1, 0], [0; 3]);
    let mut counts = Counts::new();
    for _ in 0..ITEMS {
        let mut row = [0u32; CLASSES];
        let (first, second) = (stream.below(10) as usize, stream.below(10) as usize);
        let lean = stream.unit();
        (0..50).for_each(|_| row[if stream.unit() < lean { first } else { second }] += 1);
        counts.push((0u16..).zip(row))?;
    }
    let ids = || Ids::positions(ITEMS);
    let table = VoteTable::from_counts(ClassSet::numbered(CLASSES)?, ids(), counts)?;
    let pixels = (0..ITEMS * SIDE * SIDE * 3).map(|at| (at * 31 % 251) as u8).collect();
    let images = Images::new("made-up", SIDE, SIDE, 3, pixels)?;
    let inputs = Inputs::new("made-up", Some(ids()), Kind::Images(images))?;
    Ok(Task::new("made-up", &table, &inputs)?.0)
}

fn make(plan: &Plan<'_>, store: &Store) {
    for job in plan.finals(store).unwrap().jobs {
        let spec = plan.spec(&job).to_value();
        let about = json!({"version": "made up", "device": "none"});
        let Begun::Run(mut run) = store.begin(&spec, &about, EPOCHS).unwrap() else { continue };
        let task = plan.task(&job);
        let part = Setup::new(task, &job.run).unwrap().parts.remove(0);
        let id = |&row: &u32| task.table().items().name(row as usize).to_owned();
        let ids: Vec<String> = part.rows.iter().map(id).collect();
        let classes = task.table().classes().names();
        let tensors = Tensors::new();
        let mut stream = Stream::new([job.seed, 7], [arm(&job), job.k.unwrap_or(0).into(), 0]);
        let truth = part.truth.targets();
        let logits: Vec<f32> =
            truth.iter().map(|p| (3.0 * p + stream.unit() * 2.0) as f32).collect();
        let predictions = Logits::new(&logits[..], ids, classes.to_vec()).unwrap();
        run.save_best(&tensors, &predictions).unwrap();
        run.save_last(&tensors, &predictions).unwrap();
        let row = |epoch: u64| {
            let value = 1.0 + 1.0 / (epoch + 1) as f64;
            json!({"epoch": epoch, "rate": 0.1, "loss": value, "evaluation.soft_nll": value,
                   "evaluation.accuracy": 1.0 / value})
        };
        let history = (0..EPOCHS).map(row).collect();
        let state = json!({});
        run.save_checkpoint(&Checkpoint { epoch: EPOCHS, tensors, state, history }).unwrap();
        let best = json!({"best_epoch": EPOCHS - 1, "seconds": 60.0});
        run.finish(&best).unwrap();
    }
}

fn arm(job: &Job) -> u64 {
    dissensus_labels::example_key(&job.arm)
}

fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, what, folder] = &arguments[..] else { panic!("two_hundred make|report DIR") };
    let study = Study::parse(STUDY, "two-hundred").unwrap();
    let materials = vec![task().unwrap().into()];
    let plan = study.choose(&PlanOptions::default()).unwrap().plan(materials).unwrap();
    let store = Store::create_or_open(Path::new(folder)).unwrap();
    if what == "make" {
        return make(&plan, &store);
    }
    println!("{:<28}{:>8} MiB", "data", peak_mib());
    let lap = |what: &str, work: &dyn Fn() -> String| {
        let start = Instant::now();
        let said = work();
        let seconds = start.elapsed().as_secs_f64();
        println!("{what:<28}{:>8} MiB {seconds:>8.2} s  {said}", peak_mib());
    };
    let collect = || {
        let collected = plan.collect(&store, &json!({})).unwrap();
        format!("{} rows, {} missing", collected.rows.len(), collected.missing)
    };
    lap("collect, all measured", &collect);
    lap("collect, all kept", &collect);
    lap("book", &|| {
        let book = plan.book(&store).unwrap();
        let items: usize = book.collections.iter().map(|one| one.items.len()).sum();
        format!("{} curves, {} tables of items, {items} items", book.curves.len(), book.items.len())
    });
    lap("book, tables, figures, page", &|| {
        let book = plan.book(&store).unwrap();
        let prepared: Vec<_> =
            book.tables.iter().map(|spec| tables::prepare(spec, &book).unwrap()).collect();
        let mut bytes: usize = prepared
            .iter()
            .map(|table| tables::markdown(table).len() + tables::latex(table).len())
            .sum();
        let drawn: Vec<_> =
            book.figures.iter().map(|spec| figures::prepare(spec, &book).unwrap()).collect();
        for figure in &drawn {
            let svg = figure.svg(figures::Form::File);
            bytes += raster::png(&svg, 3.0).unwrap().len() + raster::pdf(&svg).unwrap().len();
            bytes += figure.csv().len();
        }
        let page = page::render(&book, &prepared, &drawn, None).unwrap();
        format!("{} MB of tables and figures, a page of {} MB", bytes >> 20, page.len() >> 20)
    });
}
