//! What `score` and `compare` share: reading and matching votes and predictions, numbers for tables.

mod models;

pub(crate) use models::EvaluateArgs;

pub(crate) use dissensus::format_number as number;
