//! A network as data: which operations, on which shapes, with which parameters.
//!
//! A model is described once, as a list of nodes in the order of computation; a device turns the
//! description into buffers and passes. Nothing here computes. Parameters live in one flat vector
//! (so that an optimizer, a Hessian-vector product or a copy is one loop) and batch statistics in
//! another; [`Parameter`] says which stretch is which tensor.
//!
//! Images are N×H×W×C. Inside the flat vector a convolution's weights are \[ky\]\[kx\]\[in\]\[out\] and
//! a linear layer's \[in\]\[out\]: the innermost loop of every pass then runs over output channels.
//! [`Network::export`] and [`Network::import`] translate to and from the layouts of PyTorch.

use crate::error::EngineError;
use crate::head::Head;
use crate::losses::Loss;
use crate::scalar::Real;

/// What an example looks like at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// An image or a stack of feature maps.
    Map {
        /// Rows of pixels.
        height: usize,
        /// Pixels in a row.
        width: usize,
        /// Numbers in a pixel.
        channels: usize,
    },
    /// A plain vector.
    Flat {
        /// Its length.
        width: usize,
    },
}

impl Shape {
    /// Numbers in one example.
    pub fn len(&self) -> usize {
        match *self {
            Self::Map { height, width, channels } => height * width * channels,
            Self::Flat { width } => width,
        }
    }

    /// True when an example holds no number.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Channels of a map, the width of a vector.
    pub fn channels(&self) -> usize {
        match *self {
            Self::Map { channels, .. } => channels,
            Self::Flat { width } => width,
        }
    }
}

/// A node's place in the list of nodes.
pub type NodeId = usize;
/// A parameter's place in the list of parameters.
pub type ParameterId = usize;

/// What a node computes from its inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// The examples themselves.
    Input,
    /// A convolution without bias, padded so that a stride of 1 keeps the size.
    Conv {
        weight: ParameterId,
        /// Side of the kernel: 1 or 3.
        kernel: usize,
        /// Step between output pixels: 1 or 2.
        stride: usize,
    },
    /// x·W + b.
    Linear { weight: ParameterId, bias: ParameterId },
    /// Batch normalization over examples and pixels, by channel.
    BatchNorm {
        /// γ, which multiplies.
        scale: ParameterId,
        /// β, which is added.
        shift: ParameterId,
        /// Where its running mean starts in the statistics; the variance follows it.
        statistics: usize,
    },
    /// max(x, 0).
    Relu,
    /// x·Φ(x), with the exact normal distribution function.
    Gelu,
    /// Zero with this probability in training, and scaled so that the mean stays.
    Dropout {
        /// The probability.
        rate: f64,
    },
    /// The sum of two nodes.
    Add,
    /// The mean over pixels, by channel.
    Pool,
}

/// A node: an operation, where its inputs come from, and the shape of its output.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it computes.
    pub op: Op,
    /// From which nodes; all stand before it.
    pub inputs: Vec<NodeId>,
    /// The shape of an example at its output.
    pub shape: Shape,
}

/// How a parameter lies in the flat vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// \[ky\]\[kx\]\[in\]\[out\].
    Conv {
        /// Side of the kernel.
        kernel: usize,
        /// Input channels.
        inputs: usize,
        /// Output channels.
        outputs: usize,
    },
    /// \[in\]\[out\].
    Linear {
        /// Input width.
        inputs: usize,
        /// Output width.
        outputs: usize,
    },
    /// One number a channel.
    Vector { width: usize },
}

impl Layout {
    pub fn len(&self) -> usize {
        match *self {
            Self::Conv { kernel, inputs, outputs } => kernel * kernel * inputs * outputs,
            Self::Linear { inputs, outputs } => inputs * outputs,
            Self::Vector { width } => width,
        }
    }

    /// True when there is no number.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of the tensor as PyTorch has it.
    pub fn exported_shape(&self) -> Vec<usize> {
        match *self {
            Self::Conv { kernel, inputs, outputs } => vec![outputs, inputs, kernel, kernel],
            Self::Linear { inputs, outputs } => vec![outputs, inputs],
            Self::Vector { width } => vec![width],
        }
    }

    /// For every element in PyTorch's order, its place in ours.
    fn places(&self) -> Box<dyn Iterator<Item = usize>> {
        match *self {
            Self::Conv { kernel, inputs, outputs } => Box::new((0..outputs).flat_map(move |o| {
                (0..inputs).flat_map(move |i| {
                    (0..kernel * kernel).map(move |tap| (tap * inputs + i) * outputs + o)
                })
            })),
            Self::Linear { inputs, outputs } => {
                Box::new((0..outputs).flat_map(move |o| (0..inputs).map(move |i| i * outputs + o)))
            }
            Self::Vector { width } => Box::new(0..width),
        }
    }
}

/// How a parameter starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// Normal with mean 0 and this standard deviation.
    Normal(f64),
    /// Uniform between −bound and bound.
    Uniform(f64),
    /// This number everywhere.
    Constant(f64),
}

/// A named stretch of the flat vector of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name, as in the state dict of the usual PyTorch model.
    pub name: String,
    /// How it lies there.
    pub layout: Layout,
    /// Where it starts.
    pub offset: usize,
    /// How it is initialized.
    pub start: Start,
}

impl Parameter {
    /// Its stretch of the flat vector.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.layout.len()
    }
}

/// A tensor under its name, in PyTorch's layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<F> {
    pub name: String,
    pub shape: Vec<usize>,
    /// The numbers, row by row.
    pub values: Vec<F>,
}

/// A network: nodes in the order of computation, the last of which gives the outputs of its head.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    nodes: Vec<Node>,
    parameters: Vec<Parameter>,
    statistics: Vec<(String, usize, usize)>,
    parameter_count: usize,
    statistic_count: usize,
    loss: Loss,
}

impl Network {
    /// The same network with a head that is trained by another loss.
    pub fn with_loss(self, loss: Loss) -> Self {
        Self { loss, ..self }
    }

    pub fn head(&self) -> Head {
        Head { outputs: self.classes(), loss: self.loss }
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The parameters, in the order of the flat vector.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The length of the flat vector of parameters.
    pub fn parameter_count(&self) -> usize {
        self.parameter_count
    }

    /// The length of the flat vector of batch statistics.
    pub fn statistic_count(&self) -> usize {
        self.statistic_count
    }

    /// Multiplications of convolutions and linear layers in a forward pass of one example.
    pub fn multiplications(&self) -> u64 {
        let of = |node: &Node| match (node.op, node.shape) {
            (Op::Conv { weight, .. }, Shape::Map { height, width, .. }) => {
                self.parameters[weight].layout.len() * height * width
            }
            (Op::Linear { weight, .. }, _) => self.parameters[weight].layout.len(),
            _ => 0,
        };
        self.nodes.iter().map(|node| of(node) as u64).sum()
    }

    /// The shape of an example.
    pub fn input(&self) -> Shape {
        self.nodes.first().map_or(Shape::Flat { width: 0 }, |node| node.shape)
    }

    /// How many classes it tells apart: outputs of its head.
    pub fn classes(&self) -> usize {
        self.nodes.last().map_or(0, |node| node.shape.len())
    }

    /// The node whose output the last layer reads: the penultimate features.
    pub fn features(&self) -> NodeId {
        self.nodes.last().and_then(|node| node.inputs.first().copied()).unwrap_or(0)
    }

    /// The node that the last pooling reads, in a network that ends in pooling and a linear layer.
    pub fn last_map(&self) -> Result<NodeId, EngineError> {
        let linear = self.nodes.last().filter(|node| matches!(node.op, Op::Linear { .. }));
        let pool = linear.map(|_| &self.nodes[self.features()]);
        match pool {
            Some(Node { op: Op::Pool, inputs, .. }) => Ok(inputs.first().copied().unwrap_or(0)),
            _ => {
                let last = self.nodes.len().saturating_sub(2);
                let ops: Vec<String> =
                    self.nodes[last..].iter().map(|node| format!("{:?}", node.op)).collect();
                Err(EngineError::NoMaps { ends: ops.join(", ") })
            }
        }
    }

    /// Statistics before any training: means 0, variances 1.
    pub fn fresh_statistics<F: Real>(&self) -> Vec<F> {
        let mut values = vec![F::ZERO; self.statistic_count];
        for &(_, offset, channels) in &self.statistics {
            values[offset + channels..offset + 2 * channels].fill(F::ONE);
        }
        values
    }

    /// Parameters as named tensors in PyTorch's layouts.
    pub fn export<F: Real>(&self, parameters: &[F]) -> Vec<Named<F>> {
        let tensor = |p: &Parameter| {
            let own = &parameters[p.range()];
            let values = p.layout.places().map(|place| own[place]).collect();
            Named { name: p.name.clone(), shape: p.layout.exported_shape(), values }
        };
        self.parameters.iter().map(tensor).collect()
    }

    /// Statistics as named tensors (`….running_mean`, `….running_var`).
    pub fn export_statistics<F: Real>(&self, statistics: &[F]) -> Vec<Named<F>> {
        let mut all = Vec::with_capacity(2 * self.statistics.len());
        for (name, offset, channels) in &self.statistics {
            for (half, what) in ["running_mean", "running_var"].into_iter().enumerate() {
                let from = offset + half * channels;
                all.push(Named {
                    name: format!("{name}.{what}"),
                    shape: vec![*channels],
                    values: statistics[from..from + channels].to_vec(),
                });
            }
        }
        all
    }

    /// The flat vector of parameters from named tensors, which `find` gives as (shape, numbers).
    pub fn import<F: Real>(
        &self,
        mut find: impl FnMut(&str) -> Option<(Vec<usize>, Vec<F>)>,
    ) -> Result<Vec<F>, EngineError> {
        let mut flat = vec![F::ZERO; self.parameter_count];
        for p in &self.parameters {
            let values = checked(&p.name, &p.layout.exported_shape(), &mut find)?;
            let own = &mut flat[p.range()];
            for (place, value) in p.layout.places().zip(values) {
                own[place] = value;
            }
        }
        Ok(flat)
    }

    /// The flat vector of statistics from named tensors.
    pub fn import_statistics<F: Real>(
        &self,
        mut find: impl FnMut(&str) -> Option<(Vec<usize>, Vec<F>)>,
    ) -> Result<Vec<F>, EngineError> {
        let mut flat = vec![F::ZERO; self.statistic_count];
        for (name, offset, channels) in &self.statistics {
            for (half, what) in ["running_mean", "running_var"].into_iter().enumerate() {
                let values = checked(&format!("{name}.{what}"), &[*channels], &mut find)?;
                flat[offset + half * channels..][..*channels].copy_from_slice(&values);
            }
        }
        Ok(flat)
    }
}

fn checked<F>(
    name: &str,
    expected: &[usize],
    find: &mut impl FnMut(&str) -> Option<(Vec<usize>, Vec<F>)>,
) -> Result<Vec<F>, EngineError> {
    let missing = || EngineError::MissingTensor { name: name.to_owned() };
    let (found, values) = find(name).ok_or_else(missing)?;
    if found != expected || values.len() != expected.iter().product::<usize>() {
        let (name, expected) = (name.to_owned(), expected.to_vec());
        return Err(EngineError::TensorShape { name, expected, found });
    }
    Ok(values)
}

/// Builds a network node by node; each method returns the new node.
#[derive(Debug)]
pub struct Builder {
    network: Network,
    problem: Option<String>,
}

impl Builder {
    /// A network that starts with examples of this shape.
    pub fn new(input: Shape) -> Self {
        let nodes = vec![Node { op: Op::Input, inputs: Vec::new(), shape: input }];
        let (parameters, statistics) = (Vec::new(), Vec::new());
        let (parameter_count, statistic_count, loss) = (0, 0, Loss::default());
        let network =
            Network { nodes, parameters, statistics, parameter_count, statistic_count, loss };
        Self { network, problem: None }
    }

    /// The finished network: its last node gives the outputs, which are trained by the softmax cross-entropy.
    pub fn finish(self) -> Result<Network, EngineError> {
        match self.problem {
            None => Ok(self.network),
            Some(problem) => Err(EngineError::Network(problem)),
        }
    }

    fn shape(&self, node: NodeId) -> Shape {
        self.network.nodes.get(node).map_or(Shape::Flat { width: 0 }, |node| node.shape)
    }

    fn push(&mut self, op: Op, inputs: &[NodeId], shape: Shape) -> NodeId {
        self.network.nodes.push(Node { op, inputs: inputs.to_vec(), shape });
        self.network.nodes.len() - 1
    }

    fn parameter(&mut self, name: String, layout: Layout, start: Start) -> ParameterId {
        let offset = self.network.parameter_count;
        self.network.parameter_count += layout.len();
        self.network.parameters.push(Parameter { name, layout, offset, start });
        self.network.parameters.len() - 1
    }

    /// A convolution without bias, weights by He's rule over the outputs (as in PyTorch's own
    /// ResNet): normal with variance 2 / (k²·out).
    pub fn conv(
        &mut self,
        name: &str,
        from: NodeId,
        outputs: usize,
        kernel: usize,
        stride: usize,
    ) -> NodeId {
        let shape = self.shape(from);
        let Shape::Map { height, width, channels } = shape else {
            self.problem = Some(format!("the convolution `{name}` needs a map, not {shape:?}"));
            return from;
        };
        if !matches!((kernel, stride), (1 | 3, 1 | 2)) {
            self.problem = Some(format!(
                "the convolution `{name}` has a kernel of {kernel} and a stride of {stride}; \
                 there are kernels of 1 and 3 and strides of 1 and 2"
            ));
            return from;
        }
        let layout = Layout::Conv { kernel, inputs: channels, outputs };
        let start = Start::Normal((2.0 / (kernel * kernel * outputs) as f64).sqrt());
        let weight = self.parameter(format!("{name}.weight"), layout, start);
        let (height, width) = (height.div_ceil(stride), width.div_ceil(stride));
        let shape = Shape::Map { height, width, channels: outputs };
        self.push(Op::Conv { weight, kernel, stride }, &[from], shape)
    }

    /// A linear layer, weights and bias uniform within 1/√in, as PyTorch starts it.
    pub fn linear(&mut self, name: &str, from: NodeId, outputs: usize) -> NodeId {
        let inputs = self.shape(from).len();
        let start = Start::Uniform(1.0 / (inputs.max(1) as f64).sqrt());
        let weight =
            self.parameter(format!("{name}.weight"), Layout::Linear { inputs, outputs }, start);
        let bias = self.parameter(format!("{name}.bias"), Layout::Vector { width: outputs }, start);
        self.push(Op::Linear { weight, bias }, &[from], Shape::Flat { width: outputs })
    }

    /// Batch normalization, γ = 1 and β = 0 at the start.
    pub fn batch_norm(&mut self, name: &str, from: NodeId) -> NodeId {
        let shape = self.shape(from);
        let width = shape.channels();
        let layout = Layout::Vector { width };
        let scale = self.parameter(format!("{name}.weight"), layout, Start::Constant(1.0));
        let shift = self.parameter(format!("{name}.bias"), layout, Start::Constant(0.0));
        let statistics = self.network.statistic_count;
        self.network.statistic_count += 2 * width;
        self.network.statistics.push((name.to_owned(), statistics, width));
        self.push(Op::BatchNorm { scale, shift, statistics }, &[from], shape)
    }

    /// max(x, 0).
    pub fn relu(&mut self, from: NodeId) -> NodeId {
        self.push(Op::Relu, &[from], self.shape(from))
    }

    /// x·Φ(x).
    pub fn gelu(&mut self, from: NodeId) -> NodeId {
        self.push(Op::Gelu, &[from], self.shape(from))
    }

    /// Dropout; nothing is added at rate 0.
    pub fn dropout(&mut self, from: NodeId, rate: f64) -> NodeId {
        if rate <= 0.0 { from } else { self.push(Op::Dropout { rate }, &[from], self.shape(from)) }
    }

    /// The sum of two nodes of the same shape.
    pub fn add(&mut self, left: NodeId, right: NodeId) -> NodeId {
        if self.shape(left) != self.shape(right) {
            let (left, right) = (self.shape(left), self.shape(right));
            self.problem = Some(format!("a sum of {left:?} and {right:?}"));
        }
        self.push(Op::Add, &[left, right], self.shape(left))
    }

    /// The mean over pixels.
    pub fn pool(&mut self, from: NodeId) -> NodeId {
        let width = self.shape(from).channels();
        self.push(Op::Pool, &[from], Shape::Flat { width })
    }
}
