//! Models that are trained in memory. `fit` is in `package/dissensus/_models.py`.

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

use dissensus::core::{Event, Ids};
use dissensus::inputs::{Features, Images, Inputs, Kind};
use dissensus::store::Logits;
use dissensus::train::spec::{self, Setting, paths_of};
use dissensus::train::{GivenParts, OpenDevice, Place, Voted};
use dissensus::{
    FitOptions, FittedModel, RunPlan, Task, TrainError, VoteTable, fit_task, open_device,
};
use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray4};
use pyo3::exceptions::{PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString};

use crate::arrow::{Column, Table};
use crate::errors::{raise, value_error};
use crate::metrics::option;
use crate::numbers::{array, contiguous, dimensions, names};
use crate::votes::{Votes, twice_in_items};
use crate::work::{detached, left_alone, long, shown};

/// A trained model. Made by :func:`dissensus.fit`.
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Model {
    model: Arc<FittedModel>,
    /// Logits of the part that is judged; none for a model that was loaded.
    judged: Option<Logits<'static>>,
}

/// Trains a model; see `package/dissensus/_models.py`.
#[pyfunction]
pub(crate) fn fit_model(
    votes: &Bound<'_, PyAny>,
    inputs: &Bound<'_, PyAny>,
    method: &str,
    settings: Vec<(String, Bound<'_, PyAny>)>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Model> {
    let table = table_of("votes", votes)?;
    let inputs = inputs_of("X", inputs, Some((&table, option(options, "items")?)))?;
    let mut given = Vec::new();
    for (name, value) in &settings {
        given.extend(setting(&path_of(name)?, argument(name), value)?);
    }
    let mut plan = RunPlan::with_settings(method, &given).map_err(raise)?;
    let given = given_parts(&table, options)?;
    if let Some((parts, _)) = &given {
        let two = !parts.iter().any(|part| part == "validation");
        let names: &[&str] =
            if two { &["train", "evaluation"] } else { &["train", "validation", "test"] };
        plan.split.parts = names.iter().map(|&name| name.to_owned()).collect();
        plan.split.shares = Vec::new();
        plan.selection.on = names[1].to_owned();
    }
    let other = match options.get_item("evaluate_on")?.filter(|other| !other.is_none()) {
        Some(other) => {
            let (votes, inputs): (Bound<'_, PyAny>, Bound<'_, PyAny>) = other.extract()?;
            let table = table_of("evaluate_on", &votes)?;
            let inputs = inputs_of("evaluate_on", &inputs, Some((&table, None)))?;
            plan.split.shares.truncate(plan.split.parts.len() - 1);
            let sum: f64 = plan.split.shares.iter().sum();
            plan.split.shares.iter_mut().for_each(|share| *share /= sum);
            Some((table, inputs))
        }
        None => None,
    };
    let name: String = option(options, "device")?.unwrap_or_else(|| "cpu".to_owned());
    let threads = option(options, "threads")?.unwrap_or(0);
    let show = shown(options)?;
    let (model, judged) = long(votes.py(), Some(&show), |progress, cancel| {
        inputs.notes().iter().for_each(|note| progress.report(Event::Warning(note)));
        if let Some(features) = inputs.describe_features() {
            progress.report(Event::Note(&format!("X: {features}")));
        }
        let opened = open_device(&name)?;
        let mut task = match &other {
            Some((judged, on)) => {
                let own = Voted { name: "votes", table: &table, inputs: &inputs };
                let other = Voted { name: "evaluation", table: judged, inputs: on };
                Task::judged_on(own, other)?.0
            }
            None => {
                let (task, joined) = Task::new("votes", &table, &inputs)?;
                let warnings = joined.warnings(table.len(), "input");
                warnings.iter().for_each(|warning| progress.report(Event::Warning(warning)));
                task
            }
        };
        if let Some((_, given)) = &given {
            task = task.with_split(given).map_err(TrainError::from)?;
        }
        let cancel = cancel.clone();
        let options = FitOptions { threads, name: None, progress, cancel };
        let trained = fit_task(&task, &plan, opened.device(), &options)?;
        let judged = trained.test_predictions().clone();
        Ok::<_, dissensus::Error>((trained.into_model()?, judged))
    })?;
    Ok(Model { model: Arc::new(model), judged: Some(judged) })
}

/// The argument that gives a setting.
fn argument(name: &str) -> &str {
    match name {
        "model.name" => "model",
        "run.seeds" => "seed",
        "split.parts" | "split.shares" => "split",
        name => name,
    }
}

/// The path of a setting in a spec: `training.epochs` for `epochs`.
fn path_of(name: &str) -> PyResult<String> {
    if name.contains('.') {
        return Ok(name.to_owned());
    }
    match &paths_of(name)[..] {
        [path] => Ok(path.clone()),
        [] => Err(PyTypeError::new_err(format!(
            "fit() got an unexpected keyword argument {name:?}: it is no setting of a spec"
        ))),
        several => Err(value_error(format!(
            "{name} could be {}; give it in spec, as in spec={{{:?}: …}}",
            several.join(" or "),
            several[0]
        ))),
    }
}

/// A value of Python as a setting, or as several where it is a dictionary.
pub(crate) fn setting(
    path: &str,
    argument: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<Vec<Setting>> {
    Ok(Setting::of(path, converted(argument, value)?, &Place::Argument(argument.to_owned())))
}

fn converted(name: &str, value: &Bound<'_, PyAny>) -> PyResult<spec::Value> {
    if value.is_instance_of::<PyBool>() {
        return Ok(value.is_truthy()?.into());
    }
    if value.is_instance_of::<PyString>() {
        return Ok(value.extract::<String>()?.into());
    }
    if value.is_instance_of::<PyInt>() {
        // One that is too large for a whole number of a spec is as much out of range as the largest.
        return Ok(value.extract::<i64>().unwrap_or(i64::MAX).into());
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(value.extract::<f64>()?.into());
    }
    if value.hasattr("item")? {
        // A number of numpy.
        return converted(name, &value.call_method0("item")?);
    }
    if let Ok(table) = value.cast::<PyDict>() {
        let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let key: String = key.extract()?;
            let value = converted(&key, &value)?;
            Ok((key, value))
        };
        return Ok(spec::Value::Table(table.iter().map(entry).collect::<PyResult<_>>()?));
    }
    match value.try_iter() {
        Ok(list) => {
            let list = list.map(|one| converted(name, &one?));
            Ok(spec::Value::Array(list.collect::<PyResult<_>>()?))
        }
        Err(_) => {
            let kind = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("{name} is of type {kind}, which no setting takes")))
        }
    }
}

/// The parts of a split that names its items, and the part of each item.
fn given_parts(
    table: &VoteTable,
    options: &Bound<'_, PyDict>,
) -> PyResult<Option<(Vec<String>, GivenParts)>> {
    let Some(split) = options.get_item("split")?.filter(|split| !split.is_none()) else {
        return Ok(None);
    };
    let parts = split.cast::<PyDict>().map_err(|_| {
        PyTypeError::new_err(
            "split: expected a dict of parts, as in {\"train\": ids, \"test\": ids}",
        )
    })?;
    let (mut known, mut pairs) = (Vec::new(), Vec::new());
    for (part, ids) in parts {
        let part: String = part.extract()?;
        let ids = names(&format!("split[{part:?}]"), &ids)?;
        pairs.extend(ids.into_iter().map(|id| (id, part.clone())));
        known.push(part);
    }
    let given = GivenParts::new(&pairs, table.items()).map_err(TrainError::from).map_err(raise)?;
    Ok(Some((known, given)))
}

fn table_of(argument: &str, votes: &Bound<'_, PyAny>) -> PyResult<Arc<VoteTable>> {
    match votes.cast::<Votes>() {
        Ok(votes) => Ok(Arc::clone(votes.get().table())),
        Err(_) => {
            let kind = votes.get_type().name()?;
            Err(PyTypeError::new_err(format!("{argument} is of type {kind}; expected Votes")))
        }
    }
}

/// Features (items × numbers) or images (items × height × width × channels, 8 bits). With votes, rows belong to
/// the items of these ids, or are in the order of the votes.
fn inputs_of(
    argument: &str,
    given: &Bound<'_, PyAny>,
    votes: Option<(&VoteTable, Option<Bound<'_, PyAny>>)>,
) -> PyResult<Inputs> {
    let (array, _) = array(argument, given)?;
    let kind = match dimensions(&array)? {
        2 => features(argument, &array)?,
        3 | 4 => images(argument, &array)?,
        _ => {
            let shape = array.getattr("shape")?;
            return Err(value_error(format!(
                "{argument} has the shape {shape}; expected features (items × numbers) or images (items × \
                 height × width × channels)"
            )));
        }
    };
    let ids = match votes {
        Some((_, Some(items))) => {
            let items = names("items", &items)?;
            if items.len() != kind.len() {
                let (found, rows) = (items.len(), kind.len());
                return Err(value_error(format!(
                    "items has {found} entries for the {rows} rows of {argument}"
                )));
            }
            Some(Ids::new(items).map_err(|error| twice_in_items(&error.id))?)
        }
        Some((table, None)) if table.len() != kind.len() => {
            let (found, expected) = (kind.len(), table.len());
            return Err(value_error(format!(
                "{argument} has {found} rows and the votes have {expected} items; give the ids of the rows \
                 with items"
            )));
        }
        Some((table, None)) => Some(table.items().clone()),
        None => None,
    };
    let inputs = Inputs::new(argument, ids, kind).map_err(raise)?;
    match columns_of(given)? {
        Some(columns) => inputs.with_columns(columns).map_err(raise),
        None => Ok(inputs),
    }
}

/// The names of a data frame's columns; `None` for arrays, and where columns are only numbered.
fn columns_of(given: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    let columns = match given.getattr_opt("column_names")? {
        Some(columns) => Some(columns),
        None => given.getattr_opt("columns")?,
    };
    let Some(columns) = columns else { return Ok(None) };
    let name = |name: PyResult<Bound<'_, PyAny>>| Ok(name?.extract::<String>().ok());
    columns.try_iter()?.map(name).collect()
}

fn features(argument: &str, array: &Bound<'_, PyAny>) -> PyResult<Kind> {
    let rows: PyReadonlyArray2<'_, f32> = contiguous(array, "float32")?.extract()?;
    let (width, values) = (rows.as_array().ncols(), rows.as_slice()?.to_vec());
    Features::new(argument, width, values).map(Kind::Features).map_err(raise)
}

fn images(argument: &str, array: &Bound<'_, PyAny>) -> PyResult<Kind> {
    let name: String = array.getattr("dtype")?.getattr("name")?.extract()?;
    let shape = array.getattr("shape")?;
    if name != "uint8" {
        return Err(PyTypeError::new_err(format!(
            "{argument} has the dtype {name} and the shape {shape}; expected images of the dtype uint8"
        )));
    }
    let array = match dimensions(array)? {
        3 => array.call_method1(
            "reshape",
            ((shape.get_item(0)?, shape.get_item(1)?, shape.get_item(2)?, 1),),
        )?,
        _ => array.clone(),
    };
    let pixels: PyReadonlyArray4<'_, u8> = contiguous(&array, "uint8")?.extract()?;
    let (_, height, width, channels) = pixels.as_array().dim();
    if !matches!(channels, 1 | 3) {
        return Err(value_error(format!(
            "{argument} has the shape {shape}; expected items × height × width × channels with 1 or 3 channels"
        )));
    }
    let pixels = pixels.as_slice()?.to_vec();
    Images::new(argument, height, width, channels, pixels).map(Kind::Images).map_err(raise)
}

impl Model {
    fn with_inputs<T: Send + 'static>(
        &self,
        inputs: &Bound<'_, PyAny>,
        device: &str,
        work: impl FnOnce(&FittedModel, &OpenDevice, &Inputs) -> Result<T, TrainError> + Send + 'static,
    ) -> PyResult<T> {
        let (py, model, device) = (inputs.py(), Arc::clone(&self.model), device.to_owned());
        let inputs = inputs_of("X", inputs, None)?;
        let columns = &model.result.columns;
        if let Some(note) = inputs.in_order_of(columns).map_err(raise)?.1 {
            let category = py.get_type::<PyUserWarning>();
            PyErr::warn(py, &category, &CString::new(note)?, 2)?;
        }
        left_alone(py, None, move |_| {
            let device = open_device(&device)?;
            work(&model, &device, &inputs).map_err(dissensus::Error::from)
        })
    }
}

/// Rows of numbers as an array.
fn matrix<'py, T: numpy::Element>(
    py: Python<'py>,
    values: Vec<T>,
    width: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let rows = values.len().checked_div(width).unwrap_or(0);
    numpy::PyArray1::from_vec(py, values).reshape([rows, width])
}

#[pymethods]
impl Model {
    /// The probabilities of the classes, items × classes, in the order of ``classes``.
    ///
    /// Parameters
    /// ----------
    /// X : array_like
    ///     Features or images, as for :func:`dissensus.fit`. Columns of a data frame are matched by name with those
    ///     that were trained on; another order is a warning, and missing or unknown ones an error.
    /// device : str
    ///     ``"cpu"``, ``"cuda"`` or ``"auto"``.
    #[pyo3(signature = (X, *, device="cpu"))]
    #[allow(non_snake_case)]
    fn predict_proba<'py>(
        &self,
        X: &Bound<'py, PyAny>,
        device: &str,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let found = self.with_inputs(X, device, |model, device, inputs| {
            model.predict(device.device(), inputs).map(|logits| logits.probabilities())
        })?;
        matrix(X.py(), found, self.model.classes.len())
    }

    /// The scores before the softmax, items × classes.
    #[pyo3(signature = (X, *, device="cpu"))]
    #[allow(non_snake_case)]
    fn logits<'py>(
        &self,
        X: &Bound<'py, PyAny>,
        device: &str,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let found = self.with_inputs(X, device, |model, device, inputs| {
            model.predict(device.device(), inputs).map(|logits| logits.logits().to_vec())
        })?;
        matrix(X.py(), found, self.model.classes.len())
    }

    /// What the last layer reads, items × numbers.
    #[pyo3(signature = (X, *, device="cpu"))]
    #[allow(non_snake_case)]
    fn features<'py>(
        &self,
        X: &Bound<'py, PyAny>,
        device: &str,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (width, found) = self.with_inputs(X, device, |model, device, inputs| {
            model.features(device.device(), inputs)
        })?;
        matrix(X.py(), found, width)
    }

    /// The items of the part that is judged (the last of the split) and their probabilities at the selected epoch;
    /// ``None`` for a model that was loaded.
    fn test_predictions<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Vec<String>, Bound<'py, PyArray2<f64>>)>> {
        let Some(judged) = &self.judged else { return Ok(None) };
        let probabilities = matrix(py, judged.probabilities(), judged.classes().len())?;
        Ok(Some((judged.ids().to_vec(), probabilities)))
    }

    /// The classes, in the order of the columns of predictions.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes.clone()
    }

    /// The spec: everything that decides the result, and the digests of the data.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.model.spec.to_value().to_string();
        py.import("json")?.call_method1("loads", (text,))
    }

    /// The selected epoch, from 0.
    #[getter]
    fn best_epoch(&self) -> u64 {
        self.model.result.best_epoch
    }

    /// One row per epoch: learning rate, training loss, and metrics of the part that selects the epoch.
    #[getter]
    fn history(&self) -> PyResult<Table> {
        let rows = &self.model.history;
        let whole = |row: &dissensus::train::EpochRow| i64::try_from(row.epoch).ok();
        let mut columns = vec![("epoch", Column::Whole(rows.iter().map(whole).collect()))];
        let named: Vec<&str> = rows
            .first()
            .map(|row| row.columns().map(|(name, _)| name).collect())
            .unwrap_or_default();
        for name in named {
            columns.push((name, Column::Number(rows.iter().map(|row| row.column(name)).collect())));
        }
        Table::new(columns)
    }

    /// All metrics by part, of the selected and of the last epoch.
    #[getter]
    fn result(&self) -> PyResult<Table> {
        let (mut parts, mut items, mut metrics) = (Vec::new(), Vec::new(), Vec::new());
        let (mut best, mut last) = (Vec::new(), Vec::new());
        for (part, found) in &self.model.result.parts {
            for (metric, value) in found.best.iter() {
                parts.push(Some(part.clone()));
                items.push(i64::try_from(found.items).ok());
                metrics.push(Some(metric.to_owned()));
                best.push(value);
                last.push(found.last.get(metric));
            }
        }
        Table::new(vec![
            ("part", Column::Text(parts)),
            ("items", Column::Whole(items)),
            ("metric", Column::Text(metrics)),
            ("best", Column::Number(best)),
            ("last", Column::Number(last)),
        ])
    }

    /// Writes the model into one file: weights as safetensors, with the names of a PyTorch state dict, and the rest
    /// as JSON in its metadata, with a checksum.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     The file; its name should end in ``.safetensors``.
    /// force : bool, default False
    ///     Replace a file that exists.
    #[pyo3(signature = (path, *, force=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        detached(py, || self.model.write(&path, force))
    }

    /// Reads a model that :meth:`save` wrote. A damaged file is refused.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = detached(py, || FittedModel::read(&path))?;
        Ok(Self { model: Arc::new(model), judged: None })
    }

    /// A model from the bytes of its file.
    #[staticmethod]
    fn _from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let model = FittedModel::from_bytes("the pickled model".as_ref(), bytes).map_err(raise)?;
        Ok(Self { model: Arc::new(model), judged: None })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().model.to_bytes().map_err(raise)?;
        Ok((slf.get_type().getattr("_from_bytes")?, (PyBytes::new(slf.py(), &bytes),)))
    }

    fn __repr__(&self) -> String {
        let (spec, result) = (&self.model.spec, &self.model.result);
        let reported = result.reported().and_then(|(part, found)| {
            Some(format!(", {part} soft NLL {:.4}", found.best.get("soft_nll")?))
        });
        format!(
            "<Model {}: {}, {} classes, {} parameters, epoch {} of {}{}>",
            spec.run.model.entry().name,
            spec.label(),
            self.model.classes.len(),
            result.parameters,
            result.best_epoch + 1,
            result.epochs,
            reported.unwrap_or_default()
        )
    }
}
