//! One loaded model: what goes in, what comes out, and one run.

use ort::session::builder::GraphOptimizationLevel;
use ort::session::{OutputSelector, RunOptions, Session as OrtSession};
use ort::value::{Outlet, TensorElementType, TensorRef, ValueType};

/// An input or output of a model; a size that is not fixed is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) shape: Vec<Option<usize>>,
    pub(super) floats: bool,
}

impl Port {
    fn of(outlet: &Outlet) -> Self {
        let (shape, floats) = match outlet.dtype() {
            ValueType::Tensor { ty, shape, .. } => {
                let sizes = shape.iter().map(|size| usize::try_from(*size).ok().filter(|n| *n > 0));
                (sizes.collect(), *ty == TensorElementType::Float32)
            }
            _ => (Vec::new(), false),
        };
        Self { name: outlet.name().to_owned(), shape, floats }
    }
}

/// A model that is ready to run, on one thread.
pub(super) struct Session {
    session: OrtSession,
    options: Option<RunOptions<ort::session::HasSelectedOutputs>>,
}

impl Session {
    /// Loads a model from the bytes of its file.
    pub(super) fn load(bytes: &[u8]) -> Result<Self, String> {
        // Weights in another file would be read, but not be part of the digest.
        if bytes.windows(11).any(|window| window == b"\x0a\x08location\x12") {
            return Err("its weights are in another file; store them in the model".to_owned());
        }
        let build = || -> Result<OrtSession, ort::Error> {
            OrtSession::builder()?
                .with_intra_threads(1)?
                .with_inter_threads(1)?
                .with_parallel_execution(false)?
                .with_deterministic_compute(true)?
                .with_optimization_level(GraphOptimizationLevel::All)?
                .with_log_level(ort::logging::LogLevel::Fatal)?
                .commit_from_memory(bytes)
        };
        let session = build().map_err(|error| {
            format!("ONNX Runtime cannot load it: {}", one_line(&error.to_string()))
        })?;
        Ok(Self { session, options: None })
    }

    pub(super) fn inputs(&self) -> Vec<Port> {
        self.session.inputs().iter().map(Port::of).collect()
    }

    pub(super) fn outputs(&self) -> Vec<Port> {
        self.session.outputs().iter().map(Port::of).collect()
    }

    /// From now on only this output is computed.
    pub(super) fn select(&mut self, output: &str) -> Result<(), String> {
        let selector = OutputSelector::no_default().with(output);
        let options = RunOptions::new().map_err(|error| one_line(&error.to_string()))?;
        self.options = Some(options.with_outputs(selector));
        Ok(())
    }

    /// The shape and the values of the selected output for one input.
    pub(super) fn run(
        &mut self,
        shape: [usize; 4],
        values: &[f32],
    ) -> Result<(Vec<usize>, Vec<f32>), String> {
        let options = self.options.as_ref().ok_or("no output is selected")?;
        let mut run = || -> Result<(Vec<usize>, Vec<f32>), ort::Error> {
            let input = TensorRef::from_array_view((shape, values))?;
            let outputs = self.session.run_with_options(ort::inputs![input], options)?;
            let (shape, values) = outputs[0].try_extract_tensor::<f32>()?;
            let shape = shape.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
            Ok((shape, values.to_vec()))
        };
        run().map_err(|error| one_line(&error.to_string()))
    }
}

/// The library's messages have line breaks and may be long.
fn one_line(message: &str) -> String {
    const LONGEST: usize = 400;
    let words: Vec<&str> = message.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}
