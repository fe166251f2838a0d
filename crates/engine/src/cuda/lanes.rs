//! How many runs at a time a GPU does best: measured, by running them.

use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use super::Cuda;
use crate::device::{Dataset, Device, Epoch, Mode, Runner, Settings, State, Targets};
use crate::error::EngineError;
use crate::network::Network;

/// How long a number of lanes is measured.
const MEASURED: Duration = Duration::from_millis(400);
/// More lanes have to bring this much.
const GAIN: f64 = 1.02;

impl Cuda {
    /// Trains 1, 2, … up to `most` made-up runs at a time, until one more brings nothing; the number
    /// that did best. `seen` is told every number and its examples per second.
    pub(super) fn measure_lanes(
        &self,
        network: &Arc<Network>,
        data: &Dataset,
        settings: &Settings,
        most: usize,
        seen: &mut dyn FnMut(usize, f64),
    ) -> Result<usize, EngineError> {
        let rows = data.len().min(settings.batch * 16).max(1);
        let visits: Vec<u32> = (0..rows as u32).collect();
        let labels: Vec<u16> =
            (0..data.len()).map(|row| (row % network.classes().max(1)) as u16).collect();
        let epoch = Epoch {
            number: 0,
            seed: 0,
            visits: &visits,
            batch: settings.batch,
            rate: 1e-3,
            samples: Targets::Classes(&labels).into(),
            shifts: None,
            mixture: None,
            mode: Mode::Train,
        };
        let mut runners: Vec<Box<dyn Runner>> = Vec::new();
        let mut best = (1, 0.0);
        for lanes in 1..=most.max(1) {
            let state = State::fresh(network, &settings.optimizer, lanes as u64);
            // The first epoch captures.
            let new = self.runner(network, data, settings, state).and_then(|mut new| {
                new.train(&epoch)?;
                Ok(new)
            });
            match new {
                // As many as fit.
                Err(EngineError::Memory { .. }) if lanes > 1 => break,
                new => runners.push(new?),
            }
            let rate = together(&mut runners, &epoch, MEASURED)?;
            seen(lanes, rate);
            if rate > best.1 * GAIN {
                best = (lanes, rate);
            } else if lanes >= best.0 + 2 {
                break;
            }
        }
        Ok(best.0)
    }
}

/// Trains these runs at the same time for a while; examples per second of all of them.
pub(super) fn together(
    runners: &mut [Box<dyn Runner>],
    epoch: &Epoch<'_>,
    time: Duration,
) -> Result<f64, EngineError> {
    let ready = &Barrier::new(runners.len());
    let lane = |runner: &mut Box<dyn Runner>| -> Result<f64, EngineError> {
        ready.wait();
        let (start, mut examples) = (Instant::now(), 0);
        while start.elapsed() < time {
            runner.train(epoch)?;
            examples += epoch.visits.len();
        }
        Ok(examples as f64 / start.elapsed().as_secs_f64())
    };
    let rates: Vec<Result<f64, EngineError>> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            runners.iter_mut().map(|runner| scope.spawn(move || lane(runner))).collect();
        let ended = |_| Err(EngineError::Device("a lane ended".into()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(ended)).collect()
    });
    rates.into_iter().sum()
}
