//! The classes of a task: names in a stated order.

use serde::Serialize;
use thiserror::Error;

use crate::Scale;

/// Where the order of a [`ClassSet`] comes from. An order is never accidental: the same votes in
/// another row order give the same classes in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassOrder {
    /// The user named the classes.
    Declared,
    /// The file or its format fixes the order (column order, ChaosNLI's e, n, c).
    Format,
    /// All names are numbers, sorted by value.
    Numeric,
    /// Sorted by name.
    Alphabetical,
}

impl ClassOrder {
    /// A few words for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Declared => "as declared",
            Self::Format => "as the format fixes it",
            Self::Numeric => "by number",
            Self::Alphabetical => "alphabetical",
        }
    }
}

/// Class names, all different, in a stated order and on a scale; a class is known by its index from
/// then on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassSet {
    names: Vec<String>,
    order: ClassOrder,
    scale: Scale,
}

/// Why a list of names is not a class set.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ClassError {
    /// A name appears twice.
    #[error("class {name:?} is named twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A name is empty.
    #[error("class {index} has an empty name")]
    Empty {
        /// Its place, from 0.
        index: usize,
    },
    /// More names than a class index can count.
    #[error("{found} classes, but at most {most} are supported: is this really the label column?")]
    TooMany {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// Ordinal classes that are only sorted by name.
    #[error(
        "ordinal classes need the order of their scale, and {names} are only sorted by name; name \
         the classes in their order"
    )]
    Unordered {
        /// The first names, joined.
        names: String,
    },
    /// Ordinal classes whose names are numbers in another order.
    #[error("ordinal classes that are numbers must ascend, but {second:?} comes after {first:?}")]
    NotAscending {
        /// The name before.
        first: String,
        /// The name behind it.
        second: String,
    },
}

impl ClassSet {
    /// The most classes a set may have.
    pub const MOST: usize = u16::MAX as usize;

    /// Names in this order.
    pub fn new(names: Vec<String>, order: ClassOrder) -> Result<Self, ClassError> {
        if names.len() > Self::MOST {
            return Err(ClassError::TooMany { found: names.len(), most: Self::MOST });
        }
        let mut seen = std::collections::HashSet::new();
        for (index, name) in names.iter().enumerate() {
            if name.is_empty() {
                return Err(ClassError::Empty { index });
            }
            if !seen.insert(name.as_str()) {
                return Err(ClassError::Duplicate { name: name.clone() });
            }
        }
        Ok(Self { names, order, scale: Scale::Nominal })
    }

    /// The same classes on this scale. Ordinal classes need an order that means something: their
    /// names are ascending numbers, or somebody (the user, the format) stated the order.
    pub fn with_scale(self, scale: Scale) -> Result<Self, ClassError> {
        if scale == Scale::Ordinal {
            let numbers = numbers(&self.names);
            if numbers.is_none() && self.order == ClassOrder::Alphabetical && self.len() > 1 {
                const LISTED: usize = 20;
                let names = self.names.iter().take(LISTED).map(String::as_str);
                return Err(ClassError::Unordered { names: names.collect::<Vec<_>>().join(", ") });
            }
            let numbers = numbers.unwrap_or_default();
            if let Some(at) = numbers.windows(2).position(|pair| pair[0] >= pair[1]) {
                let (first, second) = (self.names[at].clone(), self.names[at + 1].clone());
                return Err(ClassError::NotAscending { first, second });
            }
        }
        Ok(Self { scale, ..self })
    }

    /// Names in a canonical order: by value where all are numbers, else by name.
    pub fn sorted(mut names: Vec<String>) -> Result<Self, ClassError> {
        let order = match numbers(&names) {
            Some(values) if !values.is_empty() => {
                let mut both: Vec<_> = values.into_iter().zip(names).collect();
                both.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
                names = both.into_iter().map(|(_, name)| name).collect();
                ClassOrder::Numeric
            }
            _ => {
                names.sort();
                ClassOrder::Alphabetical
            }
        };
        Self::new(names, order)
    }

    /// The classes `0` … `k − 1`, for matrices without names.
    pub fn numbered(k: usize) -> Result<Self, ClassError> {
        Self::new((0..k).map(|i| i.to_string()).collect(), ClassOrder::Format)
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of a class, or an empty text where there is no such class.
    pub fn name(&self, class: u16) -> &str {
        self.names.get(class as usize).map_or("", String::as_str)
    }

    /// The index of a name.
    pub fn position(&self, name: &str) -> Option<u16> {
        self.names.iter().position(|n| n == name).map(|i| i as u16)
    }

    /// Where the order comes from.
    pub fn order(&self) -> ClassOrder {
        self.order
    }

    /// What the classes are to each other.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Where ordinal classes lie: at their numbers where all names are numbers, else at 0, 1, 2, ….
    /// `None` on any other scale.
    pub fn positions(&self) -> Option<Vec<f64>> {
        let places = || (0..self.len()).map(|place| place as f64).collect();
        (self.scale == Scale::Ordinal).then(|| numbers(&self.names).unwrap_or_else(places))
    }
}

/// The values of names that are all numbers.
fn numbers(names: &[String]) -> Option<Vec<f64>> {
    names.iter().map(|name| name.parse().ok().filter(|value: &f64| value.is_finite())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn numbers_sort_by_value_and_words_by_name() {
        let numbers = ClassSet::sorted(names(&["10", "-2", "9"])).unwrap();
        assert_eq!(numbers.names(), ["-2", "9", "10"]);
        assert_eq!(numbers.order(), ClassOrder::Numeric);
        let words = ClassSet::sorted(names(&["b", "10", "a"])).unwrap();
        assert_eq!(words.names(), ["10", "a", "b"]);
        assert_eq!(words.order(), ClassOrder::Alphabetical);
    }

    #[test]
    fn ordinal_classes_have_an_order_and_positions() {
        let on = |list: &[&str], order| {
            ClassSet::new(names(list), order).unwrap().with_scale(Scale::Ordinal)
        };
        let numbers = on(&["-1", "0.5", "3"], ClassOrder::Numeric).unwrap();
        assert_eq!(numbers.positions(), Some(vec![-1.0, 0.5, 3.0]));
        let words = on(&["poor", "fair", "good"], ClassOrder::Declared).unwrap();
        assert_eq!(words.positions(), Some(vec![0.0, 1.0, 2.0]));
        assert_eq!(words.with_scale(Scale::Nominal).unwrap().positions(), None);
        let sorted = on(&["fair", "good", "poor"], ClassOrder::Alphabetical).unwrap_err();
        assert_eq!(sorted, ClassError::Unordered { names: "fair, good, poor".into() });
        let falling = on(&["1", "3", "2"], ClassOrder::Declared).unwrap_err();
        let words = "ordinal classes that are numbers must ascend, but \"2\" comes after \"3\"";
        assert_eq!(falling.to_string(), words);
        assert!(on(&["1", "1.0"], ClassOrder::Declared).is_err());
        assert!(on(&["only"], ClassOrder::Alphabetical).is_ok());
    }

    #[test]
    fn names_are_different_and_not_empty() {
        let twice = ClassSet::new(names(&["a", "a"]), ClassOrder::Declared);
        assert_eq!(twice, Err(ClassError::Duplicate { name: "a".into() }));
        let empty = ClassSet::new(names(&["a", ""]), ClassOrder::Declared);
        assert_eq!(empty, Err(ClassError::Empty { index: 1 }));
        let many = ClassSet::numbered(70_000);
        assert!(matches!(many, Err(ClassError::TooMany { found: 70_000, .. })));
    }
}
