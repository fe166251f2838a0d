//! Golden files: reading them, and comparing with what is in them.

pub(crate) mod curvature;
pub(crate) mod layers;
pub(crate) mod models;
pub(crate) mod optimizers;
pub(crate) mod schedules;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dissensus_engine::cpu::CpuRunner;
use dissensus_engine::network::{Builder, Named, Network, Shape};
use dissensus_engine::{Dataset, Optimizer, Real, Settings, State};
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

/// Where the files lie.
pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
/// A tensor in PyTorch's layout, in f64.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

impl Tensor {
    /// Number `place` along the first axis.
    pub(crate) fn at(&self, place: usize) -> Self {
        let shape = self.shape[1..].to_vec();
        let size: usize = shape.iter().product();
        Self { values: self.values[place * size..][..size].to_vec(), shape }
    }

    /// The shape of an example: what is left of the first axis.
    pub(crate) fn example(&self) -> Shape {
        match self.shape[..] {
            [_, width] => Shape::Flat { width },
            [_, channels, height, width] => Shape::Map { height, width, channels },
            _ => panic!("no examples: {:?}", self.shape),
        }
    }

    /// As the engine has it: NHWC for maps.
    pub(crate) fn ours<F: Real>(&self) -> Vec<F> {
        let mut out = vec![F::ZERO; self.values.len()];
        for (place, &value) in places(&self.shape).zip(&self.values) {
            out[place] = F::of(value);
        }
        out
    }

    /// Rows of probabilities, from such rows or from labels.
    pub(crate) fn targets<F: Real>(&self, classes: usize) -> Vec<F> {
        if self.shape.len() == 2 {
            return self.ours();
        }
        let row = |&label: &f64| {
            (0..classes).map(move |class| F::of(f64::from(u8::from(class as f64 == label))))
        };
        self.values.iter().flat_map(row).collect()
    }
}

/// For every element of a tensor, its place in the engine's order: NCHW becomes NHWC.
fn places(shape: &[usize]) -> Box<dyn Iterator<Item = usize>> {
    match *shape {
        [count, channels, height, width] => Box::new((0..count).flat_map(move |n| {
            (0..channels).flat_map(move |c| {
                (0..height * width).map(move |pixel| (n * height * width + pixel) * channels + c)
            })
        })),
        _ => Box::new(0..shape.iter().product()),
    }
}

/// A golden file, and which of its tensors were looked at.
pub(crate) struct Golden {
    name: &'static str,
    case: Value,
    tensors: BTreeMap<String, Tensor>,
    seen: RefCell<BTreeSet<String>>,
}

impl Golden {
    pub(crate) fn read(name: &'static str) -> Self {
        let bytes = std::fs::read(format!("{FOLDER}/{name}.safetensors")).expect(name);
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let case = &header.metadata().as_ref().expect("metadata")["case"];
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let tensors = tensors.iter().map(|(key, view)| {
            let numbers = view.data().chunks_exact(8).map(|b| <[u8; 8]>::try_from(b).unwrap());
            let values = match view.dtype() {
                Dtype::F64 => numbers.map(f64::from_le_bytes).collect(),
                Dtype::I64 => numbers.map(|b| i64::from_le_bytes(b) as f64).collect(),
                other => panic!("{name}: {key} is {other:?}"),
            };
            (key.to_owned(), Tensor { shape: view.shape().to_vec(), values })
        });
        let (case, tensors) = (serde_json::from_str(case).unwrap(), tensors.collect());
        Self { name, case, tensors, seen: RefCell::default() }
    }

    pub(crate) fn tensor(&self, key: &str) -> &Tensor {
        self.seen.borrow_mut().insert(key.to_owned());
        self.tensors.get(key).unwrap_or_else(|| panic!("{} has no {key}", self.name))
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.tensors.contains_key(key)
    }

    pub(crate) fn setting(&self, key: &str) -> &Value {
        &self.case[key]
    }

    pub(crate) fn number(&self, key: &str) -> f64 {
        self.case[key].as_f64().unwrap_or_else(|| panic!("{}: no number {key}", self.name))
    }

    pub(crate) fn size(&self, key: &str) -> usize {
        self.case[key].as_u64().unwrap_or_else(|| panic!("{}: no size {key}", self.name)) as usize
    }

    /// The flat vector of a network from the tensors under `section/`; `rename` leads from the
    /// network's names to the file's.
    pub(crate) fn vector<F: Real>(
        &self,
        network: &Network,
        section: &str,
        rename: impl Fn(&str) -> String,
    ) -> Vec<F> {
        network.import(|name| self.found(section, &rename(name))).unwrap()
    }

    /// Running statistics, in the same way.
    pub(crate) fn statistics<F: Real>(
        &self,
        network: &Network,
        section: &str,
        rename: impl Fn(&str) -> String,
    ) -> Vec<F> {
        network.import_statistics(|name| self.found(section, &rename(name))).unwrap()
    }

    fn found<F: Real>(&self, section: &str, name: &str) -> Option<(Vec<usize>, Vec<F>)> {
        let key = format!("{section}/{name}");
        self.has(&key).then(|| {
            let tensor = self.tensor(&key);
            (tensor.shape.clone(), tensor.values.iter().map(|&v| F::of(v)).collect())
        })
    }

    /// How far numbers may be from a tensor, relative to its largest: in f64 twenty times as far as
    /// PyTorch's own come when the last bits of what is given change, in f32 five times as far as
    /// PyTorch's float32. Both by file, not by tensor: a tensor of two numbers may be near by luck.
    fn limit<F: Real>(&self) -> f64 {
        let (kind, times, least) = match size_of::<F>() {
            8 => ("float64", 20.0, 1e-14),
            _ => ("float32", 5.0, 1e-6),
        };
        let known = self.case[kind].as_object().expect(kind);
        let worst = known.values().map(|off| off.as_f64().unwrap()).fold(0.0, f64::max);
        // In `resnet18_wide` nothing is given that could change: as deep as `resnet18`.
        if worst == 0.0 && kind == "float64" { 1e-12 } else { (times * worst).max(least) }
    }

    /// Asserts that numbers in PyTorch's order are near a tensor.
    pub(crate) fn assert_near<F: Real>(&self, key: &str, ours: &[F]) {
        let golden = &self.tensor(key).values;
        assert_eq!(ours.len(), golden.len(), "{}: numbers in {key}", self.name);
        let size = golden.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        let (limit, bits) = (self.limit::<F>(), 8 * size_of::<F>());
        for (place, (ours, golden)) in ours.iter().zip(golden).enumerate() {
            let off = (ours.wide() - golden).abs();
            // A NaN is not near.
            assert!(
                off <= limit * size,
                "{}, f{bits}: number {place} of {key} is {ours:?}, not {golden:?}: off by {:e} of \
                 the largest, {limit:e} at most",
                self.name,
                off / size
            );
        }
    }

    /// As [`Golden::assert_near`], from the engine's order.
    pub(crate) fn assert_ours_near<F: Real>(&self, key: &str, ours: &[F]) {
        assert_eq!(ours.len(), self.tensor(key).values.len(), "{}: numbers in {key}", self.name);
        let values: Vec<F> = places(&self.tensor(key).shape).map(|place| ours[place]).collect();
        self.assert_near(key, &values);
    }

    /// Asserts that named tensors have the shapes and, nearly, the numbers of those in `section/`.
    pub(crate) fn assert_all_near<F: Real>(
        &self,
        section: &str,
        ours: &[Named<F>],
        rename: impl Fn(&str) -> String,
    ) {
        for tensor in ours {
            let key = format!("{section}/{}", rename(&tensor.name));
            assert_eq!(tensor.shape, self.tensor(&key).shape, "{}: shape of {key}", self.name);
            self.assert_near(&key, &tensor.values);
        }
    }

    pub(crate) fn assert_all_seen(&self) {
        let seen = self.seen.borrow();
        let left: Vec<_> = self.tensors.keys().filter(|key| !seen.contains(*key)).collect();
        assert!(left.is_empty(), "{}: nothing looked at {left:?}", self.name);
    }
}

/// The same name.
pub(crate) fn same(name: &str) -> String {
    name.to_owned()
}

/// A network from a few lines.
pub(crate) fn network(input: Shape, build: impl FnOnce(&mut Builder)) -> Arc<Network> {
    let mut builder = Builder::new(input);
    build(&mut builder);
    Arc::new(builder.finish().unwrap())
}

/// A data set without examples, for what is given by hand.
pub(crate) fn nothing(shape: Shape) -> Dataset {
    match shape {
        Shape::Flat { width } => Dataset::Vectors { width, values: Arc::new([]) },
        Shape::Map { height, width, channels } => {
            let (mean, deviation) = (vec![0.0; channels], vec![1.0; channels]);
            Dataset::Images { height, width, channels, pixels: Arc::new([]), mean, deviation }
        }
    }
}

/// Vectors as a data set. What is given in a file is exact in f32.
pub(crate) fn vectors(tensor: &Tensor) -> Dataset {
    let exact = |&value: &f64| {
        assert_eq!(f64::from(value as f32), value, "not exact in f32");
        value as f32
    };
    let width = *tensor.shape.last().unwrap();
    Dataset::Vectors { width, values: tensor.values.iter().map(exact).collect() }
}

/// A runner on one thread, with these parameters and fresh statistics.
pub(crate) fn runner<F: Real>(
    network: &Arc<Network>,
    data: &Dataset,
    batch: usize,
    optimizer: Optimizer,
    parameters: Vec<F>,
) -> CpuRunner<F> {
    let state = State { parameters, ..State::fresh(network, &optimizer, 0) };
    CpuRunner::new(
        network,
        data,
        &Settings { precision: Default::default(), batch, optimizer, threads: 1 },
        state,
    )
    .unwrap()
}

/// SGD with nothing to it, where no step is taken.
pub(crate) const PLAIN: Optimizer =
    Optimizer::Sgd { momentum: 0.0, nesterov: false, weight_decay: 0.0 };
