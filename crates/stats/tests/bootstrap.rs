//! Bootstrap intervals: against scipy 1.17.1 over the same draws (`reference/stats/bootstrap.py`),
//! their coverage, and their freedom from threads.

use dissensus_core::philox::Stream;
use dissensus_stats::bootstrap::{
    BootstrapResult, BootstrapSettings, IntervalMethod, Plan, bootstrap, bootstrap_mean,
};
use dissensus_stats::{StatsError, Undefined, describe};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    x: Vec<f64>,
    plan: Plan,
    statistic: String,
    method: IntervalMethod,
    confidence: f64,
    seed: u64,
    stream: u64,
    replicates: usize,
    estimate: f64,
    low: Option<f64>,
    high: Option<f64>,
    standard_error: f64,
}

#[test]
fn as_scipy_to_1e_12() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("golden/bootstrap.json")).unwrap();
    for case in cases {
        let Case { replicates, confidence, method, seed, stream, .. } = case;
        let settings = BootstrapSettings { replicates, confidence, method, seed, stream };
        let statistic = |rows: &[usize]| {
            let drawn: Vec<f64> = rows.iter().map(|&row| case.x[row]).collect();
            match case.statistic.as_str() {
                "mean" => describe::mean(&drawn).ok(),
                "median" => describe::median(&drawn).ok(),
                _ => describe::sd(&drawn).ok().flatten(),
            }
        };
        let near = |ours: Option<f64>, theirs: Option<f64>| match (ours, theirs) {
            (Some(ours), Some(theirs)) => (ours - theirs).abs() < 1e-12 * theirs.abs().max(1.0),
            (ours, theirs) => ours.is_none() && theirs.is_none(),
        };
        let check = |ours: &BootstrapResult| {
            assert!(near(ours.estimate, Some(case.estimate)));
            assert!(near(ours.standard_error, Some(case.standard_error)));
            let theirs = (case.low, case.high);
            assert!(near(ours.low, case.low) && near(ours.high, case.high), "{ours:?} {theirs:?}");
        };
        check(&bootstrap(&case.plan, statistic, &settings).unwrap());
        if matches!(case.plan, Plan::Rows { .. }) && case.statistic == "mean" {
            check(&bootstrap_mean(&case.x, &settings).unwrap());
        }
    }
}

fn settings(method: IntervalMethod, replicates: usize, seed: u64) -> BootstrapSettings {
    BootstrapSettings { method, replicates, seed, ..Default::default() }
}

fn exponential(seed: u64, set: u64, n: usize) -> Vec<f64> {
    let mut stream = Stream::new([seed, 77], [set, 0, 0]);
    (0..n).map(|_| -(1.0 - stream.unit()).ln()).collect()
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let values = exponential(1, 0, 50);
    let median = |rows: &[usize]| {
        describe::median(&rows.iter().map(|&row| values[row]).collect::<Vec<_>>()).ok()
    };
    let run = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let settings = settings(IntervalMethod::Bca, 500, seed);
        pool.install(|| {
            let plan = Plan::Rows { n: values.len() };
            (bootstrap(&plan, median, &settings), bootstrap_mean(&values, &settings))
        })
    };
    assert_eq!(run(1, 3), run(5, 3));
    assert_ne!(run(1, 3), run(1, 4));
}

/// n = 60 draws of an exponential with mean 1, N = 800 times. BCa's one-sided errors are of order
/// 1/n, the percentile interval's of order 1/√n, and its misses gather on the side of the tail:
/// intervals that end below the true mean. Monte Carlo adds 4 √(0.025 · 0.975 / N) ≈ 0.022.
#[test]
fn bca_covers_a_skewed_mean_from_both_sides() {
    let (n, sets) = (60, 800);
    let misses = |method| {
        let (mut below, mut above) = (0, 0);
        for set in 0..sets {
            let values = exponential(5, set, n);
            let result = bootstrap_mean(&values, &settings(method, 300, set)).unwrap();
            below += u32::from(result.high.unwrap() < 1.0);
            above += u32::from(result.low.unwrap() > 1.0);
        }
        (f64::from(below) / sets as f64, f64::from(above) / sets as f64)
    };
    let slack = 1.0 / n as f64 + 4.0 * (0.025 * 0.975 / sets as f64).sqrt();
    let (below, above) = misses(IntervalMethod::Bca);
    assert!((below - 0.025).abs() < slack && (above - 0.025).abs() < slack, "{below} {above}");
    let (percentile_below, percentile_above) = misses(IntervalMethod::Percentile);
    assert!(below - above < percentile_below - percentile_above, "{below} {above}");
}

/// Values that share a part by seed: drawing single rows takes them for independent, and its
/// interval is too narrow. The variance of the mean of g seeds of m items with spreads s and 1 is
/// (s² + 1/m) / g; nested drawing has it to about (s² + 2/m) (g − 1)/g².
#[test]
fn nested_drawing_sees_the_spread_of_groups() {
    let (groups, items) = (20, 10);
    let mut stream = Stream::new([8, 0], [0; 3]);
    let values: Vec<f64> = (0..groups)
        .flat_map(|_| {
            let shared = 2.0 * stream.normal();
            (0..items).map(|_| shared + stream.normal()).collect::<Vec<_>>()
        })
        .collect();
    let mean =
        |rows: &[usize]| Some(rows.iter().map(|&r| values[r]).sum::<f64>() / rows.len() as f64);
    let settings = settings(IntervalMethod::Percentile, 2000, 1);
    let error = |plan: &Plan| bootstrap(plan, mean, &settings).unwrap().standard_error.unwrap();
    let nested = error(&Plan::Nested { groups: vec![items; groups] });
    let expected = ((4.0 + 1.0 / items as f64) / groups as f64).sqrt();
    // The sd of 20 values is itself known to about 1/√(2 · 19) = 16%; 3 of these.
    assert!((nested / expected - 1.0).abs() < 0.48, "{nested} {expected}");
    assert!(error(&Plan::Rows { n: groups * items }) < 0.6 * nested);
    assert!(error(&Plan::Crossed { rows: groups, columns: items }) > 0.9 * nested);
}

#[test]
fn equal_values_give_a_point_and_say_so() {
    for method in [IntervalMethod::Bca, IntervalMethod::Percentile] {
        let settings = settings(method, 50, 0);
        let fast = bootstrap_mean(&[0.1; 7], &settings).unwrap();
        let mean = |rows: &[usize]| Some(rows.iter().map(|_| 0.1).sum::<f64>() / rows.len() as f64);
        let slow = bootstrap(&Plan::Rows { n: 7 }, mean, &settings).unwrap();
        for result in [fast, slow] {
            assert!(result.degenerate && result.undefined.is_none());
            assert_eq!((result.low, result.high), (result.estimate, result.estimate));
        }
    }
}

#[test]
fn undefined_intervals_say_why() {
    let rows = Plan::Rows { n: 6 };
    let bca = settings(IntervalMethod::Bca, 200, 0);
    let run = |statistic: &(dyn Fn(&[usize]) -> Option<f64> + Sync)| {
        let result = bootstrap(&rows, statistic, &bca).unwrap();
        assert_eq!((result.low, result.high), (None, None));
        result.undefined
    };
    let first = |rows: &[usize]| rows.first().map(|&row| row as f64);
    assert_eq!(run(&|_| None), Some(Undefined::Statistic));
    assert_eq!(run(&|_| Some(f64::NAN)), Some(Undefined::Statistic));
    let whole = |rows: &[usize]| rows.iter().enumerate().all(|(i, &row)| i == row);
    assert_eq!(run(&|rows| whole(rows).then_some(1.0)), Some(Undefined::Replicates));
    // The largest value: every replicate is at most the estimate, here by a hair below it.
    let strict = |rows: &[usize]| Some(if whole(rows) { 9.0 } else { first(rows)? });
    assert_eq!(run(&strict), Some(Undefined::OneSided));
    // Defined on six rows, not on five.
    assert_eq!(
        run(&|rows| (rows.len() == 6).then(|| first(rows))?.map(|x| (x - 0.5).abs())),
        Some(Undefined::Jackknife)
    );
    let one = bootstrap_mean(&[1.0], &bca).unwrap();
    assert_eq!((one.estimate, one.low), (Some(1.0), None));
    assert_eq!(one.undefined, Some(Undefined::TooFew { n: 1, needed: 2 }));
}

#[test]
fn some_undefined_replicates_are_counted() {
    let distinct = |rows: &[usize]| {
        let mut seen = rows.to_vec();
        seen.sort_unstable();
        seen.dedup();
        // A statistic that needs two different rows.
        (seen.len() > 1).then_some(rows.iter().sum::<usize>() as f64)
    };
    let settings = settings(IntervalMethod::Percentile, 1000, 0);
    let result = bootstrap(&Plan::Rows { n: 3 }, distinct, &settings).unwrap();
    // 3 of the 27 draws are of one row: 111 of 1000, sd 10.
    assert!((70..150).contains(&result.undefined_replicates), "{result:?}");
    assert!(result.low.is_some());
}

#[test]
fn bad_settings_and_values_are_refused() {
    let with = |change: &dyn Fn(&mut BootstrapSettings)| {
        let mut settings = BootstrapSettings::default();
        change(&mut settings);
        bootstrap_mean(&[1.0, 2.0], &settings)
    };
    let setting = |result, wanted: &str| {
        assert!(matches!(result, Err(StatsError::Setting { name, .. }) if name == wanted));
    };
    setting(with(&|s| s.replicates = 1), "replicates");
    setting(with(&|s| s.confidence = 1.0), "confidence");
    setting(with(&|s| s.confidence = f64::NAN), "confidence");
    let infinite = bootstrap_mean(&[1.0, f64::INFINITY], &BootstrapSettings::default());
    assert!(matches!(infinite, Err(StatsError::NotFinite { index: 1, .. })));
    let huge = bootstrap_mean(&[f64::MAX, -f64::MAX, 1.0], &settings(IntervalMethod::Bca, 100, 0));
    assert!(huge.is_ok());
}
