//! What is in a vote table, in figures.
//!
//! Entropy is that of an item's annotator distribution, `H = −Σ p ln p`. Ordinal votes have a mean, a
//! median and a spread besides, over the positions of their classes, and multi-label votes figures of
//! their sets of labels instead of entropy. Agreement is in [`agreement`](crate::agreement).

use std::collections::HashSet;

use dissensus_core::{
    Ballots, ClassOrder, Counts, Scale, VoteTable, Votes, entropy, normalized_entropy,
};
use serde::Serialize;

use crate::agreement::{FLEISS, KRIPPENDORFF_NOMINAL, KRIPPENDORFF_ORDINAL};

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
    /// The classes in order, with their shares of all votes. A multi-label vote counts for each of its
    /// labels, so that shares may sum to more than 1.
    pub classes: Vec<ClassShare>,
    /// Where the order comes from.
    pub class_order: ClassOrder,
    /// What the classes are to each other.
    pub scale: Scale,
    /// How many votes there are; `None` where only probabilities are known.
    pub votes: Option<u64>,
    /// Votes on an item.
    pub votes_per_item: Option<Spread<u64>>,
    /// Items whose votes all went to one class, or are all the same set of labels.
    pub unanimous: usize,
    /// Items whose most-voted class is not alone; `None` for multi-label votes.
    pub ties: Option<usize>,
    /// Entropy over the items that have votes; `None` where there are none.
    pub entropy: Option<EntropySummary>,
    /// Figures of ordinal votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratings: Option<Ratings>,
    /// Figures of multi-label votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_sets: Option<LabelSets>,
    /// Krippendorff's α for nominal data, where defined.
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

/// Ordinal votes in figures, each vote at the position of its class.
#[derive(Clone, Debug, Serialize)]
pub struct Ratings {
    /// Where each class lies.
    pub positions: Vec<f64>,
    /// Mean over all votes (over items, where only probabilities are known).
    pub mean: f64,
    /// The middle vote.
    pub median: f64,
    /// Standard deviation (n) over all votes.
    pub sd: f64,
    /// Smallest, median and largest mean of an item.
    pub item_means: Spread<f64>,
    /// Mean over items of the standard deviation (n) of an item's votes.
    pub mean_item_sd: f64,
    /// Krippendorff's α for ordinal data, where defined.
    pub krippendorff_alpha: Option<f64>,
}

/// The label sets of multi-label votes in figures.
#[derive(Clone, Debug, Serialize)]
pub struct LabelSets {
    /// Labels of a vote.
    pub labels_per_vote: Option<Spread<u64>>,
    /// Their mean.
    pub mean_labels_per_vote: Option<f64>,
    /// Votes for no class.
    pub votes_without_labels: usize,
    /// Different sets among the votes on an item that has votes.
    pub sets_per_item: Option<Spread<u64>>,
    /// Different sets among all votes.
    pub different_sets: usize,
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
    let counts = counts.as_deref();
    let rows = Rows { table, counts };
    let mut nats = Vec::with_capacity(table.len());
    let mut totals = vec![0.0; k];
    let (mut unanimous, mut ties, mut without) = (0, 0, 0);
    for item in 0..table.len() {
        let row = rows.amounts(item);
        let total: f64 = row.iter().sum();
        if total <= 0.0 {
            without += 1;
            continue;
        }
        nats.push((item, entropy(&row)));
        row.iter().zip(&mut totals).for_each(|(amount, share)| *share += amount);
        let most = row.iter().copied().fold(0.0, f64::max);
        unanimous += usize::from(row.iter().filter(|a| **a > 0.0).count() == 1);
        ties += usize::from(row.iter().filter(|a| **a == most).count() > 1);
    }
    let agreement = |coefficient: crate::agreement::Coefficient| {
        coefficient.of(table.scale(), counts?, k).ok().flatten()
    };
    let ratings = table.classes().positions().and_then(|positions| {
        let ratings = ratings(positions, &totals, &rows)?;
        Some(Ratings { krippendorff_alpha: agreement(KRIPPENDORFF_ORDINAL), ..ratings })
    });
    let all: f64 = totals.iter().sum();
    let votes_on = |item| counts.map_or(0, |counts| counts.votes(item));
    let mut summary = Summary {
        items: table.len(),
        items_without_votes: without,
        annotators: Some(table.annotators().len()).filter(|&n| n > 0),
        ballots: match table.ballots() {
            Ballots::Votes(_) => "votes",
            Ballots::Counts(_) => "counts",
            Ballots::Probabilities(_) => "probabilities",
        },
        weighted: counts.is_some_and(Counts::is_weighted),
        classes: shares(table, &totals, all),
        class_order: table.classes().order(),
        scale: table.scale(),
        votes: counts.map(Counts::total),
        votes_per_item: counts
            .and_then(|_| spread((0..table.len()).map(votes_on).collect(), |&v| v as f64)),
        unanimous,
        ties: Some(ties),
        entropy: entropy_summary(&nats, k),
        ratings,
        label_sets: None,
        krippendorff_alpha: agreement(KRIPPENDORFF_NOMINAL),
        fleiss_kappa: agreement(FLEISS),
        most_ambiguous: most_ambiguous(&rows, nats, texts, top),
        digest: table.digest().to_string(),
    };
    if let (Scale::MultiLabel, Ballots::Votes(votes)) = (table.scale(), table.ballots()) {
        summarize_sets(table, votes, &mut summary);
    }
    summary
}

/// The classes with their parts of what all amounts sum to.
fn shares(table: &VoteTable, amounts: &[f64], all: f64) -> Vec<ClassShare> {
    let share = |amount: f64| if all > 0.0 { amount / all } else { 0.0 };
    let named = table.classes().names().iter().zip(amounts);
    named.map(|(name, &amount)| ClassShare { name: name.clone(), share: share(amount) }).collect()
}

/// Figures of ordinal votes but for their agreement; `None` where there are no votes.
fn ratings(positions: Vec<f64>, totals: &[f64], rows: &Rows<'_>) -> Option<Ratings> {
    let (mean, sd) = mean_and_sd(&positions, totals)?;
    let all: Vec<(f64, f64)> = positions.iter().copied().zip(totals.iter().copied()).collect();
    let items = (0..rows.table.len()).filter_map(|i| mean_and_sd(&positions, &rows.amounts(i)));
    let (means, sds): (Vec<f64>, Vec<f64>) = items.unzip();
    Some(Ratings {
        mean,
        median: median_of(&all)?,
        sd,
        mean_item_sd: sds.iter().sum::<f64>() / sds.len() as f64,
        item_means: spread(means, |&mean| mean)?,
        krippendorff_alpha: None,
        positions,
    })
}

fn mean_and_sd(positions: &[f64], amounts: &[f64]) -> Option<(f64, f64)> {
    let total: f64 = amounts.iter().sum();
    let over = |value: &dyn Fn(f64) -> f64| {
        amounts.iter().zip(positions).map(|(n, &x)| n * value(x)).sum::<f64>() / total
    };
    let mean = over(&|x| x);
    (total > 0.0).then(|| (mean, over(&|x| (x - mean).powi(2)).sqrt()))
}

/// The position below and above which half of the amounts lie: the mean of two where they divide the
/// amounts into equal halves. Positions ascend.
fn median_of(amounts: &[(f64, f64)]) -> Option<f64> {
    let total: f64 = amounts.iter().map(|(_, amount)| amount).sum();
    let mut voted = amounts.iter().filter(|(_, amount)| *amount > 0.0);
    let mut below = 0.0;
    let (position, _) = voted.find(|(_, amount)| {
        below += amount;
        2.0 * below >= total
    })?;
    Some(match voted.next() {
        Some((next, _)) if 2.0 * below == total => (position + next) / 2.0,
        _ => *position,
    })
}

/// Puts the figures of multi-label votes into a summary.
fn summarize_sets(table: &VoteTable, votes: &Votes, summary: &mut Summary) {
    let (mut sizes, mut per_item, mut sets_per_item) = (Vec::new(), Vec::new(), Vec::new());
    let mut amounts = vec![0.0; table.classes().len()];
    let mut different = HashSet::new();
    for item in 0..table.len() {
        let sets: HashSet<&[u16]> = votes.of(item).map(|vote| vote.labels).collect();
        for vote in votes.of(item) {
            sizes.push(vote.labels.len() as u64);
            vote.labels.iter().for_each(|&class| amounts[class as usize] += 1.0);
        }
        per_item.push(votes.of(item).len() as u64);
        sets_per_item.extend(Some(sets.len() as u64).filter(|&sets| sets > 0));
        different.extend(sets);
    }
    let number = |&n: &u64| n as f64;
    let cast = sizes.len();
    summary.weighted = votes.is_weighted();
    summary.items_without_votes = table.len() - sets_per_item.len();
    summary.classes = shares(table, &amounts, cast as f64);
    summary.votes = Some(cast as u64);
    summary.votes_per_item = spread(per_item, number);
    summary.unanimous = sets_per_item.iter().filter(|&&sets| sets == 1).count();
    summary.ties = None;
    summary.label_sets = Some(LabelSets {
        mean_labels_per_vote: (cast > 0).then(|| sizes.iter().sum::<u64>() as f64 / cast as f64),
        votes_without_labels: sizes.iter().filter(|&&size| size == 0).count(),
        labels_per_vote: spread(sizes, number),
        sets_per_item: spread(sets_per_item, number),
        different_sets: different.len(),
    });
}

impl Summary {
    /// Whether nominal classes may be ratings: three to eleven successive whole numbers that do not
    /// begin with 0, as the numbers of classes do.
    pub fn may_be_ratings(&self) -> bool {
        let numbers: Option<Vec<f64>> =
            self.classes.iter().map(|class| class.name.parse().ok()).collect();
        let numbers = numbers.unwrap_or_default();
        self.scale == Scale::Nominal
            && (3..=11).contains(&numbers.len())
            && numbers.first().is_some_and(|first| first.fract() == 0.0 && *first != 0.0)
            && numbers.windows(2).all(|pair| pair[1] - pair[0] == 1.0)
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
    use dissensus_core::{ClassSet, Ids, Keep, TableBuilder};

    fn table(rows: &[[u32; 3]]) -> VoteTable {
        let mut counts = Counts::new();
        for row in rows {
            counts.push((0..).zip(*row)).unwrap();
        }
        VoteTable::from_counts(ClassSet::numbered(3).unwrap(), Ids::positions(rows.len()), counts)
            .unwrap()
    }

    #[test]
    fn figures_of_counts() {
        let table = table(&[[4, 0, 0], [2, 2, 0], [0, 1, 3], [1, 1, 2], [0, 4, 0]]);
        let summary = summarize(&table, &[], 2);
        assert!(summary.krippendorff_alpha.is_some() && summary.fleiss_kappa.is_some());
        assert_eq!((summary.unanimous, summary.ties), (2, Some(1)));
        assert_eq!(summary.most_ambiguous[0].item, "3");
        assert_eq!(summary.votes_per_item, Some(Spread { min: 4, median: 4.0, max: 4 }));
        assert!(summary.ratings.is_none() && summary.label_sets.is_none());
    }

    /// numpy 2.4.6, Python:
    ///
    /// ```python
    /// rows = [[1, 1, 2, 5], [2, 5], [1], [], [5, 5, 5]]
    /// votes = np.concatenate(rows)
    /// votes.mean(), np.median(votes), votes.std()
    /// np.mean([np.std(row) for row in rows if row]), sorted(np.mean(row) for row in rows if row)
    /// ```
    #[test]
    fn ratings_lie_at_their_numbers() {
        let mut counts = Counts::new();
        let rows = [[2, 1, 1], [0, 1, 1], [1, 0, 0], [0, 0, 0], [0, 0, 3]];
        rows.iter().for_each(|row| counts.push((0..).zip(*row)).unwrap());
        let names = ["1", "2", "5"].map(str::to_owned).to_vec();
        let classes = ClassSet::sorted(names).unwrap().with_scale(Scale::Ordinal).unwrap();
        let table = VoteTable::from_counts(classes, Ids::positions(5), counts).unwrap();
        let ratings = summarize(&table, &[], 0).ratings.unwrap();
        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        close(ratings.mean, RATINGS[0]);
        close(ratings.median, RATINGS[1]);
        close(ratings.sd, RATINGS[2]);
        close(ratings.mean_item_sd, RATINGS[3]);
        assert_eq!(ratings.item_means, Spread { min: 1.0, median: 2.875, max: 5.0 });
        assert!(ratings.krippendorff_alpha.is_some());
        let weighted = [(1.0, 1.0), (2.0, 0.0), (4.0, 1.0)];
        close(median_of(&weighted).unwrap(), 2.5);
        assert_eq!(
            (median_of(&[(3.0, 0.0)]), median_of(&[(1.0, 0.2), (2.0, 0.3)])),
            (None, Some(2.0))
        );
    }

    const RATINGS: [f64; 4] = [3.2, 3.5, 1.833_030_277_982_336_2, 0.784_839_907_768_875];

    #[test]
    fn sets_of_labels_have_figures_of_their_own() {
        let mut builder = TableBuilder::new(Keep::Votes);
        builder.set_scale(Scale::MultiLabel);
        let votes: [(&str, &str, &[&str]); 5] = [
            ("a", "ann", &["x", "y"]),
            ("a", "ben", &["y", "x"]),
            ("b", "ann", &[]),
            ("b", "ben", &["x"]),
            ("b", "cem", &["x", "y", "z"]),
        ];
        for (row, (item, who, labels)) in (1..).zip(votes) {
            builder.vote_set(item, Some(who), labels, 1.0, row).unwrap();
        }
        builder.item("c", 6).unwrap();
        let summary = summarize(&builder.finish().unwrap(), &[], 5);
        let sets = summary.label_sets.unwrap();
        assert_eq!(sets.labels_per_vote, Some(Spread { min: 0, median: 2.0, max: 3 }));
        assert_eq!((sets.mean_labels_per_vote, sets.votes_without_labels), (Some(1.6), 1));
        assert_eq!(sets.sets_per_item, Some(Spread { min: 1, median: 2.0, max: 3 }));
        assert_eq!(sets.different_sets, 4);
        let shares: Vec<f64> = summary.classes.iter().map(|class| class.share).collect();
        assert_eq!(shares, [0.8, 0.6, 0.2]);
        assert_eq!(
            (summary.votes, summary.annotators, summary.items_without_votes),
            (Some(5), Some(3), 1)
        );
        assert_eq!((summary.unanimous, summary.ties), (1, None));
        assert!(summary.entropy.is_none() && summary.krippendorff_alpha.is_none());
    }

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
        assert_eq!((nobody.items_without_votes, nobody.ties), (1, Some(0)));
    }
}
