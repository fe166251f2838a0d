//! numpy: `.npy` (items × classes), `.npz` with `logits` or `probabilities` (or one matrix of any
//! name) and optionally `items` and `classes`.

use dissensus_io::Example;
use dissensus_io::{Archive, Source, npy};
use dissensus_io::{Problem, ReadError};

use super::{Format, RawPredictions, check_ids, kind_of, matrix};
use crate::read::ReadOptions;

pub(super) const NPY: Format = Format {
    name: "npy",
    layout: ".npy, items × classes; no ids: matched by position",
    examples: &[Example::arrays("logits.npy", &[("array", "[[1.5, -0.5], [0.25, 2.0]]")])],
    detect: |source, _| matches!(source, Source::Npy(_)),
    read: read_npy,
};

pub(super) const NPZ: Format = Format {
    name: "npz",
    layout: ".npz with `logits` or `probabilities`, and optionally `items` and `classes`",
    examples: &[Example::arrays(
        "model.npz",
        &[
            ("logits", "[[1.5, -0.5], [0.25, 2.0]]"),
            ("items", "[\"a\", \"b\"]"),
            ("classes", "[\"no\", \"yes\"]"),
        ],
    )],
    detect: |source, _| matches!(source, Source::Archive(_)),
    read: read_npz,
};

fn npy_matrix(
    file: &str,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<f64>, usize), ReadError> {
    let read = npy::parse(bytes).and_then(|array| matrix(&array, options));
    read.map_err(|problem| ReadError::new(file, problem))
}

fn read_npy(
    file: &str,
    source: Source,
    options: &ReadOptions,
) -> Result<Vec<RawPredictions>, ReadError> {
    let Source::Npy(bytes) = source else {
        return Ok(Vec::new());
    };
    let (values, width) = npy_matrix(file, &bytes, options)?;
    Ok(vec![RawPredictions { name: None, ids: None, classes: None, values, width, kind: None }])
}

fn read_npz(
    file: &str,
    source: Source,
    options: &ReadOptions,
) -> Result<Vec<RawPredictions>, ReadError> {
    let Source::Archive(mut archive) = source else {
        return Ok(Vec::new());
    };
    const KNOWN: [&str; 5] =
        ["logits.npy", "probabilities.npy", "probs.npy", "predictions.npy", "values.npy"];
    let names: Vec<String> = archive.names().collect();
    let known = KNOWN.iter().find(|known| names.iter().any(|name| name == *known));
    let ids = texts(file, &mut archive, &["items.npy", "ids.npy", "uids.npy"])?;
    let classes = texts(file, &mut archive, &["classes.npy"])?;
    if let Some(known) = known {
        let (values, width) = npy_matrix(file, &archive.read(known)?, options)?;
        check_ids(file, ids.as_ref(), values.len().checked_div(width).unwrap_or(0))?;
        let kind = kind_of(known);
        return Ok(vec![RawPredictions { name: None, ids, classes, values, width, kind }]);
    }
    // Several models in one archive: every matrix is one, by its name.
    let mut found = Vec::new();
    for name in names.iter().filter(|name| name.ends_with(".npy")) {
        let bytes = archive.read(name)?;
        if npy::parse(&bytes).is_ok_and(|array| array.shape.len() == 2) {
            let (values, width) = npy_matrix(file, &bytes, options)?;
            check_ids(file, ids.as_ref(), values.len().checked_div(width).unwrap_or(0))?;
            let name = name.strip_suffix(".npy").map(str::to_owned);
            let (ids, classes) = (ids.clone(), classes.clone());
            found.push(RawPredictions { name, ids, classes, values, width, kind: None });
        }
    }
    match found.is_empty() {
        false => Ok(found),
        true => {
            let seen = "an archive without a matrix".to_owned();
            Err(ReadError::new(file, Problem::UnknownFormat { seen }))
        }
    }
}

fn texts(
    file: &str,
    archive: &mut Archive,
    names: &[&str],
) -> Result<Option<Vec<String>>, ReadError> {
    let Some(name) = names.iter().find(|name| archive.names().any(|n| n == **name)) else {
        return Ok(None);
    };
    let bytes = archive.read(name)?;
    let texts = npy::parse(&bytes).and_then(|array| array.texts());
    texts.map(Some).map_err(|problem| ReadError::new(file, problem).column(name.to_string()))
}
