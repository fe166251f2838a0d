//! A delivery made ready for one set of examples and one seed: it answers for every epoch.

use std::fmt;

use super::draws::Draws;
use super::epochs::Epochs;
use super::listed::ListedVotes;
use super::{Delivery, Mixing, Samples};
use crate::{LabelError, Source};

/// What a method prepares.
pub(super) enum Kind {
    /// Distributions that never change, row by row.
    Soft(Vec<f64>),
    /// Distributions that change with the epoch.
    Varying(Box<dyn EpochRows>),
    /// Labels that never change.
    Fixed { labels: Vec<u16>, mixing: Option<Mixing> },
    /// Labels that change with the draw.
    Drawn(Box<dyn Draws>),
    /// Labels that never change, any number per example.
    Samples(Samples),
}

/// Distributions as a function of the epoch.
pub(super) trait EpochRows: Send + Sync {
    /// Replaces the contents of `out` by the distributions of an epoch, row by row.
    fn fill(&self, epoch: u64, out: &mut Vec<f64>);

    /// The distribution of one example, which is there, in an epoch.
    fn row(&self, epoch: u64, place: usize, out: &mut [f64]);
}

/// The targets of the loss in an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EpochTargets<'a> {
    /// One distribution per example, row by row.
    Distributions(&'a [f64]),
    /// One label per example.
    Labels(&'a [u16]),
    /// Labels of which an example may have several.
    Samples(&'a Samples),
}

/// Memory for targets that change from epoch to epoch; the next epoch reuses it.
#[derive(Clone, Debug, Default)]
pub struct EpochBuffer {
    labels: Vec<u16>,
    rows: Vec<f64>,
}

/// A delivery with everything at hand that does not change from epoch to epoch.
///
/// Nothing in it changes, so that threads may share it, and any epoch may be asked for at any time.
pub struct Prepared {
    delivery: Delivery,
    seed: u64,
    pub(super) items: usize,
    classes: usize,
    pub(super) kind: Kind,
}

impl Prepared {
    pub(super) fn new(delivery: Delivery, seed: u64, source: &Source<'_>, kind: Kind) -> Self {
        let (items, classes) = (source.len(), source.classes().len());
        Self { delivery, seed, items, classes, kind }
    }

    /// The delivery it was made by.
    pub fn delivery(&self) -> &Delivery {
        &self.delivery
    }

    /// The seed it was made with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many examples there are.
    pub fn len(&self) -> usize {
        self.items
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The distributions, row by row; `None` for a method that delivers labels, or distributions
    /// that change from epoch to epoch, for which there is
    /// [`targets_at`](Self::targets_at).
    pub fn targets(&self) -> Option<&[f64]> {
        match &self.kind {
            Kind::Soft(rows) => Some(rows),
            _ => None,
        }
    }

    /// What is trained on instead of each example once: `None` for a method with one label or
    /// distribution per example.
    pub fn samples(&self) -> Option<&Samples> {
        match &self.kind {
            Kind::Samples(samples) => Some(samples),
            _ => None,
        }
    }

    /// How batches are mixed; only `mixup` does.
    pub fn mixing(&self) -> Option<&Mixing> {
        match &self.kind {
            Kind::Fixed { mixing, .. } => mixing.as_ref(),
            _ => None,
        }
    }

    /// The number of the draw that an epoch delivers. Epochs of the same draw have the same targets,
    /// so that nothing has to be made or moved between them.
    pub fn draw_of(&self, epoch: u64) -> u64 {
        match &self.kind {
            Kind::Drawn(draws) => draws.draw_of(epoch),
            Kind::Varying(_) => epoch,
            Kind::Soft(_) | Kind::Fixed { .. } | Kind::Samples(_) => 0,
        }
    }

    /// How the labels may be drawn elsewhere, such as on a GPU: `None` where they do not change, and
    /// where votes are not kept one by one (more than 64 per item, probabilities, weights).
    pub fn listed(&self) -> Option<ListedVotes<'_>> {
        match &self.kind {
            Kind::Drawn(draws) => draws.listed(),
            _ => None,
        }
    }

    pub(super) fn not_hard(&self) -> LabelError {
        let delivery = self.delivery.to_string();
        match &self.kind {
            Kind::Samples(_) => LabelError::Sampled { delivery },
            _ => LabelError::NotHard { delivery },
        }
    }

    /// The label of one example in an epoch.
    pub fn label(&self, epoch: u64, place: usize) -> Result<u16, LabelError> {
        if place >= self.items {
            return Err(LabelError::NoSuchPlace { place, items: self.items });
        }
        match &self.kind {
            Kind::Soft(_) | Kind::Varying(_) | Kind::Samples(_) => Err(self.not_hard()),
            Kind::Fixed { labels, .. } => Ok(labels[place]),
            Kind::Drawn(draws) => Ok(draws.label(draws.draw_of(epoch), place)),
        }
    }

    /// Writes the target distribution of one example in an epoch; a label is one with a single 1.
    pub fn target(&self, epoch: u64, place: usize, row: &mut [f64]) -> Result<(), LabelError> {
        if place >= self.items {
            return Err(LabelError::NoSuchPlace { place, items: self.items });
        }
        if row.len() != self.classes {
            return Err(LabelError::Length { found: row.len(), expected: self.classes });
        }
        match &self.kind {
            Kind::Soft(rows) => row.copy_from_slice(&rows[place * self.classes..][..self.classes]),
            Kind::Varying(rows) => rows.row(epoch, place, row),
            Kind::Samples(_) => return Err(self.not_hard()),
            Kind::Fixed { .. } | Kind::Drawn(_) => {
                row.fill(0.0);
                row[self.label(epoch, place)? as usize] = 1.0;
            }
        }
        Ok(())
    }

    /// The labels of these examples in an epoch (of a batch, say).
    pub fn labels(&self, epoch: u64, places: &[usize]) -> Result<Vec<u16>, LabelError> {
        places.iter().map(|&place| self.label(epoch, place)).collect()
    }

    /// The labels of all examples in an epoch. For many epochs, [`epochs`](Self::epochs) is faster.
    pub fn epoch(&self, epoch: u64, out: &mut [u16]) -> Result<(), LabelError> {
        if out.len() != self.items {
            return Err(LabelError::Length { found: out.len(), expected: self.items });
        }
        match &self.kind {
            Kind::Soft(_) | Kind::Varying(_) | Kind::Samples(_) => return Err(self.not_hard()),
            Kind::Fixed { labels, .. } => out.copy_from_slice(labels),
            Kind::Drawn(draws) => draws.fill(draws.draw_of(epoch), out),
        }
        Ok(())
    }

    /// The targets of the loss in an epoch, for any method. `buffer` holds those that change.
    pub fn targets_at<'a>(&'a self, epoch: u64, buffer: &'a mut EpochBuffer) -> EpochTargets<'a> {
        match &self.kind {
            Kind::Soft(rows) => EpochTargets::Distributions(rows),
            Kind::Fixed { labels, .. } => EpochTargets::Labels(labels),
            Kind::Samples(samples) => EpochTargets::Samples(samples),
            Kind::Drawn(draws) => {
                buffer.labels.resize(self.items, 0);
                draws.fill(draws.draw_of(epoch), &mut buffer.labels);
                EpochTargets::Labels(&buffer.labels)
            }
            Kind::Varying(rows) => {
                rows.fill(epoch, &mut buffer.rows);
                EpochTargets::Distributions(&buffer.rows)
            }
        }
    }

    /// The labels of one epoch after another, faster than one at a time.
    pub fn epochs(&self) -> Result<Epochs<&Self>, LabelError> {
        Epochs::new(self)
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { delivery, seed, items, .. } = self;
        write!(f, "Prepared({delivery}, seed {seed}, {items} items)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Delivers;
    use crate::testing::counted;

    #[test]
    fn misuse_is_answered() {
        let table = counted(&[vec![1, 0]]);
        let sls: Delivery = "sls".parse().unwrap();
        let prepared = sls.prepare(&Source::new(&table).unwrap(), 1).unwrap();
        let error = LabelError::Length { found: 2, expected: 1 };
        assert_eq!(prepared.epoch(0, &mut [0; 2]), Err(error));
        let error = LabelError::NoSuchPlace { place: 1, items: 1 };
        assert_eq!(prepared.label(0, 1), Err(error));
        assert_eq!((prepared.targets(), prepared.mixing()), (None, None));
        assert_eq!(format!("{prepared:?}"), "Prepared(sls:every=1, seed 1, 1 items)");
    }

    /// One at a time or all at once: the same bits.
    #[test]
    fn the_target_of_one_example() {
        let rows: Vec<Vec<u32>> = (0..600).map(|i| vec![i % 3, 1 + i % 5, i % 7]).collect();
        let table = counted(&rows);
        let source = Source::new(&table).unwrap();
        for entry in crate::DELIVERIES {
            let prepared = entry.name.parse::<Delivery>().unwrap().prepare(&source, 4).unwrap();
            if prepared.samples().is_some() {
                continue;
            }
            for (epoch, place) in [(0, 0), (3, 17), (9, 599)] {
                let mut row = [0.5; 3];
                prepared.target(epoch, place, &mut row).unwrap();
                match prepared.targets_at(epoch, &mut EpochBuffer::default()) {
                    EpochTargets::Distributions(rows) => assert_eq!(row, rows[place * 3..][..3]),
                    EpochTargets::Labels(labels) => {
                        let class = usize::from(labels[place]);
                        assert_eq!((row[class], row.iter().sum::<f64>()), (1.0, 1.0));
                    }
                    EpochTargets::Samples(_) => panic!("{}: samples", entry.name),
                }
            }
            assert!(prepared.target(0, 600, &mut [0.0; 3]).is_err());
            assert!(prepared.target(0, 0, &mut [0.0; 2]).is_err());
        }
    }

    /// No examples are no reason to fail.
    #[test]
    fn nothing_to_deliver() {
        let table = counted(&[]);
        let source = Source::new(&table).unwrap();
        for entry in crate::DELIVERIES {
            let prepared = entry.name.parse::<Delivery>().unwrap().prepare(&source, 1).unwrap();
            assert!(prepared.is_empty());
            match prepared.targets_at(0, &mut EpochBuffer::default()) {
                EpochTargets::Distributions(rows) => assert!(rows.is_empty()),
                EpochTargets::Labels(labels) => assert!(labels.is_empty()),
                EpochTargets::Samples(samples) => assert!(samples.labels.is_empty()),
            }
            assert_eq!(prepared.epoch(0, &mut []).is_ok(), entry.delivers == Delivers::Labels);
        }
    }
}
