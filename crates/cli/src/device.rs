//! Where a trained model is computed, and in which numbers.

use dissensus::engine::{Device, Precision};

use crate::training::open_device;

/// For commands that compute with models.
#[derive(clap::Args)]
pub(crate) struct DeviceArgs {
    /// Where to compute: auto, cpu, cuda, or one of several cards, as in cuda:1
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// The numbers to compute with: f32; on a card also tf32, or bf16, which is fast and coarse
    #[arg(long, value_name = "NUMBERS", default_value = "f32", value_parser = Precision::NAMES)]
    precision: String,
}

impl DeviceArgs {
    pub(crate) fn open(&self) -> anyhow::Result<(Box<dyn Device>, Precision)> {
        let device = open_device(&self.device)?;
        let precision = Precision::named(&self.precision).unwrap_or_default();
        anyhow::ensure!(
            device.is_gpu() || precision == Precision::F32,
            "--precision {} is for a card, and this is a CPU; leave it out",
            self.precision
        );
        Ok((device.into_device(), precision))
    }
}
