//! A table of results in every form that people paste: terminal, Markdown, LaTeX, CSV.

use super::{paint, text};

/// How a table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Terminal,
    Markdown,
    Latex,
    Csv,
}

impl Form {
    /// The form that the flags of a command ask for.
    pub(crate) fn asked(csv: bool, markdown: bool, latex: bool) -> Self {
        match (csv, markdown, latex) {
            (true, ..) => Self::Csv,
            (_, true, _) => Self::Markdown,
            (_, _, true) => Self::Latex,
            _ => Self::Terminal,
        }
    }
}

/// A cell, and whether it is the best of its column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) best: bool,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), best: false }
    }
}

/// Columns and rows; the first `names` columns are words, the others numbers.
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) names: usize,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn print(&self, form: Form) -> String {
        match form {
            Form::Terminal => self.terminal(),
            Form::Markdown => self.markdown(),
            Form::Latex => self.latex(),
            Form::Csv => self.csv(),
        }
    }

    fn terminal(&self) -> String {
        let width = |c: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(c));
            let widest = cells.map(|cell| text::width(&cell.text)).max().unwrap_or(0);
            widest.max(text::width(&self.columns[c]))
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let pad = |c: usize, text: &str| match c < self.names {
            true => text::pad(text, widths[c]),
            false => format!("{}{text}", " ".repeat(widths[c].saturating_sub(text::width(text)))),
        };
        let head: Vec<String> =
            (0..self.columns.len()).map(|c| paint::dim(&pad(c, &self.columns[c]))).collect();
        let mut page = format!("{}\n", head.join("  "));
        for row in &self.rows {
            let cells: Vec<String> = row
                .iter()
                .enumerate()
                .map(|(c, cell)| {
                    let text = pad(c, &cell.text);
                    if cell.best { paint::strong(&text) } else { text }
                })
                .collect();
            page += &format!("{}\n", cells.join("  ").trim_end());
        }
        page
    }

    fn markdown(&self) -> String {
        let escape = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut page = line(self.columns.iter().map(|c| escape(c)).collect());
        let rule = (0..self.columns.len()).map(|c| if c < self.names { "---" } else { "---:" });
        page += &line(rule.map(str::to_owned).collect());
        for row in &self.rows {
            let cell = |cell: &Cell| match cell.best {
                true => format!("**{}**", escape(&cell.text)),
                false => escape(&cell.text),
            };
            page += &line(row.iter().map(cell).collect());
        }
        page
    }

    fn latex(&self) -> String {
        let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
        let align: String =
            (0..self.columns.len()).map(|c| if c < self.names { 'l' } else { 'r' }).collect();
        let mut page = format!("\\begin{{tabular}}{{{align}}}\n\\toprule\n");
        page += &line(self.columns.iter().map(|c| latex_escape(c)).collect());
        page += "\\midrule\n";
        for row in &self.rows {
            let cell = |cell: &Cell| match cell.best {
                true => format!("\\textbf{{{}}}", latex_escape(&cell.text)),
                false => latex_escape(&cell.text),
            };
            page += &line(row.iter().map(cell).collect());
        }
        page + "\\bottomrule\n\\end{tabular}\n"
    }

    fn csv(&self) -> String {
        let line = |cells: Vec<String>| format!("{}\n", cells.join(","));
        let mut page = line(self.columns.iter().map(|c| csv_cell(c)).collect());
        for row in &self.rows {
            page += &line(row.iter().map(|cell| csv_cell(&cell.text)).collect());
        }
        page
    }
}

/// A cell of CSV, quoted where it must be.
pub(crate) fn csv_cell(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn latex_escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '\\' => out.push_str("\\textbackslash{}"),
            '−' => out.push_str("$-$"),
            '↓' => out.push_str("$\\downarrow$"),
            '↑' => out.push_str("$\\uparrow$"),
            '∞' => out.push_str("$\\infty$"),
            '–' => out.push_str("--"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let best = Cell { text: "0.1".into(), best: true };
        Table {
            columns: vec!["model".into(), "soft_nll".into()],
            names: 1,
            rows: vec![vec![Cell::new("a|b, 50%"), best], vec![Cell::new("c"), Cell::new("0.25")]],
        }
    }

    #[test]
    fn every_form_escapes_and_marks_the_best() {
        let markdown =
            "| model | soft_nll |\n| --- | ---: |\n| a\\|b, 50% | **0.1** |\n| c | 0.25 |\n";
        assert_eq!(table().print(Form::Markdown), markdown);
        assert_eq!(table().print(Form::Csv), "model,soft_nll\n\"a|b, 50%\",0.1\nc,0.25\n");
        let latex = table().print(Form::Latex);
        assert!(latex.contains("a|b, 50\\% & \\textbf{0.1} \\\\\n"), "{latex}");
        assert!(latex.contains("model & soft\\_nll"), "{latex}");
    }
}
