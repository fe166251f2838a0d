//! One error type: every error that a user of the library can meet converts into it, so that `?` works, and the
//! README's example needs no other.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dissensus::Error;

/// Checks at compile time that each converts; gives the names.
macro_rules! converting {
    ($($($path:ident)::+),* $(,)?) => {{
        fn converts<E: Into<Error>>() {}
        $(converts::<dissensus::$($path)::+>();)*
        [$(stringify!($($path)::+)),*]
    }};
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file of Rust below a folder.
fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_error_converts() {
    let converting = converting![
        core::AppendError,
        core::BuildError,
        core::ClassError,
        core::CountsError,
        core::DistributionError,
        core::MatchError,
        core::ScaleError,
        core::TableError,
        data::Error,
        data::blends::OutOfRange,
        data::blends::VotesPerItemError,
        embed::CacheError,
        embed::EmbedError,
        embed::endpoint::EndpointError,
        embed::onnx::RuntimeError,
        engine::EngineError,
        examine::ExamineError,
        geometry::GeometryError,
        inputs::InputError,
        io::FileError,
        io::http::HttpError,
        io::ReadError,
        labels::LabelError,
        measure::MeasureError,
        predictions::AlignError,
        predictions::JoinError,
        predictions::LogitsError,
        predictions::PredictionError,
        remote::RemoteError,
        sources::SourceError,
        report::ReportError,
        report::page::PageError,
        stats::StatsError,
        store::StoreError,
        studies::StudyError,
        train::ConfigError,
        train::DeviceError,
        train::SplitError,
        train::TrainError,
        votes::write::WriteError,
        cluster::ClusterError,
        ScoreError,
    ];
    let last = |path: &str| path.rsplit("::").next().unwrap().trim().to_owned();
    let converting: BTreeSet<String> = converting.into_iter().map(last).collect();
    let mut texts = Vec::new();
    for crate_ in std::fs::read_dir(root().join("crates")).unwrap() {
        sources(&crate_.unwrap().path().join("src"), &mut texts);
    }
    let mut declared = BTreeSet::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let name = line.strip_prefix("pub enum ").or_else(|| line.strip_prefix("pub struct "));
        let name = name.map_or("", |rest| rest.split([' ', '<', '(', ';']).next().unwrap());
        if name.ends_with("Error") {
            declared.insert(name.to_owned());
        }
    }
    assert!(declared.len() > 30, "{declared:?}");
    let missing: Vec<_> = declared.difference(&converting).collect();
    assert!(missing.is_empty(), "without a conversion into dissensus::Error: {missing:?}");
}

/// The text between two lines.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

fn readme() -> Result<(), Error> {
    // README
    use dissensus::engine::{Cpu, Model};
    use dissensus::{FitOptions, RunPlan, ScoreOptions, fit, read_inputs, read_votes, score};

    let votes = read_votes("votes.csv".as_ref(), &Default::default())?;
    let inputs = read_inputs("features.csv".as_ref(), &Default::default(), &Default::default())?;
    let plan = RunPlan::new("sls")?.model(Model::named("mlp")?).epochs(20);
    let trained = fit(&votes, &inputs, &plan, &Cpu, &FitOptions::default())?;
    let predictions = trained.test_predictions().to_predictions("sls");
    let scores = score(&votes, &predictions, &ScoreOptions::default())?;
    // END
    let nll = scores.metric("soft_nll").and_then(|score| score.value);
    assert!(nll.is_some_and(|nll| nll < 0.7), "{nll:?}");
    assert_eq!(trained.joined.items.len(), 20);
    let model = trained.into_model()?;
    assert_eq!(model.classes, ["cat", "dog"]);
    Ok(())
}

#[test]
fn the_example_of_the_readme_runs_with_one_error() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let shown = between(between(&text, "### From Rust\n", "\n## "), "```rust\n", "```");
    let run = between(include_str!("errors.rs"), "    // README\n", "    // END\n");
    assert_eq!(run.replace("\n    ", "\n").trim_start(), shown);

    let folder = tempfile::tempdir().unwrap();
    let (mut votes, mut features) = ("item,annotator,label\n".to_owned(), "id,x,y\n".to_owned());
    for item in 0..20 {
        for who in 0..5 {
            let label = if (item + usize::from(who == 0)) % 2 == 0 { "cat" } else { "dog" };
            votes += &format!("{item},{who},{label}\n");
        }
        features += &format!("{item},{}.0,0.5\n", item % 2);
    }
    std::fs::write(folder.path().join("votes.csv"), votes).unwrap();
    std::fs::write(folder.path().join("features.csv"), features).unwrap();
    // The only test of this file that reads a relative path.
    std::env::set_current_dir(folder.path()).unwrap();
    readme().unwrap();
}
