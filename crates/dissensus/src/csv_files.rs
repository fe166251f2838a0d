//! Results as CSV: probabilities of predictions and baselines, densities of eigenvalues,
//! out-of-distribution scores.

use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::path::Path;

use dissensus_core::VoteTable;
use dissensus_examine::{Curvature, Ood};
use dissensus_io::FileError;
use dissensus_predictions::{Baseline, Logits};
use dissensus_report::csv::field;

use crate::Error;

/// The file formats of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredictionFile {
    /// The logits with ids and classes, in the form of a run's own predictions.
    Npz,
    /// Probabilities: one row per item, one column per class.
    Csv,
}

impl PredictionFile {
    /// The format that a file name asks for; `None` for an unknown extension.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_lowercase();
        match extension.as_str() {
            "npz" => Some(Self::Npz),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }

    /// Writes predictions into a file, whole or not at all.
    pub fn write(
        self,
        path: &Path,
        predictions: &Logits<'_>,
        force: bool,
    ) -> Result<(), FileError> {
        crate::files::write(path, force, |out| match self {
            Self::Npz => predictions.write_npz(out),
            Self::Csv => out.write_all(predictions_csv(predictions).as_bytes()),
        })
    }
}

/// The probabilities of predictions: one row per item, one column per class.
pub fn predictions_csv(predictions: &Logits<'_>) -> String {
    let probabilities = predictions.probabilities();
    let rows = probabilities.chunks(predictions.classes().len().max(1));
    probabilities_csv(predictions.classes(), predictions.ids().iter().zip(rows))
}

/// The probabilities of a baseline: one row per item, one column per class.
pub fn baseline_csv(baseline: &Baseline, table: &VoteTable, seed: u64) -> Result<String, Error> {
    Ok(probabilities_csv(table.classes().names(), baseline.predict(table, seed)?))
}

fn probabilities_csv<Id: AsRef<str>, Row: AsRef<[f64]>>(
    classes: &[impl AsRef<str>],
    rows: impl IntoIterator<Item = (Id, Row)>,
) -> String {
    let mut text = String::from("id");
    for class in classes {
        text.push(',');
        text += &field(class.as_ref());
    }
    text.push('\n');
    for (id, row) in rows {
        text += &field(id.as_ref());
        for probability in row.as_ref() {
            // Writing into a text cannot fail.
            let _ = write!(text, ",{probability}");
        }
        text.push('\n');
    }
    text
}

/// The densities of eigenvalues that were estimated: one row per run, slice and point of the grid.
pub fn densities_csv(found: &[Curvature]) -> String {
    let mut csv = "run,slice,eigenvalue,density,standard_error\n".to_owned();
    for one in found {
        let Some(density) = &one.density else { continue };
        for (at, (value, height)) in density.grid.iter().zip(&density.density).enumerate() {
            let error = density.error.as_ref().map_or(String::new(), |error| error[at].to_string());
            row(&mut csv, &[&one.run, &one.settings.slice, value, height, &error]);
        }
    }
    csv
}

/// The out-of-distribution scores of all inputs. `out` is empty for in-distribution inputs; `place`
/// counts the inputs of each set from 0.
pub fn ood_scores_csv(found: &Ood) -> String {
    let mut csv = "run,score,out,place,value\n".to_owned();
    for scores in &found.scores {
        let out = field(scores.out.as_deref().unwrap_or_default());
        for (place, value) in scores.values.iter().enumerate() {
            row(&mut csv, &[&found.run, &scores.score, &out, &place, value]);
        }
    }
    csv
}

fn row(csv: &mut String, cells: &[&dyn Display]) {
    for (at, cell) in cells.iter().enumerate() {
        let _ = write!(csv, "{}{cell}", if at == 0 { "" } else { "," });
    }
    csv.push('\n');
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use dissensus_predictions::{Kind, ReadOptions, read};

    fn predictions() -> Logits<'static> {
        let texts = |list: &[&str]| list.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        let logits = vec![0.1, -3.5e-8, 2.0, 1e4, -7.25, 0.0];
        Logits::new(logits, texts(&["é,1", "日本"]), texts(&["a", "b\"c", "d"])).unwrap()
    }

    #[test]
    fn written_predictions_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        for (name, form, kind) in [
            ("p.npz", PredictionFile::Npz, Kind::Logits),
            ("p.CSV", PredictionFile::Csv, Kind::Probabilities),
        ] {
            let path = folder.path().join(name);
            assert_eq!(PredictionFile::of(&path), Some(form));
            form.write(&path, &predictions(), false).unwrap();
            let [back] = &read(&path, &ReadOptions::default()).unwrap()[..] else {
                panic!("one model")
            };
            assert_eq!(back.kind, kind);
            assert_eq!(back.ids.as_deref(), Some(predictions().ids()));
            assert_eq!(back.classes.as_deref(), Some(predictions().classes()));
            let expected: Vec<f64> = match form {
                PredictionFile::Npz => {
                    predictions().logits().iter().map(|&z| f64::from(z)).collect()
                }
                PredictionFile::Csv => predictions().probabilities(),
            };
            assert_eq!(back.values, expected);
            let again = form.write(&path, &predictions(), false);
            assert!(matches!(again, Err(FileError::Exists { .. })));
        }
    }

    #[test]
    fn an_unknown_extension_is_no_format() {
        assert_eq!(PredictionFile::of(Path::new("out.parquet")), None);
        assert_eq!(PredictionFile::of(Path::new("out")), None);
    }
}
