//! Predictions as files that `dissensus score` and numpy read.
//!
//! `.npz` holds the logits as they are, with ids and classes, in the form of a run's own
//! predictions; `.csv` holds probabilities, as `dissensus baseline` writes them.

use std::fmt::Write as _;
use std::path::Path;

use dissensus::io::FileError;
use dissensus::store::Logits;

use crate::ui::files;
use crate::ui::table::csv_cell;

/// What a file is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Npz,
    Csv,
}

/// What a file's name says.
pub(super) fn form_of(path: &Path) -> anyhow::Result<Form> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("npz") => Ok(Form::Npz),
        Some("csv") => Ok(Form::Csv),
        _ => anyhow::bail!(
            "cannot tell what to write from the name {}; end it in .npz (logits) or .csv \
             (probabilities)",
            path.display()
        ),
    }
}

/// Writes the file whole, or not at all.
pub(super) fn file(
    path: &Path,
    force: bool,
    form: Form,
    predictions: &Logits<'_>,
) -> Result<(), FileError> {
    match form {
        Form::Npz => files::write(path, force, |out| predictions.write_npz(out)),
        Form::Csv => files::write_text(path, force, &csv(predictions)),
    }
}

/// A row an id, a column a class.
pub(super) fn csv(predictions: &Logits<'_>) -> String {
    let classes: Vec<String> = predictions.classes().iter().map(|name| csv_cell(name)).collect();
    let mut text = format!("id,{}\n", classes.join(","));
    let probabilities = predictions.probabilities();
    let rows = probabilities.chunks(classes.len().max(1));
    for (id, row) in predictions.ids().iter().zip(rows) {
        text += &csv_cell(id);
        for probability in row {
            // Writing into a text cannot fail.
            let _ = write!(text, ",{probability}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use dissensus::predictions::{Kind, ReadOptions, read};

    fn predictions() -> Logits<'static> {
        let texts = |list: &[&str]| list.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        let logits = vec![0.1, -3.5e-8, 2.0, 1e4, -7.25, 0.0];
        Logits::new(logits, texts(&["é,1", "日本"]), texts(&["a", "b\"c", "d"])).unwrap()
    }

    #[test]
    fn what_is_written_is_what_score_reads() {
        let folder = tempfile::tempdir().unwrap();
        for (name, form, kind) in
            [("p.npz", Form::Npz, Kind::Logits), ("p.CSV", Form::Csv, Kind::Probabilities)]
        {
            let path = folder.path().join(name);
            assert_eq!(form_of(&path).unwrap(), form);
            file(&path, false, form, &predictions()).unwrap();
            let [back] = &read(&path, &ReadOptions::default()).unwrap()[..] else {
                panic!("one model")
            };
            assert_eq!(back.kind, kind);
            assert_eq!(back.ids.as_deref(), Some(predictions().ids()));
            assert_eq!(back.classes.as_deref(), Some(predictions().classes()));
            let expected: Vec<f64> = match form {
                Form::Npz => predictions().logits().iter().map(|&z| f64::from(z)).collect(),
                Form::Csv => predictions().probabilities(),
            };
            assert_eq!(back.values, expected);
            assert!(matches!(
                file(&path, false, form, &predictions()),
                Err(FileError::Exists { .. })
            ));
        }
    }

    #[test]
    fn a_name_without_a_known_ending_is_refused() {
        let error = form_of(Path::new("out.parquet")).unwrap_err().to_string();
        assert!(error.contains("end it in .npz (logits) or .csv"), "{error}");
    }
}
