//! How the loss curves around a run's weights: the Hessian of the mean soft NLL against the votes,
//! batch statistics frozen, dropout off.
//!
//! λ_max is found by power iteration, by Lanczos, or both; the trace by Hutchinson's probes, whose
//! products also give the traces of blocks, or by Hutch++. Each estimate says how far off it may be,
//! how many products it took and whether it converged.

use std::time::Instant;

use dissensus_engine::Precision;
use dissensus_engine::device::Targets;
use dissensus_geometry::GeometryError;
use dissensus_geometry::curvature::{
    Block, Density, DensitySettings, Estimate, Extremes, HutchSettings, LanczosSettings, Operator,
    Power, PowerSettings, TraceSettings, Traces, density, hutch_plus_plus, hutchinson, lanczos,
    power,
};
use dissensus_geometry::model::{Grouping, Hessian, blocks};
use serde::{Deserialize, Serialize};

use crate::{ExamineError, Model, ModelSettings, Observer, Slice};

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
    /// The run.
    pub run: String,
    /// What was asked.
    pub settings: CurvatureSettings,
    /// How it was computed.
    pub model: ModelSettings,
    /// The part of the split.
    pub part: String,
    /// Items that the loss is the mean over.
    pub items: usize,
    /// Parameters of the network: rows of the Hessian.
    pub parameters: usize,
    /// The loss there, in nats.
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
    let chosen = model.chosen(settings.part.as_deref(), settings.slice, 1)?;
    let (run, how) = (model.id().to_owned(), *model.settings());
    let (runner, network, targets) = model.asked();
    let targets = Targets::Distributions(targets);
    let (loss, gradient) = runner.gradient(&chosen.rows, targets)?;
    let gradient_norm = gradient.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
    let blocks: Vec<Block> =
        settings.blocks.map_or(Vec::new(), |grouping| blocks(network, grouping));
    let parameters = network.parameter_count();
    let hessian = Hessian::new(runner, network, &chosen.rows, targets)?;
    let mut counted = Counted {
        hessian,
        what: "",
        done: 0,
        most: 0,
        products: 0,
        in_all: settings.most_products(),
        seconds: Vec::new(),
        observer,
    };
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
    /// The most products of all pieces of work.
    in_all: usize,
    /// How long each product took.
    seconds: Vec<f64>,
    observer: &'o Observer<'o>,
}

impl Counted<'_, '_> {
    /// The next piece of work begins.
    fn at(&mut self, what: &'static str, most: usize) -> &mut Self {
        (self.what, self.done, self.most) = (what, 0, most);
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
        self.seconds.push(start.elapsed().as_secs_f64());
        self.done += 1;
        self.products += 1;
        let most = self.most.max(self.done);
        let cost = cost(&self.seconds, self.in_all).unwrap_or_default();
        match self.observer.advanced_with(self.what, self.done, most, &cost) {
            Err(_) => Err(GeometryError::Cancelled),
            Ok(()) => Ok(product),
        }
    }
}

/// What so many products cost, from the time of those that were made. The first also prepares the
/// device and keeps what the others share, so it is counted once.
fn cost(seconds: &[f64], most: usize) -> Option<String> {
    let (first, others) = seconds.split_first().filter(|(_, others)| !others.is_empty())?;
    let mean = others.iter().sum::<f64>() / others.len() as f64;
    let all = first + mean * most.saturating_sub(1) as f64;
    Some(format!("(this run: at most {all:.0} s)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_known_from_the_second_product_on() {
        assert_eq!(cost(&[], 300), None);
        assert_eq!(cost(&[9.0], 300), None);
        assert_eq!(cost(&[9.0, 0.25, 0.35], 301).as_deref(), Some("(this run: at most 99 s)"));
        let settings = CurvatureSettings::default();
        let (power, trace) = (PowerSettings::default(), TraceSettings::default());
        assert_eq!(settings.most_products(), power.most + trace.most);
    }
}
