//! Small networks, data and random numbers for the tests.

#![allow(dead_code)]

use std::sync::Arc;

use dissensus_core::philox::Stream;
use dissensus_engine::cpu::CpuRunner;
use dissensus_engine::network::{Builder, Network, Shape};
use dissensus_engine::{Dataset, Loss, Optimizer, Real, Settings, State};

pub(crate) const PLAIN: Optimizer =
    Optimizer::Sgd { momentum: 0.0, nesterov: false, weight_decay: 0.0 };

/// Normal numbers.
pub(crate) fn noise(seed: u64, len: usize) -> Vec<f64> {
    let mut stream = Stream::new([seed, 0], [0, 0, 0]);
    (0..len).map(|_| stream.normal()).collect()
}

/// Random distributions, some of them with all on one class.
pub(crate) fn distributions(seed: u64, rows: usize, classes: usize) -> Vec<f32> {
    let mut stream = Stream::new([seed, 1], [0, 0, 0]);
    let mut out = Vec::new();
    for row in 0..rows {
        let mut p: Vec<f64> = (0..classes).map(|_| stream.unit().powi(3)).collect();
        if row % 4 == 3 {
            p.fill(0.0);
            p[row % classes] = 1.0;
        }
        let total: f64 = p.iter().sum();
        out.extend(p.iter().map(|p| (p / total) as f32));
    }
    out
}

/// Random images.
pub(crate) fn images(
    seed: u64,
    rows: usize,
    height: usize,
    width: usize,
    channels: usize,
) -> Dataset {
    let mut stream = Stream::new([seed, 2], [0, 0, 0]);
    Dataset::Images {
        height,
        width,
        channels,
        pixels: (0..rows * height * width * channels).map(|_| stream.word() as u8).collect(),
        mean: (0..channels).map(|c| 0.4 + 0.05 * c as f32).collect(),
        deviation: vec![0.25; channels],
    }
}

/// Random vectors.
pub(crate) fn vectors(seed: u64, rows: usize, width: usize) -> Dataset {
    let values = noise(seed, rows * width).into_iter().map(|v| v as f32).collect();
    Dataset::Vectors { width, values }
}

/// A runner whose parameters and statistics are all away from their starting values, so that no
/// term of any pass is hidden behind a 0 or a 1.
pub(crate) fn runner<F: Real>(
    network: &Arc<Network>,
    data: &Dataset,
    optimizer: Optimizer,
    batch: usize,
    threads: usize,
) -> CpuRunner<F> {
    let settings = Settings { precision: Default::default(), batch, optimizer, threads };
    let mut state = State::<F>::fresh(network, &optimizer, 5);
    let shake = noise(6, state.parameters.len());
    for (w, e) in state.parameters.iter_mut().zip(&shake) {
        *w += F::of(0.1 * e);
    }
    for (s, e) in state.statistics.iter_mut().zip(noise(7, network.statistic_count())) {
        *s += F::of(0.3 * e.abs());
    }
    CpuRunner::new(network, data, &settings, state).unwrap()
}

/// Every operation and every loss at least once: named small networks with data for them.
pub(crate) fn networks() -> Vec<(&'static str, Arc<Network>, Dataset)> {
    let map = |height, width, channels| Shape::Map { height, width, channels };
    let mut all = Vec::new();

    let mut b = Builder::new(Shape::Flat { width: 7 });
    b.linear("l", 0, 3);
    all.push(("linear", b, vectors(1, 10, 7)));

    let mut b = Builder::new(Shape::Flat { width: 7 });
    let x = b.linear("a", 0, 9);
    let x = b.gelu(x);
    let x = b.dropout(x, 0.3);
    b.linear("b", x, 4);
    all.push(("mlp with gelu and dropout", b, vectors(2, 10, 7)));

    let mut b = Builder::new(Shape::Flat { width: 6 });
    let x = b.linear("a", 0, 8);
    let x = b.batch_norm("n", x);
    let x = b.relu(x);
    b.linear("b", x, 3);
    all.push(("batch norm of vectors", b, vectors(3, 10, 6)));

    for (name, kernel, stride) in [
        ("conv 3x3 stride 1", 3, 1),
        ("conv 3x3 stride 2", 3, 2),
        ("conv 1x1 stride 1", 1, 1),
        ("conv 1x1 stride 2", 1, 2),
    ] {
        // Odd and even sides, odd channels, and a convolution behind another.
        let mut b = Builder::new(map(5, 6, 3));
        let x = b.conv("first", 0, 5, 3, 1);
        let x = b.gelu(x);
        let x = b.conv("second", x, 7, kernel, stride);
        let x = b.pool(x);
        b.linear("l", x, 3);
        all.push((name, b, images(4, 6, 5, 6, 3)));
    }

    let mut b = Builder::new(map(4, 4, 2));
    let x = b.conv("c", 0, 5, 3, 1);
    let x = b.relu(x);
    let y = b.conv("d", x, 5, 3, 1);
    let x = b.add(x, y);
    let x = b.pool(x);
    b.linear("l", x, 3);
    all.push(("relu and sum alone", b, images(5, 6, 4, 4, 2)));

    let mut b = Builder::new(map(6, 4, 3));
    let x = b.conv("c", 0, 4, 3, 1);
    let x = b.batch_norm("n", x);
    let y = b.relu(x);
    let z = b.conv("d", y, 6, 3, 2);
    let z = b.batch_norm("m", z);
    let s = b.conv("s", y, 6, 1, 2);
    let s = b.batch_norm("t", s);
    let x = b.add(z, s);
    let x = b.relu(x);
    let y = b.conv("e", x, 6, 3, 1);
    let y = b.batch_norm("u", y);
    let x = b.add(y, x);
    let x = b.pool(x);
    b.linear("l", x, 3);
    all.push(("residual blocks", b, images(6, 6, 6, 4, 3)));

    let mut all: Vec<_> =
        all.into_iter().map(|(name, b, data)| (name, b.finish().unwrap(), data)).collect();
    for (of, name, loss) in [
        (1, "mlp, binary cross-entropy", Loss::BinaryCrossEntropy),
        (1, "mlp, ranked probability score", Loss::Rps),
        (8, "residual blocks, binary cross-entropy", Loss::BinaryCrossEntropy),
        (8, "residual blocks, ranked probability score", Loss::Rps),
    ] {
        let (_, network, data) = all[of].clone();
        all.push((name, network.with_loss(loss), data));
    }
    all.into_iter().map(|(name, network, data)| (name, Arc::new(network), data)).collect()
}
