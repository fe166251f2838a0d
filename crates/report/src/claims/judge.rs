//! Whether a claim holds.

use dissensus_stats::{Alternative, LEVEL};

use super::cells::{Pairs, mean, places, undone, values};
use super::{ClaimKind, ClaimSpec};
use crate::ReportError;
use crate::book::Book;
use crate::tables::words::{number, p, range};
use crate::tables::{CellKey, Tally, prepare};

/// The share of cells near published values, where a claim does not say.
const SHARE: f64 = 0.9;

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is so.
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
    /// In words.
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
    pub statistic: &'static str,
    /// What came out here.
    pub ours: String,
    /// What was published.
    pub published: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// Cells that do not hold, for people.
    pub against: Vec<String>,
}

/// What a claim came to: words of ours, the cells against it, and whether all could be looked at.
#[derive(Default)]
struct Outcome {
    ours: String,
    against: Vec<String>,
    /// Those of `against` where the means are as they should be, and p is not.
    unsure: usize,
    open: Option<String>,
    seen: usize,
}

/// Looks into the results of a book.
pub fn judge(spec: &ClaimSpec, book: &Book) -> Result<Judged, ReportError> {
    let outcome = match spec.kind {
        ClaimKind::Below | ClaimKind::Above => match spec.bound {
            Some(bound) => bounded(spec, book, bound),
            None => sided(spec, book)?,
        },
        ClaimKind::Parity => parity(spec, book)?,
        ClaimKind::Ordering | ClaimKind::Monotone => ordered(spec, book)?,
        ClaimKind::ShareWithin => share(spec, book)?,
    };
    let undone = unfinished(spec, book);
    let against = outcome.against.len();
    let verdict = match (undone.or(outcome.open), outcome.seen, against) {
        (Some(why), ..) => Verdict::Open(why),
        (None, 0, _) => Verdict::Open("there is no result of it".to_owned()),
        (None, _, 0) => Verdict::Holds,
        (None, seen, _) if against == outcome.unsure && against < seen => Verdict::Partly,
        (None, ..) => Verdict::Fails,
    };
    Ok(Judged {
        name: spec.name.clone(),
        text: spec.text.clone(),
        statistic: match spec.bound {
            Some(_) => "means over seeds",
            None => spec.kind.statistic(),
        },
        ours: outcome.ours,
        published: spec.published.clone(),
        verdict,
        against: outcome.against,
    })
}

/// The arms that a claim needs.
fn arms(spec: &ClaimSpec) -> impl Iterator<Item = &String> {
    spec.arms.iter().chain(spec.than.as_ref())
}

/// That runs of a claim are not done.
fn unfinished(spec: &ClaimSpec, book: &Book) -> Option<String> {
    let mut cells: Vec<CellKey> = places(spec, book);
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
fn named(spec: &ClaimSpec, book: &Book, at: &CellKey, arm: &str) -> String {
    let mut parts = Vec::new();
    if !arm.is_empty() {
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

fn digits(book: &Book, metric: &str) -> usize {
    book.metric(metric).map_or(4, |one| one.digits)
}

/// `below` and `above` another arm.
fn sided(spec: &ClaimSpec, book: &Book) -> Result<Outcome, ReportError> {
    let below = spec.kind == ClaimKind::Below;
    let side = if below { Alternative::Less } else { Alternative::Greater };
    let than = spec.than.as_deref().unwrap_or_default();
    let mut outcome = Outcome::default();
    let (mut cells, mut lie, mut held, mut agree) = (0, 0, 0, 0);
    let (mut ps, mut means, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    let mut few = None;
    for at in places(spec, book) {
        let others = values(book, &at, than);
        for arm in &spec.arms {
            cells += 1;
            let place = named(spec, book, &at, arm);
            let Some(found) = Pairs::of(&values(book, &at, arm), &others, side, &place)? else {
                outcome.open.get_or_insert(format!("{place}: no seed that both have"));
                continue;
            };
            outcome.seen += 1;
            pairs.push(found.differences.len());
            let good = |difference: f64| if below { difference < 0.0 } else { difference > 0.0 };
            agree += usize::from(found.differences.iter().all(|one| good(*one)));
            ps.extend(found.p);
            let small = spec.level.is_none_or(|level| found.p.is_some_and(|p| p <= level));
            // Too few pairs to ever be as small: then the means are all there is to say.
            let unable = spec.level.filter(|&level| found.smallest.is_some_and(|p| p > level));
            if good(found.mean) && small {
                held += 1;
            } else if let (true, Some(level)) = (good(found.mean), unable) {
                let pairs = found.differences.len();
                few = Some(format!("{pairs} pairs can give no p up to {level}"));
            } else {
                let by = number(found.mean, digits(book, &at.metric));
                outcome.against.push(format!("{place}: {by}, {}", p_words(found.p)));
                outcome.unsure += usize::from(good(found.mean));
            }
            lie += usize::from(good(found.mean));
            means.push(format!("{} {}", place, number(found.mean, digits(book, &at.metric))));
        }
    }
    if outcome.against.is_empty() {
        outcome.open = outcome.open.or(few);
    }
    if outcome.seen == 0 {
        return Ok(outcome);
    }
    let way = if below { "below" } else { "above" };
    let mut words = vec![format!("{lie} of {cells} {way}")];
    if let (Some(level), true) = (spec.level, held < lie) {
        words.push(format!("{held} with p up to {level}"));
    }
    if cells <= 3 && !means.is_empty() {
        words.push(format!("by {}", means.join(", ")));
    }
    words.extend(spread_of(&ps));
    let seeds = range(pairs.iter().copied());
    words.push(match agree {
        0 => format!("in no comparison do all {seeds} seeds agree"),
        _ => format!("all {seeds} seeds agree in {agree} of {cells}"),
    });
    outcome.ours = words.join("; ");
    Ok(outcome)
}

fn p_words(value: Option<f64>) -> String {
    value.map_or("no p".to_owned(), p)
}

/// p values in words: one, or from the smallest to the largest.
fn spread_of(ps: &[f64]) -> Option<String> {
    let low = ps.iter().copied().min_by(f64::total_cmp)?;
    let high = ps.iter().copied().max_by(f64::total_cmp)?;
    Some(match low == high {
        true => p(low),
        false => format!("{} to {}", p(low), p(high).trim_start_matches("p = ")),
    })
}

/// `below` and `above` a number.
fn bounded(spec: &ClaimSpec, book: &Book, bound: f64) -> Outcome {
    let below = spec.kind == ClaimKind::Below;
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
            let all = || found.values().copied();
            let low = all().min_by(f64::total_cmp).unwrap_or(mean);
            let high = all().max_by(f64::total_cmp).unwrap_or(mean);
            let text = format!(
                "{place} {} ({} to {})",
                number(mean, digits),
                number(low, digits),
                number(high, digits)
            );
            if if below { mean >= bound } else { mean <= bound } {
                outcome.against.push(text.clone());
            }
            words.push(text);
        }
    }
    outcome.ours = words.join(", ");
    outcome
}

fn parity(spec: &ClaimSpec, book: &Book) -> Result<Outcome, ReportError> {
    let level = spec.level.unwrap_or(LEVEL);
    let than = spec.than.as_deref().unwrap_or_default();
    let mut outcome = Outcome::default();
    let (mut ps, mut farthest) = (Vec::new(), 0.0f64);
    let mut cells = 0;
    for at in places(spec, book) {
        let others = values(book, &at, than);
        for arm in &spec.arms {
            cells += 1;
            let place = named(spec, book, &at, arm);
            let side = Alternative::TwoSided;
            let Some(found) = Pairs::of(&values(book, &at, arm), &others, side, &place)? else {
                outcome.open.get_or_insert(format!("{place}: no seed that both have"));
                continue;
            };
            outcome.seen += 1;
            ps.extend(found.p);
            let apart = found.mean.abs() / found.other.abs();
            farthest = farthest.max(apart);
            let differs = found.p.is_some_and(|p| p <= level);
            let far = spec.within.is_some_and(|within| apart.is_nan() || apart > within);
            if differs || far {
                let by = number(found.mean, digits(book, &at.metric));
                outcome.against.push(format!("{place}: {by}, {}", p_words(found.p)));
            }
            // Too few pairs to ever differ: then equal p says nothing.
            if spec.within.is_none() && found.smallest.is_some_and(|smallest| smallest > level) {
                let pairs = found.differences.len();
                let why = format!("{pairs} pairs can give no p up to {level}");
                outcome.open.get_or_insert(why);
            }
        }
    }
    if outcome.seen == 0 {
        return Ok(outcome);
    }
    let alike = outcome.seen - outcome.against.len();
    let mut words = vec![format!("{alike} of {cells} alike")];
    words.extend(spread_of(&ps));
    words.push(format!("means at most {} % apart", number(100.0 * farthest, 1)));
    outcome.ours = words.join("; ");
    Ok(outcome)
}

/// `ordering`: falling from arm to arm; `monotone`: rising.
fn ordered(spec: &ClaimSpec, book: &Book) -> Result<Outcome, ReportError> {
    let falls = spec.kind == ClaimKind::Ordering;
    let (sign, side) = match falls {
        true => (">", Alternative::Greater),
        false => ("<", Alternative::Less),
    };
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
                    ps.extend(Pairs::of(&two[0], &two[1], side, &place)?.and_then(|found| found.p));
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
            "{} of {compared} within 2 sd ({} %), {} within 1",
            tally.within_2_sd,
            number(100.0 * share, 0),
            tally.within_1_sd
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
