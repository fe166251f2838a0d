//! What is asked of a network at its examples: gradients there, examples that are moved along them,
//! the maps before the last pooling, and statistics of batches as they come.

use super::super::kernels::{self, Kernel as _};
use super::super::launch::Pointer;
use super::backward::Reach;
use super::{CudaRunner, MOMENTUM, Work};
use crate::device::{Maps, Mode, Targets, check_perturbation, check_refresh, check_rows};
use crate::error::EngineError;
use crate::network::{NodeId, Shape};

impl CudaRunner {
    /// What `passes` leaves behind where it says, batch by batch: numbers that lie as those of `node`
    /// do, here without padding.
    fn gathered(
        &mut self,
        rows: &[u32],
        node: NodeId,
        passes: impl Fn(&Self, usize) -> Result<Pointer, EngineError>,
    ) -> Result<Vec<f32>, EngineError> {
        check_rows(rows, self.rows)?;
        let shape = self.network.nodes()[node].shape;
        let size = shape.len();
        if self.plain.is_none() {
            let largest = |node: NodeId| self.network.nodes()[node].shape.len();
            let size = largest(0).max(self.network.last_map().map_or(0, largest));
            self.plain = Some(self.stream.zeros(4 * self.settings.batch * size)?);
        }
        let plain = self.plain.unwrap_or(0);
        let mut all = Vec::with_capacity(rows.len() * size);
        for rows in rows.chunks(self.settings.batch.min(self.rows.max(1))) {
            let count = rows.len();
            self.prepare(count, false)?;
            self.stream.write(self.memory.visits, rows)?;
            self.stream.write(self.memory.counter, &[0i32])?;
            let from = passes(self, count)?;
            let (pixels, padded, typed) = self.extent(node, count);
            let channels = match shape {
                Shape::Map { channels, .. } => channels,
                Shape::Flat { width } => width,
            };
            let kernel = kernels::Unpad { from, pixels, channels, padded, to: plain };
            kernel.launch(&self.stream, typed)?;
            all.extend(self.stream.read::<f32>(plain, count * size)?);
        }
        Ok(all)
    }

    /// What the last pooling reads.
    pub(super) fn map_values(&mut self, rows: &[u32]) -> Result<Maps, EngineError> {
        let node = self.network.last_map()?;
        let values = self.gathered(rows, node, |run, count| {
            run.examples(Work::Logits, count)?;
            run.forward(run.steps.len(), count, Mode::Eval)?;
            Ok(run.value(node))
        })?;
        Maps::of(&self.network, values)
    }

    /// The gradient of each row's own loss at its example.
    pub(super) fn input_slopes(
        &mut self,
        rows: &[u32],
        targets: Targets<'_>,
    ) -> Result<Vec<f32>, EngineError> {
        check_rows(rows, self.rows)?;
        let (soft, batch) = (self.targets(targets, rows)?, self.settings.batch);
        // Not a mean: every row has a loss of its own.
        self.stream.write(self.memory.over, &[1i32])?;
        self.gathered(rows, 0, |run, count| {
            run.own_passes(Work::Gradient { soft, batch }, count, Reach::Inputs)?;
            Ok(run.gradient_of(0))
        })
    }

    /// The logits of x − ε·sign(∂L/∂x), L = −ln softmax(z/T)\[argmax z\].
    pub(super) fn perturbed_logits(
        &mut self,
        rows: &[u32],
        temperature: f64,
        epsilon: f64,
    ) -> Result<Vec<f32>, EngineError> {
        check_perturbation(temperature, epsilon)?;
        self.stream.write(self.memory.moves, &[temperature, epsilon].map(|x| x as f32))?;
        self.collect(Work::Perturbed, rows, self.network.classes())
    }

    /// Moves the examples of a batch against the gradient of the loss at a temperature, after a
    /// forward pass.
    pub(super) fn perturb(&self, count: usize) -> Result<(), EngineError> {
        let m = &self.memory;
        let last = self.network.nodes().len() - 1;
        let kernel = kernels::PredictedClassGradient {
            z: self.value(last),
            moves: m.moves,
            count,
            width: self.network.classes(),
            dz: self.gradient_of(last),
        };
        kernel.launch(&self.stream, false)?;
        self.backward(self.steps.len(), count, Mode::Eval, Reach::Inputs)?;
        let (pixels, channels, typed) = self.extent(0, count);
        let kernel = kernels::Perturb {
            dx: self.gradient_of(0),
            moves: m.moves,
            len: pixels * channels,
            x: self.value(0),
        };
        kernel.launch(&self.stream, typed)
    }

    /// New statistics: the mean of those of the batches of `rows`, in order, every batch alike.
    pub(super) fn new_statistics(&mut self, rows: &[u32], batch: usize) -> Result<(), EngineError> {
        check_refresh(rows, self.rows, batch, self.settings.batch)?;
        self.version += 1;
        for count in [batch.min(rows.len()), rows.len() % batch] {
            if count > 0 {
                self.prepare(count, false)?;
            }
        }
        self.stream.write(self.memory.visits, rows)?;
        self.stream.write(self.memory.epoch, &[0u64, 0])?;
        self.stream.write(self.memory.counter, &[0i32])?;
        let result = self.statistics_of(rows.len(), batch);
        self.momentum = MOMENTUM;
        result?;
        self.stream.stream.synchronize().map_err(super::driver)
    }

    fn statistics_of(&mut self, rows: usize, batch: usize) -> Result<(), EngineError> {
        for (number, first) in (0..rows).step_by(batch).enumerate() {
            let count = batch.min(rows - first);
            // The first batch takes the place of what was there; the n-th is an n-th of the mean.
            self.momentum = 1.0 / (number + 1) as f32;
            self.examples(Work::Statistics { batch }, count)?;
            self.forward(self.steps.len(), count, Mode::Train)?;
            self.advance()?;
        }
        Ok(())
    }
}
