//! Checks of input, made once at the door of each public function.

use crate::StatsError;

/// At least one value, all finite.
pub(crate) fn finite(what: &'static str, values: &[f64]) -> Result<(), StatsError> {
    if values.is_empty() {
        return Err(StatsError::Empty { what });
    }
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(StatsError::NotFinite { what, index, value: values[index] }),
        None => Ok(()),
    }
}

/// Two finite samples of one length.
pub(crate) fn pairs(
    (left, a): (&'static str, &[f64]),
    (right, b): (&'static str, &[f64]),
) -> Result<(), StatsError> {
    if a.len() != b.len() {
        return Err(StatsError::Lengths { left, left_len: a.len(), right, right_len: b.len() });
    }
    finite(left, a)?;
    finite(right, b)
}

/// A level strictly between 0 and 1.
pub(crate) fn level(name: &'static str, value: f64) -> Result<(), StatsError> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    let expected = "a number above 0 and below 1";
    Err(StatsError::Setting { name, value: value.to_string(), expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_has_its_error() {
        assert_eq!(finite("x", &[]), Err(StatsError::Empty { what: "x" }));
        let nan = finite("x", &[0.0, f64::NAN]);
        assert!(matches!(nan, Err(StatsError::NotFinite { what: "x", index: 1, .. })));
        let infinite = pairs(("x", &[0.0]), ("y", &[f64::NEG_INFINITY]));
        assert!(matches!(infinite, Err(StatsError::NotFinite { what: "y", index: 0, .. })));
        let lengths = pairs(("x", &[0.0]), ("y", &[]));
        assert!(matches!(lengths, Err(StatsError::Lengths { left_len: 1, right_len: 0, .. })));
        for value in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(level("confidence", value), Err(StatsError::Setting { .. })));
        }
        assert!(level("confidence", 0.95).is_ok());
    }
}
