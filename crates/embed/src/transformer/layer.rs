//! A layer of an encoder, and a stack of them.
//!
//! Norms stand after each half (BERT) or before it (vision transformers):
//!
//! * after: x ← norm(x + attention(x)), x ← norm(x + mlp(x));
//! * before: x ← x + attention(norm(x)), x ← x + mlp(norm(x));
//!
//! where mlp(x) = act(x·U + u)·D + d.

use dissensus_linalg::{Packed, Product};
use pulp::Arch;

use super::attention::Head;
use super::rows::{Norm, gelu_all, gelu_tanh_all};

/// What stands between the two matrices of a layer's perceptron.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Gelu,
    GeluTanh,
    Relu,
}

impl Act {
    /// By the name that Hugging Face's configurations use.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        match name {
            "gelu" => Ok(Self::Gelu),
            "gelu_new" | "gelu_pytorch_tanh" => Ok(Self::GeluTanh),
            "relu" => Ok(Self::Relu),
            _ => Err(format!(
                "hidden_act is {name:?}; gelu, gelu_new, gelu_pytorch_tanh or relu are read"
            )),
        }
    }

    fn apply(self, arch: Arch, numbers: &mut [f32]) {
        match self {
            Self::Gelu => gelu_all(arch, numbers),
            Self::GeluTanh => gelu_tanh_all(arch, numbers),
            Self::Relu => numbers.iter_mut().for_each(|x| *x = x.max(0.0)),
        }
    }
}

/// y = x·Wᵀ + b, with W as PyTorch stores it.
pub(crate) struct Linear {
    weights: Packed,
    bias: Vec<f32>,
    inputs: usize,
}

impl Linear {
    /// `weight` has a row of inputs for each of the outputs, as many as `bias` has.
    pub(crate) fn new(arch: Arch, weight: &[f32], mut bias: Vec<f32>) -> Self {
        let outputs = bias.len();
        let inputs = weight.len() / outputs.max(1);
        let mut weights = Packed::empty(arch);
        weights.fill_transposed(weight, inputs, inputs, outputs);
        bias.resize(weights.padded(), 0.0);
        Self { weights, bias, inputs }
    }

    /// out ← x·Wᵀ + b, or added to what is there.
    pub(crate) fn apply(&self, arch: Arch, x: &[f32], add: bool, out: &mut [f32]) {
        let product = Product::new(x, x.len() / self.inputs, &self.weights, out);
        Product { bias: &self.bias, add, ..product }.compute(arch);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Norms {
    /// After each half, over its sum with what went in.
    After,
    /// Before each half.
    Before,
}

/// The parameters of a layer.
pub(crate) struct Layer {
    /// Queries, keys and values in one product.
    pub(crate) qkv: Linear,
    pub(crate) output: Linear,
    pub(crate) attention_norm: Norm,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    pub(crate) mlp_norm: Norm,
}

/// What all layers of a stack have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) width: usize,
    pub(crate) heads: usize,
    /// Width between the two matrices of the perceptron.
    pub(crate) inner: usize,
    pub(crate) act: Act,
    pub(crate) norms: Norms,
}

impl Shape {
    /// Refuses a width that the heads cannot share, and an ε that is none, by the names that they
    /// have in a `config.json`.
    pub(crate) fn check(width: usize, heads: usize, epsilon: f32) -> Result<(), String> {
        if !width.is_multiple_of(heads) {
            return Err(format!("a hidden_size of {width} cannot be shared by {heads} heads"));
        }
        if !(epsilon >= 0.0 && epsilon.is_finite()) {
            return Err(format!("layer_norm_eps is {epsilon}; 0 or more is needed"));
        }
        Ok(())
    }
}

/// Layers, one on the other.
pub(crate) struct Stack {
    pub(crate) shape: Shape,
    pub(crate) layers: Vec<Layer>,
}

/// Room that one thread computes in, kept from batch to batch.
pub(crate) struct Work {
    head: Head,
    normed: Vec<f32>,
    qkv: Vec<f32>,
    context: Vec<f32>,
    inner: Vec<f32>,
}

impl Work {
    pub(crate) fn new(arch: Arch) -> Self {
        let (normed, qkv, context, inner) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { head: Head::new(arch), normed, qkv, context, inner }
    }
}

impl Stack {
    /// Takes tokens through all layers, in place: rows of the stack's width, sequence after
    /// sequence of the given lengths.
    pub(crate) fn apply(&self, arch: Arch, x: &mut [f32], lengths: &[usize], work: &mut Work) {
        let Shape { width, heads, inner, act, norms } = self.shape;
        let tokens = x.len() / width;
        work.qkv.resize(tokens * 3 * width, 0.0);
        work.context.resize(tokens * width, 0.0);
        work.inner.resize(tokens * inner, 0.0);
        for layer in &self.layers {
            let from = before(arch, norms, &layer.attention_norm, x, &mut work.normed);
            layer.qkv.apply(arch, from, false, &mut work.qkv);
            work.head.attend(arch, &work.qkv, lengths, width, heads, &mut work.context);
            layer.output.apply(arch, &work.context, true, x);
            after(arch, norms, &layer.attention_norm, x);

            let from = before(arch, norms, &layer.mlp_norm, x, &mut work.normed);
            layer.up.apply(arch, from, false, &mut work.inner);
            act.apply(arch, &mut work.inner);
            layer.down.apply(arch, &work.inner, true, x);
            after(arch, norms, &layer.mlp_norm, x);
        }
    }
}

/// What a half reads: x itself, or its norm.
fn before<'a>(
    arch: Arch,
    norms: Norms,
    norm: &Norm,
    x: &'a [f32],
    normed: &'a mut Vec<f32>,
) -> &'a [f32] {
    if norms == Norms::After {
        return x;
    }
    normed.clear();
    normed.extend_from_slice(x);
    norm.apply(arch, normed);
    normed
}

fn after(arch: Arch, norms: Norms, norm: &Norm, x: &mut [f32]) {
    if norms == Norms::After {
        norm.apply(arch, x);
    }
}
