//! Which random numbers of training belong to what.
//!
//! As everywhere in dissensus, Philox4x64-10 under the key (seed, stream), where a stream is a
//! short word read as a big-endian number.
//!
//! | stream | counter | what is drawn |
//! |---|---|---|
//! | [`INIT`] | (n, parameter, 0, 0) | the start of a parameter |
//! | [`DROP`] | (element / 16, epoch, batch, layer) | which elements are dropped, 16 bits each |
//! | [`CROP`] | (0, key, epoch, 0) | how the image of an example is moved and turned |
//! | [`ORDER`] | (n, epoch, 0, 0) | the order of the examples |

use dissensus_core::philox::stream;

/// Initial parameters.
pub const INIT: u64 = stream(b"init");
/// Dropout.
pub const DROP: u64 = stream(b"drop");
/// Crops and flips.
pub const CROP: u64 = stream(b"crop");
/// The order of the examples in an epoch.
pub const ORDER: u64 = stream(b"order");

/// When in training something is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// The seed of the run.
    pub seed: u64,
    /// The epoch, from 0.
    pub epoch: u64,
    /// The batch in the epoch, from 0.
    pub batch: u64,
}
