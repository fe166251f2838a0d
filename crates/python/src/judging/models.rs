//! Predictions of any kind as the library's: arrays, files, dicts and frames.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use dissensus::core::Counts;
use dissensus::predictions::{
    ByPosition, ClassMap, ClassNames, ClassOrder, Join, JoinError, Kind, PredictionError,
    Predictions, ReadOptions, align, join, read_bytes_for, ways_in,
};
use dissensus::{ScoreOptions, VoteTable, read_joined, read_predictions};
use pyo3::exceptions::{PyFileNotFoundError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors::{raise, raise_with_ways, value_error};
use crate::metrics::{class_numbers, option, settings, ties};
use crate::numbers::{Rows, array, choice, dimensions, names};
use crate::votes::{Votes, frame_of};

/// How models are read and evaluated.
pub(super) struct Judging {
    pub(super) votes: Arc<VoteTable>,
    pub(super) options: ScoreOptions,
    reading: ReadOptions,
    items: Option<Vec<String>>,
    classes: Option<Vec<String>>,
    join: Option<Join>,
}

impl Judging {
    /// Reads the options that all functions share.
    pub(super) fn read(votes: &Bound<'_, PyAny>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let Ok(votes) = votes.cast::<Votes>() else {
            let kind = votes.get_type().name()?;
            return Err(PyTypeError::new_err(format!("votes is of type {kind}; expected Votes")));
        };
        let votes = Arc::clone(votes.get().table());
        let list = |name| match options.get_item(name)?.filter(|list| !list.is_none()) {
            Some(list) => names(name, &list).map(Some),
            None => Ok(None),
        };
        let metrics = match options.get_item("metrics")?.filter(|given| !given.is_none()) {
            Some(given) if given.is_instance_of::<PyString>() => vec![given.extract()?],
            Some(given) => names("metrics", &given)?,
            None => Vec::new(),
        };
        let kinds = [
            ("probabilities", Some(Kind::Probabilities)),
            ("logits", Some(Kind::Logits)),
            ("answers", None),
        ];
        let kind: Option<String> = option(options, "kind")?;
        let kind = kind.map(|kind| choice("kind", &kind, &kinds)).transpose()?;
        let ways =
            [("models", None), ("classes", Some(Join::Classes)), ("seeds", Some(Join::Seeds))];
        let join: Option<String> = option(options, "join")?;
        let join = join.map(|join| choice("join", &join, &ways)).transpose()?;
        let default = ScoreOptions::default();
        let score = ScoreOptions {
            metrics,
            settings: settings(options)?,
            ties: ties(options)?,
            labels: labels(&votes, options)?,
            replicates: option(options, "replicates")?,
            seed: option(options, "seed")?.unwrap_or(default.seed),
        };
        score.chosen().map_err(raise)?;
        let reading = ReadOptions {
            kind: kind.flatten(),
            answers: kind == Some(None),
            runs: matches!(join, Some(None | Some(Join::Seeds))),
            id: option(options, "id")?,
            key: option(options, "key")?,
            class_map: class_map(options)?,
            class_names: class_names(options)?,
            class_order: class_order(options)?,
            answer_separator: option(options, "answer_separator")?,
            trust_order: option(options, "trust_order")?.unwrap_or(false),
            by_position: by_position(options)?,
            ..ReadOptions::default()
        };
        Ok(Self {
            votes,
            options: score,
            reading,
            items: list("items")?,
            classes: list("classes")?,
            join: join.flatten(),
        })
    }

    /// The model of an argument that is a list: of a file per class, or of predictions per seed.
    fn joined(
        &self,
        argument: &str,
        given: &Bound<'_, PyAny>,
        how: Join,
    ) -> PyResult<Vec<Predictions>> {
        let parts: Vec<Bound<'_, PyAny>> = match as_path(given)? {
            Some(_) => vec![given.clone()],
            None => given.try_iter()?.collect::<PyResult<_>>()?,
        };
        let model = match how {
            Join::Classes => {
                self.without_ids("a file")?;
                let files: Option<Vec<PathBuf>> =
                    parts.iter().map(as_path).collect::<PyResult<_>>()?;
                let files = files.ok_or_else(|| {
                    value_error(format!("join=\"classes\" takes a list of files in {argument}"))
                })?;
                read_joined(&self.votes, &files, how, |_| self.reading.clone()).map_err(raise)?
            }
            Join::Seeds => {
                let mut models = Vec::new();
                for part in &parts {
                    models.extend(self.one_by_one(argument, part)?);
                }
                let model = join(&self.votes, &models, how, &self.reading);
                vec![model.map_err(|error| match error {
                    JoinError::Files(error) => raise(error),
                    JoinError::Votes(error) => raise(dissensus::ScoreError::from(error)),
                })?]
            }
        };
        Ok(model)
    }

    /// The models of an argument: several where a file holds several.
    pub(super) fn models(
        &self,
        argument: &str,
        given: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Predictions>> {
        match self.join {
            Some(how) => self.joined(argument, given, how),
            None => self.one_by_one(argument, given),
        }
    }

    fn one_by_one(&self, argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Predictions>> {
        if let Some(path) = as_path(given)? {
            self.without_ids("a file")?;
            if !path.exists() {
                let path = path.display();
                return Err(PyFileNotFoundError::new_err(format!("{path}: there is no such file")));
            }
            let path = [path];
            return self.checked(given.py(), &self.reading, |reading| {
                read_predictions(&self.votes, &path, |_| reading.clone())
            });
        }
        self.without_file_options()?;
        if let Ok(rows) = given.cast::<PyDict>() {
            self.without_ids("a dict")?;
            let ids = names("the keys of the dict", rows.keys().as_any())?;
            let rows = Rows::read(argument, rows.values().as_any(), "a row of numbers per item")?;
            return self.rows(given.py(), argument, &rows, Some(ids));
        }
        let given = match given.hasattr("__arrow_c_stream__")? || given.hasattr("iloc")? {
            true => given.py().import("dissensus._frames")?.call_method1("predicted", (given,))?,
            false => given.clone(),
        };
        if given.hasattr("__arrow_c_stream__")? || given.is_instance_of::<PyDict>() {
            return self.frame(argument, &given);
        }
        let (array, kind) = array(argument, &given)?;
        if dimensions(&array)? == 1 {
            let words = match kind {
                'f' => "one number per item; a prediction has one for each class",
                _ => {
                    "hard labels, which name one class per item; a prediction has a probability or a \
                     logit for each class"
                }
            };
            return Err(value_error(format!("{argument} has one dimension: {words}")));
        }
        let rows = Rows::of(argument, &array, "items × classes")?;
        self.rows(given.py(), argument, &rows, self.items.clone())
    }

    /// The only model of an argument.
    pub(super) fn model(&self, argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Predictions> {
        let mut models = self.models(argument, given)?;
        match (models.pop(), models.is_empty()) {
            (Some(model), true) => Ok(model),
            _ => Err(value_error(format!("{argument} holds several models; expected one"))),
        }
    }

    /// The models that are read, each of which fits the votes; else the arguments by which they are
    /// certainly read right are part of the error.
    fn checked(
        &self,
        py: Python<'_>,
        reading: &ReadOptions,
        read: impl Fn(&ReadOptions) -> Result<Vec<Predictions>, PredictionError> + Send + Sync,
    ) -> PyResult<Vec<Predictions>> {
        let read_all = || -> Result<Vec<Predictions>, dissensus::Error> {
            let models = read(reading)?;
            for model in &models {
                align(&self.votes, model).map_err(dissensus::ScoreError::from)?;
            }
            Ok(models)
        };
        let outcome =
            py.detach(|| read_all().map_err(|error| (error, ways_in(&self.votes, reading, &read))));
        outcome.map_err(|(error, ways)| raise_with_ways(error, &ways))
    }

    /// Rows with these ids; without ids, they are in the order of the votes, and without classes, columns
    /// are in the order of their classes.
    fn rows(
        &self,
        py: Python<'_>,
        argument: &str,
        rows: &Rows<'_>,
        ids: Option<Vec<String>>,
    ) -> PyResult<Vec<Predictions>> {
        let (found, expected) = (rows.rows(), self.votes.len());
        match &ids {
            None if found != expected => {
                return Err(value_error(format!(
                    "{argument} has {found} rows and the votes have {expected} items; give the ids of the \
                     rows with items"
                )));
            }
            Some(ids) if ids.len() != found => {
                let ids = ids.len();
                return Err(value_error(format!(
                    "items has {ids} entries for the {found} rows of {argument}"
                )));
            }
            _ => {}
        }
        let mut reading = self.reading.clone();
        reading.by_position.items |= ids.is_none();
        reading.by_position.classes |= self.classes.is_none()
            && reading.class_order.is_none()
            && reading.class_names.is_none();
        let (values, width) = (rows.widened()?, rows.width());
        self.checked(py, &reading, |reading| {
            let (values, ids, classes) = (values.clone(), ids.clone(), self.classes.clone());
            Predictions::from_rows(argument, values, width, ids, classes, reading)
                .map(|model| vec![model])
        })
    }

    /// A data frame is read as the CSV file of the same content.
    fn frame(&self, argument: &str, frame: &Bound<'_, PyAny>) -> PyResult<Vec<Predictions>> {
        self.without_ids("a data frame")?;
        let text = as_csv(argument, frame_of(frame)?.batches())?;
        // The names of the columns are a header, whatever they are.
        let reading = ReadOptions { header: Some(true), ..self.reading.clone() };
        let mut models = self.checked(frame.py(), &reading, |reading| {
            read_bytes_for(argument, text.clone().into_bytes(), &self.votes, reading)
        })?;
        models.iter_mut().for_each(|model| model.name = argument.to_owned());
        Ok(models)
    }

    fn without_ids(&self, what: &str) -> PyResult<()> {
        for (name, list) in [("items", &self.items), ("classes", &self.classes)] {
            if list.is_some() {
                return Err(value_error(format!(
                    "{name} is for arrays; {what} has names of its own"
                )));
            }
        }
        Ok(())
    }

    fn without_file_options(&self) -> PyResult<()> {
        match &self.reading.key {
            Some(_) => Err(value_error("key is for files; an array has one matrix")),
            None => Ok(()),
        }
    }
}

/// A text or a path object; `None` for anything else.
fn as_path(given: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    match given.is_instance_of::<PyString>() || given.hasattr("__fspath__")? {
        true => given.extract().map(Some),
        false => Ok(None),
    }
}

/// The names of classes, from a dict or from a text such as `contradiction=c,neutral=n`.
fn class_map(options: &Bound<'_, PyDict>) -> PyResult<Option<ClassMap>> {
    let Some(given) = options.get_item("class_map")?.filter(|given| !given.is_none()) else {
        return Ok(None);
    };
    let map = match given.cast::<PyDict>() {
        Ok(pairs) => {
            let from = names("class_map", pairs.keys().as_any())?;
            let to = names("class_map", pairs.values().as_any())?;
            ClassMap::new(from.into_iter().zip(to).collect())
        }
        Err(_) => given.extract::<String>()?.parse(),
    };
    map.map(Some).map_err(|words| value_error(format!("class_map: {words}")))
}

/// What a file calls the classes of its columns: a list, or the path of a `config.json`.
fn class_names(options: &Bound<'_, PyDict>) -> PyResult<Option<ClassNames>> {
    let Some(given) = options.get_item("class_names")?.filter(|given| !given.is_none()) else {
        return Ok(None);
    };
    let names = match as_path(&given)? {
        Some(path) => ClassNames::given(&path.display().to_string()),
        None => ClassNames::new(names("class_names", &given)?),
    };
    names.map(Some).map_err(|words| value_error(format!("class_names: {words}")))
}

/// The classes of columns: a list, or `"by name"`.
fn class_order(options: &Bound<'_, PyDict>) -> PyResult<Option<ClassOrder>> {
    let Some(given) = options.get_item("class_order")?.filter(|given| !given.is_none()) else {
        return Ok(None);
    };
    let order = match given.is_instance_of::<PyString>() {
        true => given.extract::<String>()?.parse(),
        false => ClassOrder::list(names("class_order", &given)?),
    };
    order.map(Some).map_err(|words| value_error(format!("class_order: {words}")))
}

/// What is matched by position: `"items"`, `"classes"`, or both in a list.
fn by_position(options: &Bound<'_, PyDict>) -> PyResult<ByPosition> {
    let mut found = ByPosition::default();
    let Some(given) = options.get_item("by_position")?.filter(|given| !given.is_none()) else {
        return Ok(found);
    };
    let given = match given.is_instance_of::<PyString>() {
        true => vec![given.extract()?],
        false => names("by_position", &given)?,
    };
    for one in &given {
        match choice("by_position", one, &[("items", true), ("classes", false)])? {
            true => found.items = true,
            false => found.classes = true,
        }
    }
    Ok(found)
}

/// Labels from elsewhere: votes with one label per item, or a class per item in the order of the votes,
/// by its name or its number.
fn labels(votes: &VoteTable, options: &Bound<'_, PyDict>) -> PyResult<Option<VoteTable>> {
    let Some(given) = options.get_item("labels")?.filter(|given| !given.is_none()) else {
        return Ok(None);
    };
    if let Ok(labels) = given.cast::<Votes>() {
        return Ok(Some(labels.get().table().as_ref().clone()));
    }
    let (known, order) = (votes.classes().names(), votes.classes());
    let numbers: Vec<u16> = match array("labels", &given) {
        Ok((array, 'i' | 'u')) => class_numbers("labels", &array)?
            .into_iter()
            .enumerate()
            .map(|(row, class)| {
                let number = u16::try_from(class).ok().filter(|&at| usize::from(at) < known.len());
                number.ok_or_else(|| {
                    let classes = known.len();
                    value_error(format!(
                        "labels[{row}] is {class}; expected a class below {classes}"
                    ))
                })
            })
            .collect::<PyResult<_>>()?,
        _ => names("labels", &given)?
            .iter()
            .enumerate()
            .map(|(row, name)| {
                order.position(name).ok_or_else(|| {
                    let classes = known.join(", ");
                    value_error(format!("labels[{row}] is {name:?}; the classes are {classes}"))
                })
            })
            .collect::<PyResult<_>>()?,
    };
    if numbers.len() != votes.len() {
        let (found, expected) = (numbers.len(), votes.len());
        return Err(value_error(format!("labels has {found} entries for {expected} items")));
    }
    let mut counts = Counts::new();
    let mut labels = numbers.into_iter();
    labels
        .try_for_each(|class| counts.push([(class, 1)]))
        .map_err(|error| value_error(error.to_string()))?;
    let (classes, items) = (votes.classes().clone(), votes.items().clone());
    VoteTable::from_counts(classes, items, counts)
        .map(Some)
        .map_err(|error| value_error(error.to_string()))
}

/// The text of a CSV file with these rows. Numbers have all their digits.
fn as_csv(argument: &str, batches: &[RecordBatch]) -> PyResult<String> {
    let mut text = String::new();
    let Some(first) = batches.first() else {
        return Err(value_error(format!("{argument} has no rows")));
    };
    let schema = first.schema();
    let heads: Vec<String> = schema.fields().iter().map(|field| quoted(field.name())).collect();
    text += &heads.join(",");
    text.push('\n');
    for batch in batches {
        let columns: Vec<Cells<'_>> = batch
            .columns()
            .iter()
            .zip(schema.fields())
            .map(|(column, field)| Cells::of(argument, field.name(), column))
            .collect::<PyResult<_>>()?;
        for row in 0..batch.num_rows() {
            for (at, column) in columns.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                column.write(row, &mut text);
            }
            text.push('\n');
        }
    }
    Ok(text)
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) || text.trim() != text {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// One column of a frame.
enum Cells<'a> {
    Numbers(&'a ArrayRef, Box<dyn Fn(usize) -> f64 + 'a>),
    Texts(&'a ArrayRef, Box<dyn Fn(usize) -> String + 'a>),
}

impl<'a> Cells<'a> {
    fn of(argument: &str, name: &str, column: &'a ArrayRef) -> PyResult<Self> {
        macro_rules! whole {
            ($kind:ident) => {{
                let values = column.as_primitive::<arrow_array::types::$kind>();
                Self::Texts(column, Box::new(move |row| values.value(row).to_string()))
            }};
        }
        Ok(match column.data_type() {
            DataType::Float16 => {
                let values = column.as_primitive::<Float16Type>();
                Self::Numbers(column, Box::new(|row| values.value(row).to_f64()))
            }
            DataType::Float32 => {
                let values = column.as_primitive::<Float32Type>();
                Self::Numbers(column, Box::new(|row| f64::from(values.value(row))))
            }
            DataType::Float64 => {
                let values = column.as_primitive::<Float64Type>();
                Self::Numbers(column, Box::new(|row| values.value(row)))
            }
            DataType::Int8 => whole!(Int8Type),
            DataType::Int16 => whole!(Int16Type),
            DataType::Int32 => whole!(Int32Type),
            DataType::Int64 => whole!(Int64Type),
            DataType::UInt8 => whole!(UInt8Type),
            DataType::UInt16 => whole!(UInt16Type),
            DataType::UInt32 => whole!(UInt32Type),
            DataType::UInt64 => whole!(UInt64Type),
            DataType::Utf8 => {
                let values = column.as_string::<i32>();
                Self::Texts(column, Box::new(|row| values.value(row).to_owned()))
            }
            DataType::LargeUtf8 => {
                let values = column.as_string::<i64>();
                Self::Texts(column, Box::new(|row| values.value(row).to_owned()))
            }
            DataType::Utf8View => {
                let values = column.as_string_view();
                Self::Texts(column, Box::new(|row| values.value(row).to_owned()))
            }
            other => {
                return Err(PyTypeError::new_err(format!(
                    "{argument}: the column {name:?} has the type {other}; expected a column of ids and \
                     a column of numbers for each class"
                )));
            }
        })
    }

    fn write(&self, row: usize, text: &mut String) {
        match self {
            Self::Numbers(column, _) | Self::Texts(column, _) if column.is_null(row) => {}
            Self::Numbers(_, value) => {
                // A write into a text cannot fail.
                let _ = write!(text, "{}", value(row));
            }
            Self::Texts(_, value) => *text += &quoted(&value(row)),
        }
    }
}
