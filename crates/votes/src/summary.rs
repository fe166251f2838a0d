//! What is in a vote table, in figures.
//!
//! Entropy is that of an item's annotator distribution, `H = −Σ p ln p`. Agreement is chance-
//! corrected: Krippendorff's α for nominal data, `1 − D_o / D_e` over all pairs of votes on one
//! item (Krippendorff, *Content Analysis*, 2004, ch. 11); Fleiss' κ, `(P̄ − P_e) / (1 − P_e)`,
//! where every item has the same number of votes (Fleiss, 1971).

use dissensus_core::{Ballots, ClassOrder, Counts, VoteTable, entropy, normalized_entropy};
use serde::Serialize;

/// Bins of the entropy histogram.
pub const BINS: usize = 10;

/// The figures of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// How many items there are.
    pub items: usize,
    /// How many of them nobody voted on.
    pub items_without_votes: usize,
    /// How many annotators there are; `None` where votes do not name them.
    pub annotators: Option<usize>,
    /// What is known: `votes`, `counts` or `probabilities`.
    pub ballots: &'static str,
    /// Whether votes carry weights.
    pub weighted: bool,
    /// The classes in order, with their shares of all votes.
    pub classes: Vec<ClassShare>,
    /// Where the order comes from.
    pub class_order: ClassOrder,
    /// How many votes there are; `None` where only probabilities are known.
    pub votes: Option<u64>,
    /// Votes on an item.
    pub votes_per_item: Option<Spread<u64>>,
    /// Items whose votes all went to one class.
    pub unanimous: usize,
    /// Items whose most-voted class is not alone.
    pub ties: usize,
    /// Entropy over the items that have votes; `None` where there are none.
    pub entropy: Option<EntropySummary>,
    /// Krippendorff's α, where defined.
    pub krippendorff_alpha: Option<f64>,
    /// Fleiss' κ, where defined.
    pub fleiss_kappa: Option<f64>,
    /// The items on which people disagree most.
    pub most_ambiguous: Vec<Ambiguous>,
    /// The table's content hash.
    pub digest: String,
}

/// A class and its share of all votes (each item counting once where there are only shares).
#[derive(Clone, Debug, Serialize)]
pub struct ClassShare {
    /// Its name.
    pub name: String,
    /// Its share, from 0 to 1.
    pub share: f64,
}

/// Smallest, middle and largest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread<T> {
    /// The smallest.
    pub min: T,
    /// The middle one (the mean of the two middle ones, where there are two).
    pub median: f64,
    /// The largest.
    pub max: T,
}

/// Entropy over items.
#[derive(Clone, Debug, Serialize)]
pub struct EntropySummary {
    /// Mean in nats.
    pub mean_nats: f64,
    /// Mean in bits.
    pub mean_bits: f64,
    /// Mean after division by ln K; `None` for fewer than two classes.
    pub mean_normalized: Option<f64>,
    /// Standard deviation (n) of normalized entropy.
    pub sd_normalized: Option<f64>,
    /// Smallest, median and largest in nats.
    pub nats: Spread<f64>,
    /// Items per tenth of normalized entropy; the last bin includes 1.
    pub histogram: Vec<usize>,
}

/// An item on which people disagree.
#[derive(Clone, Debug, Serialize)]
pub struct Ambiguous {
    /// Its id.
    pub item: String,
    /// Its text, where the source has one.
    pub text: Option<String>,
    /// Entropy in nats.
    pub nats: f64,
    /// Votes, where known.
    pub votes: Option<u64>,
    /// Shares of the classes, in order.
    pub shares: Vec<f64>,
}

/// Summarizes a table; `top` most ambiguous items are listed.
pub fn summarize(table: &VoteTable, texts: &[(String, String)], top: usize) -> Summary {
    let k = table.classes().len();
    let counts = table.counts();
    let rows = Rows { table, counts: counts.as_deref() };
    let mut nats = Vec::with_capacity(table.len());
    let mut shares = vec![0.0; k];
    let (mut unanimous, mut ties, mut without) = (0, 0, 0);
    for item in 0..table.len() {
        let row = rows.amounts(item);
        let total: f64 = row.iter().sum();
        if total <= 0.0 {
            without += 1;
            continue;
        }
        nats.push((item, entropy(&row)));
        row.iter().zip(&mut shares).for_each(|(amount, share)| *share += amount);
        let most = row.iter().copied().fold(0.0, f64::max);
        unanimous += usize::from(row.iter().filter(|a| **a > 0.0).count() == 1);
        ties += usize::from(row.iter().filter(|a| **a == most).count() > 1);
    }
    let all: f64 = shares.iter().sum();
    let classes = table.classes().names().iter().zip(&shares).map(|(name, share)| ClassShare {
        name: name.clone(),
        share: if all > 0.0 { share / all } else { 0.0 },
    });
    let weighted = counts.as_ref().is_some_and(|c| c.is_weighted());
    let plain = counts.as_deref().filter(|_| !weighted);
    Summary {
        items: table.len(),
        items_without_votes: without,
        annotators: Some(table.annotators().len()).filter(|&n| n > 0),
        ballots: match table.ballots() {
            Ballots::Votes(_) => "votes",
            Ballots::Counts(_) => "counts",
            Ballots::Probabilities(_) => "probabilities",
        },
        weighted,
        classes: classes.collect(),
        class_order: table.classes().order(),
        votes: counts.as_ref().map(|c| c.total()),
        votes_per_item: counts
            .as_ref()
            .and_then(|c| spread((0..c.len()).map(|i| c.votes(i)).collect(), |&v| v as f64)),
        unanimous,
        ties,
        entropy: entropy_summary(&nats, k),
        krippendorff_alpha: plain.and_then(|c| krippendorff_alpha(c, k)),
        fleiss_kappa: plain.and_then(|c| fleiss_kappa(c, k)),
        most_ambiguous: most_ambiguous(&rows, nats, texts, top),
        digest: table.digest().to_string(),
    }
}

/// The amounts of an item, whatever the table knows.
struct Rows<'a> {
    table: &'a VoteTable,
    counts: Option<&'a Counts>,
}

impl Rows<'_> {
    fn amounts(&self, item: usize) -> Vec<f64> {
        match (self.counts, self.table.ballots()) {
            (Some(counts), _) => counts.row(item, self.table.classes().len()),
            (None, Ballots::Probabilities(rows)) => rows.row(item).to_vec(),
            (None, _) => Vec::new(),
        }
    }
}

fn spread<T: Copy>(mut values: Vec<T>, number: fn(&T) -> f64) -> Option<Spread<T>> {
    values.sort_by(|a, b| number(a).total_cmp(&number(b)));
    let (min, max) = (*values.first()?, *values.last()?);
    let n = values.len();
    let median = (number(&values[(n - 1) / 2]) + number(&values[n / 2])) / 2.0;
    Some(Spread { min, median, max })
}

fn entropy_summary(nats: &[(usize, f64)], classes: usize) -> Option<EntropySummary> {
    let n = nats.len() as f64;
    let mean_nats = nats.iter().map(|(_, h)| h).sum::<f64>() / n;
    let spread = spread(nats.iter().map(|(_, h)| *h).collect(), |&h| h)?;
    let mean_normalized = normalized_entropy(mean_nats, classes);
    let mut histogram = vec![0; BINS];
    let mut squares = 0.0;
    for (_, h) in nats {
        let normalized = normalized_entropy(*h, classes).unwrap_or(0.0);
        let bin = ((normalized * BINS as f64) as usize).min(BINS - 1);
        histogram[bin] += 1;
        squares += (normalized - mean_normalized.unwrap_or(0.0)).powi(2);
    }
    Some(EntropySummary {
        mean_nats,
        mean_bits: mean_nats / std::f64::consts::LN_2,
        mean_normalized,
        sd_normalized: mean_normalized.map(|_| (squares / n).sqrt()),
        nats: spread,
        histogram,
    })
}

/// Krippendorff's α for nominal data. `None` where no item has two votes, or all votes are alike.
pub fn krippendorff_alpha(counts: &Counts, classes: usize) -> Option<f64> {
    let mut totals = vec![0.0; classes];
    let mut observed = 0.0;
    for item in 0..counts.len() {
        let m = counts.votes(item) as f64;
        if m < 2.0 {
            continue;
        }
        let mut same = 0.0;
        for (class, n) in counts.entries(item) {
            let n = f64::from(n);
            totals[class as usize] += n;
            same += n * n;
        }
        observed += (m * m - same) / (m - 1.0);
    }
    let n: f64 = totals.iter().sum();
    let expected = (n * n - totals.iter().map(|t| t * t).sum::<f64>()) / (n - 1.0);
    (n >= 2.0 && expected > 0.0).then(|| 1.0 - observed / expected)
}

/// Fleiss' κ. `None` where items have different numbers of votes (or fewer than two), or all
/// votes are alike.
pub fn fleiss_kappa(counts: &Counts, classes: usize) -> Option<f64> {
    let m = counts.votes(0);
    if m < 2 || (1..counts.len()).any(|item| counts.votes(item) != m) {
        return None;
    }
    let (m, items) = (m as f64, counts.len() as f64);
    let mut totals = vec![0.0; classes];
    let mut agreement = 0.0;
    for item in 0..counts.len() {
        let mut same = 0.0;
        for (class, n) in counts.entries(item) {
            let n = f64::from(n);
            totals[class as usize] += n;
            same += n * n;
        }
        agreement += (same - m) / (m * (m - 1.0));
    }
    let observed = agreement / items;
    let chance: f64 = totals.iter().map(|t| (t / (items * m)).powi(2)).sum();
    (chance < 1.0).then(|| (observed - chance) / (1.0 - chance))
}

fn most_ambiguous(
    rows: &Rows<'_>,
    mut nats: Vec<(usize, f64)>,
    texts: &[(String, String)],
    top: usize,
) -> Vec<Ambiguous> {
    let name = |item: usize| rows.table.items().name(item);
    let order = |a: &(usize, f64), b: &(usize, f64)| {
        b.1.total_cmp(&a.1).then_with(|| name(a.0).cmp(name(b.0)))
    };
    if nats.len() > top && top > 0 {
        nats.select_nth_unstable_by(top - 1, order);
    }
    nats.truncate(top);
    nats.sort_by(order);
    nats.into_iter()
        .map(|(item, nats)| {
            let row = rows.amounts(item);
            let total: f64 = row.iter().sum();
            Ambiguous {
                item: name(item).to_owned(),
                text: texts.iter().find(|(id, _)| id == name(item)).map(|(_, t)| t.clone()),
                nats,
                votes: rows.counts.map(|c| c.votes(item)),
                shares: row.iter().map(|amount| amount / total).collect(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_core::{ClassSet, Ids};

    fn table(rows: &[[u32; 3]]) -> VoteTable {
        let mut counts = Counts::new();
        for row in rows {
            counts.push((0..3).filter(|&c| row[c] > 0).map(|c| (c as u16, row[c])));
        }
        VoteTable::from_counts(ClassSet::numbered(3).unwrap(), Ids::positions(rows.len()), counts)
    }

    /// krippendorff 0.9.0 and statsmodels 0.15.0, Python:
    ///
    /// ```python
    /// rows = [[4, 0, 0], [2, 2, 0], [0, 1, 3], [1, 1, 2], [0, 4, 0]]
    /// krippendorff.alpha(value_counts=np.array(rows), level_of_measurement="nominal")
    /// statsmodels.stats.inter_rater.fleiss_kappa(np.array(rows))
    /// ```
    #[test]
    fn agreement_is_that_of_other_tools() {
        let table = table(&[[4, 0, 0], [2, 2, 0], [0, 1, 3], [1, 1, 2], [0, 4, 0]]);
        let summary = summarize(&table, &[], 2);
        assert!((summary.krippendorff_alpha.unwrap() - ALPHA).abs() < 1e-12);
        assert!((summary.fleiss_kappa.unwrap() - KAPPA).abs() < 1e-12);
        assert_eq!((summary.unanimous, summary.ties), (2, 1));
        assert_eq!(summary.most_ambiguous[0].item, "3");
        assert_eq!(summary.votes_per_item, Some(Spread { min: 4, median: 4.0, max: 4 }));
    }

    const ALPHA: f64 = 0.419_847_328_244_274_95;
    const KAPPA: f64 = 0.389_312_977_099_236_57;

    #[test]
    fn undefined_is_none() {
        let alike = summarize(&table(&[[2, 0, 0], [3, 0, 0]]), &[], 1);
        assert_eq!((alike.krippendorff_alpha, alike.fleiss_kappa), (None, None));
        let single = summarize(&table(&[[1, 0, 0], [0, 1, 0]]), &[], 1);
        assert_eq!((single.krippendorff_alpha, single.fleiss_kappa), (None, None));
        let uneven = summarize(&table(&[[2, 1, 0], [0, 4, 0]]), &[], 1);
        assert!(uneven.krippendorff_alpha.is_some() && uneven.fleiss_kappa.is_none());
        let nobody = summarize(&table(&[[0, 0, 0]]), &[], 1);
        assert!(nobody.entropy.is_none());
        assert_eq!((nobody.items_without_votes, nobody.ties), (1, 0));
    }
}
