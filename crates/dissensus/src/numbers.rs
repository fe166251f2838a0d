//! Numbers as text.

use dissensus_geometry::curvature::Estimate;

pub use dissensus_report::plain::{format_number, thousands};

/// A number with its interval: `0.5 [0.4, 0.6]`, or alone where it has none.
pub fn format_interval(value: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!(
            "{} [{}, {}]",
            format_number(value),
            format_number(Some(low)),
            format_number(Some(high))
        ),
        _ => format_number(value),
    }
}

/// A mean with its standard deviation: `0.5 ± 0.1`, or alone where it has none.
pub fn format_spread(mean: f64, sd: Option<f64>) -> String {
    match sd {
        Some(_) => format!("{} ± {}", format_number(Some(mean)), format_number(sd)),
        None => format_number(Some(mean)),
    }
}

/// A number with this many significant digits.
pub fn format_significant(value: f64, digits: usize) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".to_owned(),
        _ if !(1e-4..1e7).contains(&size) => format!("{value:.*e}", digits - 1),
        _ => {
            let behind = digits as i32 - 1 - size.log10().floor() as i32;
            format!("{value:.*}", behind.max(0) as usize)
        }
    }
}

/// An estimate with its error: `104.9 ± 0.1`; one that did not converge has a question mark.
pub fn format_estimate(estimate: Option<Estimate>) -> String {
    let Some(Estimate { value, error, converged, .. }) = estimate else { return "–".to_owned() };
    let (value, doubt) = (format_significant(value, 4), if converged { "" } else { " ?" });
    match error {
        Some(error) => format!("{value} ± {}{doubt}", format_significant(error, 2)),
        None => format!("{value}{doubt}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_their_errors() {
        let all = [0.0, 104.87, 1633.94, 0.0123456, -2.5, 9.0e-6, 3.0e9];
        let all = all.map(|value| format_significant(value, 4));
        assert_eq!(all, ["0", "104.9", "1634", "0.01235", "-2.500", "9.000e-6", "3.000e9"]);
        let estimate =
            Estimate { value: 104.87, error: Some(0.0396), products: 9, converged: true };
        assert_eq!(format_estimate(Some(estimate)), "104.9 ± 0.040");
        let cut_off = Estimate { error: Some(12.3), converged: false, ..estimate };
        assert_eq!(format_estimate(Some(cut_off)), "104.9 ± 12 ?");
        assert_eq!(format_estimate(None), "–");
        assert_eq!([0, 999, 1000, 1234567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
