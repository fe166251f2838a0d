//! The same bits for any number of threads, and for any lane beside it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::Arc;

use common::{distributions, images, runner, vectors};
use dissensus_engine::device::{Mixture, Shift, Targets};
use dissensus_engine::network::Network;
use dissensus_engine::{Dataset, Epoch, Mode, Model, Optimizer, Runner};

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn trained(
    network: &Arc<Network>,
    data: &Dataset,
    optimizer: Optimizer,
    batch: usize,
    threads: usize,
) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let mut runner = runner::<f32>(network, data, optimizer, batch, threads);
    let rows: Vec<u32> = (0..data.len() as u32).rev().collect();
    let table = distributions(3, data.len(), network.classes());
    let shifts: Vec<Shift> = rows
        .iter()
        .map(|&row| Shift { down: row as i8 % 3 - 1, right: 2 - row as i8 % 5, flip: row % 2 == 0 })
        .collect();
    let partner: Vec<u32> =
        rows.chunks(batch).flat_map(|rows| (0..rows.len() as u32).rev()).collect();
    let lambda = vec![0.7; data.len().div_ceil(batch)];
    for number in 0..2 {
        let epoch = Epoch {
            number,
            seed: 4,
            visits: &rows,
            batch,
            rate: 0.05,
            samples: Targets::Distributions(&table).into(),
            shifts: Some(&shifts),
            mixture: (number == 1).then_some(Mixture { lambda: &lambda, partner: &partner }),
            mode: Mode::Train,
        };
        assert!(runner.train(&epoch).unwrap().is_finite());
    }
    let logits = runner.logits(&rows).unwrap();
    let product = {
        let direction: Vec<f32> =
            common::noise(9, network.parameter_count()).iter().map(|&v| v as f32).collect();
        let targets = Targets::Distributions(&table);
        runner.product(&rows, targets, Mode::Eval, &direction).unwrap()
    };
    (bits(&runner.current().parameters), bits(&logits), bits(&product))
}

#[test]
fn threads_do_not_change_a_bit() {
    let sgd = Optimizer::Sgd { momentum: 0.9, nesterov: false, weight_decay: 5e-4 };
    let adam = Optimizer::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 1e-4 };
    // Large enough that every kind of work is cut into several tasks.
    let small = images(1, 20, 24, 24, 3);
    let resnet = Model::named("resnet18")
        .unwrap()
        .with("width", 16_u64)
        .unwrap()
        .network(small.shape(), 10)
        .unwrap();
    let long = vectors(2, 50, 3072);
    let mlp = Model::named("mlp").unwrap().network(long.shape(), 5).unwrap();
    for (network, data, optimizer, batch) in [(resnet, small, sgd, 8), (mlp, long, adam, 32)] {
        let network = Arc::new(network);
        let one = trained(&network, &data, optimizer, batch, 1);
        for threads in [2, 3] {
            let many = trained(&network, &data, optimizer, batch, threads);
            assert!(one == many, "{threads} threads change the result");
        }
    }
}
