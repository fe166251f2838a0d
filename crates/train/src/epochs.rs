//! What an epoch is made of: the order of the examples, their labels, crops and partners.

use dissensus_core::philox::Stream;
use dissensus_engine::device::{Mixture, Shift, Targets};
use dissensus_engine::{Epoch, Mode, random};
use dissensus_labels::Seen;

use crate::spec::Training;
use crate::{Setup, TrainError};

/// Arrays of one epoch, used again for the next.
pub(crate) struct Epochs<'a> {
    setup: &'a Setup,
    training: &'a Training,
    seed: u64,
    /// Keys of the training examples, in the order of `setup.train`.
    keys: Vec<u64>,
    order: Vec<u32>,
    visits: Vec<u32>,
    shifts: Vec<Shift>,
    classes: Vec<u16>,
    shares: Vec<f32>,
    room: Vec<u16>,
    lambda: Vec<f64>,
    partner: Vec<u32>,
}

impl<'a> Epochs<'a> {
    pub(crate) fn new(setup: &'a Setup, training: &'a Training, seed: u64, keys: &[u64]) -> Self {
        let rows = setup.dataset.len();
        let (mut classes, mut shares) = (Vec::new(), Vec::new());
        // By row of the data, as the engine takes them; rows of other parts are never visited.
        match setup.labels.targets() {
            None => classes = vec![0; rows],
            Some(targets) => {
                let width = setup.labels.classes();
                shares = vec![0.0; rows * width];
                for (&row, target) in setup.train.iter().zip(targets.chunks_exact(width)) {
                    let into = &mut shares[row as usize * width..][..width];
                    into.iter_mut().zip(target).for_each(|(to, &p)| *to = p as f32);
                }
            }
        }
        Self {
            keys: setup.train.iter().map(|&row| keys[row as usize]).collect(),
            setup,
            training,
            seed,
            order: Vec::new(),
            visits: Vec::new(),
            shifts: Vec::new(),
            classes,
            shares,
            room: Vec::new(),
            lambda: Vec::new(),
            partner: Vec::new(),
        }
    }

    /// The epoch of this number, at this learning rate.
    pub(crate) fn epoch(&mut self, number: u64, rate: f64) -> Result<Epoch<'_>, TrainError> {
        let train = &self.setup.train;
        let batch = usize::try_from(self.training.batch).unwrap_or(usize::MAX).min(train.len());
        self.order.clear();
        self.order.extend(0..train.len() as u32);
        Stream::new([self.seed, random::ORDER], [number, 0, 0]).shuffle(&mut self.order);
        self.visits.clear();
        self.visits.extend(self.order.iter().map(|&place| train[place as usize]));

        let augment = self.training.augment;
        if !augment.is_none() {
            self.shifts.clear();
            let keys = self.order.iter().map(|&place| self.keys[place as usize]);
            self.shifts.extend(keys.map(|key| augment.shift(self.seed, number, key)));
        }
        if let Seen::Hard(labels) = self.setup.labels.see(number, &mut self.room) {
            for (&row, &label) in train.iter().zip(labels) {
                self.classes[row as usize] = label;
            }
        }
        let mixing = self.setup.labels.mixing();
        if let Some(mixing) = mixing {
            self.partner.resize(train.len(), 0);
            self.lambda.clear();
            for (at, partners) in self.partner.chunks_mut(batch.max(1)).enumerate() {
                self.lambda.push(mixing.lambda(number, at as u64));
                mixing.partners(number, at as u64, partners);
            }
        }
        Ok(Epoch {
            number,
            seed: self.seed,
            visits: &self.visits,
            batch,
            rate,
            targets: match self.shares.is_empty() {
                true => Targets::Classes(&self.classes),
                false => Targets::Distributions(&self.shares),
            },
            shifts: (!augment.is_none()).then_some(&self.shifts[..]),
            mixture: mixing.map(|_| Mixture { lambda: &self.lambda, partner: &self.partner }),
            mode: Mode::Train,
        })
    }
}
