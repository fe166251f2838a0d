//! Evaluation beside training: on a stream of its own, of a copy of the weights, so that the next epoch
//! need not wait for it. What is shared with training is only read.

use std::collections::HashMap;
use std::mem::swap;

use cudarc::driver::CudaGraph;

use super::super::cudnn::Handle;
use super::super::driver;
use super::super::launch::Stream;
use super::memory::Memory;
use super::{CudaRunner, Work};
use crate::device::{Epoch, Overlap, Runner as _, check_rows};
use crate::error::EngineError;

/// What takes the place of the run's own while it evaluates.
pub(super) struct Evaluation {
    stream: Stream,
    handle: Handle,
    graphs: HashMap<(Work, usize), CudaGraph>,
    memory: Memory,
    /// The rows that were last evaluated with these weights.
    rows: Vec<u32>,
}

impl Evaluation {
    fn new(run: &CudaRunner) -> Result<Self, EngineError> {
        let mut stream = run.stream.beside()?;
        let handle = Handle::new(stream.stream.cu_stream())?;
        let (plan, settings) = (run.buffer_plan(), &run.settings);
        let memory =
            run.memory.for_evaluation(&mut stream, &plan, settings, &run.places, run.rows)?;
        // The other stream writes to it, too.
        stream.stream.synchronize().map_err(driver)?;
        Ok(Self { stream, handle, graphs: HashMap::new(), memory, rows: Vec::new() })
    }

    pub(super) fn bytes(&self) -> usize {
        self.stream.bytes()
    }

    /// Forgets what was captured, once it is over.
    pub(super) fn forget(&mut self) -> Result<(), EngineError> {
        self.stream.stream.synchronize().map_err(driver)?;
        self.graphs.clear();
        Ok(())
    }

    /// Gives convolutions a workspace of so many bytes.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), EngineError> {
        self.forget()?;
        self.memory.workspace = self.stream.zeros(bytes)?;
        self.memory.workspace_bytes = bytes;
        Ok(())
    }

    fn exchange(&mut self, run: &mut CudaRunner) {
        swap(&mut self.stream, &mut run.stream);
        swap(&mut self.handle, &mut run.handle);
        swap(&mut self.graphs, &mut run.graphs);
        swap(&mut self.memory, &mut run.memory);
    }
}

impl CudaRunner {
    /// Whether there is what evaluation beside training needs; made when it is first asked for.
    pub(super) fn can_evaluate_beside(&mut self) -> bool {
        if self.evaluation.is_none() && !self.no_evaluation {
            self.evaluation = Evaluation::new(self).ok();
            self.no_evaluation = self.evaluation.is_none();
        }
        self.evaluation.is_some()
    }

    /// Does `work` with the stream and the memory of the evaluation in the place of those of training.
    fn evaluating<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let Some(mut evaluation) = self.evaluation.take() else {
            return Err(EngineError::Device("no memory for evaluation beside training".into()));
        };
        evaluation.exchange(self);
        let result = work(self);
        evaluation.exchange(self);
        self.evaluation = Some(evaluation);
        result
    }

    /// Copies the weights and statistics as they are now, when the last copy is not used any more.
    fn copy_for_evaluation(&mut self) -> Result<(), EngineError> {
        let Some(evaluation) = &mut self.evaluation else { return Ok(()) };
        evaluation.rows.clear();
        let (from, to) = (&self.memory, &evaluation.memory);
        let (own, beside) = (&self.stream.stream, &evaluation.stream.stream);
        own.join(beside).map_err(driver)?;
        self.stream.copy(from.weights, to.weights)?;
        self.stream.copy(from.copy, to.copy)?;
        self.stream.copy(from.statistics, to.statistics)?;
        beside.join(own).map_err(driver)
    }

    /// Starts the evaluation of these rows with the copy.
    fn start_evaluation(&mut self, rows: &[u32]) -> Result<(), EngineError> {
        check_rows(rows, self.rows)?;
        if rows.len() > self.rows {
            let text = format!("{} rows of {} examples", rows.len(), self.rows);
            return Err(EngineError::Data(text));
        }
        self.prepare_all(Work::Logits, rows.len())?;
        self.evaluating(|run| {
            run.stream.write(run.memory.visits, rows)?;
            run.launch_all(Work::Logits, rows.len())
        })?;
        if let Some(evaluation) = &mut self.evaluation {
            evaluation.rows = rows.to_vec();
        }
        Ok(())
    }
}

impl Overlap for CudaRunner {
    fn start(&mut self, epoch: &Epoch<'_>, rows: &[u32]) -> Result<(), EngineError> {
        self.copy_for_evaluation()?;
        self.start_evaluation(rows)?;
        self.start_epoch(epoch)
    }

    fn logits_before(&mut self, rows: &[u32]) -> Result<Vec<f32>, EngineError> {
        if self.evaluation.as_ref().is_none_or(|evaluation| evaluation.rows != rows) {
            self.start_evaluation(rows)?;
        }
        let len = rows.len() * self.network.classes();
        let outputs = self.evaluating(|run| run.stream.read(run.memory.collected, len))?;
        Ok(self.network.head().class_logits(outputs))
    }

    fn keep_before(&mut self) -> Result<(), EngineError> {
        self.evaluating(|run| {
            run.keep()?;
            run.stream.stream.synchronize().map_err(driver)
        })
    }

    fn finish(&mut self) -> Result<f64, EngineError> {
        self.finish_epoch()
    }
}
