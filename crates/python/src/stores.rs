//! Stores and their runs, with curves, predictions and weights as arrays.

use std::ffi::CString;
use std::path::PathBuf;

use dissensus::store::{Logits, RunInfo, Which};
use dissensus::train::{EpochRow, RunList, RunRow, state_name};
use dissensus::{Error, Location};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow::{Column, Table};
use crate::cluster::{self, Synced};
use crate::errors::raise;
use crate::json;
use crate::studies::Study;
use crate::work::{detached, shower};

/// A folder of runs.
///
/// Parameters
/// ----------
/// path : str or os.PathLike
///     The folder.
/// create : bool, default False
///     Make a store where there is none. Without it, a missing store is a ``FileNotFoundError``.
///
/// Examples
/// --------
/// >>> store = dissensus.Store("runs", create=True)
/// >>> len(store.runs)
/// 0
/// >>> store.studies
/// []
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Store(pub(crate) dissensus::store::Store);

/// A store, or the path of one.
#[derive(FromPyObject)]
pub(crate) enum StorePath<'py> {
    Store(PyRef<'py, Store>),
    Path(PathBuf),
}

impl StorePath<'_> {
    /// Opens it; with `create`, makes it where there is none.
    pub(crate) fn open(self, create: bool) -> PyResult<dissensus::store::Store> {
        match self {
            Self::Store(store) => Ok(store.0.clone()),
            Self::Path(path) => open(path, create).map_err(raise),
        }
    }

    /// Its path, or the address of a bucket.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Store(store) => store.0.path().display().to_string(),
            Self::Path(path) => path.display().to_string(),
        }
    }

    /// The folder, and the bucket where an address was given: the folder is then `local`.
    pub(crate) fn location(&self, local: Option<PathBuf>) -> PyResult<Location> {
        let path = match self {
            Self::Store(store) => store.0.path(),
            Self::Path(path) => path,
        };
        Location::parse(path, local.as_deref()).map_err(raise)
    }
}

fn open(path: PathBuf, create: bool) -> Result<dissensus::store::Store, Error> {
    let location = Location::folder(&path)?;
    if create { location.create() } else { location.open() }
}

#[pymethods]
impl Store {
    #[new]
    #[pyo3(signature = (path, *, create=false))]
    fn new(py: Python<'_>, path: PathBuf, create: bool) -> PyResult<Self> {
        detached(py, || open(path, create)).map(Self)
    }

    /// The folder, as a ``pathlib.Path``.
    #[getter]
    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    /// All runs, the oldest first, as they are now. A run that cannot be read is a warning.
    #[getter]
    fn runs(&self, py: Python<'_>) -> PyResult<Vec<Run>> {
        let listing = detached(py, || self.0.runs())?;
        for broken in &listing.broken {
            warn(py, &format!("{}: {}", broken.folder.display(), broken.error))?;
        }
        Ok(listing.runs.into_iter().map(Run).collect())
    }

    /// The run whose id begins with these digits.
    fn run(&self, py: Python<'_>, id: &str) -> PyResult<Run> {
        detached(py, || self.0.run(&self.0.resolve(id)?)).map(Run)
    }

    /// All runs as a table, one row per run; the metrics are those of the selected epoch on the reported part.
    fn to_frame(&self, py: Python<'_>) -> PyResult<Table> {
        let list = detached(py, || RunList::read(&self.0))?;
        for broken in &list.broken {
            warn(py, &format!("{}: {}", broken.folder.display(), broken.error))?;
        }
        fn texts<'r>(rows: &'r [RunRow], text: impl Fn(&'r RunRow) -> Option<String>) -> Column {
            Column::Text(rows.iter().map(text).collect())
        }
        fn wholes(rows: &[RunRow], whole: impl Fn(&RunRow) -> Option<u64>) -> Column {
            let whole = |row| whole(row).and_then(|number| i64::try_from(number).ok());
            Column::Whole(rows.iter().map(whole).collect())
        }
        let rows = &list.runs[..];
        Table::new(vec![
            ("id", texts(rows, |row| Some(row.id.to_string()))),
            ("arm", texts(rows, |row| row.arm.clone())),
            ("data", texts(rows, |row| row.data.clone())),
            ("seed", wholes(rows, |row| row.seed)),
            ("state", texts(rows, |row| Some(row.state.to_owned()))),
            ("epoch", wholes(rows, |row| Some(row.epoch))),
            ("planned", wholes(rows, |row| Some(row.planned))),
            ("soft_nll", Column::Number(rows.iter().map(|row| row.soft_nll).collect())),
            ("accuracy", Column::Number(rows.iter().map(|row| row.accuracy).collect())),
            ("created", wholes(rows, |row| Some(row.created))),
            ("size_bytes", wholes(rows, |row| Some(row.size_bytes))),
            ("reason", texts(rows, |row| row.reason.clone())),
        ])
    }

    /// The names of the studies that have results here.
    #[getter]
    fn studies(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        detached(py, || self.0.studies())
    }

    /// A study as it was run here: by its name, or the only one.
    #[pyo3(signature = (name=None))]
    fn study(&self, py: Python<'_>, name: Option<&str>) -> PyResult<Study> {
        detached(py, || dissensus::study::stored(&self.0, name)).map(Study)
    }

    /// Pushes what a bucket lacks of this store, and pulls what the store lacks: finished runs, results of stages and the
    /// texts of studies. Weights, checkpoints and unfinished runs stay where they are.
    ///
    /// Objects are created once and never changed, so many machines may push at once, and an interrupted call
    /// continues where it stopped. What is not moved is a warning, too. Credentials come from the environment, as
    /// ``dissensus store sync --help`` says.
    ///
    /// Parameters
    /// ----------
    /// url : str
    ///     ``s3://BUCKET/PREFIX``, ``gs://…``, ``az://…`` or ``file:///FOLDER``.
    /// direction : {"both", "push", "pull"}, default "both"
    ///     Only to the bucket, or only from it.
    /// dry_run : bool, default False
    ///     Find out only what would be moved.
    /// jobs : int, default 8
    ///     Transfers at a time.
    /// progress : bool or callable, optional
    ///     Whether to draw a bar; by default in terminals and notebooks.
    ///
    /// Examples
    /// --------
    /// >>> import pathlib
    /// >>> store = dissensus.Store("runs", create=True)
    /// >>> store.sync(pathlib.Path("bucket").absolute().as_uri())
    /// <Synced: 0 runs and 0 files pushed, 0 runs and 0 files pulled, 0 runs and 0 files the same>
    #[pyo3(signature = (url, *, direction="both", dry_run=false, jobs=8, progress=None))]
    fn sync(
        &self,
        py: Python<'_>,
        url: &str,
        direction: &str,
        dry_run: bool,
        jobs: i64,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Synced> {
        cluster::sync(py, &self.0, url, direction, dry_run, jobs, &shower(py, progress)?)
    }

    fn __fspath__(&self) -> std::ffi::OsString {
        self.0.path().as_os_str().to_owned()
    }

    fn __repr__(&self) -> String {
        format!("Store({:?})", self.0.path())
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.call_method0("to_frame")?.call_method0("_repr_html_")?.extract()
    }
}

fn warn(py: Python<'_>, words: &str) -> PyResult<()> {
    let words = CString::new(words.replace('\0', " ")).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &words, 2)
}

/// The weights or predictions of which epoch.
fn which(name: &str) -> PyResult<Which> {
    match name {
        "best" => Ok(Which::Best),
        "last" => Ok(Which::Last),
        other => Err(PyValueError::new_err(format!(
            "which is {other:?}; expected \"best\" (the selected epoch) or \"last\""
        ))),
    }
}

/// A run of a store, as it was when it was looked at.
///
/// Attributes
/// ----------
/// id : str
///     The start of the SHA-256 of its spec.
/// state : str
///     ``running``, ``interrupted``, ``finished`` or ``failed``.
/// epoch, planned : int
///     Epochs that are done, and all of them.
/// spec : dict
///     All settings that decide its results.
/// result : dict or None
///     Its metrics by part, the selected epoch, times; ``None`` unless it is finished.
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Run(RunInfo);

#[pymethods]
impl Run {
    /// The start of the SHA-256 of its spec.
    #[getter]
    fn id(&self) -> &str {
        self.0.id.as_str()
    }

    /// Method, votes and seed, for people; the id where the spec is of another version.
    #[getter]
    fn label(&self) -> PyResult<String> {
        let row = RunRow::read(&self.0).map_err(raise)?;
        Ok(match (row.arm, row.seed) {
            (Some(arm), Some(seed)) => format!("{arm} · seed {seed}"),
            _ => self.0.id.to_string(),
        })
    }

    /// ``running``, ``interrupted``, ``finished`` or ``failed``.
    #[getter]
    fn state(&self) -> &'static str {
        state_name(&self.0.status.state)
    }

    /// How many epochs are done.
    #[getter]
    fn epoch(&self) -> u64 {
        self.0.status.epoch
    }

    /// How many epochs it has.
    #[getter]
    fn planned(&self) -> u64 {
        self.0.status.planned
    }

    /// When it was begun, in seconds since 1970.
    #[getter]
    fn created(&self) -> u64 {
        self.0.created
    }

    /// Its folder, as a ``pathlib.Path``.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.0.folder.clone()
    }

    /// All settings that decide its results.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.0.spec)
    }

    /// The code and the machine that trained it.
    #[getter]
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.0.about)
    }

    /// Its metrics by part, the selected epoch, times; ``None`` unless it is finished.
    #[getter]
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let result: Option<serde_json::Value> = self.0.result().map_err(raise)?;
        result.map(|result| json::to_python(py, &result)).transpose()
    }

    /// The curves of training.
    ///
    /// Returns
    /// -------
    /// dict of str to numpy.ndarray
    ///     ``epoch`` (from 0), ``rate``, ``loss``, and metrics as in ``test.soft_nll``; NaN where one is undefined.
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows: Vec<EpochRow> = detached(py, || self.0.history())?;
        let curves = PyDict::new(py);
        let epochs = rows.iter().map(|row| i64::try_from(row.epoch).unwrap_or(i64::MAX));
        curves.set_item("epoch", PyArray1::from_iter(py, epochs))?;
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in rows.iter().flat_map(EpochRow::columns) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for name in names {
            let values = rows.iter().map(|row| row.column(name).unwrap_or(f64::NAN));
            curves.set_item(name, PyArray1::from_iter(py, values))?;
        }
        Ok(curves)
    }

    /// What the model predicts for the items that it was not trained on.
    ///
    /// Parameters
    /// ----------
    /// which : {"best", "last"}, default "best"
    ///     The model of the selected epoch, or of the last one.
    ///
    /// Returns
    /// -------
    /// RunPredictions or None
    ///     ``None`` where the run has none yet.
    #[pyo3(signature = (which="best"))]
    fn predictions(&self, py: Python<'_>, which: &str) -> PyResult<Option<RunPredictions>> {
        let which = self::which(which)?;
        Ok(detached(py, || self.0.predictions(which))?.map(RunPredictions))
    }

    /// The weights by the names of PyTorch's state dicts, as numpy arrays; ``None`` where there are none (yet, or any more).
    ///
    /// Parameters
    /// ----------
    /// which : {"best", "last"}, default "best"
    ///     Those of the selected epoch, or of the last one.
    #[pyo3(signature = (which="best"))]
    fn weights<'py>(&self, py: Python<'py>, which: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
        let which = self::which(which)?;
        let Some(tensors) = detached(py, || self.0.weights(which))? else { return Ok(None) };
        let weights = PyDict::new(py);
        for tensor in tensors {
            let (name, shape) = (tensor.name().to_owned(), tensor.shape().to_vec());
            weights.set_item(name, PyArray1::from_vec(py, tensor.into_values()).reshape(shape)?)?;
        }
        Ok(Some(weights))
    }

    /// The file of the weights (safetensors), as a ``pathlib.Path``; it may not exist.
    ///
    /// Parameters
    /// ----------
    /// which : {"best", "last"}, default "best"
    ///     Those of the selected epoch, or of the last one.
    #[pyo3(signature = (which="best"))]
    fn weights_path(&self, which: &str) -> PyResult<PathBuf> {
        Ok(self.0.weights_path(self::which(which)?))
    }

    fn __repr__(&self) -> PyResult<String> {
        let (id, label, state) = (self.id(), self.label()?, self.state());
        Ok(format!("<Run {id}: {label}, {state}, {}/{} epochs>", self.epoch(), self.planned()))
    }
}

/// The predictions of a stored run: one row per item, one column per class.
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct RunPredictions(Logits<'static>);

impl RunPredictions {
    fn shape(&self) -> [usize; 2] {
        [self.0.ids().len(), self.0.classes().len()]
    }
}

#[pymethods]
impl RunPredictions {
    /// The items of the rows.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.0.ids().to_vec()
    }

    /// The classes of the columns.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    /// The logits, as float32.
    #[getter]
    fn logits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        PyArray1::from_slice(py, self.0.logits()).reshape(self.shape())
    }

    /// The probabilities, as float64: the softmax of the logits.
    #[getter]
    fn probabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        PyArray1::from_vec(py, self.0.probabilities()).reshape(self.shape())
    }

    fn __len__(&self) -> usize {
        self.0.ids().len()
    }

    fn __repr__(&self) -> String {
        let [items, classes] = self.shape();
        format!("<RunPredictions: {items} items, {classes} classes>")
    }
}
