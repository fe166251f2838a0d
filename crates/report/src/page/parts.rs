//! The static parts of the page: contents, metrics, runs, settings, provenance.

use super::escape::{anchor, html, prose};
use super::numbers;
use crate::book::Book;
use crate::figures::Figure;
use crate::tables::Table;

/// Links to everything.
pub(super) fn contents(book: &Book, tables: &[Table], figures: &[Figure]) -> String {
    let mut out = String::from("<ul>\n<li><a href=\"#summary\">Summary</a></li>\n");
    let mut group = |id: &str, title: &str, kind: &str, names: Vec<(&str, &str)>| {
        if names.is_empty() {
            return;
        }
        out.push_str(&format!("<li><a href=\"#{id}\">{title}</a>\n<ul>\n"));
        for (at, (name, title)) in names.iter().enumerate() {
            let to = anchor(kind, at, name);
            out.push_str(&format!("<li><a href=\"#{to}\">{}</a></li>\n", prose(title)));
        }
        out.push_str("</ul></li>\n");
    };
    let named = figures.iter().map(|f| (f.name.as_str(), f.title.as_str()));
    group("figures", "Figures", "figure", named.collect());
    let named = tables.iter().map(|t| (t.name.as_str(), t.title.as_str()));
    group("tables", "Tables", "table", named.collect());
    let mut link = |there: bool, id: &str, title: &str| {
        if there {
            out.push_str(&format!("<li><a href=\"#{id}\">{title}</a></li>\n"));
        }
    };
    link(!book.collections.is_empty(), "items", "Items");
    link(!book.arms.is_empty(), "arms", "Arms");
    link(!book.metrics.is_empty(), "metrics", "Metrics");
    link(!book.failed.is_empty() || book.missing > 0, "runs", "Runs");
    link(true, "settings", "Settings and provenance");
    out.push_str("</ul>\n");
    out
}

pub(super) fn arms(book: &Book) -> String {
    if book.arms.is_empty() {
        return String::new();
    }
    let mut out = section("arms", "Arms");
    out.push_str("<dl class=\"card plain\">\n");
    for arm in &book.arms {
        let name = if arm.name == arm.title {
            String::new()
        } else {
            format!(" <code>{}</code>", html(&arm.name))
        };
        let (title, about) = (prose(&arm.title), prose(&arm.about));
        out.push_str(&format!("<div><dt>{title}{name}</dt><dd>{about}</dd></div>\n"));
    }
    out.push_str("</dl>\n</section>\n");
    out
}

/// How every metric is computed: the same text as behind the buttons, for print.
pub(super) fn metrics(book: &Book) -> String {
    if book.metrics.is_empty() {
        return String::new();
    }
    let mut out = section("metrics", "How the metrics are computed");
    out.push_str("<dl class=\"card plain\">\n");
    for metric in &book.metrics {
        let direction = numbers::direction(metric.better)
            .map_or(String::new(), |(_, words)| format!(", {words}"));
        out.push_str(&format!(
            "<div><dt>{} <code>{}</code>{direction}</dt>",
            html(&metric.title),
            html(&metric.name)
        ));
        let parts = [
            ("", &metric.what),
            ("Formula: ", &metric.formula),
            ("Settings: ", &metric.settings),
            ("Source: ", &metric.source),
        ];
        for (name, text) in parts.iter().filter(|(_, text)| !text.is_empty()) {
            out.push_str(&format!("<dd>{name}{}</dd>", prose(text)));
        }
        out.push_str("</div>\n");
    }
    out.push_str("</dl>\n</section>\n");
    out
}

/// Runs that failed, with their reasons.
pub(super) fn runs(book: &Book) -> String {
    if book.failed.is_empty() && book.missing == 0 {
        return String::new();
    }
    let mut out = section("runs", "Missing runs");
    if book.missing > 0 {
        out.push_str(&format!("<p>{} not done yet.</p>\n", count_runs(book.missing)));
    }
    if !book.failed.is_empty() {
        out.push_str(
            "<div class=\"wide card\" role=\"region\" tabindex=\"0\" aria-label=\"Failed runs\">\
             <table><thead><tr><th scope=\"col\">Failed run</th><th scope=\"col\">Reason</th></tr>\
             </thead>\n<tbody>\n",
        );
        for (run, reason) in &book.failed {
            let (run, reason) = (html(run), html(reason));
            out.push_str(&format!(
                "<tr><th scope=\"row\">{run}</th><td class=\"text\">{reason}</td></tr>\n"
            ));
        }
        out.push_str("</tbody></table></div>\n");
    }
    out.push_str("</section>\n");
    out
}

/// The resolved study, and where its results come from.
pub(super) fn settings(book: &Book) -> String {
    let mut out = section("settings", "Settings and provenance");
    if !book.provenance.is_empty() {
        out.push_str("<dl class=\"card origin\">\n");
        for (name, value) in &book.provenance {
            let (name, value) = (html(name), prose(value));
            out.push_str(&format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"));
        }
        out.push_str("</dl>\n");
    }
    if !book.settings.is_empty() {
        // A line break right behind <pre> would be dropped by the browser, so one is given.
        out.push_str(&format!(
            "<details class=\"card\"><summary>The resolved study, as TOML</summary>\n\
             <pre tabindex=\"0\">\n{}</pre>\n</details>\n",
            html(&book.settings)
        ));
    }
    out.push_str("</section>\n");
    out
}

fn count_runs(n: usize) -> String {
    if n == 1 { "1 run is".to_owned() } else { format!("{n} runs are") }
}

fn section(id: &str, title: &str) -> String {
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n"
    )
}
