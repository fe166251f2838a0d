//! Options of reading images or feature vectors, shared by all commands that read them.

use std::path::Path;

use dissensus::inputs::{Inputs, Layout, ReadOptions, parse_size};
use dissensus::{DataError, LoadContext};
use serde_json::Value;

use crate::ui::progress::Terminal;

/// How to read inputs.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct InputArgs {
    /// The array of an .npz or safetensors file, or the column of lists of a table
    #[arg(long, value_name = "NAME", help_heading = READING)]
    inputs_key: Option<String>,
    /// The axes of an array of images: nhwc or nchw
    #[arg(long, value_name = "LAYOUT", help_heading = READING)]
    inputs_layout: Option<Layout>,
    /// Column of the item id in a table of inputs (a name, or #2 for the second), or the array of ids
    #[arg(long, value_name = "COLUMN", help_heading = READING)]
    inputs_id: Option<String>,
    /// Match inputs with the votes by position, not by id
    #[arg(long, help_heading = READING)]
    inputs_by_position: bool,
    /// Resize image files to this height and width, such as 32x32
    #[arg(long, value_name = "HxW", value_parser = parse_size, help_heading = READING)]
    inputs_resize: Option<[usize; 2]>,
}

const READING: &str = "Reading inputs";

impl InputArgs {
    /// Reads a file, a folder, or the images of a dataset by its name.
    pub(crate) fn read(&self, path: &Path) -> Result<Inputs, DataError> {
        let options = ReadOptions {
            key: self.inputs_key.clone(),
            layout: self.inputs_layout,
            id: self.inputs_id.clone(),
            by_position: self.inputs_by_position,
            resize: self.inputs_resize,
            ..ReadOptions::default()
        };
        dissensus::read_inputs(path, &options, &LoadContext::new(&Terminal::default()))
    }

    /// The keys of a spec's `[data]` that say the same.
    pub(crate) fn keys(&self) -> Vec<(&'static str, Value)> {
        let layout = self.inputs_layout.map(|layout| match layout {
            Layout::Nhwc => "nhwc".into(),
            Layout::Nchw => "nchw".into(),
        });
        let given = [
            ("inputs_key", self.inputs_key.clone().map(Value::from)),
            ("inputs_layout", layout),
            ("inputs_id", self.inputs_id.clone().map(Value::from)),
            ("inputs_by_position", self.inputs_by_position.then(|| true.into())),
            ("inputs_resize", self.inputs_resize.map(|size| size.to_vec().into())),
        ];
        given.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }
}
