//! Items, truth and votes put together.

use dissensus_core::{BuildError, Keep, Probabilities, TableBuilder, TableError, VoteTable};

use super::draws::{Use, stream};
use super::glyphs::{CLASSES, class_names};
use super::image::PIXELS;
use super::raters::{Rater, pick, truth};
use super::scene::{Blend, Scene};
use super::settings::{ValidSettings, VotesPerItem};

/// One image with all that is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its pixels, row by row, 0 black and 255 white.
    pub image: [u8; PIXELS],
    /// The true vote distribution p*.
    pub truth: [f64; CLASSES],
    /// The glyphs it shows.
    pub blend: Blend,
    /// (rater, class) of every vote, in the order they were cast. More votes lengthen the list
    /// and leave its beginning as it was.
    pub votes: Vec<(u32, u16)>,
}

/// Makes items one by one, in any order and on any thread, always the same.
pub struct Generator {
    settings: ValidSettings,
    raters: Vec<Rater>,
}

impl Generator {
    /// The generator of these settings.
    pub fn new(settings: ValidSettings) -> Self {
        let of = settings.get();
        let raters = (0..of.annotators).map(|index| Rater::draw(of.seed, index)).collect();
        Self { settings, raters }
    }

    /// Item number `index`, whatever the number of items asked for.
    pub fn item(&self, index: usize) -> Item {
        let of = self.settings.get();
        let scene = Scene::draw(of.seed, index, of.ambiguity, of.occlusion);
        let evidence = scene.evidence();
        let vote = |rater: u32| {
            let unit = stream(of.seed, Use::Answer, [index, rater as usize]).unit();
            (rater, pick(&self.raters[rater as usize].answers(&evidence), unit))
        };
        Item {
            image: scene.pixels(of.seed, index, of.noise),
            truth: truth(&self.raters, &evidence),
            blend: scene.blend,
            votes: self.voters(index).into_iter().map(vote).collect(),
        }
    }

    /// Who votes on an item: the first few of the population in a random order.
    fn voters(&self, item: usize) -> Vec<u32> {
        let of = self.settings.get();
        let votes = match of.votes {
            VotesPerItem::Fixed(votes) => votes,
            VotesPerItem::Between(least, most) => {
                let more = u64::from(most - least) + 1;
                least + stream(of.seed, Use::HowMany, [item, 0]).below(more) as u32
            }
        };
        let who = &mut stream(of.seed, Use::Who, [item, 0]);
        let mut population: Vec<u32> = (0..of.annotators as u32).collect();
        for place in 0..votes as usize {
            let left = population.len() - place;
            population.swap(place, place + who.below(left as u64) as usize);
        }
        population.truncate(votes as usize);
        population
    }
}

/// The generated data set. Item i is row i of everything.
#[derive(Clone, Debug, PartialEq)]
pub struct Blends {
    settings: ValidSettings,
    images: Vec<u8>,
    truth: Vec<f64>,
    blends: Vec<Blend>,
    table: VoteTable,
}

impl ValidSettings {
    /// The data set.
    pub fn generate(self) -> Result<Blends, BuildError> {
        let generator = Generator::new(self);
        let of = generator.settings.get();
        let mut images = Vec::with_capacity(of.items * PIXELS);
        let mut truth = Vec::with_capacity(of.items * CLASSES);
        let mut blends = Vec::with_capacity(of.items);
        let mut builder = TableBuilder::new(Keep::Votes);
        let names = class_names();
        builder.declare_format(names.map(String::from).to_vec())?;
        // All of the population, in order, so that rater j stands at place j.
        let raters: Vec<String> = (0..of.annotators).map(|j| format!("rater-{j:03}")).collect();
        raters.iter().try_for_each(|rater| builder.annotator(rater).map(|_| ()))?;
        for index in 0..of.items {
            let item = generator.item(index);
            images.extend_from_slice(&item.image);
            truth.extend_from_slice(&item.truth);
            blends.push(item.blend);
            let (id, row) = (format!("blend-{index:05}"), index as u64 + 1);
            for (rater, class) in item.votes {
                let rater = Some(raters[rater as usize].as_str());
                builder.vote(&id, rater, names[class as usize], 1.0, row)?;
            }
        }
        Ok(Blends { table: builder.finish()?, settings: generator.settings, images, truth, blends })
    }
}

impl Blends {
    /// What it was made with.
    pub fn settings(&self) -> &ValidSettings {
        &self.settings
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.blends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.blends.is_empty()
    }

    /// The votes. Items are called `blend-00042`, annotators `rater-017`.
    pub fn table(&self) -> &VoteTable {
        &self.table
    }

    /// All pixels: items × 16 rows × 16 columns, 0 black and 255 white.
    pub fn images(&self) -> &[u8] {
        &self.images
    }

    /// The pixels of an item; empty where there is no such item.
    pub fn image(&self, item: usize) -> &[u8] {
        self.images.chunks_exact(PIXELS).nth(item).unwrap_or(&[])
    }

    /// All true distributions: items × 10 classes.
    pub fn truths(&self) -> &[f64] {
        &self.truth
    }

    /// The true distribution of an item; empty where there is no such item.
    pub fn truth(&self, item: usize) -> &[f64] {
        self.truth.chunks_exact(CLASSES).nth(item).unwrap_or(&[])
    }

    /// What each item shows.
    pub fn blends(&self) -> &[Blend] {
        &self.blends
    }

    /// The true distributions as a table with the same items and classes, to judge against.
    pub fn truth_table(&self) -> Result<VoteTable, TableError> {
        let mut rows = Probabilities::new(CLASSES);
        self.truth.chunks_exact(CLASSES).try_for_each(|row| rows.push(row))?;
        let (classes, items) = (self.table.classes().clone(), self.table.items().clone());
        VoteTable::from_probabilities(classes, items, rows)
    }
}
