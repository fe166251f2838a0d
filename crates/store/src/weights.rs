//! Tensors in a `.safetensors` file: the length of a JSON head, the head, the values.
//!
//! The head is written here instead of by the format's crate, which wants every tensor as bytes
//! and so a copy of it; this streams values through a buffer of fixed size. Reading, and so all
//! checking of what may be damaged, is the crate's.
//!
//! The metadata carries `crc32c`, of the note (where there is one) and the values: a file whose
//! length is right may still hold zeros after a loss of power. Weights of a run also carry `run`, its id.

use std::io::{self, Write};
use std::path::Path;

use safetensors::{Dtype, SafeTensors};
use serde_json::{Map, Value, json};

use crate::{RunId, StoreError, Tensors};

/// The format's limit on the head.
pub(crate) const HEAD_LIMIT: usize = 100_000_000;

/// Values that go through the buffer at once.
const BLOCK: usize = 1 << 16;

/// Under which name a note stands in the metadata.
const NOTE: &str = "checkpoint";

/// Under which name the id of its run stands there.
const RUN: &str = "run";

/// The head of the file, with its length, for tensors, a note that travels with them, and whose they are.
pub(crate) fn head(tensors: &Tensors<'_>, note: Option<&str>, run: Option<&RunId>) -> Vec<u8> {
    let mut metadata = Map::new();
    if let Some(run) = run {
        metadata.insert(RUN.to_owned(), run.as_str().into());
    }
    metadata.insert("crc32c".to_owned(), format!("{:08x}", checksum(tensors, note)).into());
    if let Some(note) = note {
        metadata.insert(NOTE.to_owned(), note.into());
    }
    let mut head = Map::new();
    head.insert("__metadata__".to_owned(), metadata.into());
    let mut at = 0;
    for tensor in tensors {
        let end = at + 4 * tensor.values().len();
        let info = json!({"dtype": "F32", "shape": tensor.shape(), "data_offsets": [at, end]});
        head.insert(tensor.name().to_owned(), info);
        at = end;
    }
    let mut text = Value::from(head).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.append(&mut text);
    bytes
}

/// The values, behind the head.
pub(crate) fn write_values(
    tensors: &Tensors<'_>,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    blocks(tensors, |bytes| out.write_all(bytes))
}

fn checksum(tensors: &Tensors<'_>, note: Option<&str>) -> u32 {
    let mut sum = crc32c::crc32c(note.unwrap_or_default().as_bytes());
    let done: Result<(), std::convert::Infallible> = blocks(tensors, |bytes| {
        sum = crc32c::crc32c_append(sum, bytes);
        Ok(())
    });
    let Ok(()) = done;
    sum
}

/// The bytes of all values, block after block.
fn blocks<E>(tensors: &Tensors<'_>, mut each: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut buffer = vec![0; 4 * BLOCK];
    for block in tensors.iter().flat_map(|tensor| tensor.values().chunks(BLOCK)) {
        let bytes = &mut buffer[..4 * block.len()];
        for (cell, value) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(block) {
            *cell = value.to_le_bytes();
        }
        each(bytes)?;
    }
    Ok(())
}

/// The tensors in the bytes of a file of this run; of any run, where it is older.
pub(crate) fn read_weights(
    path: &Path,
    bytes: &[u8],
    bound: Option<&RunId>,
) -> Result<Tensors<'static>, StoreError> {
    let (tensors, _, run) =
        read(bytes).map_err(|reason| StoreError::Weights { path: path.to_owned(), reason })?;
    match (bound, run) {
        (Some(id), Some(run)) if run != id.as_str() => {
            Err(StoreError::foreign(path, format!("it is of run {run}")))
        }
        (Some(_), None) => Err(StoreError::foreign(path, "it does not say whose it is")),
        _ => Ok(tensors),
    }
}

/// Tensors, the note, and whose they are.
pub(crate) type Read = (Tensors<'static>, Option<String>, Option<String>);

/// The tensors in a file's bytes, the note, and whose they are; or what is wrong with it.
pub(crate) fn read(bytes: &[u8]) -> Result<Read, String> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| e.to_string())?;
    let file = SafeTensors::deserialize(bytes).map_err(|e| e.to_string())?;
    let mut infos: Vec<_> = metadata.tensors().into_iter().collect();
    infos.sort_by(|a, b| (a.1.data_offsets, &a.0).cmp(&(b.1.data_offsets, &b.0)));
    let mut tensors = Tensors::new();
    for (name, info) in infos {
        if info.dtype != Dtype::F32 {
            return Err(format!("tensor {name:?} is of type {}, expected F32", info.dtype));
        }
        let view = file.tensor(&name).map_err(|e| e.to_string())?;
        let (cells, _) = view.data().as_chunks::<4>();
        let values: Vec<f32> = cells.iter().map(|cell| f32::from_le_bytes(*cell)).collect();
        tensors.push(name, info.shape.clone(), values).map_err(|e| e.to_string())?;
    }
    let entry = |key| metadata.metadata().as_ref().and_then(|map| map.get(key));
    let note = entry(NOTE).cloned();
    // Files of others have no checksum.
    if let Some(expected) = entry("crc32c") {
        let found = format!("{:08x}", checksum(&tensors, note.as_deref()));
        if found != *expected {
            return Err(format!("its checksum is {found}, expected {expected}"));
        }
    }
    Ok((tensors, note, entry(RUN).cloned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;
    use proptest::prelude::*;

    fn file(tensors: &Tensors<'_>, note: Option<&str>) -> Vec<u8> {
        let mut bytes = head(tensors, note, None);
        write_values(tensors, &mut bytes).unwrap();
        bytes
    }

    /// Names, shapes, and the bits of the values, which compare where NaN does not.
    fn bits(tensors: &Tensors<'_>) -> Vec<(String, Vec<usize>, Vec<u32>)> {
        let bits = |tensor: &Tensor<'_>| tensor.values().iter().map(|v| v.to_bits()).collect();
        let all = tensors.iter().map(|t| (t.name().to_owned(), t.shape().to_vec(), bits(t)));
        all.collect()
    }

    fn any_tensors() -> impl Strategy<Value = Tensors<'static>> {
        let tensor = ("\\PC{0,12}", prop::collection::vec(1usize..4, 0..4)).prop_flat_map(
            |(name, shape)| {
                let cells = shape.iter().product::<usize>();
                let bits = prop::collection::vec(any::<u32>(), cells);
                (Just(name), Just(shape), bits)
            },
        );
        prop::collection::vec(tensor, 0..8).prop_map(|list| {
            let mut tensors = Tensors::new();
            for (name, shape, bits) in list {
                // A name that came before is left out.
                let values: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
                let _ = tensors.push(name, shape, values);
            }
            tensors
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(tensors in any_tensors(), note in prop::option::of("\\PC*")) {
            let (back, told, _) = read(&file(&tensors, note.as_deref())).unwrap();
            prop_assert_eq!(bits(&back), bits(&tensors));
            prop_assert_eq!(told, note);
        }

        #[test]
        fn damage_is_noticed(tensors in any_tensors(), at: prop::sample::Index, bit in 0..8u32) {
            let bytes = file(&tensors, Some("note"));
            prop_assert!(read(&bytes[..at.index(bytes.len())]).is_err());
            let start = head(&tensors, Some("note"), None).len();
            if bytes.len() > start {
                let mut flipped = bytes.clone();
                flipped[start + at.index(bytes.len() - start)] ^= 1 << bit;
                prop_assert!(read(&flipped).unwrap_err().contains("checksum"));
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes);
            let mut framed = (bytes.len() as u64).to_le_bytes().to_vec();
            framed.extend(&bytes);
            let _ = read(&framed);
        }
    }

    #[test]
    fn blocks_cover_tensors_longer_than_one() {
        let values: Vec<f32> = (0..3 * BLOCK + 5).map(|v| v as f32).collect();
        let mut tensors = Tensors::new();
        tensors.push("long", [values.len()], &values[..]).unwrap();
        tensors.push("short", [1], vec![-1.0]).unwrap();
        let (back, _, _) = read(&file(&tensors, None)).unwrap();
        assert_eq!(back, tensors);
    }

    #[test]
    fn files_of_others_are_read_and_other_types_named() {
        let view = safetensors::tensor::TensorView::new(Dtype::F32, vec![1], &[0, 0, 128, 63]);
        let bytes = safetensors::serialize([("w", view.unwrap())], None).unwrap();
        assert_eq!(read(&bytes).unwrap().0.get("w").unwrap().values(), [1.0]);
        let view = safetensors::tensor::TensorView::new(Dtype::F16, vec![2], &[0; 4]);
        let bytes = safetensors::serialize([("w", view.unwrap())], None).unwrap();
        assert_eq!(read(&bytes).unwrap_err(), "tensor \"w\" is of type F16, expected F32");
    }
}
