//! The CPU as a device that evaluates beside training: the weights from before an epoch are evaluated
//! after it, by a runner of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use dissensus_engine::device::Targets;
use dissensus_engine::{
    Cpu, Dataset, Device, EngineError, Epoch, Head, Maps, Network, Overlap, Runner, Settings,
    State, Weights,
};

pub(crate) struct Overlapping {
    pub(crate) count: &'static AtomicUsize,
}

impl Device for Overlapping {
    fn describe(&self) -> String {
        Cpu.describe()
    }

    fn runner(
        &self,
        network: &Arc<Network>,
        data: &Dataset,
        settings: &Settings,
        state: State<f32>,
    ) -> Result<Box<dyn Runner>, EngineError> {
        let runner = || Cpu.runner(network, data, settings, state.clone());
        let (own, before) = (runner()?, runner()?);
        Ok(Box::new(Both { own, before, kept_before: false, loss: None, count: self.count }))
    }
}

struct Both {
    own: Box<dyn Runner>,
    /// Has the weights from before the epoch.
    before: Box<dyn Runner>,
    /// Which of the two has the weights that were last kept.
    kept_before: bool,
    /// The loss of the epoch that was started.
    loss: Option<f64>,
    count: &'static AtomicUsize,
}

impl Both {
    /// Nothing else is asked while an epoch is trained.
    fn idle(&mut self) -> &mut dyn Runner {
        assert!(self.loss.is_none(), "an epoch is not finished");
        &mut *self.own
    }
}

impl Runner for Both {
    fn train(&mut self, epoch: &Epoch<'_>) -> Result<f64, EngineError> {
        self.idle().train(epoch)
    }

    fn head(&self) -> Head {
        self.own.head()
    }

    fn outputs(&mut self, rows: &[u32]) -> Result<Vec<f32>, EngineError> {
        self.idle().outputs(rows)
    }

    fn features(&mut self, rows: &[u32]) -> Result<Vec<f32>, EngineError> {
        self.idle().features(rows)
    }

    fn maps(&mut self, rows: &[u32]) -> Result<Maps, EngineError> {
        self.idle().maps(rows)
    }

    fn input_gradient(
        &mut self,
        rows: &[u32],
        targets: Targets<'_>,
    ) -> Result<Vec<f32>, EngineError> {
        self.idle().input_gradient(rows, targets)
    }

    fn perturbed(
        &mut self,
        rows: &[u32],
        temperature: f64,
        epsilon: f64,
    ) -> Result<Vec<f32>, EngineError> {
        self.idle().perturbed(rows, temperature, epsilon)
    }

    fn refresh(&mut self, rows: &[u32], batch: usize) -> Result<(), EngineError> {
        self.idle().refresh(rows, batch)
    }

    fn gradient(
        &mut self,
        rows: &[u32],
        targets: Targets<'_>,
    ) -> Result<(f64, Vec<f32>), EngineError> {
        self.idle().gradient(rows, targets)
    }

    fn hessian_product(
        &mut self,
        rows: &[u32],
        targets: Targets<'_>,
        direction: &[f32],
    ) -> Result<Vec<f32>, EngineError> {
        self.idle().hessian_product(rows, targets, direction)
    }

    fn state(&self) -> Result<State<f32>, EngineError> {
        assert!(self.loss.is_none(), "an epoch is not finished");
        self.own.state()
    }

    fn restore(&mut self, state: State<f32>) -> Result<(), EngineError> {
        self.idle().restore(state)
    }

    fn keep(&mut self) -> Result<(), EngineError> {
        self.kept_before = false;
        self.idle().keep()
    }

    fn kept(&self) -> Result<Option<Weights>, EngineError> {
        if self.kept_before { self.before.kept() } else { self.own.kept() }
    }

    fn bytes(&self) -> usize {
        self.own.bytes() + self.before.bytes()
    }

    fn overlap(&mut self) -> Option<&mut dyn Overlap> {
        Some(self)
    }
}

impl Overlap for Both {
    fn start(&mut self, epoch: &Epoch<'_>, _: &[u32]) -> Result<(), EngineError> {
        let state = self.idle().state()?;
        self.before.restore(state)?;
        self.loss = Some(self.own.train(epoch)?);
        self.count.fetch_add(1, Relaxed);
        Ok(())
    }

    fn logits_before(&mut self, rows: &[u32]) -> Result<Vec<f32>, EngineError> {
        assert!(self.loss.is_some(), "no epoch was started");
        self.before.logits(rows)
    }

    fn keep_before(&mut self) -> Result<(), EngineError> {
        assert!(self.loss.is_some(), "no epoch was started");
        self.kept_before = true;
        self.before.keep()
    }

    fn finish(&mut self) -> Result<f64, EngineError> {
        self.loss.take().ok_or_else(|| EngineError::Data("no epoch was started".into()))
    }
}
