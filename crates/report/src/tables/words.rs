//! How numbers are written for people. Plain Unicode; each writer escapes it for its own form.

use super::table::{Number, Published, Test};

/// What stands where there is nothing.
pub(crate) const NOTHING: &str = "–";

/// Text on one line: what separates words becomes one space, and what cannot be seen goes.
pub(super) fn line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A number of votes as in the results: `5`, `all`.
pub(crate) fn votes(k: Option<u32>) -> String {
    k.map_or_else(|| "all".to_owned(), |k| k.to_string())
}

/// A number of votes for people: `5 votes`.
pub(crate) fn votes_title(k: Option<u32>) -> String {
    match k {
        None => "all votes".to_owned(),
        Some(1) => "1 vote".to_owned(),
        Some(k) => format!("{k} votes"),
    }
}

/// A number with so many digits after the point, with a true minus and no −0.
pub(crate) fn number(value: f64, digits: usize) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "∞".to_owned() } else { "−∞".to_owned() };
    }
    // More digits than a double has say nothing, and a spec may ask for any number of them.
    let text = format!("{:.*}", digits.min(17), value.abs());
    let zero = text.chars().all(|c| c == '0' || c == '.');
    if value < 0.0 && !zero { format!("−{text}") } else { text }
}

/// Mean ± sd, or the mean alone where there is no sd.
pub(crate) fn spread(mean: Option<f64>, sd: Option<f64>, digits: usize) -> String {
    match (mean, sd) {
        (None, _) => NOTHING.to_owned(),
        (Some(mean), None) => number(mean, digits),
        (Some(mean), Some(sd)) => format!("{} ± {}", number(mean, digits), number(sd, digits)),
    }
}

/// Our value.
pub(crate) fn ours(of: &Number) -> String {
    spread(of.mean, of.sd, of.digits)
}

/// A published value, with its number of seeds.
pub(crate) fn theirs(published: &Published, digits: usize) -> String {
    let spread = spread(Some(published.mean), published.sd, digits);
    match published.n {
        Some(n) => format!("{spread} (n = {n})"),
        None => spread,
    }
}

/// A difference in standard deviations: `+0.7`.
pub(crate) fn difference(value: Option<f64>) -> String {
    let Some(value) = value else { return NOTHING.to_owned() };
    let text = number(value, 1);
    if value > 0.0 && text != "0.0" { format!("+{text}") } else { text }
}

/// A share as a change in percent: `+12.5 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", difference(Some(100.0 * share)))
}

/// A p in a column of its own: `0.031`, `< 0.001`.
pub(crate) fn bare_p(value: Option<f64>) -> String {
    let Some(value) = value else { return NOTHING.to_owned() };
    let text = p(value);
    text.strip_prefix("p = ").or_else(|| text.strip_prefix("p ")).unwrap_or(&text).to_owned()
}

/// `p = 0.031`, `p < 0.001`. Halves are rounded up, so that the exact p of five pairs, 0.0625,
/// reads 0.063 as in most papers.
pub(crate) fn p(value: f64) -> String {
    if value < 0.001 {
        return "p < 0.001".to_owned();
    }
    format!("p = {:.3}", (value * 1000.0).round() / 1000.0)
}

/// The p of a test, the corrected one where there is one, or both; `None` where it is undefined.
pub(crate) fn p_of(test: &Test) -> Option<String> {
    match (test.raw, test.p, test.corrected) {
        (true, Some(raw), Some(corrected)) => {
            Some(format!("{}, Holm {}", p(raw), bare_p(Some(corrected))))
        }
        _ => test.corrected.or(test.p).map(p),
    }
}

/// A small p at the length that it needs: 0.0625, 0.000977, 1.9e-6.
pub(crate) fn small(p: f64) -> String {
    match p {
        p if p >= 0.01 => p.to_string(),
        p if p >= 1e-4 => format!("{p:.6}"),
        p => format!("{p:.1e}"),
    }
}

/// `5`, or `4 to 5`, of several counts.
pub(crate) fn range(counts: impl Iterator<Item = usize> + Clone) -> String {
    match (counts.clone().min(), counts.max()) {
        (Some(low), Some(high)) if low < high => format!("{low} to {high}"),
        (low, _) => low.unwrap_or_default().to_string(),
    }
}

/// The same with what is counted: `1 pair`, `4 to 5 pairs`.
pub(crate) fn count(counts: impl Iterator<Item = usize> + Clone, what: &str) -> String {
    let range = range(counts);
    let plural = if range == "1" { "" } else { "s" };
    format!("{range} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(number(-0.0058, 4), "−0.0058");
        assert_eq!(number(-0.00001, 4), "0.0000");
        assert_eq!(number(10779.64, 1), "10779.6");
        assert_eq!(number(f64::NEG_INFINITY, 2), "−∞");
        assert_eq!(number(0.5, usize::MAX).len(), 19);
        assert_eq!(spread(Some(0.5), None, 2), "0.50");
        assert_eq!(spread(Some(0.5), Some(0.125), 2), "0.50 ± 0.12");
        assert_eq!(spread(None, None, 2), "–");
    }

    #[test]
    fn p_values() {
        assert_eq!(p(0.03125), "p = 0.031");
        assert_eq!(p(0.0625), "p = 0.063");
        assert_eq!(p(0.001), "p = 0.001");
        assert_eq!(p(0.000999), "p < 0.001");
        assert_eq!(p(1.0), "p = 1.000");
        assert_eq!((small(0.0625), small(0.0009765625)), ("0.0625".into(), "0.000977".into()));
    }

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(difference(Some(0.66)), "+0.7");
        assert_eq!(difference(Some(-0.66)), "−0.7");
        assert_eq!(difference(Some(0.01)), "0.0");
        assert_eq!(difference(None), "–");
    }

    #[test]
    fn ranges() {
        assert_eq!(range([5, 4, 5].into_iter()), "4 to 5");
        assert_eq!(range([5, 5].into_iter()), "5");
        assert_eq!(range(std::iter::empty()), "0");
        assert_eq!(count([1].into_iter(), "pair"), "1 pair");
        assert_eq!(count([0, 1].into_iter(), "pair"), "0 to 1 pairs");
    }
}
