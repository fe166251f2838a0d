//! README's "From Rust": its lines, in a function whose only error is the library's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dissensus::Scores;

#[rustfmt::skip]
fn from_rust() -> Result<Scores, dissensus::Error> {
// README
use dissensus::engine::{Cpu, Model};
use dissensus::{FitOptions, RunPlan, ScoreOptions, fit, read_inputs, read_votes, score};

let votes = read_votes("votes.csv".as_ref(), &Default::default())?;
let inputs = read_inputs("features.csv".as_ref(), &Default::default(), &Default::default())?;
let plan = RunPlan::new("sls")?.model(Model::named("mlp")?).epochs(20);
let trained = fit(&votes, &inputs, &plan, &Cpu, &FitOptions::default())?;
let predictions = trained.test_predictions().to_predictions("sls");
let scores = score(&votes, &predictions, &ScoreOptions::default())?;
// README
Ok(scores)
}

#[test]
fn it_is_what_the_readme_says() {
    let readme = include_str!("../../../README.md");
    let section = readme.split("### From Rust").nth(1).unwrap();
    let shown = section.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    let here = include_str!("from_rust.rs").split("// README\n").nth(1).unwrap();
    assert_eq!(shown, here);
}

#[test]
fn it_trains_and_scores() {
    let folder = tempfile::tempdir().unwrap();
    let (mut votes, mut features) = ("item,annotator,label\n".to_owned(), "id,x,y\n".to_owned());
    for item in 0..30 {
        for who in 0..5 {
            let label = if (item + usize::from(who == 0)) % 2 == 0 { "cat" } else { "dog" };
            votes += &format!("{item},{who},{label}\n");
        }
        features += &format!("{item},{}.0,0.5\n", item % 2);
    }
    std::env::set_current_dir(&folder).unwrap();
    let missing = from_rust().unwrap_err();
    assert!(missing.to_string().starts_with("votes.csv: "), "{missing}");
    std::fs::write("votes.csv", votes).unwrap();
    std::fs::write("features.csv", features).unwrap();
    let nll = from_rust().unwrap().metric("soft_nll").and_then(|score| score.value).unwrap();
    // The entropy of four votes of five is 0.500, and half of the items for either class gives 0.693.
    assert!((0.49..0.65).contains(&nll), "{nll}");
}
