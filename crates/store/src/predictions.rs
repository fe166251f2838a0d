//! A model's logits with the ids and classes they belong to, as `.npz`: what `numpy.load` and
//! `dissensus score` read.

use std::borrow::Cow;
use std::io::{self, Seek, Write};
use std::path::Path;

use dissensus_io::npz::NpzWriter;
use dissensus_io::{Archive, npy};

use crate::{Durability, StoreError, files};

/// Logits, row after row: one row an id, one column a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions<'a> {
    logits: Cow<'a, [f32]>,
    ids: Cow<'a, [String]>,
    classes: Cow<'a, [String]>,
}

impl<'a> Predictions<'a> {
    /// Predictions; there must be a logit for every id and class.
    pub fn new(
        logits: impl Into<Cow<'a, [f32]>>,
        ids: impl Into<Cow<'a, [String]>>,
        classes: impl Into<Cow<'a, [String]>>,
    ) -> Result<Self, StoreError> {
        let (logits, ids, classes) = (logits.into(), ids.into(), classes.into());
        if ids.len().checked_mul(classes.len()) != Some(logits.len()) {
            let (values, ids, classes) = (logits.len(), ids.len(), classes.len());
            return Err(StoreError::PredictionShape { values, ids, classes });
        }
        if let Some(text) = ids.iter().chain(&*classes).find(|text| text.ends_with('\0')) {
            return Err(StoreError::Text { text: text.clone() });
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

    /// Writes them as a `.npz` with the arrays `logits`, `ids` and `classes`.
    pub fn write_npz(&self, out: impl Write + Seek) -> io::Result<()> {
        let mut npz = NpzWriter::new(out);
        let shape = [self.ids.len(), self.classes.len()];
        npy::write_array(npz.array("logits")?, &shape, &self.logits)?;
        npy::write_texts(npz.array("ids")?, self.ids.iter().map(String::as_str))?;
        npy::write_texts(npz.array("classes")?, self.classes.iter().map(String::as_str))?;
        npz.finish()
    }

    pub(crate) fn write(&self, path: &Path, durability: Durability) -> Result<(), StoreError> {
        files::replace(path, durability, |out| self.write_npz(out))
    }

    /// The predictions in a file; `None` where there is none.
    pub(crate) fn read(path: &Path) -> Result<Option<Predictions<'static>>, StoreError> {
        let Some(bytes) = files::read_if_there(path)? else {
            return Ok(None);
        };
        let wrong = |reason: String| StoreError::Predictions { path: path.to_owned(), reason };
        parse(bytes).map(Some).map_err(wrong)
    }
}

fn parse(bytes: Vec<u8>) -> Result<Predictions<'static>, String> {
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
    Ok(Predictions { logits: logits.into(), ids: ids.into(), classes: classes.into() })
}

/// Feature vectors as numpy's `.npz`: `features` (items × width) and `ids`.
pub fn write_features(
    out: impl Write + Seek,
    ids: &[String],
    width: usize,
    values: &[f32],
) -> io::Result<()> {
    let mut npz = NpzWriter::new(out);
    npy::write_array(npz.array("features")?, &[ids.len(), width], values)?;
    npy::write_texts(npz.array("ids")?, ids.iter().map(String::as_str))?;
    npz.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
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
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("p.npz");
            let predictions = Predictions::new(&logits[..], &ids[..], &classes[..]).unwrap();
            predictions.write(&path, Durability::Process).unwrap();
            let back = Predictions::read(&path).unwrap().unwrap();
            let same = back.logits().iter().zip(&logits).all(|(a, b)| a.to_bits() == b.to_bits());
            prop_assert!(same && back.logits().len() == cells);
            prop_assert_eq!((back.ids(), back.classes()), (&ids[..], &classes[..]));
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let (ids, classes) = (texts(&["a", "b"]), texts(&["cat", "dog"]));
        let short = Predictions::new(vec![0.0; 3], ids.clone(), classes.clone()).unwrap_err();
        let message = "3 logits for 2 ids and 2 classes; expected one an id and class";
        assert_eq!(short.to_string(), message);
        let nul = Predictions::new(vec![0.0; 4], texts(&["a", "b\0"]), classes).unwrap_err();
        assert!(matches!(nul, StoreError::Text { .. }), "{nul}");
        assert!(Predictions::new(vec![], ids, vec![]).is_ok());
    }

    #[test]
    fn damaged_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.npz");
        assert_eq!(Predictions::read(&path).unwrap(), None);
        let whole = Predictions::new(vec![0.5; 2], texts(&["a"]), texts(&["x", "y"])).unwrap();
        whole.write(&path, Durability::Process).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let error = Predictions::read(&path).unwrap_err();
            assert!(matches!(error, StoreError::Predictions { .. }), "{error}");
        }
        // A flipped value is caught by the archive's own checksum.
        let at = bytes.windows(4).position(|w| w == 0.5f32.to_le_bytes()).unwrap();
        let mut flipped = bytes;
        flipped[at] ^= 1;
        std::fs::write(&path, flipped).unwrap();
        let message = Predictions::read(&path).unwrap_err().to_string();
        assert!(message.contains("does not hold predictions: logits.npy"), "{message}");
    }
}
