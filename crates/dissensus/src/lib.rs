//! Train and judge classifiers on how people actually voted.

pub use dissensus_core as core;
