//! Writes what `reference/geometry/golden.py` reads: two nets, images, targets, and what this
//! crate says about them.
//!
//!     cargo run --release -p dissensus-geometry --example export -- FOLDER [WIDTH SIDE JUDGED]
//!
//! Without a width it is what the golden file is of.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::Path;
use std::time::Instant;

use common::compared::{CLASSES, Compared, SHOWN, SMALL, Setup};
use dissensus_engine::Dataset;
use dissensus_engine::network::Layout;
use safetensors::Dtype;
use safetensors::tensor::{TensorView, serialize_to_file};
use serde_json::json;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments[at].parse::<usize>().unwrap();
    let setup = match arguments.len() {
        1 => SMALL,
        4 => Setup {
            width: number(1),
            side: number(2),
            judged: number(3),
            training: 256,
            epochs: 2,
            batch: 64,
            iterations: 12,
            probes: 3,
            steps: 12,
            points: 3,
            threads: 0,
        },
        _ => panic!("FOLDER, or FOLDER WIDTH SIDE JUDGED"),
    };
    let folder = Path::new(&arguments[0]);
    std::fs::create_dir_all(folder).unwrap();
    let mut compared = Compared::new(setup);
    for (name, weights) in ["a", "b"].iter().zip(&compared.weights) {
        let mut all = compared.network.export(&weights.parameters);
        all.extend(compared.network.export_statistics(&weights.statistics));
        let views: Vec<(String, Vec<usize>, Vec<u8>)> = all
            .into_iter()
            .map(|t| (t.name, t.shape, t.values.iter().flat_map(|v| v.to_le_bytes()).collect()))
            .collect();
        let views = views.iter().map(|(name, shape, bytes)| {
            (name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap())
        });
        serialize_to_file(views, None, &folder.join(format!("{name}.safetensors"))).unwrap();
    }
    let Dataset::Images { pixels, mean, deviation, .. } = &compared.dataset.clone() else {
        panic!("images")
    };
    let shape = vec![pixels.len() / (setup.side * setup.side * 3), setup.side, setup.side, 3];
    let targets: Vec<u8> = compared.targets.iter().flat_map(|v| v.to_le_bytes()).collect();
    let views = [
        ("pixels", TensorView::new(Dtype::U8, shape.clone(), pixels).unwrap()),
        ("targets", TensorView::new(Dtype::F32, vec![shape[0], CLASSES], &targets).unwrap()),
    ];
    serialize_to_file(views, None, &folder.join("data.safetensors")).unwrap();
    let parameters: Vec<_> = compared
        .network
        .parameters()
        .iter()
        .map(|p| {
            let layout = match p.layout {
                Layout::Conv { .. } => "conv",
                Layout::Linear { .. } => "linear",
                Layout::Vector { .. } => "vector",
            };
            json!({"name": p.name, "layout": layout})
        })
        .collect();
    let start = Instant::now();
    let ours = compared.found();
    println!("ours took {:.1} s", start.elapsed().as_secs_f64());
    let text = json!({
        "width": setup.width, "training": setup.training, "judged": setup.judged,
        "batch": setup.batch, "iterations": setup.iterations, "probes": setup.probes,
        "steps": setup.steps, "points": setup.points, "shown": SHOWN, "classes": CLASSES,
        "mean": mean, "deviation": deviation, "parameters": parameters, "ours": ours,
    });
    std::fs::write(folder.join("setup.json"), text.to_string()).unwrap();
}
