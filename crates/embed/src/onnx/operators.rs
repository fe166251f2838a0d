//! The operators that are known: how each is read from its node, and how it runs.
//!
//! What a node needs before it runs (weights, shapes, bounds) has to be stored in the file; what
//! it computes with may come from another node. An operator, an attribute or a version that is
//! not known is an error: a guess would give other numbers without a word.

use std::sync::Arc;

use super::attributes::Attributes;
use super::conv::Conv;
use super::matrix::{Gemm, matmul};
use super::model::{Constant, Node};
use super::pointwise::{Binary, Unary, affine};
use super::pool::Pool;
use super::product::Bounds;
use super::shaping;
use super::tensor::{Scratch, Tensor};
use super::window::Window;

/// A node's work, with all that it needs to know.
#[derive(Debug)]
pub(super) enum Op {
    Conv(Box<Conv>),
    Pool(Pool),
    Unary(Unary),
    Binary(Binary),
    Affine { scale: Vec<f32>, shift: Vec<f32> },
    Gemm(Gemm),
    MatMul,
    Flatten(i64),
    Reshape { shape: Vec<i64>, zero_is_meant: bool },
    Squeeze(Option<Vec<i64>>),
    Unsqueeze(Vec<i64>),
    Transpose(Option<Vec<i64>>),
    Concat(i64),
    Mean { axes: Option<Vec<i64>>, keep: bool },
    Softmax { axis: i64, and_after: bool },
    Identity,
    Constant(Constant),
}

/// What a node gets in one of its places.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument<'a> {
    Absent,
    Computed,
    Stored(&'a Constant),
}

/// An operator by name: how many inputs it takes, and how it is read.
struct Operator {
    name: &'static str,
    inputs: (usize, usize),
    read: Read,
}

type Read = fn(&mut Reading<'_>) -> Result<Op, String>;

const fn operator(name: &'static str, least: usize, most: usize, read: Read) -> Operator {
    Operator { name, inputs: (least, most), read }
}

const MANY: usize = usize::MAX;

const OPERATORS: &[Operator] = &[
    operator("Add", 2, 2, |_| Ok(Op::Binary(Binary::Add))),
    operator("AveragePool", 1, 1, |it| it.mean_pool()),
    operator("BatchNormalization", 5, 5, |it| it.batch_norm()),
    operator("Clip", 1, 3, |it| it.clip()),
    operator("Concat", 1, MANY, |it| it.concat()),
    operator("Constant", 0, 0, |it| it.constant()),
    operator("Conv", 2, 3, |it| it.conv()),
    operator("Div", 2, 2, |_| Ok(Op::Binary(Binary::Divide))),
    operator("Flatten", 1, 1, |it| it.flatten()),
    operator("Gemm", 2, 3, |it| it.gemm()),
    operator("GlobalAveragePool", 1, 1, |_| Ok(Op::Pool(Pool::Whole))),
    operator("HardSigmoid", 1, 1, |it| it.hard_sigmoid()),
    operator("HardSwish", 1, 1, |_| Ok(Op::Unary(Unary::HardSwish))),
    operator("Identity", 1, 1, |_| Ok(Op::Identity)),
    operator("MatMul", 2, 2, |_| Ok(Op::MatMul)),
    operator("MaxPool", 1, 1, |it| it.max_pool()),
    operator("Mul", 2, 2, |_| Ok(Op::Binary(Binary::Multiply))),
    operator("ReduceMean", 1, 2, |it| it.mean()),
    operator("Relu", 1, 1, |_| Ok(Op::Unary(Unary::Clip(Bounds::POSITIVE)))),
    operator("Reshape", 2, 2, |it| it.reshape()),
    operator("Sigmoid", 1, 1, |_| Ok(Op::Unary(Unary::Sigmoid))),
    operator("Softmax", 1, 1, |it| it.softmax()),
    operator("Squeeze", 1, 2, |it| it.squeeze()),
    operator("Sub", 2, 2, |_| Ok(Op::Binary(Binary::Subtract))),
    operator("Transpose", 1, 1, |it| it.transpose()),
    operator("Unsqueeze", 1, 2, |it| it.unsqueeze()),
];

/// A node that is being read.
struct Reading<'a> {
    attributes: Attributes<'a>,
    arguments: &'a [Argument<'a>],
    opset: i64,
    /// The places whose tensors the operator is run with; all, unless said otherwise.
    uses: Option<usize>,
}

impl Op {
    /// Reads a node; answers how many of its first inputs it is run with, too.
    pub(super) fn read(
        node: &Node,
        arguments: &[Argument<'_>],
        opset: i64,
    ) -> Result<(Self, usize), String> {
        let known = OPERATORS.iter().find(|operator| operator.name == node.operator);
        let Some(operator) = known.filter(|_| node.domain.is_empty() || node.domain == "ai.onnx")
        else {
            let names: Vec<&str> = OPERATORS.iter().map(|operator| operator.name).collect();
            return Err(format!(
                "this operator is not known here; known are {}: take another model, or compute \
                 the vectors elsewhere and give them as a matrix",
                names.join(", ")
            ));
        };
        let (least, most) = operator.inputs;
        if !(least..=most).contains(&arguments.len()) {
            return Err(format!("{} inputs do not go with this operator", arguments.len()));
        }
        let attributes = Attributes::new(node);
        let mut reading = Reading { attributes, arguments, opset, uses: None };
        let op = (operator.read)(&mut reading)?;
        reading.attributes.finish()?;
        Ok((op, reading.uses.unwrap_or(arguments.len())))
    }

    pub(super) fn run(&self, inputs: &[&Tensor], scratch: &mut Scratch) -> Result<Tensor, String> {
        match (self, inputs) {
            (Self::Concat(axis), parts) => shaping::concat(parts, *axis, scratch),
            (Self::Gemm(gemm), inputs) => gemm.run(inputs, scratch),
            (Self::Binary(binary), [a, b]) => binary.run(a, b, scratch),
            (Self::MatMul, [a, b]) => matmul(a, b, scratch),
            (one, [x]) => one.run_one(x, scratch),
            _ => Err(format!("{} inputs do not go with this operator", inputs.len())),
        }
    }

    fn run_one(&self, x: &Tensor, scratch: &mut Scratch) -> Result<Tensor, String> {
        match self {
            Self::Conv(conv) => conv.run(x, scratch),
            Self::Pool(pool) => pool.run(x, scratch),
            Self::Unary(unary) => Ok(unary.run(x, scratch)),
            Self::Affine { scale, shift } => affine(x, scale, shift, scratch),
            Self::Flatten(axis) => shaping::flatten(x, *axis, scratch),
            Self::Reshape { shape, zero_is_meant } => {
                shaping::reshape(x, shape, *zero_is_meant, scratch)
            }
            Self::Squeeze(axes) => shaping::squeeze(x, axes.as_deref(), scratch),
            Self::Unsqueeze(axes) => shaping::unsqueeze(x, axes, scratch),
            Self::Transpose(order) => shaping::transpose(x, order.as_deref(), scratch),
            Self::Mean { axes, keep } => shaping::mean(x, axes.as_deref(), *keep, scratch),
            Self::Softmax { axis, and_after } => shaping::softmax(x, *axis, *and_after, scratch),
            Self::Identity => Ok(x.clone()),
            _ => Err("one input does not go with this operator".to_owned()),
        }
    }
}

impl<'a> Reading<'a> {
    /// A stored tensor of floats; `None` where the place is empty.
    fn floats(&self, place: usize, name: &str) -> Result<Option<&'a Arc<Tensor>>, String> {
        match self.arguments.get(place) {
            None | Some(Argument::Absent) => Ok(None),
            Some(Argument::Stored(Constant::Floats(tensor))) => Ok(Some(tensor)),
            Some(argument) => Err(format!("its {name} {}", argument.instead("floats"))),
        }
    }

    fn needed(&self, place: usize, name: &str) -> Result<&'a Arc<Tensor>, String> {
        self.floats(place, name)?.ok_or_else(|| format!("its {name} are missing"))
    }

    /// A stored tensor of whole numbers, or an attribute of older versions.
    fn integers(&mut self, place: usize, name: &str) -> Result<Option<Vec<i64>>, String> {
        self.uses = Some(1);
        match self.arguments.get(place) {
            None | Some(Argument::Absent) => self.attributes.integers(name),
            Some(Argument::Stored(Constant::Integers(numbers))) => Ok(Some(numbers.clone())),
            Some(argument) => Err(format!("its {name} {}", argument.instead("whole numbers"))),
        }
    }

    fn conv(&mut self) -> Result<Op, String> {
        let (weights, bias) = (self.needed(1, "weights")?, self.floats(2, "bias")?);
        self.uses = Some(1);
        let [_, _, height, width] = weights.picture()?;
        let groups = self.attributes.integer("group")?.unwrap_or(1);
        let groups = usize::try_from(groups).map_err(|_| format!("{groups} groups"))?;
        let window = Window::read(&mut self.attributes, Some([height, width]))?;
        Ok(Op::Conv(Box::new(Conv::new(window, groups, weights, bias.map(Arc::as_ref))?)))
    }

    fn pool(&mut self) -> Result<Window, String> {
        let window = Window::read(&mut self.attributes, None)?;
        if window.may_be_empty() {
            return Err("padding as wide as its window: it would see nothing".to_owned());
        }
        Ok(window)
    }

    fn max_pool(&mut self) -> Result<Op, String> {
        // The order of the second output, which is not computed.
        self.attributes.integer("storage_order")?;
        Ok(Op::Pool(Pool::Max(self.pool()?)))
    }

    fn mean_pool(&mut self) -> Result<Op, String> {
        let padding_counts = self.attributes.flag("count_include_pad")?.unwrap_or(false);
        Ok(Op::Pool(Pool::Mean { window: self.pool()?, padding_counts }))
    }

    fn clip(&mut self) -> Result<Op, String> {
        self.uses = Some(1);
        let mut bounds = [f32::NEG_INFINITY, f32::INFINITY];
        for (place, (name, bound)) in ["min", "max"].iter().zip(&mut bounds).enumerate() {
            // Inputs since version 11, attributes before.
            if let Some(stored) = self.floats(place + 1, name)? {
                *bound = *stored.data.first().ok_or_else(|| format!("its {name} is empty"))?;
            } else if let Some(number) = self.attributes.float(name)? {
                *bound = number;
            }
        }
        Ok(Op::Unary(Unary::Clip(Bounds(bounds[0], bounds[1]))))
    }

    fn hard_sigmoid(&mut self) -> Result<Op, String> {
        let alpha = self.attributes.float("alpha")?.unwrap_or(0.2);
        let beta = self.attributes.float("beta")?.unwrap_or(0.5);
        Ok(Op::Unary(Unary::HardSigmoid(alpha, beta)))
    }

    fn batch_norm(&mut self) -> Result<Op, String> {
        self.uses = Some(1);
        let [scale, shift, mean, variance] = [
            self.needed(1, "scales")?,
            self.needed(2, "shifts")?,
            self.needed(3, "means")?,
            self.needed(4, "variances")?,
        ];
        let lengths = [scale, shift, mean, variance].map(|tensor| tensor.data.len());
        if lengths.iter().any(|length| *length != lengths[0]) {
            return Err(format!("{lengths:?} scales, shifts, means and variances"));
        }
        let epsilon = self.attributes.float("epsilon")?.unwrap_or(1e-5);
        // How statistics move in training, which this is not.
        self.attributes.float("momentum")?;
        let training = self.attributes.flag("training_mode")?.unwrap_or(false);
        if training || !self.attributes.flag("spatial")?.unwrap_or(true) {
            return Err("only stored statistics, a number a channel, are used here".to_owned());
        }
        let root = variance.data.iter().map(|variance| (variance + epsilon).sqrt());
        let scale: Vec<f32> =
            scale.data.iter().zip(root).map(|(scale, root)| scale / root).collect();
        let centre = mean.data.iter().zip(&scale).map(|(mean, scale)| mean * scale);
        let shift = shift.data.iter().zip(centre).map(|(shift, centre)| shift - centre).collect();
        Ok(Op::Affine { scale, shift })
    }

    fn gemm(&mut self) -> Result<Op, String> {
        let mut gemm = Gemm {
            alpha: self.attributes.float("alpha")?.unwrap_or(1.0),
            beta: self.attributes.float("beta")?.unwrap_or(1.0),
            transposed: [
                self.attributes.flag("transA")?.unwrap_or(false),
                self.attributes.flag("transB")?.unwrap_or(false),
            ],
            packed: None,
        };
        let stored = |place: usize| match self.arguments.get(place) {
            Some(Argument::Stored(Constant::Floats(tensor))) => Some(tensor.as_ref()),
            _ => None,
        };
        let c_is_computed = matches!(self.arguments.get(2), Some(Argument::Computed));
        if let (Some(b), false) = (stored(1), c_is_computed) {
            gemm.prepare(b, stored(2))?;
        }
        self.uses = gemm.packed.as_ref().map(|_| 1);
        Ok(Op::Gemm(gemm))
    }

    fn flatten(&mut self) -> Result<Op, String> {
        Ok(Op::Flatten(self.attributes.integer("axis")?.unwrap_or(1)))
    }

    fn reshape(&mut self) -> Result<Op, String> {
        let zero_is_meant = self.attributes.flag("allowzero")?.unwrap_or(false);
        let shape = self.integers(1, "shape")?.ok_or("its shape is missing")?;
        Ok(Op::Reshape { shape, zero_is_meant })
    }

    fn squeeze(&mut self) -> Result<Op, String> {
        Ok(Op::Squeeze(self.integers(1, "axes")?))
    }

    fn unsqueeze(&mut self) -> Result<Op, String> {
        Ok(Op::Unsqueeze(self.integers(1, "axes")?.ok_or("its axes are missing")?))
    }

    fn transpose(&mut self) -> Result<Op, String> {
        Ok(Op::Transpose(self.attributes.integers("perm")?))
    }

    fn concat(&mut self) -> Result<Op, String> {
        Ok(Op::Concat(self.attributes.integer("axis")?.ok_or("has no attribute axis")?))
    }

    fn mean(&mut self) -> Result<Op, String> {
        let keep = self.attributes.flag("keepdims")?.unwrap_or(true);
        let nothing = self.attributes.flag("noop_with_empty_axes")?.unwrap_or(false);
        let axes = self.integers(1, "axes")?.filter(|axes| !axes.is_empty());
        if nothing && axes.is_none() {
            return Ok(Op::Identity);
        }
        Ok(Op::Mean { axes, keep })
    }

    fn softmax(&mut self) -> Result<Op, String> {
        // Version 13 made it one dimension, the last by default; before it was all from the second.
        let and_after = self.opset < 13;
        let axis = self.attributes.integer("axis")?;
        Ok(Op::Softmax { axis: axis.unwrap_or(if and_after { 1 } else { -1 }), and_after })
    }

    fn constant(&mut self) -> Result<Op, String> {
        let stored = self.attributes.tensor("value")?;
        let float = self.attributes.float("value_float")?;
        let float = float.map(|number| Tensor::plain(vec![], vec![number]));
        let integer = self.attributes.integer("value_int")?.map(|number| vec![number]);
        let integers = self.attributes.integers("value_ints")?.or(integer);
        let constant = stored
            .or(float.map(|tensor| Constant::Floats(Arc::new(tensor))))
            .or(integers.map(Constant::Integers));
        Ok(Op::Constant(constant.ok_or("has no value")?))
    }
}

impl Argument<'_> {
    /// Why something else than what was wanted is of no use.
    pub(super) fn instead(&self, wanted: &str) -> String {
        match self {
            Self::Stored(Constant::Unusable(problem)) => format!("cannot be used: {problem}"),
            Self::Stored(_) => format!("should be {wanted}"),
            Self::Computed => "should be stored in the file, not computed".to_owned(),
            Self::Absent => "are missing".to_owned(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_names_are_unique() {
        assert!(OPERATORS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
