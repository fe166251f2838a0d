//! The table of a study's claims: a line for each, with what decides it and whether it holds.

use super::prepare::named;
use super::spec::TableSpec;
use super::table::{Cell, Head, Line, Table};
use crate::ReportError;
use crate::book::Book;
use crate::claims::{Verdict, judge};

const COLUMNS: [&str; 4] = ["Verdict", "Statistic", "Ours", "Published"];

pub(super) fn prepare(spec: &TableSpec, book: &Book) -> Result<Table, ReportError> {
    let head = |title: &str, name: &str| Head {
        title: title.to_owned(),
        name: name.to_owned(),
        span: 1,
        ..Head::default()
    };
    let (mut lines, mut remarks) = (Vec::new(), Vec::new());
    let (mut holds, mut fails, mut open) = (0, 0, 0);
    for claim in &book.claims {
        let judged = judge(claim, book)?;
        match &judged.verdict {
            Verdict::Holds => holds += 1,
            Verdict::Fails => {
                fails += 1;
                remarks.push(format!(
                    "{} — against it: {}.",
                    judged.text,
                    judged.against.join("; ")
                ));
            }
            Verdict::Open(why) => {
                open += 1;
                remarks.push(format!("{} — not decided: {why}.", judged.text));
            }
        }
        let words = judged.verdict.words().to_owned();
        let cells = [words, judged.statistic.to_owned(), judged.ours, judged.published];
        lines.push(Line {
            heads: vec![head(&judged.text, &judged.name)],
            cells: cells.into_iter().map(Cell::Text).collect(),
        });
    }
    let counted = match book.claims.len() {
        0 => "There are no claims.".to_owned(),
        _ => counted(holds, fails, open),
    };
    remarks.insert(0, counted);
    Ok(Table {
        corner: vec!["Claim".to_owned()],
        heads: vec![COLUMNS.iter().map(|name| head(name, name)).collect()],
        lines,
        remarks,
        ..named(spec)
    })
}

/// How many claims hold, do not, and wait, as a sentence.
pub(crate) fn counted(holds: usize, fails: usize, open: usize) -> String {
    let or = |n: usize, one: &'static str, many: &'static str| if n == 1 { one } else { many };
    let all = holds + fails + open;
    let mut words = vec![
        format!("{holds} {}", or(holds, "holds", "hold")),
        format!("{fails} {} not", or(fails, "does", "do")),
    ];
    if open > 0 {
        words.push(format!("{open} cannot be decided yet"));
    }
    let last = words.pop().unwrap_or_default();
    format!("Of {all} {} {} and {last}.", or(all, "claim", "claims"), words.join(", "))
}
