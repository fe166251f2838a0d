//! Weights from a safetensors file: f32, f16 or bf16, by name and shape.

use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, SafeTensors};

use crate::EmbedError;

/// An open file of weights; all that is read is checked for its shape and that it is finite.
pub(crate) struct Weights<'a> {
    path: PathBuf,
    tensors: SafeTensors<'a>,
    /// What stands before every name: a model inside a larger one has its name there.
    prefix: String,
}

impl<'a> Weights<'a> {
    /// Names are looked up behind the first of `prefixes` with which `probe` is there.
    pub(crate) fn open(
        path: &Path,
        bytes: &'a [u8],
        prefixes: &[&str],
        probe: &str,
    ) -> Result<Self, EmbedError> {
        let problem = |problem| EmbedError::Model { path: path.to_owned(), problem };
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| {
            problem(format!("not a whole safetensors file ({error}): fetch it again"))
        })?;
        let there = |prefix: &&&str| tensors.tensor(&format!("{prefix}{probe}")).is_ok();
        let prefix = prefixes.iter().find(there).ok_or_else(|| {
            problem(format!("there is no tensor {probe:?} in it: is this another kind of model?"))
        })?;
        Ok(Self { path: path.to_owned(), prefix: (*prefix).to_owned(), tensors })
    }

    /// Something is wrong with this file.
    pub(crate) fn problem(&self, problem: String) -> EmbedError {
        EmbedError::Model { path: self.path.clone(), problem }
    }

    /// A tensor's numbers. An axis whose expected length is 0 may have any.
    pub(crate) fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EmbedError> {
        Ok(self.with_shape(name, shape)?.0)
    }

    /// A tensor's numbers and its shape, as [`Weights::get`].
    pub(crate) fn with_shape(
        &self,
        name: &str,
        shape: &[usize],
    ) -> Result<(Vec<f32>, Vec<usize>), EmbedError> {
        let name = format!("{}{name}", self.prefix);
        let view = self
            .tensors
            .tensor(&name)
            .map_err(|_| self.problem(format!("tensor {name:?} is missing")))?;
        let found = view.shape();
        let fits = |(&found, &wanted): (&usize, &usize)| wanted == 0 || found == wanted;
        if found.len() != shape.len() || !found.iter().zip(shape).all(fits) {
            let wanted: Vec<String> = shape
                .iter()
                .map(|&n| if n == 0 { "any".to_owned() } else { n.to_string() })
                .collect();
            return Err(self.problem(format!(
                "tensor {name:?} has shape {found:?}, config.json asks for [{}]",
                wanted.join(", ")
            )));
        }
        let data = view.data();
        let numbers: Vec<f32> = match view.dtype() {
            Dtype::F32 => data.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
            Dtype::F16 => data.as_chunks().0.iter().map(|b| half(u16::from_le_bytes(*b))).collect(),
            // The upper half of an f32.
            Dtype::BF16 => data
                .as_chunks()
                .0
                .iter()
                .map(|b| f32::from_bits(u32::from(u16::from_le_bytes(*b)) << 16))
                .collect(),
            other => {
                return Err(self.problem(format!(
                    "tensor {name:?} has numbers of type {other:?}; F32, F16 and BF16 are read"
                )));
            }
        };
        if let Some(at) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(self.problem(format!(
                "tensor {name:?} has {} at place {at}; weights are finite",
                numbers[at]
            )));
        }
        Ok((numbers, found.to_vec()))
    }
}

/// An IEEE half, exactly.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::tensor::TensorView;

    fn file(dtype: Dtype, data: &[u8]) -> Vec<u8> {
        let count = data.len() * 8 / dtype.bitsize();
        let view = TensorView::new(dtype, vec![count], data).unwrap();
        safetensors::serialize([("m.x", view)], None).unwrap()
    }

    fn read(bytes: &[u8], shape: &[usize]) -> Result<Vec<f32>, String> {
        let open = Weights::open(Path::new("w"), bytes, &["", "m."], "x");
        open.and_then(|weights| weights.get("x", shape)).map_err(|error| error.to_string())
    }

    /// `numpy.array([1.5, -2.25, 6e-8, 65504]).astype(numpy.float16).view(numpy.uint16)`; the
    /// upper two bytes of the same numbers as f32.
    #[test]
    fn three_kinds_of_numbers() {
        let bytes = |words: &[u16]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
        let half = file(Dtype::F16, &bytes(&[0x3e00, 0xc080, 0x0001, 0x7bff]));
        assert_eq!(read(&half, &[4]).unwrap(), [1.5, -2.25, 5.960_464_5e-8, 65504.0]);
        let short = file(Dtype::BF16, &bytes(&[0x3fc0, 0xc010]));
        assert_eq!(read(&short, &[0]).unwrap(), [1.5, -2.25]);
        let plain: Vec<u8> = [0.1f32, -7.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(read(&file(Dtype::F32, &plain), &[2]).unwrap(), [0.1, -7.0]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let whole = file(Dtype::F32, &1f32.to_le_bytes());
        let error = read(&whole[..whole.len() - 1], &[1]).unwrap_err();
        assert!(error.starts_with("w: not a whole safetensors file"), "{error}");
        let error = read(&whole, &[2, 3]).unwrap_err();
        assert_eq!(error, "w: tensor \"m.x\" has shape [1], config.json asks for [2, 3]");
        let error = read(&file(Dtype::F32, &f32::NAN.to_le_bytes()), &[1]).unwrap_err();
        assert_eq!(error, "w: tensor \"m.x\" has NaN at place 0; weights are finite");
        let error = read(&file(Dtype::I64, &[0; 8]), &[1]).unwrap_err();
        assert!(error.contains("type I64; F32, F16 and BF16"), "{error}");
        let Err(error) = Weights::open(Path::new("w"), &whole, &[""], "y") else { panic!("y") };
        assert!(error.to_string().contains("no tensor \"y\""), "{error}");
        let weights = Weights::open(Path::new("w"), &whole, &["m."], "x").unwrap();
        let error = weights.get("z", &[1]).unwrap_err().to_string();
        assert_eq!(error, "w: tensor \"m.z\" is missing");
    }
}
