//! What an epoch is made of: the order of the examples, their labels, crops and partners.

use dissensus_core::philox::Stream;
use dissensus_engine::device::{Choice, Mixture, Shift, Targets, Votes};
use dissensus_engine::{Epoch, Mode, Samples, random};
use dissensus_labels::{Delivers, Drawing, EpochBuffer, EpochTargets};

use crate::spec::Training;
use crate::{Setup, TrainError};

/// Arrays of one epoch, used again for the next.
pub(crate) struct Epochs<'a> {
    setup: &'a Setup,
    training: &'a Training,
    seed: u64,
    /// Keys of what is visited: of the training examples, in the order of `setup.train`, or of the
    /// samples.
    keys: Vec<u64>,
    /// The row of each sample, where the delivery gives samples.
    rows: Option<Vec<u32>>,
    order: Vec<u32>,
    visits: Vec<u32>,
    shifts: Vec<Shift>,
    classes: Vec<u16>,
    shares: Vec<f32>,
    /// The epoch that all arrays are of.
    prepared: Option<u64>,
    /// The draw that `classes` or `shares` are of.
    draw: Option<u64>,
    /// What a device draws labels from, where it does so itself.
    votes: Option<Votes>,
    buffer: EpochBuffer,
    lambda: Vec<f64>,
    partner: Vec<u32>,
}

impl<'a> Epochs<'a> {
    /// `draws`: whether the device draws labels itself.
    pub(crate) fn new(
        setup: &'a Setup,
        training: &'a Training,
        seed: u64,
        keys: &[u64],
        draws: bool,
    ) -> Self {
        let rows = setup.dataset.len();
        // By row of the data, as the engine takes them; rows of other parts are never visited.
        let (classes, shares) = match (setup.labels.samples(), setup.labels.delivery().entry()) {
            (Some(samples), _) => (samples.labels.clone(), Vec::new()),
            (None, entry) if entry.delivers == Delivers::Labels => (vec![0; rows], Vec::new()),
            _ => (Vec::new(), vec![0.0; rows * setup.labels.classes()]),
        };
        let own: Vec<u64> = setup.train.iter().map(|&row| keys[row as usize]).collect();
        let (keys, rows) = match setup.labels.samples() {
            None => (own, None),
            Some(samples) => {
                let (mut nth, mut before) = (0, None);
                let key = |&place: &u32| {
                    // Each visit to an example has an augmentation of its own.
                    nth = if before.replace(place) == Some(place) { nth + 1 } else { 0 };
                    own[place as usize].wrapping_add(nth)
                };
                let keys = samples.places.iter().map(key).collect();
                let row = |&place: &u32| setup.train[place as usize];
                (keys, Some(samples.places.iter().map(row).collect()))
            }
        };
        Self {
            keys,
            rows,
            setup,
            training,
            seed,
            order: Vec::new(),
            visits: Vec::new(),
            shifts: Vec::new(),
            classes,
            shares,
            prepared: None,
            draw: None,
            votes: if draws { votes_by_row(setup) } else { None },
            buffer: EpochBuffer::default(),
            lambda: Vec::new(),
            partner: Vec::new(),
        }
    }

    /// Fills the arrays for the epoch of this number, unless they are.
    pub(crate) fn prepare(&mut self, number: u64) {
        if self.prepared.replace(number) == Some(number) {
            return;
        }
        let (train, batch) = (&self.setup.train, self.batch());
        self.order.clear();
        self.order.extend(0..self.setup.visits() as u32);
        Stream::new([self.seed, random::ORDER], [number, 0, 0]).shuffle(&mut self.order);
        self.visits.clear();
        match &self.rows {
            None => self.visits.extend(self.order.iter().map(|&place| train[place as usize])),
            Some(_) => self.visits.extend(&self.order),
        }

        let augment = self.training.augment.unwrap_or_default();
        if !augment.is_none() {
            self.shifts.clear();
            let keys = self.order.iter().map(|&place| self.keys[place as usize]);
            self.shifts.extend(keys.map(|key| augment.shift(self.seed, number, key)));
        }
        let draw = self.setup.labels.draw_of(number);
        if self.votes.is_none() && self.draw != Some(draw) {
            match self.setup.labels.targets_at(number, &mut self.buffer) {
                EpochTargets::Labels(labels) => {
                    for (&row, &label) in train.iter().zip(labels) {
                        self.classes[row as usize] = label;
                    }
                }
                // They are the same in every epoch.
                EpochTargets::Samples(_) => {}
                EpochTargets::Distributions(targets) => {
                    let width = self.setup.labels.classes();
                    for (&row, target) in train.iter().zip(targets.chunks_exact(width)) {
                        let into = &mut self.shares[row as usize * width..][..width];
                        into.iter_mut().zip(target).for_each(|(to, &p)| *to = p as f32);
                    }
                }
            }
            self.draw = Some(draw);
        }
        if let Some(mixing) = self.setup.labels.mixing() {
            self.partner.resize(self.setup.visits(), 0);
            self.lambda.clear();
            for (at, partners) in self.partner.chunks_mut(batch.max(1)).enumerate() {
                self.lambda.push(mixing.lambda(number, at as u64));
                mixing.partners(number, at as u64, partners);
            }
        }
    }

    /// Visits in a batch.
    fn batch(&self) -> usize {
        usize::try_from(self.training.batch_size).unwrap_or(usize::MAX).min(self.setup.visits())
    }

    /// The epoch of this number, at this learning rate.
    pub(crate) fn epoch(&mut self, number: u64, rate: f64) -> Result<Epoch<'_>, TrainError> {
        self.prepare(number);
        let (draw, mixing) = (self.setup.labels.draw_of(number), self.setup.labels.mixing());
        let augment = self.training.augment.unwrap_or_default();
        Ok(Epoch {
            number,
            seed: self.seed,
            visits: &self.visits,
            batch: self.batch(),
            rate,
            samples: Samples {
                rows: self.rows.as_deref(),
                targets: match &self.votes {
                    Some(votes) => Targets::Drawn(votes, draw),
                    None if self.shares.is_empty() => Targets::Classes(&self.classes),
                    None => Targets::Distributions(&self.shares),
                },
            },
            shifts: (!augment.is_none()).then_some(&self.shifts[..]),
            mixture: mixing.map(|_| Mixture { lambda: &self.lambda, partner: &self.partner }),
            mode: Mode::Train,
        })
    }
}

/// The votes of the training examples by row of the data, where the delivery has them one by one.
/// Other rows have none, and are never visited.
fn votes_by_row(setup: &Setup) -> Option<Votes> {
    let listed = setup.labels.listed()?;
    let rows = setup.dataset.len();
    let mut place_of = vec![None; rows];
    for (place, &row) in setup.train.iter().enumerate() {
        place_of[row as usize] = Some(place);
    }
    let mut starts = vec![0];
    let mut votes = Vec::with_capacity(listed.votes.len());
    for place in &place_of {
        if let Some(place) = *place {
            votes.extend(&listed.votes[listed.starts[place]..listed.starts[place + 1]]);
        }
        starts.push(u32::try_from(votes.len()).ok()?);
    }
    let choice = match listed.drawing {
        Drawing::Turns => Choice::Turns,
        Drawing::Words { keys, seed, stream } => {
            let key = |place: &Option<usize>| place.map_or(0, |place| keys[place]);
            Choice::Words { keys: place_of.iter().map(key).collect(), seed, stream }
        }
    };
    Some(Votes { starts, votes, choice })
}

#[cfg(test)]
mod tests {
    use dissensus_data::blends;
    use dissensus_engine::device::Shift;

    use super::*;
    use crate::{RunPlan, Spec, Task};

    fn plan(method: &str) -> RunPlan {
        let text = format!(
            "data.dataset = 'blends'\nmodel.name = 'mlp'\ndelivery.methods = '{method}'\n\
             training.batch_size = 16\ntraining.augment.crop = 3\ntraining.augment.flip = true"
        );
        Spec::parse(&text, "test", &[]).unwrap().runs().remove(0)
    }

    fn task() -> Task {
        let blends = blends::Settings { items: 90, ..Default::default() };
        let blends = blends.check().unwrap().generate().unwrap();
        let inputs = dissensus_inputs::from_blends(&blends).unwrap();
        Task::new("blends", blends.table(), &inputs).unwrap().0
    }

    /// Everything that is drawn for an epoch: visits, labels, shifts by row, shares, partners.
    type Drawn = (Vec<u32>, Vec<u16>, Vec<(u32, Shift)>, Vec<f64>, Vec<u32>);

    fn drawn(epoch: &Epoch<'_>) -> Drawn {
        let Targets::Classes(classes) = epoch.samples.targets else { panic!("labels") };
        let shifts = epoch.visits.iter().copied().zip(epoch.shifts.unwrap().iter().copied());
        let mut shifts: Vec<(u32, Shift)> = shifts.collect();
        shifts.sort_unstable_by_key(|(row, _)| *row);
        let (lambda, partner) = epoch.mixture.map_or((&[][..], &[][..]), |m| (m.lambda, m.partner));
        (epoch.visits.to_vec(), classes.to_vec(), shifts, lambda.to_vec(), partner.to_vec())
    }

    #[test]
    fn an_epoch_is_what_its_number_says() {
        let task = task();
        for method in ["sls", "mixup"] {
            let plan = plan(method);
            let setup = Setup::new(&task, &plan).unwrap();
            let new = || Epochs::new(&setup, &plan.training, plan.seed, task.keys(), false);
            let mut one_by_one = new();
            let all = [0, 1, 2].map(|number| drawn(&one_by_one.epoch(number, 0.1).unwrap()));
            // Not by what came before it, and each unlike the others.
            assert!(drawn(&new().epoch(2, 0.5).unwrap()) == all[2], "{method}");
            for (a, b) in [(0, 1), (0, 2), (1, 2)] {
                let (a, b) = (&all[a], &all[b]);
                assert!(a.0 != b.0 && a.2 != b.2, "{method}");
                assert_eq!((a.1 != b.1, a.3 != b.3), (method == "sls", method == "mixup"));
                assert_eq!(a.4 != b.4, method == "mixup");
            }
            for (number, (visits, classes, shifts, lambda, partner)) in (0..).zip(&all) {
                let mut rows = visits.clone();
                rows.sort_unstable();
                let mut train = setup.train.clone();
                train.sort_unstable();
                assert_eq!(rows, train);
                for (place, &row) in setup.train.iter().enumerate() {
                    let label = setup.labels.label(number, place).unwrap();
                    assert_eq!(classes[row as usize], label);
                }
                for &(row, shift) in shifts {
                    let key = task.keys()[row as usize];
                    assert_eq!(shift, plan.training.augment.unwrap().shift(plan.seed, number, key));
                }
                // 72 examples are four batches of 16 and one of 8.
                let batches = if method == "mixup" { 5 } else { 0 };
                assert_eq!((lambda.len(), partner.len().div_ceil(16)), (batches, batches));
            }
        }
    }

    /// An item is visited once for each of its votes, with that vote as its label and an augmentation
    /// of its own.
    #[test]
    fn every_vote_is_visited_once() {
        let (task, plan) = (task(), plan("every_vote"));
        let setup = Setup::new(&task, &plan).unwrap();
        let mut epochs = Epochs::new(&setup, &plan.training, plan.seed, task.keys(), true);
        let counts = task.table().counts().unwrap();
        let votes: u64 = setup.train.iter().map(|&row| counts.votes(row as usize)).sum();
        assert!(setup.visits() as u64 == votes && votes > 2 * setup.train.len() as u64);
        let mut orders = Vec::new();
        for number in 0..3 {
            let epoch = epochs.epoch(number, 0.1).unwrap();
            let Targets::Classes(labels) = epoch.samples.targets else { panic!("labels") };
            let rows = epoch.samples.rows.unwrap();
            let mut seen = vec![0; task.table().len() * 10];
            let mut shifts = std::collections::BTreeMap::new();
            for (&visit, &Shift { down, right, flip }) in
                epoch.visits.iter().zip(epoch.shifts.unwrap())
            {
                let row = rows[visit as usize] as usize;
                seen[row * 10 + usize::from(labels[visit as usize])] += 1;
                let own: &mut std::collections::BTreeSet<_> = shifts.entry(row).or_default();
                own.insert((down, right, flip));
            }
            for row in 0..task.table().len() {
                let trained = setup.train.contains(&(row as u32));
                let mut wanted = [0; 10];
                let entries = counts.entries(row).filter(|_| trained);
                entries.for_each(|(class, votes)| wanted[usize::from(class)] = votes);
                assert_eq!(seen[row * 10..][..10], wanted, "row {row}, epoch {number}");
            }
            assert!(shifts.values().filter(|own| own.len() > 1).count() > setup.train.len() / 2);
            orders.push(epoch.visits.to_vec());
        }
        assert!(orders[0] != orders[1] && orders[1] != orders[2]);
    }

    /// Where all items have as many votes, one step on all samples is one step on the distributions:
    /// the mean of the cross-entropies with an item's votes is that with its distribution.
    #[test]
    fn a_step_on_all_votes_is_a_step_on_the_distributions() {
        let task = task();
        let step = |method: &str| {
            let mut plan = plan(method);
            (plan.training.epochs, plan.training.batch_size) = (1, 1_000_000);
            plan.training.augment = Some(dissensus_engine::Augment::default());
            plan.model = plan.model.with("dropout", 0.0).unwrap();
            plan.votes = crate::spec::Votes::Drawn { per_item: 6, replacement: true };
            crate::fit(&task, &plan, &dissensus_engine::Cpu, &crate::FitOptions::default()).unwrap()
        };
        let (every, soft) = (step("every_vote"), step("soft"));
        let losses = [every.history[0].loss, soft.history[0].loss];
        assert!((losses[0] / losses[1] - 1.0).abs() < 1e-5, "{losses:?}");
        let (ours, theirs) = (&every.last.parameters, &soft.last.parameters);
        let far = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 1e-5 && ours.len() == theirs.len(), "{far}");
        assert_ne!(theirs, &step("majority").last.parameters);
    }

    /// A device that draws for itself is given what gives the same labels.
    #[test]
    fn votes_stand_at_their_rows() {
        let task = task();
        for method in ["sls", "multipass", "shuffled_sls"] {
            let plan = plan(method);
            let setup = Setup::new(&task, &plan).unwrap();
            let mut epochs = Epochs::new(&setup, &plan.training, plan.seed, task.keys(), true);
            for number in 0..9 {
                let epoch = epochs.epoch(number, 0.1).unwrap();
                let Targets::Drawn(votes, draw) = epoch.samples.targets else { panic!("votes") };
                assert_eq!(draw, number);
                for (place, &row) in setup.train.iter().enumerate() {
                    let label = setup.labels.label(number, place).unwrap();
                    assert_eq!(votes.class(row as usize, draw), Some(label), "{method}");
                }
            }
        }
        let plan = plan("soft");
        let setup = Setup::new(&task, &plan).unwrap();
        let mut epochs = Epochs::new(&setup, &plan.training, plan.seed, task.keys(), true);
        let epoch = epochs.epoch(0, 0.1).unwrap();
        assert!(matches!(epoch.samples.targets, Targets::Distributions(_)));
    }

    #[test]
    fn distributions_stand_at_their_rows() {
        let (task, plan) = (task(), plan("soft"));
        let setup = Setup::new(&task, &plan).unwrap();
        let mut epochs = Epochs::new(&setup, &plan.training, plan.seed, task.keys(), false);
        let epoch = epochs.epoch(0, 0.1).unwrap();
        let Targets::Distributions(shares) = epoch.samples.targets else { panic!("distributions") };
        let voted = task.table().distributions();
        for (row, share) in shares.chunks_exact(10).enumerate() {
            let trained = setup.train.contains(&(row as u32));
            let wanted = voted[row].as_ref().unwrap().values().iter();
            let wanted: Vec<f32> = wanted.map(|&p| if trained { p as f32 } else { 0.0 }).collect();
            assert_eq!(share, wanted, "row {row}");
        }
    }

    /// Distributions with noise are others in every epoch, at their rows; without noise they are
    /// those of `soft`, to the bit.
    #[test]
    fn distributions_with_noise_are_those_of_their_epoch() {
        let task = task();
        let shares = |method: &str, numbers: &[u64]| -> Vec<Vec<u32>> {
            let plan = plan(method);
            let setup = Setup::new(&task, &plan).unwrap();
            // A device that draws labels itself is handed these, too.
            let mut epochs = Epochs::new(&setup, &plan.training, plan.seed, task.keys(), true);
            let mut all = Vec::new();
            for &number in numbers {
                let epoch = epochs.epoch(number, 0.1).unwrap();
                let Targets::Distributions(found) = epoch.samples.targets else {
                    panic!("distributions")
                };
                let mut wanted = vec![0.0; found.len()];
                let mut buffer = EpochBuffer::default();
                let targets = setup.labels.targets_at(number, &mut buffer);
                let EpochTargets::Distributions(targets) = targets else { panic!("distributions") };
                for (&row, target) in setup.train.iter().zip(targets.chunks(10)) {
                    let target: Vec<f32> = target.iter().map(|&t| t as f32).collect();
                    wanted[row as usize * 10..][..10].copy_from_slice(&target);
                }
                assert_eq!(found, wanted, "{method}, epoch {number}");
                assert_eq!(found.iter().any(|t| *t < 0.0), method == "soft_noise", "{method}");
                all.push(found.iter().map(|t| t.to_bits()).collect());
            }
            all
        };
        let noisy = shares("soft_noise", &[0, 1, 2]);
        assert!(noisy[0] != noisy[1] && noisy[0] != noisy[2] && noisy[1] != noisy[2]);
        // Not by what came before it.
        assert_eq!(shares("soft_noise", &[2, 0]), [noisy[2].clone(), noisy[0].clone()]);
        let soft = shares("soft", &[0, 1]);
        assert!(soft[0] == soft[1] && soft == shares("soft_noise:scale=0", &[4, 5]));
    }
}
