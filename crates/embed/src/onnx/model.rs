//! What an ONNX file says: nodes, stored tensors, inputs and outputs of its graph.

use std::collections::HashMap;
use std::sync::Arc;

use super::tensor::{Tensor, elements};
use super::wire::{Field, Message, floats};

/// A graph as it stands in the file.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// The version of the operators' definitions.
    pub(super) opset: i64,
    pub(super) nodes: Vec<Node>,
    pub(super) constants: HashMap<String, Constant>,
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<String>,
}

/// An input of the graph; a size that is not fixed is `None`.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) shape: Vec<Option<usize>>,
    pub(super) floats: bool,
}

#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) operator: String,
    pub(super) domain: String,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    pub(super) attributes: Vec<(String, Attribute)>,
}

#[derive(Clone, Debug)]
pub(super) enum Attribute {
    Float(f32),
    Integer(i64),
    Text(String),
    Integers(Vec<i64>),
    Tensor(Constant),
    /// Of a kind that no operator here takes.
    Other,
}

/// A stored tensor.
#[derive(Clone, Debug)]
pub(super) enum Constant {
    Floats(Arc<Tensor>),
    Integers(Vec<i64>),
    /// Why it cannot be used; an error only where a node wants it.
    Unusable(String),
}

impl Model {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        Self::read(bytes).map_err(|problem| {
            format!(
                "this is not a whole ONNX file: {problem}; compare its size and checksum with \
                 those of its source"
            )
        })
    }

    fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut model = Self::default();
        let mut graph = None;
        let mut message = Message::new(bytes);
        while let Some((number, field)) = message.next()? {
            match number {
                7 => graph = Some(field.bytes("the graph")?),
                8 => model.import(field)?,
                _ => {}
            }
        }
        let graph = graph.ok_or("there is no graph in it")?;
        model.graph(graph)?;
        if model.outputs.is_empty() {
            return Err("its graph has no output".to_owned());
        }
        Ok(model)
    }

    /// Which version of the operators is used; only those of ONNX itself count.
    fn import(&mut self, field: Field<'_>) -> Result<(), String> {
        let mut message = Message::new(field.bytes("an operator set")?);
        let (mut domain, mut version) = (String::new(), 0);
        while let Some((number, field)) = message.next()? {
            match number {
                1 => domain = field.text("a domain")?,
                2 => version = field.integer("a version")?,
                _ => {}
            }
        }
        if domain.is_empty() || domain == "ai.onnx" {
            self.opset = version;
        }
        Ok(())
    }

    fn graph(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut message = Message::new(bytes);
        while let Some((number, field)) = message.next()? {
            match number {
                1 => self.nodes.push(node(field.bytes("a node")?)?),
                5 => {
                    let (name, constant) = tensor(field.bytes("a tensor")?)?;
                    self.constants.insert(name, constant);
                }
                11 => self.inputs.push(input(field.bytes("an input")?)?),
                12 => self.outputs.push(input(field.bytes("an output")?)?.name),
                _ => {}
            }
        }
        // Older files list stored tensors among the inputs, too.
        self.inputs.retain(|input| !self.constants.contains_key(&input.name));
        Ok(())
    }
}

fn node(bytes: &[u8]) -> Result<Node, String> {
    let mut node = Node::default();
    let mut message = Message::new(bytes);
    while let Some((number, field)) = message.next()? {
        match number {
            1 => node.inputs.push(field.text("an input's name")?),
            2 => node.outputs.push(field.text("an output's name")?),
            3 => node.name = field.text("a node's name")?,
            4 => node.operator = field.text("an operator")?,
            5 => node.attributes.push(attribute(field.bytes("an attribute")?)?),
            7 => node.domain = field.text("a domain")?,
            _ => {}
        }
    }
    Ok(node)
}

fn attribute(bytes: &[u8]) -> Result<(String, Attribute), String> {
    let (mut name, mut kind) = (String::new(), 0);
    let (mut float, mut integer, mut text) = (0.0, 0, String::new());
    let (mut integers, mut stored) = (vec![], None);
    let mut message = Message::new(bytes);
    while let Some((number, field)) = message.next()? {
        match number {
            1 => name = field.text("an attribute's name")?,
            2 => float = field.float("an attribute")?,
            3 => integer = field.integer("an attribute")?,
            4 => text = String::from_utf8_lossy(field.bytes("an attribute")?).into_owned(),
            5 => stored = Some(tensor(field.bytes("an attribute")?)?.1),
            8 => field.integers("an attribute", &mut integers)?,
            20 => kind = field.integer("an attribute's kind")?,
            _ => {}
        }
    }
    let value = match (kind, stored) {
        (1, _) => Attribute::Float(float),
        (2, _) => Attribute::Integer(integer),
        (3, _) => Attribute::Text(text),
        (4, Some(tensor)) => Attribute::Tensor(tensor),
        (7, _) => Attribute::Integers(integers),
        _ => Attribute::Other,
    };
    Ok((name, value))
}

/// Data types by their number in the format.
const FLOAT: i64 = 1;
const INT64: i64 = 7;

fn tensor(bytes: &[u8]) -> Result<(String, Constant), String> {
    let (mut name, mut shape, mut kind) = (String::new(), vec![], 0);
    let (mut numbers, mut integers, mut raw) = (vec![], vec![], None);
    let mut elsewhere = false;
    let mut message = Message::new(bytes);
    while let Some((number, field)) = message.next()? {
        match number {
            1 => field.integers("a shape", &mut shape)?,
            2 => kind = field.integer("a data type")?,
            4 => field.floats("a tensor's floats", &mut numbers)?,
            7 => field.integers("a tensor's numbers", &mut integers)?,
            8 => name = field.text("a tensor's name")?,
            9 => raw = Some(field.bytes("a tensor's bytes")?),
            14 => elsewhere = field.integer("a tensor's place")? != 0,
            _ => {}
        }
    }
    let made = match (kind, elsewhere) {
        (_, true) => Err("its numbers lie in another file; store them inside the model".to_owned()),
        (FLOAT, _) => stored_floats(&shape, numbers, raw),
        (INT64, _) => stored_integers(&shape, integers, raw),
        _ => Err(format!("its numbers are of type {kind}; float (1) and int64 (7) are read")),
    };
    Ok((name, made.unwrap_or_else(Constant::Unusable)))
}

fn sizes(shape: &[i64]) -> Result<Vec<usize>, String> {
    let sizes = shape.iter().map(|size| usize::try_from(*size).ok()).collect::<Option<_>>();
    sizes.ok_or_else(|| format!("its shape {shape:?} has a negative size"))
}

fn stored_floats(
    shape: &[i64],
    mut numbers: Vec<f32>,
    raw: Option<&[u8]>,
) -> Result<Constant, String> {
    let shape = sizes(shape)?;
    if let Some(raw) = raw {
        numbers = floats(raw).ok_or("its bytes are not whole floats")?.collect();
    }
    let (wanted, found) = (elements(&shape)?, numbers.len());
    if wanted != found {
        return Err(format!("its shape {shape:?} wants {wanted} numbers and {found} are there"));
    }
    Ok(Constant::Floats(Arc::new(Tensor::plain(shape, numbers))))
}

fn stored_integers(
    shape: &[i64],
    mut numbers: Vec<i64>,
    raw: Option<&[u8]>,
) -> Result<Constant, String> {
    if let Some(raw) = raw {
        let (whole, rest) = raw.as_chunks();
        if !rest.is_empty() {
            return Err("its bytes are not whole numbers".to_owned());
        }
        numbers = whole.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect();
    }
    let (wanted, found) = (elements(&sizes(shape)?)?, numbers.len());
    if wanted != found {
        return Err(format!("its shape {shape:?} wants {wanted} numbers and {found} are there"));
    }
    Ok(Constant::Integers(numbers))
}

/// The bytes of the field of a message that has this number.
fn inside(bytes: &[u8], wanted: u64) -> Result<Option<&[u8]>, String> {
    let mut message = Message::new(bytes);
    while let Some((number, field)) = message.next()? {
        if number == wanted {
            return field.bytes("a type").map(Some);
        }
    }
    Ok(None)
}

fn input(bytes: &[u8]) -> Result<Input, String> {
    let mut input = Input::default();
    let mut message = Message::new(bytes);
    let mut kind = None;
    while let Some((number, field)) = message.next()? {
        match number {
            1 => input.name = field.text("an input's name")?,
            2 => kind = inside(field.bytes("a type")?, 1)?,
            _ => {}
        }
    }
    let mut message = Message::new(kind.unwrap_or_default());
    while let Some((number, field)) = message.next()? {
        match number {
            1 => input.floats = field.integer("a data type")? == FLOAT,
            2 => input.shape = shape(field.bytes("a shape")?)?,
            _ => {}
        }
    }
    Ok(input)
}

fn shape(bytes: &[u8]) -> Result<Vec<Option<usize>>, String> {
    let mut shape = vec![];
    let mut message = Message::new(bytes);
    while let Some((_, field)) = message.next()? {
        let mut size = None;
        let mut inner = Message::new(field.bytes("a size")?);
        while let Some((number, field)) = inner.next()? {
            if number == 1 {
                // A size of 0 or less is how some writers say "any".
                size = usize::try_from(field.integer("a size")?).ok().filter(|size| *size > 0);
            }
        }
        shape.push(size);
    }
    Ok(shape)
}
