//! Distribution functions against scipy 1.17.1, or whole numbers and closed forms where those know
//! better: `reference/stats/special.py`.

use dissensus_stats::special::{
    half_binomial_lower, normal_cdf, normal_quantile, t_quantile_upper, t_sf,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    of: String,
    x: f64,
    #[serde(default)]
    df: f64,
    value: f64,
}

#[test]
fn as_the_reference_to_1e_12_relative() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("golden/special.json")).unwrap();
    for Case { of, x, df, value } in cases {
        let ours = match of.as_str() {
            "normal_cdf" => normal_cdf(x),
            "normal_quantile" => normal_quantile(x),
            "t_sf" => t_sf(x, df),
            "t_quantile_upper" => t_quantile_upper(x, df),
            "half_binomial_lower" => half_binomial_lower(x as u64, df as u64),
            other => panic!("{other}"),
        };
        let error = if value == 0.0 { ours.abs() } else { (ours / value - 1.0).abs() };
        assert!(error < 1e-12, "{of}({x}, {df}): {ours}, expected {value}, off by {error:.1e}");
    }
}
