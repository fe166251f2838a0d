//! Every kind of figure as a picture: SVG that a parser reads, PNG and PDF made of it.

use dissensus_report::book::Book;
use dissensus_report::figures::{Figure, FigureSpec, Form, prepare};
use dissensus_report::raster;
use resvg::usvg::{self, Group, Node, Options, Tree};

use crate::book::{Size, book, specs};

fn all(book: &Book) -> Vec<Figure> {
    specs().iter().map(|spec| prepare(spec, book).unwrap()).collect()
}

/// What every picture must be: XML, finite, and with all of its text on the canvas.
pub(crate) fn check(figure: &Figure) {
    for form in [Form::File, Form::Page] {
        let svg = figure.svg(form);
        let name = &figure.name;
        let document = usvg::roxmltree::Document::parse(&svg).unwrap();
        for node in document.descendants() {
            for attribute in node.attributes() {
                let value = attribute.value();
                let bad = ["NaN", "inf"].iter().any(|word| value.contains(word));
                let free = ["data-arm", "href", "aria-label"].contains(&attribute.name());
                assert!(free || !bad, "{name}: {attribute:?}");
            }
        }
        // Nothing in a picture runs or is fetched.
        for word in ["<script", "onload=", "href=\"http", "<foreignObject"] {
            assert!(!svg.contains(word), "{name}: {word}");
        }
    }
    let svg = figure.svg(Form::File);
    let document = usvg::roxmltree::Document::parse(&svg).unwrap();
    let words = document.descendants().filter(|node| node.tag_name().name() == "text");
    let words: Vec<&str> = words.map(|node| node.text().unwrap()).collect();
    let tree = Tree::from_str(&raster::outlined(&svg).unwrap(), &Options::default()).unwrap();
    let size = tree.size();
    let mut texts = Vec::new();
    texts_of(tree.root(), &words, &mut texts);
    assert!(texts.len() > 2, "{}: {words:?}", figure.name);
    for (words, bounds) in &texts {
        let inside = bounds.left() >= -0.5
            && bounds.top() >= -0.5
            && bounds.right() <= size.width() + 0.5
            && bounds.bottom() <= size.height() + 0.5;
        assert!(inside, "{}: {words:?} at {bounds:?} of {size:?}", figure.name);
    }
    // Texts stand apart from each other.
    for (i, (words, a)) in texts.iter().enumerate() {
        for (other, b) in &texts[i + 1..] {
            let apart = a.right() <= b.left() + 0.7
                || b.right() <= a.left() + 0.7
                || a.bottom() <= b.top() + 1.5
                || b.bottom() <= a.top() + 1.5;
            assert!(apart, "{}: {words:?} {a:?} covers {other:?} {b:?}", figure.name);
        }
    }
}

/// Every text with the box of its ink.
fn texts_of<'a>(group: &Group, words: &[&'a str], found: &mut Vec<(&'a str, usvg::Rect)>) {
    for node in group.children() {
        match node {
            Node::Group(group) => texts_of(group, words, found),
            Node::Path(path) => {
                let place =
                    path.id().strip_prefix("text-").map(|place| place.parse::<usize>().unwrap());
                found.extend(place.map(|place| (words[place], path.abs_bounding_box())));
            }
            _ => {}
        }
    }
}

#[test]
fn every_kind_is_a_sound_picture() {
    for figure in all(&book(&Size::default())) {
        check(&figure);
    }
}

#[test]
fn sizes_from_the_smallest_to_the_largest_are_sound_pictures() {
    let ks = vec![Some(1), Some(2), Some(3), Some(5), Some(10), Some(50), None];
    let sizes = [
        Size { arms: 12, datasets: 3, ks: ks.clone(), seeds: 3, items: 60, text: false },
        Size { arms: 12, datasets: 1, ks, seeds: 2, items: 60, text: true },
        Size { arms: 1, datasets: 1, ks: vec![None], seeds: 1, items: 1, text: false },
        Size { arms: 2, datasets: 2, ks: vec![Some(5)], seeds: 4, items: 3, text: true },
    ];
    for size in sizes {
        for figure in all(&book(&size)) {
            check(&figure);
        }
    }
}

#[test]
fn marks_carry_their_arm_and_their_words() {
    let book = book(&Size::default());
    for figure in all(&book) {
        let svg = figure.svg(Form::Page);
        assert!(svg.contains("<g class=\"arm\" data-arm=\"sls\""), "{}", figure.name);
        assert!(svg.contains("var(--figure-arm-2, #222222)"), "{}", figure.name);
        assert!(!svg.contains("@font-face"), "{}", figure.name);
        assert!(figure.svg(Form::File).contains("@font-face"));
    }
    let spec = &specs()[1];
    let svg = prepare(spec, &book).unwrap().svg(Form::Page);
    let tip = svg.split("<title>").find(|rest| rest.starts_with("soft labels, 5 votes: ")).unwrap();
    let tip = tip.split("</title>").next().unwrap();
    assert!(tip.contains(" ± ") && tip.ends_with("(5 seeds)"), "{tip}");
}

#[test]
fn png_and_pdf_are_made_of_it() {
    for figure in all(&book(&Size { items: 40, ..Size::default() })) {
        let svg = figure.svg(Form::File);
        let png = raster::png(&svg, 2.0).unwrap();
        let pixels = resvg::tiny_skia::Pixmap::decode_png(&png).unwrap();
        // 174 mm at 192 dots an inch, or 84.
        assert!([1316, 635].contains(&pixels.width()), "{}: {}", figure.name, pixels.width());
        let ink = pixels.pixels().iter().filter(|p| p.red() < 128).count();
        assert!(ink > 1000 && ink < pixels.pixels().len() / 2, "{}: {ink}", figure.name);
        let pdf = raster::pdf(&svg).unwrap();
        assert!(pdf.starts_with(b"%PDF"));
        let has = |word: &[u8]| pdf.windows(word.len()).any(|w| w == word);
        assert!(has(b"/FontFile"), "{}", figure.name);
        assert!(has(b"DejaVuSans"), "{}", figure.name);
    }
}

#[test]
fn the_same_data_gives_the_same_bytes() {
    let draw = || -> Vec<Vec<u8>> {
        let figures = all(&book(&Size { arms: 3, items: 30, ..Size::default() }));
        let files = figures.iter().flat_map(|figure| {
            let svg = figure.svg(Form::File);
            let (png, pdf) = (raster::png(&svg, 1.0).unwrap(), raster::pdf(&svg).unwrap());
            [
                svg.into_bytes(),
                figure.svg(Form::Page).into_bytes(),
                figure.csv().as_bytes().to_vec(),
                png,
                pdf,
            ]
        });
        files.collect()
    };
    let same = draw().iter().zip(&draw()).position(|(a, b)| a != b);
    assert_eq!(same, None, "the place of the first file that differs");
}

/// `cargo test -p dissensus-report --test figures -- --ignored` writes pictures to look at.
#[test]
#[ignore = "writes pictures to look at"]
fn pictures_to_look_at() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, figure: &Figure| {
        let svg = figure.svg(Form::File);
        std::fs::write(folder.join(format!("{name}.svg")), &svg).unwrap();
        std::fs::write(folder.join(format!("{name}.pdf")), raster::pdf(&svg).unwrap()).unwrap();
        std::fs::write(folder.join(format!("{name}.csv")), figure.csv()).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), raster::png(&svg, 2.0).unwrap())
            .unwrap();
    };
    for figure in all(&book(&Size { items: 2000, ..Size::default() })) {
        write(&figure.name, &figure);
    }
    let ks = vec![Some(1), Some(5), Some(50), None];
    for figure in all(&book(&Size { arms: 12, datasets: 3, ks, ..Size::default() })) {
        write(&format!("many-{}", figure.name), &figure);
    }
    for figure in all(&book(&Size { text: true, arms: 3, ks: vec![None], ..Size::default() })) {
        write(&format!("few-{}", figure.name), &figure);
    }
    let spec = FigureSpec { metrics: vec!["soft_nll".into()], ..specs()[1].clone() };
    write("one-lines", &prepare(&spec, &book(&Size::default())).unwrap());
}
