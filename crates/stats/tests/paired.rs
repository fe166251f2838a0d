//! Paired t test, its interval and the sign test against scipy 1.17.1: `reference/stats/paired.py`.

use dissensus_stats::Alternative;
use dissensus_stats::effect::mean_difference;
use dissensus_stats::paired::{paired_t, sign_test};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    d: Vec<f64>,
    alternative: Alternative,
    t: f64,
    p: f64,
    low: f64,
    high: f64,
    sign_p: f64,
}

#[test]
fn as_scipy_to_1e_12() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("golden/paired.json")).unwrap();
    for case in cases {
        let near = |ours: Option<f64>, theirs: f64, what| {
            let error = (ours.unwrap() - theirs).abs() / theirs.abs();
            assert!(error < 1e-12, "{what} at n = {}: {ours:?}, scipy {theirs}", case.d.len());
        };
        let ours = paired_t(&case.d, case.alternative).unwrap();
        near(ours.t, case.t, "t");
        near(ours.p, case.p, "p");
        let interval = mean_difference(&case.d, 0.95).unwrap();
        near(interval.low, case.low, "low");
        near(interval.high, case.high, "high");
        near(sign_test(&case.d, case.alternative).unwrap().p, case.sign_p, "sign test");
    }
}
