//! A study from its first run to its results: nothing redone, failures reported, a grid searched.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;

use common::{Lab, plan, study};
use dissensus_core::results::Row;
use dissensus_sources::LoadContext;
use dissensus_store::{Begun, Made, RunId, Which};
use dissensus_studies::{Job, Plan, Study, StudyError, distinct, files, results};
use dissensus_train::RunResult;
use serde_json::json;

fn ids(jobs: &[Job]) -> BTreeSet<RunId> {
    jobs.iter().map(|job| job.id.clone()).collect()
}

/// Begins a run, and ends it with this error.
fn fail(lab: &Lab, plan: &Plan<'_>, job: &Job, reason: &str) {
    let value = plan.spec(job).to_value();
    let Begun::Run(run) = lab.store.begin(&value, &json!({}), 2).unwrap() else { panic!("done") };
    run.fail(reason).unwrap();
}

/// Ends a run with this value of a metric on the evaluation items, without training it.
fn finish(lab: &Lab, plan: &Plan<'_>, job: &Job, metric: &str, value: Option<f64>) {
    let spec = plan.spec(job).to_value();
    let Begun::Run(run) = lab.store.begin(&spec, &json!({}), 2).unwrap() else { panic!("done") };
    let figures = json!({ metric: value });
    run.finish(&json!({"parts": {"evaluation": {"best": figures}}, "seconds": 8.0})).unwrap();
}

#[test]
fn runs_are_never_redone_and_results_are_one_tidy_table() {
    // Steps so long that the last epoch is not always the best.
    let wild = ["training.learning_rate=1.0".to_owned(), "training.epochs=3".to_owned()];
    let study = study("[[slice]]\nname = 'high'\ntop = 0.25\n[stages]\ntruth = {}\n");
    let study = study.with_overrides(&wild).unwrap();
    let plan = plan(&study);
    let lab = Lab::new();
    let jobs = plan.finals(&lab.store).unwrap().jobs;
    assert_eq!(jobs.len(), 2 * 2 * 2);
    assert_eq!(lab.train(&plan, &jobs[..3]), 3);
    let status = plan.status(&lab.store, Some(2)).unwrap();
    assert_eq!((status.runs.done, status.runs.missing, status.runs.total()), (3, 5, 8));
    let mean = status.mean_seconds.unwrap();
    assert!((status.eta_seconds.unwrap() - mean * 5.0 / 2.0).abs() < 1e-9);
    assert_eq!((status.arms[0].arm.as_str(), status.arms[0].runs.done), ("soft", 3));
    let part = plan.collect(&lab.store, &json!({})).unwrap();
    assert_eq!(part.missing, 5);
    // Only the others are trained, and then none.
    assert_eq!((lab.all(&plan), lab.all(&plan)), (5, 0));
    let status = plan.status(&lab.store, Some(2)).unwrap();
    assert_eq!((status.runs.done, status.runs.left(), status.eta_seconds), (8, 0, Some(0.0)));

    let about = json!({"version": "1", "hardware": "2 cores"});
    let collected = plan.collect(&lab.store, &about).unwrap();
    assert_eq!((collected.missing, collected.failed.len()), (0, 0));
    let folder = lab.store.study("small").unwrap();
    let csv = folder.read(files::RESULTS_CSV).unwrap().unwrap();
    let timings = folder.read(files::TIMINGS).unwrap().unwrap();
    let rows = |csv: &[u8]| results::from_csv(csv, "a table").unwrap();
    let is_time = |row: &&Row| row.metric == "seconds";
    let (times, others): (Vec<&Row>, Vec<&Row>) = collected.rows.iter().partition(is_time);
    assert_eq!(rows(&csv).iter().collect::<Vec<_>>(), others);
    assert_eq!(rows(&timings).iter().collect::<Vec<_>>(), times);
    assert_eq!(times.len(), 8);
    assert!(folder.read(files::RESULTS_PARQUET).unwrap().unwrap().starts_with(b"PAR1"));
    let written = folder.read_text(files::STUDY).unwrap().unwrap();
    assert_eq!(Study::parse(&written, "study.toml").unwrap().to_toml(), written);
    let told = folder.read_about(files::ABOUT).unwrap().unwrap();
    assert_eq!((&told["about"], &told["runs"]), (&about, &json!(8)));

    // What the run itself found is what the stage finds in its predictions.
    let names: BTreeSet<&str> = collected.rows.iter().map(|row| row.metric.as_str()).collect();
    for metric in study.metrics() {
        assert!(names.contains(metric.name.as_str()), "{}", metric.name);
    }
    let mut earlier = 0;
    for job in &jobs {
        let result: RunResult = lab.store.run(&job.id).unwrap().result().unwrap().unwrap();
        earlier += usize::from(result.best_epoch != 2);
        let value = |metric: &str, slice: &str| {
            let mut rows = collected.rows.iter().filter(|row| {
                row.run == job.id.as_str() && row.metric == metric && row.slice == slice
            });
            let row = rows.next().unwrap();
            assert!(rows.next().is_none(), "{metric} twice");
            assert_eq!((row.k, row.seed, &row.arm), (job.k, job.seed, &job.arm));
            row.value
        };
        let evaluation = result.part("evaluation").unwrap();
        for metric in ["soft_nll", "accuracy", "ece_mass", "entropy_spearman"] {
            assert_eq!(value(metric, "all"), evaluation.best.get(metric), "{metric}");
            let last = format!("{metric}.last");
            assert_eq!(value(&last, "all"), evaluation.last.get(metric), "{last}");
        }
        assert_ne!(value("soft_nll", "high"), value("soft_nll", "all"));
        let epoch = result.best_epoch;
        assert_eq!(value("best_epoch", "all"), Some((epoch + 1) as f64));
        assert!(value("epochs_to_95", "all").unwrap() <= (epoch + 1) as f64);
        assert_eq!(value("seconds", "all"), Some(result.seconds));
        assert!(value("true_kl", "all").unwrap() > 0.0);
    }
    assert!(earlier > 0, "the best epoch is always the last");
}

#[test]
fn a_run_that_cannot_be_read_is_an_error_and_old_results_stay() {
    let study = study("");
    let (plan, lab) = (plan(&study), Lab::new());
    lab.all(&plan);
    plan.collect(&lab.store, &json!({})).unwrap();
    let folder = lab.store.study("small").unwrap();
    let before = folder.read(files::RESULTS_CSV).unwrap();
    let run = lab.store.runs().unwrap().runs.remove(0);
    for name in ["history.jsonl", "result.json", "status.json", "about.json", "spec.json"] {
        let path = run.folder.join(name);
        let whole = std::fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        for damaged in [&flipped[..], &whole[..whole.len() / 2], b""] {
            std::fs::write(&path, damaged).unwrap();
            let told = plan.collect(&lab.store, &json!({})).unwrap_err().to_string();
            assert!(told.contains(run.id.as_str()) && told.contains(name), "{name}: {told}");
            assert!(plan.book(&lab.store).is_err());
            let out = lab.store.path().with_file_name("x.pack");
            let options = dissensus_store::PackOptions::default();
            let packed = dissensus_store::pack(&lab.store, &out, options).unwrap_err();
            assert!(packed.to_string().contains(name) && !out.exists(), "{packed}");
        }
        std::fs::write(&path, &whole).unwrap();
    }
    assert_eq!(folder.read(files::RESULTS_CSV).unwrap(), before);
    plan.collect(&lab.store, &json!({})).unwrap();
    assert_eq!(folder.read(files::RESULTS_CSV).unwrap(), before);
}

#[test]
fn what_a_stage_gave_is_read_and_other_settings_are_measured_anew() {
    let one = study("[stages.measure]\nmetrics = ['kl']\nwhich = 'best'\n");
    let lab = Lab::new();
    let planned = plan(&one);
    let jobs = planned.finals(&lab.store).unwrap().jobs;
    lab.train(&planned, &jobs[..1]);
    let first = planned.rows(&lab.store).unwrap().rows;
    let folder = lab.store.study("small").unwrap();
    let kept: Vec<String> =
        folder.files().unwrap().into_iter().filter(|name| name.starts_with("stages/")).collect();
    // The file and its record.
    assert_eq!(kept.len(), 2);
    assert!(
        kept[0].starts_with("stages/measure-") && kept[0].ends_with(&format!("{}.csv", jobs[0].id))
    );
    let (bytes, made) = folder.read_made(&kept[0]).unwrap().unwrap();
    let made = made.unwrap();
    assert_eq!(made.from, lab.store.run(&jobs[0].id).unwrap().predictions_digest().unwrap());
    let values = || {
        let rows = planned.rows(&lab.store).unwrap().rows;
        (rows.len(), rows[0].value)
    };
    // Another number with its own record is believed: it was not computed again.
    let fake = b"metric,slice,value\nkl,all,42.5\n";
    let process = dissensus_store::Durability::Process;
    let one_row = Made { rows: 1, ..made.clone() };
    folder.write_made(&kept[0], fake, &one_row, process).unwrap();
    assert_eq!((first.len(), values()), (4, (4, Some(42.5))));
    // What was computed from other predictions, by other code, or has other rows is made again.
    for other in [
        Made { from: "other".into(), ..one_row.clone() },
        Made { code: "0.0.1".into(), ..one_row.clone() },
        Made { rows: 2, ..one_row.clone() },
    ] {
        folder.write_made(&kept[0], fake, &other, process).unwrap();
        assert_eq!(values(), (4, first[0].value), "{other:?}");
    }
    // So is one that is damaged, though it still reads as numbers.
    for damaged in [&fake[..], b"kl,all", b"a,b\n1,2\n"] {
        folder.write(&kept[0], damaged, process).unwrap();
        assert_eq!(planned.rows(&lab.store).unwrap().rows, first);
    }
    // So is one without a record.
    folder.write(&kept[0], fake, process).unwrap();
    std::fs::remove_file(folder.path().join(&kept[1])).unwrap();
    assert_eq!(planned.rows(&lab.store).unwrap().rows, first);
    assert_eq!(folder.read_made(&kept[0]).unwrap().unwrap(), (bytes, Some(made)));
    let other = study("[stages.measure]\nmetrics = ['kl']\nwhich = 'best'\nbins = 10\n");
    plan(&other).rows(&lab.store).unwrap();
    let files = folder.files().unwrap();
    assert_eq!(files.iter().filter(|name| name.starts_with("stages/")).count(), 4);
}

#[test]
fn a_failed_run_is_reported_and_stops_nobody() {
    let study = study("");
    let (plan, lab) = (plan(&study), Lab::new());
    let jobs = plan.finals(&lab.store).unwrap().jobs;
    fail(&lab, &plan, &jobs[2], "the loss is NaN in epoch 1");
    lab.train(&plan, &jobs[..2]);
    let status = plan.status(&lab.store, Some(1)).unwrap();
    assert_eq!((status.runs.done, status.runs.failed, status.runs.missing), (2, 1, 5));
    let [failure] = &status.failed[..] else { panic!("{:?}", status.failed) };
    assert_eq!(failure.reason, "the loss is NaN in epoch 1");
    assert_eq!((&failure.id, failure.label.as_str()), (&jobs[2].id, "soft · all votes · seed 0"));
    let collected = plan.collect(&lab.store, &json!({})).unwrap();
    assert_eq!((collected.failed.len(), collected.missing), (1, 5));
    let book = plan.book(&lab.store).unwrap();
    assert_eq!((book.failed.len(), book.missing), (1, 5));
    // A run whose files are gone is not one that failed: there are no results without it.
    let broken = lab.store.run(&jobs[1].id).unwrap();
    std::fs::remove_file(broken.predictions_path(Which::Best)).unwrap();
    let told = plan.book(&lab.store).err().unwrap().to_string();
    assert!(told.contains("best.npz"), "{told}");
}

#[test]
fn an_interrupted_and_a_running_run_are_told_apart() {
    let study = study("");
    let (plan, lab) = (plan(&study), Lab::new());
    let jobs = plan.finals(&lab.store).unwrap().jobs;
    let begin = |job: &Job| match lab.store.begin(&plan.spec(job).to_value(), &json!({}), 2) {
        Ok(Begun::Run(run)) => run,
        other => panic!("{other:?}"),
    };
    begin(&jobs[0]).interrupt().unwrap();
    let running = begin(&jobs[1]);
    let status = plan.status(&lab.store, Some(1)).unwrap();
    assert_eq!((status.runs.interrupted, status.runs.running, status.runs.missing), (1, 1, 6));
    assert_eq!((status.mean_seconds, status.eta_seconds), (None, None));
    drop(running);
}

const GRID: &str = "
[grid]
'training.learning_rate' = [0.1, 0.05]
'training.batch_size' = [16, 32]
select = 'kl'
seed = 1
";

#[test]
fn the_grid_is_searched_with_one_seed_and_its_winner_run_with_all() {
    let study = study(GRID);
    let (plan, lab) = (plan(&study), Lab::new());
    let searches = plan.searches();
    // Two arms, two numbers of votes, four points; the last axis runs fastest.
    assert_eq!(searches.len(), 16);
    let of = |job: &Job| (job.run.training.learning_rate, job.run.training.batch_size, job.seed);
    let first: Vec<_> = searches[..4].iter().map(of).collect();
    assert_eq!(first, [(0.1, 16, 1), (0.1, 32, 1), (0.05, 16, 1), (0.05, 32, 1)]);
    assert_eq!(searches[2].point, Some(2));

    let finals = plan.finals(&lab.store).unwrap();
    assert_eq!((finals.jobs.len(), finals.undecided.len(), finals.undecided[0].open), (0, 4, 4));
    // Ties: the first of the best. A failed and an undefined one are not chosen.
    let value = |job: &Job, value| finish(&lab, &plan, job, "kl", value);
    value(&searches[0], Some(0.5));
    value(&searches[1], Some(0.25));
    value(&searches[2], Some(0.25));
    assert_eq!(plan.finals(&lab.store).unwrap().undecided[0].open, 1);
    value(&searches[3], Some(0.75));
    fail(&lab, &plan, &searches[4], "diverged");
    value(&searches[5], None);
    value(&searches[6], Some(0.9));
    value(&searches[7], Some(0.9));
    for job in &searches[8..12] {
        fail(&lab, &plan, job, "diverged");
    }
    let finals = plan.finals(&lab.store).unwrap();
    let chosen: Vec<_> = finals.jobs.iter().map(|job| (of(job), job.k, job.point)).collect();
    assert_eq!(
        chosen,
        [
            ((0.1, 32, 0), Some(3), Some(1)),
            ((0.1, 32, 1), Some(3), Some(1)),
            ((0.05, 16, 0), None, Some(2)),
            ((0.05, 16, 1), None, Some(2)),
        ]
    );
    // The winner's run of the search is one of its final runs.
    assert!(ids(&searches).contains(&finals.jobs[1].id));
    assert_eq!(finals.chosen.len(), 2);
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        finals.chosen[0].settings,
        [setting("training.learning_rate", "0.1"), setting("training.batch_size", "32")]
    );
    // Where all searches failed nothing is chosen, and nothing is waited for.
    assert_eq!(finals.undecided.iter().map(|waiting| waiting.open).collect::<Vec<_>>(), [0, 4]);
    let status = plan.status(&lab.store, Some(4)).unwrap();
    assert_eq!((status.runs.done, status.runs.failed), (7, 5));
    // Searches that are open, and one more final run of each arm, as its seed 1 is searched.
    assert_eq!(status.runs.missing, 4 + 4);
    // 8 seconds each, 4 at a time; the arm whose searches failed is not counted on.
    assert_eq!(status.eta_seconds, Some(8.0 * 7.0 / 4.0));
    assert!(status.failed.iter().filter(|one| one.reason == "diverged").count() == 5);
}

#[test]
fn a_grid_selects_by_what_selects_an_epoch_where_it_says_nothing_else() {
    let study = study("[grid]\n'training.learning_rate' = [0.1, 0.05]\n");
    let (plan, lab) = (plan(&study), Lab::new());
    for (at, job) in plan.searches().iter().enumerate() {
        assert_eq!(job.seed, 0);
        finish(&lab, &plan, job, "soft_nll", Some(1.0 - at as f64 / 100.0));
    }
    let rates = plan.finals(&lab.store).unwrap().jobs;
    assert!(rates.iter().all(|job| job.run.training.learning_rate == 0.05));
}

#[test]
fn arms_that_come_to_the_same_run_share_it() {
    let study = study("[[arm]]\nname = 'sls-1'\ndelivery = 'sls:every=1'\nseeds = 1\n");
    let (plan, lab) = (plan(&study), Lab::new());
    let jobs = plan.finals(&lab.store).unwrap().jobs;
    assert_eq!((jobs.len(), distinct(&jobs).len()), (9, 8));
    assert_eq!(lab.train(&plan, &jobs), 8);
    let rows = plan.rows(&lab.store).unwrap().rows;
    let shared: Vec<&str> = rows
        .iter()
        .filter(|row| row.run == jobs[8].id.as_str() && row.metric == "kl")
        .map(|row| row.arm.as_str())
        .collect();
    assert_eq!(shared, ["sls", "sls-1"]);
    let status = plan.status(&lab.store, Some(1)).unwrap();
    assert_eq!((status.runs.total(), status.arms[2].runs.done), (8, 1));
}

#[test]
fn data_sets_are_loaded_once_each_and_arms_can_keep_to_one() {
    let study = study(
        "[[dataset]]\nname = 'few'\nset = { 'data.items' = 40 }\n\
         [[dataset]]\nname = 'more'\ntitle = 'More'\nset = { 'data.items' = 60 }\n\
         [[arm]]\nname = 'hard'\ndelivery = 'majority'\ndatasets = ['more']\n",
    );
    let mut loaded = Vec::new();
    let mut load = |data: &dissensus_train::spec::Data| {
        loaded.push(data.items);
        common::load(data)
    };
    let plan = common::plan_with(&study, &Default::default(), &mut load).unwrap();
    assert_eq!(loaded, [Some(40), Some(60)]);
    let jobs = plan.finals(&Lab::new().store).unwrap().jobs;
    let hard: Vec<&str> =
        jobs.iter().filter(|job| job.arm == "hard").map(|job| job.dataset.as_str()).collect();
    assert_eq!(hard, ["more", "more"]);
    assert_eq!(plan.task(&jobs[0]).table().len(), 40);
    let some = study.choose(&Default::default()).unwrap();
    let error = some.plan(vec![]).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "0 data sets for runs on 2");
    let gone = "data.votes = 'nowhere.csv'\ndata.inputs = 'nowhere.npz'\ndelivery.methods = 'soft'";
    let gone = dissensus_studies::Study::parse(gone, "gone.toml").unwrap();
    let error = gone.plan(&Default::default(), &LoadContext::default()).map(|_| ()).unwrap_err();
    assert!(error.to_string().starts_with("the data of nowhere: nowhere.csv"), "{error}");
}

#[test]
fn a_packed_study_goes_on_elsewhere() {
    let study = study("");
    let (plan, here, there) = (plan(&study), Lab::new(), Lab::new());
    let jobs = plan.finals(&here.store).unwrap().jobs;
    here.train(&plan, &jobs[..4]);
    there.train(&plan, &jobs[2..6]);
    plan.collect(&here.store, &json!({})).unwrap();
    plan.collect(&there.store, &json!({})).unwrap();
    let file = here.folder.path().join("here.tar.zst");
    dissensus_store::pack(&here.store, &file, Default::default()).unwrap();
    let unpacked = dissensus_store::unpack(&file, there.store.path()).unwrap();
    // The same runs trained in two places are the same to the bit.
    assert_eq!((unpacked.added.len(), unpacked.kept.len(), unpacked.differing.len()), (2, 2, 0));
    let collected = plan.collect(&there.store, &json!({})).unwrap();
    assert_eq!(collected.missing, 2);
    let runs: BTreeSet<&str> = collected.rows.iter().map(|row| row.run.as_str()).collect();
    assert_eq!(runs.len(), 6);
    assert_eq!(there.all(&plan), 2);
}

#[test]
#[cfg(unix)]
fn a_disk_that_takes_nothing_more_is_no_fault_of_a_run() {
    let (study, lab) = (study(""), Lab::new());
    let plan = plan(&study);
    lab.all(&plan);
    // What is not there cannot be read, and nothing can be written there.
    let stages = lab.store.study(&study.name).unwrap().path().join("stages");
    std::fs::create_dir_all(stages.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("gone", &stages).unwrap();
    let error = plan.rows(&lab.store).unwrap_err();
    assert!(matches!(&error, StudyError::Unwritten(_)), "{error:?}");
    assert!(error.to_string().contains("stages"), "{error}");
    std::fs::remove_file(&stages).unwrap();
    assert!(!plan.rows(&lab.store).unwrap().rows.is_empty());
}
