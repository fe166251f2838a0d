//! What `score` and `compare` share: votes and predictions read and matched, numbers for tables.

mod models;

pub(crate) use models::JudgeArgs;

/// A number for a table: four significant places, ∞ and – where they belong.
pub(crate) fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(v) if v.is_infinite() => if v > 0.0 { "∞" } else { "-∞" }.to_owned(),
        Some(v) if v != 0.0 && v.abs() < 1e-4 => format!("{v:.1e}"),
        Some(v) => format!("{v:.4}"),
    }
}
