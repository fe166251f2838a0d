use super::*;
use crate::testing::calibrated;

fn near(ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() < 1e-13, "{ours} {theirs}");
}

/// relplot 1.0.3, reference/measure/smooth.py:
///
/// ```python
/// f, y, share = calibrated(4000, 0.06)
/// print([[s, smECE_sigma(f, y, s)] for s in np.array([2, 3, 7, 10, 51, 512]) / 1024])
/// ```
#[test]
fn as_relplot_at_fixed_bandwidths() {
    let [f, y, _] = calibrated(4000, 0.06);
    for (bandwidth, theirs) in AT {
        let grid = Grid::new(&f, &y, grid_points(bandwidth), |f, y| f - y);
        near(grid.error(bandwidth), theirs);
    }
}

/// ```python
/// f, y, share = calibrated(*args)
/// print(smECE(f, y, return_width=True), smECE(f, share, return_width=True))
/// ```
#[test]
fn as_relplot_at_the_bandwidth_it_finds() {
    for (n, shift, by_label, by_share) in FOUND {
        let [f, y, share] = calibrated(n, shift);
        for (outcome, theirs) in [(y, by_label), (share, by_share)] {
            let ours = error(&f, &outcome).unwrap();
            near(ours.error, theirs[0]);
            assert_eq!(ours.bandwidth, theirs[1]);
        }
    }
}

/// ```python
/// f, y = np.array([0.0, 0.0, 1.0, 1.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0])
/// print(smECE(f, y, return_width=True))
/// ```
#[test]
fn as_relplot_at_both_ends() {
    let ours = error(&[0.0, 0.0, 1.0, 1.0, 0.5, 1.0], &[0.0, 1.0, 1.0, 0.0, 1.0, 1.0]).unwrap();
    near(ours.error, 0.3000172859187998);
    assert_eq!(ours.bandwidth, 0.30078125);
}

/// ```python
/// f, y, share = calibrated(4000, 0.06)
/// d = prepare_rel_diagram(f, y, plot_confidence_band=False, report_CE_std=False)
/// print([[d[k][i] for k in ("mesh", "mu", "density")] for i in [0, 40, 100, 199]])
/// ```
#[test]
fn the_curve_is_relplots() {
    let [f, y, _] = calibrated(4000, 0.06);
    let grid = Grid::new(&f, &y, grid_points(0.0693359375), |_, y| y);
    let curve = grid.curve(0.0693359375, 200, f.len());
    for (at, [confidence, outcome, density]) in CURVE {
        near(curve[at].confidence, confidence);
        near(curve[at].outcome, outcome);
        near(curve[at].density, density);
    }
}

#[test]
fn nothing_has_no_error_and_perfection_has_none() {
    assert_eq!(error(&[], &[]), None);
    let perfect = error(&[0.3, 0.7, 1.0], &[0.3, 0.7, 1.0]).unwrap();
    assert_eq!((perfect.error, perfect.bandwidth), (0.0, 2.0 / 1024.0));
    let wrong = error(&[1.0; 9], &[0.0; 9]).unwrap();
    assert!((wrong.error - 1.0).abs() < 1e-4 && wrong.bandwidth == 1.0, "{wrong:?}");
}

const AT: [(f64, f64); 6] = [
    (0.001953125, 0.08256269908391044),
    (0.0029296875, 0.0774817275766521),
    (0.0068359375, 0.07025684454074647),
    (0.009765625, 0.06949351147217608),
    (0.0498046875, 0.06888366754104042),
    (0.5, 0.06889715649497805),
];

type Found = (usize, f64, [f64; 2], [f64; 2]);
const FOUND: [Found; 4] = [
    (4000, 0.06, [0.06887178119447726, 0.0693359375], [0.059390805255431244, 0.0595703125]),
    (20000, 0.0, [0.008593456773091094, 0.0087890625], [0.002954513105273258, 0.00390625]),
    (20, -0.1, [0.29202526521055716, 0.29296875], [0.09824790655316099, 0.0986328125]),
    (1, 0.3, [0.5645806304723618, 0.5654296875], [0.24242688133081275, 0.2431640625]),
];

const CURVE: [(usize, [f64; 3]); 4] = [
    (0, [0.0, 0.14222907390820183, 0.005122900951845733]),
    (40, [0.20100502512562815, 0.18027490138124763, 0.637477269980583]),
    (100, [0.5025125628140703, 0.42866214247776463, 1.2774052528199347]),
    (199, [1.0, 0.886119452526649, 1.234163952396402]),
];

/// Passing over empty cells changes no bit: every sum has the same terms in the same order.
#[test]
fn empty_cells_change_no_bit() {
    let plain = |values: &[f64], kernel: &[f64]| {
        let points = values.len();
        let (mirrored, beyond) = (values.iter().skip(1).rev(), values.iter().rev().skip(1));
        let extended: Vec<f64> = mirrored.chain(values).chain(beyond).copied().collect();
        let least = kernel[points / 2] * 1e-18;
        let mut smoothed = vec![0.0; points];
        for (at, &weight) in kernel.iter().enumerate().filter(|(_, weight)| **weight > least) {
            let shifted = &extended[points / 2 + points - 1 - at..][..points];
            smoothed.iter_mut().zip(shifted).for_each(|(to, value)| *to += weight * value);
        }
        smoothed
    };
    for (points, every) in [(1001, 1), (1001, 97), (1002, 13), (41, 40)] {
        let value = |at: usize| match at.is_multiple_of(every) {
            true => (at as f64 * 0.7).sin(),
            false => 0.0,
        };
        let values: Vec<f64> = (0..points).map(value).collect();
        for bandwidth in [0.001, 0.02, 0.3, 1.0] {
            let kernel = kernel(bandwidth, points);
            let bits = |all: Vec<f64>| all.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(convolve(&values, &kernel)), bits(plain(&values, &kernel)));
        }
    }
}
