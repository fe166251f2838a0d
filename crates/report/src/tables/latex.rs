//! Tables as LaTeX, with the package `booktabs` and no other. Each is a `table` with its caption
//! and a label `tab:NAME`. Letters that pdfLaTeX does not know by itself need LuaLaTeX or XeLaTeX;
//! Greek ones and the usual signs are written as mathematics.

use super::table::Table;
use super::text::{TextCell, TextTable};
use super::words;

/// A table as LaTeX; then the same beside published values, where there are any.
pub fn latex(table: &Table) -> String {
    TextTable::all(table).iter().map(TextTable::latex).collect::<Vec<_>>().join("\n")
}

impl TextTable {
    /// As LaTeX (booktabs): a `table` with its caption; where there is no title, the `tabular`
    /// alone.
    pub fn latex(&self) -> String {
        let left = self.corner.len();
        let columns: String =
            self.right.iter().map(|right| if *right { 'r' } else { 'l' }).collect();
        let floats = !self.title.is_empty();
        let mut out = Vec::new();
        if floats {
            out.extend([
                "% needs \\usepackage{booktabs}".to_owned(),
                "\\begin{table}".to_owned(),
                "\\centering".to_owned(),
                format!("\\caption{{{}}}", escape(&self.title)),
                format!("\\label{{tab:{}}}", label(&self.name)),
            ]);
        }
        out.push(format!("\\begin{{tabular}}{{{}{columns}}}", "l".repeat(left)));
        out.push("\\toprule".to_owned());
        for (level, heads) in self.heads.iter().enumerate() {
            let last = level + 1 == self.heads.len();
            let corner =
                self.corner.iter().map(|text| if last { escape(text) } else { String::new() });
            let text = |(at, (text, span)): (usize, &(String, usize))| match span {
                // A head that spans nothing still stands over the middle of its column.
                1 if last && self.right.get(at) != Some(&true) => escape(text),
                span => format!("\\multicolumn{{{span}}}{{c}}{{{}}}", escape(text)),
            };
            out.push(row(corner.chain(heads.iter().enumerate().map(text))));
            if !last {
                out.extend(rules(heads, left));
            }
        }
        out.push("\\midrule".to_owned());
        for (at, line) in self.lines.iter().enumerate() {
            if line.group && at > 0 {
                out.push("\\addlinespace".to_owned());
            }
            let heads = line.heads.iter().map(|text| escape(text));
            out.push(row(heads.chain(line.cells.iter().map(cell))));
            if TextTable::has_below(line) {
                let small = |cell: &TextCell| {
                    let text = cell.below.as_deref().map(escape);
                    text.map(|text| format!("{{\\footnotesize {text}}}")).unwrap_or_default()
                };
                let heads = line.heads.iter().map(|_| String::new());
                out.push(row(heads.chain(line.cells.iter().map(small))));
            }
        }
        out.extend(["\\bottomrule".to_owned(), "\\end{tabular}".to_owned()]);
        if !self.notes.is_empty() {
            out.push("\\par\\smallskip".to_owned());
            out.push("\\begin{minipage}{\\linewidth}\\footnotesize".to_owned());
            let notes: Vec<String> = self.notes.iter().map(|note| escape(note)).collect();
            out.push(notes.join("\\par\n"));
            out.push("\\end{minipage}".to_owned());
        }
        out.push(if floats { "\\end{table}\n".to_owned() } else { String::new() });
        out.join("\n")
    }
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("{} \\\\", cells.collect::<Vec<_>>().join(" & "))
}

/// A rule below each head that spans several columns.
fn rules(heads: &[(String, usize)], left: usize) -> Option<String> {
    let mut start = left + 1;
    let mut rules = Vec::new();
    for (_, span) in heads {
        if *span > 1 {
            rules.push(format!("\\cmidrule(lr){{{start}-{}}}", start + span - 1));
        }
        start += span;
    }
    (!rules.is_empty()).then(|| rules.join(" "))
}

fn cell(cell: &TextCell) -> String {
    let text = escape(&cell.text);
    if cell.bold { format!("\\textbf{{{text}}}") } else { text }
}

/// Letters, digits and dashes; others would need care wherever the label is used.
fn label(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// Text as itself, on one line, so that no paragraph ends within a cell.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in words::line(text).chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("$<$"),
            '>' => out.push_str("$>$"),
            '|' => out.push_str("$|$"),
            // After \\ or a rule, these would be taken for an argument.
            '[' | ']' | '*' => out.extend(['{', c, '}']),
            // Two of these would become one sign.
            '-' | '\'' | '`' | ',' => match out.ends_with(c) {
                true => out.extend(['{', '}', c]),
                false => out.push(c),
            },
            '–' => out.push_str("--"),
            '—' => out.push_str("---"),
            '…' => out.push_str("\\dots{}"),
            c => match mathematics(c) {
                Some(name) => out.push_str(&format!("${name}$")),
                None => out.push(c),
            },
        }
    }
    out
}

/// Signs and Greek letters that pdfLaTeX knows in mathematics alone.
fn mathematics(c: char) -> Option<&'static str> {
    const SIGNS: [(char, &str); 43] = [
        ('±', "\\pm"),
        ('−', "-"),
        ('×', "\\times"),
        ('·', "\\cdot"),
        ('≤', "\\leq"),
        ('≥', "\\geq"),
        ('≈', "\\approx"),
        ('≠', "\\neq"),
        ('∞', "\\infty"),
        ('→', "\\rightarrow"),
        ('↓', "\\downarrow"),
        ('↑', "\\uparrow"),
        ('√', "\\surd"),
        ('‖', "\\|"),
        ('α', "\\alpha"),
        ('β', "\\beta"),
        ('γ', "\\gamma"),
        ('δ', "\\delta"),
        ('ε', "\\varepsilon"),
        ('η', "\\eta"),
        ('θ', "\\theta"),
        ('κ', "\\kappa"),
        ('λ', "\\lambda"),
        ('μ', "\\mu"),
        ('ν', "\\nu"),
        ('π', "\\pi"),
        ('ρ', "\\rho"),
        ('σ', "\\sigma"),
        ('τ', "\\tau"),
        ('φ', "\\varphi"),
        ('χ', "\\chi"),
        ('ψ', "\\psi"),
        ('ω', "\\omega"),
        ('Γ', "\\Gamma"),
        ('Δ', "\\Delta"),
        ('Θ', "\\Theta"),
        ('Λ', "\\Lambda"),
        ('Π', "\\Pi"),
        ('Σ', "\\Sigma"),
        ('Φ', "\\Phi"),
        ('Ψ', "\\Psi"),
        ('Ω', "\\Omega"),
        ('∑', "\\sum"),
    ];
    SIGNS.iter().find(|(sign, _)| *sign == c).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_text() {
        assert_eq!(
            escape(r"50% & $x_1$ \foo{}~^#"),
            r"50\% \& \$x\_1\$ \textbackslash{}foo\{\}\textasciitilde{}\textasciicircum{}\#"
        );
        assert_eq!(escape("a|b*c_<script>"), r"a$|$b{*}c\_$<$script$>$");
        assert_eq!(escape("[5] -- ''x''"), r"{[}5{]} -{}- '{}'x'{}'");
        assert_eq!(escape("one\n\ntwo"), "one two");
        assert_eq!(escape("λ 0.5 ± 0.1 –"), r"$\lambda$ 0.5 $\pm$ 0.1 --");
    }

    #[test]
    fn labels_are_plain() {
        assert_eq!(label("main_50%"), "main-50-");
    }
}
