//! Correlations against scipy 1.17.1: `reference/stats/correlation.py`.

use dissensus_stats::Alternative;
use dissensus_stats::correlation::{Correlation, CorrelationMethod, CorrelationSettings};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    correlation: Correlation,
    x: Vec<f64>,
    y: Vec<f64>,
    method: CorrelationMethod,
    alternative: Alternative,
    r: f64,
    p: f64,
}

#[test]
fn as_scipy_to_1e_12() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("golden/correlation.json")).unwrap();
    for case in cases {
        let Case { method, alternative, .. } = case;
        let settings = CorrelationSettings { alternative, method };
        let ours = case.correlation.run(&case.x, &case.y, &settings).unwrap();
        let (r, p) = (ours.r.unwrap(), ours.p.unwrap());
        let what = format!("{:?} {settings:?} n = {}", case.correlation, ours.n);
        assert!((r - case.r).abs() < 1e-14, "{what}: r {r}, scipy {}", case.r);
        // An ulp of r is 1/(1 − r²) ulps of 1 − r², which p is a power of.
        let slack = 1e-12 + 1e-15 * ours.n as f64 / (1.0 - r * r);
        // On a line (r = ±1) both say 0 or 1.
        let same = p == case.p || (p / case.p - 1.0).abs() < slack;
        assert!(same, "{what}: p {p}, scipy {}", case.p);
    }
}
