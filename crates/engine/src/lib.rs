//! The engine: networks with explicit forward, backward and tangent passes, and what trains them.
//!
//! There is no general differentiation here. A few operations have their passes written out
//! (`cpu/kernels`), a [`network::Network`] lists which are used, and a [`device::Device`] runs them. The
//! tangent passes give exact Hessian-vector products (the R-operator of Pearlmutter, 1994). The CPU
//! is generic over f32 and f64, so that every gradient can be checked against differences.
//!
//! ```
//! use std::sync::Arc;
//! use dissensus_engine::device::Targets;
//! use dissensus_engine::{
//!     Cpu, Dataset, Device, Epoch, Mode, Model, Optimizer, Precision, Settings, State,
//! };
//!
//! let data = Dataset::Vectors { width: 2, values: Arc::new([0.0, 1.0, 1.0, 0.0]) };
//! let network = Arc::new(Model::named("mlp")?.with("hidden", 8_u64)?.network(data.shape(), 2)?);
//! let optimizer = Optimizer::Sgd { momentum: 0.9, nesterov: false, weight_decay: 0.0 };
//! let settings = Settings { precision: Precision::F32, batch: 2, optimizer, threads: 1 };
//! let state = State::fresh(&network, &optimizer, 7);
//! let mut runner = Cpu.runner(&network, &data, &settings, state)?;
//! for number in 0..50 {
//!     let targets = Targets::Classes(&[0, 1]);
//!     let (seed, visits, batch, rate) = (7, &[0, 1], 2, 0.1);
//!     let (shifts, mixture, mode) = (None, None, Mode::Train);
//!     let samples = targets.into();
//!     runner.train(&Epoch { number, seed, visits, batch, rate, samples, shifts, mixture, mode })?;
//! }
//! let logits = runner.logits(&[0, 1])?;
//! assert!(logits[0] > logits[1] && logits[2] < logits[3]);
//! # Ok::<(), dissensus_engine::EngineError>(())
//! ```
//!
//! | to add | write | and add it to |
//! |---|---|---|
//! | a model | `models/NAME.rs` | the list in `models/mod.rs` |
//! | an operation | `cpu/kernels/NAME.rs` | `network::Op`, `cpu/steps.rs`, `cpu/passes.rs` |
//! | a loss | `losses/NAME.rs`, `cuda/kernels/losses/NAME.cu` | the list in `losses/mod.rs` |
//! | an optimizer | a variant in `optimizer.rs` | `cpu/kernels/optimizer.rs` |

pub mod augment;
pub mod check;
pub mod cpu;
pub mod cuda;
pub mod device;
mod error;
mod fused;
mod head;
mod init;
mod losses;
pub mod models;
pub mod network;
pub mod optimizer;
pub mod random;
mod scalar;
pub mod schedule;

pub use augment::Augment;
pub use cpu::Cpu;
pub use cuda::Cuda;
pub use device::{
    Dataset, Device, Epoch, Maps, Mode, Overlap, Precision, Runner, Samples, Settings, State,
    Weights,
};
pub use error::EngineError;
pub use head::Head;
pub use losses::{LOSS_NAMES, LOSSES, Link, Loss, LossEntry};
pub use models::{InputKind, MODEL_NAMES, MODELS, Model, ModelEntry, SettingValue};
pub use network::Network;
pub use optimizer::Optimizer;
pub use scalar::{Real, inner};
pub use schedule::{Rates, Schedule};
