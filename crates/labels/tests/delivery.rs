//! Labels against numpy's own Philox: `reference/labels/delivery.py`. Bit for bit.

#![allow(clippy::unwrap_used)]

mod tables;

use dissensus_labels::{Delivers, Delivery, EpochBuffer, EpochTargets, Source};
use serde::Deserialize;
use tables::table;

#[derive(Deserialize)]
struct Case {
    delivery: Delivery,
    seed: u64,
    ids: Vec<String>,
    rows: Vec<Vec<f64>>,
    epochs: Vec<u64>,
    labels: Vec<Vec<u16>>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("golden/delivery.json")).unwrap()
}

#[test]
fn as_numpy() {
    for case in cases() {
        if case.delivery.entry().delivers == Delivers::Samples {
            let table = table(&case.ids, &case.rows);
            let prepared = case.delivery.prepare(&Source::new(&table).unwrap(), case.seed).unwrap();
            let samples = prepared.samples().unwrap();
            let of = |item: u32| {
                let own = samples.places.iter().zip(&samples.labels).filter(move |s| *s.0 == item);
                own.map(|(_, &label)| label).collect::<Vec<_>>()
            };
            let found: Vec<Vec<u16>> = (0..case.ids.len() as u32).map(of).collect();
            assert_eq!(found, case.labels, "{}", case.delivery);
            continue;
        }
        let Case { delivery, seed, ids, rows, epochs, labels } = case;
        let table = table(&ids, &rows);
        let prepared = delivery.prepare(&Source::new(&table).unwrap(), seed).unwrap();
        let mut out = vec![0; ids.len()];
        for (&t, expected) in epochs.iter().zip(&labels) {
            prepared.epoch(t, &mut out).unwrap();
            assert_eq!(&out, expected, "{delivery}, seed {seed}, epoch {t}");
            assert_eq!(prepared.epochs().unwrap().at(t), expected);
        }
        let mut run = prepared.epochs().unwrap();
        for (t, expected) in (0..6).zip(&labels) {
            assert_eq!(run.at(t), expected, "{delivery}, seed {seed}");
        }
    }
}

/// A method without golden values would pass every other test with any labels.
#[test]
fn every_method_has_golden_values() {
    #[derive(Deserialize)]
    struct Method {
        delivery: Delivery,
    }
    let targets: Vec<Method> =
        serde_json::from_str(include_str!("golden/soft_noise.json")).unwrap();
    let labels = cases().into_iter().map(|case| case.delivery);
    let known: Vec<Delivery> =
        labels.chain(targets.into_iter().map(|case| case.delivery)).collect();
    for entry in dissensus_labels::DELIVERIES {
        let script = match entry.delivers {
            Delivers::Labels | Delivers::Samples => "delivery.py",
            _ => "soft_noise.py",
        };
        assert!(
            known.iter().any(|delivery| delivery.entry().name == entry.name),
            "{}: no golden value; add a case to reference/labels/{script} and run it",
            entry.name
        );
    }
}

/// Other items, another order: the same label for the same id. (The permutation of `shuffled_sls`
/// is one of all items; it does not depend on their order.)
#[test]
fn labels_belong_to_ids() {
    for case in cases() {
        let Case { delivery, seed, ids, rows, epochs, labels } = case;
        if delivery.entry().delivers == Delivers::Samples {
            continue;
        }
        let part = if delivery.entry().name == "shuffled_sls" { ids.len() } else { 9 };
        let order: Vec<usize> = (0..ids.len()).map(|i| i * 5 % ids.len()).take(part).collect();
        let turned_ids: Vec<String> = order.iter().map(|&i| ids[i].clone()).collect();
        let turned_rows: Vec<Vec<f64>> = order.iter().map(|&i| rows[i].clone()).collect();
        let table = table(&turned_ids, &turned_rows);
        let prepared = delivery.prepare(&Source::new(&table).unwrap(), seed).unwrap();
        for (&t, expected) in epochs.iter().zip(&labels) {
            let expected: Vec<u16> = order.iter().map(|&i| expected[i]).collect();
            let places: Vec<usize> = (0..part).collect();
            assert_eq!(prepared.labels(t, &places).unwrap(), expected, "{delivery} {t}");
        }
    }
}

/// One thread and five give the same bits, of labels and of distributions.
#[test]
fn threads_do_not_matter() {
    let ids: Vec<String> = (0..5000).map(|i| format!("{i}")).collect();
    let rows: Vec<Vec<f64>> =
        (0..5000).map(|i| vec![f64::from(i % 4), f64::from(i % 3), f64::from(1 + i % 7)]).collect();
    let table = table(&ids, &rows);
    let all = || {
        let source = Source::new(&table).unwrap();
        let mut seen = Vec::new();
        for info in dissensus_labels::DELIVERIES {
            let prepared = info.name.parse::<Delivery>().unwrap().prepare(&source, 3).unwrap();
            for t in 0..3 {
                match prepared.targets_at(t, &mut EpochBuffer::default()) {
                    EpochTargets::Distributions(rows) => seen.extend(rows),
                    EpochTargets::Labels(labels) => {
                        seen.extend(labels.iter().map(|&l| f64::from(l)))
                    }
                    EpochTargets::Samples(samples) => {
                        seen.extend(samples.labels.iter().map(|&l| f64::from(l)))
                    }
                }
            }
        }
        seen
    };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    assert_eq!(pool(1).install(all), pool(5).install(all));
}
