//! A made-up study that looks like a real one: the same numbers on every run, drawn from a small
//! mixing function.

use dissensus_report::book::{
    Arm, Book, Collection, Curve, Direction, Item, ItemNumbers, Metric, Named, Picture,
    ReliabilityOf, Row, RunKey,
};
use dissensus_report::figures::{FigureKind, FigureSpec};

/// A number from 0 to 1 that depends on nothing but the words.
pub(crate) fn chance(words: &[u64]) -> f64 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for word in words {
        state = (state ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 29;
        state = state.wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 32;
    }
    (state >> 11) as f64 / (1u64 << 53) as f64
}

/// About normal.
pub(crate) fn noise(words: &[u64]) -> f64 {
    (0..6).map(|i| chance(&[words, &[i]].concat())).sum::<f64>() - 3.0
}

pub(crate) struct Size {
    pub(crate) arms: usize,
    pub(crate) datasets: usize,
    pub(crate) ks: Vec<Option<u32>>,
    pub(crate) seeds: u64,
    pub(crate) items: usize,
    pub(crate) text: bool,
}

impl Default for Size {
    fn default() -> Self {
        let ks = vec![Some(1), Some(3), Some(5), Some(10), None];
        Self { arms: 5, datasets: 1, ks, seeds: 5, items: 400, text: false }
    }
}

const ARMS: [(&str, &str); 12] = [
    ("hard", "hard labels"),
    ("soft", "soft labels"),
    ("sls", "sampled labels (SLS)"),
    ("multipass", "multipass"),
    ("smooth", "label smoothing"),
    ("dirichlet", "Dirichlet targets"),
    ("mixup", "mixup"),
    ("temper", "tempered votes"),
    ("bayes", "Bayesian averaging over annotators"),
    ("crowd", "crowd layer"),
    ("one", "one annotator"),
    ("gold", "gold labels"),
];

pub(crate) const CLASSES: [&str; 10] =
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

pub(crate) fn book(size: &Size) -> Book {
    let mut book =
        Book { name: "made-up".into(), title: "A made-up study".into(), ..Book::default() };
    for (name, title) in ARMS.iter().take(size.arms) {
        let (name, title) = ((*name).to_owned(), (*title).to_owned());
        book.arms.push(Arm { name, title, about: String::new() });
    }
    for i in 0..size.datasets {
        let (name, title) =
            [("cifar10h", "CIFAR-10H"), ("snli", "ChaosNLI (SNLI)"), ("mnli", "ChaosNLI (MNLI)")]
                [i % 3];
        book.datasets.push(Named { name: name.into(), title: title.into() });
    }
    let metrics = [
        ("soft_nll", "soft NLL", Direction::Lower, 4),
        ("accuracy", "accuracy", Direction::Higher, 3),
        ("kl", "KL(votes ∥ prediction)", Direction::Lower, 4),
        ("lambda_max", "λ_max", Direction::Neither, 1),
    ];
    for (name, title, better, digits) in metrics {
        let (name, title) = (name.to_owned(), title.to_owned());
        book.metrics.push(Metric { name, title, better, digits, ..Metric::default() });
    }
    for d in 0..size.datasets {
        for a in 0..size.arms {
            for (ki, k) in size.ks.iter().enumerate() {
                for seed in 0..size.seeds {
                    run(&mut book, size, (d, a, ki, *k, seed));
                }
            }
        }
        collection(&mut book, size, d);
    }
    book
}

fn run(book: &mut Book, size: &Size, (d, a, ki, k, seed): (usize, usize, usize, Option<u32>, u64)) {
    let words = [d as u64, a as u64, ki as u64, seed];
    let of =
        RunKey { dataset: book.datasets[d].name.clone(), arm: book.arms[a].name.clone(), k, seed };
    let reach = k.map_or(1.0, |k| 1.0 - 1.0 / (f64::from(k) + 1.0));
    let good = 0.75 - 0.25 * reach * (a as f64 + 1.0) / size.arms as f64 + 0.05 * d as f64;
    for (m, metric) in book.metrics.iter().enumerate() {
        let value = match m {
            0 => good + 0.008 * noise(&words),
            1 => 0.93 - 0.1 * good + 0.004 * noise(&[words[1], words[2], words[3], 7]),
            2 => 0.6 * good + 0.01 * noise(&[words[1], words[2], words[3], 8]),
            _ => 900.0 * good + 30.0 * noise(&[words[1], words[2], words[3], 9]),
        };
        book.rows.push(Row {
            study: "made-up".into(),
            dataset: of.dataset.clone(),
            arm: of.arm.clone(),
            k,
            seed,
            metric: metric.name.clone(),
            slice: "all".into(),
            value: Some(value),
            run: format!("run-{d}-{a}-{ki}-{seed}"),
        });
    }
    if ki + 1 != size.ks.len() {
        return;
    }
    let epochs = 40 + 3 * seed as usize;
    for (c, column) in
        ["train_loss", "evaluation.soft_nll", "evaluation.accuracy"].iter().enumerate()
    {
        let value = |epoch: usize| {
            let down = (-(epoch as f64) / (6.0 + 2.0 * a as f64)).exp();
            let wobble = 0.02 * noise(&[a as u64, seed, epoch as u64, c as u64]);
            match c {
                0 => 0.4 * good + 1.6 * down + wobble,
                1 if epoch % 2 == 1 => f64::NAN,
                1 => good + 1.2 * down + wobble + 0.002 * epoch as f64,
                _ => 0.9 - 0.6 * down + 0.3 * wobble,
            }
        };
        let values = (0..epochs).map(value).collect();
        let (of, column) = (of.clone(), (*column).to_owned());
        book.curves.push(Curve { of, column, values, ..Curve::default() });
    }
    let ids: Vec<String> = (0..size.items).map(|i| format!("item-{i:05}")).collect();
    let entropy = |i: u64| (chance(&[d as u64, i, 1]) * 1.8 - 0.5).max(0.0);
    let loss = |i: u64| {
        let own = 0.3 + (0.5 + 0.1 * a as f64) * entropy(i);
        (own + 0.25 * noise(&[d as u64, i, 2]) + 0.1 * noise(&[words[1], i, seed])).max(0.0)
    };
    let items = 0..size.items as u64;
    book.items.push(ItemNumbers {
        of: of.clone(),
        ids,
        columns: vec![
            ("entropy".into(), items.clone().map(entropy).collect()),
            ("soft_nll".into(), items.map(loss).collect()),
        ],
        ..ItemNumbers::default()
    });
    let bins = (0..10).map(|b| {
        let confidence = 0.3 + 0.07 * (f64::from(b) + chance(&[words[1], seed, b as u64]) * 0.3);
        let outcome = confidence - 0.05 * (3.0 - a as f64) * (1.0 - confidence)
            + 0.015 * noise(&[words[1], seed, b as u64]);
        (confidence, outcome.clamp(0.0, 1.0), 20 + 12 * b as u64)
    });
    book.reliability.push(ReliabilityOf { of, bins: bins.collect(), ..ReliabilityOf::default() });
}

fn collection(book: &mut Book, size: &Size, d: usize) {
    let classes: Vec<String> = match size.text {
        true => ["entailment", "neutral", "contradiction"].map(str::to_owned).to_vec(),
        false => CLASSES.map(str::to_owned).to_vec(),
    };
    let share = |words: &[u64], sharp: f64| -> Vec<f64> {
        let raw: Vec<f64> = (0..classes.len() as u64)
            .map(|c| chance(&[words, &[c]].concat()).powf(sharp))
            .collect();
        let all: f64 = raw.iter().sum();
        raw.into_iter().map(|v| v / all).collect()
    };
    let items = (0..size.items.min(50) as u64).map(|i| {
        let votes: Vec<f64> =
            share(&[d as u64, i, 5], 6.0).iter().map(|v| (v * 50.0).round()).collect();
        let predictions = (0..size.arms as u64).map(|a| {
            share(&[d as u64, i, 5], 2.0 + 2.0 * a as f64).iter().map(|v| *v as f32).collect()
        });
        let pixel = |p: u64| {
            let (x, y, c) = (p / 3 % 32, p / 96, p % 3);
            let inside = (x as f64 - 16.0).hypot(y as f64 - 16.0) < 6.0 + chance(&[i, 3]) * 8.0;
            let base = chance(&[i, c, u64::from(inside)]) * 200.0;
            (base + 40.0 * chance(&[i, p])) as u8
        };
        let picture = (!size.text).then(|| Picture {
            width: 32,
            height: 32,
            channels: 3,
            pixels: (0..32 * 32 * 3).map(pixel).collect(),
        });
        let text = size.text.then(|| {
            "Premise: A man in a blue shirt is standing on a ladder cleaning a window. Hypothesis: \
             A man is being paid to clean the windows of a house that belongs to somebody else."
                .to_owned()
        });
        Item {
            id: format!("item-{i:05}"),
            text,
            picture,
            votes,
            predictions: predictions.collect(),
        }
    });
    let items = items.collect();
    let predicted_by = book.arms.iter().map(|arm| (arm.name.clone(), None)).collect();
    let dataset = book.datasets[d].name.clone();
    book.collections.push(Collection { dataset, classes, items, predicted_by });
}

/// A figure of each kind.
pub(crate) fn specs() -> Vec<FigureSpec> {
    let spec = |kind, name: &str, title: &str| FigureSpec {
        name: name.into(),
        title: title.into(),
        kind,
        ..FigureSpec::default()
    };
    let (x, y) = ("entropy".to_owned(), "soft_nll".to_owned());
    vec![
        spec(FigureKind::Points, "points", "How well each delivery matches people"),
        FigureSpec { log_x: true, ..spec(FigureKind::Lines, "lines", "Fewer votes per item") },
        FigureSpec {
            x: x.clone(),
            y: y.clone(),
            against: Some("hard".into()),
            x_title: Some("entropy of the votes (nats)".into()),
            ..spec(FigureKind::Effect, "effect", "Where soft labels help")
        },
        spec(FigureKind::Reliability, "reliability", "Calibration against people"),
        FigureSpec { x: y.clone(), ..spec(FigureKind::Histogram, "histogram", "Loss by item") },
        FigureSpec { x, y, ..spec(FigureKind::Scatter, "scatter", "Loss against disagreement") },
        FigureSpec {
            x: "accuracy".into(),
            metrics: vec!["soft_nll".into()],
            ..spec(FigureKind::Runs, "runs", "Is what is right also near people?")
        },
        spec(FigureKind::Curves, "curves", "Training"),
        spec(FigureKind::Images, "pictures", "Where people disagree most"),
    ]
}
