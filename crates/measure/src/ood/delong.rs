//! The standard error of AUROC and an interval for it, after DeLong.
//!
//! An outside item's placement is the share of inside items that score lower, ties half; an inside
//! item's, the share of outside items that score higher. Both have the area A as their mean, and
//!
//! ```text
//! Var A = s²(outside placements) / n_out + s²(inside placements) / n_in,   s² with n − 1
//! ```
//!
//! The interval is taken on the logit scale, `ln(A / (1 − A)) ± 1.96 se / (A (1 − A))`, and brought
//! back: it stays between 0 and 1, and leans to the middle where A is near an end.
//!
//! E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, *Comparing the areas under two or more
//! correlated receiver operating characteristic curves*, Biometrics 44 (1988) 837–845; the scale:
//! M. S. Pepe, *The Statistical Evaluation of Medical Tests* (2003), 5.2.

use super::Interval;
use super::detection::auroc;

/// The normal quantile of 0.975.
const Z: f64 = 1.959963984540054;

/// The interval of the area under steps of (inside, outside) items, ascending. `None` with fewer
/// than two items on either side, and where the scores part the sides wholly: then no placement
/// varies, and the data do not say how near to 1 (or 0) the area is.
pub(super) fn delong(steps: &[(usize, usize)], n_in: usize, n_out: usize) -> Option<Interval> {
    if n_in < 2 || n_out < 2 {
        return None;
    }
    let area = auroc(steps, n_in, n_out);
    if area <= 0.0 || area >= 1.0 {
        return None;
    }
    let (all_in, all_out) = (n_in as f64, n_out as f64);
    let (mut below_in, mut below_out) = (0.0, 0.0);
    let (mut squares_in, mut squares_out) = (0.0, 0.0);
    for &(inside, outside) in steps {
        let (inside, outside) = (inside as f64, outside as f64);
        let of_outside = (below_in + inside / 2.0) / all_in - area;
        let of_inside = 1.0 - (below_out + outside / 2.0) / all_out - area;
        squares_out += outside * of_outside * of_outside;
        squares_in += inside * of_inside * of_inside;
        (below_in, below_out) = (below_in + inside, below_out + outside);
    }
    let variance = squares_out / (all_out - 1.0) / all_out + squares_in / (all_in - 1.0) / all_in;
    let standard_error = variance.sqrt();
    let (centre, reach) = ((area / (1.0 - area)).ln(), Z * standard_error / (area * (1.0 - area)));
    let back = |x: f64| 1.0 / (1.0 + (-x).exp());
    // All scores equal: the way to the logit scale and back would move the ends by a rounding.
    let (low, high) = match variance > 0.0 {
        true => (back(centre - reach), back(centre + reach)),
        false => (area, area),
    };
    Some(Interval { low, high, standard_error })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: placements of the outside items 1/2, 1 and of the inside items 1, 1/2; variances
    /// 1/8 each, so Var A = 1/8 with A = 3/4.
    #[test]
    fn four_items() {
        let steps = [(1, 0), (0, 1), (1, 0), (0, 1)];
        let found = delong(&steps, 2, 2).unwrap();
        assert!((found.standard_error - 0.125f64.sqrt()).abs() < 1e-15);
        let logit = |p: f64| (p / (1.0 - p)).ln();
        let reach = Z * 0.125f64.sqrt() / (0.75 * 0.25);
        assert!((logit(found.high) - logit(0.75) - reach).abs() < 1e-12);
        assert!((logit(0.75) - logit(found.low) - reach).abs() < 1e-12);
    }

    #[test]
    fn undefined_where_nothing_is_known() {
        assert_eq!(delong(&[(3, 0), (0, 3)], 3, 3), None);
        assert_eq!(delong(&[(0, 3), (3, 0)], 3, 3), None);
        assert_eq!(delong(&[(1, 1), (0, 3)], 1, 4), None);
        assert_eq!(delong(&[], 0, 0), None);
        let tied = delong(&[(5, 9)], 5, 9).unwrap();
        assert_eq!((tied.low, tied.high, tied.standard_error), (0.5, 0.5, 0.0));
    }
}
