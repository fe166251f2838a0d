//! Items to look at: the image or the text, and beside it a bar for each class, first of the
//! votes, then of each arm's prediction.

use super::figure::{Body, Drawn};
use super::key::Key;
use super::kind::{Kind, Names, Setting};
use super::scale::fixed;
use super::scope::{Scope, joined, k_text, votes};
use super::spec::Pick;
use crate::ReportError;
use crate::book::{Collection, Item, Picture};
use crate::csv::{Csv, number};
use crate::tables::Votes;

pub(super) use super::images_drawn::draw_image;

/// Items where the spec does not say how many.
const ITEMS: usize = 6;
/// Classes that are shown; of more, only the largest.
const CLASSES: usize = 10;

pub(super) const KIND: Kind = Kind {
    name: "images",
    template: r#"# Items with their votes and the predictions of each arm. Default: those with the most disagreement.
[[figure]]
name = "pictures"
title = "Items with the most disagreement"
kind = "images"
ks = ["all"]
count = 3
# items = ["0", "1"]
# Which: "disputed", "extremes" (the least and the most disputed), or "spread" (where all arms predict the majority,
# and differ most in KL).
# pick = "disputed"
# Without predictions, and with the KL of each.
# only_votes = false
# kl = true
"#,
    settings: &[
        Setting::new("items", Names::Item),
        Setting::plain("pick"),
        Setting::plain("count"),
        Setting::plain("only_votes"),
        Setting::plain("kl"),
    ],
    prepare,
};

/// Items with bars.
#[derive(Clone, Debug)]
pub(super) struct Images {
    /// The predictions, from left to right.
    pub(super) columns: Vec<Column>,
    pub(super) items: Vec<Shown>,
}

/// One arm's predictions.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) key: Key,
    /// Votes per item in its training; `None` for all.
    pub(super) k: Option<u32>,
    /// Above its bars.
    pub(super) title: String,
}

/// One item.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) id: String,
    /// Above it.
    pub(super) title: String,
    pub(super) text: Option<String>,
    pub(super) image: Option<Picture>,
    /// The classes that are shown.
    pub(super) classes: Vec<Class>,
    /// How many are not.
    pub(super) others: usize,
}

/// One class of an item.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) name: String,
    /// Its share of the votes; `None` without votes.
    pub(super) votes: Option<f64>,
    /// Its probability by each column; `None` where the item is not predicted.
    pub(super) predicted: Vec<Option<f64>>,
}

fn prepare(scope: &Scope<'_>) -> Result<Drawn, ReportError> {
    let spec = scope.spec;
    let shown = scope.datasets();
    let collections: Vec<&Collection> = shown
        .filter_map(|name| scope.book.collections.iter().find(|c| c.dataset == name))
        .collect();
    let count = spec.count.unwrap_or(ITEMS).min(200);
    let columns = if spec.only_votes { Vec::new() } else { columns(scope, &collections) };
    let mut chosen: Vec<(&Collection, &Item)> = Vec::new();
    if spec.items.is_empty() {
        for &collection in &collections {
            let picked = match spec.pick {
                Pick::Disputed => most_disputed(collection, count),
                Pick::Extremes => {
                    let all = most_disputed(collection, usize::MAX);
                    [all.last(), all.first()].into_iter().flatten().copied().collect()
                }
                Pick::Spread => widest(collection, &columns).into_iter().collect(),
            };
            chosen.extend(picked.into_iter().map(|item| (collection, item)));
        }
    }
    let all = || collections.iter().flat_map(|&c| c.items.iter().map(move |item| (c, item)));
    for id in &spec.items {
        let Some(found) = all().find(|(_, item)| item.id == *id) else {
            let ids = all().map(|(_, item)| item.id.as_str());
            let nearest = crate::error::owned(dissensus_core::nearest_names(id, ids));
            let (place, item) = (scope.place.clone(), id.clone());
            return Err(ReportError::UnknownItem { place, item, nearest });
        };
        chosen.push(found);
    }
    let mut csv = Csv::new(&["dataset", "item", "class", "what", "arm", "k", "share"]);
    let mut items = Vec::new();
    for (collection, item) in chosen {
        let item = shown_item(scope, collection, item, &columns);
        for Class { name, votes, predicted } in &item.classes {
            let (dataset, id) = (&collection.dataset, &item.id);
            csv.row(&[dataset, id, name, "votes", "", "", &number(*votes)]);
            for (column, share) in columns.iter().zip(predicted) {
                let (arm, k) = (&column.key.name, k_text(column.k));
                csv.row(&[dataset, id, name, "prediction", arm, &k, &number(*share)]);
            }
        }
        items.push(item);
    }
    let which = match spec.pick {
        _ if !spec.items.is_empty() => "",
        Pick::Disputed => "The items that people disagree on most. ",
        Pick::Extremes => "The items that people disagree on least and most. ",
        Pick::Spread => {
            "Of the items for which all predict the class of the most votes, that on which the first \
             arm has the largest lead in KL. "
        }
    };
    let predicted = if spec.only_votes { "" } else { "; predictions are means over seeds" };
    let mut note = format!("{which}Bars from 0 to 1{predicted}.");
    if items.iter().any(|item| item.others > 0) {
        note += " Of many classes only the largest are shown.";
    }
    Ok(Drawn { csv, body: Body::Images(Images { columns, items }), note })
}

/// The arms that predict, in the order of the arms and then by votes.
fn columns(scope: &Scope<'_>, collections: &[&Collection]) -> Vec<Column> {
    let mut found = Vec::new();
    for key in &scope.arms {
        let by = collections.iter().flat_map(|c| &c.predicted_by).filter(|by| by.0 == key.name);
        let mut ks: Vec<Option<u32>> = by.map(|by| by.1).collect();
        ks.retain(|k| scope.spec.ks.is_empty() || scope.spec.ks.contains(&Votes(*k)));
        ks.sort_by_key(|k| k.map_or(u64::MAX, u64::from));
        ks.dedup();
        found.extend(ks.into_iter().map(|k| (key, k)));
    }
    let several = found.iter().any(|(_, k)| *k != found[0].1);
    let column = |(key, k): (&Key, Option<u32>)| {
        let words = if several { votes(k) } else { String::new() };
        let title = joined(&[&key.title, &words]).replace(" · ", ", ");
        Column { key: key.clone(), k, title }
    };
    found.into_iter().map(column).collect()
}

/// Shares of a whole; `None` where there is no whole.
fn shares(values: &[f64]) -> Option<Vec<f64>> {
    let fine = values.iter().all(|v| v.is_finite() && *v >= 0.0);
    let all: f64 = values.iter().sum();
    (fine && all > 0.0 && all.is_finite()).then(|| values.iter().map(|v| v / all).collect())
}

/// What each column predicts of an item.
fn predictions<'a>(
    collection: &Collection,
    item: &'a Item,
    columns: &[Column],
) -> Vec<Option<&'a Vec<f32>>> {
    let place = |column: &Column| {
        let by = |by: &(String, Option<u32>)| by.0 == column.key.name && by.1 == column.k;
        collection.predicted_by.iter().position(by)
    };
    let of = |column| item.predictions.get(place(column)?).filter(|p| !p.is_empty());
    columns.iter().map(of).collect()
}

/// Of the items for which all columns predict the class of the most votes, the one on which the first has
/// the largest lead in KL over the last.
fn widest<'a>(collection: &'a Collection, columns: &[Column]) -> Option<&'a Item> {
    let spread = |item: &Item| {
        let votes = shares(&item.votes)?;
        let all: Option<Vec<&Vec<f32>>> =
            predictions(collection, item, columns).into_iter().collect();
        let all = all?;
        let most = (0..votes.len()).max_by(|&a, &b| votes[a].total_cmp(&votes[b]));
        let class = |q: &Vec<f32>| (0..q.len()).max_by(|&a, &b| q[a].total_cmp(&q[b]));
        let lead = divergence(&votes, all.last()?) - divergence(&votes, all.first()?);
        (all.iter().all(|q| class(q) == most) && lead.is_finite()).then_some(lead)
    };
    let known = collection.items.iter().filter_map(|item| Some((spread(item)?, item)));
    known.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, item)| item)
}

/// KL(p‖q) of shares of the votes from a prediction, in nats.
fn divergence(votes: &[f64], predicted: &[f32]) -> f64 {
    let pairs = votes.iter().zip(predicted).filter(|(p, _)| **p > 0.0);
    pairs.map(|(p, q)| p * (p / f64::from(*q)).ln()).sum()
}

/// The items of highest entropy, the first of the collection among equals.
fn most_disputed(collection: &Collection, count: usize) -> Vec<&Item> {
    let entropy = |item: &Item| {
        let shares = shares(&item.votes).unwrap_or_default();
        shares.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum::<f64>()
    };
    let mut all: Vec<(f64, &Item)> = collection.items.iter().map(|i| (entropy(i), i)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(count).map(|(_, item)| item).collect()
}

fn shown_item(
    scope: &Scope<'_>,
    collection: &Collection,
    item: &Item,
    columns: &[Column],
) -> Shown {
    let of_votes = shares(&item.votes);
    let of_columns = predictions(collection, item, columns);
    let mut title = joined(&[&item.id, scope.dataset_title(&collection.dataset)]);
    if scope.spec.kl {
        let divergence = |(column, predicted): (&Column, &Option<&Vec<f32>>)| {
            let kl = divergence(of_votes.as_ref()?, (*predicted)?);
            Some(format!("{} {}", column.title, fixed(kl, 3)))
        };
        let all: Vec<String> = columns.iter().zip(&of_columns).filter_map(divergence).collect();
        title = joined(&[&title, &format!("KL: {}", all.join(", "))]);
    }
    let class = |(i, name): (usize, &String)| Class {
        name: name.clone(),
        votes: of_votes.as_ref().and_then(|shares| shares.get(i).copied()),
        predicted: of_columns
            .iter()
            .map(|p| p.and_then(|p| p.get(i)).map(|p| f64::from(*p)).filter(|p| p.is_finite()))
            .collect(),
    };
    let mut classes: Vec<Class> = collection.classes.iter().enumerate().map(class).collect();
    let all = classes.len();
    if all > CLASSES {
        let largest =
            |c: &Class| c.predicted.iter().chain([&c.votes]).flatten().copied().fold(0.0, f64::max);
        // Among equals the first classes stay; the order stays the declared one.
        let mut order: Vec<usize> = (0..all).collect();
        order.sort_by(|&a, &b| largest(&classes[b]).total_cmp(&largest(&classes[a])));
        let kept = &order[..CLASSES];
        let mut place = 0..all;
        classes.retain(|_| place.next().is_some_and(|at| kept.contains(&at)));
    }
    Shown {
        id: item.id.clone(),
        title,
        text: item.text.clone(),
        image: item.picture.clone(),
        others: all - classes.len(),
        classes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_need_a_whole() {
        assert_eq!(shares(&[1.0, 3.0]), Some(vec![0.25, 0.75]));
        for bad in [&[0.0, 0.0][..], &[], &[f64::NAN, 1.0], &[-1.0, 2.0]] {
            assert_eq!(shares(bad), None);
        }
    }
}
