//! Specs: what is read, what is refused and in which words, and overrides.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dissensus_core::Scale;
use dissensus_engine::{Augment, Model, Optimizer, Schedule};
use dissensus_inputs::Layout;
use dissensus_train::spec::{Checkpoint, DataSource, Precision, Votes};
use dissensus_train::{ConfigError, Spec, Stop};
use dissensus_votes::{MultiLabel, Values};

const MINIMAL: &str = "[data]\ndataset = \"blends\"\n[delivery]\nmethods = \"soft\"\n";

fn with(overrides: &[&str]) -> Result<Spec, String> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    Spec::parse(MINIMAL, "spec.toml", &overrides).map_err(|error| error.to_string())
}

fn refused(text: &str) -> String {
    Spec::parse(text, "spec.toml", &[]).unwrap_err().to_string()
}

#[test]
fn a_minimal_spec_has_every_default() {
    let spec = with(&[]).unwrap();
    assert_eq!(spec.data.source, DataSource::Dataset("blends".into()));
    assert_eq!((spec.data.name(), spec.data.items), ("blends", None));
    assert_eq!(spec.data.votes, [Votes::All]);
    assert_eq!(spec.split.parts, ["train", "evaluation"]);
    assert_eq!((spec.split.shares.as_slice(), spec.split.seed), (&[0.8, 0.2][..], None));
    assert_eq!(spec.model, Model::named("resnet18").unwrap());
    let training = spec.training;
    assert_eq!((training.epochs, training.batch_size, training.learning_rate), (200, 128, 0.1));
    let sgd = Optimizer::Sgd { momentum: 0.9, nesterov: false, weight_decay: 5e-4 };
    assert_eq!((training.optimizer, training.schedule), (sgd, Schedule::Cosine));
    assert_eq!(training.augment, None);
    assert_eq!(
        (spec.selection.metric.as_str(), spec.selection.on.as_str()),
        ("soft_nll", "evaluation")
    );
    assert_eq!(spec.selection.stop, None);
    assert_eq!((spec.run.seeds.as_slice(), spec.run.precision), (&[0, 1, 2][..], Precision::F32));
    assert_eq!((spec.run.execution.jobs, spec.run.execution.checkpoint), (None, Checkpoint::Auto));
}

#[test]
fn a_full_spec_is_read() {
    let text = r#"
        [data]
        votes = "a/my votes.csv"
        inputs = "pictures.npz"
        item = "picture"
        classes = ["cat", "dog"]
        votes_per_item = [5, "all"]
        replacement = false
        [split]
        parts = "train/validation/test"
        shares = [0.6, 0.2, 0.2]
        seed = 11
        [model]
        name = "mlp"
        dropout = 0
        [delivery]
        methods = ["soft", "sls:every=5"]
        target = "dirichlet"
        [training]
        optimizer = "adam"
        schedule = "plateau"
        plateau = { factor = 0.1 }
        augment.crop = 4
        [selection]
        metric = "accuracy"
        stop = { patience = 5 }
        [run]
        seeds = [7, 3]
        device = "cuda:1"
        jobs = 2
        checkpoint = "every-epoch"
    "#;
    let spec = Spec::parse(text, "spec.toml", &[]).unwrap();
    let DataSource::Files { votes, reading } = &spec.data.source else { panic!("files") };
    assert_eq!(votes.to_str(), Some("a/my votes.csv"));
    assert_eq!(reading.item.as_deref(), Some("picture"));
    assert_eq!(reading.classes.as_deref(), Some(&["cat".to_owned(), "dog".to_owned()][..]));
    assert_eq!(spec.data.name(), "my votes");
    assert_eq!(spec.data.votes, [Votes::Drawn { per_item: 5, replacement: false }, Votes::All]);
    assert_eq!((spec.split.parts.len(), spec.split.seed), (3, Some(11)));
    assert_eq!(spec.model, Model::named("mlp").unwrap().with("dropout", 0.0).unwrap());
    let adam = Optimizer::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 };
    assert_eq!((spec.training.optimizer, spec.training.learning_rate), (adam, 1e-3));
    let plateau = Schedule::Plateau { factor: 0.1, patience: 10, threshold: 1e-4, minimum: 0.0 };
    assert_eq!(spec.training.schedule, plateau);
    assert_eq!(spec.training.augment, Some(Augment { crop: 4, flip: false }));
    assert_eq!(spec.selection.on, "validation");
    assert_eq!(spec.selection.stop, Some(Stop { patience: 5, minimum: 0.0 }));
    assert_eq!(
        (spec.run.seeds.as_slice(), spec.run.execution.device.as_str()),
        (&[7, 3][..], "cuda:1")
    );
    assert_eq!(
        (spec.run.execution.jobs, spec.run.execution.checkpoint),
        (Some(2), Checkpoint::EveryEpoch)
    );
}

#[test]
fn unknown_keys_and_sections_name_their_place_and_the_nearest() {
    let error = refused(&format!("{MINIMAL}\n[training]\n  epoch = 3\n"));
    let start = "unknown key `epoch` in [training] (spec.toml, line 7, column 3); did you mean \
                 `epochs`? [training] has epochs, batch_size, loss, optimizer";
    assert!(error.starts_with(start), "{error}");
    assert!(error.ends_with("schedule, augment, plateau"), "{error}");
    let error = refused(&format!("{MINIMAL}[training]\naugment = {{ flipp = true }}\n"));
    assert!(
        error.contains("`flipp` in [training.augment] (spec.toml, line 6, column 13)"),
        "{error}"
    );
    assert!(error.contains("did you mean `flip`?"), "{error}");
    let error = refused(&format!("{MINIMAL}[model]\nepochs = 3\n"));
    assert!(error.ends_with("`epochs` belongs in [training]"), "{error}");
    let error = refused(&format!("{MINIMAL}[trainning]\nepochs = 3\n"));
    assert!(
        error.starts_with("unknown section [trainning] (spec.toml, line 5, column 2)"),
        "{error}"
    );
    assert!(error.contains("did you mean [training]? There are [data], [split]"), "{error}");
    let error = refused(&format!("epochs = 3\n{MINIMAL}"));
    let start = "unknown key `epochs` in the file (spec.toml, line 1, column 1)";
    assert!(error.starts_with(start), "{error}");
    assert!(error.ends_with("`epochs` belongs in [training]"), "{error}");
    // The first mistake of a file is the one that is named.
    let error = refused("[training]\nzzz = 1\naaa = 2\n");
    assert!(error.contains("`zzz`"), "{error}");
}

#[test]
fn values_name_their_key_what_came_and_what_was_expected() {
    let error = refused(&format!("{MINIMAL}[training]\nepochs = \"many\"\n"));
    let expected = "training.epochs is \"many\" (spec.toml, line 6, column 1); expected a whole \
                    number from 1 to 1000000";
    assert_eq!(error, expected);
    let bad = [
        "training.epochs=0",
        "training.epochs=2.5",
        "training.batch_size=-1",
        "training.learning_rate=0",
        "training.learning_rate=inf",
        "training.learning_rate=nan",
        "training.momentum=1",
        "training.weight_decay=-0.1",
        "training.nesterov=1",
        "training.augment.crop=65",
        "model.width=0",
        "data.votes_per_item=0",
        "data.votes_per_item=1000000000",
        "data.items=1000000000000",
        "data.votes_per_item=[]",
        "data.votes_per_item=[5, \"some\"]",
        "data.items=0",
        "data.replacement=2",
        "split.shares=[0.8, 0.3]",
        "split.shares=[0.5, 0.3, 0.2]",
        "split.seed=-1",
        "split.seed=now",
        "selection.stop=5",
        "selection.stop.patience=0",
        "selection.stop.minimum=-1",
        "run.seeds=0",
        "run.seeds=[-1]",
        "run.seeds=[]",
        "run.device=gpu",
        "run.device=cuda:x",
        "run.jobs=0",
        "run.store=\"\"",
    ];
    for given in bad {
        let error = with(&[given]).unwrap_err();
        let key = given.split('=').next().unwrap();
        assert!(error.starts_with(&format!("{key} is ")), "{error}");
        assert!(error.contains(&format!("(override {given}); expected ")), "{error}");
    }
    for text in [
        format!("training = 3\n{MINIMAL}"),
        format!("{MINIMAL}[training]\nplateau = 1\n"),
        format!("{MINIMAL}[[run]]\nseeds = 1\n"),
    ] {
        let error = refused(&text);
        assert!(
            error.contains(" is of the type ") && error.contains("(spec.toml, line "),
            "{error}"
        );
        assert!(error.contains("; expected a table with "), "{error}");
    }
}

/// Without a key, the recipe of the data decides; `true` and an empty table say nothing.
#[test]
fn augmentation_is_a_table_false_or_the_recipe() {
    let read = |text: &str| {
        let spec = Spec::parse(&format!("{MINIMAL}[training]\naugment = {text}\n"), "s.toml", &[]);
        spec.map(|spec| spec.training.augment).map_err(|error| error.to_string())
    };
    assert_eq!(read("\"recipe\""), Ok(None));
    assert_eq!(read("false"), Ok(Some(Augment::default())));
    assert_eq!(read("{ flip = true }"), Ok(Some(Augment { crop: 0, flip: true })));
    assert_eq!(read("{ crop = 0, flip = false }"), Ok(Some(Augment::default())));
    for text in ["true", "{}"] {
        assert!(read(text).unwrap_err().contains("needs a crop or a flip"), "{text}");
    }
    assert!(read("\"none\"").unwrap_err().contains("expected \"recipe\", false, or a table"));
}

/// An mlp is trained with Adam, unless the spec says otherwise.
#[test]
fn the_model_decides_the_optimizer() {
    let name = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let spec = Spec::parse(MINIMAL, "s.toml", &sets).unwrap();
        (
            serde_json::to_value(spec.training.optimizer).unwrap()["name"].clone(),
            spec.training.learning_rate,
        )
    };
    assert_eq!(name(&["model.name=mlp"]), ("adam".into(), 0.001));
    assert_eq!(name(&["model.name=mlp", "training.optimizer=sgd"]), ("sgd".into(), 0.1));
    assert_eq!(name(&[]), ("sgd".into(), 0.1));
}

#[test]
fn names_of_lists_come_with_the_nearest() {
    let cases = [
        ("model.name=resnet", "resnet18"),
        ("training.optimizer=sdg", "sgd"),
        ("training.schedule=cos", "cosine"),
        ("selection.metric=soft_nl", "soft_nll"),
        ("selection.on=eval", "evaluation"),
        ("split.parts=train/evaluations", "train/evaluation"),
        ("run.precision=f16", "bf16"),
        ("run.precision=f64", "f32"),
        ("run.checkpoint=every_epoch", "every-epoch"),
    ];
    for (given, nearest) in cases {
        let error = with(&[given]).unwrap_err();
        assert!(error.contains(&format!("did you mean `{nearest}`? There are ")), "{error}");
        assert!(error.contains(&format!("(override {given})")), "{error}");
    }
    let error = with(&["delivery.methods=[\"soft\", \"slss\"]"]).unwrap_err();
    assert!(error.starts_with("delivery.methods (override "), "{error}");
    assert!(error.contains(r#"unknown delivery "slss"; did you mean "sls"?"#), "{error}");
    let error = with(&["delivery.target=dirichle"]).unwrap_err();
    assert!(error.contains(r#"did you mean "dirichlet"?"#), "{error}");
    let error = with(&["selection.metric=brier_uncertainty"]).unwrap_err();
    assert!(error.contains("neither way is better") && error.contains("soft_nll"), "{error}");
    // One never selects on what is trained on.
    assert!(with(&["selection.on=train"]).unwrap_err().contains("There are evaluation"));
}

#[test]
fn another_dataset_can_be_judged_on() {
    let judged = "data.evaluate_on=cifar10h";
    assert_eq!(with(&[]).unwrap().data.evaluate_on, None);
    let spec = with(&[judged]).unwrap();
    assert_eq!(spec.data.evaluate_on.as_deref(), Some("cifar10h"));
    assert_eq!((spec.data.name(), &spec.split.shares[..]), ("blends", &[1.0][..]));
    assert_eq!(spec.selection.on, "evaluation");
    let three = with(&[judged, "split.parts=train/validation/test"]).unwrap();
    assert_eq!((&three.split.shares[..], &*three.selection.on), (&[0.9, 0.1][..], "validation"));
    let given = with(&[judged, "split.parts=train/validation/test", "split.shares=[0.75, 0.25]"]);
    assert_eq!(given.unwrap().split.shares, [0.75, 0.25]);

    let error = with(&[judged, "split.shares=[0.8, 0.2]"]).unwrap_err();
    let wanted = "split.shares is [0.8, 0.2] (override split.shares=[0.8, 0.2]); expected a number \
                  above 0 for each part but the last, which is data.evaluate_on, with the sum 1, as in \
                  [1.0]";
    assert_eq!(error, wanted);
    assert!(with(&[judged, "split.shares=[0.9]"]).unwrap_err().contains("with the sum 1"));
    assert!(with(&["split.shares=[1.0]"]).unwrap_err().contains("for each part, with the sum 1"));
    for (key, value) in [("inputs", "x.npz"), ("encoder", "minilm")] {
        let error = with(&[judged, &format!("data.{key}={value}")]).unwrap_err();
        let wanted = format!(
            "data.evaluate_on (override {judged}) needs data.dataset, since both datasets come with \
             their own images, and data.{key} is given; remove one of them"
        );
        assert_eq!(error, wanted);
    }
    let own = "[data]\nvotes = 'v.csv'\ninputs = 'x.npz'\nevaluate_on = 'cifar10h'\n[delivery]\n\
               methods = 'soft'\n";
    let error = refused(own);
    assert!(error.starts_with("data.evaluate_on (spec.toml, line 4, column "), "{error}");
    assert!(error.contains("and data.votes is given"), "{error}");
    let error = with(&["data.evaluate_on=blends"]).unwrap_err();
    assert!(error.contains("is the training dataset; name another"), "{error}");
    let error = with(&[judged, "data.subset=entropy-bins"]).unwrap_err();
    assert!(error.starts_with("data.subset (override "), "{error}");
    assert!(error.contains("data.evaluate_on names another, which is used as a whole"), "{error}");
    assert!(with(&["data.evaluate_on=3"]).unwrap_err().contains("expected the name of a dataset"));
}

#[test]
fn what_does_not_apply_is_not_dropped() {
    let cases = [
        (
            &["model.name=mlp", "model.width=8"][..],
            "is a setting of resnet18 and smallcnn, and model.name is mlp",
        ),
        (
            &["training.optimizer=adam", "training.momentum=0.5"],
            "is a setting of sgd, and training.optimizer is adam",
        ),
        (
            &["training.plateau.factor=0.5"],
            "is a setting of plateau, and training.schedule is cosine",
        ),
        (&["data.format=long"], "needs data.votes, which is not given"),
        (&["training.nesterov=true", "training.momentum=0"], "needs a momentum"),
        (
            &["training.schedule=plateau", "training.plateau.minimum=1"],
            "is above training.learning_rate, 0.1",
        ),
        (
            &["delivery.target=dirichlet", "delivery.methods=multipass"],
            "multipass needs votes that can be counted",
        ),
        (&["data.votes=v.csv", "data.inputs=x.npz"], "and data.dataset are both given"),
    ];
    for (given, why) in cases {
        let error = with(given).unwrap_err();
        assert!(error.contains(why) && error.contains("(override "), "{given:?}: {error}");
    }
    for (given, twice) in [
        ("delivery.methods=[\"sls\", \"sls:every=1\"]", "names \"sls:every=1\" twice"),
        ("data.votes_per_item=[5, 5]", "names 5 twice"),
        ("run.seeds=[1, 2, 1]", "names 1 twice"),
    ] {
        let error = with(&[given]).unwrap_err();
        assert!(error.contains(twice), "{error}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let error = refused("[delivery]\nmethods = 'soft'\n");
    assert!(error.starts_with("spec.toml has no data.dataset; name one, as in"), "{error}");
    let error = refused("[data]\ndataset = 'blends'\n");
    assert!(error.starts_with("spec.toml has no delivery.methods"), "{error}");
    let error = refused("[data]\nvotes = 'v.csv'\n");
    assert!(error.starts_with("spec.toml has no data.inputs"), "{error}");
}

#[test]
fn text_that_is_not_toml_names_its_place() {
    for (text, place) in [
        ("[data\n", "line 1, column 6"),
        ("[data]\ndataset = blends\n", "line 2, column 11"),
        ("[data]\nitems = 1\nitems = 2\n", "line 3, column 1"),
        ("[data]\nitems = 99999999999999999999\n", "line 2, column 9"),
    ] {
        let error = refused(text);
        assert!(error.starts_with(&format!("cannot read the file (spec.toml, {place}")), "{error}");
    }
}

#[test]
fn overrides_are_toml_or_text_and_the_last_counts() {
    let spec = with(&[
        "training.epochs=20",
        "training.epochs = 30",
        "delivery.methods=[\"soft\",\"sls\"]",
        "model.name=mlp",
        "run.seeds=[4]",
        "selection.stop.patience=3",
        "data.votes_per_item={}",
    ]);
    assert!(spec.unwrap_err().starts_with("data.votes_per_item is {} (override"));
    let spec = with(&[
        "training.epochs=20",
        "training.epochs = 30",
        "delivery.methods=sls:every=5",
        "model.name=mlp",
        "selection.stop={patience=9}",
        "selection.stop.minimum=0.5",
        "run.store=my runs/a",
    ])
    .unwrap();
    assert_eq!((spec.training.epochs, spec.model.entry().name), (30, "mlp"));
    assert_eq!(spec.delivery.methods[0].to_string(), "sls:every=5");
    assert_eq!(spec.selection.stop, Some(Stop { patience: 9, minimum: 0.5 }));
    assert_eq!(spec.run.store.to_str(), Some("my runs/a"));
    let off = ["selection.stop.patience=9", "selection.stop=false"];
    assert_eq!(with(&off).unwrap().selection.stop, None);
    let on = Some(Stop { patience: 10, minimum: 0.0 });
    assert_eq!(with(&["selection.stop=true"]).unwrap().selection.stop, on);

    for (given, why) in [
        ("epochs", "there is no ="),
        ("epochs=3", "there is no section and key before the ="),
        ("training..epochs=3", "there is no section and key before the ="),
        ("training.\"epochs\"=3", "there is no section and key before the ="),
        ("training.epochs=", "there is no value"),
        ("delivery.methods=[soft,sls]", "the value is not TOML"),
    ] {
        let error = with(&[given]).unwrap_err();
        assert!(error.starts_with(&format!("cannot read the override {given}: {why}")), "{error}");
    }
    let error = with(&["training.epoch=3"]).unwrap_err();
    assert!(
        error.starts_with("unknown key `epoch` in [training] (override training.epoch=3)"),
        "{error}"
    );
    // A line break does not smuggle in another key.
    assert!(with(&["training.epochs=3\nbatch_size=4"]).is_err());
}

#[test]
fn reading_options_can_be_set() {
    let text = r#"
        [data]
        votes = "v.csv"
        inputs = "x.npz"
        delimiter = "tab"
        header = false
        missing = ["", "NA"]
        scale = "ordinal"
        multilabel = "only=cat"
        separator = "|"
        annotators = "rater_*"
        ignore = ["a", "b"]
        values = "counts"
        inputs_key = "vectors"
        inputs_layout = "nchw"
        inputs_id = "id"
        inputs_resize = [32, 48]
        [delivery]
        methods = "soft"
    "#;
    let spec = Spec::parse(text, "spec.toml", &[]).unwrap();
    let DataSource::Files { reading, .. } = &spec.data.source else { panic!("files") };
    assert_eq!((reading.delimiter, reading.header), ("tab".parse().ok(), Some(false)));
    assert_eq!(reading.missing.as_deref(), Some(&["".to_owned(), "NA".to_owned()][..]));
    assert_eq!(
        (&reading.multilabel, reading.values),
        (&MultiLabel::Only("cat".into()), Some(Values::Counts))
    );
    assert_eq!(reading.scale, Some(Scale::Ordinal));
    assert_eq!((reading.separator, reading.one_hot.is_none()), (Some('|'), true));
    assert_eq!(reading.annotators.as_deref(), Some(&["rater_*".to_owned()][..]));
    assert_eq!(reading.ignore.as_ref().map(Vec::len), Some(2));
    let inputs = &spec.data.inputs_reading;
    assert_eq!((inputs.key.as_deref(), inputs.id.as_deref()), (Some("vectors"), Some("id")));
    assert_eq!((inputs.layout, inputs.resize), (Some(Layout::Nchw), Some([32, 48])));
    let with = |more: &str| Spec::parse(text, "spec.toml", &[more.to_owned()]);
    assert_eq!(with("data.inputs_resize=64").unwrap().data.inputs_reading.resize, Some([64, 64]));
    // None of them is part of what a run is.
    assert_eq!(with("data.delimiter=;").unwrap().runs(), spec.runs());
    assert_eq!(with("data.scale=nominal").unwrap().runs(), spec.runs());
    for (given, expected) in [
        ("data.delimiter=,,", "expected one character"),
        ("data.multilabel=only=", "expected \"error\", \"each\", \"votes\" or \"only=CLASS\""),
        ("data.scale=interval", "expected \"nominal\", \"ordinal\" or \"multilabel\""),
        ("data.values=votes", "There are counts, probabilities, labels"),
        ("data.inputs_layout=hwc", "did you mean `nhwc`?"),
        ("data.inputs_resize=[32]", "expected a whole number of pixels, or [height, width]"),
        ("data.header=1", "expected true or false"),
    ] {
        let error = with(given).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(given), "{error}");
    }
    for (given, needed) in
        [("data.header=true", "data.votes"), ("data.inputs_key=x", "data.inputs")]
    {
        let error = self::with(&[given]).unwrap_err();
        assert!(error.contains(&format!("needs {needed}, which is not given")), "{error}");
    }
}

#[test]
fn an_old_name_is_answered_with_the_present_one() {
    for (old, new) in [
        ("data.judged_on=cifar10h", "evaluate_on"),
        ("training.rate=0.1", "learning_rate"),
        ("training.batch=8", "batch_size"),
        ("run.lanes=2", "jobs"),
    ] {
        let error = with(&[old]).unwrap_err();
        assert!(error.ends_with(&format!("it is called `{new}` now")), "{error}");
    }
    assert!(with(&["training.rat=1"]).unwrap_err().contains("did you mean `learning_rate`?"));
    let error = refused("[spec.data]\ndataset = 'blends'\n");
    let wanted = "unknown section [spec] (spec.toml, line 1, column 2); sections are written without \
                  it: [data] instead of [spec.data]";
    assert_eq!(error, wanted);
    assert!(with(&["run.device=cuda+alone"]).unwrap_err().contains("\"cuda:exclusive\""));
    let exclusive = with(&["run.device=cuda:1:exclusive"]).unwrap();
    assert_eq!(exclusive.run.execution.device, "cuda:1:exclusive");
}

#[test]
fn a_study_is_not_taken_for_a_spec() {
    let text = format!("{MINIMAL}[[arm]]\nname = 'soft'\ndelivery = 'soft'\n");
    let error = Spec::parse(&text, "spec.toml", &[]).unwrap_err();
    assert!(matches!(&error, ConfigError::IsStudy { section, .. } if section == "[[arm]]"));
    let wanted =
        "this is a study, not a training spec: it has [[arm]] (spec.toml, line 5, column 3)";
    assert_eq!(error.to_string(), wanted);
}
