//! Attributes of a node: each is asked for once, and what nobody asked for is an error, since a
//! setting that is passed over would give other numbers without a word.

use super::model::{Attribute, Constant, Node};

/// What has not been asked for yet.
pub(super) struct Attributes<'a>(Vec<&'a (String, Attribute)>);

impl<'a> Attributes<'a> {
    pub(super) fn new(node: &'a Node) -> Self {
        Self(node.attributes.iter().collect())
    }

    fn take(&mut self, name: &str) -> Option<&'a Attribute> {
        let at = self.0.iter().position(|attribute| attribute.0 == name)?;
        Some(&self.0.swap_remove(at).1)
    }

    pub(super) fn integer(&mut self, name: &str) -> Result<Option<i64>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Attribute::Integer(number)) => Ok(Some(*number)),
            Some(_) => Err(format!("attribute {name} should be a whole number")),
        }
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, String> {
        match self.integer(name)? {
            None => Ok(None),
            Some(number @ (0 | 1)) => Ok(Some(number == 1)),
            Some(number) => Err(format!("attribute {name} should be 0 or 1 and is {number}")),
        }
    }

    pub(super) fn float(&mut self, name: &str) -> Result<Option<f32>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Attribute::Float(number)) => Ok(Some(*number)),
            Some(_) => Err(format!("attribute {name} should be a float")),
        }
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Attribute::Text(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("attribute {name} should be a text")),
        }
    }

    pub(super) fn integers(&mut self, name: &str) -> Result<Option<Vec<i64>>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Attribute::Integers(numbers)) => Ok(Some(numbers.clone())),
            Some(_) => Err(format!("attribute {name} should be whole numbers")),
        }
    }

    pub(super) fn sizes(&mut self, name: &str) -> Result<Option<Vec<usize>>, String> {
        let Some(numbers) = self.integers(name)? else { return Ok(None) };
        let sizes = numbers.iter().map(|number| usize::try_from(*number).ok()).collect();
        let sizes: Option<Vec<usize>> = sizes;
        match sizes {
            Some(sizes) => Ok(Some(sizes)),
            None => Err(format!("attribute {name} is {numbers:?}; none may be negative")),
        }
    }

    pub(super) fn pair(&mut self, name: &str) -> Result<Option<[usize; 2]>, String> {
        let Some(sizes) = self.sizes(name)? else { return Ok(None) };
        match sizes.as_slice().try_into() {
            Ok(pair) => Ok(Some(pair)),
            Err(_) => Err(format!("attribute {name} is {sizes:?}; pictures have two sides")),
        }
    }

    pub(super) fn tensor(&mut self, name: &str) -> Result<Option<Constant>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Attribute::Tensor(tensor)) => Ok(Some(tensor.clone())),
            Some(_) => Err(format!("attribute {name} should be a tensor")),
        }
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!("attribute {name} is not known here")),
        }
    }
}
