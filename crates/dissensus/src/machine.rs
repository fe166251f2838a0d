//! Whether this machine computes correctly.

use std::time::Instant;

use dissensus_engine::Precision;
use dissensus_engine::check::{Line, Scope, suite};
use dissensus_engine::cuda::{Gpu, Library};
use dissensus_train::{OpenDevice, TrainError};
use serde_json::{Value, json};

use crate::{Error, VERSION};

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
    /// Checks a device, on a GPU in one precision or in all. Every line is also given to `seen`.
    pub fn run(
        device: OpenDevice,
        precision: Option<Precision>,
        scope: Scope<'_>,
        seen: &mut dyn FnMut(&Line),
    ) -> Result<Self, Error> {
        let precisions = match (device.is_gpu(), precision) {
            (false, _) => vec![Precision::F32],
            (true, Some(one)) => vec![one],
            (true, None) => Precision::ALL.to_vec(),
        };
        let (device, start) = (device.into_device(), Instant::now());
        let lines = suite(&*device, &precisions, scope, seen).map_err(TrainError::from)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Self { device: device.describe(), precisions, lines, seconds })
    }

    /// Whether all comparisons hold.
    pub fn holds(&self) -> bool {
        self.lines.iter().all(Line::holds)
    }

    /// Everything about this machine and the check.
    pub fn to_json(&self, libraries: &[Library], gpus: &[Gpu]) -> Value {
        let compared = |line: &Line| {
            let &Line { network, what, precision, off, bar } = line;
            let (off, holds) = (off.is_finite().then_some(off), line.holds());
            json!({
                "network": network, "what": what, "precision": precision, "off": off, "bar": bar,
                "holds": holds,
            })
        };
        json!({
            "version": VERSION,
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
