//! What `score` and `compare` share: votes and predictions read and matched, numbers for tables.

mod models;

pub(crate) use models::JudgeArgs;

pub(crate) use dissensus::format_number as number;
