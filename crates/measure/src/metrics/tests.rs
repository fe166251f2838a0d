use super::*;
use crate::testing::{self, K, judge};
use crate::{Direction, Matrix, ModelOutput, Targets, Truth};

fn value(judged: &Judged, name: &str) -> Value {
    let scorer = Scorer::new(judged, Settings::default()).unwrap();
    (metric(name).unwrap().compute)(&scorer)
}

/// reference/measure/metrics.py (numpy 2.4.6, scipy 1.17.1, relplot 1.0.3), `metrics()`:
///
/// ```python
/// z, counts = logits(), votes()
/// p = counts / counts.sum(1, keepdims=True)
/// q, ln_q = softmax(z, axis=1), log_softmax(z, axis=1)
/// print(metrics(p, q, ln_q, given()))
/// ```
#[test]
fn as_numpy_scipy_and_relplot() {
    let scores = score_all(&testing::judged(), Settings::default()).unwrap();
    for ours in &scores {
        let name = ours.metric;
        let theirs = golden(name);
        let found = ours.value.value.unwrap_or_else(|| panic!("{name}: undefined"));
        let tolerance = if name.starts_with("smooth") { 1e-13 } else { 1e-14 };
        assert!((found - theirs).abs() < tolerance, "{name}: {found} {theirs}");
    }
}

/// The golden value of a metric.
fn golden(name: &str) -> f64 {
    let Some((_, value)) = GOLDEN.iter().find(|(known, _)| *known == name) else {
        panic!(
            "{name}: no golden value; add the metric to reference/measure/metrics.py and what it prints \
             to GOLDEN in {}",
            file!()
        )
    };
    *value
}

/// ```python
/// clip = np.maximum(q, 0.01)
/// print(-(p * np.log(clip)).sum(1).mean(), rel_entr(p, clip).sum(1).mean())
/// ```
#[test]
fn clipped_as_numpy() {
    let settings = Settings { clip: Some(0.01), ..Default::default() };
    let scores = score_all(&testing::judged(), settings).unwrap();
    for (ours, theirs) in scores.iter().zip([1.4153639837462186, 0.6269770390457493]) {
        assert!((ours.value.value.unwrap() - theirs).abs() < 1e-14, "{ours:?}");
    }
}

#[test]
fn the_list_is_complete() {
    crate::about::assert_complete(METRICS.iter().map(|metric| &metric.about));
    let all = METRICS.iter().map(|metric| &metric.about);
    let scores = crate::ood::SCORES.iter().map(|score| &score.about);
    let figures = crate::ood::FIGURES.iter().map(|figure| &figure.about);
    crate::about::assert_complete(all.chain(scores).chain(figures));
    for metric in METRICS {
        assert_ne!(metric.about.direction, Direction::HigherIsOut);
        let text = crate::explain(metric.about.name).unwrap();
        assert!(text.contains(metric.about.title) && text.contains("per item"), "{text}");
    }
    assert!(crate::explain("knn").unwrap().contains("higher = more out-of-distribution"));
    assert_eq!(crate::explain("nothing"), None);
    assert_eq!(nearest_metrics("soft_nl")[0], "soft_nll");
}

/// What a calibration error is against stands in its title and at the head of its column.
#[test]
fn calibration_errors_name_their_target() {
    for about in METRICS.iter().map(|metric| metric.about).filter(|a| a.name.contains("ece")) {
        let votes = about.name.ends_with("_human");
        let (title, short) = match votes {
            true => ("against the votes", "(votes)"),
            false => ("against the majority label", "(majority)"),
        };
        assert!(about.title.ends_with(title) && about.short.ends_with(short), "{about:?}");
        let beside = format!("{}_human", about.name);
        assert!(votes || metric(&beside).is_some(), "{beside}");
    }
}

#[test]
fn a_metric_with_items_is_their_mean() {
    let judged = testing::judged();
    for clip in [None, Some(0.01)] {
        let scorer = Scorer::new(&judged, Settings { clip, bins: 15 }).unwrap();
        for metric in METRICS {
            let Some(per_item) = metric.per_item else { continue };
            let column = per_item(&scorer).unwrap();
            assert_eq!(column.len(), judged.len());
            let mean = column.iter().sum::<f64>() / column.len() as f64;
            let whole = (metric.compute)(&scorer).value.unwrap();
            assert!((mean - whole).abs() < 1e-13, "{}", metric.about.name);
        }
    }
}

#[test]
fn values_of_an_interval_have_the_metric_as_their_mean() {
    let judged = testing::judged();
    for clip in [None, Some(0.01)] {
        let scorer = Scorer::new(&judged, Settings { clip, bins: 15 }).unwrap();
        for metric in METRICS {
            let name = metric.about.name;
            let whole = (metric.compute)(&scorer).value.unwrap();
            match metric.interval {
                Interval::Mean => assert!(metric.per_item.is_some(), "{name}"),
                Interval::Unknown(why) => {
                    assert!(metric.per_item.is_none() && !why.is_empty(), "{name}")
                }
                Interval::Linear { values, scale } => {
                    let values = values(&scorer).unwrap();
                    assert_eq!(values.len(), judged.len());
                    let mean = values.iter().sum::<f64>() / values.len() as f64;
                    assert!((mean - whole).abs() < 1e-7 * whole.abs(), "{name}: {mean} {whole}");
                    let scaled = scale.apply(whole, &values);
                    let back = scale.back(scaled.iter().sum::<f64>() / scaled.len() as f64);
                    assert!((back - whole).abs() < 1e-6 * whole.abs(), "{name}: {back} {whole}");
                }
            }
        }
    }
}

#[test]
fn infinite_is_said_and_clipped() {
    let truth =
        Truth::new(Targets::Counts(Matrix::new(&[1.0, 1.0, 0.0, 2.0, 3.0, 0.0][..], 2).unwrap()));
    let rows = [0.5, 0.5, 1.0, 0.0, 0.0, 1.0];
    let predictions = ModelOutput::Probabilities(Matrix::new(&rows[..], 2).unwrap());
    let judged = Judged::new(truth.unwrap().into(), predictions).unwrap();
    for name in ["soft_nll", "kl"] {
        let found = value(&judged, name);
        assert_eq!(found.value, Some(f64::INFINITY));
        assert_eq!(found.note, Some(Note::Infinite { items: 2, first: 1 }));
    }
    let settings = Settings { clip: Some(1e-3), ..Default::default() };
    let clipped = score_all(&judged, settings).unwrap();
    assert!(
        (clipped[0].value.value.unwrap() + (0.5f64.ln() + 2.0 * 1e-3f64.ln()) / 3.0).abs() < 1e-14
    );
    assert!(
        clipped
            .iter()
            .filter(|score| score.metric != "accuracy_given")
            .all(|score| score.value.note.is_none())
    );
}

#[test]
fn predictions_that_are_the_votes_are_perfect() {
    let votes = testing::votes();
    let p = Truth::new(Targets::Counts(Matrix::new(&votes, K).unwrap())).unwrap();
    let rows = p.targets().to_vec();
    let predictions = ModelOutput::Probabilities(Matrix::new(&rows, K).unwrap());
    let judged = Judged::new(p.into(), predictions).unwrap();
    for name in ["kl", "soft_brier", "js_distance", "total_variation", "entropy_error"] {
        assert_eq!(value(&judged, name).value, Some(0.0), "{name}");
    }
    for name in ["ece_mass_human", "ece_width_human", "smooth_ece_human", "brier_reliability"] {
        assert!(value(&judged, name).value.unwrap() < 1e-15, "{name}");
    }
    assert_eq!(value(&judged, "entropy_spearman").value, Some(1.0));
    assert_eq!(value(&judged, "accuracy").value, Some(1.0));
}

/// Logits that are all equal say ln K − H.
#[test]
fn a_uniform_guess_is_as_theory_says() {
    let judged = judge(&testing::votes(), &vec![1.0; testing::N * K], K, None);
    let nll = value(&judged, "soft_nll").value.unwrap();
    assert!((nll - (K as f64).ln()).abs() < 1e-14);
    let entropy: f64 = judged.truth().entropy().iter().sum::<f64>() / testing::N as f64;
    let kl = value(&judged, "kl").value.unwrap();
    assert!((kl - ((K as f64).ln() - entropy)).abs() < 1e-14);
    for name in ["entropy_spearman", "entropy_pearson"] {
        let found = value(&judged, name);
        assert_eq!((found.value, found.note), (None, Some(Note::NoVariation)));
    }
    assert_eq!(value(&judged, "accuracy_given").note, Some(Note::NoGivenLabels));
}

#[test]
fn nothing_one_item_and_one_class() {
    let nothing = judge(&[], &[], 3, Some(&[]));
    for score in score_all(&nothing, Settings::default()).unwrap() {
        assert_eq!((score.value.value, score.value.note), (None, Some(Note::NoItems)), "{score:?}");
    }
    let one_item = judge(&[1.0, 2.0], &[0.0, 0.5], 2, Some(&[1]));
    let one_class = judge(&[1.0, 2.0, 3.0], &[0.0, 0.5, 9.0], 1, Some(&[0; 3]));
    for judged in [one_item, one_class] {
        for score in score_all(&judged, Settings::default()).unwrap() {
            let correlation = score.metric.ends_with("man") && !score.metric.ends_with("human");
            let undefined = correlation || score.metric == "entropy_pearson";
            assert_eq!(score.value.value.is_none(), undefined, "{score:?}");
            assert!(score.value.value.is_none_or(f64::is_finite), "{score:?}");
        }
    }
}

const GOLDEN: [(&str, f64); 29] = [
    ("soft_nll", 1.416541848400136),
    ("kl", 0.6281549036996668),
    ("soft_brier", 0.22979493603588808),
    ("js_distance", 0.3776812258276543),
    ("total_variation", 0.3939351956829871),
    ("hard_nll", 1.181164257394745),
    ("accuracy", 0.5016666666666667),
    ("accuracy_given", 0.44333333333333336),
    ("ece_mass", 0.09304277204347282),
    ("ece_mass_human", 0.14752873062238753),
    ("ece_mass_debiased", 0.07957204139434013),
    ("ece_mass_debiased_human", 0.14738063985372005),
    ("ece_width", 0.08805899089595669),
    ("ece_width_human", 0.14752873062238755),
    ("ece_width_debiased", 0.07905632941204259),
    ("ece_width_debiased_human", 0.14719621627621524),
    ("smooth_ece", 0.08340109640601176),
    ("smooth_ece_human", 0.14751818401859035),
    ("classwise_ece", 0.05181866243974392),
    ("classwise_ece_human", 0.06361439726018568),
    ("temperature", 1.6334267141968182),
    ("soft_nll_tempered", 1.343174541635279),
    ("entropy_spearman", 0.1990993033424483),
    ("entropy_pearson", 0.2816741578145447),
    ("entropy_error", 0.3957078671129574),
    ("brier_reliability", 0.0337624145329406),
    ("brier_resolution", 0.12075068496619489),
    ("brier_uncertainty", 0.319313146594644),
    ("brier_within", -0.0025299401255016126),
];
