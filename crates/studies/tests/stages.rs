//! Stages that look into models: what they give, that it is kept, and with whom runs are compared.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;
use std::sync::Mutex;

use common::{Lab, load, plan};
use dissensus_core::{Batch, Cancel, Ending, Event};
use dissensus_data::blends::Settings;
use dissensus_engine::Cpu;
use dissensus_examine::{Model, Observer};
use dissensus_inputs::{Inputs, from_blends};
use dissensus_labels::Source;
use dissensus_labels::sparse::with_replacement;
use dissensus_sources::LoadContext;
use dissensus_stats::correlation::{partial_spearman, spearman};
use dissensus_store::Which;
use dissensus_studies::{Collected, Examined, Job, Plan, PlanOptions, StageContext, Study};

const STAGES: &str = "
[study]
name = 'looks'
[data]
dataset = 'blends'
items = 90
[model]
name = 'smallcnn'
width = 4
[split]
shares = [0.5, 0.5]
[training]
epochs = 2
batch_size = 32
learning_rate = 0.05
[run]
seeds = 3
[[arm]]
name = 'soft'
delivery = 'soft'
[[arm]]
name = 'sls'
delivery = 'sls'
votes = ['all', 3]
[[slice]]
name = 'high'
top = 0.25
[[slice]]
name = 'low'
above = 0.1
[stages.measure]
metrics = ['soft_nll']
[stages.geometry]
which = 'both'
slices = ['high']
iterations = 8
probes = 3
arms = ['sls']
seeds = 2
[stages.variance]
arms = ['soft']
[stages.ood]
sets = ['blends', { name = 'mine', inputs = 'elsewhere/mine.npy' }]
scores = ['energy', 'odin', 'knn']
neighbours = 5
arms = ['soft']
seeds = 1
[stages.barrier]
arms = ['sls', 'soft']
points = 5
[stages.cka]
items = 40
ks = ['all']
[stages.gradcam]
slices = ['high']
pictures = 2
arms = ['soft']
[[figure]]
name = 'path'
kind = 'curves'
arms = ['sls']
metrics = ['barrier', 'barrier.recomputed']
[[figure]]
name = 'noise'
kind = 'scatter'
arms = ['soft']
x = 'annotator_entropy'
y = 'gradient_variance'
[[figure]]
name = 'maps'
kind = 'maps'
arms = ['soft']
";

fn looks() -> Study {
    Study::parse(STAGES, "looks.toml").unwrap()
}

/// Other pictures of the same form.
fn others() -> Inputs {
    let settings = Settings { items: 30, seed: 77, ..Settings::default() };
    from_blends(&settings.check().unwrap().generate().unwrap()).unwrap()
}

fn examine(lab: &Lab, plan: &Plan<'_>) -> (Examined, Vec<String>) {
    let (stop, log) = (Cancel::new(), Mutex::new(Vec::new()));
    let progress = |event: Event<'_>| {
        let mut log = log.lock().unwrap();
        match event {
            Event::BatchStarted { batch: Batch::Stage(stage), tasks, steps } => {
                assert_eq!(tasks.len() as u64, steps);
                log.push(format!("{stage} {steps}"));
            }
            Event::Advanced { task, done, total, detail } => {
                assert!(total.is_none_or(|total| done <= total), "{task}: {done} of {total:?}");
                assert!(!task.is_empty() && !detail.is_empty());
            }
            Event::Ended { task, ending, .. } => {
                assert!(!task.is_empty());
                match ending {
                    Ending::Done => {}
                    Ending::Failed(why) => log.push(why.to_owned()),
                    other => panic!("{other:?}"),
                }
            }
            Event::BatchFinished { batch: Batch::Stage(_) } => {}
            other => panic!("{other:?}"),
        }
    };
    let context = StageContext::new(&Cpu, true, LoadContext::default())
        .with_inputs("blends", others())
        .with_inputs("elsewhere/mine.npy", others());
    let examined = plan.examine(&lab.store, &context, &stop, &progress).unwrap();
    (examined, log.into_inner().unwrap())
}

/// Takes the weights of these runs away.
fn forget(lab: &Lab, jobs: &[Job]) {
    for job in jobs {
        let run = lab.store.run(&job.id).unwrap();
        for which in [Which::Best, Which::Last] {
            let _ = std::fs::remove_file(run.weights_path(which));
        }
    }
}

/// The values of a metric on a slice, by arm and seed of the runs with all votes.
fn values(collected: &Collected, metric: &str, slice: &str) -> Vec<(String, u64, f64)> {
    let here = collected
        .rows
        .iter()
        .filter(|row| row.metric == metric && row.slice == slice && row.k.is_none());
    here.map(|row| (row.arm.clone(), row.seed, row.value.unwrap())).collect()
}

#[test]
fn every_stage_gives_numbers_that_stay_when_the_weights_are_gone() {
    let study = looks();
    let (plan, lab) = (plan(&study), Lab::new());
    lab.all(&plan);
    let jobs = plan.finals(&lab.store).unwrap().jobs;
    let before = plan.rows(&lab.store).unwrap();
    let named = ["geometry", "variance", "ood", "barrier", "cka", "gradcam"];
    assert_eq!(before.unexamined.keys().map(String::as_str).collect::<BTreeSet<_>>(), named.into());
    // No stage asks for the third seed with three votes.
    assert_eq!(plan.spent(&lab.store).unwrap().len(), 1);

    let (examined, log) = examine(&lab, &plan);
    assert_eq!(examined.failed, []);
    assert_eq!((examined.done, examined.before), (4 + 3 + 1 + 3 + 2 + 1, 0));
    assert_eq!(
        log,
        ["geometry 4", "variance 3", "ood 1", "barrier 3", "cka 2", "gradcam 1"].map(str::to_owned)
    );
    let found = plan.rows(&lab.store).unwrap();
    assert!(found.unexamined.is_empty());
    for metric in study.metrics() {
        let rows = found.rows.iter().filter(|row| row.metric == metric.name);
        assert!(rows.clone().count() > 0, "{}", metric.name);
        assert!(rows.into_iter().all(|row| row.value.is_some()), "{}", metric.name);
    }
    // Two seeds of one arm, on all items and one of the slices.
    let top = |slice: &str| values(&found, "lambda_max", slice);
    assert_eq!((top("all").len(), top("high").len(), top("low").len()), (2, 2, 0));
    assert!(top("all")[0].2 > 0.0 && top("all")[0].0 == "sls" && top("all") != top("high"));
    // The last epoch too, which is that of the first seed, and another than that of the second.
    let (last, epochs) =
        (values(&found, "lambda_max.last", "all"), values(&found, "best_epoch", "all"));
    let epochs: Vec<f64> = epochs.iter().filter(|one| one.0 == "sls").map(|one| one.2).collect();
    assert_eq!((last.len(), &epochs[..2]), (2, &[2.0, 1.0][..]));
    assert!(last[0] == top("all")[0] && last[1] != top("all")[1] && last[1].2 > 0.0);
    assert_eq!(values(&found, "blends.odin.auroc", "all").len(), 1);
    assert_eq!(values(&found, "mine.odin.auroc", "all").len(), 1);
    // The path ends where the runs are.
    let book = plan.book(&lab.store).unwrap();
    let paths: Vec<_> = book.curves.iter().filter(|curve| curve.column == "barrier").collect();
    assert_eq!((paths.len(), &paths[0].x[..]), (3, &[0.0, 0.25, 0.5, 0.75, 1.0][..]));
    let losses = values(&found, "soft_nll", "all");
    for path in paths {
        let loss = |arm: &str| {
            losses.iter().find(|(a, seed, _)| a == arm && *seed == path.of.seed).unwrap().2
        };
        assert!((path.values[0] - loss("sls")).abs() < 1e-5);
        assert!((path.values[4] - loss("soft")).abs() < 1e-5);
        let rise = |at: usize| {
            let share = at as f64 / 4.0;
            path.values[at] - (1.0 - share) * path.values[0] - share * path.values[4]
        };
        let most = (1..4).map(rise).fold(0.0, f64::max);
        let barrier = values(&found, "barrier", "all");
        assert!((barrier[path.of.seed as usize].2 - most).abs() < 1e-9);
    }
    // What is by item is by item, and its correlation is the one that was told.
    let noise: Vec<_> = book.items.iter().filter(|items| items.of.arm == "soft").collect();
    assert_eq!((noise.len(), noise[0].ids.len()), (3, 45));
    let column = |name: &str| &noise[0].columns.iter().find(|(own, _)| own == name).unwrap().1;
    let settings = dissensus_stats::correlation::CorrelationSettings::default();
    let (x, y) = (column("annotator_entropy"), column("gradient_variance"));
    let r = dissensus_stats::correlation::spearman(x, y, &settings).unwrap().r.unwrap();
    assert!((values(&found, "variance_spearman", "all")[0].2 - r).abs() < 1e-9);
    // The other correlation is made of the same items when results are collected.
    let r = dissensus_stats::correlation::pearson(x, y, &settings).unwrap().r.unwrap();
    assert!((values(&found, "variance_pearson", "all")[0].2 - r).abs() < 1e-9);
    // Two seeds' maps of two pictures that both are judged on.
    assert_eq!(book.overlays.len(), 4);
    let items: BTreeSet<&str> = book.overlays.iter().map(|one| one.item.as_str()).collect();
    assert_eq!(items.len(), 2);
    for spec in &book.figures {
        let figure = dissensus_report::figures::prepare(spec, &book).unwrap();
        let svg = figure.svg(dissensus_report::figures::Form::File);
        assert!(!svg.contains("No data"), "{}", spec.name);
    }

    // Nothing needs the weights any more, and nothing is lost with them.
    assert_eq!(plan.spent(&lab.store).unwrap().len(), 9);
    let (again, _) = examine(&lab, &plan);
    assert_eq!((again.done, again.before), (0, 14));
    forget(&lab, &jobs);
    let (again, log) = examine(&lab, &plan);
    assert_eq!((again.done, again.before, again.without_weights.len(), log.len()), (0, 14, 0, 0));
    assert_eq!(plan.rows(&lab.store).unwrap().rows, found.rows);
    assert_eq!(plan.book(&lab.store).unwrap().overlays, book.overlays);

    // Packed without weights, it is all there elsewhere.
    let there = Lab::new();
    let file = lab.folder.path().join("looks.pack");
    dissensus_store::pack(&lab.store, &file, Default::default()).unwrap();
    dissensus_store::unpack(&file, there.store.path()).unwrap();
    let carried = plan.rows(&there.store).unwrap();
    assert_eq!((carried.rows, carried.unexamined.len()), (found.rows, 0));

    // With other settings it is not there, and nothing can be done about it any more.
    let other = STAGES.replace("points = 5", "points = 7");
    let other = Study::parse(&other, "looks.toml").unwrap();
    let plan = common::plan(&other);
    let (examined, _) = examine(&lab, &plan);
    assert_eq!((examined.done, examined.without_weights["barrier"]), (0, 3));
    let rows = plan.rows(&lab.store).unwrap();
    assert_eq!(rows.unexamined.into_iter().collect::<Vec<_>>(), [("barrier".to_owned(), 3)]);
}

const SEEDS: &str = "
[[arm]]
name = 'few'
delivery = 'sls'
votes = [3]
seeds = 3
[stages.cka]
items = 40
arms = ['few']
";

#[test]
fn a_run_is_compared_with_the_seeds_that_are_there() {
    let study = common::study(SEEDS);
    let lab = Lab::new();
    let part = |first, last| PlanOptions { between: Some((first, last)), ..Default::default() };
    let cka = |plan: &Plan<'_>| {
        let rows = plan.rows(&lab.store).unwrap().rows;
        let rows = rows.into_iter().filter(|row| row.metric == "cka");
        rows.map(|row| row.value.unwrap()).collect::<Vec<f64>>()
    };
    // Two seeds: each has the other, so that both have one value.
    let two = common::plan_with(&study, &part(0, 1), &mut load).unwrap();
    let of_two = two.finals(&lab.store).unwrap().jobs;
    let of_two: Vec<Job> = of_two.into_iter().filter(|job| job.arm == "few").collect();
    assert_eq!(of_two.iter().map(|job| job.seed).collect::<Vec<_>>(), [0, 1]);
    lab.train(&two, &of_two[..1]);
    let (alone, _) = examine(&lab, &two);
    assert_eq!((alone.done, alone.without_weights["cka"]), (0, 1));
    lab.train(&two, &of_two);
    assert_eq!(examine(&lab, &two).0.done, 1);
    let pair = cka(&two);
    assert_eq!(pair.len(), 2);
    assert!(pair[0] == pair[1] && pair[0] > 0.0 && pair[0] <= 1.0);
    // In the whole study they stand as they are, until the third seed is there, too.
    let whole = common::plan(&study);
    assert_eq!(cka(&whole), pair);
    assert_eq!(examine(&lab, &whole).0.before, 1);
    let jobs = whole.finals(&lab.store).unwrap().jobs;
    let few: Vec<Job> = jobs.into_iter().filter(|job| job.arm == "few").collect();
    lab.train(&whole, &few);
    assert_eq!(cka(&whole), pair);
    assert_eq!(examine(&lab, &whole).0.done, 1);
    let three = cka(&whole);
    assert_eq!(three.len(), 3);
    // Means over the same three pairs of runs: their sum is twice that of the pairs.
    let pairs: f64 = three.iter().sum::<f64>();
    assert!((0..3).all(|at| three[at] != pair[0]) && pairs <= 3.0);
    // The smaller plan still has what was found for it; and with the weights of one gone, what was
    // found with all is not looked for again with fewer.
    assert_eq!(cka(&two), pair);
    forget(&lab, &few[..1]);
    assert_eq!(examine(&lab, &whole).0.done, 0);
    assert_eq!(cka(&whole), three);
}

#[test]
fn settings_of_stages_are_checked() {
    let refused = |stage: &str, expected: &str| {
        let text = common::small(stage);
        let error = Study::parse(&text, "small.toml").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused("[stages.geometry]\nprobe = 3\n", "unknown key `probe` in [stages.geometry]");
    refused("[stages.geometry]\nwhich = 'first'\n", "[stages.geometry] which is \"first\"");
    refused("[stages.geometry]\nprobes = 0\n", "[stages.geometry] probes is 0");
    refused("[stages.geometry]\nslices = ['hihg']\n", "is \"hihg\", which is unknown");
    refused("[stages.geometry]\nprecision = 'f64'\n", "precision is \"f64\"");
    refused(
        "[stages.variance]\narms = ['sotf']\n",
        "[stages.variance] arms is \"sotf\", which is unknown",
    );
    refused("[stages.variance]\nks = [4]\n", "[stages.variance] ks is \"4\", which is unknown");
    refused("[stages.variance]\nseeds = 0\n", "seeds is 0");
    refused("[stages.ood]\nsets = ['svnh']\n", "did you mean `svhn`?");
    let own = "{ name = 'mine', inputs = 'mine.npy' }";
    for sets in
        [&format!("[{own}, {own}]"), "[{ name = 'mine' }]", "[{ name = 'a.b', inputs = 'x' }]"]
    {
        refused(&format!("[stages.ood]\nsets = {sets}\n"), "[stages.ood] sets is");
    }
    refused("[stages.ood]\nepsilon = -1.0\n", "epsilon is -1.0");
    refused("[stages.ood]\nscores = ['enery']\n", "did you mean `energy`?");
    refused("[stages.draws]\n", "expected an arm");
    refused(
        "[stages.draws]\nagainst = 'sotf'\n",
        "[stages.draws] against is \"sotf\", which is unknown",
    );
    refused("[stages.barrier]\narms = ['soft']\n", "expected two arms");
    refused("[stages.barrier]\narms = ['soft', 'sls']\npoints = 2\n", "points is 2");
    refused(
        "[[figure]]\nname = 'f'\nkind = 'scatter'\nx = 'kl'\ny = 'gradient_variance'\n",
        "y is \"gradient_variance\", which is unknown",
    );
}

const SPARSE: &str = "
[study]
name = 'sparse'
[data]
dataset = 'blends'
items = 200
[model]
name = 'smallcnn'
width = 4
[split]
parts = 'train/validation/test'
shares = [0.6, 0.2, 0.2]
[training]
epochs = 10
batch_size = 32
learning_rate = 0.05
[selection]
on = 'validation'
[run]
seeds = 2
[[arm]]
name = 'soft'
delivery = 'soft'
votes = [3]
[[arm]]
name = 'sls'
delivery = 'sls'
votes = [3]
[stages.draws]
against = 'soft'
[stages.temperature]
[[figure]]
name = 'draws'
kind = 'curves'
arms = ['sls']
metrics = ['draw.train_gain', 'placebo.train_gain']
";

/// The soft NLL of each row of logits at a temperature.
fn losses(logits: &[f32], p: &[f64], classes: usize, temperature: f64) -> Vec<f64> {
    let rows = logits.chunks(classes).zip(p.chunks(classes));
    let loss = |(z, p): (&[f32], &[f64])| {
        let z: Vec<f64> = z.iter().map(|z| f64::from(*z) / temperature).collect();
        let all = z.iter().map(|z| z.exp()).sum::<f64>().ln();
        z.iter().zip(p).map(|(z, p)| p * (all - z)).sum::<f64>()
    };
    rows.map(loss).collect()
}

/// Each number is computed again from the weights, the votes and the formulas.
#[test]
fn gains_on_training_items_go_with_the_draw_that_was_trained_on() {
    let study = Study::parse(SPARSE, "sparse.toml").unwrap();
    let (plan, lab) = (plan(&study), Lab::new());
    let jobs = plan.finals(&lab.store).unwrap().jobs;
    lab.train(&plan, &jobs);
    let (examined, log) = examine(&lab, &plan);
    assert_eq!((examined.failed, log), (vec![], vec!["draws 2".to_owned()]));
    let found = plan.rows(&lab.store).unwrap();
    let value = |job: &Job, metric: &str| {
        let mut rows = found.rows.iter().filter(|row| row.metric == metric && row.slice == "all");
        rows.find(|row| (&row.arm, row.seed) == (&job.arm, job.seed)).map(|row| row.value.unwrap())
    };
    let task = plan.task(&jobs[0]);
    let (truth, classes) = (task.truth(), task.truth().classes());
    let shares = |rows: &[u32]| -> Vec<f64> {
        let row = |row: &u32| &truth.targets()[*row as usize * classes..][..classes];
        rows.iter().flat_map(row).copied().collect()
    };
    let open = |job: &Job| {
        let (run, settings) = (lab.store.run(&job.id).unwrap(), Default::default());
        Model::open(&run, task, Which::Best, &Cpu, &settings).unwrap()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    for job in &jobs {
        let mut model = open(job);
        let mut logits = |part: &str| {
            let rows = model.part(Some(part)).unwrap().rows.clone();
            (model.logits(&rows, &Observer::silent()).unwrap(), shares(&rows), rows)
        };
        // The temperature is the best on validation, and not that of the test part.
        let (validation, p, _) = logits("validation");
        let (test, q, _) = logits("test");
        let at = |temperature: f64| mean(&losses(&validation, &p, classes, temperature));
        let fitted = value(job, "temperature_validation").unwrap();
        assert!(at(fitted) < at(fitted * 1.01) && at(fitted) < at(fitted / 1.01), "{fitted}");
        assert!((fitted / value(job, "temperature").unwrap() - 1.0).abs() > 1e-3);
        let expected = mean(&losses(&test, &q, classes, fitted));
        let nll = value(job, "soft_nll_validation_tempered").unwrap();
        assert!((nll - expected).abs() < 1e-6, "{nll} {expected}");
        assert!(nll > value(job, "soft_nll_tempered").unwrap());

        // Soft labels have nothing to be compared with.
        let Some(gain) = value(job, "train_gain") else { continue };
        let other =
            jobs.iter().find(|other| other.arm == "soft" && other.seed == job.seed).unwrap();
        let (own, p, rows) = logits("train");
        let others = open(other).logits(&rows, &Observer::silent()).unwrap();
        let (own, others) = (losses(&own, &p, classes, 1.0), losses(&others, &p, classes, 1.0));
        // They are kept to six digits.
        let kept = |loss: &f64| format!("{loss:.5e}").parse::<f64>().unwrap();
        let pairs = others.iter().zip(&own);
        let gains: Vec<f64> = pairs.map(|(other, own)| kept(other) - kept(own)).collect();
        assert!((gain - mean(&gains)).abs() < 1e-9, "{gain}");
        let entropy: Vec<f64> = rows.iter().map(|row| truth.entropy()[*row as usize]).collect();
        let distances = |seed: u64| -> Vec<f64> {
            let drawn = with_replacement(&Source::new(task.table()).unwrap(), 3, seed).unwrap();
            let drawn = Source::new(&drawn).unwrap().distributions();
            let distance = |row: &u32| {
                let at = *row as usize * classes;
                let (p, q) = (&truth.targets()[at..at + classes], &drawn[at..at + classes]);
                let term =
                    |a: f64, b: f64| if a > 0.0 { a * (2.0 * a / (a + b)).ln() / 2.0 } else { 0.0 };
                let both = p.iter().zip(q).map(|(p, q)| term(*p, *q) + term(*q, *p));
                // Equal distances are equal, however they are added up.
                (both.sum::<f64>().max(0.0).sqrt() * 1e7).round()
            };
            rows.iter().map(distance).collect()
        };
        let mut partials = Vec::new();
        for (seed, name) in [(job.seed, "draw"), (job.seed + 1000, "placebo")] {
            let distance = distances(seed);
            let plain = spearman(&distance, &gains, &Default::default()).unwrap().r.unwrap();
            let partial = partial_spearman(&distance, &gains, &entropy).unwrap().unwrap();
            for (kind, expected) in [("spearman", plain), ("partial", partial)] {
                let found = value(job, &format!("{name}_{kind}")).unwrap();
                assert!((found - expected).abs() < 5e-3, "{name} {kind}: {found} {expected}");
            }
            partials.push(partial);
        }
        assert!((value(job, "draw_excess").unwrap() - partials[0] + partials[1]).abs() < 1e-2);
    }
    let book = plan.book(&lab.store).unwrap();
    for (path, count) in [("draw.train_gain", 2), ("placebo.train_gain", 2)] {
        let lines: Vec<_> = book.curves.iter().filter(|curve| curve.column == path).collect();
        assert_eq!((lines.len(), lines[0].values.len()), (count, 8));
        // 120 items, 15 per bin.
        let gain = value(jobs.iter().find(|job| job.arm == "sls").unwrap(), "train_gain").unwrap();
        assert!((mean(&lines[0].values) - gain).abs() < 1e-9);
    }
    // Without the weights, all is there.
    forget(&lab, &jobs);
    assert_eq!(plan.rows(&lab.store).unwrap().rows, found.rows);
}

#[test]
fn without_a_validation_part_there_is_no_temperature_of_it() {
    let text = SPARSE
        .replace("parts = 'train/validation/test'", "parts = 'train/evaluation'")
        .replace("[0.6, 0.2, 0.2]", "[0.6, 0.4]")
        .replace("on = 'validation'", "on = 'evaluation'");
    let study = Study::parse(&text, "sparse.toml").unwrap();
    let (plan, lab) = (plan(&study), Lab::new());
    lab.train(&plan, &plan.finals(&lab.store).unwrap().jobs);
    let rows = plan.rows(&lab.store).unwrap().rows;
    assert!(rows.iter().any(|row| row.metric == "temperature"));
    assert!(rows.iter().all(|row| row.metric != "temperature_validation"));
}

/// Arms of other losses: metrics are of the distributions that they predict, and stages whose words are of
/// the cross-entropy refuse their runs by name, and no others.
#[test]
fn arms_may_have_losses_of_their_own() {
    let mut text = "study.name = 'losses'\ndata = { dataset = 'blends', items = 60 }\n\
                    model = { name = 'smallcnn', width = 2 }\nsplit.shares = [0.5, 0.5]\n\
                    training = { epochs = 2, batch_size = 16, learning_rate = 0.05 }\nrun.seeds = 1\n"
        .to_owned();
    for loss in ["cross_entropy", "binary_cross_entropy", "rps"] {
        text += &format!(
            "[[arm]]\nname = '{loss}'\ndelivery = 'soft'\nset = {{ \"training.loss\" = '{loss}' }}\n"
        );
    }
    text += "[stages.measure]\nmetrics = ['soft_nll', 'kl']\n[stages.variance]\n\
             [stages.geometry]\niterations = 4\nprobes = 2\n";
    let study = Study::parse(&text, "losses.toml").unwrap();
    let (plan, lab) = (plan(&study), Lab::new());
    let jobs = plan.finals(&lab.store).unwrap().jobs;
    assert!(jobs.windows(2).all(|pair| pair[0].id != pair[1].id));
    lab.train(&plan, &jobs);
    let (examined, _) = examine(&lab, &plan);
    let failed: Vec<String> =
        examined.failed.iter().map(|failure| failure.reason.clone()).collect();
    let refused = |stage: &str, loss: &str| {
        failed.iter().filter(|text| text.contains(stage) && text.contains(loss)).count()
    };
    assert_eq!((failed.len(), examined.done), (3, 3), "{failed:?}");
    assert_eq!(
        refused("`geometry` is for runs of the losses cross_entropy,", "by `binary_cross_entropy`"),
        1
    );
    assert_eq!(refused("`geometry`", "trained by `rps`"), 1);
    let variance = "`variance` is for runs of the losses cross_entropy, binary_cross_entropy,";
    assert_eq!(refused(variance, "trained by `rps`; choose the runs with the stage's `arms`"), 1);
    let found = plan.rows(&lab.store).unwrap();
    for metric in ["soft_nll", "kl"] {
        assert_eq!(values(&found, metric, "all").len(), 3);
    }
}
