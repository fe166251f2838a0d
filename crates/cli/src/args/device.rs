//! The device and the precision that models are computed with, and how many runs at a time.

use dissensus::core::limits::MAX_THREADS;
use dissensus::engine::Precision;
use dissensus::open_device;
use dissensus::store::Which;
use dissensus::train::OpenDevice;
use dissensus::train::spec::Execution;

/// Options of commands that compute with models.
#[derive(clap::Args)]
pub(crate) struct DeviceArgs {
    /// The device: auto, cpu, cuda, or one of several GPUs as in cuda:1
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// The precision: f32; on a GPU also tf32, bf16, which is fast and less precise, or bf16x3, which is
    /// nearly f32 and faster [default: f32, and bf16x3 for the Hessian on a GPU]
    #[arg(long, value_name = "PRECISION", value_parser = Precision::NAMES)]
    precision: Option<String>,
}

impl DeviceArgs {
    /// The device and the precision, which is `on_gpu` where none is given and the device is a GPU that
    /// computes in it.
    pub(crate) fn open(&self, on_gpu: Precision) -> anyhow::Result<(OpenDevice, Precision)> {
        let opened = open_device(&self.device)?;
        let (device, is_gpu) = (opened.device(), opened.is_gpu());
        let default = if device.computes_in(on_gpu) { on_gpu } else { Precision::F32 };
        let precision = self.precision.as_deref().and_then(Precision::named).unwrap_or(default);
        anyhow::ensure!(
            is_gpu || device.computes_in(precision),
            "--precision {} needs a GPU, and this device is a CPU; omit the option",
            precision.name()
        );
        Ok((opened, precision))
    }
}

/// Where and how runs are trained.
#[derive(clap::Args)]
pub(crate) struct ExecutionArgs {
    /// Runs at a time, or auto for what is fastest on the device [default: the file's run.jobs]
    #[arg(long, value_name = "N|auto")]
    jobs: Option<JobCount>,
    /// The device: auto, cpu, cuda, one of several GPUs as in cuda:1, or cuda:exclusive
    /// [default: the file's run.device]
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
}

impl ExecutionArgs {
    /// As the file says, with what was typed instead.
    pub(crate) fn over(&self, file: Execution) -> Execution {
        Execution {
            jobs: self.jobs.map_or(file.jobs, |jobs| jobs.0),
            device: self.device.clone().unwrap_or(file.device),
            ..file
        }
    }

    /// The options as they were typed.
    pub(crate) fn words(&self) -> Vec<String> {
        let jobs = self.jobs.iter().flat_map(|jobs| ["--jobs".to_owned(), jobs.to_string()]);
        let device = self.device.iter().flat_map(|name| ["--device".to_owned(), name.clone()]);
        jobs.chain(device).collect()
    }
}

/// Which weights of a run.
#[derive(clap::Args)]
pub(crate) struct WeightsArgs {
    /// The weights of the selected epoch (best) or of the last epoch (last)
    #[arg(long, value_name = "EPOCH", default_value = "best", value_parser = ["best", "last"])]
    weights: String,
}

impl WeightsArgs {
    pub(crate) fn which(&self) -> Which {
        if self.weights == "last" { Which::Last } else { Which::Best }
    }
}

/// Runs at a time, as typed; `None` for what is fastest on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobCount(pub(crate) Option<usize>);

impl std::fmt::Display for JobCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(jobs) => write!(f, "{jobs}"),
            None => write!(f, "auto"),
        }
    }
}

impl std::str::FromStr for JobCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self(None));
        }
        let number = super::whole(1..=MAX_THREADS as u64)(text);
        number.map(|number| Self(Some(number))).map_err(|reason| format!("{reason}, or auto"))
    }
}
