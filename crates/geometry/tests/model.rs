//! The glue over a runner.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::compared::{Compared, Refresh, SMALL, Setup, walk};
use dissensus_engine::device::Targets;
use dissensus_geometry::barrier::{BarrierSettings, Statistics};
use dissensus_geometry::curvature::{Operator, PowerSettings, power};
use dissensus_geometry::model::{Grouping, Hessian, blocks, last_layer, soft_nll};

fn compared() -> Compared {
    Compared::new(Setup { width: 2, side: 8, training: 32, judged: 16, epochs: 1, ..SMALL })
}

#[test]
fn blocks_cover_all_parameters_once() {
    let compared = compared();
    let counts = [(Grouping::Tensor, 62), (Grouping::Layer, 41), (Grouping::Stage, 7)];
    for (grouping, count) in counts {
        let found = blocks(&compared.network, grouping);
        assert_eq!(found.len(), count, "{grouping:?}");
        let mut all: Vec<_> = found.iter().flat_map(|block| block.ranges.clone()).collect();
        all.sort_by_key(|range| range.start);
        assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(all.last().unwrap().end, compared.network.parameter_count());
    }
    let stages = blocks(&compared.network, Grouping::Stage);
    let names: Vec<&str> = stages.iter().map(|block| block.name.as_str()).collect();
    assert_eq!(names, ["conv1", "bn1", "layer1", "layer2", "layer3", "layer4", "fc"]);
}

/// The logits from features and the head, and their loss, are the engine's own.
#[test]
fn the_head_and_the_loss_are_the_engine_s() {
    let mut compared = compared();
    let (rows, runner) = (compared.judged.clone(), &mut *compared.runner);
    let parameters = runner.state().unwrap().parameters;
    let found = last_layer(&compared.network, &parameters).unwrap();
    assert_eq!((found.classes, found.width), (10, 16));
    let (logits, features) = (runner.logits(&rows).unwrap(), runner.features(&rows).unwrap());
    for (z, h) in logits.chunks(10).zip(features.chunks(16)) {
        for (class, z) in z.iter().enumerate() {
            let row = &found.weights[class * 16..][..16];
            let own: f32 = row.iter().zip(h).map(|(w, h)| w * h).sum();
            assert!((own + found.bias[class] - z).abs() < 1e-4, "{own} {z}");
        }
    }
    let (loss, _) = runner.gradient(&rows, Targets::Distributions(&compared.targets)).unwrap();
    let ours = soft_nll(&logits, &rows, &compared.targets, 10).unwrap();
    assert!((ours - loss).abs() < 1e-5, "{ours} {loss}");
    assert!(soft_nll(&logits[1..], &rows, &compared.targets, 10).is_err());
    assert!(soft_nll(&[], &[], &compared.targets, 10).is_err());
    assert!(soft_nll(&[0.0; 10], &[48], &compared.targets, 10).is_err());
    assert!(last_layer(&compared.network, &parameters[1..]).is_err());
}

#[test]
fn a_walk_leaves_the_runner_as_it_was() {
    let mut compared = compared();
    let before = compared.runner.state().unwrap();
    let refresh = Refresh { rows: &compared.training, batch: 32 };
    let mut barriers = Vec::new();
    for statistics in [Statistics::Interpolated, Statistics::Recomputed] {
        let settings = BarrierSettings { points: 3, statistics };
        let ends = [&compared.weights[0], &compared.weights[1]];
        let found = walk(
            &mut *compared.runner,
            &compared.network,
            ends,
            &compared.judged,
            &compared.targets,
            refresh,
            &settings,
        );
        barriers.push(found.unwrap().path[1].loss);
        assert!(compared.runner.state().unwrap() == before);
    }
    assert!((barriers[0] - barriers[1]).abs() > 1e-6, "the modes differ: {barriers:?}");
}

#[test]
fn rows_that_are_not_there_are_an_error() {
    let mut compared = compared();
    let targets = Targets::Distributions(&compared.targets);
    assert!(Hessian::new(&mut *compared.runner, &compared.network, &[], targets).is_err());
    let mut hessian =
        Hessian::new(&mut *compared.runner, &compared.network, &[48], targets).unwrap();
    assert_eq!(hessian.len(), compared.network.parameter_count());
    let error = power(&mut hessian, &PowerSettings::default()).unwrap_err().to_string();
    assert!(error.contains("row 48"), "{error}");
}
