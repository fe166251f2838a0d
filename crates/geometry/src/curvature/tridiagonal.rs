//! The eigenvalues of a symmetric tridiagonal matrix, with the first and the last component of each
//! eigenvector: the first squared is a weight of Gauss quadrature, the last a Ritz residual.
//!
//! Implicit QL with Wilkinson's shift (Golub and Van Loan, *Matrix computations*, section 8.3). Only
//! the two rows that are asked for are carried along, so the cost is that of eigenvalues alone.

use crate::GeometryError;

/// Eigenvalues in ascending order, and what belongs to each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spectrum {
    pub(super) values: Vec<f64>,
    pub(super) first: Vec<f64>,
    pub(super) last: Vec<f64>,
}

/// Sweeps for one eigenvalue; two or three are usual.
const SWEEPS: usize = 60;

/// The spectrum of the matrix with this diagonal and these numbers beside it, one fewer.
pub(super) fn spectrum(diagonal: &[f64], beside: &[f64]) -> Result<Spectrum, GeometryError> {
    let n = diagonal.len();
    let (mut d, mut e) =
        (diagonal.to_vec(), beside[..n.saturating_sub(1).min(beside.len())].to_vec());
    e.resize(n, 0.0);
    let unit = |place: usize| (0..n).map(|at| if at == place { 1.0 } else { 0.0 }).collect();
    let mut rows: [Vec<f64>; 2] = [unit(0), unit(n.saturating_sub(1))];
    for low in 0..n {
        let mut sweeps = 0;
        // A number beside the diagonal that is nothing next to it cuts the matrix in two.
        while let Some(high) = connected(&d, &e, low) {
            sweeps += 1;
            if sweeps > SWEEPS {
                let text = format!("eigenvalue {low} of a tridiagonal matrix of {n} rows");
                return Err(GeometryError::Data(format!("{text} did not settle; is it finite?")));
            }
            sweep(&mut d, &mut e, &mut rows, low, high);
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| d[a].total_cmp(&d[b]));
    let by = |values: &[f64]| order.iter().map(|&at| values[at]).collect();
    Ok(Spectrum { values: by(&d), first: by(&rows[0]), last: by(&rows[1]) })
}

/// The last row of the piece that begins with `low`; `None` when it is that row alone.
fn connected(d: &[f64], e: &[f64], low: usize) -> Option<usize> {
    let cut = |at: &usize| {
        let near = d[*at].abs() + d[at + 1].abs();
        e[*at].abs() <= f64::EPSILON * near || e[*at].abs() < f64::MIN_POSITIVE
    };
    let high = (low..d.len() - 1).find(cut).unwrap_or(d.len() - 1);
    (high > low).then_some(high)
}

/// One QL step over rows `low` to `high`: a rotation at the bottom makes a bulge, which rotations
/// upwards chase out.
fn sweep(d: &mut [f64], e: &mut [f64], rows: &mut [Vec<f64>; 2], low: usize, high: usize) {
    let half = (d[low + 1] - d[low]) / (2.0 * e[low]);
    let shift = d[low] - e[low] / (half + half.hypot(1.0).copysign(half));
    let (mut sine, mut cosine, mut moved) = (1.0, 1.0, 0.0);
    let mut bulge = d[high] - shift;
    for at in (low..high).rev() {
        let (out, kept) = (sine * e[at], cosine * e[at]);
        let length = out.hypot(bulge);
        e[at + 1] = length;
        if length == 0.0 {
            // The bulge vanished early: the matrix has come apart here.
            d[at + 1] -= moved;
            e[high] = 0.0;
            return;
        }
        (sine, cosine) = (out / length, bulge / length);
        let corner = d[at + 1] - moved;
        let turned = (d[at] - corner) * sine + 2.0 * cosine * kept;
        moved = sine * turned;
        d[at + 1] = corner + moved;
        bulge = cosine * turned - kept;
        for row in rows.iter_mut() {
            let (here, next) = (row[at], row[at + 1]);
            (row[at], row[at + 1]) = (cosine * here - sine * next, sine * here + cosine * next);
        }
    }
    d[low] -= moved;
    e[low] = bulge;
    e[high] = 0.0;
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    /// 2 on the diagonal and −1 beside it: eigenvalues 2 − 2 cos(πk/(n+1)), eigenvectors
    /// √(2/(n+1)) sin(πkj/(n+1)).
    #[test]
    fn the_second_difference_has_its_spectrum() {
        let n = 40;
        let found = spectrum(&vec![2.0; n], &vec![-1.0; n - 1]).unwrap();
        for k in 1..=n {
            let angle = PI * k as f64 / (n + 1) as f64;
            assert!((found.values[k - 1] - (2.0 - 2.0 * angle.cos())).abs() < 1e-13);
            let first = (2.0 / (n + 1) as f64).sqrt() * angle.sin();
            assert!((found.first[k - 1].abs() - first).abs() < 1e-13);
            let last = (2.0 / (n + 1) as f64).sqrt() * (angle * n as f64).sin();
            assert!((found.last[k - 1].abs() - last.abs()).abs() < 1e-13);
        }
    }

    #[test]
    fn pieces_and_extremes() {
        let found = spectrum(&[3.0, 1.0, 1.0, -2.0], &[0.0, 2.0, 0.0]).unwrap();
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-15);
        assert!(near(&found.values, &[-2.0, -1.0, 3.0, 3.0]), "{found:?}");
        assert!(near(&found.last, &[1.0, 0.0, 0.0, 0.0]), "{found:?}");
        assert_eq!(spectrum(&[], &[]).unwrap(), Spectrum::default());
        assert_eq!(spectrum(&[5.0], &[]).unwrap().first, [1.0]);
        let wide = spectrum(&[1e12, 1.0, 1e-9], &[1e3, 1e-5]).unwrap();
        assert!((wide.values.iter().sum::<f64>() - 1e12 - 1.0).abs() < 1e-3);
        assert!(spectrum(&[f64::NAN, 1.0], &[1.0]).is_err());
    }
}
