//! Which sizes of convolutions are done by kernels of ours on a GPU, and which by cuDNN: what trains faster there.

use std::sync::Arc;
use std::time::Duration;

use dissensus_core::philox::Stream;

use super::Hopper;
use crate::cuda::Cuda;
use crate::cuda::lanes::together;
use crate::cuda::runner::CudaRunner;
use crate::device::{Dataset, Epoch, Mode, Precision, Runner, Settings, State, Targets};
use crate::error::EngineError;
use crate::models::Model;
use crate::optimizer::Optimizer;

/// The sizes, by what their kernels' names begin with.
const NAMES: [&str; 8] = [
    "stem",
    "conv_64",
    "conv_128",
    "conv_256",
    "conv_512",
    "stride_128",
    "stride_256",
    "stride_512",
];

/// A size is left to cuDNN where training is so many times as fast without kernels of ours for it.
const GAIN: f64 = 1.02;

/// What is timed: a ResNet-18 at this batch size, for how long each time.
const BATCH: usize = 128;
const BATCHES: usize = 16;
const MEASURED: Duration = Duration::from_millis(300);

/// Some of the sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used([bool; NAMES.len()]);

impl Used {
    pub(super) const ALL: Self = Self([true; NAMES.len()]);

    /// Where training with each size is so many times as fast as without it.
    fn of(times: [f64; NAMES.len()]) -> Self {
        Self(times.map(|times| times * GAIN > 1.0))
    }

    pub(super) fn any(self) -> bool {
        self.0.contains(&true)
    }

    fn without(mut self, at: usize) -> Self {
        self.0[at] = false;
        self
    }

    pub(super) fn has(self, name: &str) -> bool {
        NAMES.iter().zip(self.0).any(|(&known, used)| used && known == name)
    }
}

impl Cuda {
    /// The kernels, of which those of some sizes are used on this GPU. What is not known of it is measured, and
    /// remembered like cuDNN's engines: other kernels round differently, and a run has the same bits tomorrow.
    pub(in crate::cuda) fn chosen(&self, all: Hopper) -> Result<Hopper, EngineError> {
        let times = match self.plans.ours(NAMES) {
            Some(times) => times,
            None => {
                let times = self.times_as_fast(&all)?;
                for (name, times) in NAMES.into_iter().zip(times) {
                    self.plans.remember_ours(name, times);
                }
                times
            }
        };
        Ok(Hopper { used: Used::of(times), ..all })
    }

    /// How many times as fast training is with the kernels of each size as without them, all others in use.
    fn times_as_fast(&self, all: &Hopper) -> Result<[f64; NAMES.len()], EngineError> {
        let mut noise = Stream::new([0, 0], [0, 0, 0]);
        let data = Dataset::Images {
            height: 32,
            width: 32,
            channels: 3,
            pixels: (0..BATCH * BATCHES * 3072).map(|_| noise.word() as u8).collect(),
            mean: vec![0.5; 3],
            deviation: vec![0.25; 3],
        };
        let network = Arc::new(Model::named("resnet18")?.network(data.shape(), 10)?);
        let optimizer = Optimizer::Sgd { momentum: 0.9, nesterov: false, weight_decay: 5e-4 };
        let settings = Settings { precision: Precision::Bf16, batch: BATCH, optimizer, threads: 1 };
        let visits: Vec<u32> = (0..data.len() as u32).collect();
        let labels: Vec<u16> = visits.iter().map(|row| (row % 10) as u16).collect();
        let epoch = Epoch {
            number: 0,
            seed: 0,
            visits: &visits,
            batch: BATCH,
            rate: 1e-3,
            samples: Targets::Classes(&labels).into(),
            shifts: None,
            mixture: None,
            mode: Mode::Train,
        };
        let rate = |used: Used| {
            let ours = Hopper { used, ..all.clone() };
            let mut runners: Vec<Box<dyn Runner>> = Vec::new();
            // So many train at a time.
            for lane in 0..if self.shared { 2 } else { 1 } {
                let state = State::fresh(&network, &optimizer, lane);
                let trial = Some(&ours);
                let runner = CudaRunner::new(self, (&network, &data), &settings, state, trial)?;
                runners.push(Box::new(runner));
                // The first epoch captures.
                runners[lane as usize].train(&epoch)?;
            }
            together(&mut runners, &epoch, MEASURED)
        };
        let first = rate(Used::ALL)?;
        let mut without = [0.0; NAMES.len()];
        for (at, rate_without) in without.iter_mut().enumerate() {
            *rate_without = rate(Used::ALL.without(at))?;
        }
        let with = f64::midpoint(first, rate(Used::ALL)?);
        // As many digits as are written, so that the choice is the same tomorrow.
        Ok(without.map(|without| (1e3 * with / without).round() / 1e3))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SIZES, Stem, Strided};
    use super::*;

    #[test]
    fn every_size_has_a_name() {
        let names: Vec<String> = SIZES
            .iter()
            .map(super::super::Size::name)
            .chain(Strided::ALL.iter().map(Strided::name))
            .chain([Stem::NAME.to_owned()])
            .collect();
        assert!(names.iter().all(|name| Used::ALL.has(name)));
        assert_eq!(names.len(), NAMES.len());
        assert!(!Used::ALL.has("conv_96"));
    }

    #[test]
    fn what_is_slower_is_left_to_cudnn() {
        let mut times = [1.1; NAMES.len()];
        times[1] = 0.9;
        // As fast but for what a measurement is off.
        times[2] = 0.99;
        let used = Used::of(times);
        assert_eq!(used, Used::ALL.without(1));
        assert!(!used.has("conv_64") && used.has("conv_128") && used.has("stem"));
    }
}
