//! Small files of the formats that are read: the documentation shows them, and tests read them.

use std::io::{self, Cursor, Write};

use safetensors::tensor::{Dtype, TensorView};
use serde_json::Value;

use crate::npy;
use crate::npz::NpzWriter;

/// A small file of a format.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// What it is called.
    pub file: &'static str,
    /// What is in it.
    pub content: Content,
}

/// What is in an example.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// Text.
    Text(&'static str),
    /// Arrays by name, each as JSON, or as its type and shape: `uint8 (2, 8, 8, 3)`.
    Arrays(&'static [(&'static str, &'static str)]),
    /// A folder of image files.
    Images(&'static [&'static str]),
}

/// An array, its shape and its values.
enum Values {
    Numbers(Vec<usize>, Vec<f64>),
    Whole(Vec<usize>, Vec<i64>),
    Bytes(Vec<usize>),
    Texts(Vec<String>),
}

impl Example {
    /// A text file.
    pub const fn text(file: &'static str, text: &'static str) -> Self {
        Self { file, content: Content::Text(text) }
    }

    /// A file of arrays.
    pub const fn arrays(
        file: &'static str,
        arrays: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { file, content: Content::Arrays(arrays) }
    }

    /// What the documentation shows of it.
    pub fn lines(&self) -> String {
        match self.content {
            Content::Text(text) => text.trim_end().to_owned(),
            Content::Images(files) => files.join("\n"),
            Content::Arrays(arrays) => {
                let line = |(name, value): &(&str, &str)| format!("{name} = {value}");
                arrays.iter().map(line).collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// The file, of the kind that its name says: text, `.npy`, `.npz` or `.safetensors`.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        let arrays = match self.content {
            Content::Text(text) => return Ok(text.as_bytes().to_vec()),
            Content::Images(_) => return Err(io::Error::other("a folder has no bytes")),
            Content::Arrays(arrays) => arrays,
        };
        let values = arrays.iter().map(|(name, text)| Ok((*name, values(text)?)));
        let values: Vec<(&str, Values)> = values.collect::<io::Result<_>>()?;
        let mut out = Cursor::new(Vec::new());
        match (self.file.rsplit('.').next(), values.as_slice()) {
            (Some("npy"), [(_, only)]) => only.write(&mut out)?,
            (Some("npz"), all) => {
                let mut npz = NpzWriter::new(&mut out);
                all.iter().try_for_each(|(name, values)| values.write(npz.array(name)?))?;
                npz.finish()?;
            }
            (Some("safetensors"), all) => return tensors(all),
            _ => return Err(io::Error::other(format!("no example of this kind: {}", self.file))),
        }
        Ok(out.into_inner())
    }
}

fn values(text: &str) -> io::Result<Values> {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        let shape = text.split_once('(').map_or("", |(_, shape)| shape.trim_end_matches(')'));
        let lengths = shape.split(',').map(|length| length.trim().parse::<usize>());
        return Ok(Values::Bytes(lengths.collect::<Result<_, _>>().map_err(io::Error::other)?));
    };
    let (mut shape, mut flat) = (Vec::new(), vec![&value]);
    while let Some(Value::Array(first)) = flat.first() {
        shape.push(first.len());
        flat = flat.into_iter().flat_map(|list| list.as_array().into_iter().flatten()).collect();
    }
    if flat.iter().all(|value| value.is_string()) {
        let texts = flat.iter().filter_map(|value| value.as_str()).map(str::to_owned);
        return Ok(Values::Texts(texts.collect()));
    }
    Ok(match flat.iter().map(|value| value.as_i64()).collect() {
        Some(whole) => Values::Whole(shape, whole),
        None => Values::Numbers(shape, flat.iter().filter_map(|value| value.as_f64()).collect()),
    })
}

impl Values {
    fn write(&self, mut out: impl Write) -> io::Result<()> {
        match self {
            Self::Numbers(shape, values) => npy::write_array(out, shape, values),
            Self::Whole(shape, values) => {
                out.write_all(&npy::header("<i8", shape))?;
                values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
            }
            Self::Bytes(shape) => npy::write_array(out, shape, &vec![0u8; shape.iter().product()]),
            Self::Texts(texts) => npy::write_texts(out, texts.iter().map(String::as_str)),
        }
    }
}

/// A safetensors file; texts are JSON in its metadata.
fn tensors(arrays: &[(&str, Values)]) -> io::Result<Vec<u8>> {
    let mut data: Vec<(&str, Dtype, &[usize], Vec<u8>)> = Vec::new();
    let mut metadata = std::collections::HashMap::new();
    for (name, values) in arrays {
        match values {
            Values::Numbers(shape, numbers) => {
                let bytes = numbers.iter().flat_map(|v| v.to_le_bytes()).collect();
                data.push((name, Dtype::F64, shape, bytes));
            }
            Values::Whole(shape, numbers) => {
                let bytes = numbers.iter().flat_map(|v| v.to_le_bytes()).collect();
                data.push((name, Dtype::I64, shape, bytes));
            }
            Values::Bytes(shape) => {
                data.push((name, Dtype::U8, shape, vec![0; shape.iter().product()]));
            }
            Values::Texts(texts) => {
                metadata.insert((*name).to_owned(), Value::from(texts.clone()).to_string());
            }
        }
    }
    let views = data.iter().map(|(name, dtype, shape, bytes)| {
        let view = TensorView::new(*dtype, shape.to_vec(), bytes).map_err(io::Error::other)?;
        Ok((*name, view))
    });
    let views: Vec<(&str, TensorView<'_>)> = views.collect::<io::Result<_>>()?;
    safetensors::serialize(views, Some(metadata)).map_err(io::Error::other)
}
