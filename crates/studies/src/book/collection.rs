//! The items to look at: pictures or texts, votes, and what each arm predicts, the mean over seeds.

use dissensus_core::Ballots;
use dissensus_inputs::Kind;
use dissensus_measure::Judged;
use dissensus_report::book::{Collection, Item, Picture};

use super::Part;
use crate::{Job, Material, Plan};

/// The mean prediction of an arm over its seeds, by place in its data.
#[derive(Default)]
pub(super) struct Means {
    of: Option<Job>,
    classes: usize,
    seeds: Vec<u32>,
    sums: Vec<f64>,
}

impl Means {
    /// None yet, of the arm of this job.
    pub(super) fn new(job: Option<&Job>) -> Self {
        Self { of: job.cloned(), ..Self::default() }
    }

    /// Adds the predictions of a seed on the items at these places.
    pub(super) fn add(&mut self, material: &Material, places: &[usize], judged: &Judged) {
        let (items, classes) = (material.task.table().len(), judged.truth().classes());
        self.classes = classes;
        self.seeds.resize(items, 0);
        self.sums.resize(items * classes, 0.0);
        for (&at, row) in places.iter().zip(judged.predictions().chunks_exact(classes.max(1))) {
            self.seeds[at] += 1;
            let sums = &mut self.sums[at * classes..(at + 1) * classes];
            sums.iter_mut().zip(row).for_each(|(sum, q)| *sum += q);
        }
    }

    fn mean(&self, place: usize) -> Vec<f32> {
        match self.seeds.get(place) {
            Some(&seeds @ 1..) => {
                let sums = &self.sums[place * self.classes..(place + 1) * self.classes];
                sums.iter().map(|sum| (sum / f64::from(seeds)) as f32).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Plan<'_> {
    /// One for each data set: the items that some run predicts.
    pub(super) fn collections(&self, parts: &[Part]) -> Vec<Collection> {
        let collection = |(dataset, material): (&str, &Material)| {
            let here = |part: &&Part| part.means.of.as_ref().is_some_and(|j| j.dataset == dataset);
            let here: Vec<&Means> = parts.iter().filter(here).map(|part| &part.means).collect();
            self.collection(dataset, material, &here)
        };
        self.datasets().into_iter().map(collection).collect()
    }

    fn collection(&self, dataset: &str, material: &Material, means: &[&Means]) -> Collection {
        let table = material.task.table();
        let counts = table.counts();
        let votes = |at: usize| match (&counts, table.ballots()) {
            (Some(counts), _) => counts.row(at, table.classes().len()),
            (None, Ballots::Probabilities(rows)) => rows.row(at).to_vec(),
            (None, _) => Vec::new(),
        };
        // An arm may be trained on other data of the same name; items are known by their ids.
        let place = |means: &Means, at: usize, id: &str| {
            let own = self.material(means.of.as_ref()?);
            match std::ptr::eq(own, material) {
                true => Some(at),
                false => own.task.table().items().position(id),
            }
        };
        let item = |(at, id): (usize, &str)| {
            let of = |means: &&Means| place(means, at, id).map_or(Vec::new(), |at| means.mean(at));
            let predictions: Vec<Vec<f32>> = means.iter().map(of).collect();
            predictions.iter().any(|mean| !mean.is_empty()).then(|| Item {
                id: id.to_owned(),
                text: material.texts.get(id).cloned(),
                picture: picture(material, at, id),
                votes: votes(at),
                predictions,
            })
        };
        let arm = |means: &&Means| means.of.as_ref().map(|job| (job.arm.clone(), job.k));
        Collection {
            dataset: dataset.to_owned(),
            classes: match self.study().datasets.iter().find(|choice| choice.name == dataset) {
                Some(choice) if !choice.classes.is_empty() => choice.classes.clone(),
                _ => table.classes().names().to_vec(),
            },
            items: table.items().iter().enumerate().filter_map(item).collect(),
            predicted_by: means.iter().filter_map(arm).collect(),
        }
    }
}

/// The picture of an item, where there is one that can be shown. What is trained on is in the order
/// of the items; pictures that come beside it are known by their ids.
fn picture(material: &Material, at: usize, id: &str) -> Option<Picture> {
    let (images, at) = match (material.task.inputs().kind(), &material.pictures) {
        (Kind::Images(images), _) => (images, at),
        (_, Some(pictures)) => match pictures.kind() {
            Kind::Images(images) => (images, pictures.ids()?.position(id)?),
            Kind::Features(_) => return None,
        },
        _ => return None,
    };
    let (width, height, channels) = (images.width(), images.height(), images.channels());
    let pixels = images.image(at).to_vec();
    [1, 3].contains(&channels).then_some(Picture { width, height, channels, pixels })
}
