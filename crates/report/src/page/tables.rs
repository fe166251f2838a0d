//! Tables as markup that a script makes sortable.
//!
//! Row heads are not merged over lines: a line has to stay whole when lines are sorted. A head that
//! repeats the one above is only shown paler, as long as the lines are in their own order.

use super::escape::{anchor, html, prose};
use super::numbers;
use crate::book::{Book, Metric};
use crate::claims::Verdict;
use crate::tables::words::{NOTHING, ours, p_of};
use crate::tables::{Cell, Dimension, Head, Line, Number, Table};

/// A table with its title, notes, switch and buttons.
pub(super) fn table(book: &Book, at: usize, table: &Table) -> String {
    let published = table.numbers().any(|number| number.published.is_some());
    let mut out = format!(
        "<article class=\"card table\" id=\"{}\" data-table=\"{at}\">\n<h3>{}</h3>\n\
         <div class=\"tools\">\n",
        anchor("table", at, &table.name),
        prose(&table.title)
    );
    if published {
        out.push_str(
            "<label class=\"switch\"><input type=\"checkbox\" data-published> Published values \
             beside ours</label>\n",
        );
    }
    out.push_str("<span class=\"copy\" data-copies hidden><span>Copy as</span>");
    for (form, title) in [("markdown", "Markdown"), ("latex", "LaTeX"), ("csv", "CSV")] {
        out.push_str(&format!(
            "<button type=\"button\" data-copy=\"{form}\">{title}<span class=\"unseen\"> of {}\
             </span></button>",
            prose(&table.title)
        ));
    }
    out.push_str(
        "</span>\n</div>\n<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"",
    );
    out.push_str(&html(&table.title.replace('`', "")));
    out.push_str("\">\n<table class=\"results\">\n<thead>\n");
    let arms = column_arms(table);
    heads(book, table, &arms, &mut out);
    out.push_str("</thead>\n<tbody>\n");
    for (at, line) in table.lines.iter().enumerate() {
        let above = at.checked_sub(1).map(|above| &table.lines[above]);
        row(book, line, above, &arms, &mut out);
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    out.push_str("<p class=\"note cue\" data-cue hidden>More columns: scroll sideways →</p>\n");
    if !table.note.is_empty() {
        out.push_str(&format!("<p class=\"note\">{}</p>\n", prose(&table.note)));
    }
    if !table.remarks.is_empty() {
        out.push_str(&format!("<p class=\"note\">{}</p>\n", prose(&table.remarks.join(" "))));
    }
    let headed = |name: &str| {
        let of = |head: &Head| head.of == Some(Dimension::Metric) && head.name == name;
        table.heads.iter().flatten().any(of) || table.lines.iter().flat_map(|l| &l.heads).any(of)
    };
    let named = table.numbers().map(|number| number.at.metric.as_str());
    made_how(book, named.filter(|name| !headed(name)), &mut out);
    out.push_str("</article>\n");
    out
}

/// Buttons for metrics that no head names.
pub(super) fn made_how<'a>(book: &Book, names: impl Iterator<Item = &'a str>, out: &mut String) {
    let mut seen: Vec<&Metric> = Vec::new();
    for name in names {
        if seen.iter().all(|metric| metric.name != name) {
            seen.extend(book.metrics.iter().find(|metric| metric.name == name));
        }
    }
    if seen.is_empty() {
        return;
    }
    out.push_str("<p class=\"note how\">How these numbers are made:");
    for metric in seen {
        out.push_str(&format!(" {}&nbsp;{}", html(&metric.title), how(book, &metric.name)));
    }
    out.push_str("</p>\n");
}

/// The button that tells how a metric is computed; nothing for a name that is no metric.
pub(super) fn how(book: &Book, name: &str) -> String {
    let Some(at) = book.metrics.iter().position(|metric| metric.name == name) else {
        return String::new();
    };
    format!(
        "<button type=\"button\" class=\"info\" data-how=\"{at}\" aria-haspopup=\"dialog\" \
         aria-label=\"How {} is computed\">i</button>",
        html(&book.metrics[at].title)
    )
}

/// What a switch for an arm looks for.
fn of_arm(name: Option<&str>) -> String {
    name.map_or(String::new(), |name| format!(" data-arm=\"{}\"", html(name)))
}

/// The arm that each column belongs to, where a head above it is one.
fn column_arms(table: &Table) -> Vec<Option<&str>> {
    let mut arms = Vec::new();
    for level in &table.heads {
        let spread = level.iter().flat_map(|head| std::iter::repeat_n(head, head.span));
        for (at, head) in spread.enumerate() {
            arms.resize(arms.len().max(at + 1), None);
            if head.of == Some(Dimension::Arm) {
                arms[at] = Some(head.name.as_str());
            }
        }
    }
    arms
}

fn heads(book: &Book, table: &Table, arms: &[Option<&str>], out: &mut String) {
    let levels = table.heads.len().max(1);
    let mut column = table.corner.len();
    for level in 0..levels {
        let last = level + 1 == levels;
        out.push_str("<tr>");
        if level == 0 {
            for (at, title) in table.corner.iter().enumerate() {
                let title = if title.is_empty() { "row".to_owned() } else { html(title) };
                out.push_str(&format!(
                    "<th scope=\"col\" rowspan=\"{levels}\" class=\"corner\" aria-sort=\"none\">{}\
                     </th>",
                    sorter(at, &title)
                ));
            }
        }
        let mut leaf = 0;
        for head in table.heads.get(level).into_iter().flatten().filter(|head| head.span > 0) {
            let title = titled(book, head);
            let from = leaf;
            leaf += head.span;
            if last {
                let arm = of_arm(arms.get(from).copied().flatten());
                out.push_str(&format!(
                    "<th scope=\"col\"{arm} aria-sort=\"none\"><span class=\"head\">{}{}</span></th>",
                    sorter(column, &title.0),
                    title.1
                ));
                column += head.span;
            } else {
                out.push_str(&format!(
                    "<th scope=\"colgroup\" colspan=\"{}\" data-from=\"{from}\">{}{}</th>",
                    head.span, title.0, title.1
                ));
            }
        }
        out.push_str("</tr>\n");
    }
}

fn sorter(column: usize, title: &str) -> String {
    format!("<button type=\"button\" class=\"sort\" data-sort=\"{column}\">{title}</button>")
}

/// A head's words with its direction, and its button.
fn titled(book: &Book, head: &Head) -> (String, String) {
    let mut title = prose(&head.title);
    if head.of != Some(Dimension::Metric) {
        return (title, String::new());
    }
    if let Some((arrow, words)) = numbers::direction(head.better) {
        title.push_str(&format!(
            "&nbsp;<span class=\"better\" aria-hidden=\"true\">{arrow}</span>\
             <span class=\"unseen\"> ({words})</span>"
        ));
    }
    (title, how(book, &head.name))
}

fn row(book: &Book, line: &Line, above: Option<&Line>, arms: &[Option<&str>], out: &mut String) {
    let arm = line.heads.iter().find(|head| head.of == Some(Dimension::Arm));
    out.push_str(&format!("<tr{}>", of_arm(arm.map(|head| head.name.as_str()))));
    for (level, head) in line.heads.iter().enumerate() {
        // A head repeats the one above only where all heads before it do.
        let again = above.is_some_and(|above| {
            let same = |(a, b): (&Head, &Head)| a.name == b.name && a.title == b.title;
            above.heads.len() > level
                && above.heads.iter().zip(&line.heads).take(level + 1).all(same)
        });
        let class = if again { " class=\"again\"" } else { "" };
        let title = titled(book, head);
        out.push_str(&format!("<th scope=\"row\"{class}>{}{}</th>", title.0, title.1));
    }
    for (at, cell) in line.cells.iter().enumerate() {
        let arm = of_arm(arms.get(at).copied().flatten());
        match cell {
            Cell::Text(text) if text.is_empty() => {
                out.push_str(&format!("<td class=\"none\"{arm}>{NOTHING}</td>"));
            }
            Cell::Text(text) => {
                let verdicts = [
                    (Verdict::Holds, " class=\"holds\""),
                    (Verdict::Partly, " class=\"partly\""),
                    (Verdict::Fails, " class=\"fails\""),
                ];
                let verdict = verdicts.iter().find(|(verdict, _)| verdict.words() == text);
                let class = verdict.map_or("", |(_, class)| class);
                out.push_str(&format!("<td{class}{arm}>{}</td>", prose(text)));
            }
            Cell::Number(number) => result(book, number, &arm, out),
        }
    }
    out.push_str("</tr>\n");
}

fn result(book: &Book, number: &Number, arm: &str, out: &mut String) {
    let class = match (number.bold, number.mean) {
        (true, _) => "number best",
        (false, Some(_)) => "number",
        (false, None) => "number none",
    };
    let value = match number.mean {
        None => String::new(),
        // As a script reads it.
        Some(mean) if mean.is_infinite() => {
            format!(" data-value=\"{}Infinity\"", if mean < 0.0 { "-" } else { "" })
        }
        Some(mean) => format!(" data-value=\"{mean:e}\""),
    };
    out.push_str(&format!(
        "<td class=\"{class}\"{arm}{value} tabindex=\"-1\" data-tip=\"{}\"><span class=\"mean\">{}</span>",
        html(&numbers::tip(book, number)),
        html(&ours(number))
    ));
    if let Some(p) = number.test.as_ref().and_then(p_of) {
        out.push_str(&format!("<span class=\"p\">{}</span>", html(&p)));
    }
    if let Some(published) = &number.published {
        let verdict = published
            .verdict
            .map_or(String::new(), |v| format!(" {}", v.words().replace(' ', "-")));
        out.push_str(&format!(
            "<span class=\"published{verdict}\">{}</span>",
            html(&numbers::published(published, number.digits))
        ));
    }
    out.push_str("</td>");
}
