//! Files that are named for what they are instead of being taken for a damaged table.

use crate::error::{PredictionError, PredictionProblem};

/// Refuses what holds no predictions that can be read, by its first bytes.
pub(crate) fn refuse_foreign(file: &str, head: &[u8]) -> Result<(), PredictionError> {
    let text =
        |start: &str| head.trim_ascii_start().to_ascii_lowercase().starts_with(start.as_bytes());
    let has = |part: &[u8]| head.windows(part.len()).take(4096).any(|window| window == part);
    let zip = head.starts_with(b"PK");
    let (what, remedy) = match head {
        [0x80, 2..=5, ..] => ("a pickle", PICKLE),
        _ if zip && has(b"data.pkl") => ("a file of torch.save, which is a pickle", PICKLE),
        _ if zip && has(b"[Content_Types].xml") => {
            ("an Excel workbook", "save the sheet as CSV, or write it with pandas.DataFrame.to_csv")
        }
        [0x89, b'H', b'D', b'F', ..] => ("an HDF5 file", ARRAY),
        [b'M', b'A', b'T', b'L', b'A', b'B', ..] => ("a MATLAB file", ARRAY),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [b'F', b'E', b'A', b'1', ..] => {
            ("a Feather file", "write it as Parquet or CSV")
        }
        [b'O', b'b', b'j', 1, ..] => ("an Avro file", "write it as Parquet or CSV"),
        _ if text("version https://git-lfs") => {
            ("a pointer of Git LFS, not the file itself", "run `git lfs pull`")
        }
        _ if text("<!doctype html") || text("<html") => {
            ("a page of HTML, not data", "download the file itself, as with a link named \"raw\"")
        }
        _ if text("<?xml") => ("an XML file", "write the predictions as CSV or JSON Lines"),
        _ => return Ok(()),
    };
    Err(PredictionError::new(file, PredictionProblem::Foreign { what, remedy }))
}

const PICKLE: &str = "reading a pickle runs code, so it is not read; write the array with numpy.save, or the table with \
                      pandas.DataFrame.to_csv";
const ARRAY: &str = "write the array with numpy.save, with the ids and classes in an .npz";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_for_what_they_are() {
        let named = |bytes: &[u8]| refuse_foreign("x", bytes).err().map(|error| error.to_string());
        assert!(named(b"\x80\x04\x95abc").unwrap().contains("a pickle"));
        assert!(named(b"PK\x03\x04....archive/data.pkl").unwrap().contains("torch.save"));
        assert!(named(b"\n<!DOCTYPE html><p>").unwrap().contains("HTML"));
        assert!(
            named(b"version https://git-lfs.github.com/spec/v1\n").unwrap().contains("Git LFS")
        );
        assert_eq!(named(b"id,cat,dog\n"), None);
        assert_eq!(named(b"PK\x03\x04....logits.npy"), None);
    }
}
