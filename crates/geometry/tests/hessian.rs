//! A tiny net in f64: the dense Hessian from products and from differences of gradients, and every
//! estimator against it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Tiny, eigenvalues};
use dissensus_geometry::curvature::{
    Block, DensitySettings, HutchSettings, LanczosSettings, Operator, PowerSettings, TraceSettings,
    density, hutch_plus_plus, hutchinson, lanczos, power,
};
use dissensus_geometry::model::{Grouping, blocks};

/// Differences of fourth order, whose own error is about 1e-10 of the largest number here.
#[test]
fn products_are_the_dense_hessian() {
    let mut tiny = Tiny::new();
    let (n, dense) = (tiny.len(), tiny.dense());
    let size = dense.values().iter().fold(0.0f64, |a, b| a.max(b.abs()));
    let h = 2e-3;
    for column in 0..n {
        let [far_up, up, down, far_down] =
            [2.0 * h, h, -h, -2.0 * h].map(|by| tiny.gradient(column, by));
        for row in 0..n {
            let near = 8.0 * (up[row] - down[row]) - (far_up[row] - far_down[row]);
            let (ours, theirs) = (dense.values()[column * n + row], near / (12.0 * h));
            assert!((ours - theirs).abs() < 1e-8 * size, "{row}, {column}: {ours} {theirs}");
        }
    }
}

#[test]
fn eigenvalues_are_the_dense_ones() {
    let mut tiny = Tiny::new();
    let truth = eigenvalues(&tiny.dense());
    let (low, top) = (truth[0], truth[truth.len() - 1]);
    assert!(low < -1e-3 && top > 0.1, "a spectrum with both signs: {low} {top}");
    let settings = PowerSettings { tolerance: 1e-9, most: 20_000, seed: 1 };
    let found = power(&mut tiny, &settings).unwrap().top;
    assert!(found.converged && (found.value - top).abs() < 1e-8 * top, "{found:?} {top}");

    let settings =
        LanczosSettings { largest: 4, smallest: 3, tolerance: 1e-9, ..Default::default() };
    let found = lanczos(&mut tiny, &settings).unwrap();
    assert!(found.converged, "{found:?}");
    for (ritz, truth) in found.largest.iter().zip(truth.iter().rev()) {
        assert!((ritz.value - truth).abs() < 1e-8 * top, "{ritz:?} {truth}");
    }
    for (ritz, truth) in found.smallest.iter().zip(&truth) {
        assert!((ritz.value - truth).abs() < 1e-8 * top, "{ritz:?} {truth}");
    }
}

#[test]
fn traces_are_the_dense_ones() {
    let mut tiny = Tiny::new();
    let (n, dense) = (tiny.len(), tiny.dense());
    let diagonal = |at: usize| dense.values()[at * (n + 1)];
    let truth: f64 = (0..n).map(diagonal).sum();
    let layers = blocks(&tiny.network, Grouping::Layer);
    let names: Vec<&str> = layers.iter().map(|block| block.name.as_str()).collect();
    assert_eq!(names, ["first", "norm", "second", "fc"]);
    assert_eq!(layers.iter().map(Block::len).sum::<usize>(), n);
    let settings = TraceSettings { tolerance: 0.03, most: 4000, ..Default::default() };
    let found = hutchinson(&mut tiny, &layers, &settings).unwrap();
    let covers = |value: f64, error: f64, truth: f64| (value - truth).abs() <= 4.0 * error + 1e-12;
    assert!(found.trace.converged, "{:?}", found.trace);
    assert!(covers(found.trace.value, found.trace.error.unwrap(), truth), "{truth} {found:?}");
    let mut sum = 0.0;
    for (layer, own) in layers.iter().zip(&found.blocks) {
        let truth: f64 = layer.ranges.iter().flat_map(Clone::clone).map(diagonal).sum();
        let (value, error) = (own.trace.value, own.trace.error.unwrap());
        assert!(covers(value, error, truth), "{}: {truth} {own:?}", layer.name);
        sum += value;
    }
    assert!((sum - found.trace.value).abs() < 1e-10);
    let squares: f64 = dense.values().iter().map(|v| v * v).sum();
    assert!(covers(found.squares.value, found.squares.error.unwrap(), squares));

    // A basis of everything leaves nothing to estimate.
    let all = HutchSettings { rank: n, least: 2, ..Default::default() };
    let found = hutch_plus_plus(&mut tiny, &all).unwrap();
    assert!((found.value - truth).abs() < 1e-8 * truth.abs(), "{found:?} {truth}");
}

/// As many steps as rows make the quadrature exact: the measure has the moments of its own probes,
/// and their mean is near the spectrum's.
#[test]
fn the_density_is_the_dense_one() {
    let mut tiny = Tiny::new();
    let (n, truth) = (tiny.len(), eigenvalues(&tiny.dense()));
    let settings = DensitySettings { steps: n, probes: 8, ..Default::default() };
    let found = density(&mut tiny, &settings).unwrap();
    let most = TraceSettings { least: 8, most: 8, tolerance: 0.0, seed: settings.seed };
    let probed = hutchinson(&mut tiny, &[], &most).unwrap();
    let size = n as f64;
    assert!((found.moment(0) - 1.0).abs() < 1e-10);
    assert!((found.moment(1) * size - probed.trace.value).abs() < 1e-8 * probed.trace.value.abs());
    assert!((found.moment(2) * size - probed.squares.value).abs() < 1e-8 * probed.squares.value);
    // Every point of the curve is a mean over probes of the same smoothed spectrum.
    let height = 1.0 / (found.sigma * std::f64::consts::TAU.sqrt() * size);
    let errors = found.error.as_ref().unwrap();
    let mut outside = 0;
    for ((t, value), error) in found.grid.iter().zip(&found.density).zip(errors) {
        let gauss = |l: &f64| (-0.5 * ((t - l) / found.sigma).powi(2)).exp() * height;
        let exact: f64 = truth.iter().map(gauss).sum();
        if (value - exact).abs() > 3.0 * error + 1e-9 {
            outside += 1;
        }
    }
    // Three standard errors of 8 probes: one in 50 points, and neighbours go together.
    assert!(outside < found.grid.len() / 10, "{outside} of {}", found.grid.len());
}
