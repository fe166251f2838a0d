//! Whether a claim holds.

use std::collections::BTreeMap;

use dissensus_core::Direction;
use dissensus_stats::{Alternative, LEVEL, describe};

use super::cells::{Pairs, asked, holm, mean, places, undone, values};
use super::{ClaimKind, ClaimSide, ClaimSpec, curves, gains, items};
use crate::ReportError;
use crate::book::Book;
use crate::tables::words::{bare_p, number, p, range};
use crate::tables::{CellKey, Tally, prepare};

/// Up to so many cells are told one by one.
const TOLD: usize = 6;

/// Of up to so many, a sentence has both means.
const TOLD_WHOLE: usize = 3;

/// The share of cells near published values, where a claim does not say.
const SHARE: f64 = 0.9;

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    /// All means lie as it says, but not all of them surely: in some cells, not in all, p is as small
    /// as it should be.
    Partly,
    /// It is not.
    Fails,
    /// It cannot be said yet, and why.
    Open(String),
}

impl Verdict {
    pub fn words(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Partly => "holds in part",
            Self::Fails => "does not hold",
            Self::Open(_) => "not decided",
        }
    }
}

/// A claim, and what the results say of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The claim's name.
    pub name: String,
    /// The claim.
    pub text: String,
    /// What decides it.
    pub statistic: String,
    /// What came out here.
    pub ours: String,
    /// The same in a sentence: means and p of each comparison.
    pub told: String,
    pub published: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// Cells that do not hold, for people.
    pub against: Vec<String>,
    /// Those of `against` whose means lie as claimed, which the test leaves undecided.
    pub undecided: usize,
}

/// What a claim came to: words of ours, the cells against it, and whether all could be looked at.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) ours: String,
    /// Means and p of each comparison, and the test; empty where `ours` says it.
    pub(super) told: String,
    pub(super) against: Vec<String>,
    /// Those of `against` that a test leaves undecided.
    pub(super) unsure: usize,
    pub(super) open: Option<String>,
    pub(super) seen: usize,
}

/// Looks into the results of a book.
pub fn judge(spec: &ClaimSpec, book: &Book) -> Result<Judged, ReportError> {
    let outcome = match spec.kind {
        ClaimKind::Below | ClaimKind::Above => match spec.bound {
            Some(bound) => bounded(spec, book, bound),
            None => sided(spec, book)?,
        },
        ClaimKind::Better => sided(spec, book)?,
        ClaimKind::Between => bounded(spec, book, f64::NAN),
        ClaimKind::Parity => parity(spec, book)?,
        ClaimKind::Ordering | ClaimKind::Monotone => ordered(spec, book)?,
        ClaimKind::Highest | ClaimKind::Lowest => extreme(spec, book),
        ClaimKind::Gain => gains::gain(spec, book)?,
        ClaimKind::Change => gains::change(spec, book)?,
        ClaimKind::Correlation => items::correlation(spec, book)?,
        ClaimKind::Turn => curves::turn(spec, book)?,
        ClaimKind::Facts => facts(spec, book),
        ClaimKind::ShareWithin => share(spec, book)?,
    };
    let undone = unfinished(spec, book);
    let (seen, against) = (outcome.seen, outcome.against.len());
    let enough = spec.least.map_or(against == 0, |least| seen.saturating_sub(against) >= least);
    let verdict = match (undone.or(outcome.open), seen) {
        (Some(why), _) => Verdict::Open(why),
        (None, 0) => Verdict::Open("there is no result of it".to_owned()),
        _ if enough => Verdict::Holds,
        _ if against == outcome.unsure && against < seen => Verdict::Partly,
        _ => Verdict::Fails,
    };
    let statistic = spec.statistic();
    let told = match (outcome.told.is_empty(), outcome.ours.is_empty()) {
        (false, _) => outcome.told,
        (true, false) => format!("{}; {statistic}", outcome.ours),
        (true, true) => String::new(),
    };
    Ok(Judged {
        name: spec.name.clone(),
        text: spec.text.clone(),
        statistic,
        ours: outcome.ours,
        told,
        published: spec.published.clone(),
        verdict,
        against: outcome.against,
        undecided: outcome.unsure,
    })
}

/// The arms that a claim needs.
fn arms(spec: &ClaimSpec) -> impl Iterator<Item = &String> {
    spec.arms.iter().chain(spec.than.as_ref())
}

/// That runs of a claim are not done.
fn unfinished(spec: &ClaimSpec, book: &Book) -> Option<String> {
    let mut cells: Vec<CellKey> = places(spec, book);
    if !spec.than_ks.is_empty() {
        cells.extend(places(&ClaimSpec { ks: spec.than_ks.clone(), ..spec.clone() }, book));
    }
    if !spec.than_datasets.is_empty() {
        let datasets = spec.than_datasets.clone();
        cells.extend(places(&ClaimSpec { datasets, ..spec.clone() }, book));
    }
    cells.dedup_by_key(|at| (at.dataset.clone(), at.k));
    let open = |at: &CellKey| arms(spec).map(|arm| undone(book, at, arm)).sum::<usize>();
    let mut counted: Vec<(&str, Option<u32>)> = Vec::new();
    let mut runs = 0;
    for at in &cells {
        if !counted.contains(&(&at.dataset, at.k)) {
            counted.push((&at.dataset, at.k));
            runs += open(at);
        }
    }
    (runs > 0).then(|| format!("{runs} of its runs are not done"))
}

/// A cell in words; what all cells of the claim share is left out.
pub(super) fn named(spec: &ClaimSpec, book: &Book, at: &CellKey, arm: &str) -> String {
    let mut parts = Vec::new();
    let several = [spec.metrics.len(), spec.ks.len(), spec.slices.len()].iter().any(|&n| n > 1);
    let several = several || (book.datasets.len() > 1 && spec.datasets.len() != 1);
    if !arm.is_empty() && (!several || spec.arms.len() > 1) {
        parts.push(book.arm_title(arm).to_owned());
    }
    if book.datasets.len() > 1 && spec.datasets.len() != 1 {
        parts.push(at.dataset.clone());
    }
    if spec.metrics.len() > 1 {
        parts.push(book.metric_title(&at.metric).to_owned());
    }
    if spec.ks.len() > 1 {
        parts.push(crate::tables::words::votes_title(at.k));
    }
    if spec.slices.len() > 1 {
        parts.push(at.slice.clone());
    }
    parts.join(" · ")
}

pub(super) fn digits(book: &Book, metric: &str) -> usize {
    book.metric(metric).map_or(4, |one| one.digits)
}

/// The side on which the differences from another arm should lie.
pub(super) fn claimed(spec: &ClaimSpec, book: &Book, metric: &str) -> Alternative {
    let better = || book.metric(metric).map(|metric| metric.better).unwrap_or_default();
    match spec.kind {
        ClaimKind::Below => Alternative::Less,
        ClaimKind::Above => Alternative::Greater,
        _ if better() == Direction::Higher => Alternative::Greater,
        _ => Alternative::Less,
    }
}

/// A comparison of two arms in a cell, or of the seeds' means over all cells.
struct Compared {
    place: String,
    digits: usize,
    below: bool,
    pairs: Pairs,
}

impl Compared {
    fn good(&self, difference: f64) -> bool {
        if self.below { difference < 0.0 } else { difference > 0.0 }
    }

    /// Both means, with the place unless there is no other, and p.
    fn means(&self, tested: bool, alone: bool) -> String {
        let Pairs { mean, other, p, .. } = self.pairs;
        let [own, other] = [other + mean, other].map(|value| number(value, self.digits));
        let place = if alone { String::new() } else { format!("{}: ", self.place) };
        let p = if tested { format!(", {}", p_words(p)) } else { String::new() };
        format!("{place}{own} against {other}{p}")
    }

    fn words(&self, tested: bool) -> String {
        let place = if self.place.is_empty() { String::new() } else { format!("{}: ", self.place) };
        let written = |value: f64| number(value, self.digits);
        let Pairs { mean, other, p, .. } = self.pairs;
        match tested {
            true => format!("{place}{}, {}", written(mean), p_words(p)),
            false => format!("{place}{} against {}", written(other + mean), written(other)),
        }
    }
}

/// `below`, `above` and `better` than another arm.
fn sided(spec: &ClaimSpec, book: &Book) -> Result<Outcome, ReportError> {
    let than = spec.than.as_deref().unwrap_or_default();
    let mut outcome = Outcome::default();
    let (mut cells, mut all) = (0, Vec::new());
    for at in places(spec, book) {
        let others = values(book, &at, than);
        let side = claimed(spec, book, &at.metric);
        for arm in &spec.arms {
            cells += 1;
            let place = named(spec, book, &at, arm);
            let asked = asked(spec, spec.side, side);
            let Some(pairs) = Pairs::of(&values(book, &at, arm), &others, asked, &place)? else {
                outcome.open.get_or_insert(format!("{place}: no seed that both have"));
                continue;
            };
            let (digits, below) = (digits(book, &at.metric), side == Alternative::Less);
            all.push(Compared { place, digits, below, pairs });
        }
    }
    if spec.pooled && !all.is_empty() {
        (cells, all) = (1, vec![pooled(spec, all)?]);
    }
    let tested = spec.side != ClaimSide::None;
    let (mut lie, mut held, mut agree, mut few) = (0, 0, 0, None);
    for one in &all {
        outcome.seen += 1;
        let found = &one.pairs;
        let whole = found.differences.values().all(|difference| one.good(*difference));
        agree += usize::from(whole);
        let good = one.good(found.mean) && (whole || !spec.every_seed);
        lie += usize::from(one.good(found.mean));
        let small = spec.level.is_none_or(|level| found.p.is_some_and(|p| p <= level));
        // Too few pairs to ever be as small: then the means are all there is to say.
        let unable = spec.level.filter(|&level| found.smallest.is_some_and(|p| p > level));
        if good && small {
            held += 1;
        } else if let Some(level) = unable {
            let pairs = found.differences.len();
            few = Some(format!("{pairs} pairs can give no p up to {level}"));
        } else {
            outcome.against.push(one.words(tested));
            outcome.unsure += usize::from(one.good(found.mean));
        }
    }
    if outcome.against.is_empty() {
        outcome.open = outcome.open.or(few);
    }
    if all.is_empty() {
        return Ok(outcome);
    }
    let way = match spec.kind {
        ClaimKind::Below => "below",
        ClaimKind::Above => "above",
        _ => "better",
    };
    let mut words = Vec::new();
    if !spec.pooled {
        words.push(format!("{lie} of {cells} {way}"));
    }
    if let (Some(level), true) = (spec.level, held < lie) {
        words.push(format!("{held} with p up to {level}"));
    }
    let ps: Vec<Option<f64>> = all.iter().map(|one| one.pairs.p).collect();
    if !spec.pooled {
        let spread = spread_of(&ps).into_iter().chain(after_holm(&ps)?);
        let counted: Vec<String> = words.iter().cloned().chain(spread).collect();
        outcome.told = told(spec, book, &all, &counted);
    }
    if cells <= TOLD {
        let told: Vec<String> = all.iter().map(|one| one.words(tested)).collect();
        words.push(format!("{}{}", if tested { "by " } else { "" }, told.join("; ")));
    } else {
        words.extend(spread_of(&ps));
    }
    words.extend(after_holm(&ps)?);
    if tested {
        let seeds = range(all.iter().map(|one| one.pairs.differences.len()));
        words.push(match (agree, cells) {
            (0, 1) => {
                let one = &all[0];
                let so = one.pairs.differences.values().filter(|by| one.good(**by)).count();
                format!("{so} of {seeds} seeds")
            }
            (1, 1) => format!("all {seeds} seeds agree"),
            (0, _) => format!("in no comparison do all {seeds} seeds agree"),
            _ => format!("all {seeds} seeds agree in {agree} of {cells}"),
        });
    }
    outcome.ours = words.join("; ");
    Ok(outcome)
}

/// Both means and p of each comparison, and the test, as a sentence has them; of many comparisons, how
/// many are as claimed.
fn told(spec: &ClaimSpec, book: &Book, all: &[Compared], counted: &[String]) -> String {
    let (tested, alone) = (spec.side != ClaimSide::None, all.len() == 1);
    let metric = match spec.metrics.as_slice() {
        [one] if alone => format!("{} ", book.metric_title(one)),
        [one] => format!("{}, ", book.metric_title(one)),
        _ => String::new(),
    };
    let means: Vec<String> = match all.len() <= TOLD_WHOLE {
        true => all.iter().map(|one| one.means(tested, alone)).collect(),
        false => counted.to_vec(),
    };
    let seeds = range(all.iter().map(|one| one.pairs.differences.len()));
    let plain = if alone { "" } else { ", p not corrected" };
    let by = if tested { format!(", {}{plain}", spec.test_name()) } else { String::new() };
    format!("{metric}{}; {seeds} seeds{by}", means.join("; "))
}

/// One comparison of each seed's mean over all cells; of the seeds that every cell has.
fn pooled(spec: &ClaimSpec, all: Vec<Compared>) -> Result<Compared, ReportError> {
    let mut seeds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for one in &all {
        for (seed, difference) in &one.pairs.differences {
            seeds.entry(*seed).or_default().push(*difference);
        }
    }
    seeds.retain(|_, found| found.len() == all.len());
    let place = format!("mean of {} cells", all.len());
    let failed = |source| ReportError::Stats { place: place.clone(), source };
    let mut means = BTreeMap::new();
    for (seed, found) in seeds {
        means.insert(seed, describe::mean(&found).map_err(failed)?);
    }
    let first = all.into_iter().next();
    let (digits, below) = first.map_or((4, true), |one| (one.digits, one.below));
    let side = if below { Alternative::Less } else { Alternative::Greater };
    let pairs = Pairs::tested(means, f64::NAN, asked(spec, spec.side, side), &place)?;
    Ok(Compared { place: String::new(), digits, below, pairs })
}

pub(super) fn p_words(value: Option<f64>) -> String {
    value.map_or("no p".to_owned(), p)
}

/// What Holm's correction leaves of several p values.
fn after_holm(ps: &[Option<f64>]) -> Result<Option<String>, ReportError> {
    let corrected = holm(ps)?;
    let told = match ps.len() {
        0 | 1 => None,
        2..=TOLD => {
            let all: Vec<String> = corrected.iter().map(|p| bare_p(*p)).collect();
            corrected.iter().any(Option::is_some).then(|| all.join(", "))
        }
        _ => spread_of(&corrected),
    };
    Ok(told.map(|told| format!("after Holm {told}")))
}

/// p values in words: one, or from the smallest to the largest.
fn spread_of(ps: &[Option<f64>]) -> Option<String> {
    let low = ps.iter().copied().flatten().min_by(f64::total_cmp)?;
    let high = ps.iter().copied().flatten().max_by(f64::total_cmp)?;
    Some(match low == high {
        true => p(low),
        false => format!("{} to {}", p(low), p(high).trim_start_matches("p = ")),
    })
}

/// `below` and `above` a number, and `between` two.
fn bounded(spec: &ClaimSpec, book: &Book, bound: f64) -> Outcome {
    let mut outcome = Outcome::default();
    let mut words = Vec::new();
    for at in places(spec, book) {
        for arm in &spec.arms {
            let found = values(book, &at, arm);
            let place = named(spec, book, &at, arm);
            let Some(mean) = mean(&found) else {
                outcome.open.get_or_insert(format!("{place}: no result"));
                continue;
            };
            outcome.seen += 1;
            let digits = digits(book, &at.metric);
            let text = format!("{place} {}", with_range(mean, found.values().copied(), digits));
            let so = match (spec.kind, spec.bounds) {
                (ClaimKind::Between, Some([low, high])) => low <= mean && mean <= high,
                (ClaimKind::Below, _) => mean < bound,
                _ => mean > bound,
            };
            if !so {
                outcome.against.push(text.clone());
            }
            words.push(text);
        }
    }
    outcome.ours = words.join(", ");
    outcome
}

/// A mean with the least and the largest value.
pub(super) fn with_range(
    mean: f64,
    all: impl Iterator<Item = f64> + Clone,
    digits: usize,
) -> String {
    let low = all.clone().min_by(f64::total_cmp).unwrap_or(mean);
    let high = all.max_by(f64::total_cmp).unwrap_or(mean);
    let [mean, low, high] = [mean, low, high].map(|value| number(value, digits));
    format!("{mean} ({low} to {high})")
}

fn parity(spec: &ClaimSpec, book: &Book) -> Result<Outcome, ReportError> {
    let level = spec.level.unwrap_or(LEVEL);
    let than = spec.than.as_deref().unwrap_or_default();
    let mut outcome = Outcome::default();
    let (mut ps, mut told, mut differing) = (Vec::new(), Vec::new(), Vec::new());
    let (mut cells, mut farthest, mut unable) = (0, 0.0f64, Vec::new());
    for at in places(spec, book) {
        let others = values(book, &at, than);
        for arm in &spec.arms {
            cells += 1;
            let place = named(spec, book, &at, arm);
            let asked = asked(spec, ClaimSide::Two, Alternative::TwoSided);
            let Some(found) = Pairs::of(&values(book, &at, arm), &others, asked, &place)? else {
                outcome.open.get_or_insert(format!("{place}: no seed that both have"));
                continue;
            };
            outcome.seen += 1;
            let apart = found.mean.abs() / found.other.abs();
            farthest = farthest.max(apart);
            let differs = found.p.is_some_and(|p| p <= level);
            let far = spec.within.is_some_and(|within| apart.is_nan() || apart > within);
            if differs || far {
                let by = number(found.mean, digits(book, &at.metric));
                outcome.against.push(format!("{place}: {by}, {}", p_words(found.p)));
                differing.push((ps.len(), far));
            }
            // Too few pairs to ever differ: then equal p says nothing.
            if spec.within.is_none() && found.smallest.is_some_and(|smallest| smallest > level) {
                unable.push(found.differences.len());
            }
            told.push(format!("{place} {}", bare_p(found.p)).trim().to_owned());
            ps.push(found.p);
        }
    }
    if outcome.seen == 0 {
        return Ok(outcome);
    }
    if unable.len() == outcome.seen {
        let pairs = range(unable.iter().copied());
        outcome.open.get_or_insert(format!("{pairs} pairs can give no p up to {level}"));
    }
    let corrected = holm(&ps)?;
    let unsure = |(at, far): &&(usize, bool)| !far && corrected[*at].is_none_or(|p| p > level);
    outcome.unsure = differing.iter().filter(unsure).count();
    let alike = outcome.seen - outcome.against.len();
    let mut words = vec![format!("{alike} of {cells} alike")];
    match told.len() {
        2..=TOLD => words.push(format!("p: {}", told.join(", "))),
        _ => words.extend(spread_of(&ps)),
    }
    words.extend(after_holm(&ps)?);
    words.push(format!("means at most {} % apart", number(100.0 * farthest, 1)));
    outcome.ours = words.join("; ");
    Ok(outcome)
}

/// `highest` and `lowest`: the first arm among all.
fn extreme(spec: &ClaimSpec, book: &Book) -> Outcome {
    let high = spec.kind == ClaimKind::Highest;
    let mut outcome = Outcome::default();
    let mut words = Vec::new();
    for at in places(spec, book) {
        let place = named(spec, book, &at, "");
        let means: Option<Vec<f64>> =
            spec.arms.iter().map(|arm| mean(&values(book, &at, arm))).collect();
        let Some((&first, others)) = means.as_deref().and_then(<[f64]>::split_first) else {
            outcome.open.get_or_insert(format!("{place}: an arm has no result"));
            continue;
        };
        outcome.seen += 1;
        let digits = digits(book, &at.metric);
        let line: Vec<String> = others.iter().map(|mean| number(*mean, digits)).collect();
        let text = format!("{place} {} ({})", number(first, digits), line.join(", "));
        if !others.iter().all(|other| if high { first > *other } else { first < *other }) {
            outcome.against.push(text.trim().to_owned());
        }
        words.push(text.trim().to_owned());
    }
    let way = if high { "highest" } else { "lowest" };
    let so = outcome.seen - outcome.against.len();
    outcome.ours = match outcome.seen {
        0 => String::new(),
        seen => format!("{way} in {so} of {seen}: {}", words.join("; ")),
    };
    outcome
}

/// `ordering`: falling from arm to arm; `monotone`: rising.
fn ordered(spec: &ClaimSpec, book: &Book) -> Result<Outcome, ReportError> {
    let falls = spec.kind == ClaimKind::Ordering;
    let sign = if falls { ">" } else { "<" };
    let asked = asked(spec, ClaimSide::One, Alternative::Greater);
    let mut outcome = Outcome::default();
    let mut words = Vec::new();
    for at in places(spec, book) {
        let of: Vec<_> = spec.arms.iter().map(|arm| values(book, &at, arm)).collect();
        let means: Option<Vec<f64>> = of.iter().map(mean).collect();
        let place = named(spec, book, &at, "");
        let Some(means) = means else {
            outcome.open.get_or_insert(format!("{place}: an arm has no result"));
            continue;
        };
        outcome.seen += 1;
        let digits = digits(book, &at.metric);
        let line: Vec<String> = means.iter().map(|mean| number(*mean, digits)).collect();
        let line = line.join(&format!(" {sign} "));
        let holds =
            means.windows(2).all(|two| if falls { two[0] > two[1] } else { two[0] < two[1] });
        let told = match falls {
            true => {
                let mut ps = Vec::new();
                for two in of.windows(2) {
                    ps.push(Pairs::of(&two[0], &two[1], asked, &place)?.and_then(|found| found.p));
                }
                spread_of(&ps)
            }
            false => {
                let seeds: Vec<u64> = of[0].keys().copied().collect();
                let whole: Vec<Vec<f64>> = seeds
                    .iter()
                    .filter_map(|seed| of.iter().map(|one| one.get(seed).copied()).collect())
                    .collect();
                let rises = |line: &&Vec<f64>| line.windows(2).all(|two| two[0] < two[1]);
                let rising = whole.iter().filter(rises).count();
                Some(format!("{rising} of {} seeds", whole.len()))
            }
        };
        // Signs between numbers that are not so would say what is not so.
        let line = if holds { line } else { line.replace(sign, "/") };
        let told = told.map_or(String::new(), |told| format!(" ({told})"));
        let text = format!("{place} {line}{told}").trim().to_owned();
        if !holds {
            outcome.against.push(text.clone());
        }
        words.push(text);
    }
    outcome.ours = words.join("; ");
    Ok(outcome)
}

/// `facts`: numbers of the data sets.
fn facts(spec: &ClaimSpec, book: &Book) -> Outcome {
    let within = spec.within.unwrap_or(LEVEL);
    let mut outcome = Outcome::default();
    let (mut same, mut apart) = (0, Vec::new());
    for (dataset, what, published) in &spec.facts {
        let of = book.facts.iter().find(|facts| facts.dataset == *dataset);
        let fact = of.and_then(|of| of.facts.iter().find(|(name, _)| name == what));
        let ours = fact.and_then(|(_, value)| value.split(' ').next()?.parse::<f64>().ok());
        let Some(ours) = ours else {
            outcome.open.get_or_insert(format!("{dataset}: {what} is not known"));
            continue;
        };
        outcome.seen += 1;
        let text = format!("{} {what} {ours} ({published})", book.dataset_title(dataset));
        if (ours - published).abs() > within * published.abs() {
            outcome.against.push(text.clone());
        }
        match ours == *published {
            true => same += 1,
            false => apart.push(text),
        }
    }
    let but = if apart.is_empty() { String::new() } else { format!("; {}", apart.join(", ")) };
    outcome.ours = format!("{same} of {} equal{but}", outcome.seen);
    outcome
}

fn share(spec: &ClaimSpec, book: &Book) -> Result<Outcome, ReportError> {
    let least = spec.share.unwrap_or(SHARE);
    let asked = book.tables.iter().filter(|table| spec.tables.contains(&table.name));
    let tables = asked.map(|table| prepare(table, book)).collect::<Result<Vec<_>, _>>()?;
    let tally = Tally::of(&tables).unwrap_or_default();
    let mut outcome = Outcome { seen: tally.compared, ..Outcome::default() };
    let share = tally.within_2_sd as f64 / tally.compared.max(1) as f64;
    outcome.ours = match tally.compared {
        0 => String::new(),
        compared => format!(
            "{} of {compared} within 2 sd ({} %), {} within 1; by Welch’s t test {} of {} differ \
             with p below {LEVEL}",
            tally.within_2_sd,
            number(100.0 * share, 0),
            tally.within_1_sd,
            tally.told_apart,
            tally.tested,
        ),
    };
    if tally.waiting > 0 {
        outcome.open = Some(format!("{} cells have no result yet", tally.waiting));
    }
    if share < least {
        outcome.against = tally.outside_words();
    }
    Ok(outcome)
}
