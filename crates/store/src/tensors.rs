//! Named arrays of 32-bit floats, in a stated order.

use std::borrow::Cow;

use crate::StoreError;

/// The name that the file format keeps for itself.
const RESERVED: &str = "__metadata__";

/// A named array, its values in row-major order; borrowed from whoever owns them, or read.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<'a> {
    name: String,
    shape: Vec<usize>,
    values: Cow<'a, [f32]>,
}

impl Tensor<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The lengths of its axes; none for a single value.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Its values, the last axis running fastest.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Its values, to keep.
    pub fn into_values(self) -> Vec<f32> {
        self.values.into_owned()
    }
}

/// Tensors of different names.
///
/// The order is kept by the files, except that tensors without values that stand side by side come
/// back sorted by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors<'a> {
    list: Vec<Tensor<'a>>,
}

impl<'a> Tensors<'a> {
    /// No tensors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one. Its name must be new, and its shape must fit its values.
    pub fn push(
        &mut self,
        name: impl Into<String>,
        shape: impl Into<Vec<usize>>,
        values: impl Into<Cow<'a, [f32]>>,
    ) -> Result<(), StoreError> {
        let (name, shape, values) = (name.into(), shape.into(), values.into());
        if name == RESERVED {
            return Err(StoreError::TensorName { name, reason: "the format keeps that name" });
        }
        if self.get(&name).is_some() {
            return Err(StoreError::TensorName { name, reason: "another one is" });
        }
        let cells = shape.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis));
        if cells != Some(values.len()) {
            return Err(StoreError::TensorShape { name, shape, values: values.len() });
        }
        self.list.push(Tensor { name, shape, values });
        Ok(())
    }

    /// The tensor of this name.
    pub fn get(&self, name: &str) -> Option<&Tensor<'a>> {
        self.list.iter().find(|tensor| tensor.name == name)
    }

    /// All of them, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Tensor<'a>> {
        self.list.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl<'a> IntoIterator for Tensors<'a> {
    type Item = Tensor<'a>;
    type IntoIter = std::vec::IntoIter<Tensor<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'t, 'a> IntoIterator for &'t Tensors<'a> {
    type Item = &'t Tensor<'a>;
    type IntoIter = std::slice::Iter<'t, Tensor<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_shapes_are_checked() {
        let mut tensors = Tensors::new();
        tensors.push("w", [2, 3], vec![0.0; 6]).unwrap();
        tensors.push("bias", [], &[1.0][..]).unwrap();
        tensors.push("none", [0, usize::MAX], Vec::new()).unwrap();
        let wrong = tensors.push("v", [2, 2], vec![0.0; 3]).unwrap_err();
        assert_eq!(wrong.to_string(), "tensor \"v\" of shape [2, 2] has 3 values");
        assert!(tensors.push("v", [usize::MAX, 2], vec![0.0; 3]).is_err());
        let twice = tensors.push("w", [1], vec![0.0]).unwrap_err();
        assert_eq!(twice.to_string(), "a tensor cannot be called \"w\": another one is");
        assert!(tensors.push("__metadata__", [1], vec![0.0]).is_err());
        let names: Vec<&str> = tensors.iter().map(Tensor::name).collect();
        assert_eq!(names, ["w", "bias", "none"]);
    }
}
