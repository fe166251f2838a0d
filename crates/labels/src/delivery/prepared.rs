//! A delivery made ready for one set of examples and one seed: it answers for every epoch.

use std::fmt;
use std::ops::Range;

use rayon::prelude::*;

use super::draws::Draws;
use super::epochs::Epochs;
use super::listed::Listed;
use super::soft_noise::Noise;
use super::{Delivery, Mixing};
use crate::{LabelError, Source};

/// What a method prepares.
pub(super) enum Kind {
    /// Distributions that never change, row by row.
    Soft(Vec<f64>),
    /// Distributions that change with the epoch.
    Noisy(Noise),
    /// Labels that never change.
    Fixed { labels: Vec<u16>, mixing: Option<Mixing> },
    /// Labels that change with the draw.
    Drawn(Box<dyn Draws>),
}

/// What the loss sees in an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen<'a> {
    /// A distribution for every example, row by row.
    Soft(&'a [f64]),
    /// A label for every example.
    Hard(&'a [u16]),
}

/// Room for what changes from epoch to epoch, to be used again for the next.
#[derive(Clone, Debug, Default)]
pub struct Room {
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
    /// that change from epoch to epoch, for which there is [`see`](Self::see).
    pub fn targets(&self) -> Option<&[f64]> {
        match &self.kind {
            Kind::Soft(rows) => Some(rows),
            _ => None,
        }
    }

    /// The distributions rounded to f32, as training takes them.
    pub fn targets_f32(&self) -> Option<Vec<f32>> {
        Some(self.targets()?.par_iter().map(|&p| p as f32).collect())
    }

    /// How batches are mixed; only `mixup` does.
    pub fn mixing(&self) -> Option<&Mixing> {
        match &self.kind {
            Kind::Fixed { mixing, .. } => mixing.as_ref(),
            _ => None,
        }
    }

    /// The number of the draw that an epoch delivers. Epochs of the same draw see the same, so that
    /// nothing has to be made or moved between them.
    pub fn draw_of(&self, epoch: u64) -> u64 {
        match &self.kind {
            Kind::Drawn(draws) => draws.draw_of(epoch),
            Kind::Noisy(_) => epoch,
            Kind::Soft(_) | Kind::Fixed { .. } => 0,
        }
    }

    /// How the labels may be drawn elsewhere, such as on a GPU: `None` where they do not change, and
    /// where votes are not kept one by one (more than 64 an item, probabilities, weights).
    pub fn listed(&self) -> Option<Listed<'_>> {
        match &self.kind {
            Kind::Drawn(draws) => draws.listed(),
            _ => None,
        }
    }

    fn not_hard(&self) -> LabelError {
        LabelError::NotHard { delivery: self.delivery.to_string() }
    }

    /// The label of one example in an epoch.
    pub fn label(&self, epoch: u64, place: usize) -> Result<u16, LabelError> {
        if place >= self.items {
            return Err(LabelError::NoSuchPlace { place, items: self.items });
        }
        match &self.kind {
            Kind::Soft(_) | Kind::Noisy(_) => Err(self.not_hard()),
            Kind::Fixed { labels, .. } => Ok(labels[place]),
            Kind::Drawn(draws) => Ok(draws.label(draws.draw_of(epoch), place)),
        }
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
            Kind::Soft(_) | Kind::Noisy(_) => return Err(self.not_hard()),
            Kind::Fixed { labels, .. } => out.copy_from_slice(labels),
            Kind::Drawn(draws) => draws.fill(draws.draw_of(epoch), out),
        }
        Ok(())
    }

    /// What the loss sees in an epoch, of any method. `room` holds it where it changes.
    pub fn see<'a>(&'a self, epoch: u64, room: &'a mut Room) -> Seen<'a> {
        match &self.kind {
            Kind::Soft(rows) => Seen::Soft(rows),
            Kind::Fixed { labels, .. } => Seen::Hard(labels),
            Kind::Drawn(draws) => {
                room.labels.resize(self.items, 0);
                draws.fill(draws.draw_of(epoch), &mut room.labels);
                Seen::Hard(&room.labels)
            }
            Kind::Noisy(noise) => {
                noise.fill(epoch, &mut room.rows);
                Seen::Soft(&room.rows)
            }
        }
    }

    /// The labels of some epochs, one after another. Four draws are made at once, which takes less
    /// than twice the time of one; they take 8 bytes an example.
    pub fn epochs(&self, epochs: Range<u64>) -> Result<Epochs<'_>, LabelError> {
        match &self.kind {
            Kind::Soft(_) | Kind::Noisy(_) => Err(self.not_hard()),
            _ => Ok(Epochs::new(self, epochs)),
        }
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

    /// No examples are no reason to fail.
    #[test]
    fn nothing_to_deliver() {
        let table = counted(&[]);
        let source = Source::new(&table).unwrap();
        for info in crate::DELIVERIES {
            let prepared = info.name.parse::<Delivery>().unwrap().prepare(&source, 1).unwrap();
            assert!(prepared.is_empty());
            match prepared.see(0, &mut Room::default()) {
                Seen::Soft(rows) => assert!(rows.is_empty()),
                Seen::Hard(labels) => assert!(labels.is_empty()),
            }
            assert_eq!(prepared.epoch(0, &mut []).is_ok(), info.hard);
        }
    }
}
