//! What lies at the examples or inside of a network, brought to the host; examples that are moved, and
//! statistics of batches as they come.

use super::super::kernels::{self, Kernel as _};
use super::super::launch::Pointer;
use super::backward::Reach;
use super::{CudaRunner, Work};
use crate::device::{Mode, check_rows};
use crate::error::EngineError;
use crate::network::{NodeId, Shape};

impl CudaRunner {
    /// What `passes` leaves behind where it says, batch by batch: numbers that lie as those of `node`
    /// do, here without padding.
    pub(super) fn gathered(
        &mut self,
        rows: &[u32],
        node: NodeId,
        passes: impl Fn(&Self, usize) -> Result<Pointer, EngineError>,
    ) -> Result<Vec<f32>, EngineError> {
        check_rows(rows, self.rows)?;
        let shape = self.network.nodes()[node].shape;
        let size = shape.len();
        let plain = match self.plain {
            Some(plain) => plain,
            None => {
                let largest = |node: NodeId| self.network.nodes()[node].shape.len();
                let size = largest(0).max(self.network.last_map().map_or(0, largest));
                self.stream.numbers(self.settings.batch * size)?
            }
        };
        self.plain = Some(plain);
        self.running_norms()?;
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
            let kernel = kernels::Unpad { from, pixels, channels, padded, to: plain.at() };
            kernel.launch(&self.stream, typed)?;
            all.extend(self.stream.read(plain, count * size)?);
        }
        Ok(all)
    }

    /// Moves the examples of a batch against the gradient of the loss at a temperature, after a
    /// forward pass.
    pub(super) fn perturb(&self, count: usize) -> Result<(), EngineError> {
        let m = &self.memory;
        let last = self.network.nodes().len() - 1;
        let kernel = kernels::PredictedClassGradient {
            z: self.value(last),
            moves: m.moves.at(),
            count,
            width: self.network.classes(),
            dz: self.gradient_of(last),
        };
        kernel.launch(&self.stream, false)?;
        self.backward(self.steps.len(), count, Mode::Eval, Reach::Inputs)?;
        let (pixels, channels, typed) = self.extent(0, count);
        let kernel = kernels::Perturb {
            dx: self.gradient_of(0),
            moves: m.moves.at(),
            len: pixels * channels,
            x: self.value(0),
        };
        kernel.launch(&self.stream, typed)
    }

    pub(super) fn statistics_of(&mut self, rows: usize, batch: usize) -> Result<(), EngineError> {
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
