//! The device and the precision that models are computed with.

use dissensus::engine::{Device, Precision};

use crate::training::open_device;

/// Options of commands that compute with models.
#[derive(clap::Args)]
pub(crate) struct DeviceArgs {
    /// The device: auto, cpu, cuda, or one of several GPUs as in cuda:1
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// The precision: f32; on a GPU also tf32, or bf16, which is fast and less precise
    #[arg(long, value_name = "PRECISION", default_value = "f32", value_parser = Precision::NAMES)]
    precision: String,
}

impl DeviceArgs {
    pub(crate) fn open(&self) -> anyhow::Result<(Box<dyn Device>, Precision)> {
        let device = open_device(&self.device)?;
        let precision = Precision::named(&self.precision).unwrap_or_default();
        anyhow::ensure!(
            device.is_gpu() || precision == Precision::F32,
            "--precision {} needs a GPU, and this device is a CPU; omit the option",
            self.precision
        );
        Ok((device.into_device(), precision))
    }
}
