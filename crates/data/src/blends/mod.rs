//! `blends`: a generated data set whose true vote distributions are known.
//!
//! Every item is a grey image of 16 × 16 pixels that shows two of ten drawn glyphs at once,
//! one stronger than the other, partly hidden by a patch and covered with noise. A population of
//! J simulated raters looks at what the image shows, each with biases, a threshold, a sharpness
//! and a lapse rate of their own, and votes for one glyph. Who votes is drawn evenly from the
//! population, so the true distribution of item i is the mean over all raters,
//!
//! ```text
//! p*_i(k) = 1/J · Σ_j P_j(k | evidence of i)
//! ```
//!
//! which is computed, not sampled. Everything that it depends on is visible in the image:
//! which glyphs, how strong, how much of each is hidden. Noise alone stays between a model and
//! p*: the raters look at the image before noise is added.
//!
//! **Same seed, same bytes.** Draws are a pure function of (seed, stream, item, rater), so item i
//! is the same however many items are made, in whatever order; and rater j answers the same on it
//! however many votes are asked for. From the draws on, only `+ − × ÷ √` are used, which IEEE 754
//! rounds the same way everywhere; no logarithm, exponential or sine, whose last bit depends on
//! the platform. (32-bit x86 without SSE2 is the exception: it rounds in its own way.)
//!
//! ```
//! use dissensus_data::blends::{Settings, SIDE};
//!
//! let blends = Settings { items: 20, seed: 7, ..Settings::default() }.check()?.generate()?;
//! assert_eq!(blends.image(3).len(), SIDE * SIDE);
//! assert_eq!(blends.table().items().name(3), "blend-00003");
//! assert!((blends.truth(3).iter().sum::<f64>() - 1.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `settings` | what may be chosen, and its ranges |
//! | `draws` | the streams of random numbers |
//! | `glyphs` | the ten glyphs as strokes |
//! | `image` | pose, patch, pixels |
//! | `scene` | what an item shows, and the evidence in it |
//! | `raters` | the population and how a rater answers |
//! | `generate` | items, truth and votes put together |

mod draws;
mod generate;
mod glyphs;
mod image;
mod raters;
mod scene;
mod settings;

pub use generate::{Blends, Generator, Item};
pub use glyphs::{CLASSES, class_names};
pub use image::{PIXELS, SIDE};
pub use scene::Blend;
pub use settings::{OutOfRange, Settings, ValidSettings, VotesPerItem, VotesPerItemError};
