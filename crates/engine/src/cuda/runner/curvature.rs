//! Gradients and Hessian products of a mean over many rows.
//!
//! Batches are larger than in training, since nothing is learnt between them: the fewer and larger
//! they are, the better convolutions fill the GPU. A product needs, of every batch, what the network's
//! own passes leave behind (values and gradients of all nodes), and these do not depend on the
//! direction; they are kept for the next product with the same rows, targets and weights, where the
//! GPU has memory for them. What is left of a product then is six convolutions for each of the network's
//! (ẋ∗W, x∗Ẇ; their two gradients at the input; their two at the weights) where one from scratch is
//! eight.
//!
//! Launches are not captured: the work of a batch of this size takes the GPU several times as long as
//! the host needs to ask for it, so that the GPU never waits, and no graph holds an address of memory
//! that may go back.

use super::super::driver;
use super::super::kernels::{self, Kernel as _};
use super::super::launch::DeviceSlice;
use super::backward::Reach;
use super::memory::{BufferPlan, OwnedBuffers, Tangents};
use super::{CudaRunner, Work};
use crate::device::{Mode, Targets, Votes, check_rows};
use crate::error::EngineError;

/// How many times as many examples as in training, and the most.
const TIMES: usize = 4;
const LARGE: usize = 512;

/// What gradients and products have of the GPU's memory.
#[derive(Default)]
pub(super) struct Curvature {
    /// Examples that all buffers are for.
    batch: usize,
    /// The network's own passes: buffers of one batch, or of every batch.
    batches: Vec<OwnedBuffers>,
    /// Their tangents.
    along: Option<OwnedBuffers>,
    /// What the buffers hold the passes of, all batches of it.
    kept: Option<Point>,
}

/// Where a Hessian is taken: rows, what the loss sees, and which weights.
struct Point {
    rows: Vec<u32>,
    goals: Goals,
    version: u64,
}

enum Goals {
    Classes(Vec<u16>),
    Distributions(Vec<f32>),
    Drawn(Votes, u64),
}

impl Goals {
    fn of(targets: Targets<'_>) -> Self {
        match targets {
            Targets::Classes(labels) => Self::Classes(labels.to_vec()),
            Targets::Distributions(shares) => Self::Distributions(shares.to_vec()),
            Targets::Drawn(votes, draw) => Self::Drawn(votes.clone(), draw),
        }
    }

    fn are(&self, targets: Targets<'_>) -> bool {
        match (self, targets) {
            (Self::Classes(own), Targets::Classes(labels)) => own == labels,
            (Self::Distributions(own), Targets::Distributions(shares)) => own == shares,
            (Self::Drawn(own, own_draw), Targets::Drawn(votes, draw)) => {
                *own_draw == draw && own == votes
            }
            _ => false,
        }
    }
}

impl Curvature {
    /// Whether the buffers hold the passes of these rows, targets and weights.
    fn holds(&self, rows: &[u32], targets: Targets<'_>, version: u64) -> bool {
        self.kept.as_ref().is_some_and(|kept| {
            kept.version == version && kept.rows == rows && kept.goals.are(targets)
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.batches.iter().chain(&self.along).map(|held| held.bytes).sum()
    }
}

/// Equal batches of at most `most` examples, but for the last.
fn equal(rows: usize, most: usize) -> usize {
    rows.div_ceil(rows.div_ceil(most.max(1)).max(1)).max(1)
}

impl CudaRunner {
    pub(super) fn buffer_plan(&self) -> BufferPlan<'_> {
        let (network, act) = (&*self.network, self.size());
        BufferPlan { network, steps: &self.steps, slots: &self.slots, act }
    }

    /// The most examples of a batch: a matter of settings, network and GPU alone, since the order of
    /// sums depends on it.
    fn largest(&self) -> Result<usize, EngineError> {
        let all = self.stream.stream.context().total_mem().map_err(driver)?;
        let plan = self.buffer_plan();
        let bytes = plan.bytes(1, false)? + plan.bytes(1, true)?;
        let numbers = |node| {
            let (rows, channels, _) = self.extent(node, 1);
            rows * channels
        };
        let widest = (0..self.network.nodes().len()).map(numbers).max().unwrap_or(0);
        let mut most = (TIMES * self.settings.batch).min(LARGE).max(self.settings.batch);
        while most > 1 && (most * bytes > all / 8 || most * widest > i32::MAX as usize) {
            most /= 2;
        }
        Ok(most)
    }

    /// Checks a mean over rows, and brings what it is over to the device; says whether the loss sees
    /// distributions.
    fn mean_over(&mut self, rows: &[u32], targets: Targets<'_>) -> Result<bool, EngineError> {
        check_rows(rows, self.rows)?;
        if rows.is_empty() || rows.len() > self.rows {
            let text = format!("a mean over {} rows of {} examples", rows.len(), self.rows);
            return Err(EngineError::Data(text));
        }
        let soft = self.targets(targets, rows)?;
        self.stream.write(self.memory.visits, rows)?;
        self.stream.write(self.memory.over, &[rows.len() as i32])?;
        self.stream.write(self.memory.counter, &[0i32])?;
        Ok(soft)
    }

    /// Everything that batches of a mean over so many rows need but memory for tangents: convolutions,
    /// the total, and the buffers of at least one batch. The size of a batch.
    fn ready(&mut self, rows: usize) -> Result<usize, EngineError> {
        let batch = equal(rows, self.largest()?);
        let rest = rows % batch;
        for count in [batch, rest].into_iter().filter(|&count| count > 0) {
            self.prepare(count, false)?;
        }
        if self.total.is_none() {
            self.total = Some(self.stream.numbers(self.places.len)?);
        }
        if self.curvature.batch < batch {
            self.curvature = Curvature { batch, ..Curvature::default() };
        }
        if self.curvature.batches.is_empty() {
            let buffers = self.buffer_plan().allocate(&self.stream, self.curvature.batch, false)?;
            self.curvature.batches.push(buffers);
        }
        Ok(batch)
    }

    /// Makes buffers for each of so many batches, if all of them take no more than a quarter of what
    /// is free; whether they are there.
    fn make_buffers(&mut self, batches: usize) -> Result<bool, EngineError> {
        let own: usize = self.curvature.batches.iter().map(|held| held.bytes).sum();
        let (free, _) = self.stream.stream.context().mem_get_info().map_err(driver)?;
        let each = self.buffer_plan().bytes(self.curvature.batch, false)?;
        if self.curvature.batches.len() < batches && batches * each > (free + own) / 4 {
            return Ok(false);
        }
        while self.curvature.batches.len() < batches {
            let buffers = self.buffer_plan().allocate(&self.stream, self.curvature.batch, false)?;
            self.curvature.batches.push(buffers);
        }
        Ok(true)
    }

    /// Does `work` with the buffers of this batch in the place of those of training.
    fn within(
        &mut self,
        place: usize,
        work: impl FnOnce(&Self) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let Some(held) = self.curvature.batches.get_mut(place) else {
            return Err(EngineError::Device(format!("no buffers for batch {place}")));
        };
        std::mem::swap(&mut self.memory.buffers, &mut held.buffers);
        let result = work(self);
        if let Some(held) = self.curvature.batches.get_mut(place) {
            std::mem::swap(&mut self.memory.buffers, &mut held.buffers);
        }
        result
    }

    /// The network's own passes over a batch, with the gradient of the mean over all rows, after
    /// [`running_norms`](Self::running_norms).
    pub(super) fn own_passes(
        &self,
        work: Work,
        count: usize,
        reach: Reach,
    ) -> Result<(), EngineError> {
        let all = self.steps.len();
        self.examples(work, count)?;
        self.forward(all, count, Mode::Eval)?;
        self.loss(work, count, true)?;
        self.backward(all, count, Mode::Eval, reach)
    }

    /// The mean loss over rows, and its gradient.
    pub(super) fn mean_gradient(
        &mut self,
        rows: &[u32],
        targets: Targets<'_>,
    ) -> Result<(f64, Vec<f32>), EngineError> {
        let soft = self.mean_over(rows, targets)?;
        let batch = self.ready(rows.len())?;
        // What is kept would be computed again to the same bits, each batch in its own buffers.
        let kept = self.curvature.holds(rows, targets, self.version);
        if !kept {
            self.curvature.kept = None;
        }
        self.clear_total()?;
        self.running_norms()?;
        for (number, first) in (0..rows.len()).step_by(batch).enumerate() {
            let (work, count) = (Work::Gradient { soft, batch }, batch.min(rows.len() - first));
            self.within(if kept { number } else { 0 }, |run| {
                run.own_passes(work, count, Reach::Weights)?;
                run.add_up()?;
                run.advance()
            })?;
        }
        let gradient = self.fetch(self.total()?.at())?;
        Ok((self.mean_loss(rows.len())?, gradient))
    }

    /// The Hessian of that loss times `direction`.
    pub(super) fn product(
        &mut self,
        rows: &[u32],
        targets: Targets<'_>,
        direction: &[f32],
    ) -> Result<Vec<f32>, EngineError> {
        let (found, wanted) = (direction.len(), self.network.parameter_count());
        if found != wanted {
            let text = format!("a direction of {found} numbers for {wanted} parameters");
            return Err(EngineError::Data(text));
        }
        let mut kept = self.curvature.holds(rows, targets, self.version);
        match kept {
            true => self.stream.write(self.memory.over, &[rows.len() as i32])?,
            false => {
                self.mean_over(rows, targets)?;
            }
        }
        let batch = self.ready(rows.len())?;
        let work = Work::Gradient { batch, soft: matches!(targets, Targets::Distributions(_)) };
        let batches = (0..rows.len()).step_by(batch).map(|first| batch.min(rows.len() - first));
        let counts: Vec<usize> = batches.collect();
        if self.tangents.is_none() {
            let (network, settings) = (&self.network, &self.settings);
            let (steps, places) = (&self.steps, &self.places);
            let made = Tangents::new(&mut self.stream, network, settings, steps, places)?;
            self.tangents = Some(made);
        }
        if self.curvature.along.is_none() {
            let buffers = self.buffer_plan().allocate(&self.stream, self.curvature.batch, true)?;
            self.curvature.along = Some(buffers);
        }
        if !kept {
            self.curvature.kept = None;
            if self.make_buffers(counts.len())? {
                self.running_norms()?;
                for (place, &count) in counts.iter().enumerate() {
                    self.within(place, |run| {
                        run.own_passes(work, count, Reach::Values)?;
                        run.advance()
                    })?;
                }
                let (rows, goals) = (rows.to_vec(), Goals::of(targets));
                self.curvature.kept = Some(Point { rows, goals, version: self.version });
                kept = true;
            }
        }
        if let Some(Tangents { direction: to, direction_copy: copy, .. }) = self.tangents {
            self.bring(direction, to)?;
            self.copy_down(to, copy)?;
        }
        if let Some(tangents) = &self.tangents {
            self.norms_along(tangents)?;
        }
        self.clear_total()?;
        self.stream.write(self.memory.counter, &[0i32])?;
        for (place, &count) in counts.iter().enumerate() {
            self.within(if kept { place } else { 0 }, |run| {
                let (Some(tangents), Some(along)) = (&run.tangents, &run.curvature.along) else {
                    return Err(EngineError::Device("no buffers for tangents".into()));
                };
                if !kept {
                    run.own_passes(work, count, Reach::Values)?;
                }
                run.tangent(tangents, &along.buffers, count)?;
                run.loss_tangent(&along.buffers, count)?;
                run.backward_tangent(tangents, &along.buffers, count)?;
                run.add_up()?;
                run.advance()
            })?;
        }
        self.fetch(self.total()?.at())
    }

    fn clear_total(&self) -> Result<(), EngineError> {
        self.stream.clear(self.total()?)
    }

    /// Where gradients and products are added up over batches.
    pub(super) fn total(&self) -> Result<DeviceSlice<f32>, EngineError> {
        self.total.ok_or_else(|| EngineError::Device("no memory for a total".into()))
    }

    /// On to the next batch.
    pub(super) fn advance(&self) -> Result<(), EngineError> {
        kernels::NextBatch { step: self.memory.counter.at() }.launch(&self.stream, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_equal_but_for_the_last() {
        let cases = [(2000, 512, 500), (53, 48, 27), (512, 512, 512), (1, 512, 1), (513, 512, 257)];
        for (rows, most, batch) in cases {
            assert_eq!(equal(rows, most), batch, "{rows} rows, at most {most}");
        }
    }

    #[test]
    fn goals_are_known_again() {
        let (labels, others) = ([1u16, 2, 0], [1u16, 2, 1]);
        let shares = [0.5f32, 0.5];
        let goals = Goals::of(Targets::Classes(&labels));
        assert!(goals.are(Targets::Classes(&labels)));
        assert!(!goals.are(Targets::Classes(&others)));
        assert!(!goals.are(Targets::Distributions(&shares)));
        assert!(Goals::of(Targets::Distributions(&shares)).are(Targets::Distributions(&shares)));
    }
}
