//! safetensors: a tensor of images or feature vectors; ids as a JSON list in the metadata under
//! `ids`, or as a tensor of whole numbers.

use dissensus_io::Example;
use dissensus_io::ReadOption;
use dissensus_io::tensors::Tensors;
use dissensus_io::{Source, cell_text};
use serde_json::Value;

use super::array::Numbers;
use super::choice::{self, choose};
use super::{Format, Opened, Origin, misplaced};
use crate::error::InputError;
use crate::inputs::Inputs;
use crate::options::ReadOptions;

pub(super) const FORMAT: Format = Format {
    name: "safetensors",
    layout: ".safetensors with `images`, `features` or `embeddings` (or one tensor of any name); `ids` as JSON metadata or whole numbers",
    examples: &[Example::arrays(
        "features.safetensors",
        &[("features", "[[0.5, 1.25], [0.0, 2.5]]"), ("ids", "[\"a\", \"b\"]")],
    )],
    options: &[ReadOption::Id, ReadOption::Key, ReadOption::Layout],
    detect: |opened, _| matches!(opened, Opened::Source(Source::Tensors(_))),
    read,
};

fn read(origin: &Origin, opened: Opened, options: &ReadOptions) -> Result<Inputs, InputError> {
    let Opened::Source(Source::Tensors(bytes)) = &opened else {
        return Err(misplaced(origin, &opened));
    };
    let file = origin.name.as_str();
    let fail = |problem| InputError::array(file, problem);
    let tensors = Tensors::parse(bytes).map_err(fail)?;
    let names = tensors.names();
    let axes = |name: &str| Ok(Some(tensors.shape(name).map_err(fail)?.len()));
    let chosen = choose(file, &names, options.key.as_deref(), axes)?;
    let mut lists = Vec::new();
    for name in names.iter().filter(|name| **name != chosen) {
        let array = Numbers::of(file, tensors.array(name));
        lists.extend(choice::list(file, name, array, options)?);
    }
    let array = Numbers::of(file, tensors.array(&chosen))?;
    let (ids, note) = match (tensors.metadata("ids"), options) {
        (Some(text), ReadOptions { id: None, by_position: false, .. }) => {
            (Some(json_ids(file, text)?), None)
        }
        _ => choice::ids(file, &names, lists, array.rows(), options)?,
    };
    Ok(array.into_inputs(file, ids, options)?.noting(note.into_iter().collect()))
}

fn json_ids(file: &str, text: &str) -> Result<Vec<String>, InputError> {
    let bad = |found: String| InputError::BadIds { file: file.to_owned(), found };
    let list: Vec<Value> =
        serde_json::from_str(text).map_err(|e| bad(format!("metadata that is no list ({e})")))?;
    let id = |value: Value| match value {
        Value::String(_) | Value::Number(_) => Ok(cell_text(&value).unwrap_or_default()),
        other => Err(bad(dissensus_io::shorten(&other.to_string()))),
    };
    list.into_iter().map(id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, read_bytes};
    use safetensors::tensor::{Dtype, TensorView};
    use std::collections::HashMap;

    fn file(tensors: &[(&str, Dtype, &[usize], &[u8])], ids: Option<&str>) -> Vec<u8> {
        let views = tensors.iter().map(|(name, dtype, shape, data)| {
            (*name, TensorView::new(*dtype, shape.to_vec(), data).unwrap())
        });
        let metadata = ids.map(|ids| HashMap::from([("ids".to_owned(), ids.to_owned())]));
        safetensors::serialize(views, metadata).unwrap()
    }

    fn read(bytes: Vec<u8>) -> Result<Inputs, InputError> {
        read_bytes("x.safetensors", bytes, &ReadOptions::default())
    }

    #[test]
    fn tensors_with_ids_of_both_kinds() {
        let values: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let bytes = file(&[("embeddings", Dtype::F32, &[2, 1], &values)], Some(r#"["a", 7]"#));
        let inputs = read(bytes.clone()).unwrap();
        assert!(inputs.ids().unwrap().iter().eq(["a", "7"]));
        assert!(matches!(inputs.kind(), Kind::Features(f) if f.values() == [1.5, -2.0]));
        let ids: Vec<u8> = [i64::MAX, 5].iter().flat_map(|v| v.to_le_bytes()).collect();
        let tensors = [
            ("features", Dtype::BF16, &[2usize, 1][..], &[0xc0u8, 0x3f, 0, 0xc0][..]),
            ("ids", Dtype::I64, &[2], &ids),
        ];
        let inputs = read(file(&tensors, None)).unwrap();
        assert!(inputs.ids().unwrap().iter().eq(["9223372036854775807", "5"]));
        assert!(matches!(inputs.kind(), Kind::Features(f) if f.values() == [1.5, -2.0]));
        let planes = read(file(&[("x", Dtype::U8, &[1, 3, 1, 2], &[1, 2, 3, 4, 5, 6])], None));
        let planes = planes.unwrap();
        assert!(matches!(planes.kind(), Kind::Images(i) if i.pixels() == [1, 3, 5, 2, 4, 6]));
    }

    #[test]
    fn malformed_files_are_named() {
        let tensor = ("x", Dtype::U8, &[1usize, 2][..], &[1u8, 2][..]);
        let whole = file(&[tensor], None);
        assert!(matches!(read(whole[..whole.len() - 1].to_vec()), Err(InputError::Read(_))));
        for ids in ["7", "[null]", "[[1]]", "nonsense"] {
            let error = read(file(&[tensor], Some(ids))).unwrap_err();
            assert!(matches!(error, InputError::BadIds { .. }), "{ids}: {error}");
        }
        let error = read(file(&[tensor], Some("[1, 2]"))).unwrap_err();
        assert!(matches!(error, InputError::IdCount { ids: 2, rows: 1, .. }), "{error}");
        let error = read(file(&[("x", Dtype::BOOL, &[1, 2], &[0, 1])], None)).unwrap_err();
        assert!(error.to_string().contains("BOOL are not supported"), "{error}");
    }
}
