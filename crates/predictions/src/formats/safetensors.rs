//! safetensors: a matrix named `logits`, `probabilities` (or the only matrix there is); `ids` and
//! `classes` as JSON lists in its metadata, or `ids` as a tensor of whole numbers.

use dissensus_io::Example;
use dissensus_io::tensors::Tensors;
use dissensus_io::{Problem, ReadOption, Source};

use super::members::{Content, Member, pick};
use super::{Format, RawPredictions, matrix};
use crate::context::Context;
use crate::error::PredictionError;

pub(super) const FORMAT: Format = Format {
    name: "safetensors",
    layout: ".safetensors with a matrix `logits` or `probabilities`; `ids` and `classes` as JSON metadata",
    names: "`logits`, `probabilities`, `probs` or another matrix (several matrices of other names are \
            several models); `ids` and `classes` are JSON lists in the metadata, and whole-number ids \
            may be a tensor",
    examples: &[Example::arrays(
        "model.safetensors",
        &[
            ("logits", "[[1.5, -0.5], [0.25, 2.0]]"),
            ("ids", "[\"a\", \"b\"]"),
            ("classes", "[\"no\", \"yes\"]"),
        ],
    )],
    options: &[ReadOption::Id, ReadOption::Key],
    detect: |source, _| matches!(source, Source::Tensors(_)),
    read,
};

fn read(
    file: &str,
    source: Source,
    options: &Context<'_>,
) -> Result<Vec<RawPredictions>, PredictionError> {
    let Source::Tensors(bytes) = source else {
        return Ok(Vec::new());
    };
    let fail = |problem: Problem| PredictionError::new(file, problem);
    let tensors = Tensors::parse(&bytes).map_err(fail)?;
    let mut members = Vec::new();
    for name in tensors.names() {
        let array = tensors.array(&name).map_err(|problem| fail(problem).column(name.clone()))?;
        members.push(Member::of(&name, &array).map_err(fail)?);
    }
    for key in ["ids", "classes"] {
        if let Some(text) = tensors.metadata(key) {
            let texts: Vec<String> = serde_json::from_str(text)
                .map_err(|error| fail(Problem::Array(format!("metadata {key}: {error}"))))?;
            members.retain(|member| member.name != key);
            let shape = vec![texts.len()];
            members.push(Member { name: key.to_owned(), shape, content: Content::Texts, texts });
        }
    }
    let picked = pick(file, &members, options)?;
    let found = |name: &String| {
        let array = tensors.array(name);
        let values = array.and_then(|array| matrix(&array, options)).map_err(fail)?;
        Ok(picked.predictions(name, values))
    };
    picked.values.iter().map(found).collect()
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
        assert!(error.to_string().contains("not a readable array"), "{error}");
    }
}
