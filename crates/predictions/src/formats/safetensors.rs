//! safetensors: a matrix named `logits`, `probabilities` (or the only matrix there is); `ids` and
//! `classes` as JSON lists in its metadata.

use dissensus_io::Source;
use dissensus_io::{Problem, ReadError};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::{Format, Found, kind_of};

pub(super) const FORMAT: Format = Format {
    name: "safetensors",
    layout: ".safetensors with a matrix `logits` or `probabilities`; `ids` and `classes` as JSON metadata",
    detect: |_: &Source, _| false,
    read: |_, _, _| Ok(Vec::new()),
};

/// A header length of eight bytes, then a JSON object.
pub(crate) fn is_safetensors(head: &[u8]) -> bool {
    let Some((length, rest)) = head.split_first_chunk::<8>() else {
        return false;
    };
    let length = u64::from_le_bytes(*length);
    (2..100_000_000).contains(&length) && rest.first() == Some(&b'{')
}

pub(crate) fn read(file: &str, bytes: &[u8]) -> Result<Vec<Found>, ReadError> {
    let fail = |message: String| ReadError::new(file, Problem::Array(message));
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| fail(e.to_string()))?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| fail(e.to_string()))?;
    let list = |key: &str| -> Result<Option<Vec<String>>, ReadError> {
        let text = metadata.metadata().as_ref().and_then(|map| map.get(key));
        let parse = |text: &String| serde_json::from_str(text);
        text.map(parse).transpose().map_err(|e| fail(format!("metadata {key}: {e}")))
    };
    let (ids, classes) = (list("ids")?, list("classes")?);
    let known = ["logits", "probabilities", "probs", "predictions"];
    let named = known.iter().find_map(|name| Some((name, tensors.tensor(name).ok()?)));
    let kind = named.as_ref().and_then(|(name, _)| kind_of(name));
    let views: Vec<(Option<String>, TensorView<'_>)> = match named {
        Some((_, view)) => vec![(None, view)],
        None => {
            let mut all: Vec<_> = tensors.tensors();
            all.sort_by(|a, b| a.0.cmp(&b.0));
            all.into_iter()
                .filter(|(_, view)| view.shape().len() == 2)
                .map(|(name, view)| (Some(name), view))
                .collect()
        }
    };
    if views.is_empty() {
        return Err(fail("there is no matrix in it".to_owned()));
    }
    let found = |(name, view): (Option<String>, TensorView<'_>)| {
        let [rows, width] = view.shape() else {
            return Err(fail(format!("a matrix is needed, the shape is {:?}", view.shape())));
        };
        if ids.as_ref().is_some_and(|ids| ids.len() != *rows) {
            return Err(fail(format!("ids for another number of rows than {rows}")));
        }
        let values = numbers(&view)
            .ok_or_else(|| fail(format!("values of type {:?} are not supported", view.dtype())))?;
        let (ids, classes) = (ids.clone(), classes.clone());
        Ok(Found { name, ids, classes, values, width: *width, kind })
    };
    views.into_iter().map(found).collect()
}

fn numbers(view: &TensorView<'_>) -> Option<Vec<f64>> {
    let data = view.data();
    let half = |bits: u16| {
        let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
        sign * match exponent {
            0 => fraction * 2f64.powi(-24),
            31 if fraction == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
        }
    };
    Some(match view.dtype() {
        Dtype::F64 => data.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
        Dtype::F32 => {
            data.as_chunks::<4>().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect()
        }
        Dtype::F16 => {
            data.as_chunks::<2>().0.iter().map(|b| half(u16::from_le_bytes(*b))).collect()
        }
        // The upper half of an f32.
        Dtype::BF16 => data
            .as_chunks::<2>()
            .0
            .iter()
            .map(|b| f64::from(f32::from_bits(u32::from(u16::from_le_bytes(*b)) << 16)))
            .collect(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Kind, ReadOptions, read_bytes};
    use std::collections::HashMap;

    #[test]
    fn a_matrix_with_ids() {
        let values: Vec<u8> =
            [1.5f32, -2.0, 0.0, 3.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let view =
            safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![2, 2], &values);
        let metadata = HashMap::from([
            ("ids".to_owned(), r#"["a", "b"]"#.to_owned()),
            ("classes".to_owned(), r#"["cat", "dog"]"#.to_owned()),
        ]);
        let bytes = safetensors::serialize([("logits", view.unwrap())], Some(metadata)).unwrap();
        let models = read_bytes("m.safetensors", bytes.clone(), &ReadOptions::default()).unwrap();
        assert_eq!(models[0].values, [1.5, -2.0, 0.0, 3.0]);
        assert_eq!((models[0].kind, models[0].name.as_str()), (Kind::Logits, "m"));
        assert_eq!(models[0].ids.as_ref().unwrap(), &["a", "b"]);
        let cut = bytes[..bytes.len() - 3].to_vec();
        let error = read_bytes("x", cut, &ReadOptions::default()).unwrap_err();
        assert_eq!(error.problem.code(), "array");
    }
}
