//! When a run has diverged: its loss is no number any more, and no further step will mend it.

/// Why a run with this loss cannot go on, and what to try; `None` while the loss is finite.
/// `epoch` counts from 0.
///
/// ```
/// use dissensus_train::divergence;
/// assert_eq!(divergence(2.3, 0), None);
/// assert!(divergence(f64::NAN, 3).is_some_and(|why| why.contains("epoch 3")));
/// ```
pub fn divergence(loss: f64, epoch: u64) -> Option<String> {
    let what = match loss {
        loss if loss.is_finite() => return None,
        loss if loss.is_nan() => "not a number",
        loss if loss > 0.0 => "infinite",
        _ => "minus infinity",
    };
    Some(format!(
        "the loss is {what} in epoch {epoch}: the run has diverged; lower \
         training.learning_rate, set run.precision to f32, or look for inputs that are not finite"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_go_on() {
        for fine in [0.0, -1.0, 2.3, f64::MAX, f64::MIN_POSITIVE] {
            assert_eq!(divergence(fine, 0), None, "{fine}");
        }
        let cases = [
            (f64::NAN, "not a number"),
            (f64::INFINITY, "infinite"),
            (f64::NEG_INFINITY, "minus infinity"),
        ];
        for (loss, what) in cases {
            let text = divergence(loss, 4).unwrap();
            assert!(text.starts_with(&format!("the loss is {what} in epoch 4: ")), "{text}");
            assert!(text.contains("lower training.learning_rate"), "{text}");
        }
    }
}
