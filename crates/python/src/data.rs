//! Known datasets and encoders.

use std::path::PathBuf;

use dissensus::Fetchable;
use dissensus::data::{Options, default_cache_dir};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::work::{left_alone, shower};

/// Brings a known dataset or encoder into the cache, with checksums.
///
/// What is there already is not downloaded again, and an interrupted download continues. After Ctrl-C the transfer of
/// the current file goes on in the background until it is done or the interpreter ends.
///
/// Parameters
/// ----------
/// name : str
///     As in ``dissensus data list``, or a model of the hub: ``hf:OWNER/NAME``.
/// from_ : str or os.PathLike, optional
///     Copy the files from this folder instead of the network.
/// cache : str or os.PathLike, optional
///     The cache folder; by default ``$DISSENSUS_CACHE`` or the user's cache directory.
/// force : bool, default False
///     Fetch again what is in the cache.
/// progress : bool or callable, optional
///     Whether to draw a bar; by default in terminals and notebooks.
///
/// Returns
/// -------
/// list of pathlib.Path
///     The files.
///
/// Examples
/// --------
/// >>> [path.name for path in dissensus.fetch("blends", cache="cache")]
/// ['votes.csv', 'images.npz', 'truth.npz']
#[pyfunction]
#[pyo3(signature = (name, *, from_=None, cache=None, force=false, progress=None))]
pub(crate) fn fetch(
    py: Python<'_>,
    name: &str,
    from_: Option<PathBuf>,
    cache: Option<PathBuf>,
    force: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Vec<PathBuf>> {
    let wanted = Fetchable::named(name).map_err(raise)?;
    let cache = cache.map_or_else(default_cache_dir, Ok).map_err(raise)?;
    let options = Options { from: from_, force, ..Options::new(cache) };
    let show = shower(py, progress)?;
    let files = left_alone(py, Some(&show), move |progress| wanted.fetch(&options, progress))?;
    Ok(files.into_iter().map(|file| file.path).collect())
}
