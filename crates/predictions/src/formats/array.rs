//! numpy: `.npy` (items × classes), `.npz` with `logits` or `probabilities` (or one matrix of any
//! name) and optionally `ids` and `classes`.

use dissensus_io::{Archive, Example, Problem, ReadOption, Source, npy};

use super::members::{Content, Member, of_list, pick};
use super::{Format, RawPredictions, matrix};
use crate::context::Context;
use crate::error::{PredictionError, PredictionProblem};
use crate::note::Note;

pub(super) const NPY: Format = Format {
    name: "npy",
    layout: ".npy, items × classes; no ids: matched by position",
    names: "one matrix, items × classes; it has no ids and no class names",
    examples: &[Example::arrays("logits.npy", &[("array", "[[1.5, -0.5], [0.25, 2.0]]")])],
    options: &[],
    detect: |source, _| matches!(source, Source::Npy(_)),
    read: read_npy,
};

pub(super) const NPZ: Format = Format {
    name: "npz",
    layout: ".npz with `logits` or `probabilities`, and optionally `ids` and `classes`",
    names: "`logits`, `probabilities`, `probs` or another matrix (several matrices of other names are \
            several models); `ids`, `items`, `uid` or another list of different texts; `classes`",
    examples: &[Example::arrays(
        "model.npz",
        &[
            ("logits", "[[1.5, -0.5], [0.25, 2.0]]"),
            ("ids", "[\"a\", \"b\"]"),
            ("classes", "[\"no\", \"yes\"]"),
        ],
    )],
    options: &[ReadOption::Id, ReadOption::Key],
    detect: |source, _| matches!(source, Source::Archive(_)),
    read: read_npz,
};

fn read_npy(
    file: &str,
    source: Source,
    options: &Context<'_>,
) -> Result<Vec<RawPredictions>, PredictionError> {
    let Source::Npy(bytes) = source else {
        return Ok(Vec::new());
    };
    let fail = |problem| PredictionError::new(file, problem);
    let array = npy::parse(&bytes).map_err(fail)?;
    let content = match array.is_integer() {
        true => Content::WholeNumbers,
        false if matches!(array.element, npy::Element::Float(_)) => Content::Numbers,
        false => Content::Texts,
    };
    if matches!(array.shape[..], [_] | [_, 1])
        && content == Content::Numbers
        && options.one_number()
    {
        let values = array.numbers().map_err(fail)?;
        return Ok(vec![RawPredictions { values, width: 1, ..RawPredictions::default() }]);
    }
    if matches!(array.shape[..], [_] | [_, 1]) || content == Content::Texts {
        return Err(PredictionError::new(file, of_list("the array", content)));
    }
    let (values, width) = matrix(&array, options).map_err(fail)?;
    Ok(vec![RawPredictions { values, width, ..RawPredictions::default() }])
}

const END: &str = ".npy";

fn read_npz(
    file: &str,
    source: Source,
    options: &Context<'_>,
) -> Result<Vec<RawPredictions>, PredictionError> {
    let Source::Archive(mut archive) = source else {
        return Ok(Vec::new());
    };
    let (members, unread) = members(file, &mut archive)?;
    if archive.find("data.pkl").is_some() {
        let what = "this is a file of torch.save, whose pickle is never run".to_owned();
        let remedy = Some("write the array with numpy.save, or a table as CSV");
        return Err(PredictionError::new(file, Problem::NotRead { what, remedy }));
    }
    if members.is_empty() {
        let names: Vec<String> = archive.names().take(5).collect();
        let seen = format!("an archive without numpy arrays ({}, …)", names.join(", "));
        return Err(PredictionError::new(file, PredictionProblem::Unknown { seen }));
    }
    let mut picked = pick(file, &members, options)?;
    picked.notes.extend((!unread.is_empty()).then_some(Note::LeftOut { names: unread }));
    let mut found = Vec::new();
    for name in &picked.values {
        let bytes = archive.read(&format!("{name}{END}"))?;
        let values = npy::parse(&bytes).and_then(|array| matrix(&array, options));
        let values = values.map_err(|problem| PredictionError::new(file, problem))?;
        found.push(picked.predictions(name, values));
    }
    Ok(found)
}

/// The arrays of an archive, and the names of those that cannot be read. An array of a name that
/// ids or classes go by must be readable.
fn members(
    file: &str,
    archive: &mut Archive,
) -> Result<(Vec<Member>, Vec<String>), PredictionError> {
    let (mut members, mut unread) = (Vec::new(), Vec::new());
    let names: Vec<String> = archive.names().collect();
    for name in names.iter().filter_map(|name| name.strip_suffix(END)) {
        let bytes = archive.read(&format!("{name}{END}"))?;
        match npy::parse(&bytes).and_then(|array| Member::of(name, &array)) {
            Ok(member) => members.push(member),
            Err(problem) if dissensus_core::id_name_rank(name).is_some() || name == "classes" => {
                return Err(PredictionError::new(file, problem).column(name));
            }
            Err(_) => unread.push(name.to_owned()),
        }
    }
    Ok((members, unread))
}
