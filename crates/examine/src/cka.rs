//! Linear CKA between the penultimate features of several runs, on items that they share.
//!
//! Runs of other seeds have other splits, and few items are held out by all of them; so every pair is
//! compared on the items that are held out by both ([`Shared::Pairs`]), or all on all items of the
//! data, whoever was trained on them ([`Shared::All`]). With fewer items than features, CKA lies
//! above 0 even for unrelated ones; how many items there were stands beside each value.

use dissensus_geometry::cka::{Features, cka as compared};
use serde::{Deserialize, Serialize};

use crate::barrier::common;
use crate::{ExamineError, Model, Observer};

/// Which items runs are compared on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shared {
    /// Every pair on those of the part that both have in it.
    #[default]
    Pairs,
    /// All on all items of the data.
    All,
}

/// How to compare.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CkaSettings {
    /// Which part of the split; `None` for the one that is reported.
    pub part: Option<String>,
    /// Which items.
    pub shared: Shared,
}

/// How alike the features of runs are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cka {
    pub settings: CkaSettings,
    pub runs: Vec<String>,
    /// The width of each run's features.
    pub widths: Vec<usize>,
    /// By pair of runs, from 0 to 1; `None` where the features of one do not vary.
    pub values: Vec<Vec<Option<f64>>>,
    /// By pair of runs, the items that they were compared on.
    pub items: Vec<Vec<usize>>,
    /// The mean over all pairs of different runs; `None` where there is none.
    pub mean: Option<f64>,
}

/// Compares all pairs of models.
pub fn cka(
    models: &mut [Model],
    settings: &CkaSettings,
    observer: &Observer<'_>,
) -> Result<Cka, ExamineError> {
    if let Some((first, others)) = models.split_first() {
        others.iter().try_for_each(|other| first.same_items(other))?;
    }
    let mut rows: Vec<Vec<u32>> = Vec::new();
    let (mut features, mut widths) = (Vec::new(), Vec::new());
    for model in models.iter_mut() {
        let own = match settings.shared {
            Shared::Pairs => model.part(settings.part.as_deref())?.rows.clone(),
            Shared::All => (0..model.items().len() as u32).collect(),
        };
        if own.len() < 2 {
            let what = format!("items of run {}", model.id());
            return Err(ExamineError::Few { what, found: own.len(), least: 2 });
        }
        let values = model.features(&own, observer)?;
        widths.push(values.len() / own.len());
        rows.push(own);
        features.push(values);
    }
    let n = models.len();
    let (mut values, mut items) = (vec![vec![None; n]; n], vec![vec![0; n]; n]);
    let (mut done, most) = (0, n * (n + 1) / 2);
    for i in 0..n {
        for j in i..n {
            let shared = common(&rows[i], &rows[j]);
            if shared.len() < 2 {
                let what = format!("items that {} and {} share", models[i].id(), models[j].id());
                return Err(ExamineError::Few { what, found: shared.len(), least: 2 });
            }
            let of = |run: usize| {
                let picked = pick(&rows[run], &features[run], widths[run], &shared);
                Features::new(shared.len(), &picked)
            };
            let value = compared(&of(i)?, &of(j)?)?;
            (values[i][j], values[j][i]) = (value, value);
            (items[i][j], items[j][i]) = (shared.len(), shared.len());
            done += 1;
            observer.advanced("CKA", done, most)?;
        }
    }
    let others = (0..n).flat_map(|i| values[i][i + 1..].iter().copied());
    let known: Option<Vec<f64>> = others.collect();
    let mean = known.filter(|all| !all.is_empty());
    let mean = mean.map(|all| all.iter().sum::<f64>() / all.len() as f64);
    let runs = models.iter().map(|model| model.id().to_owned()).collect();
    Ok(Cka { settings: settings.clone(), runs, widths, values, items, mean })
}

/// The features of some of the rows.
fn pick(rows: &[u32], features: &[f32], width: usize, wanted: &[u32]) -> Vec<f32> {
    let places: std::collections::HashMap<u32, usize> =
        rows.iter().enumerate().map(|(place, &row)| (row, place)).collect();
    let own = wanted.iter().filter_map(|row| places.get(row));
    own.flat_map(|place| &features[place * width..(place + 1) * width]).copied().collect()
}
