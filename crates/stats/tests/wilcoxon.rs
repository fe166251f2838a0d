//! Wilcoxon's signed-rank test against scipy 1.17.1: `reference/stats/wilcoxon.py`.

use dissensus_stats::Alternative;
use dissensus_stats::paired::{
    NullDistribution, WilcoxonMethod, WilcoxonSettings, ZeroMethod, wilcoxon,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    d: Vec<f64>,
    method: WilcoxonMethod,
    alternative: Alternative,
    zeros: ZeroMethod,
    continuity: bool,
    w_plus: f64,
    p: f64,
    z: Option<f64>,
}

#[test]
fn as_scipy_to_1e_12() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("golden/wilcoxon.json")).unwrap();
    for case in cases {
        let Case { alternative, zeros, method, continuity, .. } = case;
        let settings =
            WilcoxonSettings { alternative, zeros, method, continuity, resolution: None };
        let ours = wilcoxon(&case.d, &settings).unwrap();
        let (n, p) = (ours.n, ours.p.unwrap());
        // Small p are compared by their digits, not by their size.
        let error = (p / case.p - 1.0).abs();
        assert!(error < 1e-12, "{settings:?} n = {n}: {p}, scipy {}", case.p);
        assert_eq!(ours.w_plus, case.w_plus);
        assert_eq!(ours.null == Some(NullDistribution::Normal), method == WilcoxonMethod::Normal);
        if let Some(z) = case.z {
            // scipy reports −|z| for a two-sided test.
            let distance = (ours.z.unwrap().abs() - z.abs()).abs();
            assert!(distance < 1e-13 * z.abs().max(1.0), "{settings:?}: {:?} {z}", ours.z);
        }
    }
}

/// Five seeds, all in favour: the protocol's smallest p.
#[test]
fn five_seeds() {
    let test = |alternative| {
        let settings = WilcoxonSettings { alternative, ..Default::default() };
        wilcoxon(&[0.1, 0.2, 0.3, 0.4, 0.5], &settings).unwrap().p
    };
    assert_eq!(test(Alternative::Greater), Some(0.03125));
    assert_eq!(test(Alternative::TwoSided), Some(0.0625));
    assert_eq!(test(Alternative::Less), Some(1.0));
}

#[test]
fn settings_are_read_by_name_and_unknown_ones_refused() {
    let read = serde_json::from_str::<WilcoxonSettings>;
    let settings = read(r#"{"alternative": "less", "zeros": "pratt"}"#).unwrap();
    assert_eq!((settings.alternative, settings.zeros), (Alternative::Less, ZeroMethod::Pratt));
    assert!(read(r#"{"zero_method": "pratt"}"#).is_err());
}
