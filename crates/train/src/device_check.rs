//! Whether this machine computes correctly.

use std::time::Instant;

use dissensus_engine::Precision;
use dissensus_engine::check::{Line, Scope, suite};
use dissensus_engine::cuda::{Gpu, Library};
use serde_json::{Value, json};

use crate::{OpenDevice, TrainError};

/// A device compared with the CPU in double precision.
#[derive(Clone, Debug)]
pub struct DeviceCheck {
    /// The device.
    pub device: String,
    /// The precisions that it was checked in.
    pub precisions: Vec<Precision>,
    /// Every comparison.
    pub lines: Vec<Line>,
    /// How long the checks took.
    pub seconds: f64,
}

impl DeviceCheck {
    /// Checks a device, on a GPU in one precision or in all that it has. Every line is also given to `seen`.
    pub fn run(
        device: &OpenDevice,
        precision: Option<Precision>,
        scope: Scope<'_>,
        seen: &mut dyn FnMut(&Line),
    ) -> Result<Self, TrainError> {
        let is_gpu = device.is_gpu();
        let (device, start) = (device.device(), Instant::now());
        let able = || Precision::ALL.into_iter().filter(|&one| device.computes_in(one));
        let precisions = match precision.filter(|_| is_gpu) {
            Some(one) => vec![one],
            None => able().collect(),
        };
        let lines = suite(device, &precisions, scope, seen)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Self { device: device.describe(), precisions, lines, seconds })
    }

    /// Whether all comparisons hold.
    pub fn holds(&self) -> bool {
        self.lines.iter().all(Line::holds)
    }

    /// Everything about this machine and the check.
    pub fn to_json(&self, version: &str, libraries: &[Library], gpus: &[Gpu]) -> Value {
        let compared = |line: &Line| {
            let &Line { network, what, precision, off, bar } = line;
            let (off, holds) = (off.is_finite().then_some(off), line.holds());
            json!({
                "network": network, "what": what, "precision": precision, "off": off, "bar": bar,
                "holds": holds,
            })
        };
        json!({
            "version": version,
            "system": system(),
            "libraries": libraries,
            // The name of the first versions.
            "cards": gpus.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "device": self.device,
            "holds": self.holds(),
            "seconds": self.seconds,
            "comparisons": self.lines.iter().map(compared).collect::<Vec<_>>(),
        })
    }
}

/// The operating system, the processor and its cores.
pub fn system() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{} {}, {cores} cores", std::env::consts::OS, std::env::consts::ARCH)
}
