//! The CPU.

mod batch;
mod frame;
mod kernels;
mod passes;
mod runner;
mod steps;
mod team;

use std::sync::Arc;

pub use runner::{CpuRunner, Probe};

use crate::device::{Dataset, Device, Precision, Runner, Settings, State};
use crate::error::EngineError;
use crate::network::Network;

/// The CPU as a device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Device for Cpu {
    fn describe(&self) -> String {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        format!("CPU, {cores} cores, {:?}", Instructions(pulp::Arch::new()))
    }

    fn computes_in(&self, precision: Precision) -> bool {
        precision == Precision::F32
    }

    fn runner(
        &self,
        network: &Arc<Network>,
        data: &Dataset,
        settings: &Settings,
        state: State<f32>,
    ) -> Result<Box<dyn Runner>, EngineError> {
        Ok(Box::new(CpuRunner::new(network, data, settings, state)?))
    }
}

/// The name of an instruction set, without the list of its features.
struct Instructions(pulp::Arch);

impl std::fmt::Debug for Instructions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = format!("{:?}", self.0);
        let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        f.write_str(match name {
            "V4" => "AVX-512",
            "V3" => "AVX2",
            name => name,
        })
    }
}
