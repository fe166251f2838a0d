//! What a run on the GPU answers to those who know devices, not this one.

use std::sync::Arc;

use super::super::launch::DeviceSlice;
use super::backward::Reach;
use super::{CudaRunner, Evaluation, MOMENTUM, NormSource, Work, driver};
use crate::device::{
    Epoch, Maps, Mode, Overlap, Runner, Shift, State, Targets, Weights, check_perturbation,
    check_refresh, check_rows,
};
use crate::error::EngineError;
use crate::head::Head;
use crate::optimizer::Optimizer;

impl Runner for CudaRunner {
    fn draws(&self) -> bool {
        true
    }

    fn train(&mut self, epoch: &Epoch<'_>) -> Result<f64, EngineError> {
        self.start_epoch(epoch)?;
        self.finish_epoch()
    }

    fn head(&self) -> Head {
        self.network.head()
    }

    fn outputs(&mut self, rows: &[u32]) -> Result<Vec<f32>, EngineError> {
        self.collect(Work::Logits, rows, self.network.classes())
    }

    fn features(&mut self, rows: &[u32]) -> Result<Vec<f32>, EngineError> {
        let width = self.network.nodes()[self.network.features()].shape.len();
        self.collect(Work::Features, rows, width)
    }

    fn maps(&mut self, rows: &[u32]) -> Result<Maps, EngineError> {
        let node = self.network.last_map()?;
        let values = self.gathered(rows, node, |run, count| {
            run.examples(Work::Logits, count)?;
            run.forward(run.steps.len(), count, Mode::Eval)?;
            Ok(run.value(node))
        })?;
        Maps::of(&self.network, values)
    }

    fn input_gradient(
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

    fn perturbed(
        &mut self,
        rows: &[u32],
        temperature: f64,
        epsilon: f64,
    ) -> Result<Vec<f32>, EngineError> {
        check_perturbation(self.network.head(), temperature, epsilon)?;
        self.stream.write(self.memory.moves, &[temperature, epsilon].map(|x| x as f32))?;
        self.collect(Work::Perturbed, rows, self.network.classes())
    }

    fn refresh(&mut self, rows: &[u32], batch: usize) -> Result<(), EngineError> {
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
        self.stream.stream.synchronize().map_err(driver)
    }

    fn gradient(
        &mut self,
        rows: &[u32],
        targets: Targets<'_>,
    ) -> Result<(f64, Vec<f32>), EngineError> {
        self.mean_gradient(rows, targets)
    }

    fn hessian_product(
        &mut self,
        rows: &[u32],
        targets: Targets<'_>,
        direction: &[f32],
    ) -> Result<Vec<f32>, EngineError> {
        self.product(rows, targets, direction)
    }

    fn state(&self) -> Result<State<f32>, EngineError> {
        let host = |from: DeviceSlice<f32>| -> Result<Vec<f32>, EngineError> {
            Ok(self.places.to_host(&self.stream.read(from, self.places.len)?))
        };
        let m = &self.memory;
        Ok(State {
            parameters: host(m.weights)?,
            statistics: self.stream.read(m.statistics, self.network.statistic_count())?,
            slots: m.slots.iter().map(|&slot| host(slot)).collect::<Result<_, _>>()?,
            steps: self.step_count,
        })
    }

    fn restore(&mut self, state: State<f32>) -> Result<(), EngineError> {
        state.check(&self.network, &self.settings.optimizer)?;
        self.put(&state)
    }

    fn keep(&mut self) -> Result<(), EngineError> {
        let m = &self.memory;
        self.stream.copy(m.weights, m.kept[0])?;
        self.stream.copy(m.statistics, m.kept[1])?;
        self.kept = true;
        Ok(())
    }

    fn kept(&self) -> Result<Option<Weights>, EngineError> {
        if !self.kept {
            return Ok(None);
        }
        let parameters = self.stream.read(self.memory.kept[0], self.places.len)?;
        let statistics = self.stream.read(self.memory.kept[1], self.network.statistic_count())?;
        Ok(Some(Weights { parameters: self.places.to_host(&parameters), statistics }))
    }

    fn bytes(&self) -> usize {
        let evaluation = self.evaluation.as_ref().map_or(0, Evaluation::bytes);
        self.stream.bytes() + self.curvature.bytes() + evaluation
    }

    fn overlap(&mut self) -> Option<&mut dyn Overlap> {
        self.can_evaluate_beside().then_some(self)
    }
}

impl CudaRunner {
    /// Starts all batches of an epoch.
    pub(super) fn start_epoch(&mut self, epoch: &Epoch<'_>) -> Result<(), EngineError> {
        if epoch.batch == 0 || epoch.batch > self.settings.batch {
            return Err(EngineError::Data(format!(
                "a batch of {}, in a runner for {}",
                epoch.batch, self.settings.batch
            )));
        }
        if epoch.samples.rows.is_some() {
            let text = "a GPU trains on every example once per epoch, not on a sample per vote; train \
                        this run on the CPU";
            return Err(EngineError::Device(text.to_owned()));
        }
        check_rows(epoch.visits, self.rows)?;
        if epoch.visits.len() > self.rows {
            let text = format!("{} visits to {} examples", epoch.visits.len(), self.rows);
            return Err(EngineError::Data(text));
        }
        let soft = self.targets(epoch.samples.targets, epoch.visits)?;
        let m = &self.memory;
        self.stream.write(m.visits, epoch.visits)?;
        if let Some(shifts) = epoch.shifts {
            let word = |s: &Shift| [s.down as u8, s.right as u8, u8::from(s.flip), 0];
            self.stream.write(m.shifts, &shifts.iter().map(word).collect::<Vec<_>>())?;
        }
        if let Some(mixture) = epoch.mixture {
            let lambda: Vec<f32> = mixture.lambda.iter().map(|&l| l as f32).collect();
            self.stream.write(m.lambda, &lambda)?;
            self.stream.write(m.partner, mixture.partner)?;
        }
        if let Optimizer::Sgd { momentum, weight_decay, .. } = self.settings.optimizer {
            let by = [epoch.rate, momentum, weight_decay].map(|x| x as f32);
            self.stream.write(m.by, &by)?;
        }
        self.stream.write(m.rate, &[epoch.rate as f32])?;
        self.stream.write(m.epoch, &[epoch.number, epoch.seed])?;
        let work = Work::Train {
            batch: epoch.batch,
            norms: match epoch.mode {
                Mode::Train => NormSource::Batch,
                _ => NormSource::Running,
            },
            shifted: epoch.shifts.is_some(),
            mixed: epoch.mixture.is_some(),
            soft,
            // The device and this run know of it; any other is another run.
            beside: Arc::strong_count(&self.runs) <= 2,
        };
        self.version += 1;
        self.prepare_all(work, epoch.visits.len())?;
        // Kernels of cuDNN are often too small for that.
        self.turn = self.hopper.is_some().then(|| self.turns.take());
        let started = self.launch_all(work, epoch.visits.len());
        if started.is_err() {
            self.turn = None;
        }
        started?;
        self.step_count += epoch.visits.len().div_ceil(epoch.batch) as u64;
        self.started = Some(epoch.visits.len());
        Ok(())
    }

    /// The mean loss of the epoch that was started, once it is over.
    pub(super) fn finish_epoch(&mut self) -> Result<f64, EngineError> {
        match self.started.take() {
            Some(visits) => {
                let loss = self.mean_loss(visits);
                self.turn = None;
                loss
            }
            None => Err(EngineError::Data("no epoch was started".into())),
        }
    }
}
