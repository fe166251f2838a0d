//! From a graph to steps that give one of its outputs.
//!
//! Only nodes that the output needs are read. A node whose inputs are all stored is computed here,
//! once; a convolution takes over the bounds of the `Relu` or `Clip` behind it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::model::{Constant, Model, Node};
use super::operators::{Argument, Op};
use super::pointwise::Unary;
use super::product::Bounds;
use super::tensor::{Scratch, Tensor};

/// The versions of the operators' definitions that are known.
const OPSETS: std::ops::RangeInclusive<i64> = 7..=28;

/// Steps, in the order in which they run.
#[derive(Debug)]
pub(super) struct Plan {
    steps: Vec<Step>,
    values: usize,
    result: Source,
}

#[derive(Debug)]
struct Step {
    /// Which node it was, for errors.
    label: String,
    op: Op,
    inputs: Vec<Source>,
    output: usize,
    /// Values that nobody needs after this step.
    done: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Source {
    Value(usize),
    Stored(Arc<Tensor>),
}

impl Source {
    fn value(&self) -> Option<usize> {
        match self {
            Self::Value(at) => Some(*at),
            Self::Stored(_) => None,
        }
    }
}

fn label(at: usize, node: &Node) -> String {
    match node.name.as_str() {
        "" => format!("node {at} ({})", node.operator),
        name => format!("node {at} \"{name}\" ({})", node.operator),
    }
}

/// A plan that is being made.
struct Making<'a> {
    model: &'a Model,
    constants: HashMap<&'a str, Constant>,
    values: HashMap<&'a str, usize>,
    steps: Vec<Step>,
    count: usize,
}

impl Plan {
    /// How `output` comes from `input`.
    pub(super) fn new(model: &Model, input: &str, output: &str) -> Result<Self, String> {
        if !OPSETS.contains(&model.opset) {
            return Err(format!(
                "its operators are of version {}; {} to {} are known: export it with one of those",
                model.opset,
                OPSETS.start(),
                OPSETS.end()
            ));
        }
        let mut making = Making {
            model,
            constants: HashMap::new(),
            values: HashMap::from([(input, 0)]),
            steps: vec![],
            count: 1,
        };
        for (at, node) in needed(model, output) {
            let label = label(at, node);
            making.node(node, &label).map_err(|problem| format!("{label}: {problem}"))?;
        }
        let result = making.source(output)?;
        let mut plan = Self { steps: making.steps, values: making.count, result };
        plan.fuse();
        plan.find_last_uses();
        Ok(plan)
    }

    /// Convolutions whose only reader clips them do so themselves.
    fn fuse(&mut self) {
        let mut readers: HashMap<usize, usize> = HashMap::new();
        let read = self.steps.iter().flat_map(|step| &step.inputs).chain([&self.result]);
        read.filter_map(Source::value).for_each(|at| *readers.entry(at).or_default() += 1);
        let mut fused: Vec<Step> = Vec::with_capacity(self.steps.len());
        let mut makers: HashMap<usize, usize> = HashMap::new();
        for step in std::mem::take(&mut self.steps) {
            let from = step.inputs.first().and_then(Source::value);
            let maker = from.filter(|at| readers.get(at) == Some(&1));
            let maker = maker.and_then(|at| makers.get(&at)).and_then(|at| fused.get_mut(*at));
            if let (Op::Unary(Unary::Clip(bounds)), Some(maker)) = (&step.op, maker)
                && let Op::Conv(conv) = &mut maker.op
                && conv.bounds == Bounds::NONE
            {
                conv.bounds = *bounds;
                maker.output = step.output;
                continue;
            }
            makers.insert(step.output, fused.len());
            fused.push(step);
        }
        self.steps = fused;
    }

    fn find_last_uses(&mut self) {
        let mut wanted: HashSet<usize> = self.result.value().into_iter().collect();
        for step in self.steps.iter_mut().rev() {
            let inputs: HashSet<usize> = step.inputs.iter().filter_map(Source::value).collect();
            step.done = inputs.into_iter().filter(|at| wanted.insert(*at)).collect();
        }
    }

    /// The output for one input.
    pub(super) fn run(&self, input: Tensor, scratch: &mut Scratch) -> Result<Tensor, String> {
        let mut values: Vec<Option<Tensor>> = vec![None; self.values];
        values[0] = Some(input);
        for step in &self.steps {
            let inputs: Option<Vec<&Tensor>> =
                step.inputs.iter().map(|at| at.get(&values)).collect();
            let inputs = inputs.ok_or("a value was given up too early")?;
            let made = step.op.run(&inputs, scratch);
            values[step.output] =
                Some(made.map_err(|problem| format!("{}: {problem}", step.label))?);
            for at in &step.done {
                if let Some(tensor) = values[*at].take() {
                    scratch.give(tensor.data);
                }
            }
        }
        let result = self.result.get(&values).ok_or("a value was given up too early")?;
        Ok(result.in_order(scratch).into_owned())
    }
}

impl Source {
    fn get<'a>(&'a self, values: &'a [Option<Tensor>]) -> Option<&'a Tensor> {
        match self {
            Self::Value(at) => values.get(*at)?.as_ref(),
            Self::Stored(tensor) => Some(tensor),
        }
    }
}

/// The nodes that an output needs, in the file's order, which is the order they run in.
fn needed<'a>(model: &'a Model, output: &'a str) -> Vec<(usize, &'a Node)> {
    let mut names = HashSet::from([output]);
    let mut nodes = vec![];
    for (at, node) in model.nodes.iter().enumerate().rev() {
        if node.outputs.iter().any(|output| names.contains(output.as_str())) {
            names.extend(node.inputs.iter().map(String::as_str));
            nodes.push((at, node));
        }
    }
    nodes.reverse();
    nodes
}

impl<'a> Making<'a> {
    fn stored(&self, name: &str) -> Option<&Constant> {
        self.constants.get(name).or_else(|| self.model.constants.get(name))
    }

    fn argument(&self, name: &str) -> Result<Argument<'_>, String> {
        if name.is_empty() {
            return Ok(Argument::Absent);
        }
        if self.values.contains_key(name) {
            return Ok(Argument::Computed);
        }
        if let Some(constant) = self.stored(name) {
            return Ok(Argument::Stored(constant));
        }
        let later = |node: &&Node| node.outputs.iter().any(|output| output == name);
        Err(match self.model.nodes.iter().enumerate().find(|(_, node)| later(node)) {
            Some((at, node)) => format!(
                "it needs \"{name}\", which {} makes only later: nodes stand in the order in which \
                 they run, so these run in a circle or are not sorted",
                label(at, node)
            ),
            None => format!(
                "it needs \"{name}\", which is no tensor of the file, no node's output and not the \
                 picture; the file lacks a part of the model"
            ),
        })
    }

    fn source(&self, name: &str) -> Result<Source, String> {
        if let Some(at) = self.values.get(name) {
            return Ok(Source::Value(*at));
        }
        match self.argument(name)? {
            Argument::Stored(Constant::Floats(tensor)) => Ok(Source::Stored(tensor.clone())),
            argument => Err(format!("its input \"{name}\" {}", argument.instead("floats"))),
        }
    }

    fn node(&mut self, node: &'a Node, label: &str) -> Result<(), String> {
        let mut outputs = node.outputs.iter().filter(|name| !name.is_empty());
        let (Some(output), None) = (outputs.next(), outputs.next()) else {
            return Err(format!("{} outputs; one is computed here", node.outputs.len()));
        };
        let (op, uses) = {
            let arguments: Result<Vec<_>, _> =
                node.inputs.iter().map(|name| self.argument(name)).collect();
            Op::read(node, &arguments?, self.model.opset)?
        };
        if self.values.contains_key(output.as_str()) || self.stored(output).is_some() {
            return Err(format!("it makes \"{output}\", which is there already"));
        }
        if let Op::Constant(constant) = op {
            self.constants.insert(output, constant);
            return Ok(());
        }
        if let (Op::Identity, Some(name)) = (&op, node.inputs.first())
            && let Some(constant) = self.stored(name).cloned()
        {
            self.constants.insert(output, constant);
            return Ok(());
        }
        let inputs = node.inputs.iter().take(uses).map(|name| self.source(name));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        if inputs.iter().all(|source| source.value().is_none()) {
            let tensors: Option<Vec<&Tensor>> =
                inputs.iter().map(|source| source.get(&[])).collect();
            let made = op.run(&tensors.unwrap_or_default(), &mut Scratch::default())?;
            self.constants.insert(output, Constant::Floats(Arc::new(made)));
            return Ok(());
        }
        self.values.insert(output, self.count);
        let label = label.to_owned();
        self.steps.push(Step { label, op, inputs, output: self.count, done: vec![] });
        self.count += 1;
        Ok(())
    }
}
