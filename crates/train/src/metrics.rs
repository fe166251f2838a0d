//! Metrics by name, in the order in which they were computed.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::pairs;

/// Values of metrics by name; `None` where a metric is undefined. In JSON an object that keeps its
/// order, with null for undefined values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics(Vec<(String, Option<f64>)>);

impl Metrics {
    /// The value of this metric; `None` where it is undefined or not there.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name).and_then(|(_, value)| *value)
    }

    /// Sets a metric; one that is there keeps its place. A value that is not finite is undefined.
    pub fn insert(&mut self, name: impl Into<String>, value: Option<f64>) {
        let (name, value) = (name.into(), value.filter(|value| value.is_finite()));
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((name, value)),
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<f64>)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }
}

impl<N: Into<String>> FromIterator<(N, Option<f64>)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (N, Option<f64>)>>(pairs: I) -> Self {
        let mut metrics = Self::default();
        pairs.into_iter().for_each(|(name, value)| metrics.insert(name, value));
        metrics
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        pairs::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Metrics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pairs: Vec<(String, Value)> = pairs::deserialize(deserializer)?;
        // What another version wrote beside the numbers is left out.
        let numbers = pairs.into_iter().filter(|(_, value)| value.is_number() || value.is_null());
        Ok(numbers.map(|(name, value)| (name, value.as_f64())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_keep_their_order_and_other_values_are_left_out() {
        let text = r#"{"kl":0.1,"accuracy":1.0,"ece":null}"#;
        let metrics: Metrics = serde_json::from_str(text).unwrap();
        assert_eq!(
            (metrics.get("kl"), metrics.get("ece"), metrics.get("x")),
            (Some(0.1), None, None)
        );
        assert_eq!(serde_json::to_string(&metrics).unwrap(), text);
        let more = r#"{"kl":0.1,"note":"x","accuracy":1,"ece":null}"#;
        assert_eq!(serde_json::from_str::<Metrics>(more).unwrap(), metrics);
        let made: Metrics =
            [("a", Some(1.0)), ("b", Some(f64::NAN)), ("a", Some(2.0))].into_iter().collect();
        assert_eq!(made.iter().collect::<Vec<_>>(), [("a", Some(2.0)), ("b", None)]);
    }
}
