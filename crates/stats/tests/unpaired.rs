//! Welch's t test against scipy 1.17.1: `reference/stats/unpaired.py`.

use dissensus_stats::Alternative;
use dissensus_stats::unpaired::{Sample, welch};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    left: (usize, f64, f64),
    right: (usize, f64, f64),
    alternative: Alternative,
    t: f64,
    p: f64,
}

#[test]
fn as_scipy_to_1e_12() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("golden/unpaired.json")).unwrap();
    for case in cases {
        let sample = |(n, mean, sd): (usize, f64, f64)| Sample { n, mean, sd };
        let ours = welch(sample(case.left), sample(case.right), case.alternative).unwrap();
        let near = |ours: Option<f64>, theirs: f64, what| {
            let error = (ours.unwrap() - theirs).abs() / theirs.abs();
            assert!(error < 1e-12, "{what}: {ours:?}, scipy {theirs}");
        };
        near(ours.t, case.t, "t");
        near(ours.p, case.p, "p");
    }
}
