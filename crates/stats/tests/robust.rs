//! Whatever is given, nothing panics, and no result holds a NaN or an infinity.

use std::fmt::Debug;

use dissensus_stats::adjust::Correction;
use dissensus_stats::bootstrap::{
    BootstrapSettings, IntervalMethod, Plan, bootstrap, bootstrap_mean,
};
use dissensus_stats::correlation::{Correlation, CorrelationMethod, CorrelationSettings};
use dissensus_stats::effect::{cohen_dz, mean_difference, rank_biserial};
use dissensus_stats::paired::{
    PairedTest, WilcoxonMethod, WilcoxonSettings, ZeroMethod, differences, wilcoxon,
};
use dissensus_stats::smallest::SmallestP;
use dissensus_stats::unpaired::{Sample, welch};
use dissensus_stats::{Alternative, StatsError, describe, special};
use proptest::prelude::*;

fn sound<T: Debug>(result: Result<T, StatsError>) {
    if let Ok(result) = result {
        let text = format!("{result:?}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}

/// Values as people send them, and values that they should not.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -10.0..10.0,
        4 => (-3i8..3).prop_map(f64::from),
        2 => any::<f64>(),
        1 => Just(f64::MAX),
        1 => Just(f64::MIN),
        1 => Just(f64::MIN_POSITIVE),
        1 => Just(5e-324),
    ]
}

fn tests_of_one(x: &[f64], setting: f64) {
    for alternative in Alternative::ALL {
        for test in PairedTest::ALL {
            sound(test.run(x, alternative));
            sound(SmallestP::of_differences(test, alternative, x).map(|s| s.map(|s| s.note(0.05))));
        }
        for (zeros, continuity) in ZeroMethod::ALL.into_iter().flat_map(|z| [(z, true), (z, false)])
        {
            for method in [WilcoxonMethod::Auto, WilcoxonMethod::Exact, WilcoxonMethod::Normal] {
                for resolution in [None, Some(setting)] {
                    let settings =
                        WilcoxonSettings { alternative, zeros, method, continuity, resolution };
                    // The settings carry what was asked, sound or not.
                    sound(wilcoxon(x, &settings).map(|r| (r.w_plus, r.w_minus, r.z, r.p)));
                }
            }
        }
    }
    sound(cohen_dz(x));
    ZeroMethod::ALL.into_iter().for_each(|zeros| sound(rank_biserial(x, zeros)));
    sound(mean_difference(x, 0.95));
    sound(mean_difference(x, setting));
}

proptest! {
    #[test]
    fn one_sample(x in prop::collection::vec(value(), 0..12), setting in value()) {
        tests_of_one(&x, setting);
        sound(describe::mean(&x));
        sound(describe::sd(&x));
        sound(describe::median(&x));
        sound(describe::quantiles(&x, &[0.3, setting]));
        for correction in [Correction::Holm, Correction::BenjaminiHochberg] {
            sound(correction.adjust(&x.iter().map(|v| Some(*v)).collect::<Vec<_>>()));
        }
        for method in [IntervalMethod::Bca, IntervalMethod::Percentile] {
            let settings = BootstrapSettings { replicates: 20, method, ..Default::default() };
            sound(bootstrap_mean(&x, &settings));
            sound(bootstrap_mean(&x, &BootstrapSettings { confidence: setting, ..settings }));
            let n = x.len();
            let groups = vec![n / 2, n - n / 2];
            let statistic = |rows: &[usize]| rows.iter().map(|&row| x[row]).reduce(f64::max);
            for plan in [Plan::Rows { n }, Plan::Nested { groups }, Plan::Crossed { rows: 1, columns: n }] {
                sound(bootstrap(&plan, statistic, &settings));
            }
        }
    }

    #[test]
    fn two_samples(pairs in prop::collection::vec((value(), value()), 0..7), more: bool) {
        let (mut x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        x.extend(more.then_some(1.0));
        sound(differences(&x, &y));
        let sample = |v: &[f64]| Some(Sample { n: v.len() / 2, mean: *v.first()?, sd: *v.last()? });
        if let (Some(left), Some(right)) = (sample(&x), sample(&y)) {
            Alternative::ALL.into_iter().for_each(|side| sound(welch(left, right, side)));
        }
        for correlation in Correlation::ALL {
            for method in [CorrelationMethod::T, CorrelationMethod::Exact] {
                let settings = CorrelationSettings { method, ..Default::default() };
                sound(correlation.run(&x, &y, &settings));
            }
        }
    }

    #[test]
    fn distribution_functions(x in any::<f64>(), df in any::<f64>(), k: u32, n: u32) {
        let _ = (special::t_quantile_upper(x, df), special::normal_quantile(x));
        prop_assert!(!(0.0..=1.0).contains(&x) || !special::normal_quantile(x).is_nan());
        for p in [special::t_sf(x, df), special::normal_cdf(x), special::normal_sf(x)] {
            prop_assert!(p.is_nan() || (0.0..=1.0).contains(&p), "{} {}: {}", x, df, p);
        }
        let p = special::half_binomial_lower(u64::from(k), u64::from(n));
        prop_assert!((0.0..=1.0).contains(&p));
    }
}
