//! Writes the page that the browser test opens: a made-up study whose names and texts try to break
//! out of it.
//!
//!     cargo run -p dissensus-report --example page -- OUT.html
//!     cargo run -p dissensus-report --example page -- OUT.html --large   # 10,000 items

use std::process::ExitCode;

use dissensus_report::tables::Tally;
use dissensus_report::{figures, page, tables};

#[path = "../tests/page_book/mod.rs"]
mod page_book;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(out) = arguments.next() else {
        return Err("say where to write the page: page OUT.html".into());
    };
    let mut book = page_book::hostile();
    if arguments.next().as_deref() == Some("--large") {
        let mut random = page_book::Random(1);
        book.collections.truncate(1);
        book.collections[0].items = page_book::items(10_000, 10, 6, 5);
        for item in &mut book.collections[0].items {
            item.picture = Some(page_book::picture(&mut random, 32, 0.05));
        }
    }
    let prepared: Vec<_> =
        book.tables.iter().map(|spec| tables::prepare(spec, &book)).collect::<Result<_, _>>()?;
    let drawn: Vec<_> =
        book.figures.iter().map(|spec| figures::prepare(spec, &book)).collect::<Result<_, _>>()?;
    let page = page::render(&book, &prepared, &drawn, Tally::of(&prepared).as_ref())?;
    std::fs::write(out, page)?;
    Ok(ExitCode::SUCCESS)
}
