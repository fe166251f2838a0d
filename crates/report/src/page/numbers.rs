//! Numbers as the page writes them: with the words of the tables, and a little more behind them.

use dissensus_stats::Alternative;

use crate::book::{Book, Direction};
use crate::tables::words::{difference, number as fixed, ours, p, small, spread};
use crate::tables::{Number, Published, Test, TestKind};

/// An arrow and its words; `None` where no direction is better.
pub(super) fn direction(better: Direction) -> Option<(&'static str, String)> {
    better.is_directed().then(|| (better.arrow(), better.to_string()))
}

/// What was published, in a line: `published 0.51 ± 0.01 (+0.7 sd, within 1 sd)`.
pub(super) fn published(published: &Published, digits: usize) -> String {
    let mut line = format!("published {}", spread(Some(published.mean), published.sd, digits));
    let sds = published.difference.map(|sds| format!("{} sd", difference(Some(sds))));
    let verdict = published.verdict.map(|v| v.words().to_owned());
    let welch = published.p.map(|value| format!("Welch’s {}", p(value)));
    let said: Vec<String> = [sds, verdict, welch].into_iter().flatten().collect();
    if !said.is_empty() {
        line.push_str(&format!(" ({})", said.join(", ")));
    }
    line
}

/// All that is known of a number, a line each.
pub(super) fn tip(book: &Book, number: &Number) -> String {
    let mut lines = Vec::new();
    match number.mean {
        None if number.seeds.is_empty() => lines.push("no run is done".to_owned()),
        None => lines.push(format!("undefined in all {} runs", number.seeds.len())),
        Some(_) => {
            let of = match number.seeds.len() {
                all if all == number.n => String::new(),
                all => format!(" of {all}"),
            };
            let what = if number.sd.is_some() { "mean ± sd over seeds" } else { "one seed" };
            lines.push(format!("{} ({what}, n = {}{of})", ours(number), number.n));
        }
    }
    for (seed, value) in &number.seeds {
        let value = value.map_or("undefined".to_owned(), |v| fixed(v, number.digits + 2));
        lines.push(format!("seed {seed}: {value}"));
    }
    if number.best {
        lines.push("the best of its column".to_owned());
    }
    lines.extend(number.test.as_ref().map(|test| tested(book, test, number.digits)));
    if let Some(theirs) = &number.published {
        let n = theirs.n.map_or(String::new(), |n| format!(", n = {n}"));
        let source = &theirs.source;
        lines.push(format!("{}; {source}{n}", published(theirs, number.digits)));
    }
    lines.join("\n")
}

fn tested(book: &Book, test: &Test, digits: usize) -> String {
    let name = match test.test {
        TestKind::Wilcoxon => "Wilcoxon signed-rank test",
        TestKind::T => "paired t test",
    };
    let side = match test.side {
        Alternative::TwoSided => "two-sided",
        Alternative::Less => "one-sided: lower",
        Alternative::Greater => "one-sided: higher",
    };
    let against = book.arm_title(&test.against);
    let mut line = format!("{name} against {against}, {side}, {} pairs: ", test.pairs);
    match (test.p, &test.undefined) {
        (Some(value), _) => line.push_str(&p(value)),
        (None, Some(why)) => line.push_str(why),
        (None, None) => line.push_str("no p"),
    }
    if let Some(corrected) = test.corrected {
        line.push_str(&format!("; by Holm over {} tests {}", test.family, p(corrected)));
    }
    if let Some(smallest) = test.smallest {
        line.push_str(&format!("; smallest attainable p = {}", small(smallest)));
    }
    if let Some(difference) = test.difference {
        line.push_str(&format!("; mean difference {}", fixed(difference, digits + 2)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tip_says_all_that_is_known() {
        let number = Number {
            seeds: vec![(1, Some(0.5)), (2, Some(0.7)), (3, None)],
            mean: Some(0.6),
            sd: Some(0.1414),
            n: 2,
            digits: 2,
            best: true,
            published: Some(Published {
                mean: 0.5,
                sd: Some(0.1),
                source: "Table 2".into(),
                difference: Some(1.0),
                verdict: Some(crate::tables::Verdict::Within1Sd),
                ..Published::default()
            }),
            ..Number::default()
        };
        assert_eq!(
            tip(&Book::default(), &number),
            "0.60 ± 0.14 (mean ± sd over seeds, n = 2 of 3)\nseed 1: 0.5000\nseed 2: 0.7000\n\
             seed 3: undefined\nthe best of its column\n\
             published 0.50 ± 0.10 (+1.0 sd, within 1 sd); Table 2"
        );
        assert_eq!(tip(&Book::default(), &Number::default()), "no run is done");
    }
}
