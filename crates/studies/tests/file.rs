//! Study files: what is read, and how what is wrong is named.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{plan, small, study};
use dissensus_studies::{BUILTIN, PlanOptions, STUDY_KEYS, Study, StudyError};
use dissensus_train::ConfigError;

/// The error of a study with more TOML behind it.
fn error(more: &str) -> String {
    Study::parse(&small(more), "s.toml").unwrap_err().to_string()
}

/// The line that `more` begins at.
fn line() -> usize {
    small("").lines().count()
}

#[test]
fn unknown_keys_come_with_the_nearest_and_their_place() {
    let unknown = error("[gird]\nseed = 1\n");
    let place = format!("(s.toml, line {}, column 2)", line() + 1);
    assert!(unknown.contains("unknown section [gird]"), "{unknown}");
    assert!(unknown.contains(&place) && unknown.contains("did you mean [grid]?"), "{unknown}");
    for (more, named) in [
        ("[[arm]]\nname = 'x'\ndelivry = 'soft'\n", "`delivry` in [[arm]]"),
        ("[[slice]]\nname = 'x'\ntopp = 0.1\n", "did you mean `top`?"),
        ("[[table]]\nname = 'x'\nmetric = ['kl']\n", "did you mean `metrics`?"),
        ("[[figure]]\nname = 'x'\nknid = 'points'\n", "did you mean `kind`?"),
        (
            "[[figure]]\nname = 'x'\nkind = 'runs'\nx = 'kl'\nmetrics = ['kl']\ny = 'kl'\n",
            "unknown key `y` in [[figure]]",
        ),
        ("[[reference]]\narm = 'soft'\nmen = 1.0\n", "did you mean `mean`?"),
        ("[scale.quick]\nitem = 10\n", "did you mean `items`?"),
        ("[stages]\nmesure = {}\n", "did you mean `measure`?"),
        ("[stages.measure]\nwhih = 'best'\n", "did you mean `which`?"),
        ("[grid]\nsed = 1\n'training.learning_rate' = [0.1]\n", "did you mean `seed`?"),
        ("[trainig]\nepochs = 1\n", "did you mean [training]?"),
    ] {
        let error = error(more);
        assert!(error.contains(named) && error.contains("s.toml, line "), "{more}: {error}");
    }
    let text = "[study]\nname = 's'\n[data]\ndatset = 'blends'\n";
    let error = Study::parse(text, "s.toml").unwrap_err().to_string();
    assert!(error.contains("unknown key `datset` in [data] (s.toml, line 4, column 1)"), "{error}");
}

#[test]
fn names_must_be_known() {
    for (more, named) in [
        (
            "[[table]]\nname = 't'\narms = ['sotf']\n",
            "[[table]] arms is \"sotf\", which is unknown",
        ),
        ("[[table]]\nname = 't'\nmetrics = ['soft_nl']\n", "did you mean `soft_nll`?"),
        ("[[table]]\nname = 't'\nmetrics = ['kl.lats']\n", "did you mean `kl.last`?"),
        (
            "[[table]]\nname = 't'\nslices = ['high']\n",
            "[[table]] slices is \"high\", which is unknown",
        ),
        ("[[table]]\nname = 't'\nks = [4]\n", "[[table]] ks is \"4\", which is unknown"),
        ("[[table]]\nname = 't'\ndatasets = ['blend']\n", "did you mean `blends`?"),
        ("[[table]]\nname = 't'\nagainst = { arm = 'slss' }\n", "did you mean `sls`?"),
        ("[[figure]]\nname = 'f'\nkind = 'scatter'\nx = 'kl'\ny = 'entropy'\n", "[[figure]] y"),
        ("[[figure]]\nname = 'f'\nkind = 'histogram'\n", "[[figure]] x is \"\", which is unknown"),
        ("[[figure]]\nname = 'f'\nkind = 'curves'\nmetrics = ['los']\n", "did you mean `loss`?"),
        (
            "[[figure]]\nname = 'f'\nmetrics = ['loss']\n",
            "[[figure]] metrics is \"loss\", which is unknown",
        ),
        (
            "[[reference]]\narm = 'hard'\nmetric = 'kl'\nmean = 1.0\nsource = 'x'\n",
            "[[reference]] arm is \"hard\", which is unknown",
        ),
        (
            "[[arm]]\nname = 'x'\ndelivery = 'soft'\ndatasets = ['y']\n",
            "datasets is \"y\", which is unknown",
        ),
        (
            "[grid]\n'training.learning_rate' = [0.1]\nselect = 'brier_uncertainty'\n",
            "[grid] select",
        ),
        (
            "[grid]\n'training.learning_rate' = [0.1]\non = 'validation'\n",
            "did you mean `evaluation`?",
        ),
        ("[stages.measure]\nmetrics = ['kll']\n", "did you mean `kl`?"),
        (
            "[grid]\n'training.learning_rate' = [0.1]\n[scale.q]\ngrid = { 'training.batch_size' = [1] }\n",
            "q]",
        ),
    ] {
        let error = error(more);
        assert!(error.contains(named) && error.contains("s.toml, line "), "{more}: {error}");
    }
}

#[test]
fn values_are_checked_where_they_stand() {
    for (more, named) in [
        ("[grid]\n'training.rat' = [0.1]\n", "unknown key `rat` in [training]"),
        (
            "[grid]\n'training.learning_rate' = [0.1, 'fast']\n",
            "training.learning_rate is \"fast\"",
        ),
        ("[grid]\n'training.learning_rate' = 0.1\n", "expected a list of values"),
        ("[grid]\n'training.learning_rate' = [0.1, 0.1]\n", "none twice"),
        ("[grid]\n'data.items' = [10, 20]\n", "cannot be compared"),
        ("[grid]\n'run.seeds' = [1, 2]\n", "use `seeds`"),
        ("[[arm]]\nname = 'x'\ndelivery = 'softt'\n", "did you mean \"soft\"?"),
        (
            "[[arm]]\nname = 'x'\ndelivery = 'soft'\nset = { 'training.epochs' = 0 }\n",
            "epochs is 0",
        ),
        ("[[arm]]\nname = 'x'\ndelivery = 'soft'\nset = { 'run.device' = 'cpu' }\n", "[run]"),
        (
            "[[arm]]\nname = 'x'\ndelivery = 'soft'\nset = { delivery.methods = 'sls' }\n",
            "`delivery`",
        ),
        ("[[arm]]\nname = 'x'\ndelivery = 'soft'\nset.data.votes_per_item = 5\n", "`votes`"),
        ("[[arm]]\nname = 'x'\ndelivery = 'soft'\nvotes = [0]\n", "[[arm]] votes is [0]"),
        ("[[arm]]\nname = 'x'\ndelivery = 'soft'\nvotes = [5, 5]\n", "none twice"),
        ("[[arm]]\nname = 'x'\ndelivery = 'soft'\nseeds = []\n", "[[arm]] seeds is []"),
        ("[[arm]]\nname = 'soft'\ndelivery = 'soft'\n", "names \"soft\" twice"),
        ("[[arm]]\nname = 'soft'\ndelivery = 'soft'\ndatasets = []\n", "names \"soft\" twice"),
        (
            "[[claim]]\nname = 'c'\nkind = 'correlation'\narms = ['soft']\nx = 'confidence'\n",
            "`x` and `y`",
        ),
        ("[[claim]]\nname = 'c'\nkind = 'gain'\narms = ['soft']\nmetrics = ['kl']\n", "`than`"),
        ("[[arm]]\nname = 'a b'\ndelivery = 'soft'\n", "expected a name of letters"),
        ("[[slice]]\nname = 'x'\ntop = 1.5\n", "expected a share of the items"),
        ("[[slice]]\nname = 'x'\ntop = 0.5\nabove = 0.5\n", "needs one of `top`"),
        ("[[slice]]\nname = 'all'\ntop = 0.5\n", "other than `all`"),
        ("[[table]]\nname = 'a b'\n", "expected a name of letters"),
        ("[[table]]\nname = 't'\nshows = 'everything'\n", "unknown variant"),
        ("[table]\nname = 't'\n", "as in [[table]]"),
        ("[delivery]\nmethods = 'soft'\n", "an arm's `delivery`"),
        ("[stages.measure]\nwhich = 'first'\n", "expected \"best\", \"last\" or \"both\""),
        ("[stages.measure]\nbins = 0\n", "from 1 to 1000"),
        ("[scale.quick]\nseeds = 0\n", "expected a whole number, at least 1"),
        ("x = ", "cannot read the file"),
    ] {
        let error = error(more);
        assert!(error.contains(named) && error.contains("s.toml, line "), "{more}: {error}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let parse = |text: &str| Study::parse(text, "s.toml").unwrap_err().to_string();
    assert!(parse("").starts_with("s.toml has no [[arm]]; add one for each delivery"));
    assert!(parse("[study]\ntitle = 't'\n").starts_with("[study] of s.toml has no name"));
    let arms = parse("[study]\nname = 's'\n[data]\ndataset = 'blends'\n");
    assert!(arms.starts_with("s.toml has no [[arm]]; add one for each delivery"), "{arms}");
    let data = parse("[study]\nname = 's'\n[[arm]]\nname = 'a'\ndelivery = 'soft'\n");
    assert!(data.contains("s.toml has no data.dataset"), "{data}");
    let delivery = error("[[arm]]\nname = 'x'\n");
    assert!(delivery.contains("[[arm]] of s.toml has no delivery"), "{delivery}");
    assert!(error("[grid]\nseed = 1\n").contains("has no axes in [grid]"));
    let references = "[study]\nname = 's'\nreferences = 'r.toml'\n[data]\ndataset = 'b'\n";
    assert!(parse(references).contains("r.toml"));
}

#[test]
fn both_ways_of_writing_a_key_are_one() {
    let quoted =
        study("[[arm]]\nname = 'x'\ndelivery = 'soft'\nset = { 'training.learning_rate' = 0.5 }\n");
    let dotted =
        study("[[arm]]\nname = 'x'\ndelivery = 'soft'\n[arm.set]\ntraining.learning_rate = 0.5\n");
    let rates = |study: &Study| {
        let jobs = plan(study).finals(&common::Lab::new().store).unwrap().jobs;
        jobs.iter().map(|job| (job.arm.clone(), job.run.training.learning_rate)).collect::<Vec<_>>()
    };
    assert_eq!(rates(&quoted), rates(&dotted));
    assert_eq!(rates(&quoted).last().unwrap().1, 0.5);
}

#[test]
fn a_study_can_be_written_and_read_again() {
    let text = small(
        "
[[arm]]
name = 'other'
delivery = 'sls:every=5'
votes = ['all', { k = [5, 10], seeds = [4, 2] }]
seeds = [7, 1]
set = { 'training.learning_rate' = 0.5, 'selection.stop.patience' = 3 }
[[dataset]]
name = 'few'
title = 'Few \"items\"'
set = { 'data.items' = 60 }
[[dataset]]
name = 'more'
[grid]
'training.weight_decay' = [0.0, 1e-4]
'training.batch_size' = [16, 32]
select = 'kl'
[[slice]]
name = 'high'
top = 0.25
[[slice]]
name = 'split'
above = 0.5
[stages.measure]
which = 'best'
metrics = ['kl', 'accuracy']
[[table]]
name = 't'
down = ['k', 'arm']
ks = [3, 'all']
against = { arm = 'soft', test = 't', side = 'better', family = 'column' }
bold = false
[[figure]]
name = 'f'
kind = 'effect'
x = 'target_js'
y = 'kl'
against = 'soft'
log_x = true
[[reference]]
dataset = 'few'
arm = 'soft'
metric = 'kl'
mean = 0.5
sd = 0.1
source = 'Table 2'
[scale.quick]
about = 'small'
seeds = 1
items = 20
set = { 'training.epochs' = 1 }
grid = { 'training.batch_size' = [16] }
",
    );
    let first = Study::parse(&text, "s.toml").unwrap();
    let written = first.to_toml();
    let again = Study::parse(&written, "s.toml").unwrap();
    assert_eq!(again.to_toml(), written);
    assert_eq!(again.tables, first.tables);
    assert_eq!(again.figures, first.figures);
    assert_eq!(again.references, first.references);
    assert_eq!(again.slices, first.slices);
    assert_eq!(again.slices[0].by, dissensus_examine::Slice::Top(0.25));
    // Axes keep their order, which is that of the points.
    let axes = |study: &Study| -> Vec<String> {
        study.grid.as_ref().unwrap().axes.iter().map(|axis| axis.path.clone()).collect()
    };
    assert_eq!(axes(&again), ["training.weight_decay", "training.batch_size"]);
    let ids = |study: &Study| {
        let plan = plan(study);
        plan.searches().iter().map(|job| job.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&again), ids(&first));
    let quick = first.scaled("quick").unwrap();
    let planned = plan(&quick);
    let searches = planned.searches();
    // Three arms with two, two and three numbers of votes, two data sets, two decays, one batch.
    assert_eq!(searches.len(), (2 + 2 + 3) * 2 * 2);
    for job in &searches {
        assert_eq!((job.run.training.epochs, job.run.training.batch_size), (1, 16));
        assert_eq!(planned.task(job).table().len(), 20);
    }
    assert_eq!(searches[0].label(), "few · soft · 3 votes · point 1 · seed 0");
    assert_eq!(quick.run_settings().unwrap().execution.device, "auto");
    let again = Study::parse(&quick.to_toml(), "s.toml").unwrap();
    assert_eq!(ids(&again), ids(&quick));
    assert_eq!((again.scale.as_deref(), again.scales.len()), (Some("quick"), 0));
}

#[test]
fn built_in_studies_can_be_written_and_read_again() {
    for builtin in BUILTIN {
        let study = Study::builtin(builtin.name).unwrap();
        let again = Study::parse(&study.to_toml(), "written").unwrap();
        assert_eq!(again.to_toml(), study.to_toml());
        for scale in &study.scales {
            study.clone().scaled(&scale.name).unwrap();
        }
        let error = study.scaled("hudge").unwrap_err().to_string();
        assert!(error.contains("hudge"), "{error}");
    }
}

#[test]
fn references_can_stand_in_a_file_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = small("").replacen("title =", "references = 'published.toml'\ntitle =", 1);
    std::fs::write(folder.path().join("s.toml"), text).unwrap();
    let path = folder.path().join("s.toml");
    assert!(Study::read(&path).unwrap_err().to_string().contains("published.toml"));
    let published = "[[reference]]\narm = 'soft'\nmetric = 'kl'\nmean = 0.5\nsource = 'Table 1'\n";
    std::fs::write(folder.path().join("published.toml"), published).unwrap();
    let study = Study::read(&path).unwrap();
    assert_eq!((study.references.len(), study.references[0].mean), (1, 0.5));
    assert!(study.to_toml().contains("[[reference]]"));
    std::fs::write(folder.path().join("published.toml"), "refernce = 1\n").unwrap();
    let error = Study::read(&path).unwrap_err().to_string();
    assert!(error.contains("published.toml, line 1") && error.contains("`reference`"), "{error}");
}

#[test]
fn what_is_set_for_all_is_over_everything_but_the_grid() {
    let study = study("[[arm]]\nname = 'x'\ndelivery = 'soft'\nset = { 'training.epochs' = 9 }\n")
        .with_overrides(&["training.epochs=3".into(), "run.device=cpu".into()])
        .unwrap();
    let lab = common::Lab::new();
    let jobs = plan(&study).finals(&lab.store).unwrap().jobs;
    assert!(jobs.iter().all(|job| job.run.training.epochs == 3));
    let again = Study::parse(&study.to_toml(), "written").unwrap();
    assert!(again.to_toml().contains("\"training.epochs\" = 3"));
    let error = study.clone().with_overrides(&["training.epoch=3".into()]).unwrap_err().to_string();
    assert!(error.contains("override training.epoch=3") && error.contains("`epochs`"), "{error}");
    let error = study.with_overrides(&["run.seeds=3".into()]).unwrap_err().to_string();
    assert!(error.contains("use `seeds`"), "{error}");
}

#[test]
fn seeds_of_arms_and_of_votes() {
    let study = study(
        "[[arm]]\nname = 'x'\ndelivery = 'soft'\nseeds = 3\n\
         votes = ['all', { k = [5, 10], seeds = 1 }]\n",
    );
    let seeds = |study: &Study, options: PlanOptions| {
        let plan = common::plan_with(study, &options, &mut common::load).unwrap();
        let jobs = plan.finals(&common::Lab::new().store).unwrap().jobs;
        let x = jobs.iter().filter(|job| job.arm == "x");
        x.map(|job| (job.k, job.seed)).collect::<Vec<_>>()
    };
    let all = [(None, 0), (None, 1), (None, 2), (Some(5), 0), (Some(10), 0)];
    assert_eq!(seeds(&study, PlanOptions::default()), all);
    let two = PlanOptions { seeds: Some(2), only: vec!["x".into()], ..Default::default() };
    assert_eq!(seeds(&study, two), [all[0], all[1], all[3], all[4]]);
    let limited = study.clone().limited(1).unwrap();
    assert_eq!(seeds(&limited, PlanOptions::default()), [all[0], all[3], all[4]]);
    let only = PlanOptions { only: vec!["sotf".into()], ..Default::default() };
    let error =
        common::plan_with(&study, &only, &mut common::load).map(|_| ()).unwrap_err().to_string();
    assert!(
        error.contains("the choice of arms") && error.contains("did you mean `soft`?"),
        "{error}"
    );
}

/// A line of the template that is an example in a comment.
fn example(line: &str) -> Option<&str> {
    let code = line.strip_prefix("# ")?;
    let key = code.split(" = ").next().filter(|key| *key != code)?;
    let plain = |c: char| c.is_ascii_lowercase() || "_.\"".contains(c);
    // A file of references would have to be there.
    (key.chars().all(plain) && key != "references").then_some(code)
}

/// The template with every example taken out of its comment.
fn examples() -> String {
    // Run sections are those of a training spec, whose examples exclude each other.
    let template = dissensus_studies::template();
    let (runs, study) = template.split_once("\n[study]\n").unwrap();
    let lines = std::iter::once("[study]").chain(study.lines()).map(|line| match line {
        "# [grid]" => "[grid]",
        line if line.starts_with("# [stages.") => &line[2..],
        line => line,
    });
    let study: Vec<&str> = lines.map(|line| example(line).unwrap_or(line)).collect();
    format!("{runs}\n{}", study.join("\n"))
}

#[test]
fn the_template_and_all_examples_in_it_are_studies() {
    let as_it_is = Study::parse(&dissensus_studies::template(), "t.toml").unwrap();
    let lab = common::Lab::new();
    assert_eq!(plan(&as_it_is).finals(&lab.store).unwrap().jobs.len(), 6 + 5 + 3);
    let with_all = Study::parse(&examples(), "t.toml").unwrap();
    assert!(with_all.grid.is_some());
    assert!(common::plan_with(&with_all, &PlanOptions::default(), &mut common::load).is_ok());
}

#[test]
fn the_template_has_every_key() {
    use dissensus_report::book::Reference;
    use dissensus_report::claims::ClaimSpec;
    use dissensus_report::figures::FigureSpec;
    use dissensus_report::tables::TableSpec;
    let text = examples();
    let read: toml::Table = text.parse().unwrap();
    let has = |part: &toml::Value, key: &str| match part {
        toml::Value::Array(all) => all.iter().any(|one| one.get(key).is_some()),
        one => one.get(key).is_some(),
    };
    let json = |value: serde_json::Value| -> Vec<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    for (section, keys) in [
        ("table", json(serde_json::to_value(TableSpec::default()).unwrap())),
        ("figure", json(serde_json::to_value(FigureSpec::default()).unwrap())),
        ("claim", json(serde_json::to_value(ClaimSpec::default()).unwrap())),
        ("reference", json(serde_json::to_value(Reference::default()).unwrap())),
        (
            "stages",
            dissensus_studies::stages::STAGES.iter().map(|stage| stage.name.to_owned()).collect(),
        ),
    ] {
        for key in keys {
            assert!(has(&read[section], &key), "[{section}] lacks {key}");
        }
    }
    // Kinds are those that an unknown one is answered with.
    let wrong = "kind = 'nonsense'";
    let figures = toml::from_str::<FigureSpec>(wrong).unwrap_err().to_string();
    let claims = toml::from_str::<ClaimSpec>(wrong).unwrap_err().to_string();
    for (answer, before) in [(figures, "kind = "), (claims, "")] {
        let answer = answer.split_once("expected").unwrap().1;
        let kinds: Vec<&str> = answer.split('`').skip(1).step_by(2).collect();
        assert!(kinds.len() > 5, "{answer}");
        // An earlier name of `images` is read, and not taught.
        for kind in kinds.into_iter().filter(|kind| *kind != "pictures") {
            assert!(text.contains(&format!("{before}\"{kind}\"")), "no {kind}");
        }
    }
    // The keys of the others are those that an unknown one is answered with. What a file with its own
    // folder alone has, or a resolved study, is left out.
    let left_out = |section: &str, key: &str| {
        section == "[study]" && ["references", "scale", "set"].contains(&key)
    };
    let stages: Vec<String> = dissensus_studies::stages::STAGES
        .iter()
        .map(|stage| format!("[stages.{}]", stage.name))
        .collect();
    let others = ["[study]", "[[dataset]]", "[[arm]]", "[grid]", "[[slice]]", "[scale.quick]"];
    let others = others.map(str::to_owned);
    for section in stages.iter().chain(&others) {
        let wrong =
            text.replacen(&format!("{section}\n"), &format!("{section}\nnonsense = 1\n"), 1);
        let error = Study::parse(&wrong, "t.toml").unwrap_err();
        let StudyError::Config(ConfigError::UnknownKey { known, .. }) = error else {
            panic!("{section}: {error}")
        };
        let listed = |known: &String| STUDY_KEYS.iter().any(|key| key.name == known);
        assert!(section.starts_with("[stages") || known.iter().all(listed), "{section}");
        let parts: Vec<&str> = section.trim_matches(['[', ']']).split('.').collect();
        let part = match parts[..] {
            [outer, inner] => &read[outer][inner],
            _ => &read[parts[0]],
        };
        // What chooses runs is explained once for all stages.
        let once = |key: &str| {
            section.starts_with("[stages") && ["ks", "arms", "seeds", "also"].contains(&key)
        };
        for key in known.iter().filter(|key| !left_out(section, key) && !once(key)) {
            assert!(has(part, key), "{section} lacks {key}");
        }
    }
    for key in ["arms", "ks", "seeds", "also"] {
        assert!(read["stages"]["geometry"].get(key).is_some(), "{key}");
    }
}

#[test]
fn a_training_spec_is_a_study() {
    let text = "[data]\ndataset = 'blends'\nitems = 80\nvotes_per_item = [3, 'all']\n[model]\n\
                name = 'smallcnn'\n[delivery]\nmethods = ['soft', 'sls:every=5']\n[run]\nseeds = 2\n";
    let study = Study::parse(text, "a/my spec.toml").unwrap();
    assert_eq!((study.name.as_str(), study.tables.len()), ("my-spec", 1));
    let jobs = plan(&study).finals(&common::Lab::new().store).unwrap().jobs;
    let runs: Vec<_> = jobs.into_iter().map(|job| job.run).collect();
    let mut spec = dissensus_train::Spec::parse(text, "spec", &[]).unwrap();
    let task = common::load(&spec.data).unwrap().task;
    // Generated patterns are not augmented.
    assert_eq!(spec.resolve(&task)[0].value, "false");
    assert_eq!(runs, spec.runs());
    let again = Study::parse(&study.to_toml(), "written").unwrap();
    assert_eq!(again.to_toml(), study.to_toml());
    let error = Study::parse(&format!("{text}[[arm]]\nname = 'x'\ndelivery = 'soft'\n"), "s.toml");
    assert!(error.unwrap_err().to_string().contains("an arm's `delivery`"));
}

/// A study that was stored before there were recipes has the runs that it had.
#[test]
fn stored_studies_keep_their_defaults() {
    let text = "[study]\nname = 's'\n[data]\ndataset = 'blends'\n[model]\nname = 'mlp'\n\
                [[arm]]\nname = 'soft'\ndelivery = 'soft'\n";
    let optimizer = |study: &Study| {
        let job = plan(study).finals(&common::Lab::new().store).unwrap().jobs.remove(0);
        serde_json::to_value(job.run.training.optimizer).unwrap()["name"].clone()
    };
    let new = Study::parse(text, "s.toml").unwrap();
    assert_eq!(optimizer(&new), "adam");
    let again = Study::parse_stored(&new.to_toml(), "s.toml").unwrap();
    assert_eq!((optimizer(&again), again.to_toml()), ("adam".into(), new.to_toml()));
    let old = Study::parse_stored(text, "s.toml").unwrap();
    assert_eq!(optimizer(&old), "sgd");
    let again = Study::parse(&old.to_toml(), "s.toml").unwrap();
    assert_eq!((optimizer(&again), again.to_toml()), ("sgd".into(), old.to_toml()));
}

#[test]
fn a_json_object_is_a_study_as_its_file() {
    let object = serde_json::json!({
        "data": {"dataset": "blends"}, "delivery": {"methods": ["soft", "sls"]}, "run": {"seeds": 2},
    });
    let text = "data.dataset = 'blends'\ndelivery.methods = ['soft', 'sls']\nrun.seeds = 2\n";
    let (read, made) =
        (Study::parse(text, "mine").unwrap(), Study::from_json(&object, "mine").unwrap());
    assert_eq!(made.to_toml(), read.to_toml());
    let fails = |object| Study::from_json(&object, "mine").unwrap_err().to_string();
    assert_eq!(
        fails(serde_json::json!({"arm": [{"name": null}]})),
        "mine: arm.0.name is null; leave it out"
    );
    assert!(fails(serde_json::json!(3)).starts_with("mine: "));
    assert!(fails(serde_json::json!({"dta": {"dataset": "blends"}})).contains("dta"));
}

/// The claim and the figure that a page opens with are known names, and stay so at a scale.
#[test]
fn what_a_page_opens_with_is_known() {
    let more = "
[[claim]]
name = 'few'
kind = 'below'
metrics = ['kl']
arms = ['sls']
than = 'soft'
ks = [3]
[[figure]]
name = 'means'
metrics = ['kl']
[scale.whole]
ks = ['all']
";
    let opened = |head: &str| small(more).replacen("title =", &format!("{head}\ntitle ="), 1);
    let head = "question = 'Which?'\nmain_claim = 'few'\nmain_figure = 'means'";
    let study = Study::parse(&opened(head), "s.toml").unwrap();
    assert_eq!(study.opening.question, "Which?");
    let again = Study::parse(&study.to_toml(), "s.toml").unwrap();
    assert_eq!(again.opening, study.opening);
    // The scale leaves no votes of the claim.
    let scaled = study.scaled("whole").unwrap();
    assert_eq!((scaled.opening.claim.as_deref(), scaled.claims.len()), (None, 0));
    assert_eq!(scaled.opening.figure.as_deref(), Some("means"));
    let again = Study::parse(&scaled.to_toml(), "s.toml").unwrap();
    assert_eq!(again.opening, scaled.opening);
    for (key, name) in [("main_claim", "means"), ("main_figure", "few")] {
        let error = Study::parse(&opened(&format!("{key} = '{name}'")), "s.toml").unwrap_err();
        let error = error.to_string();
        assert!(error.contains(&format!("[study] {key} is \"{name}\"")), "{error}");
    }
}
