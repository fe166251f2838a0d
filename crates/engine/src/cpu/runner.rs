//! One run on the CPU.

mod probe;

use std::sync::Arc;

pub use probe::Probe;

use crate::device::{
    Dataset, Epoch, Maps, Mode, Precision, Runner, Settings, Shift, State, Targets, Weights,
    check_perturbation, check_refresh, check_rows,
};
use crate::error::EngineError;
use crate::head::Head;
use crate::network::{Network, NodeId};
use crate::random::Moment;
use crate::scalar::Real;

use super::batch::{Examples, Source, targets};
use super::frame::Frame;
use super::kernels::optimizer::Update;
use super::kernels::predicted_class::predicted_class_gradient;
use super::passes::{Passes, Reach};
use super::team::Team;

/// A run on the CPU, in f32 to train and in f64 to check.
pub struct CpuRunner<F: Real> {
    network: Arc<Network>,
    examples: Examples<F>,
    settings: Settings,
    team: Team,
    state: State<F>,
    kept: Option<Weights<F>>,
    passes: Passes<F>,
    gradient: Vec<F>,
    targets: Vec<F>,
}

impl<F: Real> CpuRunner<F> {
    /// A run of `network` over `data`, from `state`.
    pub fn new(
        network: &Arc<Network>,
        data: &Dataset,
        settings: &Settings,
        state: State<F>,
    ) -> Result<Self, EngineError> {
        data.check(network)?;
        state.check(network, &settings.optimizer)?;
        if settings.precision != Precision::F32 {
            let text = format!("the CPU computes in f32, not {:?}", settings.precision);
            return Err(EngineError::Device(text));
        }
        if settings.batch == 0 {
            return Err(EngineError::Data("a batch of 0 examples".into()));
        }
        Ok(Self {
            examples: Examples::new(data),
            team: Team::new(settings.threads)?,
            passes: Passes::new(network, settings.batch),
            gradient: vec![F::ZERO; network.parameter_count()],
            targets: Vec::new(),
            kept: None,
            network: network.clone(),
            settings: settings.clone(),
            state,
        })
    }

    /// The state as it is.
    pub fn current(&self) -> &State<F> {
        &self.state
    }

    fn check_epoch(&self, epoch: &Epoch<'_>) -> Result<(), EngineError> {
        let refuse = |text: String| Err(EngineError::Data(text));
        let visits = epoch.visits.len();
        if epoch.batch == 0 || epoch.batch > self.settings.batch {
            return refuse(format!(
                "a batch of {}, in a runner for up to {}",
                epoch.batch, self.settings.batch
            ));
        }
        if epoch.shifts.is_some_and(|shifts| shifts.len() != visits) {
            return refuse(format!("{visits} visits, but another number of shifts"));
        }
        if let Some(mixture) = epoch.mixture {
            let batches = visits.div_ceil(epoch.batch);
            if mixture.lambda.len() != batches || mixture.partner.len() != visits {
                return refuse(format!("a mixture that is not of {visits} visits"));
            }
            for (partners, visits) in
                mixture.partner.chunks(epoch.batch).zip(epoch.visits.chunks(epoch.batch))
            {
                if partners.iter().any(|&partner| partner as usize >= visits.len()) {
                    return refuse("a mixing partner outside of its batch".into());
                }
            }
        }
        epoch.samples.check(epoch.visits, self.examples.len(), self.network.classes())
    }

    fn check_rows(&self, rows: &[u32], targets: Targets<'_>) -> Result<(), EngineError> {
        check_rows(rows, self.examples.len())?;
        targets.check(rows, self.examples.len(), self.network.classes())
    }

    /// Runs `rows` forward, batch by batch, and calls `with` after each. No mode changes the
    /// statistics here; dropout is that of batch 0 of epoch 0.
    fn each_batch(
        &mut self,
        rows: &[u32],
        mode: Mode,
        mut with: impl FnMut(&mut Passes<F>, &Team, &mut State<F>, &[u32]) + Send,
    ) -> Result<(), EngineError> {
        check_rows(rows, self.examples.len())?;
        let Self { examples, team, state, passes, .. } = self;
        let team = &*team;
        let statistics = state.statistics.clone();
        team.install(|| {
            for rows in rows.chunks(passes.batch()) {
                let of = |place: usize| Source { row: rows[place], shift: Shift::default() };
                let frame = passes.input_frame();
                examples.fill(team, frame, rows.len(), of, None, passes.input());
                let (w, statistics) = (&state.parameters, &mut state.statistics);
                let moment = Moment::default();
                passes.forward(team, rows.len(), mode, moment, w, statistics);
                with(passes, team, state, rows);
            }
        });
        state.statistics = statistics;
        Ok(())
    }

    /// The output of a node for these rows: the inside of maps, row by row.
    pub fn values(&mut self, node: NodeId, rows: &[u32]) -> Result<Vec<F>, EngineError> {
        let shape = self.network.nodes().get(node).map(|node| node.shape);
        let Some(shape) = shape else {
            return Err(EngineError::Data(format!("there is no node {node}")));
        };
        if !self.passes.has_value(node) {
            let text = format!("node {node} is computed together with the one after it");
            return Err(EngineError::Data(text));
        }
        let frame = Frame::new(shape);
        let mut out = Vec::with_capacity(rows.len() * shape.len());
        self.each_batch(rows, Mode::Eval, |passes, _, _, rows| {
            inside(frame, passes.value(node, rows.len()), &mut out);
        })?;
        Ok(out)
    }

    /// The mean loss over these rows and its gradient in the parameters. In [`Mode::Train`] every
    /// batch has its own statistics.
    pub fn mean_gradient(
        &mut self,
        rows: &[u32],
        goals: Targets<'_>,
        mode: Mode,
    ) -> Result<(f64, Vec<F>), EngineError> {
        self.check_rows(rows, goals)?;
        let (classes, of) = (self.network.classes(), rows.len());
        let mut gradient = vec![F::ZERO; self.network.parameter_count()];
        let (mut total, mut batch) = (0.0, Vec::new());
        self.each_batch(rows, mode, |passes, team, state, rows| {
            targets(goals, classes, rows.len(), |at| rows[at] as usize, None, &mut batch);
            total += passes.loss(rows.len(), &batch, of).wide();
            let w = &mut state.parameters;
            passes.backward(team, rows.len(), Reach::Parameters, w, &mut gradient, None);
        })?;
        Ok((total, gradient))
    }

    /// The Hessian of that mean loss times `direction`.
    pub fn product(
        &mut self,
        rows: &[u32],
        goals: Targets<'_>,
        mode: Mode,
        direction: &[F],
    ) -> Result<Vec<F>, EngineError> {
        self.check_rows(rows, goals)?;
        self.check_length("a direction", direction)?;
        let (classes, of) = (self.network.classes(), rows.len());
        let mut product = vec![F::ZERO; direction.len()];
        let mut batch = Vec::new();
        self.each_batch(rows, mode, |passes, team, state, rows| {
            targets(goals, classes, rows.len(), |at| rows[at] as usize, None, &mut batch);
            let (count, w) = (rows.len(), &state.parameters);
            passes.loss(count, &batch, of);
            passes.tangent(team, count, w, direction);
            passes.loss_tangent(count, of);
            passes.backward_tangent(team, count, w, direction, &mut product);
        })?;
        Ok(product)
    }

    fn check_length(&self, what: &str, vector: &[F]) -> Result<(), EngineError> {
        let (found, wanted) = (vector.len(), self.network.parameter_count());
        if found != wanted {
            let text = format!("{what} of {found} numbers for {wanted} parameters");
            return Err(EngineError::Data(text));
        }
        Ok(())
    }
}

/// Adds the inside of every example of a buffer to `out`.
fn inside<F: Real>(frame: Frame, buffer: &[F], out: &mut Vec<F>) {
    for example in buffer.chunks_exact(frame.stride().max(1)) {
        frame.rows().for_each(|row| out.extend_from_slice(&example[row]));
    }
}

impl<F: Real> Runner<F> for CpuRunner<F> {
    fn train(&mut self, epoch: &Epoch<'_>) -> Result<f64, EngineError> {
        self.check_epoch(epoch)?;
        let classes = self.network.classes();
        let Self { examples, settings, team, state, passes, gradient, targets: goals, .. } = self;
        let team = &*team;
        team.install(|| {
            let mut total = 0.0;
            for (number, visits) in epoch.visits.chunks(epoch.batch).enumerate() {
                let (first, count) = (number * epoch.batch, visits.len());
                let moment = Moment { seed: epoch.seed, epoch: epoch.number, batch: number as u64 };
                let of = |place: usize| Source {
                    row: epoch.samples.row(visits[place]),
                    shift: epoch.shifts.map_or(Shift::default(), |shifts| shifts[first + place]),
                };
                let mixture = epoch.mixture.map(|mixture| {
                    (F::of(mixture.lambda[number]), &mixture.partner[first..first + count])
                });
                let frame = passes.input_frame();
                examples.fill(team, frame, count, of, mixture, passes.input());
                let sample = |place: usize| visits[place] as usize;
                targets(epoch.samples.targets, classes, count, sample, mixture, goals);
                let (w, statistics) = (&mut state.parameters, &mut state.statistics);
                passes.forward(team, count, epoch.mode, moment, w, statistics);
                total += passes.loss(count, goals, count).wide() * count as f64;
                state.steps += 1;
                let (optimizer, slots) = (&settings.optimizer, &mut state.slots[..]);
                let mut update = Update::new(optimizer, epoch.rate, state.steps, slots);
                let on_the_way = Some(&mut update);
                passes.backward(team, count, Reach::Parameters, w, gradient, on_the_way);
                update.finish(team, w, gradient);
            }
            Ok(total / epoch.visits.len().max(1) as f64)
        })
    }

    fn head(&self) -> Head {
        self.network.head()
    }

    fn outputs(&mut self, rows: &[u32]) -> Result<Vec<F>, EngineError> {
        let mut out = Vec::with_capacity(rows.len() * self.network.classes());
        self.each_batch(rows, Mode::Eval, |passes, _, _, rows| {
            out.extend_from_slice(passes.logits(rows.len()));
        })?;
        Ok(out)
    }

    fn features(&mut self, rows: &[u32]) -> Result<Vec<F>, EngineError> {
        self.values(self.network.features(), rows)
    }

    fn maps(&mut self, rows: &[u32]) -> Result<Maps<F>, EngineError> {
        let values = self.values(self.network.last_map()?, rows)?;
        Maps::of(&self.network, values)
    }

    fn input_gradient(&mut self, rows: &[u32], goals: Targets<'_>) -> Result<Vec<F>, EngineError> {
        self.check_rows(rows, goals)?;
        let (classes, frame) = (self.network.classes(), self.passes.input_frame());
        let mut out = Vec::with_capacity(rows.len() * self.network.input().len());
        let mut unused = vec![F::ZERO; self.network.parameter_count()];
        let mut batch = Vec::new();
        self.each_batch(rows, Mode::Eval, |passes, team, state, rows| {
            targets(goals, classes, rows.len(), |at| rows[at] as usize, None, &mut batch);
            passes.loss(rows.len(), &batch, 1);
            let w = &mut state.parameters;
            passes.backward(team, rows.len(), Reach::Examples, w, &mut unused, None);
            inside(frame, passes.input_gradient(rows.len()), &mut out);
        })?;
        Ok(out)
    }

    fn perturbed(
        &mut self,
        rows: &[u32],
        temperature: f64,
        epsilon: f64,
    ) -> Result<Vec<F>, EngineError> {
        check_perturbation(self.head(), temperature, epsilon)?;
        let classes = self.network.classes();
        let mut out = Vec::with_capacity(rows.len() * classes);
        let mut unused = vec![F::ZERO; self.network.parameter_count()];
        let mut slopes = Vec::new();
        self.each_batch(rows, Mode::Eval, |passes, team, state, rows| {
            let count = rows.len();
            slopes.clear();
            for z in passes.logits(count).chunks_exact(classes.max(1)) {
                predicted_class_gradient(z, temperature, &mut slopes);
            }
            passes.seed_gradient(&slopes);
            let (w, statistics) = (&mut state.parameters, &mut state.statistics);
            passes.backward(team, count, Reach::Examples, w, &mut unused, None);
            passes.perturb(count, F::of(epsilon));
            passes.forward(team, count, Mode::Eval, Moment::default(), w, statistics);
            out.extend_from_slice(passes.logits(count));
        })?;
        Ok(out)
    }

    fn refresh(&mut self, rows: &[u32], batch: usize) -> Result<(), EngineError> {
        check_refresh(rows, self.examples.len(), batch, self.settings.batch)?;
        let Self { examples, team, state, passes, .. } = self;
        let team = &*team;
        team.install(|| {
            for (number, rows) in rows.chunks(batch).enumerate() {
                let of = |place: usize| Source { row: rows[place], shift: Shift::default() };
                let frame = passes.input_frame();
                examples.fill(team, frame, rows.len(), of, None, passes.input());
                // The first batch takes the place of what was there; the n-th is an n-th of the mean.
                passes.set_momentum(Some(1.0 / (number + 1) as f64));
                let moment = Moment { batch: number as u64, ..Moment::default() };
                let (w, statistics) = (&state.parameters, &mut state.statistics);
                passes.forward(team, rows.len(), Mode::Train, moment, w, statistics);
            }
            passes.set_momentum(None);
        });
        Ok(())
    }

    fn gradient(
        &mut self,
        rows: &[u32],
        targets: Targets<'_>,
    ) -> Result<(f64, Vec<F>), EngineError> {
        self.mean_gradient(rows, targets, Mode::Eval)
    }

    fn hessian_product(
        &mut self,
        rows: &[u32],
        targets: Targets<'_>,
        direction: &[F],
    ) -> Result<Vec<F>, EngineError> {
        self.product(rows, targets, Mode::Eval, direction)
    }

    fn state(&self) -> Result<State<F>, EngineError> {
        Ok(self.state.clone())
    }

    fn restore(&mut self, state: State<F>) -> Result<(), EngineError> {
        state.check(&self.network, &self.settings.optimizer)?;
        self.state = state;
        Ok(())
    }

    fn keep(&mut self) -> Result<(), EngineError> {
        let (parameters, statistics) =
            (self.state.parameters.clone(), self.state.statistics.clone());
        self.kept = Some(Weights { parameters, statistics });
        Ok(())
    }

    fn kept(&self) -> Result<Option<Weights<F>>, EngineError> {
        Ok(self.kept.clone())
    }

    fn bytes(&self) -> usize {
        let slots: usize = self.state.slots.iter().map(Vec::len).sum();
        let kept =
            self.kept.as_ref().map_or(0, |kept| kept.parameters.len() + kept.statistics.len());
        let numbers = self.state.parameters.len() + self.state.statistics.len() + slots + kept;
        self.passes.bytes() + (numbers + self.gradient.len()) * size_of::<F>()
    }
}
