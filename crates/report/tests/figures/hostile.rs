//! Data that is empty, broken or meant to break out.

use dissensus_report::book::{Book, ItemNumbers, Picture};
use dissensus_report::figures::{FigureSpec, Form, prepare};
use dissensus_report::raster;

use crate::book::{Size, book, specs};
use crate::drawn::check;

fn draw(book: &Book) {
    for spec in specs() {
        let figure = prepare(&spec, book).unwrap();
        check(&figure);
        let csv = figure.csv();
        assert!(!csv.contains("NaN") && !csv.contains("inf"), "{csv}");
    }
}

#[test]
fn markup_shows_as_text() {
    let evil = "<script>alert(1)</script> & \"quotes\" 'and' ]]> \u{1}\u{202e}";
    let mut book = book(&Size { arms: 2, datasets: 2, items: 12, text: true, ..Size::default() });
    let old: Vec<String> = book.arms.iter().map(|arm| arm.name.clone()).collect();
    for (i, arm) in book.arms.iter_mut().enumerate() {
        arm.name = format!("{evil}{i}");
        arm.title = evil.into();
    }
    let new = |name: &str| format!("{evil}{}", old.iter().position(|o| o == name).unwrap());
    book.rows.iter_mut().for_each(|row| row.arm = new(&row.arm));
    book.curves.iter_mut().for_each(|curve| curve.of.arm = new(&curve.of.arm));
    book.items.iter_mut().for_each(|items| items.of.arm = new(&items.of.arm));
    book.reliability.iter_mut().for_each(|run| run.of.arm = new(&run.of.arm));
    book.datasets.iter_mut().for_each(|dataset| dataset.title = evil.into());
    book.metrics.iter_mut().for_each(|metric| metric.title = evil.into());
    for collection in &mut book.collections {
        collection.predicted_by.iter_mut().for_each(|by| by.0 = new(&by.0));
        collection.classes.iter_mut().for_each(|class| *class = evil.into());
        for item in &mut collection.items {
            item.text = Some(evil.repeat(20));
            item.id = evil.into();
        }
    }
    for spec in specs() {
        let against = spec.against.as_ref().map(|_| format!("{evil}0"));
        let (title, note) = (evil.to_owned(), evil.to_owned());
        let figure = prepare(&FigureSpec { title, note, against, ..spec }, &book).unwrap();
        check(&figure);
        let page = figure.svg(Form::Page);
        assert!(page.contains("&lt;script&gt;alert(1)"), "{}", figure.name);
        assert!(page.contains("data-arm=\"&lt;script&gt;"), "{}", figure.name);
    }
}

#[test]
fn very_long_words_stay_on_the_canvas() {
    let long = "Donaudampfschifffahrtsgesellschaftskapitän".repeat(30);
    let mut book = book(&Size { arms: 4, datasets: 2, items: 9, text: true, ..Size::default() });
    book.arms.iter_mut().for_each(|arm| arm.title.clone_from(&long));
    book.datasets.iter_mut().for_each(|dataset| dataset.title.clone_from(&long));
    book.metrics.iter_mut().for_each(|metric| metric.title.clone_from(&long));
    for collection in &mut book.collections {
        collection.classes.iter_mut().for_each(|class| class.clone_from(&long));
        for item in &mut collection.items {
            item.text = Some(long.clone());
        }
    }
    for spec in specs() {
        let titles = (Some(long.clone()), Some(long.clone()));
        let spec = FigureSpec {
            title: long.clone(),
            note: format!("{long} ").repeat(9),
            x_title: titles.0,
            y_title: titles.1,
            ..spec
        };
        check(&prepare(&spec, &book).unwrap());
    }
}

#[test]
fn without_data_a_figure_says_so() {
    let full = book(&Size::default());
    let nothing =
        Book { arms: full.arms.clone(), datasets: full.datasets.clone(), ..Book::default() };
    let metrics = Book { metrics: full.metrics.clone(), ..nothing.clone() };
    for spec in specs() {
        let figure = prepare(&spec, &metrics).unwrap();
        check(&figure);
        assert!(figure.svg(Form::File).contains("no data"), "{}", figure.name);
        assert_eq!(figure.csv().lines().count(), 1, "{}", figure.name);
        raster::pdf(&figure.svg(Form::File)).unwrap();
    }
    draw(&nothing);
    for spec in specs() {
        let figure = prepare(&FigureSpec { against: None, ..spec }, &Book::default()).unwrap();
        check(&figure);
        assert!(figure.svg(Form::Page).contains("no data"), "{}", figure.name);
    }
}

#[test]
fn values_that_are_no_numbers_are_left_out() {
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let mut book = book(&Size { arms: 3, items: 20, seeds: 3, ..Size::default() });
    for (i, row) in book.rows.iter_mut().enumerate().filter(|(i, _)| i % 3 == 0) {
        row.value = Some(bad[i % 2]);
    }
    for curve in &mut book.curves {
        curve.values.iter_mut().step_by(2).for_each(|value| *value = bad[1]);
    }
    for numbers in &mut book.items {
        for (i, (_, values)) in numbers.columns.iter_mut().enumerate() {
            values.iter_mut().skip(i).step_by(3).for_each(|value| *value = bad[i]);
        }
    }
    for run in &mut book.reliability {
        run.bins[0] = (f64::NAN, 0.5, 3);
        run.bins[1].1 = f64::INFINITY;
        run.bins[2].2 = 0;
    }
    for collection in &mut book.collections {
        collection.items[0].votes[0] = f64::NAN;
        collection.items[1].predictions[0][0] = f32::NAN;
        collection.items[2].predictions.clear();
        collection.items[3].votes.clear();
        collection.items[4].picture = Some(Picture { width: 9, ..Picture::default() });
    }
    draw(&book);
    for numbers in &mut book.items {
        numbers.columns.iter_mut().for_each(|(_, values)| values.fill(f64::NAN));
    }
    for run in &mut book.reliability {
        run.bins.clear();
    }
    draw(&book);
}

#[test]
fn values_that_do_not_differ_are_drawn() {
    for value in [0.0, -3.5, 1e-12, 1e200, f64::MAX] {
        let mut book = book(&Size { arms: 2, items: 5, seeds: 3, ..Size::default() });
        book.rows.iter_mut().for_each(|row| row.value = Some(value));
        book.curves.iter_mut().for_each(|curve| curve.values.fill(value));
        for ItemNumbers { columns, .. } in &mut book.items {
            columns.iter_mut().for_each(|(_, values)| values.fill(value));
        }
        book.reliability.iter_mut().for_each(|run| run.bins = vec![(0.5, 0.5, 10); 3]);
        draw(&book);
    }
}

#[test]
fn columns_of_other_lengths_are_no_reason_to_panic() {
    let mut book = book(&Size { arms: 2, items: 12, seeds: 3, ..Size::default() });
    for (i, numbers) in book.items.iter_mut().enumerate() {
        numbers.ids.truncate(8 - i % 3);
        numbers.columns[0].1.truncate(7);
        if i % 2 == 0 {
            numbers.columns.truncate(1);
        }
    }
    for collection in &mut book.collections {
        for (i, item) in collection.items.iter_mut().enumerate() {
            item.votes.truncate(i);
            item.predictions.truncate(i % 3);
        }
    }
    draw(&book);
}
