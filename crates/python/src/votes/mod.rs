//! Votes: read, made of arrays and data frames, looked at, and given on.

mod aggregation;
mod arguments;
mod columns;
mod findings;
mod frame;
mod longtable;
mod matrices;
mod options;
pub(crate) mod stored;

use std::path::PathBuf;
use std::sync::Arc;

use dissensus::core::{Ballots, TieRule, VoteTable};
use dissensus::labels::{Delivery, Params, Source, Target};
use dissensus::report::figures::Form;
use dissensus::votes::lint::lint_table;
use dissensus::votes::summary::summarize;
use dissensus::votes::write::{TARGETS, target_of, write_file};
use dissensus::votes::{Finding, Note, ReadOptions, VoteFile, read_frame, read_with_progress};
use dissensus::{SparseDraw, pages};
use numpy::{PyArray1, PyArray2};
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyType};

pub(crate) use self::aggregation::Aggregation;
pub(crate) use self::arguments::{id_text, no_item, places, twice_in_items};
use self::columns::frame;
pub(crate) use self::columns::frame_of;
use self::findings::findings_table;
pub(crate) use self::findings::lint_file;
use self::frame::ArrowFrame;
pub(crate) use self::matrices::{check_size, rows_of};
use self::matrices::{counts_array, counts_table, entropies, shares_table};
use self::options::read_options;
use crate::arrow::{Table, stream};
use crate::errors::{raise, value_error};
use crate::numbers::{names, whole};
use crate::work::{detached, left_alone, shower};

/// Who voted for what on which item.
///
/// Made by ``Votes.read`` (files), ``Votes.from_frame`` (data frames), ``Votes.from_arrays`` and
/// ``Votes.from_counts``. Votes never change; methods return new arrays and new votes.
///
/// Examples
/// --------
/// >>> from dissensus import Votes
/// >>> votes = Votes.from_arrays(item=["a", "a", "a", "b"], label=["cat", "dog", "cat", "dog"])
/// >>> votes.counts()
/// array([[2, 1],
///        [0, 1]])
/// >>> votes.targets()
/// array([[0.66666667, 0.33333333],
///        [0.        , 1.        ]])
#[pyclass(frozen, module = "dissensus")]
pub(crate) struct Votes {
    table: Arc<VoteTable>,
    /// Where they come from, in a few words.
    name: String,
    notes: Vec<Note>,
    findings: Vec<Finding>,
    /// (item, text), as far as the source has texts and they are kept.
    texts: Arc<Vec<(String, String)>>,
}

impl Votes {
    /// The votes.
    pub(crate) fn table(&self) -> &Arc<VoteTable> {
        &self.table
    }

    fn new(table: VoteTable, name: impl Into<String>) -> Self {
        let (notes, findings, texts) = (Vec::new(), Vec::new(), Arc::default());
        Self { table: Arc::new(table), name: name.into(), notes, findings, texts }
    }

    /// Votes for some of the items.
    fn part(&self, table: VoteTable, name: String) -> Self {
        Self { texts: Arc::clone(&self.texts), ..Self::new(table, name) }
    }

    fn of_file(file: VoteFile) -> Self {
        let VoteFile { file: name, table, notes, findings, texts, .. } = file;
        Self { table: Arc::new(table), name, notes, findings, texts: Arc::new(texts) }
    }

    fn of_frame(
        py: Python<'_>,
        name: &str,
        frame: ArrowFrame,
        options: &ReadOptions,
    ) -> PyResult<Self> {
        let frame = Arc::new(frame);
        detached(py, || read_frame(name, frame, options)).map(Self::of_file)
    }
}

/// The text of a method with its settings, as the command line writes it.
pub(crate) fn method_text(name: &str, settings: Option<&Bound<'_, PyDict>>) -> PyResult<String> {
    let mut method: Params = name.parse().map_err(raise)?;
    for (key, value) in settings.into_iter().flatten() {
        let (key, value): (String, String) = (key.extract()?, value.str()?.extract()?);
        if method.settings.iter().any(|(known, _)| *known == key) {
            return Err(value_error(format!("{key} is set twice: in {name:?} and as an argument")));
        }
        method.settings.push((key, value));
    }
    Ok(method.to_string())
}

#[pymethods]
impl Votes {
    /// Reads votes from a file of any known format.
    ///
    /// The format is detected and columns are guessed; ``votes.notes`` says how. A doubtful guess is an error that
    /// names the option which decides it. The options are those of the command line, with underscores.
    ///
    /// Parameters
    /// ----------
    /// path : str or path
    ///     The file. ``.gz`` and ``.zst`` are unpacked.
    /// format, item, annotator, label, weight, text, count : str, optional
    ///     The name of the format; columns by name, or ``"#2"`` for the second. Several columns that make an item are
    ///     a list, or ``"doc,sentence"``.
    /// annotators, counts, one_hot, ignore : list of str, optional
    ///     Columns by name or by patterns such as ``"rater_*"``.
    /// rows : list of str, optional
    ///     The rows that are read: ``"status=accepted"``, or ``"status!=rejected"``.
    /// classes : list of str, optional
    ///     The classes in order. Any other label is an error.
    /// scale : {"nominal", "ordinal", "multilabel"}, optional
    ///     What the classes are to each other: names, grades from the lowest to the highest, or names of which a vote
    ///     has any number. Nominal unless the file states another.
    /// missing : list of str, optional
    ///     Values that mean "no vote".
    /// multilabel, separator, values, delimiter : str, optional
    /// header : bool, optional
    ///
    /// Returns
    /// -------
    /// Votes
    #[classmethod]
    #[pyo3(signature = (path, **options))]
    fn read(
        _type: &Bound<'_, PyType>,
        py: Python<'_>,
        path: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options = read_options(options)?;
        let show = shower(py, None)?;
        let show = (!show.is_none()).then_some(&show);
        left_alone(py, show, move |progress| read_with_progress(&path, &options, progress))
            .map(Self::of_file)
    }

    /// Makes votes of lists or arrays with one entry per vote.
    ///
    /// Parameters
    /// ----------
    /// item, label : array-like
    ///     The item and the label of each vote: texts or numbers. ``None`` and NaN labels are no votes.
    /// annotator : array-like, optional
    ///     Who voted.
    /// weight : array-like, optional
    ///     How much the vote counts, a number from 0 for each.
    /// classes : list, optional
    ///     The classes in order. Without it they are sorted: numbers by value, texts by name.
    ///
    /// Examples
    /// --------
    /// >>> from dissensus import Votes
    /// >>> Votes.from_arrays([0, 0, 1], [1, 0, 1], classes=[0, 1, 2]).counts()
    /// array([[1, 1, 0],
    ///        [0, 1, 0]])
    #[classmethod]
    #[pyo3(signature = (item, label, annotator=None, weight=None, classes=None))]
    fn from_arrays<'py>(
        _type: &Bound<'py, PyType>,
        py: Python<'py>,
        item: Bound<'py, PyAny>,
        label: Bound<'py, PyAny>,
        annotator: Option<Bound<'py, PyAny>>,
        weight: Option<Bound<'py, PyAny>>,
        classes: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let given = [
            ("item", Some(item)),
            ("label", Some(label)),
            ("annotator", annotator.filter(|given| !given.is_none())),
            ("weight", weight.filter(|given| !given.is_none())),
        ];
        let given: Vec<(String, Bound<'_, PyAny>)> = given
            .into_iter()
            .filter_map(|(name, values)| Some((name.to_owned(), values?)))
            .collect();
        let named =
            |name: &str| given.iter().any(|(given, _)| given == name).then(|| name.to_owned());
        let classes = classes.filter(|given| !given.is_none());
        let options = ReadOptions {
            format: Some("long".to_owned()),
            item: named("item"),
            label: named("label"),
            annotator: named("annotator"),
            weight: named("weight"),
            classes: classes.map(|classes| names("classes", &classes)).transpose()?,
            ..ReadOptions::default()
        };
        let frame = frame(&given)?;
        if let Some(weights) = given.iter().position(|(name, _)| name == "weight")
            && let Some(row) = frame.first_missing(weights)
        {
            return Err(value_error(format!("weight[{row}] is missing; expected a number from 0")));
        }
        let votes = Self::of_frame(py, "the arrays", frame, &options)?;
        // Nothing was guessed: the arguments say what is what.
        let notes = votes.notes.into_iter().filter(|note| note.what != "annotator column");
        Ok(Self { notes: notes.collect(), ..votes })
    }

    /// Makes votes of a data frame.
    ///
    /// Columns are guessed as those of a file are, or named. A frame with one row per item (a column per annotator, or
    /// counts per class) is read, too.
    ///
    /// Parameters
    /// ----------
    /// frame : data frame
    ///     Anything with an Arrow stream (polars, pandas, pyarrow, duckdb), a ``datasets.Dataset``, or a dictionary
    ///     of lists. An ordered categorical column (or a ``ClassLabel``) of labels gives the order of the classes. An
    ///     index of pandas is a column if it has a name.
    /// item, annotator, label, weight, ... : str, optional
    ///     The options of ``Votes.read``.
    ///
    /// Examples
    /// --------
    /// >>> from dissensus import Votes
    /// >>> Votes.from_frame({"task": ["a", "a", "b"], "worker": [1, 2, 1], "label": ["x", "y", "x"]}).counts()
    /// array([[1, 1],
    ///        [1, 0]])
    #[classmethod]
    #[pyo3(signature = (frame, **options))]
    fn from_frame<'py>(
        _type: &Bound<'py, PyType>,
        py: Python<'py>,
        frame: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Self> {
        let options = read_options(options)?;
        let frame = py.import("dissensus._frames")?.call_method1("readable", (frame,))?;
        Self::of_frame(py, "the data frame", frame_of(&frame)?, &options)
    }

    /// Makes votes of a matrix of counts, items × classes.
    ///
    /// Parameters
    /// ----------
    /// counts : array-like of shape (items, classes)
    ///     How many votes each class got.
    /// items : list, optional
    ///     The items' ids; 0, 1, … without it.
    /// classes : list, optional
    ///     The names of the classes; 0, 1, … without it.
    #[classmethod]
    #[pyo3(signature = (counts, items=None, classes=None))]
    fn from_counts(
        _type: &Bound<'_, PyType>,
        counts: &Bound<'_, PyAny>,
        items: Option<&Bound<'_, PyAny>>,
        classes: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Ok(Self::new(counts_table(counts, items, classes)?, "counts"))
    }

    /// Makes votes of shares alone, items × classes; how many votes are behind them is not known.
    ///
    /// Parameters
    /// ----------
    /// probabilities : array-like of shape (items, classes)
    ///     Rows that sum to 1.
    /// items, classes : list, optional
    ///     As in ``from_counts``.
    #[classmethod]
    #[pyo3(signature = (probabilities, items=None, classes=None))]
    fn from_probabilities(
        _type: &Bound<'_, PyType>,
        probabilities: &Bound<'_, PyAny>,
        items: Option<&Bound<'_, PyAny>>,
        classes: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Ok(Self::new(shares_table(probabilities, items, classes)?, "probabilities"))
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

    /// What the classes are to each other: ``"nominal"``, ``"ordinal"`` or ``"multilabel"``.
    #[getter]
    fn scale(&self) -> &'static str {
        self.table.scale().name()
    }

    /// The annotators' ids; empty where nobody is named.
    #[getter]
    fn annotators(&self) -> Vec<&str> {
        self.table.annotators().iter().collect()
    }

    /// What was guessed and decided while reading, one line each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.iter().map(|note| format!("{}: {}", note.what, note.value)).collect()
    }

    /// The digest of the content: the same for the same votes, whatever file they came in.
    #[getter]
    fn digest(&self) -> String {
        self.table.digest().to_string()
    }

    /// How many votes each class got, as an array of items × classes.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     ``int64``; ``float64`` sums of weights where votes carry weights.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        counts_array(py, &self.table)
    }

    /// The distributions that items are trained towards, as an array of items × classes.
    ///
    /// Parameters
    /// ----------
    /// target : str
    ///     ``"frequencies"`` (shares of the votes), ``"dirichlet"`` (smoothed; ``alpha=1``) or ``"dawid_skene"``
    ///     (annotators weighted by their estimated errors; ``iterations=100``, ``tolerance=0.00001``).
    /// **settings
    ///     The settings of the target.
    ///
    /// Examples
    /// --------
    /// >>> from dissensus import Votes
    /// >>> Votes.from_counts([[3, 1]]).targets("dirichlet", alpha=1)
    /// array([[0.66666667, 0.33333333]])
    #[pyo3(signature = (target="frequencies", **settings))]
    fn targets<'py>(
        &self,
        py: Python<'py>,
        target: &str,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        check_size(self.table.len(), self.table.classes().len())?;
        let target: Target = method_text(target, settings)?.parse().map_err(raise)?;
        let table = &self.table;
        let rows = detached(py, || {
            let found = target.estimate(table)?;
            Ok::<_, dissensus::Error>(Source::new(&found.targets)?.distributions())
        })?;
        rows_of(py, rows, table.len(), table.classes().len())
    }

    /// The same targets with everything that was estimated for them: how each annotator votes, the shares of the classes,
    /// the log-likelihood, and whether the fit converged.
    ///
    /// Parameters
    /// ----------
    /// target : str
    ///     As in :meth:`targets`.
    /// **settings
    ///     The settings of the target.
    ///
    /// Examples
    /// --------
    /// >>> from dissensus import Votes
    /// >>> votes = Votes.from_arrays(
    /// ...     item=["a", "a", "b", "b", "c", "c"],
    /// ...     annotator=["x", "y", "x", "y", "x", "z"],
    /// ...     label=[0, 0, 1, 1, 0, 1],
    /// ... )
    /// >>> found = votes.aggregate("dawid_skene")
    /// >>> found.converged, found.confusions.shape
    /// (True, (3, 2, 2))
    #[pyo3(signature = (target="dawid_skene", **settings))]
    fn aggregate(
        &self,
        py: Python<'_>,
        target: &str,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Aggregation> {
        let target: Target = method_text(target, settings)?.parse().map_err(raise)?;
        let table = Arc::clone(&self.table);
        detached(py, || Aggregation::new(table, target))
    }

    /// How much people disagree on each item: the entropy of its votes, in nats.
    ///
    /// Parameters
    /// ----------
    /// normalized : bool
    ///     Divide by the logarithm of the number of classes, so that 1 is the largest value.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     One value per item; NaN for an item without votes.
    #[pyo3(signature = (normalized=false))]
    fn entropy<'py>(
        &self,
        py: Python<'py>,
        normalized: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.table.require_one_label().map_err(raise)?;
        Ok(PyArray1::from_vec(py, py.detach(|| entropies(&self.table, normalized))))
    }

    /// The most-voted class of each item, as a number of ``classes``.
    ///
    /// Parameters
    /// ----------
    /// ties : str
    ///     ``"lowest"`` (the first of the tied classes), ``"random"`` (fixed by seed and item) or ``"error"``.
    /// seed : int
    ///     The seed of random ties.
    #[pyo3(
        signature = (ties="lowest", seed=None),
        text_signature = "($self, ties='lowest', seed=0)"
    )]
    fn majority<'py>(
        &self,
        py: Python<'py>,
        ties: &str,
        seed: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let seed = seed.map_or(Ok(0), |seed| whole("seed", seed))?;
        let ties: TieRule = ties.parse().map_err(|error| value_error(format!("ties: {error}")))?;
        let delivery: Delivery = format!("majority:ties={ties}").parse().map_err(raise)?;
        let labels = detached(py, || {
            let prepared = delivery.prepare(&Source::new(&self.table)?, seed)?;
            let mut labels = vec![0; prepared.len()];
            prepared.epoch(0, &mut labels)?;
            Ok::<_, dissensus::labels::LabelError>(labels.into_iter().map(i64::from).collect())
        })?;
        Ok(PyArray1::from_vec(py, labels))
    }

    /// Figures about the votes: sizes, shares of the classes, entropy, agreement, and the items that people disagree
    /// on most. The same as ``dissensus votes inspect --json``.
    ///
    /// Parameters
    /// ----------
    /// top : int
    ///     How many of the most ambiguous items are listed.
    #[pyo3(signature = (top=5))]
    fn summary<'py>(&self, py: Python<'py>, top: usize) -> PyResult<Bound<'py, PyAny>> {
        let text = py.detach(|| serde_json::to_string(&summarize(&self.table, &[], top)));
        let text = text.map_err(|error| value_error(error.to_string()))?;
        py.import("json")?.call_method1("loads", (text,))
    }

    /// What may be wrong with the votes, the worst first, as a table.
    fn lint(&self, py: Python<'_>) -> PyResult<Table> {
        let mut found = self.findings.clone();
        found.extend(py.detach(|| lint_table(&self.table)));
        findings_table(found)
    }

    /// The votes on some items, in the order that is asked for.
    ///
    /// Parameters
    /// ----------
    /// items : list of ids, or boolean array
    ///     The ids, or one flag per item.
    ///
    /// Examples
    /// --------
    /// >>> from dissensus import Votes
    /// >>> votes = Votes.from_counts([[3, 1], [4, 0]], items=["a", "b"])
    /// >>> votes.subset(votes.entropy() > 0).items
    /// ['a']
    fn subset(&self, py: Python<'_>, items: &Bound<'_, PyAny>) -> PyResult<Self> {
        let places = places(self.table.items(), items)?;
        let mut seen = vec![false; self.table.len()];
        if let Some(&twice) =
            places.iter().find(|&&place| std::mem::replace(&mut seen[place], true))
        {
            return Err(twice_in_items(self.table.items().name(twice)));
        }
        let table = py.detach(|| self.table.select(&places));
        Ok(self.part(table, self.name.clone()))
    }

    /// Fewer votes per item, drawn from those there are; the same for the same seed and ids.
    ///
    /// Parameters
    /// ----------
    /// k : int
    ///     Votes per item.
    /// seed : int
    /// replacement : bool
    ///     Whether one vote may be drawn twice. ``False`` draws from the votes that were cast.
    #[pyo3(
        signature = (k, seed=None, replacement=true),
        text_signature = "($self, k, seed=0, replacement=True)"
    )]
    fn sample(
        &self,
        py: Python<'_>,
        k: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
        replacement: bool,
    ) -> PyResult<Self> {
        let k = whole("k", k)?;
        let k = u32::try_from(k).map_err(|_| {
            value_error(format!("k is {k}; expected a whole number of votes from 1 to 1,000,000"))
        })?;
        let seed = seed.map_or(Ok(0), |seed| whole("seed", seed))?;
        let draw = SparseDraw { votes: k, replacement };
        let table = detached(py, || draw.votes_of(&self.table, seed))?;
        Ok(self.part(table, format!("{k} votes per item of {}", self.name)))
    }

    /// Writes the votes into a file: ``.csv`` or ``.parquet`` (every vote, and the texts of the items) or ``.npz``
    /// (counts).
    ///
    /// Parameters
    /// ----------
    /// path : str or path
    /// force : bool
    ///     Replace a file that exists.
    /// texts : bool
    ///     Write the texts of the items, as far as they were read: those of a table are where ``text`` names their
    ///     column.
    #[pyo3(signature = (path, force=false, texts=true))]
    fn write(&self, py: Python<'_>, path: PathBuf, force: bool, texts: bool) -> PyResult<()> {
        let target = target_of(&path).map_err(|error| {
            let endings: Vec<&str> = TARGETS.iter().map(|target| target.ending).collect();
            value_error(format!("{error}; expected a name that ends in {}", endings.join(", ")))
        })?;
        let texts = if texts { &self.texts[..] } else { &[] };
        detached(py, || write_file(&self.table, texts, &path, target, force))
    }

    fn __len__(&self) -> usize {
        self.table.len()
    }

    fn __contains__(&self, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.table.items().position(&id_text(item)?).is_some())
    }

    fn __richcmp__(
        &self,
        other: &Bound<'_, PyAny>,
        operator: CompareOp,
        py: Python<'_>,
    ) -> PyResult<Py<PyAny>> {
        let same = other.cast::<Self>().ok().map(|other| {
            let (a, b) = (&*self.table, &*other.get().table);
            let ids = |table: &VoteTable| table.items().iter().eq(b.items().iter());
            Arc::ptr_eq(&self.table, &other.get().table)
                || (a.classes().names() == b.classes().names()
                    && a.scale() == b.scale()
                    && ids(a)
                    && a.digest() == b.digest())
        });
        Ok(match (operator, same) {
            (CompareOp::Eq, Some(same)) => same.into_pyobject(py)?.to_owned().into_any().unbind(),
            (CompareOp::Ne, Some(same)) => {
                (!same).into_pyobject(py)?.to_owned().into_any().unbind()
            }
            _ => py.NotImplemented(),
        })
    }

    fn __hash__(&self) -> isize {
        self.table.len() as isize
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let votes = slf.get();
        let bytes =
            py.detach(|| stored::to_bytes(&votes.table, &votes.name, &votes.notes, &votes.texts));
        Ok((slf.get_type().getattr("_restore")?, (PyBytes::new(py, &bytes),)))
    }

    #[classmethod]
    fn _restore(_type: &Bound<'_, PyType>, stored: &[u8]) -> PyResult<Self> {
        let (table, name, notes, texts) = stored::from_bytes(stored)?;
        let (table, texts) = (Arc::new(table), Arc::new(texts));
        Ok(Self { table, name, notes, findings: Vec::new(), texts })
    }

    /// The Arrow stream of the canonical long table: a row per vote with the columns item, annotator, label and
    /// class; weight where votes carry weights. The column class is called ordinal_class or multilabel_class on that
    /// scale; a multi-label vote has a row per label, and its number in the column vote.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A schema that was asked for need not be given.
        let _ = requested_schema;
        let columns = detached(py, || longtable::LongColumns::of(&self.table))?;
        stream(py, columns.batch(&self.table)?)
    }

    fn __repr__(&self) -> String {
        let notes = self.notes();
        let notes =
            if notes.is_empty() { String::new() } else { format!("; {}", notes.join("; ")) };
        format!("<Votes: {}{notes}>", sizes(&self.table))
    }

    /// The histogram of entropy as SVG.
    fn _svg(&self, py: Python<'_>) -> String {
        py.detach(|| {
            let file = self.name.rsplit('/').next().unwrap_or_default();
            pages::votes_figure(file, &summarize(&self.table, &[], 0)).svg(Form::File)
        })
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.py().import("dissensus._show")?.call_method1("votes_html", (slf,))?.extract()
    }
}

/// How many items, classes, votes and annotators there are.
fn sizes(table: &VoteTable) -> String {
    let counted = |n: u64, one: &str, many: &str| {
        format!("{} {}", dissensus::core::thousands(n as usize), if n == 1 { one } else { many })
    };
    let mut parts = vec![
        counted(table.len() as u64, "item", "items"),
        counted(table.classes().len() as u64, "class", "classes"),
    ];
    match table.ballots() {
        Ballots::Votes(votes) => parts.push(counted(votes.len() as u64, "vote", "votes")),
        Ballots::Counts(counts) => parts.push(counted(counts.total(), "vote", "votes")),
        Ballots::Probabilities(_) => parts.push("probabilities".to_owned()),
    }
    if !table.annotators().is_empty() {
        parts.push(counted(table.annotators().len() as u64, "annotator", "annotators"));
    }
    parts.join(", ")
}
