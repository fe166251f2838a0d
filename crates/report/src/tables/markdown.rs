//! Tables as Markdown (GitHub's). Column heads of several levels are joined, as it has one line of
//! heads; columns are padded, so that the text reads as a table too.

use super::table::Table;
use super::text::{TextCell, TextTable};
use super::words;

/// A table as Markdown: its title, its lines, its notes; then the same beside published values,
/// where there are any.
pub fn markdown(table: &Table) -> String {
    TextTable::all(table).iter().map(TextTable::markdown).collect::<Vec<_>>().join("\n")
}

impl TextTable {
    /// As Markdown (GitHub's): the title where there is one, the lines, the notes.
    pub fn markdown(&self) -> String {
        let columns = self.right.len();
        let mut rows: Vec<Vec<String>> =
            vec![self.corner.iter().map(|text| escape(text)).collect()];
        rows[0].extend(self.joined_heads(escape));
        for line in &self.lines {
            let heads = line.heads.iter().map(|text| escape(text));
            rows.push(heads.chain(line.cells.iter().map(cell)).collect());
        }
        let left = self.corner.len();
        let widths: Vec<usize> = (0..left + columns)
            .map(|at| rows.iter().filter_map(|row| row.get(at)).map(|c| c.chars().count()).max())
            .map(|width| width.unwrap_or_default().max(3))
            .collect();
        let right = |at: usize| at >= left && self.right[at - left];
        let mut out = match self.title.is_empty() {
            true => String::new(),
            false => format!("### {}\n\n", escape(&self.title)),
        };
        for (number, row) in rows.iter().enumerate() {
            let cells = row.iter().enumerate().map(|(at, text)| pad(text, widths[at], right(at)));
            out.push_str(&format!("| {} |\n", cells.collect::<Vec<_>>().join(" | ")));
            if number == 0 {
                let rule = |(at, width): (usize, &usize)| match right(at) {
                    true => format!("{}:", "-".repeat(width - 1)),
                    false => "-".repeat(*width),
                };
                let rules: Vec<String> = widths.iter().enumerate().map(rule).collect();
                out.push_str(&format!("| {} |\n", rules.join(" | ")));
            }
        }
        for note in &self.notes {
            out.push_str(&format!("\n{}\n", paragraph(note)));
        }
        out
    }
}

fn cell(cell: &TextCell) -> String {
    let text = escape(&cell.text);
    let text = if cell.bold { format!("**{text}**") } else { text };
    match &cell.below {
        Some(below) => format!("{text} ({})", escape(below)),
        None => text,
    }
}

fn pad(text: &str, width: usize, right: bool) -> String {
    let space = " ".repeat(width.saturating_sub(text.chars().count()));
    if right { format!("{space}{text}") } else { format!("{text}{space}") }
}

/// Text as itself: no markup, HTML, mathematics or end of a cell, on one line.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in words::line(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&'
            | '$' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A paragraph that cannot begin a list, and does not read as a line below a heading.
fn paragraph(text: &str) -> String {
    let text = escape(text);
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    match text[digits..].chars().next() {
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &text[..digits], &text[digits..]),
        Some('-' | '+' | '=') if digits == 0 => format!("\\{text}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_shown_as_text() {
        assert_eq!(escape("a|b*c_<script>"), r"a\|b\*c\_\<script\>");
        assert_eq!(escape("`x` [y](z) $q$ &amp; ~~"), r"\`x\` \[y\](z) \$q\$ \&amp; \~\~");
        assert_eq!(escape(" one\r\ntwo\t\u{7}"), "one two");
        assert_eq!(escape("0.50 ± 0.01"), "0.50 ± 0.01");
    }

    #[test]
    fn a_note_is_a_paragraph() {
        assert_eq!(paragraph("- item"), r"\- item");
        assert_eq!(paragraph("12. item"), r"12\. item");
        assert_eq!(paragraph("1.5 is a number"), r"1\.5 is a number");
        assert_eq!(paragraph("# head"), r"\# head");
        assert_eq!(paragraph("plain"), "plain");
    }
}
