//! Drawings of the library.

use std::path::PathBuf;

use dissensus::report::figures::{Figure as Drawn, Form};
use dissensus::report::raster::{pdf, png};
use pyo3::prelude::*;

use crate::errors::{raise, value_error};

/// A drawing, as SVG. Notebooks show it; ``save`` writes it as SVG, PNG or PDF.
#[pyclass(frozen, module = "dissensus")]
#[derive(Clone)]
pub(crate) struct Figure {
    title: String,
    svg: String,
    csv: String,
}

/// Writes a file for Python code of the package, as every other output is written.
#[pyfunction]
pub(crate) fn write_file(py: Python<'_>, path: PathBuf, bytes: &[u8], force: bool) -> PyResult<()> {
    py.detach(|| dissensus::files::write_bytes(&path, force, bytes)).map_err(raise)
}

impl From<Drawn> for Figure {
    fn from(figure: Drawn) -> Self {
        let (svg, csv) = (figure.svg(Form::File), figure.csv().to_owned());
        Self { title: figure.title, svg, csv }
    }
}

impl Figure {
    /// The drawing.
    pub(crate) fn drawing(&self) -> &str {
        &self.svg
    }
}

/// Pixels of a PNG per unit of the drawing.
const SCALE: f32 = 2.0;

#[pymethods]
impl Figure {
    /// The title.
    #[getter]
    fn title(&self) -> &str {
        &self.title
    }

    /// The drawing as SVG.
    #[getter]
    fn svg(&self) -> &str {
        &self.svg
    }

    /// What is drawn, as CSV: one row for each mark.
    #[getter]
    fn csv(&self) -> &str {
        &self.csv
    }

    /// Writes the drawing; the end of the name says how: ``.svg``, ``.png`` or ``.pdf``.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     The file.
    /// force : bool, default False
    ///     Replace a file that exists.
    #[pyo3(signature = (path, *, force=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
        let bytes = match end.as_deref() {
            Some("svg") => self.svg.clone().into_bytes(),
            Some("png") => py.detach(|| png(&self.svg, SCALE)).map_err(raise)?,
            Some("pdf") => py.detach(|| pdf(&self.svg)).map_err(raise)?,
            _ => {
                let path = path.display();
                return Err(value_error(format!("{path}: expected a name in .svg, .png or .pdf")));
            }
        };
        dissensus::files::write_bytes(&path, force, &bytes).map_err(raise)
    }

    fn _repr_svg_(&self) -> &str {
        &self.svg
    }

    fn __repr__(&self) -> String {
        format!("<Figure: {}>", self.title)
    }
}
