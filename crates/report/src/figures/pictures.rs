//! Items to look at: the picture or the text, and beside it a bar for each class, first of the
//! votes, then of each arm's prediction.

use super::figure::Figure;
use super::key::Key;
use super::kind::{Kind, Names, Setting};
use super::look::Form;
use super::scope::{Scope, joined, k_text, votes};
use crate::ReportError;
use crate::book::{Collection, Item, Picture};
use crate::csv::{Csv, number};
use crate::tables::Votes;

/// Items where the spec does not say how many.
const ITEMS: usize = 6;
/// Classes that are shown; of more, only the largest.
const CLASSES: usize = 10;

/// Items with bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pictures {
    /// The predictions, from left to right.
    pub columns: Vec<PicturesColumn>,
    /// The items.
    pub items: Vec<PicturesItem>,
}

/// One arm's predictions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PicturesColumn {
    /// The arm.
    pub key: Key,
    /// Votes per item in its training; `None` for all.
    pub k: Option<u32>,
    /// Above its bars.
    pub title: String,
}

/// One item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PicturesItem {
    /// Its id.
    pub id: String,
    /// Its data set.
    pub dataset: String,
    /// Above it.
    pub title: String,
    /// Its text, where it has one.
    pub text: Option<String>,
    /// Its picture, where it has one.
    pub picture: Option<Picture>,
    /// The classes that are shown.
    pub classes: Vec<PicturesClass>,
    /// How many are not.
    pub others: usize,
}

/// One class of an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PicturesClass {
    /// Its name.
    pub name: String,
    /// Its share of the votes; `None` without votes.
    pub votes: Option<f64>,
    /// Its probability by each column; `None` where the item is not predicted.
    pub predicted: Vec<Option<f64>>,
}

impl Kind for Pictures {
    const SETTINGS: &'static [Setting] =
        &[Setting::new("items", Names::Item), Setting::plain("count")];

    fn prepare(scope: &Scope<'_>) -> Result<(Self, String), ReportError> {
        prepare(scope)
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&["dataset", "item", "class", "what", "arm", "k", "share"]);
        for item in &self.items {
            for class in &item.classes {
                let of = [&item.dataset, &item.id, &class.name].map(String::as_str);
                let [dataset, id, name] = of;
                csv.row(&[dataset, id, name, "votes", "", "", &number(class.votes)]);
                for (column, share) in self.columns.iter().zip(&class.predicted) {
                    let (arm, k) = (column.key.name.as_str(), k_text(column.k));
                    csv.row(&[dataset, id, name, "prediction", arm, &k, &number(*share)]);
                }
            }
        }
        csv.finish()
    }

    fn svg(&self, figure: &Figure, form: Form) -> String {
        self.draw(&figure.title, &figure.note, form)
    }
}

fn prepare(scope: &Scope<'_>) -> Result<(Pictures, String), ReportError> {
    let spec = scope.spec;
    let shown = scope.datasets();
    let collections: Vec<&Collection> = shown
        .filter_map(|name| scope.book.collections.iter().find(|c| c.dataset == name))
        .collect();
    let columns = columns(scope, &collections);
    let count = spec.count.unwrap_or(ITEMS).min(200);
    let mut items = Vec::new();
    if spec.items.is_empty() {
        for collection in &collections {
            let chosen = most_disputed(collection, count);
            items.extend(
                chosen.into_iter().map(|item| shown_item(scope, collection, item, &columns)),
            );
        }
    }
    for id in &spec.items {
        let find = |c: &&&Collection| c.items.iter().any(|item| item.id == *id);
        let found = collections.iter().find(find);
        let item = found.and_then(|c| Some((c, c.items.iter().find(|item| item.id == *id)?)));
        let Some((collection, item)) = item else {
            let ids = collections.iter().flat_map(|c| c.items.iter().map(|item| item.id.as_str()));
            let nearest = crate::error::nearest(id, ids).to_owned();
            let (place, item) = (scope.place.clone(), id.clone());
            return Err(ReportError::UnknownItem { place, item, nearest });
        };
        items.push(shown_item(scope, collection, item, &columns));
    }
    let which = if spec.items.is_empty() { "The items that people disagree on most. " } else { "" };
    let mut note = format!("{which}Bars from 0 to 1; predictions are means over seeds.");
    if items.iter().any(|item| item.others > 0) {
        note += " Of many classes only the largest are shown.";
    }
    Ok((Pictures { columns, items }, note))
}

/// The arms that predict, in the order of the arms and then by votes.
fn columns(scope: &Scope<'_>, collections: &[&Collection]) -> Vec<PicturesColumn> {
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
        PicturesColumn { key: key.clone(), k, title }
    };
    found.into_iter().map(column).collect()
}

/// Shares of a whole; `None` where there is no whole.
fn shares(values: &[f64]) -> Option<Vec<f64>> {
    let fine = values.iter().all(|v| v.is_finite() && *v >= 0.0);
    let all: f64 = values.iter().sum();
    (fine && all > 0.0 && all.is_finite()).then(|| values.iter().map(|v| v / all).collect())
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
    columns: &[PicturesColumn],
) -> PicturesItem {
    let of_votes = shares(&item.votes);
    let place = |column: &PicturesColumn| {
        let by = |by: &(String, Option<u32>)| by.0 == column.key.name && by.1 == column.k;
        collection.predicted_by.iter().position(by)
    };
    let of_columns: Vec<Option<&Vec<f32>>> = columns
        .iter()
        .map(|column| item.predictions.get(place(column)?).filter(|p| !p.is_empty()))
        .collect();
    let class = |(i, name): (usize, &String)| PicturesClass {
        name: name.clone(),
        votes: of_votes.as_ref().and_then(|shares| shares.get(i).copied()),
        predicted: of_columns
            .iter()
            .map(|p| p.and_then(|p| p.get(i)).map(|p| f64::from(*p)).filter(|p| p.is_finite()))
            .collect(),
    };
    let mut classes: Vec<PicturesClass> =
        collection.classes.iter().enumerate().map(class).collect();
    let all = classes.len();
    if all > CLASSES {
        let largest = |c: &PicturesClass| {
            c.predicted.iter().chain([&c.votes]).flatten().copied().fold(0.0, f64::max)
        };
        let mut sizes: Vec<f64> = classes.iter().map(largest).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let least = sizes[CLASSES - 1];
        let mut room = CLASSES;
        // Among equals at the edge, the first classes stay; the order stays the declared one.
        let above = sizes.iter().filter(|size| **size > least).count();
        let mut equals = room - above;
        classes.retain(|c| {
            let size = largest(c);
            let keep = room > 0 && (size > least || (size == least && equals > 0));
            equals -= usize::from(keep && size == least);
            room -= usize::from(keep);
            keep
        });
    }
    let others = all - classes.len();
    let title = joined(&[&item.id, scope.dataset_title(&collection.dataset)]);
    PicturesItem {
        id: item.id.clone(),
        dataset: collection.dataset.clone(),
        title,
        text: item.text.clone(),
        picture: item.picture.clone(),
        classes,
        others,
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
