//! Labels and targets for any training loop.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dissensus::core::VoteTable;
use dissensus::labels::{
    Delivers, Delivery as Method, EpochBuffer, EpochTargets, Epochs, LabelError, Prepared, Target,
};
use dissensus::{DeliverOptions, Delivered, SparseDraw, deliver};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use rayon::prelude::*;

use crate::errors::{raise, value_error};
use crate::numbers::whole;
use crate::votes::{Votes, check_size, id_text, method_text, no_item, places, rows_of, stored};
use crate::work::detached;

/// What the loss sees in each epoch: labels that change from epoch to epoch, or distributions.
///
/// A label is a pure function of the seed, the epoch and the item's id: the same here, in ``dissensus deliver``, in
/// every worker of a data loader and on every machine.
///
/// Parameters
/// ----------
/// votes : Votes
/// method : str
///     ``"multipass"``, ``"sls"``, ``"soft"``, ``"majority"``, … (``dissensus deliver --help`` lists them), with
///     settings or without: ``"sls:every=5"``.
/// seed : int
///     The seed of everything random.
/// target : str, optional
///     The distribution behind the labels: ``"frequencies"`` (the default), ``"dirichlet:alpha=0.5"``,
///     ``"dawid_skene"``.
/// sparse : int or str, optional
///     Draw so many votes per item first: ``5``, or ``"5:without"`` replacement.
/// **settings
///     Settings of the method, such as ``every=5``.
///
/// Examples
/// --------
/// >>> from dissensus import Delivery, Votes
/// >>> votes = Votes.from_counts([[3, 1], [0, 2]], classes=["cat", "dog"])
/// >>> delivery = Delivery(votes, "multipass", seed=0)
/// >>> sorted(int(delivery.label("0", epoch)) for epoch in range(4))
/// [0, 0, 0, 1]
/// >>> Delivery(votes, "soft").targets(0)
/// array([[0.75, 0.25],
///        [0.  , 1.  ]])
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Delivery {
    /// The votes that are delivered, after the draw and the target, without who voted: enough to prepare again.
    table: VoteTable,
    delivered: Delivered,
    /// The labels of the last epochs, while no call works on them.
    epochs: Mutex<Option<Epochs<Arc<Prepared>>>>,
}

impl Delivery {
    fn prepare(table: VoteTable, method: &Method, seed: u64) -> Result<Self, dissensus::Error> {
        let options = DeliverOptions { seed, ..DeliverOptions::default() };
        let delivered = deliver(&table, method, &options)?;
        Ok(Self { table, delivered, epochs: Mutex::default() })
    }

    fn epochs(&self) -> MutexGuard<'_, Option<Epochs<Arc<Prepared>>>> {
        self.epochs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows that are asked for; `None` for all.
    fn rows(&self, items: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<usize>>> {
        let Some(items) = items.filter(|items| !items.is_none()) else { return Ok(None) };
        places(self.table.items(), items).map(Some)
    }

    fn delivers_labels(&self) -> bool {
        self.delivered.delivers() == Delivers::Labels
    }

    /// One row, from 0; rows from the end are negative, as in a list.
    fn row_number(&self, row: isize) -> PyResult<usize> {
        let items = self.table.len();
        let place = if row < 0 { row.checked_add_unsigned(items) } else { Some(row) };
        let place =
            place.and_then(|place| usize::try_from(place).ok()).filter(|place| *place < items);
        place.ok_or_else(|| {
            PyIndexError::new_err(format!("there is no row {row}; there are {items} items"))
        })
    }
}

#[pymethods]
impl Delivery {
    #[new]
    #[pyo3(
        signature = (votes, method, seed=None, target=None, sparse=None, **settings),
        text_signature = "(votes, method, seed=0, target=None, sparse=None, **settings)"
    )]
    fn new(
        py: Python<'_>,
        votes: &Bound<'_, Votes>,
        method: &str,
        seed: Option<&Bound<'_, PyAny>>,
        target: Option<&str>,
        sparse: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let method: Method = method_text(method, settings)?.parse().map_err(raise)?;
        let target: Option<Target> = target.map(str::parse).transpose().map_err(raise)?;
        let sparse =
            match sparse.filter(|given| !given.is_none()) {
                None => None,
                Some(given) => {
                    let text = given.str()?.to_string();
                    let draw: Result<SparseDraw, _> = text.parse();
                    Some(draw.map_err(|expected| {
                        value_error(format!("sparse is {text:?}; {expected}"))
                    })?)
                }
            };
        let seed = seed.map_or(Ok(0), |seed| whole("seed", seed))?;
        let options = DeliverOptions { target, sparse, seed };
        let votes = votes.get();
        detached(py, || {
            let table = options.estimate(votes.table())?;
            // Only samples say who voted.
            let table = match method.entry().delivers {
                Delivers::Samples => table.into_owned(),
                _ => table.without_voters(),
            };
            Self::prepare(table, &method, seed)
        })
    }

    /// The method with all its settings.
    #[getter]
    fn method(&self) -> String {
        self.delivered.prepared().delivery().to_string()
    }

    /// The seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.delivered.prepared().seed()
    }

    /// The items' ids, in the order of rows.
    #[getter]
    fn items(&self) -> Vec<&str> {
        self.table.items().iter().collect()
    }

    /// The names of the classes, in the order of columns and label numbers.
    #[getter]
    fn classes(&self) -> Vec<&str> {
        self.table.classes().names().iter().map(String::as_str).collect()
    }

    /// ``"labels"``, ``"distributions"``, ``"epoch_distributions"`` (other ones in every epoch) or ``"samples"``
    /// (any number per item; see :meth:`samples`).
    #[getter]
    fn delivers(&self) -> &'static str {
        match self.delivered.delivers() {
            Delivers::Labels => "labels",
            Delivers::Distributions => "distributions",
            Delivers::EpochDistributions => "epoch_distributions",
            Delivers::Samples => "samples",
        }
    }

    /// What every epoch visits, for a method that delivers samples (``"every_vote"``): the row of the item and the label
    /// of each sample, and who gave it, as a number of ``Votes.annotators``.
    ///
    /// Returns
    /// -------
    /// (numpy.ndarray of int64, numpy.ndarray of int64, numpy.ndarray of int64 or None)
    ///     Rows, labels and annotators; ``None`` for the last where votes do not name them.
    ///
    /// Examples
    /// --------
    /// >>> from dissensus import Delivery, Votes
    /// >>> votes = Votes.from_counts([[1, 2], [1, 0]])
    /// >>> rows, labels, annotators = Delivery(votes, "every_vote").samples()
    /// >>> rows.tolist(), labels.tolist(), annotators
    /// ([0, 0, 0, 1], [0, 1, 1, 0], None)
    #[allow(clippy::type_complexity)]
    fn samples<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(
        Bound<'py, PyArray1<i64>>,
        Bound<'py, PyArray1<i64>>,
        Option<Bound<'py, PyArray1<i64>>>,
    )> {
        let prepared = self.delivered.prepared();
        let samples = prepared.samples().ok_or_else(|| {
            value_error(format!("{} delivers no samples; ask for labels or targets", self.method()))
        })?;
        let wide = |numbers: &[u32]| PyArray1::from_iter(py, numbers.iter().map(|&n| i64::from(n)));
        let labels = PyArray1::from_iter(py, samples.labels.iter().map(|&n| i64::from(n)));
        Ok((wide(&samples.places), labels, samples.annotators.as_deref().map(wide)))
    }

    /// The labels of an epoch, as numbers of ``classes``.
    ///
    /// Parameters
    /// ----------
    /// epoch : int
    ///     From 0.
    /// items : list of ids, optional
    ///     The items of a batch; all, in the order of ``items``, without it.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray of int64
    #[pyo3(signature = (epoch, items=None))]
    fn labels<'py>(
        &self,
        py: Python<'py>,
        epoch: &Bound<'py, PyAny>,
        items: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (epoch, rows) = (whole("epoch", epoch)?, self.rows(items)?);
        let prepared = self.delivered.prepared();
        if let Some(rows) = rows {
            let labels = detached(py, || prepared.labels(epoch, &rows))?;
            return Ok(PyArray1::from_iter(py, labels.into_iter().map(i64::from)));
        }
        let kept = self.epochs().take();
        let mut epochs =
            kept.map_or_else(|| Epochs::new(Arc::clone(prepared)), Ok).map_err(raise)?;
        // numpy's memory is warm from the epoch before.
        let array = py.import("numpy")?.call_method1("empty", (prepared.len(), "int64"))?;
        let array = array.cast_into::<PyArray1<i64>>()?;
        let mut out = array.readwrite();
        let out = out.as_slice_mut()?;
        let epochs = detached(py, || {
            let cells = out.par_iter_mut().with_min_len(1 << 15).zip(epochs.at(epoch));
            cells.for_each(|(cell, &label)| *cell = label.into());
            Ok::<_, LabelError>(epochs)
        })?;
        *self.epochs() = Some(epochs);
        Ok(array)
    }

    /// The target distributions of an epoch, items × classes; a label is a row with a single 1.
    ///
    /// Parameters
    /// ----------
    /// epoch : int
    ///     From 0.
    /// items : list of ids, optional
    ///     The items of a batch; all without it.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray of float64
    #[pyo3(signature = (epoch, items=None))]
    fn targets<'py>(
        &self,
        py: Python<'py>,
        epoch: &Bound<'py, PyAny>,
        items: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (epoch, rows) = (whole("epoch", epoch)?, self.rows(items)?);
        let (prepared, classes) = (self.delivered.prepared(), self.table.classes().len());
        let count = rows.as_ref().map_or(self.table.len(), Vec::len);
        check_size(count, classes)?;
        let cells = detached(py, || {
            if let (None, false) = (&rows, self.delivers_labels())
                && let EpochTargets::Distributions(rows) =
                    prepared.targets_at(epoch, &mut EpochBuffer::default())
            {
                return Ok(rows.to_vec());
            }
            let mut cells = vec![0.0; count * classes];
            for (at, row) in cells.chunks_exact_mut(classes.max(1)).enumerate() {
                let place = rows.as_ref().map_or(at, |rows| rows[at]);
                prepared.target(epoch, place, row)?;
            }
            Ok::<_, LabelError>(cells)
        })?;
        rows_of(py, cells, count, classes)
    }

    /// The label of one item in an epoch.
    fn label(&self, item: &Bound<'_, PyAny>, epoch: &Bound<'_, PyAny>) -> PyResult<u16> {
        let epoch = whole("epoch", epoch)?;
        self.delivered.prepared().label(epoch, self.row(item)?).map_err(raise)
    }

    /// The row of an item's id.
    fn row(&self, item: &Bound<'_, PyAny>) -> PyResult<usize> {
        let id = id_text(item)?;
        self.table.items().position(&id).ok_or_else(|| no_item(&id))
    }

    /// What the loss sees of one row in an epoch: a label, or a distribution. Cheap; for datasets.
    fn at<'py>(
        &self,
        py: Python<'py>,
        row: isize,
        epoch: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (place, prepared) = (self.row_number(row)?, self.delivered.prepared());
        let epoch = whole("epoch", epoch)?;
        if self.delivers_labels() {
            let label = prepared.label(epoch, place).map_err(raise)?;
            return Ok(label.into_pyobject(py)?.into_any());
        }
        let mut target = vec![0.0; self.table.classes().len()];
        prepared.target(epoch, place, &mut target).map_err(raise)?;
        Ok(PyArray1::from_vec(py, target).into_any())
    }

    fn __len__(&self) -> usize {
        self.table.len()
    }

    fn __repr__(&self) -> String {
        format!(
            "<Delivery: {}, seed {}, {} items, {} classes>",
            self.method(),
            self.seed(),
            self.table.len(),
            self.table.classes().len()
        )
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>, String, u64))> {
        let (py, delivery) = (slf.py(), slf.get());
        let bytes = py.detach(|| stored::to_bytes(&delivery.table, "", &[], &[]));
        Ok((
            slf.get_type().getattr("_restore")?,
            (PyBytes::new(py, &bytes), delivery.method(), delivery.seed()),
        ))
    }

    #[classmethod]
    fn _restore(
        _type: &Bound<'_, PyType>,
        py: Python<'_>,
        stored: &[u8],
        method: &str,
        seed: u64,
    ) -> PyResult<Self> {
        let (table, ..) = stored::from_bytes(stored)?;
        let method: Method = method.parse().map_err(raise)?;
        detached(py, || Self::prepare(table, &method, seed))
    }
}
