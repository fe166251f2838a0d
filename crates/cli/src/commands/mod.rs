//! One file per subcommand: its arguments, and what it does.

pub(crate) mod barrier;
pub(crate) mod baseline;
pub(crate) mod cka;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod deliver;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod embed;
pub(crate) mod geometry;
pub(crate) mod gradcam;
pub(crate) mod metrics;
pub(crate) mod ood;
pub(crate) mod pack;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod score;
pub(crate) mod store;
pub(crate) mod study;
pub(crate) mod train;
pub(crate) mod unpack;
pub(crate) mod votes;
