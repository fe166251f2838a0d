//! Splits that come with the data.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{data, plan, task};
use dissensus_store::RunId;
use dissensus_train::{GivenParts, RunPlan, Setup, Spec, Task, parts};

/// The first 120 items are trained on, and so on.
fn pairs() -> Vec<(String, String)> {
    let part = |at: usize| match at {
        0..120 => "train",
        120..150 => "dev",
        _ => "test",
    };
    let ids = data().0.items();
    (0..ids.len()).map(|at| (ids.name(at).to_owned(), part(at).to_owned())).collect()
}

fn given(pairs: &[(String, String)]) -> Task {
    let given = GivenParts::new(pairs, data().0.items()).unwrap();
    Task::new("blends", &data().0, &data().1).unwrap().0.with_split(&given).unwrap()
}

fn planned(text: &str) -> RunPlan {
    let text = format!("delivery.methods = 'soft'\nmodel.name = 'mlp'\n{text}");
    Spec::parse(&text, "test", &[]).unwrap().runs().remove(0)
}

const FILES: &str = "data = { votes = 'v.csv', inputs = 'i.npz', split_column = 'part' }\n";
const THREE: &str = "split.parts = 'train/validation/test'\n";

#[test]
fn items_are_where_the_data_put_them() {
    let task = given(&pairs());
    let plan = planned(&format!("{FILES}{THREE}"));
    let found = parts(&task, &plan).unwrap();
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [120, 30, 50]);
    let names = |places: &[usize]| -> Vec<String> {
        places.iter().map(|&at| task.table().items().name(at).to_owned()).collect()
    };
    for (part, name) in found.iter().zip(["train", "dev", "test"]) {
        let mut wanted: Vec<String> =
            pairs().into_iter().filter(|(_, part)| part == name).map(|(id, _)| id).collect();
        wanted.sort();
        assert_eq!(names(part), wanted);
    }
    let setup = Setup::new(&task, &plan).unwrap();
    assert_eq!((setup.train.len(), setup.parts[0].rows.len(), setup.selecting), (120, 30, 0));
    // Every seed has the same split.
    let other = RunPlan { seed: 7, ..plan.clone() };
    assert_eq!(parts(&task, &other).unwrap(), found);
}

/// The split is part of what a run is; without one, runs are named as ever.
#[test]
fn runs_are_named_by_their_split() {
    let id = |task: &Task| RunId::of(&plan(&[]).with_data(task.identity().clone()).to_value());
    let mut moved = pairs();
    moved[0].1 = "test".into();
    let (one, two) = (given(&pairs()), given(&moved));
    assert_ne!(id(&one), id(&two));
    assert_ne!(id(&one), id(task()));
    assert!(!one.identity().same_content(two.identity()));
    assert!(!serde_json::to_string(task().identity()).unwrap().contains("split_digest"));
}

#[test]
fn what_is_no_split_is_refused_by_name() {
    let items = data().0.items();
    let error = |pairs: &[(String, String)]| GivenParts::new(pairs, items).unwrap_err().to_string();
    let with = |id: &str, part: &str| {
        let mut all = pairs();
        all.push((id.to_owned(), part.to_owned()));
        all
    };
    let first = items.name(0);
    assert!(error(&with("nobody", "train")).contains("\"nobody\" in train, and the votes have no"));
    let twice = error(&with(first, "test"));
    assert!(twice.contains(&format!("{first:?} in two parts, train and test")), "{twice}");
    assert!(error(&with(first, "trian")).contains("expected train, validation (or dev) or test"));
    assert!(error(&pairs()[1..]).contains(&format!("{first:?} in no part")));
    // A part whose items have no inputs is empty.
    let given = GivenParts::new(&pairs(), items).unwrap();
    let some = data().0.select(&(0..150).collect::<Vec<_>>());
    let task = Task::new("some", &some, &data().1).unwrap().0;
    let error = task.with_split(&given).err().unwrap().to_string();
    assert!(error.contains("no items in test"), "{error}");
    // Parts that a run does not ask for.
    let task = self::given(&pairs());
    let error = parts(&task, &planned(FILES)).unwrap_err().to_string();
    assert!(error.contains("has the parts train, validation, test; split.parts is"), "{error}");
    // A run by shares on the same data is split by shares, and one of the data needs a split there.
    assert_eq!(parts(&task, &plan(&[])).unwrap()[0].len(), 160);
    assert!(parts(common::task(), &planned(&format!("{FILES}{THREE}"))).is_err());
}

#[test]
fn keys_that_do_not_apply_are_refused() {
    let error = |more: &str| {
        let text = format!("delivery.methods = 'soft'\n{FILES}{more}");
        Spec::parse(&text, "s.toml", &[]).unwrap_err().to_string()
    };
    for more in ["split.shares = [0.8, 0.2]", "split.seed = 1", "split.stratify = true"] {
        assert!(error(more).contains("has no effect here"), "{}", error(more));
    }
    let both = "data.split_files={ train = 'a', test = 'b' }".to_owned();
    let text = format!("delivery.methods = 'soft'\n{FILES}");
    let error = Spec::parse(&text, "s.toml", &[both]).unwrap_err().to_string();
    assert!(error.contains("data.split_files are both given"), "{error}");
    let one =
        "delivery.methods = 'soft'\ndata = { dataset = 'blends', split_files = { train = 'a' } }";
    let error = Spec::parse(one, "s.toml", &[]).unwrap_err().to_string();
    assert!(error.contains("expected a table of files with one id per line"), "{error}");
}
