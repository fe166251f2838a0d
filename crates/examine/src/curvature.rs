//! How the loss curves around a run's weights: the Hessian of the mean of the loss that it was trained by
//! (the soft NLL, unless it was another) against the votes, batch statistics frozen, dropout off.
//!
//! λ_max is found by power iteration, by Lanczos, or both; the trace by Hutchinson's probes, whose
//! products also give the traces of blocks, or by Hutch++. Each estimate says how far off it may be,
//! how many products it took and whether it converged.

use std::time::Instant;

use dissensus_engine::device::Targets;
use dissensus_engine::{Loss, Precision};
use dissensus_geometry::GeometryError;
use dissensus_geometry::curvature::{
    Block, Density, DensitySettings, Estimate, Extremes, HutchSettings, LanczosSettings, Operator,
    Power, PowerSettings, TraceSettings, Traces, density, hutch_plus_plus, hutchinson, lanczos,
    power,
};
use dissensus_geometry::model::{Grouping, Hessian, blocks};
use serde::{Deserialize, Serialize};

use crate::cost::time;
use crate::{Cost, ExamineError, Model, ModelSettings, Observer, Slice};

/// The precision of curvature on a GPU that has it.
pub const GPU_PRECISION: Precision = Precision::Bf16x3;

/// What to ask of the curvature; what is `None` is not computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CurvatureSettings {
    /// Which part of the split; `None` for the one that is reported.
    pub part: Option<String>,
    /// Which of its items.
    pub slice: Slice,
    /// The eigenvalue of largest magnitude.
    pub power: Option<PowerSettings>,
    /// The largest and smallest eigenvalues.
    pub lanczos: Option<LanczosSettings>,
    /// The trace, by probes.
    pub trace: Option<TraceSettings>,
    /// The traces of blocks, from the same probes.
    pub blocks: Option<Grouping>,
    /// The trace, by a sketch and probes.
    pub hutch: Option<HutchSettings>,
    /// How eigenvalues are distributed.
    pub density: Option<DensitySettings>,
}

impl CurvatureSettings {
    /// The most Hessian products that it takes.
    pub fn most_products(&self) -> usize {
        self.power.map_or(0, |s| s.most)
            + self.lanczos.map_or(0, |s| s.most)
            + self.trace.map_or(0, |s| s.most)
            + self.hutch.map_or(0, |s| 2 * s.rank + s.most)
            + self.density.map_or(0, |s| s.probes * s.steps)
    }
}

impl Default for CurvatureSettings {
    fn default() -> Self {
        Self {
            part: None,
            slice: Slice::All,
            power: Some(PowerSettings::default()),
            lanczos: None,
            trace: Some(TraceSettings::default()),
            blocks: None,
            hutch: None,
            density: None,
        }
    }
}

/// The curvature of a loss at a run's weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curvature {
    pub run: String,
    pub settings: CurvatureSettings,
    /// How it was computed.
    pub model: ModelSettings,
    /// The part of the split.
    pub part: String,
    /// Items that the loss is the mean over.
    pub items: usize,
    /// Parameters of the network: rows of the Hessian.
    pub parameters: usize,
    /// The loss that it was trained by; not written where that is the softmax cross-entropy.
    #[serde(default, skip_serializing_if = "Loss::is_default")]
    pub trained_by: Loss,
    /// The loss there: the soft NLL in nats, unless it was trained by another.
    pub loss: f64,
    /// The length of its gradient.
    pub gradient_norm: f64,
    /// The eigenvalue of largest magnitude.
    pub power: Option<Power>,
    /// The largest and smallest eigenvalues.
    pub extremes: Option<Extremes>,
    /// The trace, those of blocks, and the sum of squares.
    pub traces: Option<Traces>,
    /// The trace by Hutch++.
    pub hutch: Option<Estimate>,
    /// How eigenvalues are distributed.
    pub density: Option<Density>,
    /// Products made, all together.
    pub products: usize,
}

impl Curvature {
    /// The largest eigenvalue: Lanczos's where it was asked for, else that of power iteration.
    /// `None` where power iteration ended at a negative one, which says nothing of the largest.
    pub fn lambda_max(&self) -> Option<Estimate> {
        let largest = self.extremes.as_ref().and_then(|extremes| extremes.largest.first());
        let top = self.power.as_ref().map(|power| power.top).filter(|top| top.value >= 0.0);
        largest.copied().or(top)
    }

    /// The smallest eigenvalue, where Lanczos looked for it.
    pub fn lambda_min(&self) -> Option<Estimate> {
        self.extremes.as_ref().and_then(|extremes| extremes.smallest.first()).copied()
    }

    /// The trace: that of Hutch++ where it was asked for, else Hutchinson's.
    pub fn trace(&self) -> Option<Estimate> {
        self.hutch.or(self.traces.as_ref().map(|traces| traces.trace))
    }
}

/// The curvature of the mean loss over a slice of a part.
pub fn curvature(
    model: &mut Model,
    settings: &CurvatureSettings,
    observer: &Observer<'_>,
) -> Result<Curvature, ExamineError> {
    curvature_among(model, settings, &mut Cost::default(), observer)
}

/// The same as one of several questions, which `cost` was told to expect: the observer is told what all of
/// them take.
pub fn curvature_among(
    model: &mut Model,
    settings: &CurvatureSettings,
    cost: &mut Cost,
    observer: &Observer<'_>,
) -> Result<Curvature, ExamineError> {
    let chosen = model.chosen(settings.part.as_deref(), settings.slice, 1)?;
    let (run, how) = (model.id().to_owned(), *model.settings());
    let trained_by = model.network().head().loss;
    let (runner, network, targets) = model.asked();
    let targets = Targets::Distributions(targets);
    let (loss, gradient) = runner.gradient(&chosen.rows, targets)?;
    let gradient_norm = gradient.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
    let blocks: Vec<Block> =
        settings.blocks.map_or(Vec::new(), |grouping| blocks(network, grouping));
    let parameters = network.parameter_count();
    let ahead = settings.most_products();
    cost.begin(network, chosen.rows.len(), ahead);
    let hessian = Hessian::new(runner, network, &chosen.rows, targets)?;
    let mut counted =
        Counted { hessian, what: "", done: 0, most: 0, products: 0, ahead, cost, observer };
    Ok(Curvature {
        power: settings
            .power
            .map(|s| power(counted.at("power iteration", s.most), &s))
            .transpose()?,
        extremes: settings
            .lanczos
            .map(|s| lanczos(counted.at("Lanczos", s.most), &s))
            .transpose()?,
        traces: settings
            .trace
            .map(|s| hutchinson(counted.at("trace", s.most), &blocks, &s))
            .transpose()?,
        hutch: settings
            .hutch
            .map(|s| hutch_plus_plus(counted.at("trace (Hutch++)", 2 * s.rank + s.most), &s))
            .transpose()?,
        density: settings
            .density
            .map(|s| density(counted.at("density", s.probes * s.steps), &s))
            .transpose()?,
        products: counted.products,
        run,
        settings: settings.clone(),
        model: how,
        part: chosen.part,
        items: chosen.rows.len(),
        parameters,
        trained_by,
        loss,
        gradient_norm,
    })
}

/// A Hessian whose products are counted and reported.
struct Counted<'a, 'o> {
    hessian: Hessian<'a>,
    what: &'static str,
    done: usize,
    most: usize,
    products: usize,
    /// The most products of the pieces of work after this one.
    ahead: usize,
    cost: &'o mut Cost,
    observer: &'o Observer<'o>,
}

impl Counted<'_, '_> {
    /// The next piece of work begins.
    fn at(&mut self, what: &'static str, most: usize) -> &mut Self {
        (self.what, self.done, self.most) = (what, 0, most);
        self.cost.leave(self.ahead);
        self.ahead -= most.min(self.ahead);
        self
    }
}

impl Operator for Counted<'_, '_> {
    type Number = f32;

    fn len(&self) -> usize {
        self.hessian.len()
    }

    fn apply(&mut self, vector: &[f32]) -> Result<Vec<f32>, GeometryError> {
        let start = Instant::now();
        let product = self.hessian.apply(vector)?;
        self.cost.made(start.elapsed().as_secs_f64());
        self.done += 1;
        self.products += 1;
        if let Some(line) = self.cost.line() {
            self.observer.note(&line);
        }
        let most = self.most.max(self.done);
        let left = self.cost.at_most();
        let left = left.map_or(String::new(), |left| format!("({} left at most)", time(left)));
        match self.observer.advanced_with(self.what, self.done, most, &left) {
            Err(_) => Err(GeometryError::Cancelled),
            Ok(()) => Ok(product),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_products_are_those_of_all_estimates() {
        let settings = CurvatureSettings::default();
        let (power, trace) = (PowerSettings::default(), TraceSettings::default());
        assert_eq!(settings.most_products(), power.most + trace.most);
    }
}
