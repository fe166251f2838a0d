//! The table of a study's claims: a line for each, with what decides it and whether it holds.

use super::prepare::named;
use super::spec::TableSpec;
use super::table::{Cell, Head, Line, Table};
use crate::ReportError;
use crate::book::Book;
use crate::claims::{Judged, Verdict, judge};

const COLUMNS: [&str; 4] = ["Verdict", "Statistic", "Ours", "Published"];

pub(super) fn prepare(spec: &TableSpec, book: &Book) -> Result<Table, ReportError> {
    let all = book.claims.iter().map(|claim| judge(claim, book)).collect::<Result<Vec<_>, _>>()?;
    let (mut lines, mut remarks) = (Vec::new(), Vec::from_iter(book.scale_note()));
    remarks.push(counted(&all));
    for judged in all {
        match &judged.verdict {
            Verdict::Holds => {}
            Verdict::Partly | Verdict::Fails => {
                let against = judged.against.join("; ");
                remarks.push(format!("{} — contradicted by: {against}.", judged.text));
            }
            Verdict::Open(why) => remarks.push(format!("{} — not decided: {why}.", judged.text)),
        }
        let words = judged.verdict.words().to_owned();
        let cells = [words, judged.statistic.to_owned(), judged.ours, judged.published];
        lines.push(Line {
            heads: vec![Head::plain(&judged.text, &judged.name)],
            cells: cells.into_iter().map(Cell::Text).collect(),
        });
    }
    Ok(Table {
        corner: vec!["Claim".to_owned()],
        heads: vec![COLUMNS.iter().map(|name| Head::plain(*name, *name)).collect()],
        lines,
        remarks,
        ..named(spec)
    })
}

/// How many claims hold, do not, and wait, as a sentence.
pub(crate) fn counted(all: &[Judged]) -> String {
    if all.is_empty() {
        return "There are no claims.".to_owned();
    }
    let count = |verdict| all.iter().filter(|judged| judged.verdict == verdict).count();
    let (holds, fails) = (count(Verdict::Holds), count(Verdict::Fails));
    let partly = count(Verdict::Partly);
    let open = all.len() - holds - partly - fails;
    let or = |n: usize, one: &'static str, many: &'static str| if n == 1 { one } else { many };
    let mut said = vec![format!("{holds} {}", or(holds, "holds", "hold"))];
    if partly > 0 {
        said.push(format!("{partly} {} in part", or(partly, "holds", "hold")));
    }
    said.push(format!("{fails} {} not", or(fails, "does", "do")));
    if open > 0 {
        said.push(format!("{open} cannot be decided yet"));
    }
    let last = said.pop().unwrap_or_default();
    let said = said.join(", ");
    format!("Of {} {} {said} and {last}.", all.len(), or(all.len(), "claim", "claims"))
}
