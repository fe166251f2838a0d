//! The data of figures, as numbers, from books small enough to reckon by hand.

use dissensus_report::ReportError;
use dissensus_report::book::{
    Arm, Book, Collection, Curve, Direction, Item, ItemNumbers, Metric, Named, Overlay, Picture,
    ReliabilityOf, Row, RunKey,
};
use dissensus_report::figures::{Drawing, Estimate, Figure, FigureKind, FigureSpec, Form, prepare};
use dissensus_report::tables::Votes;

const NAN: f64 = f64::NAN;

/// Two arms, one data set, one metric; no numbers yet.
fn empty() -> Book {
    let arm = |name: &str, title: &str| Arm {
        name: name.into(),
        title: title.into(),
        about: String::new(),
    };
    Book {
        arms: vec![arm("hard", "hard labels"), arm("soft", "soft labels")],
        datasets: vec![Named { name: "tiny".into(), title: "Tiny".into() }],
        metrics: vec![Metric {
            name: "kl".into(),
            title: "KL".into(),
            better: Direction::Lower,
            digits: 2,
            ..Metric::default()
        }],
        ..Book::default()
    }
}

fn row(arm: &str, k: Option<u32>, seed: u64, value: f64) -> Row {
    Row {
        dataset: "tiny".into(),
        arm: arm.into(),
        k,
        seed,
        metric: "kl".into(),
        slice: "all".into(),
        value: Some(value),
        run: format!("{arm}-{seed}"),
        ..Row::default()
    }
}

fn of(arm: &str, seed: u64) -> RunKey {
    RunKey { dataset: "tiny".into(), arm: arm.into(), k: None, seed }
}

fn spec(kind: FigureKind) -> FigureSpec {
    FigureSpec {
        name: "f".into(),
        title: "F".into(),
        note: "Mine.".into(),
        kind,
        ..FigureSpec::default()
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// scipy 1.17.1: `scipy.stats.t.ppf(0.975, [1, 2])`
const T1: f64 = 12.706_204_736;
const T2: f64 = 4.302_652_730;

fn close(estimate: Estimate, mean: f64, half: f64, n: usize) {
    assert_eq!(estimate.n, n);
    assert!(near(estimate.mean, mean), "{estimate:?}");
    assert!((estimate.low.unwrap() - (mean - half)).abs() < 1e-7, "{estimate:?}");
    assert!((estimate.high.unwrap() - (mean + half)).abs() < 1e-7, "{estimate:?}");
}

/// The rows of a CSV after its header.
fn rows(figure: &Figure) -> Vec<String> {
    figure.csv().lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn points() {
    let mut book = empty();
    book.rows = vec![
        row("soft", Some(5), 1, 0.3),
        row("soft", Some(5), 0, 0.1),
        row("hard", Some(5), 0, 0.5),
        row("hard", None, 0, 0.4),
        Row { value: None, ..row("soft", None, 0, 0.0) },
        Row { slice: "hard-ones".into(), ..row("soft", None, 1, 9.0) },
    ];
    let figure = prepare(&spec(FigureKind::Points), &book).unwrap();
    assert_eq!(
        figure.note,
        "Mine. Means with 95 % t intervals over seeds; small dots are seeds. One seed alone has no \
         interval."
    );
    let Drawing::Points(points) = &figure.drawing else { panic!("{figure:?}") };
    assert_eq!(points.panels.len(), 1);
    assert_eq!(points.panels[0].title, "KL\u{a0}↓");
    let [five, all] = &points.panels[0].groups[..] else { panic!("{points:?}") };
    assert_eq!((five.k, all.k), (Some(5), None));
    assert_eq!(five.points[0].key.name, "hard");
    assert_eq!(five.points[1].seeds, [(0, 0.1), (1, 0.3)]);
    close(five.points[1].estimate, 0.2, T1 * 0.1, 2);
    let one = Estimate { mean: 0.4, low: None, high: None, n: 1 };
    assert_eq!(all.points.len(), 1);
    assert_eq!(all.points[0].estimate, one);
    let csv = rows(&figure);
    assert_eq!(csv.len(), 7);
    assert_eq!(csv[0], "kl,all,tiny,5,hard,mean,,0.5,,,1");
    assert_eq!(csv[3], "kl,all,tiny,5,soft,seed,0,0.1,,,");

    let other = FigureSpec { slice: Some("hard-ones".into()), ..spec(FigureKind::Points) };
    assert_eq!(rows(&prepare(&other, &book).unwrap())[0], "kl,hard-ones,tiny,all,soft,mean,,9,,,1");
    let only =
        FigureSpec { ks: vec![Votes(None)], arms: vec!["hard".into()], ..spec(FigureKind::Points) };
    assert_eq!(rows(&prepare(&only, &book).unwrap()).len(), 2);
}

#[test]
fn lines() {
    let mut book = empty();
    for seed in 0..3 {
        book.rows.push(row("soft", None, seed, 0.1 + 0.1 * seed as f64));
        book.rows.push(row("soft", Some(2), seed, 0.7));
    }
    let figure = prepare(&spec(FigureKind::Lines), &book).unwrap();
    let Drawing::Lines(lines) = &figure.drawing else { panic!("{figure:?}") };
    let line = &lines.panels[0].lines[0];
    assert_eq!(line.key.look, 1, "the second arm keeps its look");
    assert_eq!(line.points[0].0, Some(2));
    close(line.points[0].1, 0.7, 0.0, 3);
    assert_eq!(line.points[1].0, None);
    close(line.points[1].1, 0.2, T2 * 0.1 / 3f64.sqrt(), 3);
    assert_eq!(figure.note, "Mine. Means with 95 % t intervals over seeds.");
}

fn numbers(arm: &str, seed: u64, y: &[f64]) -> ItemNumbers {
    let ids = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let columns = vec![("x".into(), vec![0.0, 0.0, 1.0, 2.0]), ("y".into(), y.to_vec())];
    ItemNumbers { of: of(arm, seed), ids, columns }
}

#[test]
fn effect_over_seeds_and_over_items() {
    let mut book = empty();
    for seed in 0..3 {
        let more = seed as f64;
        book.items.push(numbers("hard", seed, &[1.0, 1.0, 1.0, 1.0]));
        book.items.push(numbers("soft", seed, &[1.0 + more, 3.0 + more, NAN, 9.0]));
    }
    let effect = FigureSpec {
        x: "x".into(),
        y: "y".into(),
        against: Some("hard".into()),
        count: Some(2),
        ..spec(FigureKind::Effect)
    };
    let figure = prepare(&effect, &book).unwrap();
    let Drawing::Effect(found) = &figure.drawing else { panic!("{figure:?}") };
    assert!(found.over_seeds);
    assert_eq!(found.y_title, "y minus hard labels");
    let [series] = &found.panels[0].series[..] else { panic!("{found:?}") };
    assert_eq!(series.key.name, "soft");
    let [first, second] = &series.bins[..] else { panic!("{series:?}") };
    // Items a and b have one x and stay together; c has no y.
    assert_eq!((first.from, first.to, first.items), (0.0, 0.0, 2));
    close(first.y, 2.0, T2 / 3f64.sqrt(), 3);
    assert_eq!((second.from, second.to, second.x, second.items), (2.0, 2.0, 2.0, 1));
    close(second.y, 8.0, 0.0, 3);
    // By hand: ranks (1.5, 1.5, 3) and (1, 2, 3) in every seed.
    assert!(figure.note.contains("over seeds. "));
    assert!(figure.note.ends_with("of both over the items of a seed: 0.87 to 0.87."));
    assert_eq!(rows(&figure)[1], "tiny,all,soft,hard,2,2,2,2,1,8,8,8,3,seeds");

    // Two seeds are too few: over items, whose values are means over seeds.
    book.items.truncate(4);
    let plain = FigureSpec { against: None, ..effect };
    let figure = prepare(&plain, &book).unwrap();
    let Drawing::Effect(found) = &figure.drawing else { panic!("{figure:?}") };
    assert!(!found.over_seeds && figure.note.ends_with("over items."));
    let soft = &found.panels[0].series[1];
    close(soft.bins[0].y, 2.5, T1 * 1.0, 2);
    // All arms share the bins: c is in the second, by the other arm.
    assert_eq!((soft.bins[1].from, soft.bins[1].to, soft.bins[1].items), (1.0, 2.0, 1));
    assert_eq!(soft.bins[1].y, Estimate { mean: 9.0, low: None, high: None, n: 1 });
}

#[test]
fn reliability() {
    let mut book = empty();
    book.reliability = vec![
        ReliabilityOf { of: of("hard", 0), bins: vec![(0.4, 0.5, 10), (0.8, 0.7, 30)] },
        ReliabilityOf { of: of("hard", 1), bins: vec![(0.6, 0.3, 30), (NAN, NAN, 0)] },
        ReliabilityOf { of: of("soft", 0), bins: vec![(0.4, 0.5, 10)] },
        ReliabilityOf { of: of("soft", 1), bins: vec![(0.4, 0.5, 10), (0.5, 0.5, 10)] },
    ];
    let figure = prepare(&spec(FigureKind::Reliability), &book).unwrap();
    let Drawing::Reliability(found) = &figure.drawing else { panic!("{figure:?}") };
    let [hard, soft] = &found.panels[..] else { panic!("{found:?}") };
    let [first, second] = &hard.curves[0].bins[..] else { panic!("{hard:?}") };
    assert!(near(first.confidence, 0.55), "weighted by items");
    assert_eq!(first.items, 40);
    close(first.outcome, 0.4, T1 * 0.1, 2);
    assert_eq!((second.confidence, second.items, second.outcome.n), (0.8, 30, 1));
    assert_eq!(hard.curves[0].seeds[1], (1, vec![(0.6, 0.3)]));
    assert!(soft.curves[0].bins.is_empty(), "seeds differ in their bins");
    assert_eq!(soft.curves[0].seeds.len(), 2);
    assert!(figure.note.contains("only the seeds are drawn"));
    assert_eq!(rows(&figure)[1], "tiny,all,hard,bin,,0.8,0.7,,,30");
}

#[test]
fn histogram() {
    let mut book = empty();
    book.items.push(numbers("hard", 0, &[0.0, 0.1, 0.5, NAN]));
    book.items.push(numbers("soft", 0, &[1.0, 1.0, 0.9, 0.4]));
    book.items.push(numbers("soft", 1, &[1.0, 1.0, 1.0, 1.0]));
    let histogram = FigureSpec { x: "y".into(), count: Some(2), ..spec(FigureKind::Histogram) };
    let figure = prepare(&histogram, &book).unwrap();
    let Drawing::Histogram(found) = &figure.drawing else { panic!("{figure:?}") };
    let panel = &found.panels[0];
    assert_eq!((panel.from, panel.to), (0.0, 1.0));
    assert_eq!(panel.series[0].counts, [2, 1]);
    assert_eq!(panel.series[1].counts, [1, 7]);
    assert_eq!(rows(&figure)[3], "tiny,all,soft,2,0.5,1,7,0.875");

    // What people do comes once, of the first arm that has it, behind the arms.
    let with = FigureSpec { people: Some("x".into()), ..histogram.clone() };
    let figure = prepare(&with, &book).unwrap();
    let Drawing::Histogram(found) = &figure.drawing else { panic!("{figure:?}") };
    let panel = &found.panels[0];
    let names: Vec<&str> = panel.series.iter().map(|series| series.key.name.as_str()).collect();
    assert_eq!(names, ["people", "hard", "soft"]);
    assert_eq!((panel.from, panel.to), (0.0, 2.0));
    assert_eq!(panel.series[0].counts, [2, 2]);
    let svg = figure.svg(Form::File);
    assert!(svg.contains(">people<") && svg.contains("0 to 1: 2"), "{svg}");
    let wrong = FigureSpec { people: Some("z".into()), ..histogram };
    assert!(prepare(&wrong, &book).unwrap_err().to_string().contains('z'));
}

/// Two arms on three data sets.
fn wide() -> Book {
    let named = |name: &str, title: &str| Named { name: name.into(), title: title.into() };
    let datasets =
        vec![named("a", "ChaosNLI"), named("b", "POPQUORN"), named("c", "CIFAR-10H-Hard")];
    let mut book = Book { datasets, ..empty() };
    for dataset in ["a", "b", "c"] {
        for arm in ["hard", "soft"] {
            let of = RunKey { dataset: dataset.into(), ..of(arm, 0) };
            for column in ["loss", "rate"] {
                let (of, column) = (of.clone(), column.to_owned());
                let values = vec![2.0, 1.0];
                book.curves.push(Curve { of, column, values, ..Curve::default() });
            }
            book.items.push(ItemNumbers { of, ..numbers(arm, 0, &[2.0, 4.0, 5.0, 8.0]) });
            book.rows.push(Row { dataset: dataset.into(), ..row(arm, None, 0, 0.5) });
        }
    }
    let more = |name: &str| Metric { name: name.into(), ..book.metrics[0].clone() };
    let (more, rows) = ([more("m"), more("n")], book.rows.clone());
    for metric in more {
        let row = |row: &Row| Row { metric: metric.name.clone(), ..row.clone() };
        book.rows.extend(rows.iter().map(row));
        book.metrics.push(metric);
    }
    book
}

#[test]
fn the_same_data_stand_below_each_other() {
    let book = wide();
    let scatter = FigureSpec { x: "x".into(), y: "y".into(), ..spec(FigureKind::Scatter) };
    let figure = prepare(&scatter, &book).unwrap();
    let Drawing::Scatter(found) = &figure.drawing else { panic!("{figure:?}") };
    let order: Vec<(&str, &str)> =
        found.panels.iter().map(|p| (p.key.name.as_str(), p.dataset.as_str())).collect();
    let hard = [("hard", "a"), ("hard", "b"), ("hard", "c")];
    assert_eq!(order, [hard, hard.map(|(_, data)| ("soft", data))].concat());

    let figure = prepare(&spec(FigureKind::Curves), &book).unwrap();
    let Drawing::Curves(found) = &figure.drawing else { panic!("{figure:?}") };
    let titles: Vec<&str> = found.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles[..2], ["ChaosNLI · training loss", "POPQUORN · training loss"]);
    assert_eq!((titles[3], found.y_title.as_str()), ("ChaosNLI · rate", ""));
    // One column is said once, beside the panels.
    let one = FigureSpec { metrics: vec!["loss".into()], ..spec(FigureKind::Curves) };
    let figure = prepare(&one, &book).unwrap();
    let Drawing::Curves(found) = &figure.drawing else { panic!("{figure:?}") };
    assert_eq!(
        (found.panels[2].title.as_str(), found.y_title.as_str()),
        ("CIFAR-10H-Hard", "loss")
    );
}

#[test]
fn names_of_data_sets_are_not_cut_where_there_is_room() {
    let svg = prepare(&spec(FigureKind::Points), &wide()).unwrap().svg(Form::File);
    assert!(svg.contains(">CIFAR-10H-Hard<"), "{svg}");
}

#[test]
fn scatter() {
    let mut book = empty();
    book.items.push(numbers("soft", 0, &[2.0, 4.0, 5.0, 8.0]));
    book.items.push(numbers("soft", 1, &[2.0, 2.0, NAN, 10.0]));
    let scatter = FigureSpec { x: "x".into(), y: "y".into(), ..spec(FigureKind::Scatter) };
    let figure = prepare(&scatter, &book).unwrap();
    let Drawing::Scatter(found) = &figure.drawing else { panic!("{figure:?}") };
    assert_eq!(found.panels[0].items, 0);
    let soft = &found.panels[1];
    let points = [("a", 0.0, 2.0), ("b", 0.0, 3.0), ("c", 1.0, 5.0), ("d", 2.0, 9.0)];
    assert_eq!(soft.points, points.map(|(id, x, y)| (id.to_owned(), x, y)));
    // scipy 1.17.1: `scipy.stats.spearmanr([0, 0, 1, 2], [2, 3, 5, 9])`
    assert!(near(soft.correlation.unwrap(), 0.948_683_298_050_513_8));
    assert_eq!(rows(&figure)[0], "tiny,all,soft,a,0,2");
}

#[test]
fn runs() {
    let mut book = empty();
    let epoch = |of: Row, epoch: f64| Row { metric: "epoch".into(), value: Some(epoch), ..of };
    for (k, seed, kl, at) in [(None, 0, 0.1, 7.0), (Some(5), 0, 0.3, 9.0), (Some(5), 1, 0.2, 8.0)] {
        book.rows.extend([row("soft", k, seed, kl), epoch(row("soft", k, seed, kl), at)]);
        book.rows.push(Row { slice: "high".into(), ..row("soft", k, seed, -kl) });
    }
    // A run without the metric across, and one without that which goes up.
    book.rows.extend([row("hard", None, 0, 0.5), epoch(row("soft", None, 9, 0.0), 3.0)]);
    let kl = || vec!["kl".to_owned()];
    let all = FigureSpec { x: "epoch".into(), metrics: kl(), ..spec(FigureKind::Runs) };
    let figure = prepare(&all, &book).unwrap();
    let expected = [
        "kl,all,tiny,5,soft,0,9,0.3",
        "kl,all,tiny,5,soft,1,8,0.2",
        "kl,all,tiny,all,soft,0,7,0.1",
    ];
    assert_eq!(rows(&figure), expected);
    assert!(figure.note.contains("soft labels 1.00 (KL\u{a0}↓, 3 runs)"), "{}", figure.note);
    // Epochs are known of all items alone.
    let high = FigureSpec { slice: Some("high".into()), ..all.clone() };
    let figure = prepare(&high, &book).unwrap();
    assert_eq!(rows(&figure)[0], "kl,high,tiny,5,soft,0,9,-0.3");
    assert!(figure.note.contains("soft labels −1.00"), "{}", figure.note);
    let error = |x: &str| prepare(&FigureSpec { x: x.into(), ..all.clone() }, &book).unwrap_err();
    assert!(matches!(error(""), ReportError::FigureSetting { key: "x", .. }));
    assert!(matches!(error("epochs"), ReportError::UnknownName { .. }), "{}", error("epochs"));
}

#[test]
fn a_scatter_of_many_items_is_thinned_and_says_so() {
    let mut book = empty();
    let n = 5001;
    let values: Vec<f64> = (0..n).map(f64::from).collect();
    let ids = (0..n).map(|i| format!("{i:05}")).collect();
    let columns = vec![("x".to_owned(), values.clone()), ("y".to_owned(), values)];
    book.items.push(ItemNumbers { of: of("soft", 0), ids, columns });
    let scatter = FigureSpec {
        x: "x".into(),
        y: "y".into(),
        arms: vec!["soft".into()],
        ..spec(FigureKind::Scatter)
    };
    let figure = prepare(&scatter, &book).unwrap();
    let Drawing::Scatter(found) = &figure.drawing else { panic!("{figure:?}") };
    assert_eq!((found.panels[0].items, found.panels[0].points.len()), (5001, 1667));
    assert_eq!(found.panels[0].correlation, Some(1.0));
    assert!(figure.note.contains("Every n-th item"));
}

#[test]
fn curves() {
    let mut book = empty();
    let curve = |seed, values: &[f64]| Curve {
        of: of("soft", seed),
        column: "loss".into(),
        values: values.to_vec(),
        ..Curve::default()
    };
    book.curves = vec![curve(0, &[3.0, NAN, 1.0]), curve(1, &[1.0, NAN])];
    let figure = prepare(&spec(FigureKind::Curves), &book).unwrap();
    assert_eq!(rows(&figure), ["loss,tiny,all,soft,1,2,1,3,2", "loss,tiny,all,soft,3,1,1,1,1"]);
    assert!(figure.note.contains("Each epoch averages the seeds"));
}

/// Lines that are no history have places of their own, and are drawn where they are asked for.
#[test]
fn other_lines() {
    let mut book = empty();
    let curve = |seed, column: &str, x: &[f64], values: &[f64]| Curve {
        of: of("soft", seed),
        column: column.into(),
        values: values.to_vec(),
        x: x.to_vec(),
    };
    let way = [0.0, 0.5, 1.0];
    book.curves = vec![
        curve(0, "loss", &[], &[3.0, 2.0]),
        curve(0, "path", &way, &[1.0, 3.0, 1.0]),
        curve(1, "path", &way, &[1.0, 5.0, 2.0]),
    ];
    let figure = prepare(&spec(FigureKind::Curves), &book).unwrap();
    assert_eq!(rows(&figure).len(), 2);
    let asked = FigureSpec { metrics: vec!["path".into()], ..spec(FigureKind::Curves) };
    let figure = prepare(&asked, &book).unwrap();
    assert!(figure.csv().starts_with("column,dataset,k,arm,x,mean"));
    assert_eq!(
        rows(&figure),
        [
            "path,tiny,all,soft,0,1,1,1,2",
            "path,tiny,all,soft,0.5,4,3,5,2",
            "path,tiny,all,soft,1,1.5,1,2,2"
        ]
    );
    assert!(!figure.note.contains("epoch") && figure.svg(Form::File).contains("<svg"));
}

#[test]
fn maps() {
    let mut book = empty();
    let picture = |value| Picture { width: 1, height: 1, channels: 3, pixels: vec![value; 3] };
    let overlay = |arm: &str, seed, item: &str, value| Overlay {
        of: of(arm, seed),
        item: item.into(),
        picture: picture(value),
    };
    book.overlays = vec![
        overlay("soft", 0, "a", 1),
        overlay("soft", 0, "b", 2),
        overlay("soft", 1, "a", 3),
        overlay("hard", 0, "a", 4),
    ];
    let own = Item { id: "a".into(), picture: Some(picture(9)), ..Item::default() };
    let collection =
        Collection { dataset: "tiny".into(), items: vec![own], ..Collection::default() };
    book.collections.push(collection);
    let figure = prepare(&spec(FigureKind::Maps), &book).unwrap();
    let Drawing::Maps(found) = &figure.drawing else { panic!("{figure:?}") };
    let titles: Vec<String> = found.columns.iter().map(|column| column.title.join(" ")).collect();
    assert_eq!(titles, ["hard labels seed 0", "soft labels seed 0", "soft labels seed 1"]);
    assert_eq!((found.items.len(), &found.items[0].picture), (2, &Some(picture(9))));
    assert_eq!(found.items[1].maps, [None, Some(picture(2)), None]);
    assert_eq!(rows(&figure)[3], "b,tiny,all,hard,0,no");
    // The picture itself, and four maps.
    assert_eq!(figure.svg(Form::File).matches("<image").count(), 5);
    let one = FigureSpec { count: Some(1), ..spec(FigureKind::Maps) };
    assert_eq!(rows(&prepare(&one, &book).unwrap()).len(), 3);
    // Without any there is nothing to show, and no error.
    assert_eq!(rows(&prepare(&one, &empty()).unwrap()), [""; 0]);
}

#[test]
fn pictures() {
    let mut book = empty();
    let item = |id: &str, votes: &[f64], predictions: Vec<Vec<f32>>| Item {
        id: id.into(),
        votes: votes.to_vec(),
        predictions,
        picture: Some(Picture { width: 1, height: 1, channels: 1, pixels: vec![7] }),
        ..Item::default()
    };
    book.collections.push(Collection {
        dataset: "tiny".into(),
        classes: vec!["cat".into(), "dog".into()],
        items: vec![
            item("sure", &[9.0, 0.0], vec![vec![1.0, 0.0], vec![0.5, 0.5]]),
            item("split", &[1.0, 3.0], vec![vec![], vec![0.25, 0.75]]),
            item("none", &[0.0, 0.0], vec![]),
        ],
        predicted_by: vec![("soft".into(), Some(5)), ("hard".into(), None)],
    });
    let figure =
        prepare(&FigureSpec { count: Some(1), ..spec(FigureKind::Pictures) }, &book).unwrap();
    let Drawing::Pictures(found) = &figure.drawing else { panic!("{figure:?}") };
    let titles: Vec<&str> = found.columns.iter().map(|c| c.title.as_str()).collect();
    assert_eq!(titles, ["hard labels, all votes", "soft labels, 5 votes"]);
    assert_eq!(found.items.len(), 1);
    assert_eq!(found.items[0].id, "split");
    assert_eq!(found.items[0].classes[1].votes, Some(0.75));
    assert_eq!(found.items[0].classes[1].predicted, [Some(0.75), None]);
    assert_eq!(rows(&figure)[0], "tiny,split,cat,votes,,,0.25");
    assert_eq!(rows(&figure)[2], "tiny,split,cat,prediction,soft,5,");

    let named =
        FigureSpec { items: vec!["none".into(), "sure".into()], ..spec(FigureKind::Pictures) };
    let figure = prepare(&named, &book).unwrap();
    let Drawing::Pictures(found) = &figure.drawing else { panic!("{figure:?}") };
    assert_eq!(found.items[0].classes[0].votes, None);
    assert_eq!(found.items[1].classes[0].votes, Some(1.0));

    let wrong = FigureSpec { items: vec!["sur".into()], ..spec(FigureKind::Pictures) };
    let error = prepare(&wrong, &book).unwrap_err().to_string();
    assert_eq!(error, "figure \"f\": there is no item \"sur\"; did you mean \"sure\"?");
}

#[test]
fn of_many_classes_the_largest_are_shown() {
    let mut book = empty();
    let votes: Vec<f64> = (0..15).map(|c| if c % 2 == 0 { 2.0 } else { 0.0 }).collect();
    book.collections.push(Collection {
        dataset: "tiny".into(),
        classes: (0..15).map(|c| format!("c{c}")).collect(),
        items: vec![Item { id: "i".into(), votes, ..Item::default() }],
        predicted_by: Vec::new(),
    });
    let figure = prepare(&spec(FigureKind::Pictures), &book).unwrap();
    let Drawing::Pictures(found) = &figure.drawing else { panic!("{figure:?}") };
    let names: Vec<&str> = found.items[0].classes.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["c0", "c1", "c2", "c3", "c4", "c6", "c8", "c10", "c12", "c14"]);
    assert_eq!(found.items[0].others, 5);
}

#[test]
fn wrong_names_are_errors_that_help() {
    let mut book = empty();
    book.items.push(numbers("soft", 0, &[1.0; 4]));
    let base = || spec(FigureKind::Effect);
    let (x, y) = (|| "x".to_owned(), || "y".to_owned());
    let cases = [
        (
            FigureSpec { arms: vec!["sfot".into()], ..base() },
            "there is no arm \"sfot\"; did you mean \"soft\"?",
        ),
        (FigureSpec { datasets: vec!["big".into()], ..base() }, "there is no dataset \"big\""),
        (FigureSpec { y: y(), ..base() }, "`x` is missing"),
        (FigureSpec { x: x(), ..base() }, "`y` is missing"),
        (FigureSpec { x: "z".into(), y: y(), ..base() }, "there is no column of the items \"z\""),
        (
            FigureSpec { x: x(), y: y(), against: Some("hrd".into()), ..base() },
            "did you mean \"hard\"?",
        ),
        (
            FigureSpec { metrics: vec!["nll".into()], ..spec(FigureKind::Points) },
            "there is no metric \"nll\"",
        ),
    ];
    for (spec, words) in cases {
        let error = prepare(&spec, &book).unwrap_err().to_string();
        assert!(error.starts_with("figure \"f\": ") && error.contains(words), "{error}");
    }
}

#[test]
fn two_values_of_one_seed_are_an_error() {
    let mut book = empty();
    book.rows = vec![row("soft", None, 0, 0.1), row("soft", None, 0, 0.2)];
    let error = prepare(&spec(FigureKind::Points), &book).unwrap_err();
    assert!(matches!(error, ReportError::ResultTwice { seed: 0, .. }), "{error}");
    book.rows[1].value = Some(0.1);
    assert!(prepare(&spec(FigureKind::Points), &book).is_ok());
}
