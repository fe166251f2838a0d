//! The data of figures, as numbers, from books small enough to reckon by hand.

use dissensus_report::ReportError;
use dissensus_report::book::{
    Arm, Book, Collection, Curve, Direction, Item, ItemNumbers, Metric, Named, Overlay, Picture,
    ReliabilityOf, Row, RunKey,
};
use dissensus_report::figures::{Figure, FigureKind, FigureSpec, Form, prepare};
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

/// A row whose numbers from this column on are a mean, both ends of its interval, and `n`.
fn close(row: &str, from: usize, mean: f64, half: f64, n: usize) {
    let fields: Vec<f64> =
        row.split(',').skip(from).take(4).map(|field| field.parse().unwrap()).collect();
    let expected = [mean, mean - half, mean + half, n as f64];
    let near = |(a, b): (&f64, f64)| (a - b).abs() < 1e-7;
    assert!(fields.iter().zip(expected).all(near), "{row}: {expected:?}");
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
    assert_eq!(figure.svg(Form::File).matches(">KL\u{a0}↓<").count(), 1);
    let csv = rows(&figure);
    close(&csv[2], 7, 0.2, T1 * 0.1, 2);
    let expected = [
        "kl,all,tiny,5,hard,mean,,0.5,,,1",
        "kl,all,tiny,5,hard,seed,0,0.5,,,",
        &csv[2],
        "kl,all,tiny,5,soft,seed,0,0.1,,,",
        "kl,all,tiny,5,soft,seed,1,0.3,,,",
        "kl,all,tiny,all,hard,mean,,0.4,,,1",
        "kl,all,tiny,all,hard,seed,0,0.4,,,",
    ];
    assert_eq!(csv, expected);

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
    let svg = figure.svg(Form::Page);
    assert!(svg.contains("var(--figure-arm-1,"), "the second arm keeps its look");
    let csv = rows(&figure);
    assert_eq!(csv.len(), 2);
    assert!(csv[0].starts_with("kl,all,tiny,2,soft,") && csv[1].starts_with("kl,all,tiny,all,"));
    close(&csv[0], 5, 0.7, 0.0, 3);
    close(&csv[1], 5, 0.2, T2 * 0.1 / 3f64.sqrt(), 3);
    assert_eq!(figure.note, "Mine. Means with 95 % t intervals over seeds.");
}

fn numbers(arm: &str, seed: u64, y: &[f64]) -> ItemNumbers {
    let ids = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let columns = vec![("x".into(), vec![0.0, 0.0, 1.0, 2.0]), ("y".into(), y.to_vec())];
    ItemNumbers { of: of(arm, seed), ids, columns, ..ItemNumbers::default() }
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
    assert!(figure.svg(Form::File).contains(">y minus hard labels<"));
    // Items a and b have one x and stay together; c has no y.
    let csv = rows(&figure);
    assert!(csv[0].starts_with("tiny,all,soft,hard,1,0,0,0,2,"), "{}", csv[0]);
    close(&csv[0], 9, 2.0, T2 / 3f64.sqrt(), 3);
    assert_eq!(csv.len(), 2);
    // By hand: ranks (1.5, 1.5, 3) and (1, 2, 3) in every seed.
    assert!(figure.note.contains("over seeds. "));
    assert!(
        figure.note.ends_with("of both over the items of a seed: 0.87 to 0.87, on average 0.866.")
    );
    assert_eq!(rows(&figure)[1], "tiny,all,soft,hard,2,2,2,2,1,8,8,8,3,seeds");

    // What is gained is the other way round, and a slice has only its items.
    let gain = prepare(&FigureSpec { gain: true, ..effect.clone() }, &book).unwrap();
    assert!(gain.svg(Form::File).contains(">gain in y over hard labels<"));
    assert_eq!(rows(&gain)[1], "tiny,all,soft,hard,2,2,2,2,1,-8,-8,-8,3,seeds");
    for items in &mut book.items {
        items.slices = vec![("last".into(), vec![false, false, false, true])];
    }
    let last =
        prepare(&FigureSpec { slice: Some("last".into()), ..effect.clone() }, &book).unwrap();
    assert_eq!(rows(&last), ["tiny,all,soft,hard,1,2,2,2,1,8,8,8,3,seeds"]);

    // Two seeds are too few: over items, whose values are means over seeds.
    book.items.truncate(4);
    let plain = FigureSpec { against: None, ..effect };
    let figure = prepare(&plain, &book).unwrap();
    assert!(figure.note.ends_with("over items."));
    let csv = rows(&figure);
    assert!(csv[2].starts_with("tiny,all,soft,,1,") && csv[2].ends_with(",items"), "{csv:?}");
    close(&csv[2], 9, 2.5, T1 * 1.0, 2);
    // All arms share the bins: c is in the second, by the other arm.
    assert_eq!(csv[3], "tiny,all,soft,,2,1,2,1.5,1,9,,,1,items");
}

#[test]
fn smooth_reliability_over_seeds() {
    let mut book = empty();
    let run = |seed, smooth: &[(f64, f64)]| ReliabilityOf {
        of: of("hard", seed),
        smooth: smooth.to_vec(),
        ..ReliabilityOf::default()
    };
    // One run has no confidence of 0.5.
    book.reliability = vec![run(0, &[(0.5, 0.4), (0.75, 0.5)]), run(1, &[(0.75, 0.7)])];
    let smooth = FigureSpec { smooth: true, ..spec(FigureKind::Reliability) };
    let figure = prepare(&smooth, &book).unwrap();
    assert_eq!(rows(&figure), ["tiny,all,hard,0.75,0.6,0.5,0.7,2"]);
}

#[test]
fn a_panel_for_each_slice() {
    let mut book = empty();
    for (slice, value) in [("all", 0.25), ("top", 0.5)] {
        let row = Row {
            dataset: "tiny".into(),
            arm: "hard".into(),
            metric: "kl".into(),
            slice: slice.into(),
            value: Some(value),
            ..Row::default()
        };
        book.rows.push(row);
    }
    let slices = vec!["all".to_owned(), "top".to_owned()];
    let points = FigureSpec { metrics: vec!["kl".into()], slices, ..spec(FigureKind::Points) };
    let figure = prepare(&points, &book).unwrap();
    let svg = figure.svg(Form::File);
    assert!(svg.contains("all items<") && svg.contains("top<"), "{svg}");
    let means: Vec<String> = rows(&figure).into_iter().filter(|row| row.contains("mean")).collect();
    assert_eq!(
        means,
        ["kl,all,tiny,all,hard,mean,,0.25,,,1", "kl,top,tiny,all,hard,mean,,0.5,,,1"]
    );
}

#[test]
fn histograms_of_the_data() {
    let mut book = empty();
    book.data.push(ItemNumbers {
        of: RunKey { dataset: "tiny".into(), ..RunKey::default() },
        ids: ["a", "b", "c"].map(str::to_owned).to_vec(),
        columns: vec![("normalized_entropy".into(), vec![0.0, 0.1, 1.0])],
        ..ItemNumbers::default()
    });
    let data = FigureSpec {
        data: true,
        x: "normalized_entropy".into(),
        count: Some(2),
        ..spec(FigureKind::Histogram)
    };
    let csv = rows(&prepare(&data, &book).unwrap());
    assert!(csv[0].starts_with("tiny,all,people,1,0,0.5,2,"), "{csv:?}");
    assert!(csv[1].starts_with("tiny,all,people,2,0.5,1,1,"), "{csv:?}");
}

#[test]
fn reliability() {
    let mut book = empty();
    book.reliability = vec![
        ReliabilityOf {
            of: of("hard", 0),
            bins: vec![(0.4, 0.5, 10), (0.8, 0.7, 30)],
            ..ReliabilityOf::default()
        },
        ReliabilityOf {
            of: of("hard", 1),
            bins: vec![(0.6, 0.3, 30), (NAN, NAN, 0)],
            ..ReliabilityOf::default()
        },
        ReliabilityOf { of: of("soft", 0), bins: vec![(0.4, 0.5, 10)], ..ReliabilityOf::default() },
        ReliabilityOf {
            of: of("soft", 1),
            bins: vec![(0.4, 0.5, 10), (0.5, 0.5, 10)],
            ..ReliabilityOf::default()
        },
    ];
    let figure = prepare(&spec(FigureKind::Reliability), &book).unwrap();
    let csv = rows(&figure);
    let first: Vec<&str> = csv[0].split(',').collect();
    assert!(near(first[5].parse().unwrap(), 0.55), "weighted by items: {first:?}");
    close(&csv[0], 6, 0.4, T1 * 0.1, 40);
    assert_eq!(csv[1], "tiny,all,hard,bin,,0.8,0.7,,,30");
    assert_eq!(csv[4], "tiny,all,hard,seed,1,0.6,0.3,,,");
    // Seeds that differ in their bins have none together.
    assert!(csv[5..].iter().all(|row| row.starts_with("tiny,all,soft,seed,")), "{csv:?}");
    assert_eq!(csv.len(), 8);
    assert!(figure.note.contains("only the seeds are drawn"));
}

#[test]
fn histogram() {
    let mut book = empty();
    book.items.push(numbers("hard", 0, &[0.0, 0.1, 0.5, NAN]));
    book.items.push(numbers("soft", 0, &[1.0, 1.0, 0.9, 0.4]));
    book.items.push(numbers("soft", 1, &[1.0, 1.0, 1.0, 1.0]));
    let histogram = FigureSpec { x: "y".into(), count: Some(2), ..spec(FigureKind::Histogram) };
    let figure = prepare(&histogram, &book).unwrap();
    let csv = rows(&figure);
    assert!(csv[0].starts_with("tiny,all,hard,1,0,0.5,2,"), "{}", csv[0]);
    assert!(csv[1].starts_with("tiny,all,hard,2,0.5,1,1,"), "{}", csv[1]);
    let soft = ["tiny,all,soft,1,0,0.5,1,0.125", "tiny,all,soft,2,0.5,1,7,0.875"];
    assert_eq!(csv[2..], soft);

    // What people do comes once, of the first arm that has it, behind the arms.
    let with = FigureSpec { people: Some("x".into()), ..histogram.clone() };
    let figure = prepare(&with, &book).unwrap();
    let csv = rows(&figure);
    assert_eq!(csv[..2], ["tiny,all,people,1,0,1,2,0.5", "tiny,all,people,2,1,2,2,0.5"]);
    assert!(csv[2].starts_with("tiny,all,hard,") && csv[4].starts_with("tiny,all,soft,"));
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
    let mut order: Vec<String> = rows(&figure)
        .iter()
        .map(|row| row.split(',').step_by(2).take(2).collect::<Vec<_>>().join(" "))
        .collect();
    order.dedup();
    assert_eq!(order, ["a hard", "b hard", "c hard", "a soft", "b soft", "c soft"]);

    // Texts of a drawing in their order, those that are bold: the titles.
    let titles = |figure: &Figure| -> Vec<String> {
        let svg = figure.svg(Form::File);
        let bold = svg.lines().filter(|line| line.contains("font-weight=\"700\""));
        let words = |line: &str| line.split_once('>').unwrap().1.replace("</text>", "");
        bold.map(words).skip(1).collect()
    };
    let found = titles(&prepare(&spec(FigureKind::Curves), &book).unwrap());
    assert_eq!(found[..2], ["ChaosNLI · training loss", "POPQUORN · training loss"]);
    assert_eq!(found[3], "ChaosNLI · rate", "{found:?}");
    // One column is said once, beside the panels.
    let one = FigureSpec { metrics: vec!["loss".into()], ..spec(FigureKind::Curves) };
    let figure = prepare(&one, &book).unwrap();
    assert_eq!(titles(&figure)[2], "CIFAR-10H-Hard");
    assert_eq!(figure.svg(Form::File).matches(">loss<").count(), 3);
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
    let points = ["a,0,2", "b,0,3", "c,1,5", "d,2,9"];
    assert_eq!(rows(&figure), points.map(|point| format!("tiny,all,soft,{point}")));
    // scipy 1.17.1: `scipy.stats.spearmanr([0, 0, 1, 2], [2, 3, 5, 9])` is 0.9486832980505138
    let svg = figure.svg(Form::File);
    assert!(svg.contains("ρ = 0.949") && svg.contains("no data"), "{svg}");
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
    book.items.push(ItemNumbers { of: of("soft", 0), ids, columns, ..ItemNumbers::default() });
    let scatter = FigureSpec {
        x: "x".into(),
        y: "y".into(),
        arms: vec!["soft".into()],
        ..spec(FigureKind::Scatter)
    };
    let figure = prepare(&scatter, &book).unwrap();
    assert_eq!(rows(&figure).len(), 1667);
    assert!(figure.svg(Form::File).contains("ρ = 1.000"));
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
    let expected =
        ["hard,0,yes", "soft,0,yes", "soft,1,yes", "hard,0,no", "soft,0,yes", "soft,1,no"];
    let item = |at: usize| if at < 3 { "a" } else { "b" };
    let expected = expected.iter().enumerate();
    let expected = expected.map(|(at, rest)| format!("{},tiny,all,{rest}", item(at)));
    assert_eq!(rows(&figure), expected.collect::<Vec<_>>());
    let svg = figure.svg(Form::File);
    assert_eq!((svg.matches(">soft labels<").count(), svg.matches(">seed 0<").count()), (2, 2));
    // The image itself, and four maps.
    assert_eq!(figure.svg(Form::File).matches("<image").count(), 5);
    let one = FigureSpec { count: Some(1), ..spec(FigureKind::Maps) };
    assert_eq!(rows(&prepare(&one, &book).unwrap()).len(), 3);
    // Without any there is nothing to show, and no error.
    assert_eq!(rows(&prepare(&one, &empty()).unwrap()), [""; 0]);
}

#[test]
fn images() {
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
        prepare(&FigureSpec { count: Some(1), ..spec(FigureKind::Images) }, &book).unwrap();
    let svg = figure.svg(Form::File);
    assert!(svg.contains("hard labels, all votes, dog: 0.750"), "{svg}");
    assert!(svg.contains("soft labels, 5 votes, dog: no data"), "{svg}");
    let expected = [
        "cat,votes,,,0.25",
        "cat,prediction,hard,all,0.25",
        "cat,prediction,soft,5,",
        "dog,votes,,,0.75",
        "dog,prediction,hard,all,0.75",
        "dog,prediction,soft,5,",
    ];
    assert_eq!(rows(&figure), expected.map(|row| format!("tiny,split,{row}")));

    let named =
        FigureSpec { items: vec!["none".into(), "sure".into()], ..spec(FigureKind::Images) };
    let figure = prepare(&named, &book).unwrap();
    assert_eq!(rows(&figure)[0], "tiny,none,cat,votes,,,");
    assert_eq!(rows(&figure)[6], "tiny,sure,cat,votes,,,1");

    let wrong = FigureSpec { items: vec!["sur".into()], ..spec(FigureKind::Images) };
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
    let figure = prepare(&spec(FigureKind::Images), &book).unwrap();
    let names: Vec<String> =
        rows(&figure).iter().map(|row| row.split(',').nth(2).unwrap().to_owned()).collect();
    assert_eq!(names, ["c0", "c1", "c2", "c3", "c4", "c6", "c8", "c10", "c12", "c14"]);
    assert!(figure.svg(Form::File).contains("+ 5 more"));
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
