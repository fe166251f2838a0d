//! The page as text: what is in it, that nothing from data becomes markup, and how large it is.
//! `scripts/check-page.sh` opens it in a browser.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dissensus_report::book::{Arm, Book, Collection, Item, Metric, Opening};
use dissensus_report::figures::{self, Figure};
use dissensus_report::page::render;
use dissensus_report::tables::{self, Table, Tally};

mod page_book;

fn prepared(book: &Book) -> (Vec<Table>, Vec<Figure>) {
    let tables = book.tables.iter().map(|spec| tables::prepare(spec, book).unwrap()).collect();
    let figures = book.figures.iter().map(|spec| figures::prepare(spec, book).unwrap()).collect();
    (tables, figures)
}

fn page(book: &Book) -> String {
    let (tables, figures) = prepared(book);
    render(book, &tables, &figures, Tally::of(&tables).as_ref()).unwrap()
}

/// What stands between the first `from` and the next `to`.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, after) = text.split_once(from).unwrap_or_else(|| panic!("{from} is not there"));
    after.split_once(to).unwrap_or_else(|| panic!("no {to} behind {from}")).0
}

/// The page without what its own files hold: all that is left comes from data or from our code.
fn without_files(page: &str) -> String {
    let (before, rest) = page.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    let (rest, script) = rest.rsplit_once("<script>").unwrap();
    let (_, after) = script.split_once("</script>").unwrap();
    format!("{before}{rest}{after}")
}

#[test]
fn nothing_from_data_becomes_markup() {
    let page = page(&page_book::hostile());
    // One style and two scripts of ours; the other blocks are data.
    assert_eq!(page.matches("<style").count(), 1);
    assert_eq!(page.matches("<script>").count(), 2);
    let data = page.matches("<script type=\"").count();
    assert_eq!(page.matches("</script>").count(), 2 + data);
    assert_eq!(page.matches("</title>").count(), page.matches("<title>").count());
    let ours = without_files(&page);
    for hostile in ["<script>window.hacked", "<img", "<b ", "<b>", "<i>", "<!--", "</textarea></"] {
        assert!(!ours.contains(hostile), "{hostile:?} is in the page");
    }
    assert!(ours.contains("&lt;script&gt;window.hacked = 1&lt;/script&gt;"), "it is shown as text");
    assert!(ours.contains("{{script}}"), "braces of data stay");
}

#[test]
fn blocks_of_json_come_back_as_they_were() {
    let book = page_book::hostile();
    let page = page(&book);
    let told = between(&page, "id=\"told\">", "</script>");
    assert!(!told.contains(['<', '>', '&', '\u{2028}']));
    let told: serde_json::Value = serde_json::from_str(told).unwrap();
    assert_eq!(told["arms"][3][0], book.arms[3].name.as_str());
    assert_eq!(told["metrics"][3]["what"], page_book::HOSTILE);
    assert!(told["tables"][0]["latex"].as_str().unwrap().contains("\\toprule"));
    let texts: Vec<Option<String>> =
        serde_json::from_str(between(&page, "id=\"texts-1\">", "</script>")).unwrap();
    assert!(texts.contains(&Some(page_book::HOSTILE.to_owned())));
    let collections: serde_json::Value =
        serde_json::from_str(between(&page, "id=\"collections\">", "</script>")).unwrap();
    assert_eq!(collections[1]["classes"][2], page_book::HOSTILE);
    assert_eq!(collections[0]["by"][4]["title"], "Soft labels, 3 votes");
}

#[test]
fn the_policy_lets_only_our_scripts_run() {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use sha2::{Digest, Sha256};
    let page = page(&page_book::hostile());
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    let scripts = policy.split(';').find(|part| part.trim().starts_with("script-src")).unwrap();
    assert!(!scripts.contains("unsafe"), "{scripts}");
    for script in page.split("<script>").skip(1) {
        let script = script.split_once("</script>").unwrap().0;
        let hash = STANDARD.encode(Sha256::digest(script));
        assert!(scripts.contains(&format!("'sha256-{hash}'")), "a script is not allowed to run");
    }
    for outside in ["src=\"http", "href=\"http", "url(http", "@import", "//cdn"] {
        assert!(!page.contains(outside), "{outside} is in the page");
    }
}

#[test]
fn everything_is_said() {
    let page = page(&page_book::hostile());
    for text in [
        "160 runs are done, <a href=\"#runs\">1 failed</a>, 2 are not done.",
        "Accuracy (higher is better) on Pictures: no significant difference between \
         <strong>Sampled labels</strong>",
        "(smallest possible p",
        "More columns: scroll sideways",
        "3 cells have a published mean and sd",
        "<strong class=\"holds\">Holds:</strong> Soft labels are below the majority label",
        "p = 0.031; 5 seeds, one-sided paired Wilcoxon).</p>",
        "the loss is not finite",
        "<dt>version</dt><dd>0.1.0</dd>",
        "The resolved study, as TOML",
        "aria-label=\"How Soft NLL is computed\"",
        "data-arm=\"sls\"",
        "Wilcoxon signed-rank test against Majority label, two-sided, 5 pairs: p = 0.063",
        "A label is drawn from the votes anew in every epoch.",
        "class=\"published within-1-sd\"",
    ] {
        assert!(page.contains(text), "{text:?} is not in the page");
    }
}

/// What stands between backticks is code; none is left to read.
#[test]
fn no_backtick_is_shown() {
    let arm = Arm { name: "sls".into(), title: "SLS".into(), about: "As `sls` says.".into() };
    let settings = "as for `kl`".into();
    let metric = Metric { name: "kl".into(), title: "KL".into(), settings, ..Metric::default() };
    let about = "What does `sls` do with `5` votes?".into();
    let book = Book { about, arms: vec![arm], metrics: vec![metric], ..Book::default() };
    let table =
        Table { title: "The `main` one".into(), note: "See `kl`.".into(), ..Table::default() };
    let page = render(&book, &[table], &[], None).unwrap();
    let main = between(&page, "<main", "</main>");
    assert!(!main.contains('`'), "{main}");
    assert!(main.contains("What does <code>sls</code> do with <code>5</code> votes?"), "{main}");
    assert!(main.contains("<h3>The <code>main</code> one</h3>"), "{main}");
}

#[test]
fn a_study_without_results_has_a_page() {
    let page = render(&Book::default(), &[], &[], None).unwrap();
    for text in
        ["No run is done yet.", "There are no tables.", "There are no figures.", "<h1>Report</h1>"]
    {
        assert!(page.contains(text), "{text:?} is not in the page");
    }
    let ours = without_files(&page);
    assert!(!ours.contains("{{"), "a place in the template is not filled");
    assert!(page.contains("aria-labelledby=\"items-title\" hidden>"), "there is no explorer");
    let mut book = page_book::hostile();
    book.rows.clear();
    book.collections.clear();
    book.curves.clear();
    book.items.clear();
    let tables: Vec<Table> =
        book.tables.iter().filter_map(|s| tables::prepare(s, &book).ok()).collect();
    let page = render(&book, &tables, &[], Tally::of(&tables).as_ref()).unwrap();
    assert!(page.contains("No run is done yet, <a href=\"#runs\">1 failed</a>, 2 are not done."));
}

#[test]
fn wrong_items_are_refused() {
    let collection = Collection {
        dataset: "pets".into(),
        classes: vec!["cat".into(), "dog".into()],
        items: vec![Item { id: "x".into(), votes: vec![1.0], ..Item::default() }],
        predicted_by: Vec::new(),
    };
    let book = Book { collections: vec![collection], ..Book::default() };
    let error = render(&book, &[], &[], None).unwrap_err().to_string();
    assert!(error.contains("item \"x\" of data set \"pets\" has 1 numbers of votes"), "{error}");
}

/// 10,000 items of 32×32 pictures, with six predictions each.
fn large(noise: f64) -> Book {
    let mut random = page_book::Random(1);
    let mut items = page_book::items(10_000, 10, 6, 5);
    for item in &mut items {
        item.picture = Some(page_book::picture(&mut random, 32, noise));
    }
    let arms: Vec<Arm> = (0..6)
        .map(|at| Arm { name: format!("arm-{at}"), title: format!("Arm {at}"), ..Arm::default() })
        .collect();
    let predicted_by = arms.iter().map(|arm| (arm.name.clone(), None)).collect();
    let classes = (0..10).map(|class| class.to_string()).collect();
    let collection = Collection { dataset: "large".into(), classes, items, predicted_by };
    Book { arms, collections: vec![collection], ..Book::default() }
}

const LIMIT: usize = 15_000_000;

#[test]
fn ten_thousand_pictures_stay_below_the_limit() {
    let page = render(&large(0.05), &[], &[], None).unwrap();
    assert!(page.len() < LIMIT, "{} bytes", page.len());
    let about: serde_json::Value =
        serde_json::from_str(between(&page, "id=\"collections\">", "</script>")).unwrap();
    assert_eq!(about[0]["count"], 10_000);
    assert_eq!(about[0]["sheets"]["kept"], 10_000, "smooth pictures all fit");
}

#[test]
fn pure_noise_is_left_out_where_people_agree() {
    let page = render(&large(1.0), &[], &[], None).unwrap();
    assert!(page.len() < LIMIT, "{} bytes", page.len());
    assert!(page.len() > LIMIT / 2, "{} bytes: the room is used", page.len());
    let about: serde_json::Value =
        serde_json::from_str(between(&page, "id=\"collections\">", "</script>")).unwrap();
    assert_eq!(about[0]["count"], 10_000);
    let kept = about[0]["sheets"]["kept"].as_u64().unwrap();
    assert!(kept > 4000, "{kept}");
    assert!(kept == 10_000 || about[0]["notes"][0].as_str().unwrap().contains("images are shown"));
}

#[test]
fn long_texts_and_many_predictions_stay_below_the_limit() {
    let mut book = large(0.0);
    let collection = &mut book.collections[0];
    for (at, item) in collection.items.iter_mut().enumerate() {
        item.picture = None;
        // Four bytes a character, and what JSON and HTML make longer.
        item.text = Some(format!("{at} {}", "<&\u{2028}𝄞".repeat(500)));
        item.predictions = item.predictions.iter().cycle().take(60).cloned().collect();
    }
    collection.predicted_by = (0..60).map(|k| ("arm-0".to_owned(), Some(k))).collect();
    let page = render(&book, &[], &[], None).unwrap();
    assert!(page.len() < LIMIT, "{} bytes", page.len());
    assert!(page.contains("items are here, those that people disagree on most"));
    assert!(page.contains("Texts are cut at"));
}

/// The question, the claim with its test, then the figure that is named, which is not shown again.
#[test]
fn a_page_opens_with_its_answer() {
    let mut book = page_book::hostile();
    let order = |page: &str, parts: &[&str]| {
        let main = between(page, "<main", "</main>");
        let places: Vec<usize> = parts
            .iter()
            .map(|part| main.find(part).unwrap_or_else(|| panic!("no {part}")))
            .collect();
        assert!(places.is_sorted(), "{parts:?}: {places:?}");
        let figures = book_figures(main);
        assert_eq!(figures.iter().collect::<std::collections::BTreeSet<_>>().len(), figures.len());
        figures
    };
    let parts = ["Does it matter?", "class=\"answer\"", "data-figure=", "class=\"card lead\""];
    let parts = [&parts[..], &["id=\"figures\"", "id=\"tables\"", "id=\"items\""]].concat();
    assert_eq!(order(&page(&book), &parts)[0], "lines");
    // Nothing is named: the first claim that compares arms, and the first figure of its metric.
    book.opening = Opening::default();
    let unasked = page(&book);
    assert_eq!(order(&unasked, &[">Summary<", "class=\"answer\"", "data-figure="])[0], "points");
    book.claims[0].metrics = vec!["kl".into()];
    assert_eq!(order(&page(&book), &[">Summary<"])[0], "lines");
    // No claim: only the figure.
    book.claims.clear();
    let plain = page(&book);
    assert!(!plain.contains("class=\"answer\""));
    assert_eq!(order(&plain, &[">Summary<", "data-figure="])[0], "points");
}

/// The figures of a page, in order.
fn book_figures(main: &str) -> Vec<String> {
    main.split("data-figure=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect()
}

/// One switch finds an arm in tables as lines and as columns, whatever is above them.
#[test]
fn tables_mark_their_arms() {
    let page = page(&page_book::hostile());
    let table = |name: &str| {
        let (_, after) = page.split_once(&format!("-{name}\" data-table=")).unwrap();
        after.split_once("</article>").unwrap().0.to_owned()
    };
    assert!(table("main").contains("<tr data-arm=\"soft\">"));
    let marks = |text: &str| text.matches("data-arm=\"soft\"").count();
    let head = |text: &str| between(text, "<thead>", "</thead>").to_owned();
    // Two data sets: a head and a cell of each.
    for name in ["arms-below", "arms-above"] {
        let table = table(name);
        assert_eq!((marks(&head(&table)), marks(&table)), (2, 4), "{name}: {table}");
        assert!(table.contains("data-from=\"0\""), "{table}");
    }
}
