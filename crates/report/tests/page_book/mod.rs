//! A made-up study whose names and texts try to break out of the page: markup, scripts, ends of
//! scripts, template braces, odd characters. Used by the tests of the page and by the example that
//! writes the page for the browser.

use dissensus_core::results::Row;
use dissensus_report::book::*;
use dissensus_report::claims::ClaimSpec;
use dissensus_report::figures::{FigureKind, FigureSpec};
use dissensus_report::tables::{Against, Dimension, TableSpec, Votes};

/// Would set a mark in the page, which the browser test looks for.
pub(crate) const HOSTILE: &str = "<script>window.hacked = 1</script><img src=x onerror=\"window.hacked=1\">\
    </script></title></style></textarea><!-- ]]> {{script}} ${1} &amp; \" ' ` \u{2028}\u{2029}\
    \u{202e}txet\u{202c} \\";

/// Numbers in [0, 1), the same each time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}

pub(crate) fn arms() -> Vec<Arm> {
    let arm = |name: &str, title: &str, about: &str| Arm {
        name: name.into(),
        title: title.into(),
        about: about.into(),
    };
    vec![
        arm("hard", "Majority label", "Every example has the label that most people gave."),
        arm("soft", "Soft labels", "Every example has the shares of its votes."),
        arm("sls", "Sampled labels", "A label is drawn from the votes anew in every epoch."),
        arm("evil\"><b>", "<b onclick=\"x\">Evil</b> & \"co\"", HOSTILE),
    ]
}

fn metrics() -> Vec<Metric> {
    let metric = |name: &str, title: &str, better, digits, what: &str, formula: &str| Metric {
        name: name.into(),
        title: title.into(),
        better,
        digits,
        what: what.into(),
        formula: formula.into(),
        settings: "clip: none".into(),
        source: "Good, Rational decisions (1952)".into(),
    };
    vec![
        metric(
            "soft_nll",
            "Soft NLL",
            Direction::Lower,
            4,
            "The cross-entropy of the predictions under people's votes.",
            "mean over items of −Σ_k p_k ln q_k",
        ),
        metric(
            "kl",
            "KL",
            Direction::Lower,
            4,
            "How far predictions are from the votes.",
            "Σ p ln p/q",
        ),
        metric(
            "accuracy",
            "Accuracy",
            Direction::Higher,
            3,
            "How often the majority is met.",
            "1[a = b]",
        ),
        metric("odd", "Odd <i>metric</i> & \"co\"", Direction::Neither, 1, HOSTILE, HOSTILE),
    ]
}

/// A distribution over `classes`, the sharper the larger `sharp` is.
pub(crate) fn distribution(random: &mut Random, classes: usize, sharp: i32) -> Vec<f64> {
    let raw: Vec<f64> = (0..classes).map(|_| random.next().powi(sharp) + 1e-3).collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|x| x / sum).collect()
}

/// Shares that lean from `p` towards even ones.
pub(crate) fn towards(p: &[f64], lean: f64, random: &mut Random) -> Vec<f32> {
    let noisy: Vec<f64> = p
        .iter()
        .map(|x| (x * (1.0 - lean) + lean / p.len() as f64) * (0.7 + 0.6 * random.next()))
        .collect();
    let sum: f64 = noisy.iter().sum();
    noisy.iter().map(|x| (x / sum) as f32).collect()
}

/// A smooth picture with a little noise, or nothing but noise.
pub(crate) fn picture(random: &mut Random, side: usize, noise: f64) -> Picture {
    let from: Vec<f64> = (0..6).map(|_| 255.0 * random.next()).collect();
    let mut pixels = Vec::with_capacity(side * side * 3);
    for at in 0..side * side {
        let (x, y) = ((at % side) as f64 / side as f64, (at / side) as f64 / side as f64);
        for c in 0..3 {
            let smooth = from[c] * x + from[c + 3] * y;
            let value = smooth.min(255.0) * (1.0 - noise) + 255.0 * noise * random.next();
            pixels.push(value as u8);
        }
    }
    Picture { width: side, height: side, channels: 3, pixels }
}

/// Items of made-up votes with a prediction of each arm.
pub(crate) fn items(count: usize, classes: usize, arms: usize, seed: u64) -> Vec<Item> {
    let mut random = Random(seed);
    let item = |at: usize| {
        let p = distribution(&mut random, classes, 1 + (at % 9) as i32);
        let votes = p.iter().map(|x| (x * 20.0).round()).collect();
        let predictions =
            (0..arms).map(|arm| towards(&p, 0.1 + 0.15 * arm as f64, &mut random)).collect();
        Item { id: format!("item-{at}"), text: None, picture: None, votes, predictions }
    };
    (0..count).map(item).collect()
}

fn pictures() -> Collection {
    let mut random = Random(3);
    let mut items = items(60, 10, 6, 1);
    for (at, item) in items.iter_mut().enumerate() {
        item.picture = Some(picture(&mut random, 32, if at % 3 == 0 { 0.2 } else { 0.02 }));
    }
    let mut by: Vec<(String, Option<u32>)> =
        arms().iter().map(|arm| (arm.name.clone(), None)).collect();
    by.push(("soft".into(), Some(3)));
    by.push(("sls".into(), Some(3)));
    let classes = (0..10).map(|class| format!("class {class}")).collect();
    Collection { dataset: "pictures".into(), classes, items, predicted_by: by }
}

fn texts() -> Collection {
    let mut items = items(40, 3, 4, 2);
    for (at, item) in items.iter_mut().enumerate() {
        item.text =
            Some(format!("A sentence of number {at}, and whether another follows from it."));
    }
    items[0].text = Some(HOSTILE.into());
    items[0].id = format!("hostile {HOSTILE}");
    items[1].text = Some("long ".repeat(400));
    items[2].text = Some("unbroken".repeat(100));
    items[3].votes = vec![0.0; 3];
    items[4].predictions[1] = Vec::new();
    items[5].id = "item-5 שלום".into();
    Collection {
        dataset: "texts".into(),
        classes: vec!["entails".into(), "<i>neutral</i>".into(), HOSTILE.into()],
        items,
        predicted_by: arms().iter().map(|arm| (arm.name.clone(), None)).collect(),
    }
}

fn rows() -> Vec<Row> {
    let mut random = Random(9);
    let mut rows = Vec::new();
    for dataset in ["pictures", "texts"] {
        for (place, arm) in arms().iter().enumerate() {
            for k in [Some(1), Some(3), Some(10), None] {
                for seed in 1..=5 {
                    let gain =
                        0.05 * (3 - place.min(2)) as f64 + k.map_or(0.0, |k| 0.1 / f64::from(k));
                    let mut row = |metric: &str, value: Option<f64>| {
                        rows.push(Row {
                            study: "odd".into(),
                            dataset: dataset.into(),
                            arm: arm.name.clone(),
                            k,
                            seed,
                            metric: metric.into(),
                            slice: "all".into(),
                            value,
                            run: format!("{dataset}-{place}-{k:?}-{seed}"),
                        });
                    };
                    row("soft_nll", Some(0.5 + gain + 0.02 * random.next()));
                    row("kl", Some(0.1 + gain + 0.02 * random.next()));
                    row("accuracy", Some(0.9 - gain + 0.01 * random.next()));
                    row("odd", (seed > 1).then(|| 100.0 * random.next()));
                }
            }
        }
    }
    rows
}

fn references() -> Vec<Reference> {
    let reference = |dataset: &str, arm: &str, mean, sd| Reference {
        dataset: dataset.into(),
        arm: arm.into(),
        k: None,
        metric: "soft_nll".into(),
        slice: "all".into(),
        mean,
        sd,
        n: Some(5),
        source: "Table 2 <of> a \"paper\"".into(),
    };
    vec![
        reference("pictures", "hard", 0.66, Some(0.01)),
        reference("pictures", "soft", 0.60, Some(0.007)),
        reference("pictures", "sls", 0.40, Some(0.01)),
        reference("texts", "sls", 0.56, None),
    ]
}

fn tables() -> Vec<TableSpec> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let against = Against {
        arm: "hard".into(),
        test: Default::default(),
        side: Default::default(),
        family: dissensus_report::tables::Family::Column,
        raw: false,
    };
    vec![
        TableSpec {
            name: "main".into(),
            title: "Results with all votes".into(),
            note: format!("Note: {HOSTILE}"),
            across: vec![Dimension::Dataset, Dimension::Metric],
            ks: vec![Votes(None)],
            metrics: names(&["soft_nll", "kl", "accuracy"]),
            against: Some(against),
            ..TableSpec::default()
        },
        TableSpec {
            name: "votes \"><script>".into(),
            title: format!("Fewer votes {HOSTILE}"),
            down: vec![Dimension::Dataset, Dimension::Arm],
            across: vec![Dimension::K],
            metrics: names(&["kl"]),
            ..TableSpec::default()
        },
        TableSpec {
            name: "odd".into(),
            title: "The odd metric".into(),
            down: vec![Dimension::Metric, Dimension::Arm],
            across: vec![Dimension::Dataset],
            ks: vec![Votes(None)],
            metrics: names(&["odd", "accuracy"]),
            ..TableSpec::default()
        },
        TableSpec {
            name: "arms-below".into(),
            title: "Arms as columns, below the data sets".into(),
            down: vec![Dimension::Metric],
            across: vec![Dimension::Dataset, Dimension::Arm],
            ks: vec![Votes(None)],
            metrics: names(&["odd"]),
            ..TableSpec::default()
        },
        TableSpec {
            name: "arms-above".into(),
            title: "Arms as columns, above the data sets".into(),
            down: vec![Dimension::Metric],
            across: vec![Dimension::Arm, Dimension::Dataset],
            ks: vec![Votes(None)],
            metrics: names(&["odd"]),
            ..TableSpec::default()
        },
    ]
}

fn figures() -> Vec<FigureSpec> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let figure = |name: &str, title: &str, kind| FigureSpec {
        name: name.into(),
        title: title.into(),
        kind,
        datasets: names(&["pictures"]),
        ..FigureSpec::default()
    };
    vec![
        FigureSpec {
            metrics: names(&["soft_nll", "accuracy"]),
            ks: vec![Votes(None)],
            note: format!("Note: {HOSTILE}"),
            ..figure("points", "All votes: each seed and the mean", FigureKind::Points)
        },
        FigureSpec {
            metrics: names(&["soft_nll", "kl"]),
            log_x: true,
            ..figure("lines", "With more votes per item", FigureKind::Lines)
        },
        FigureSpec {
            metrics: names(&["train_loss"]),
            ..figure("curves <script>", &format!("Training {HOSTILE}"), FigureKind::Curves)
        },
        FigureSpec {
            x: "entropy".into(),
            y: "kl".into(),
            ..figure("scatter", "Entropy and divergence", FigureKind::Scatter)
        },
        FigureSpec { count: Some(4), ..figure("items", "Four items", FigureKind::Images) },
    ]
}

fn curves() -> Vec<Curve> {
    let mut curves = Vec::new();
    for (place, arm) in arms().iter().enumerate() {
        for seed in 1..=3 {
            let rate = 0.1 + 0.02 * place as f64 + 0.005 * seed as f64;
            let values = (0..40).map(|epoch| 0.4 + (-rate * f64::from(epoch)).exp()).collect();
            let of = RunKey { dataset: "pictures".into(), arm: arm.name.clone(), k: None, seed };
            let column = "train_loss".into();
            curves.push(Curve { of, column, values, ..Curve::default() });
        }
    }
    curves
}

fn numbers() -> Vec<ItemNumbers> {
    let mut random = Random(12);
    let of =
        |arm: &Arm| RunKey { dataset: "pictures".into(), arm: arm.name.clone(), k: None, seed: 1 };
    arms()
        .iter()
        .map(|arm| {
            let entropy: Vec<f64> = (0..60).map(|_| 2.0 * random.next()).collect();
            let kl = entropy.iter().map(|h| 0.1 + 0.2 * h * random.next()).collect();
            let ids = (0..60).map(|at| format!("item-{at}")).collect();
            let columns = vec![("entropy".to_owned(), entropy), ("kl".to_owned(), kl)];
            ItemNumbers { of: of(arm), ids, columns, ..ItemNumbers::default() }
        })
        .collect()
}

/// The whole study.
pub(crate) fn hostile() -> Book {
    let named = |name: &str, title: &str| Named { name: name.into(), title: title.into() };
    Book {
        name: "odd".into(),
        title: format!("A made-up study {HOSTILE}"),
        about: format!("Which delivery meets the votes best?\n\nAnd does {HOSTILE} do anything?"),
        scale: None,
        arms: arms(),
        datasets: vec![named("pictures", "Pictures"), named("texts", "Texts <b>& more</b>")],
        metrics: metrics(),
        rows: rows(),
        curves: curves(),
        items: numbers(),
        reliability: Vec::new(),
        collections: vec![pictures(), texts()],
        facts: Vec::new(),
        overlays: Vec::new(),
        claims: vec![ClaimSpec {
            name: "votes".into(),
            text: format!("1. Soft labels are below the majority label {HOSTILE}"),
            metrics: vec!["soft_nll".into()],
            datasets: vec!["pictures".into()],
            arms: vec!["soft".into()],
            than: Some("hard".into()),
            level: Some(0.05),
            ..ClaimSpec::default()
        }],
        opening: Opening {
            question: format!("Does it matter? {HOSTILE}"),
            figure: Some("lines".into()),
            ..Opening::default()
        },
        data: Vec::new(),
        planned: Vec::new(),
        chosen: Vec::new(),
        references: references(),
        tables: tables(),
        figures: figures(),
        settings: format!("# A comment\n[study]\nname = \"odd\"\ntitle = '''{HOSTILE}'''\n"),
        notes: vec![format!("A note {HOSTILE}")],
        baselines: Vec::new(),
        provenance: vec![
            ("version".into(), "0.1.0".into()),
            ("hardware".into(), format!("2 cores {HOSTILE}")),
        ],
        failed: vec![("texts, sls, seed 3".into(), format!("the loss is not finite: {HOSTILE}"))],
        missing: 2,
    }
}
