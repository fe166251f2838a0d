//! The effect of one column of items on another: items in bins of equal count by `x`, and in each
//! the mean of `y` with its interval, for each arm; or of `y` less that of one arm.
//!
//! Items of the same x are never parted, so bins may differ in count. All arms share the bins of
//! their panel. With three seeds or more, y is averaged over the items of a bin for each seed and the
//! interval is over seeds; with fewer it is averaged over seeds for each item and the interval is over
//! items.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dissensus_stats::correlation::{CorrelationSettings, spearman};

use super::estimate::{Estimate, mean};
use super::figure::Drawn;
use super::key::Key;
use super::kind::{Kind, Names, Setting};
use super::panel::{Axis, Guide, GuideKind, Panel, Series};
use super::scale::{Scale, fixed, short, thousands};
use super::scope::{Cell, Scope, k_text};
use super::sheet::{Sample, Sheet};
use crate::ReportError;
use crate::book::ItemNumbers;
use crate::csv::{Csv, number};

/// Bins where the spec does not say how many.
const BINS: usize = 8;
/// Seeds from which an interval is over seeds.
const SEEDS: usize = 3;

pub(super) const KIND: Kind = Kind {
    name: "effect",
    template: r#"# Items in bins of one column, with the mean of another per bin; with `against`, minus that arm's mean.
[[figure]]
name = "effect"
title = "Where drawn labels help"
kind = "effect"
arms = ["sls"]
ks = [5]
x = "target_js"
y = "soft_nll"
against = "soft"
# What items gain: the arm of `against` minus the others.
# gain = true
count = 4
"#,
    settings: &[
        Setting::new("x", Names::ItemColumn),
        Setting::new("y", Names::ItemColumn),
        Setting::new("against", Names::Arm),
        Setting::new("slice", Names::Slice),
        Setting::plain("gain"),
        Setting::plain("count"),
        Setting::plain("x_title"),
        Setting::plain("y_title"),
        Setting::plain("log_x"),
    ],
    prepare,
};

struct Bin {
    /// The smallest x in it.
    from: f64,
    /// The largest.
    to: f64,
    /// The mean x.
    x: f64,
    /// How many items of this arm.
    items: usize,
    /// The mean of y.
    y: Estimate,
}

/// y by item, one map for each seed.
type BySeed<'a> = BTreeMap<u64, HashMap<&'a str, f64>>;

fn prepare(scope: &Scope<'_>) -> Result<Drawn, ReportError> {
    let spec = scope.spec;
    scope.column("x", &spec.x)?;
    scope.column("y", &spec.y)?;
    let against = spec.against.as_deref().map(|arm| scope.arm(arm)).transpose()?;
    let cells = scope.item_cells();
    let arms: Vec<&Key> =
        scope.arms.iter().filter(|key| Some(&key.name) != spec.against.as_ref()).collect();
    let found: Vec<Vec<(&Key, BySeed<'_>)>> = cells
        .iter()
        .map(|cell| arms.iter().map(|key| (*key, by_seed(scope, cell, &key.name))).collect())
        .collect();
    let seeds = found.iter().flatten().map(|(_, seeds)| seeds.len()).filter(|n| *n > 0);
    let over_seeds = seeds.min().is_some_and(|least| least >= SEEDS);
    let over = if over_seeds { "seeds" } else { "items" };
    let count = spec.count.unwrap_or(BINS).clamp(1, 1000);
    let mut csv = Csv::new(&[
        "dataset", "k", "arm", "against", "bin", "x_from", "x_to", "x_mean", "items", "y_mean",
        "low", "high", "n", "over",
    ]);
    let (mut panels, mut ranks) = (Vec::new(), Vec::new());
    for (cell, found) in cells.iter().zip(&found) {
        for (key, seeds) in found.iter().filter(|_| against.is_some()) {
            ranks.extend(correlations(scope, cell, &key.name, seeds));
        }
        let bins = bins(scope, cell, found, count);
        let mut series = Vec::new();
        for (key, seeds) in found {
            let bins: Vec<Bin> =
                bins.iter().filter_map(|bin| fill(bin, seeds, over_seeds)).collect();
            for (i, bin) in bins.iter().enumerate() {
                let against = spec.against.clone().unwrap_or_default();
                let of = [cell.dataset.clone(), k_text(cell.k), key.name.clone(), against];
                let place = [(i + 1).to_string(), number(bin.from), number(bin.to), number(bin.x)];
                let row = of.into_iter().chain(place).chain([bin.items.to_string()]);
                csv.row_of(row.chain(bin.y.fields()).chain([over.to_owned()]));
            }
            if !bins.is_empty() {
                series.push((*key, bins));
            }
        }
        panels.push((cell, series));
    }
    let y_title = match (&spec.y_title, against) {
        (None, Some(arm)) if spec.gain => {
            format!("gain in {} over {}", scope.column_title(None, &spec.y), arm.title)
        }
        (None, Some(arm)) => {
            format!("{} minus {}", scope.column_title(None, &spec.y), arm.title)
        }
        (given, _) => scope.column_title(given.as_ref(), &spec.y),
    };
    let mut note = format!(
        "Items in bins of equal count (equal values stay together); means with 95 % t intervals \
         over {over}."
    );
    let low = ranks.iter().copied().min_by(f64::total_cmp);
    if let (Some(low), Some(high)) = (low, ranks.iter().copied().max_by(f64::total_cmp)) {
        let middle = fixed(mean(ranks.iter().copied()).unwrap_or(low), 3);
        let (low, high) = (fixed(low, 2), fixed(high, 2));
        note += &format!(
            " Spearman’s ρ of both over the items of a seed: {low} to {high}, on average {middle}."
        );
    }
    let legend = scope.present(panels.iter().flat_map(|(_, all)| all.iter().map(|one| one.0)));
    let unit = if over_seeds { "seed" } else { "item" };
    let drawn = panels.iter().map(|(cell, all)| {
        let panel = panel(scope, all, &y_title, unit, &legend);
        Panel { title: cell.title.clone(), ..panel }
    });
    let drawn = drawn.collect();
    Ok(Drawn::new(csv, Sheet::of(drawn, legend, Sample::Line), note))
}

fn panel(
    scope: &Scope<'_>,
    all: &[(&Key, Vec<Bin>)],
    y_title: &str,
    unit: &str,
    legend: &[Key],
) -> Panel {
    let spec = scope.spec;
    let bins = || all.iter().flat_map(|(_, bins)| bins);
    let x = Scale::around(bins().map(|bin| bin.x), spec.log_x);
    let mut y = Scale::around(bins().flat_map(|bin| bin.y.reach()), false);
    let mut guides = Vec::new();
    if spec.against.is_some() {
        y = y.with(0.0);
        guides.push(Guide::new((x.from, 0.0), (x.to, 0.0), GuideKind::Plain));
    }
    let digits = super::scale::digits(y);
    let series = all.iter().map(|(key, bins)| {
        let mean = |bin: &Bin| {
            let range = format!("{} to {}", short(bin.from), short(bin.to));
            let (items, y) = (thousands(bin.items), bin.y.words(digits, unit));
            (bin.x, bin.y, format!("{}, {range} ({items} items): {y}", key.title))
        };
        Series::of_means(key, legend, bins.iter().map(mean).collect())
    });
    let series = series.collect();
    let x = Axis::new(x, &scope.column_title(spec.x_title.as_ref(), &spec.x));
    Panel { guides, ..Panel::new("", x, Axis::new(y, y_title), series) }
}

/// Spearman's correlation of x and y over the items of each seed.
fn correlations(scope: &Scope<'_>, cell: &Cell, arm: &str, seeds: &BySeed<'_>) -> Vec<f64> {
    let of_seed = |(seed, numbers): (u64, &ItemNumbers)| {
        let (own, x) = (seeds.get(&seed)?, numbers.column(&scope.spec.x)?);
        let pairs = numbers.ids.iter().zip(x).filter(|(_, x)| x.is_finite());
        let pairs = pairs.filter_map(|(id, x)| Some((*x, *own.get(id.as_str())?)));
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.unzip();
        spearman(&x, &y, &CorrelationSettings::default()).ok()?.r
    };
    scope.items(cell, arm).into_iter().filter_map(of_seed).collect()
}

/// y of every item and seed, less the other arm's of the same item and seed where one is taken.
fn by_seed<'a>(scope: &Scope<'a>, cell: &Cell, arm: &str) -> BySeed<'a> {
    let spec = scope.spec;
    let column = |arm: &str| -> BySeed<'a> {
        let seeds = scope.items(cell, arm).into_iter().filter_map(|(seed, numbers)| {
            let values = numbers.column(&spec.y)?;
            let inside = numbers.slice(scope.slice());
            let pairs = numbers.ids.iter().map(String::as_str).zip(values.iter().copied());
            let pairs = pairs.enumerate().filter(|(at, _)| inside.is_none_or(|inside| inside[*at]));
            let known = pairs.map(|(_, pair)| pair).filter(|(_, y)| y.is_finite());
            let known: HashMap<&str, f64> = known.collect();
            (!known.is_empty()).then_some((seed, known))
        });
        seeds.collect()
    };
    let mut own = column(arm);
    let Some(against) = &spec.against else { return own };
    let other = column(against);
    own.retain(|seed, _| other.contains_key(seed));
    for (seed, items) in &mut own {
        let Some(other) = other.get(seed) else { continue };
        items.retain(|id, _| other.contains_key(id));
        for (id, y) in items.iter_mut() {
            *y -= other.get(id).copied().unwrap_or(f64::NAN);
            *y *= if spec.gain { -1.0 } else { 1.0 };
        }
    }
    own.retain(|_, items| !items.is_empty());
    own
}

/// The items of a panel that have y in any arm, in bins by their mean x over all its runs.
fn bins<'a>(
    scope: &Scope<'a>,
    cell: &Cell,
    found: &[(&Key, BySeed<'a>)],
    count: usize,
) -> Vec<Vec<(&'a str, f64)>> {
    let used: BTreeSet<&str> = found
        .iter()
        .flat_map(|(_, seeds)| seeds.values())
        .flat_map(|s| s.keys().copied())
        .collect();
    let mut seen: HashMap<&str, Vec<f64>> = HashMap::with_capacity(used.len());
    for key in &scope.arms {
        for numbers in scope.items(cell, &key.name).into_values() {
            let Some(x) = numbers.column(&scope.spec.x) else { continue };
            for (id, x) in numbers.ids.iter().zip(x) {
                if used.contains(id.as_str()) && (!scope.spec.log_x || *x > 0.0) {
                    seen.entry(id).or_default().push(*x);
                }
            }
        }
    }
    let x = |id: &'a str| Some((id, mean(seen.get(id)?.iter().copied())?));
    let mut items: Vec<(&str, f64)> = used.into_iter().filter_map(x).collect();
    items.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(b.0)));
    equal_count(&items, count)
}

/// Cuts sorted items into bins of about equal count, between different values only.
fn equal_count<'a>(items: &[(&'a str, f64)], count: usize) -> Vec<Vec<(&'a str, f64)>> {
    let n = items.len();
    let mut cuts: Vec<usize> = (0..=count).map(|i| (n * i + count / 2) / count).collect();
    for cut in &mut cuts {
        if *cut == 0 || *cut >= n {
            continue;
        }
        let value = items[*cut].1;
        let from = items.partition_point(|item| item.1 < value);
        let to = items.partition_point(|item| item.1 <= value);
        if from < *cut {
            *cut = if *cut - from <= to - *cut { from } else { to };
        }
    }
    cuts.dedup();
    let bins = cuts.windows(2).map(|cut| items[cut[0]..cut[1]].to_vec());
    bins.filter(|bin| !bin.is_empty()).collect()
}

/// What an arm has in a bin.
fn fill(bin: &[(&str, f64)], seeds: &BySeed<'_>, over_seeds: bool) -> Option<Bin> {
    let of =
        |id: &str| seeds.values().filter_map(|items| items.get(id).copied()).collect::<Vec<_>>();
    let items = bin.iter().filter(|(id, _)| !of(id).is_empty()).count();
    let y = if over_seeds {
        let seed = |items: &HashMap<&str, f64>| {
            mean(bin.iter().filter_map(|(id, _)| items.get(id).copied()))
        };
        Estimate::of(seeds.values().filter_map(seed))
    } else {
        Estimate::of(bin.iter().filter_map(|(id, _)| mean(of(id))))
    };
    let (from, to) = (bin.first()?.1, bin.last()?.1);
    Some(Bin { from, to, x: mean(bin.iter().map(|item| item.1))?, items, y: y? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(x: &[f64], count: usize) -> Vec<usize> {
        let items: Vec<(&str, f64)> = x.iter().map(|x| ("", *x)).collect();
        equal_count(&items, count).iter().map(Vec::len).collect()
    }

    #[test]
    fn bins_are_of_equal_count() {
        assert_eq!(counts(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3), [2, 2, 2]);
        assert_eq!(counts(&[1.0, 2.0, 3.0, 4.0, 5.0], 2), [3, 2]);
        assert_eq!(counts(&[1.0], 4), [1]);
        assert_eq!(counts(&[], 4), [0; 0]);
    }

    #[test]
    fn equal_values_are_never_parted() {
        assert_eq!(counts(&[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0], 4), [5, 1, 2]);
        assert_eq!(counts(&[0.0; 9], 3), [9]);
        assert_eq!(counts(&[1.0, 2.0, 2.0, 2.0, 3.0, 4.0], 3), [1, 3, 2]);
    }
}
