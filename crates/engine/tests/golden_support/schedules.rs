//! The rates of the schedules (`reference/engine/schedules.py`).

use dissensus_engine::{Rates, Schedule};
use serde_json::Value;

use super::FOLDER;

pub(crate) fn all() {
    let text = std::fs::read_to_string(format!("{FOLDER}/schedules.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let (mut cosines, mut plateaus) = (0, 0);
    // The first says which versions made the others.
    for case in &cases[1..] {
        match case["schedule"].as_str() {
            Some("cosine") => (cosine(case), cosines += 1).1,
            Some("plateau") => (plateau(case), plateaus += 1).1,
            other => panic!("no test of {other:?}"),
        }
    }
    assert!(cosines > 0 && plateaus > 0, "{cosines} cosines, {plateaus} plateaus");
}

fn number(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap_or_else(|| panic!("no number {key}"))
}

fn numbers(case: &Value, key: &str) -> Vec<f64> {
    case[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

/// Ours ends at 0; a least rate is added to a cosine of what lies above it.
fn cosine(case: &Value) {
    let (start, least) = (number(case, "start"), number(case, "least"));
    let mut golden = numbers(case, "rates");
    golden.push(number(case, "rate_at_the_end"));
    let epochs = case["epochs"].as_u64().unwrap();
    assert_eq!(golden.len() as u64, epochs + 1);
    let rates = Rates::new(Schedule::Cosine, start - least, epochs);
    for (epoch, golden) in golden.into_iter().enumerate() {
        let ours = least + rates.rate(epoch as u64);
        assert!((ours - golden).abs() <= 1e-15 * start, "epoch {epoch}: {ours}, not {golden}");
    }
}

/// Halving rounds nothing: the same numbers.
fn plateau(case: &Value) {
    assert_eq!(case["threshold_mode"], "rel");
    let (losses, golden) = (numbers(case, "losses"), numbers(case, "rates_after"));
    assert_eq!(losses.len(), golden.len());
    let schedule = Schedule::Plateau {
        factor: number(case, "factor"),
        patience: case["patience"].as_u64().unwrap(),
        threshold: number(case, "threshold"),
        minimum: 0.0,
    };
    let mut rates = Rates::new(schedule, number(case, "start"), losses.len() as u64);
    assert_eq!(rates.rate(0), number(case, "start"));
    for (epoch, (loss, golden)) in losses.into_iter().zip(golden).enumerate() {
        rates.watch(loss);
        assert_eq!(rates.rate(epoch as u64 + 1), golden, "after epoch {epoch}");
    }
}
