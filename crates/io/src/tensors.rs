//! safetensors files: what they are told by, and their tensors as arrays.

use safetensors::tensor::{Dtype, SafeTensors};

use crate::error::Problem;
use crate::npy::Array;

/// The tensors of a safetensors file in memory.
pub struct Tensors<'a> {
    file: SafeTensors<'a>,
    metadata: Option<std::collections::HashMap<String, String>>,
}

/// Whether a file begins as safetensors do: a header length of eight bytes, then a JSON object.
pub fn is_safetensors(head: &[u8]) -> bool {
    let Some((length, rest)) = head.split_first_chunk::<8>() else {
        return false;
    };
    let length = u64::from_le_bytes(*length);
    (2..100_000_000).contains(&length) && rest.first() == Some(&b'{')
}

fn bad(message: impl ToString) -> Problem {
    Problem::Array(message.to_string())
}

impl<'a> Tensors<'a> {
    /// Opens a file.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Problem> {
        let file = SafeTensors::deserialize(bytes).map_err(bad)?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(bad)?;
        Ok(Self { file, metadata: metadata.metadata().clone() })
    }

    /// The tensors' names, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.file.names().iter().map(ToString::to_string).collect();
        names.sort_unstable();
        names
    }

    /// The text under a key of the file's metadata.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.as_ref()?.get(key).map(String::as_str)
    }

    /// A tensor's lengths of axes.
    pub fn shape(&self, name: &str) -> Result<Vec<usize>, Problem> {
        Ok(self.file.tensor(name).map_err(bad)?.shape().to_vec())
    }

    /// A tensor.
    pub fn array(&self, name: &str) -> Result<Array<'a>, Problem> {
        let view = self.file.tensor(name).map_err(bad)?;
        let descr = match view.dtype() {
            Dtype::F64 => "<f8",
            Dtype::F32 | Dtype::BF16 => "<f4",
            Dtype::F16 => "<f2",
            Dtype::I64 => "<i8",
            Dtype::I32 => "<i4",
            Dtype::I16 => "<i2",
            Dtype::I8 => "|i1",
            Dtype::U64 => "<u8",
            Dtype::U32 => "<u4",
            Dtype::U16 => "<u2",
            Dtype::U8 => "|u1",
            other => return Err(bad(format!("values of type {other:?} are not supported"))),
        };
        let shape = view.shape().to_vec();
        if view.dtype() != Dtype::BF16 {
            return Array::raw(descr, shape, false, view.data());
        }
        // bfloat16 is the upper half of an f32.
        let (halves, _) = view.data().as_chunks::<2>();
        let wide: Vec<u8> = halves.iter().flat_map(|[low, high]| [0, 0, *low, *high]).collect();
        Array::raw(descr, shape, false, wide)
    }
}
