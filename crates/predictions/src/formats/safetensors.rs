//! safetensors: a matrix named `logits`, `probabilities` (or the only matrix there is); `ids` and
//! `classes` as JSON lists in its metadata.

use dissensus_io::Example;
use dissensus_io::tensors::Tensors;
use dissensus_io::{Problem, ReadError, Source};

use super::{Format, RawPredictions, check_ids, kind_of, matrix};
use crate::read::ReadOptions;

pub(super) const FORMAT: Format = Format {
    name: "safetensors",
    layout: ".safetensors with a matrix `logits` or `probabilities`; `ids` and `classes` as JSON metadata",
    examples: &[Example::arrays(
        "model.safetensors",
        &[
            ("logits", "[[1.5, -0.5], [0.25, 2.0]]"),
            ("ids", "[\"a\", \"b\"]"),
            ("classes", "[\"no\", \"yes\"]"),
        ],
    )],
    detect: |source, _| matches!(source, Source::Tensors(_)),
    read,
};

const KNOWN: [&str; 4] = ["logits", "probabilities", "probs", "predictions"];

fn read(
    file: &str,
    source: Source,
    options: &ReadOptions,
) -> Result<Vec<RawPredictions>, ReadError> {
    let Source::Tensors(bytes) = source else {
        return Ok(Vec::new());
    };
    let fail = |problem: Problem| ReadError::new(file, problem);
    let tensors = Tensors::parse(&bytes).map_err(fail)?;
    let list = |key: &str| -> Result<Option<Vec<String>>, ReadError> {
        let list = tensors.metadata(key).map(serde_json::from_str).transpose();
        list.map_err(|error| fail(Problem::Array(format!("metadata {key}: {error}"))))
    };
    let (ids, classes) = (list("ids")?, list("classes")?);
    let names = tensors.names();
    let chosen = match KNOWN.iter().find(|known| names.iter().any(|name| name == *known)) {
        Some(known) => vec![known.to_string()],
        // Several models in one file: every matrix is one, by its name.
        None => {
            let is_matrix = |name: &String| tensors.shape(name).is_ok_and(|axes| axes.len() == 2);
            names.into_iter().filter(is_matrix).collect()
        }
    };
    if chosen.is_empty() {
        return Err(fail(Problem::Array("there is no matrix in it".to_owned())));
    }
    let found = |name: String| {
        let array = tensors.array(&name);
        let (values, width) = array.and_then(|array| matrix(&array, options)).map_err(fail)?;
        check_ids(file, ids.as_ref(), values.len().checked_div(width).unwrap_or(0))?;
        let (ids, classes, kind) = (ids.clone(), classes.clone(), kind_of(&name));
        let name = (!KNOWN.contains(&name.as_str())).then_some(name);
        Ok(RawPredictions { name, ids, classes, values, width, kind })
    };
    chosen.into_iter().map(found).collect()
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
