//! A model's logits with the ids and classes they belong to, as `.npz`: what `numpy.load` and
//! `dissensus score` read.

use std::borrow::Cow;
use std::io::{self, Cursor, Read as _, Seek, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::{Durability, StoreError, files, npy};

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

    /// Writes them as a `.npz` with the arrays `logits`, `ids` and `classes`.
    pub fn write_npz(&self, out: impl Write + Seek) -> io::Result<()> {
        let mut zip = ZipWriter::new(out);
        zip.start_file("logits.npy", stored())?;
        npy::write_matrix(&mut zip, [self.ids.len(), self.classes.len()], &self.logits)?;
        zip.start_file("ids.npy", stored())?;
        npy::write_texts(&mut zip, &self.ids)?;
        zip.start_file("classes.npy", stored())?;
        npy::write_texts(&mut zip, &self.classes)?;
        zip.finish()?;
        Ok(())
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
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|e| wrong(e.to_string()))?;
        let mut member = |name: &str| -> Result<Vec<u8>, String> {
            let mut bytes = Vec::new();
            let mut file = zip.by_name(name).map_err(|e| format!("{name}: {e}"))?;
            file.read_to_end(&mut bytes).map_err(|e| format!("{name}: {e}"))?;
            Ok(bytes)
        };
        let mut read = || {
            let named = |name: &'static str| move |reason: String| format!("{name}: {reason}");
            let ([rows, columns], logits) =
                npy::read_matrix(&member("logits.npy")?).map_err(named("logits.npy"))?;
            let ids = npy::read_texts(&member("ids.npy")?).map_err(named("ids.npy"))?;
            let classes = npy::read_texts(&member("classes.npy")?).map_err(named("classes.npy"))?;
            if (rows, columns) != (ids.len(), classes.len()) {
                return Err(format!(
                    "logits of shape [{rows}, {columns}] for {} ids and {} classes",
                    ids.len(),
                    classes.len()
                ));
            }
            Ok(Predictions { logits: logits.into(), ids: ids.into(), classes: classes.into() })
        };
        read().map(Some).map_err(wrong)
    }
}

/// As numpy.savez: not compressed; and of any size.
fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true)
}

/// Feature vectors as numpy's `.npz`: `features` (items × width) and `ids`.
pub fn write_features(
    out: impl Write + Seek,
    ids: &[String],
    width: usize,
    values: &[f32],
) -> io::Result<()> {
    if values.len() != ids.len() * width {
        let text = format!("{} numbers for {} vectors of {width}", values.len(), ids.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut zip = ZipWriter::new(out);
    zip.start_file("features.npy", stored())?;
    npy::write_matrix(&mut zip, [ids.len(), width], values)?;
    zip.start_file("ids.npy", stored())?;
    npy::write_texts(&mut zip, ids)?;
    zip.finish()?;
    Ok(())
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
    fn probabilities_sum_to_one_and_do_not_overflow() {
        let probabilities = |row: &[f32]| {
            let classes = texts(&["x", "y", "z"])[..row.len()].to_vec();
            Predictions::new(row.to_vec(), texts(&["a"]), classes).unwrap().probabilities()
        };
        assert_eq!(probabilities(&[1e4, 1e4]), [0.5, 0.5]);
        let row = probabilities(&[1.0, 2.0, f32::MAX]);
        assert_eq!(row, [0.0, 0.0, 1.0]);
        // e¹ / (e⁰ + e¹)
        assert!((probabilities(&[0.0, 1.0])[1] - 0.731_058_578_630_004_9).abs() < 1e-15);
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
