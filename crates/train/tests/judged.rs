//! Runs that are trained on one data set and judged on another: one table, whose last items are the
//! other's, and nothing of what is trained depends on them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use common::{Lab, PLAIN, data, plan, spec, task};
use dissensus_core::{Ballots, ClassOrder, ClassSet, VoteTable};
use dissensus_data::blends::{Settings, VotesPerItem};
use dissensus_engine::Dataset;
use dissensus_inputs::{Features, Images, Inputs, Kind, from_blends};
use dissensus_store::RunId;
use dissensus_train::{RunSpec, Setup, Task, Voted};

/// Other pictures by the same ids, with many votes of which only counts are known.
fn other() -> &'static (VoteTable, Inputs) {
    static OTHER: OnceLock<(VoteTable, Inputs)> = OnceLock::new();
    OTHER.get_or_init(|| {
        let votes = VotesPerItem::Fixed(40);
        let settings = Settings { items: 60, votes, seed: 1, ..Settings::default() };
        let blends = settings.check().unwrap().generate().unwrap();
        let table = blends.table();
        let counts = table.counts().unwrap().into_owned();
        let counted =
            VoteTable::from_counts(table.classes().clone(), table.items().clone(), counts).unwrap();
        (counted, from_blends(&blends).unwrap())
    })
}

fn few() -> Voted<'static> {
    Voted { name: "few", table: &data().0, inputs: &data().1 }
}

fn many() -> Voted<'static> {
    Voted { name: "many", table: &other().0, inputs: &other().1 }
}

fn both() -> &'static Task {
    static BOTH: OnceLock<Task> = OnceLock::new();
    BOTH.get_or_init(|| Task::judged_on(few(), many()).unwrap().0)
}

/// A run that is judged on the other data, changed by overrides.
fn judged(task: &Task, overrides: &[&str]) -> RunSpec {
    spec(task, &[&["data.evaluate_on=many"], overrides].concat())
}

fn ids(table: &VoteTable, places: impl IntoIterator<Item = usize>) -> Vec<&str> {
    places.into_iter().map(|place| table.items().name(place)).collect()
}

#[test]
fn both_stand_in_one_table_and_none_are_called_the_same() {
    let task = both();
    assert_eq!((task.table().len(), task.own(), task.judged()), (260, 0..200, Some(200..260)));
    // Ids of both begin with blend-00000; the trained ones say where they are from.
    let own = ids(task.table(), task.own());
    assert_eq!((own[0], own[199]), ("few/blend-00000", "few/blend-00199"));
    assert_eq!(ids(task.table(), 200..202), ["blend-00000", "blend-00001"]);
    assert_eq!(task.keys().iter().collect::<BTreeSet<_>>().len(), 260);
    assert_eq!(task.inputs().ids(), Some(task.table().items()));
    let Kind::Images(images) = task.inputs().kind() else { panic!("pictures") };
    for (name, (table, inputs), prefix) in [("few", data(), "few/"), ("many", other(), "")] {
        let Kind::Images(own) = inputs.kind() else { panic!("pictures") };
        for (item, shares) in table.distributions().iter().enumerate() {
            let id = format!("{prefix}{}", table.items().name(item));
            let place = task.table().items().position(&id).unwrap();
            assert_eq!(images.image(place), own.image(item), "{name}: {id}");
            let shares = shares.as_ref().unwrap().values();
            assert_eq!(&task.truth().targets()[place * 10..][..10], shares, "{name}: {id}");
        }
    }
    // A task of one data set has nothing of another.
    let plain = common::task();
    assert_eq!((plain.own(), plain.judged()), (0..200, None));
    assert_eq!(plain.table().items().name(0), "blend-00000");
}

#[test]
fn the_last_part_is_the_other_data_whole() {
    let task = both();
    let two = Setup::new(task, &judged(task, &[]).run).unwrap();
    assert_eq!((two.train.len(), two.parts.len()), (200, 1));
    assert!(two.train.iter().all(|&row| row < 200));
    assert_eq!(two.parts[0].rows, (200..260).collect::<Vec<u32>>());
    let alone = Task::new("many", &other().0, &other().1).unwrap().0;
    assert_eq!(two.parts[0].truth.targets(), alone.truth().targets());

    let three = ["split.parts=train/validation/test", "split.shares=[0.75, 0.25]"];
    let three = Setup::new(task, &judged(task, &three).run).unwrap();
    let names: Vec<&str> = three.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["validation", "test"]);
    assert_eq!((three.train.len(), three.parts[0].rows.len()), (150, 50));
    let mut own: Vec<u32> = three.train.iter().chain(&three.parts[0].rows).copied().collect();
    own.sort_unstable();
    assert_eq!(own, (0..200).collect::<Vec<u32>>());
    assert_eq!(three.parts[1].rows, two.parts[0].rows);
    assert_eq!(three.selecting, 0);

    // Pictures are normalized by what is trained on.
    let Kind::Images(images) = data().1.kind() else { panic!("pictures") };
    let Dataset::Images { mean, deviation, .. } = &two.dataset else { panic!("pictures") };
    let wanted = images.normalization(None).unwrap();
    assert_eq!((mean, deviation), (&wanted.mean, &wanted.sd));
}

#[test]
fn draws_touch_training_alone() {
    let task = both();
    let all = Setup::new(task, &judged(task, &[]).run).unwrap();
    let drawn = judged(task, &["data.votes_per_item=2", "data.replacement=false"]);
    let drawn = Setup::new(task, &drawn.run).unwrap();
    let (targets, wanted) = (drawn.labels.targets().unwrap(), all.labels.targets().unwrap());
    assert_eq!((targets.len(), wanted.len()), (2000, 2000));
    assert!(targets.iter().all(|share| [0.0, 0.5, 1.0].contains(share)));
    assert_ne!(targets, wanted);
    assert_eq!(drawn.parts[0].truth.targets(), all.parts[0].truth.targets());
    // Who voted is still known of those that are trained on: this target has to know it.
    let Ballots::Votes(_) = task.table().ballots() else { panic!("single votes") };
    Setup::new(task, &judged(task, &["delivery.target=dawid_skene"]).run).unwrap();
}

#[test]
fn predictions_are_of_the_other_data_by_its_ids() {
    let task = both();
    let (lab, spec) = (Lab::new(), judged(task, &["delivery.methods=sls"]));
    let ended = lab.finish(task, &spec, PLAIN);
    assert_eq!(ended.best.ids, ids(&other().0, 0..60));
    assert_eq!(ended.result.train_items, 200);
    assert_eq!(ended.result.part("evaluation").unwrap().items, 60);
    let loss = ended.column("loss");
    assert!(loss[4] < loss[0], "{loss:?}");

    // Neither other votes and pictures to be judged on nor fewer of them change what is trained.
    let places: Vec<usize> = (0..40).rev().collect();
    let (table, inputs) = (other().0.select(&places), other().1.select(&places));
    let fewer = Task::judged_on(few(), Voted { name: "fewer", table: &table, inputs: &inputs });
    let fewer = fewer.unwrap().0;
    let again = lab.finish(&fewer, &judged(&fewer, &["delivery.methods=sls"]), PLAIN);
    assert_eq!(again.last.weights, ended.last.weights);
    assert_eq!(again.last.logits, ended.last.logits[..400]);
    assert_eq!(again.last.ids, ended.last.ids[..40]);
}

#[test]
fn the_order_of_the_data_does_not_matter() {
    let places: Vec<usize> = (0..200).rev().collect();
    let (table, inputs) = (data().0.select(&places), data().1.select(&places[7..]));
    let inputs = inputs.followed_by(&data().1.select(&places[..7])).unwrap();
    let there = Task::judged_on(Voted { name: "few", table: &table, inputs: &inputs }, many());
    let there = there.unwrap().0;
    assert_eq!(there.identity(), both().identity());
    let run = |task: &Task| Lab::new().finish(task, &judged(task, &["training.epochs=2"]), PLAIN);
    assert!(run(&there) == run(both()));
}

#[test]
fn what_is_judged_on_is_part_of_what_a_run_is() {
    let id = |spec: &RunSpec| RunId::of(&spec.to_value()).to_string();
    let task = both();
    let data = &task.identity();
    assert_eq!((data.name.as_str(), data.items), ("few", 200));
    let on = data.judged_on.as_ref().unwrap();
    // The judged set is what it is by itself.
    let alone = Task::new("many", &other().0, &other().1).unwrap().0;
    assert_eq!(&**on, alone.identity());
    let here = judged(task, &[]);
    let text = here.to_value().to_string();
    assert_eq!(serde_json::from_str::<RunSpec>(&text).unwrap(), here);

    let places: Vec<usize> = (0..59).collect();
    let fewer = (other().0.select(&places), other().1.select(&places));
    let fewer = Voted { name: "many", table: &fewer.0, inputs: &fewer.1 };
    let fewer = Task::judged_on(few(), fewer).unwrap().0;
    assert_ne!(id(&judged(&fewer, &[])), id(&here));
    assert!(!fewer.identity().same_content(data) && !data.same_content(fewer.identity()));
    let renamed = Task::judged_on(few(), Voted { name: "lots", ..many() }).unwrap().0;
    assert_ne!(id(&judged(&renamed, &[])), id(&here));
    assert!(renamed.identity().same_content(data));
    // Without another data set there is no word of it.
    let plain = spec(common::task(), &[]).to_value();
    assert_eq!(plain["data"].as_object().unwrap().len(), 4, "{plain}");
    assert!(!common::task().identity().same_content(data));
}

#[test]
fn classes_agree_by_name_or_are_only_numbered() {
    let classes = |names: &[&str]| {
        ClassSet::new(names.iter().map(|n| n.to_string()).collect(), ClassOrder::Declared).unwrap()
    };
    let called = |set: ClassSet| other().0.clone().with_classes(set).unwrap();
    let numbered = called(ClassSet::numbered(10).unwrap());
    let on = |table: &VoteTable| Task::judged_on(few(), Voted { table, ..many() });
    let (task, joined) = on(&numbered).unwrap();
    assert!(joined.classes_by_position);
    assert_eq!(task.table().classes().names(), data().0.classes().names());
    assert_eq!(task.truth().targets(), both().truth().targets());
    // The other way round, the names of the judged set are taken.
    let own = data().0.clone().with_classes(ClassSet::numbered(10).unwrap()).unwrap();
    let (task, joined) = Task::judged_on(Voted { table: &own, ..few() }, many()).unwrap();
    assert!(joined.classes_by_position);
    assert_eq!(task.table().classes().names(), other().0.classes().names());
    assert!(!Task::judged_on(few(), many()).unwrap().1.classes_by_position);

    // One may be ordinal, and the other only not known to be.
    let ordinal = data().0.clone().with_scale(dissensus_core::Scale::Ordinal).unwrap();
    let task = Task::judged_on(Voted { table: &ordinal, ..few() }, many()).unwrap().0;
    assert_eq!(task.identity(), both().identity());

    let mut names: Vec<&str> = data().0.classes().names().iter().map(String::as_str).collect();
    names.swap(0, 1);
    let error = |table: &VoteTable| on(table).map(|_| ()).unwrap_err().to_string();
    let swapped = error(&called(classes(&names)));
    let wanted = format!(
        "runs on few cannot be judged on many: the classes are {} and {}; expected the same in the \
         same order, or as many that are only numbered",
        data().0.classes().names().join(", "),
        names.join(", ")
    );
    assert_eq!(swapped, wanted);
    let mut counts = dissensus_core::Counts::new();
    (0..60).for_each(|_| counts.push([(0, 2)]).unwrap());
    let three = ClassSet::numbered(3).unwrap();
    let fewer = VoteTable::from_counts(three, other().0.items().clone(), counts).unwrap();
    assert!(error(&fewer).contains("and 0, 1, 2; expected the same"));
}

#[test]
fn what_does_not_go_together_is_named() {
    let error = |own: Voted<'_>, on: Voted<'_>| {
        Task::judged_on(own, on).map(|_| ()).unwrap_err().to_string()
    };
    let same = error(few(), Voted { name: "few", ..many() });
    assert!(same.contains("few cannot be judged on few: it is the data set that"), "{same}");
    let small = Images::new("many", 8, 8, 1, vec![0; 60 * 64]).unwrap();
    let small = Inputs::new("many", other().1.ids().cloned(), Kind::Images(small)).unwrap();
    let unlike = error(few(), Voted { inputs: &small, ..many() });
    let wanted = "few are images of 16×16×1, and many images of 8×8×1; they must be alike to \
                  stand in one set";
    assert_eq!(unlike, wanted);
    let flat = Features::new("many", 3, vec![0.0; 180]).unwrap();
    let flat = Inputs::new("many", other().1.ids().cloned(), Kind::Features(flat)).unwrap();
    let unlike = error(few(), Voted { inputs: &flat, ..many() });
    assert!(unlike.contains("and many vectors of 3 numbers"), "{unlike}");
    let mut rows = dissensus_core::Probabilities::new(10);
    (0..60).for_each(|_| rows.push(&[0.1; 10]).unwrap());
    let classes = other().0.classes().clone();
    let shares = VoteTable::from_probabilities(classes, other().0.items().clone(), rows).unwrap();
    let mixed = error(few(), Voted { table: &shares, ..many() });
    assert!(mixed.starts_with("the votes of few and many do not make one table: "), "{mixed}");
    assert!(mixed.contains("single votes, the second probabilities"), "{mixed}");

    // A split with as many shares as parts is not one of two data sets, nor the other way round.
    let refused =
        |task: &Task, spec: RunSpec| Setup::new(task, &spec.run).err().unwrap().to_string();
    let wanted = "the split has the parts train, evaluation and the shares [0.8, 0.2]; expected one \
                  for each part but the last, which is many";
    assert_eq!(refused(both(), spec(both(), &[])), wanted);
    let wanted = "the split has the parts train, evaluation and the shares [1.0]; expected one for \
                  each part";
    assert_eq!(refused(task(), judged(task(), &[])), wanted);
    assert_eq!(plan(&["data.evaluate_on=many"]).split.shares, [1.0]);
}
