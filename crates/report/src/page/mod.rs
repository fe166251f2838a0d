//! The report as one HTML file that opens from disk and asks nothing of a network.
//!
//! The page opens with its answer: the question, a claim with its test, and the figure that shows it.
//! The page is written whole: all text, tables and drawings stand in it and read without a script.
//! `script.js` makes tables sort and figures answer; `explorer.js` shows the items. Both, and
//! `style.css`, are plain files of this folder, put into `template.html` as they are. A
//! Content-Security-Policy lets only these two scripts run, known by their hashes, and loads nothing.
//! Whatever comes from data is escaped on its way in (`escape.rs`), and the scripts only ever set it
//! as text.
//!
//! A page stays below 15 MB: what tables and figures leave of it is the room for the items, and what
//! does not fit is left out from the end of their order, which the page says.

mod error;
mod escape;
mod explorer;
mod figures;
mod numbers;
mod opening;
mod parts;
mod sprites;
mod summary;
mod tables;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;
use sha2::{Digest, Sha256};

pub use error::PageError;

use crate::ReportError;
use crate::book::{Book, Metric};
use crate::figures::{Figure, font_css};
use crate::tables::{Table, Tally, csv, latex, markdown};
use escape::{fill, html, json, prose};
use opening::Opening;

const TEMPLATE: &str = include_str!("template.html");
const STYLE: &str = include_str!("style.css");
const THEME: &str = include_str!("theme.js");
const SCRIPT: &str = concat!(include_str!("script.js"), "\n", include_str!("explorer.js"));

/// What a page may take: a little less than 15 MB.
const PAGE: usize = 14_500_000;
/// What items always have, however large the rest is.
const ITEMS: usize = 4_000_000;

/// What the scripts are told.
#[derive(Serialize)]
struct Told<'b> {
    arms: Vec<[&'b str; 2]>,
    metrics: &'b [Metric],
    tables: Vec<Copies>,
}

/// A table as text to copy.
#[derive(Serialize)]
struct Copies {
    markdown: String,
    latex: String,
    csv: String,
}

/// Writes the page: a report's book, with its tables and figures already prepared, and how its
/// numbers compare with published ones.
pub fn render(
    book: &Book,
    tables: &[Table],
    figures: &[Figure],
    tally: Option<&Tally>,
) -> Result<String, ReportError> {
    let title = if book.title.is_empty() { &book.name } else { &book.title };
    let title = if title.is_empty() { "Report" } else { title };
    let about: String = book
        .about
        .split("\n\n")
        .map(str::trim)
        .filter(|paragraph| !paragraph.is_empty())
        .map(|paragraph| format!("<p>{}</p>\n", prose(paragraph)))
        .collect();
    let (light, dark) = figures::colours();
    let font = if figures.is_empty() { "" } else { font_css() };
    let style = fill(STYLE, &[("font", font), ("light", &light), ("dark", &dark)]);
    let told = json(&Told {
        arms: book.arms.iter().map(|arm| [arm.name.as_str(), arm.title.as_str()]).collect(),
        metrics: &book.metrics,
        tables: tables.iter().map(copies).collect(),
    });
    let each_table: String =
        tables.iter().enumerate().map(|(at, table)| tables::table(book, at, table)).collect();
    let opening = Opening::of(book, figures);
    let shown = opening.figure;
    let figure = |at: usize| figures::figure(book, at, &figures[at]);
    let first_figure = shown.map_or(String::new(), figure);
    let each_figure: String =
        (0..figures.len()).filter(|at| shown != Some(*at)).map(figure).collect();
    let no_figure = match first_figure.is_empty() {
        true => "There are no figures.",
        false => "The only figure is at the top of the page.",
    };
    let question = if opening.question.is_empty() { "Summary" } else { opening.question };
    let taken = TEMPLATE.len() + style.len() + SCRIPT.len() + told.len();
    let taken = taken + each_table.len() + first_figure.len() + each_figure.len();
    let taken = taken + book.settings.len();
    let items = explorer::pack(book, PAGE.saturating_sub(taken).max(ITEMS))?;
    let values = [
        ("title", html(title)),
        ("policy", policy()),
        ("style", style),
        ("theme", THEME.to_owned()),
        ("question", prose(question)),
        ("answer", opening.answer),
        ("first-figure", first_figure),
        ("about", about),
        ("summary", summary::summary(book, tables, tally)),
        ("contents", parts::contents(book, tables, figures)),
        ("tables", empty_or(each_table, "There are no tables.")),
        ("figures", empty_or(each_figure, no_figure)),
        ("no-items", if book.collections.is_empty() { " hidden" } else { "" }.to_owned()),
        ("arms", parts::arms(book)),
        ("metrics", parts::metrics(book)),
        ("runs", parts::runs(book)),
        ("settings", parts::settings(book)),
        ("told", told),
        ("collections", items.about),
        ("blocks", items.blocks),
        ("script", SCRIPT.to_owned()),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(n, v)| (*n, v.as_str())).collect();
    Ok(fill(TEMPLATE, &values))
}

fn copies(table: &Table) -> Copies {
    Copies { markdown: markdown(table), latex: latex(table), csv: csv(table) }
}

fn empty_or(content: String, otherwise: &str) -> String {
    if content.is_empty() { format!("<p class=\"note\">{otherwise}</p>\n") } else { content }
}

/// Nothing is loaded, and no script runs but ours. Drawings carry styles, so these are allowed.
fn policy() -> String {
    let hash = |script: &str| STANDARD.encode(Sha256::digest(script));
    format!(
        "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; script-src 'sha256-{}' \
         'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(THEME),
        hash(SCRIPT)
    )
}
