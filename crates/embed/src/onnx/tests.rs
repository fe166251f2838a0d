//! Every operator against onnxruntime, and files that are broken in every way we could think of.
//!
//! Graphs and outputs are made by `reference/embed-onnx/operators.py`; the few lines of `numbers`
//! make the same inputs as there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::Value;

use super::model::{Attribute, Constant, Model};
use super::plan::Plan;
use super::tensor::{Scratch, Tensor};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/onnx")).join(name)
}

fn stored(name: &str) -> Vec<u8> {
    std::fs::read(golden(&format!("{name}.onnx"))).unwrap()
}

fn numbers(shape: &[usize]) -> Vec<f32> {
    let count: usize = shape.iter().product();
    (0..count).map(|place| ((place * 7919 % 257) as f32 - 128.0) / 64.0).collect()
}

fn sizes(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect()
}

/// The output `y` of a graph for the input `x` that the reference had.
fn run(bytes: &[u8], shape: &[usize]) -> Result<Tensor, String> {
    let model = Model::parse(bytes)?;
    let plan = Plan::new(&model, "x", "y")?;
    let mut scratch = Scratch::default();
    let first = plan.run(Tensor::plain(shape.to_vec(), numbers(shape)), &mut scratch)?;
    // Once more in used memory: nothing of the first run may be left in the second.
    let again = plan.run(Tensor::plain(shape.to_vec(), numbers(shape)), &mut scratch)?;
    assert!(first.data.iter().zip(&again.data).all(|(a, b)| a.to_bits() == b.to_bits()));
    Ok(again)
}

#[test]
fn operators_give_what_onnxruntime_gives() {
    let text = std::fs::read_to_string(golden("operators.json")).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    let mut wrong = vec![];
    for case in cases.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let y = match run(&stored(name), &sizes(&case["shape"])) {
            Ok(y) => y,
            Err(problem) => {
                wrong.push(format!("{name}: {problem}"));
                continue;
            }
        };
        let wanted: Vec<f64> =
            case["y"].as_array().unwrap().iter().map(|y| y.as_f64().unwrap()).collect();
        let near = |(y, wanted): (&f32, &f64)| {
            (f64::from(*y) - wanted).abs() <= 2e-6 * wanted.abs().max(1.0)
        };
        if y.shape != sizes(&case["into"]) || !y.data.iter().zip(&wanted).all(near) {
            wrong.push(format!("{name}: {:?} {:?}", y.shape, &y.data[..y.data.len().min(6)]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.as_array().unwrap().len() > 80);
}

/// What goes wrong with a graph after a change to what its file says.
fn says(name: &str, shape: &[usize], change: impl Fn(&mut Model)) -> String {
    let mut model = Model::parse(&stored(name)).unwrap();
    change(&mut model);
    let plan = match Plan::new(&model, "x", "y") {
        Ok(plan) => plan,
        Err(problem) => return problem,
    };
    let input = Tensor::plain(shape.to_vec(), numbers(shape));
    plan.run(input, &mut Scratch::default()).unwrap_err()
}

fn set(model: &mut Model, name: &str, value: Attribute) {
    let attributes = &mut model.nodes[0].attributes;
    attributes.retain(|attribute| attribute.0 != name);
    attributes.push((name.to_owned(), value));
}

const CONV: &[usize] = &[1, 3, 7, 6];

#[test]
fn what_is_not_known_is_named() {
    let problem = says("conv", CONV, |model| model.nodes[0].operator = "Erf".to_owned());
    assert!(
        problem.starts_with("node 0 \"make y\" (Erf): this operator is not known"),
        "{problem}"
    );
    assert!(problem.contains("Conv") && problem.contains("elsewhere"), "{problem}");
    let problem = says("conv", CONV, |model| model.nodes[0].domain = "com.other".to_owned());
    assert!(problem.contains("not known"), "{problem}");
    let problem = says("conv", CONV, |model| set(model, "twist", Attribute::Integer(1)));
    assert!(problem.contains("(Conv): attribute twist is not known"), "{problem}");
    let problem = says("conv", CONV, |model| set(model, "group", Attribute::Float(1.0)));
    assert!(problem.contains("attribute group should be a whole number"), "{problem}");
    let problem = says("conv", CONV, |model| model.opset = 6);
    assert!(problem.contains("version 6; 7 to"), "{problem}");
    let problem = says("conv", CONV, |model| model.nodes[0].outputs.push("more".to_owned()));
    assert!(problem.contains("2 outputs; one is computed"), "{problem}");
    let problem = says("conv", CONV, |model| model.nodes[0].inputs.truncate(1));
    assert!(problem.contains("1 inputs do not go"), "{problem}");
}

#[test]
fn parts_that_are_missing_or_in_a_circle_are_named() {
    let problem = says("conv", CONV, |model| drop(model.constants.remove("w")));
    assert!(problem.contains("needs \"w\", which is no tensor of the file"), "{problem}");
    let problem = says("conv", CONV, |model| {
        model.constants.insert("w".to_owned(), Constant::Unusable("it is elsewhere".to_owned()));
    });
    assert!(problem.contains("its weights cannot be used: it is elsewhere"), "{problem}");
    let problem = says("conv", CONV, |model| model.nodes[0].inputs[1] = "x".to_owned());
    assert!(problem.contains("its weights should be stored in the file"), "{problem}");
    let problem =
        says("conv_relu", &[1, 3, 5, 5], |model| model.nodes[0].inputs[0] = "y".to_owned());
    assert!(problem.contains("which node 1 \"make y\" (Relu) makes only later"), "{problem}");
    let problem = says("conv_relu", &[1, 3, 5, 5], |model| model.nodes.swap(0, 1));
    assert!(problem.contains("in a circle or are not sorted"), "{problem}");
    let problem = says("conv_relu", &[1, 3, 5, 5], |model| {
        model.nodes[1].outputs[0] = "c".to_owned();
        model.nodes[1].inputs[0] = "x".to_owned();
        let mut last = Model::parse(&stored("conv_relu")).unwrap();
        model.nodes.extend(last.nodes.pop());
    });
    assert!(problem.contains("makes \"c\", which is there already"), "{problem}");
}

#[test]
fn absurd_sizes_are_refused_before_memory_is_taken() {
    let far = Attribute::Integers(vec![i64::MAX / 4; 4]);
    let problem = says("conv", CONV, |model| set(model, "pads", far.clone()));
    assert!(problem.contains("more than") || problem.contains("window"), "{problem}");
    let problem = says("conv", CONV, |model| {
        set(model, "pads", Attribute::Integers(vec![1 << 20; 4]));
    });
    assert!(problem.contains("has more than"), "{problem}");
    let problem =
        says("conv", CONV, |model| set(model, "strides", Attribute::Integers(vec![0, 1])));
    assert!(problem.contains("strides is [0, 1]; numbers from 1"), "{problem}");
    let problem = says("conv", CONV, |model| {
        set(model, "dilations", Attribute::Integers(vec![i64::MAX, 1]));
    });
    assert!(problem.contains("dilations is"), "{problem}");
    let problem = says("conv", CONV, |model| set(model, "group", Attribute::Integer(-1)));
    assert!(problem.contains("-1 groups"), "{problem}");
    let problem = says("conv", CONV, |model| set(model, "group", Attribute::Integer(7)));
    assert!(problem.contains("in 7 groups"), "{problem}");
    let problem = says("conv", &[1, 4, 7, 6], |_| {});
    assert!(problem.contains("wants 3 channels and gets a shape of [1, 4, 7, 6]"), "{problem}");
    let problem = says("conv", &[1, 3, 2, 6], |_| {});
    assert!(problem.contains("a window of 3 on a side of 2"), "{problem}");
    let problem = says("max_pool", &[2, 3, 7, 7], |model| {
        set(model, "pads", Attribute::Integers(vec![3, 0, 0, 0]));
    });
    assert!(problem.contains("it would see nothing"), "{problem}");
    for shape in [vec![i64::MAX, 2], vec![-1, -1], vec![5, -1], vec![-7], vec![0, 0, 0, 0]] {
        let problem = says("reshape", &[2, 3, 4], |model| {
            model.constants.insert("s".to_owned(), Constant::Integers(shape.clone()));
        });
        assert!(problem.contains("(Reshape)"), "{problem}");
    }
}

#[test]
fn shapes_that_do_not_fit_are_named() {
    assert!(says("sub", &[2, 3, 5], |_| {}).contains("do not go together"));
    assert!(says("concat", &[2, 3, 5], |_| {}).contains("side by side"));
    assert!(says("matmul", &[3, 4], |_| {}).contains("are not multiplied here"));
    assert!(says("gemm", &[3, 4], |_| {}).contains("times 5×20"));
    assert!(says("gemm", &[3, 4, 5], |_| {}).contains("wants a matrix"));
    assert!(says("batch_norm", &[2, 4, 4, 2], |_| {}).contains("3 channels and a shape of"));
    assert!(says("squeeze", &[1, 3, 2, 2], |_| {}).contains("other sizes than 1"));
    assert!(says("softmax_axis", &[6], |_| {}).contains("dimension 1 of a shape with 1"));
    assert!(says("transpose_pixels", &[1, 3, 2], |_| {}).contains("wants N×C×H×W"));
    assert!(says("global_average_pool", &[1, 3, 0, 2], |_| {}).contains("the mean of no pixels"));
}

#[test]
fn broken_files_are_named() {
    let whole = stored("tiny");
    let problem = |bytes: &[u8]| Model::parse(bytes).unwrap_err();
    assert!(problem(&[]).contains("there is no graph in it"));
    assert!(problem(b"PK\x03\x04 something else").contains("not a whole ONNX file"));
    for cut in [whole.len() - 1, whole.len() / 2, 20] {
        let problem = problem(&whole[..cut]);
        assert!(problem.contains("compare its size and checksum"), "{problem}");
    }
    assert!(Model::parse(&whole).is_ok());
}

/// Any outcome is right but a panic, endless work or endless memory.
fn survive(bytes: &[u8], shape: &[usize], outputs: &[&str]) {
    let Ok(model) = Model::parse(bytes) else { return };
    for output in outputs {
        if let Ok(plan) = Plan::new(&model, "x", output) {
            let input = Tensor::plain(shape.to_vec(), numbers(shape));
            drop(plan.run(input, &mut Scratch::default()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        which in 0..8usize,
    ) {
        let (name, shape): (&str, &[usize]) = [
            ("tiny", &[1, 3, 8, 8][..]),
            ("conv_groups", &[1, 6, 5, 5]),
            ("max_pool", &[2, 3, 7, 7]),
            ("reshape", &[2, 3, 4]),
            ("gemm_settings", &[5, 3]),
            ("concat_rows", &[2, 3, 2, 4]),
            ("reduce_mean_flat", &[2, 3, 4]),
            ("batch_norm_pixels", &[2, 3, 4, 2]),
        ][which];
        let mut bytes = stored(name);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survive(&bytes, shape, &["y", "features", "logits"]);
        bytes.truncate(cut.index(bytes.len()));
        survive(&bytes, shape, &["y", "features", "logits"]);
    }
}
