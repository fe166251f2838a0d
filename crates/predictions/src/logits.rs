//! A model's logits with the ids and classes they belong to, and their `.npz` file: what a run
//! stores, what `numpy.load` reads, and what [`read`](crate::read) takes for
//! [`Predictions`](crate::Predictions).

use std::borrow::Cow;
#[cfg(feature = "files")]
use std::io::{self, Seek, Write};

#[cfg(feature = "files")]
use dissensus_io::npz::NpzWriter;
#[cfg(feature = "files")]
use dissensus_io::{Archive, npy};
use thiserror::Error;

use crate::{ByPosition, Kind, Predictions};

/// Why there are no logits.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LogitsError {
    /// Another number of logits than ids times classes.
    #[error("{values} logits for {ids} ids and {classes} classes; expected one per id and class")]
    Shape {
        /// Logits.
        values: usize,
        /// Ids.
        ids: usize,
        /// Classes.
        classes: usize,
    },
    /// An id or class that a numpy text cannot hold.
    #[error("{text:?} ends in a NUL character, which a numpy text cannot hold")]
    Text {
        /// The id or class.
        text: String,
    },
    /// A file that does not hold logits.
    #[error("{0}")]
    File(String),
}

/// Logits, row after row: one row per id, one column per class.
#[derive(Clone, Debug, PartialEq)]
pub struct Logits<'a> {
    logits: Cow<'a, [f32]>,
    ids: Cow<'a, [String]>,
    classes: Cow<'a, [String]>,
}

impl<'a> Logits<'a> {
    /// Logits; there must be a logit for every id and class.
    pub fn new(
        logits: impl Into<Cow<'a, [f32]>>,
        ids: impl Into<Cow<'a, [String]>>,
        classes: impl Into<Cow<'a, [String]>>,
    ) -> Result<Self, LogitsError> {
        let (logits, ids, classes) = (logits.into(), ids.into(), classes.into());
        if ids.len().checked_mul(classes.len()) != Some(logits.len()) {
            let (values, ids, classes) = (logits.len(), ids.len(), classes.len());
            return Err(LogitsError::Shape { values, ids, classes });
        }
        if let Some(text) = ids.iter().chain(&*classes).find(|text| text.ends_with('\0')) {
            return Err(LogitsError::Text { text: text.clone() });
        }
        Ok(Self { logits, ids, classes })
    }

    /// The logits, row after row.
    pub fn logits(&self) -> &[f32] {
        &self.logits
    }

    /// The ids of the rows.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// The names of the columns.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The probabilities, row after row: q_k = exp(z_k − m) / Σ exp(z − m), with m the largest logit
    /// of a row.
    pub fn probabilities(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.logits.iter().map(|&z| f64::from(z)).collect();
        for row in all.chunks_mut(self.classes.len().max(1)) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|z| *z = (*z - largest).exp());
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|power| *power /= sum);
        }
        all
    }

    /// The same as predictions of a model of this name.
    pub fn to_predictions(&self, name: &str) -> Predictions {
        Predictions {
            name: name.to_owned(),
            file: name.to_owned(),
            ids: Some(self.ids.to_vec()),
            classes: Some(self.classes.to_vec()),
            values: self.logits.iter().map(|&logit| f64::from(logit)).collect(),
            width: self.classes.len(),
            kind: Kind::Logits,
            kind_detected: false,
            file_classes: None,
            by_position: ByPosition::default(),
            class_order: None,
            trust_order: false,
            notes: Vec::new(),
        }
    }

    #[cfg(feature = "files")]
    /// Writes them as a `.npz` with the arrays `logits`, `ids` and `classes`.
    pub fn write_npz(&self, out: impl Write + Seek) -> io::Result<()> {
        let mut npz = NpzWriter::new(out);
        let shape = [self.ids.len(), self.classes.len()];
        npy::write_array(npz.array("logits")?, &shape, &self.logits)?;
        npy::write_texts(npz.array("ids")?, self.ids.iter().map(String::as_str))?;
        npy::write_texts(npz.array("classes")?, self.classes.iter().map(String::as_str))?;
        npz.finish()
    }

    #[cfg(feature = "files")]
    /// Those in a `.npz` that [`write_npz`](Self::write_npz) wrote, to the bit.
    pub fn from_npz(bytes: Vec<u8>) -> Result<Logits<'static>, LogitsError> {
        parse(bytes).map_err(LogitsError::File)
    }
}

#[cfg(feature = "files")]
fn parse(bytes: Vec<u8>) -> Result<Logits<'static>, String> {
    let mut archive = Archive::open("", bytes, u64::MAX).map_err(|e| e.problem.to_string())?;
    let mut member =
        |name: &str| archive.read(name).map_err(|error| format!("{name}: {}", error.problem));
    let bytes = member("logits.npy")?;
    let array = npy::parse(&bytes).map_err(|problem| format!("logits.npy: {problem}"))?;
    let Some(([rows, columns], logits)) = array.f32_matrix() else {
        return Err(format!(
            "logits.npy: expected a matrix of float32, found {}",
            array.describe()
        ));
    };
    let mut texts = |name: &str| {
        let bytes = member(name)?;
        let texts = npy::parse(&bytes).and_then(|array| array.texts());
        texts.map_err(|problem| format!("{name}: {problem}"))
    };
    let (ids, classes) = (texts("ids.npy")?, texts("classes.npy")?);
    if (rows, columns) != (ids.len(), classes.len()) {
        return Err(format!(
            "logits of shape [{rows}, {columns}] for {} ids and {} classes",
            ids.len(),
            classes.len()
        ));
    }
    Ok(Logits { logits: logits.into(), ids: ids.into(), classes: classes.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    fn file(logits: &[f32], ids: &[String], classes: &[String]) -> Vec<u8> {
        let mut file = std::io::Cursor::new(Vec::new());
        Logits::new(logits, ids, classes).unwrap().write_npz(&mut file).unwrap();
        file.into_inner()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_written_reads_back(
            ids in prop::collection::vec("\\PC{0,6}", 0..20),
            classes in prop::collection::vec("\\PC{0,6}", 0..5),
            seed in any::<u32>(),
        ) {
            let cells = ids.len() * classes.len();
            // Every bit pattern may come, those of NaN among them.
            let bits = |i: usize| f32::from_bits(seed.wrapping_mul(2 * i as u32 + 1));
            let logits: Vec<f32> = (0..cells).map(bits).collect();
            let back = Logits::from_npz(file(&logits, &ids, &classes)).unwrap();
            let same = back.logits().iter().zip(&logits).all(|(a, b)| a.to_bits() == b.to_bits());
            prop_assert!(same && back.logits().len() == cells);
            prop_assert_eq!((back.ids(), back.classes()), (&ids[..], &classes[..]));
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let (ids, classes) = (texts(&["a", "b"]), texts(&["cat", "dog"]));
        let short = Logits::new(vec![0.0; 3], ids.clone(), classes.clone()).unwrap_err();
        let message = "3 logits for 2 ids and 2 classes; expected one per id and class";
        assert_eq!(short.to_string(), message);
        let nul = Logits::new(vec![0.0; 4], texts(&["a", "b\0"]), classes).unwrap_err();
        assert!(matches!(nul, LogitsError::Text { .. }), "{nul}");
        assert!(Logits::new(vec![], ids, vec![]).is_ok());
    }

    #[test]
    fn damaged_files_are_named() {
        let bytes = file(&[0.5; 2], &texts(&["a"]), &texts(&["x", "y"]));
        for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
            let error = Logits::from_npz(bytes[..cut].to_vec()).unwrap_err();
            assert!(matches!(error, LogitsError::File(_)), "{error}");
        }
        // A flipped value is caught by the archive's own checksum.
        let at = bytes.windows(4).position(|w| w == 0.5f32.to_le_bytes()).unwrap();
        let mut flipped = bytes;
        flipped[at] ^= 1;
        let message = Logits::from_npz(flipped).unwrap_err().to_string();
        assert!(message.starts_with("logits.npy"), "{message}");
    }

    #[test]
    fn probabilities_sum_to_one_and_do_not_overflow() {
        let probabilities = |row: &[f32]| {
            let classes: Vec<String> = ["x", "y", "z"].map(str::to_owned)[..row.len()].to_vec();
            Logits::new(row.to_vec(), vec!["a".to_owned()], classes).unwrap().probabilities()
        };
        assert_eq!(probabilities(&[1e4, 1e4]), [0.5, 0.5]);
        assert_eq!(probabilities(&[1.0, 2.0, f32::MAX]), [0.0, 0.0, 1.0]);
        // e¹ / (e⁰ + e¹)
        assert!((probabilities(&[0.0, 1.0])[1] - 0.731_058_578_630_004_9).abs() < 1e-15);
    }
}
