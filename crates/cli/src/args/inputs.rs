//! Options of reading images or feature vectors.

use std::path::{Path, PathBuf};

use dissensus::inputs::{Inputs, Layout, ReadOptions, parse_size};
use serde_json::{Value, json};

use super::VoteArgs;
use crate::ui;

/// Votes and inputs, as the `[data]` of a spec has them.
#[derive(clap::Args)]
pub(crate) struct DataArgs {
    /// Images or feature vectors of the items: a file or a folder. Some datasets have images
    #[arg(long, value_name = "PATH")]
    pub(crate) inputs: Option<PathBuf>,
    #[command(flatten)]
    votes: VoteArgs,
    #[command(flatten)]
    reading: InputArgs,
}

impl DataArgs {
    /// The keys of a spec's `[data]` for a file of votes or a dataset.
    pub(crate) fn keys(&self, votes: &str) -> Vec<(&'static str, Value)> {
        let file = Path::new(votes).exists() || votes.contains(['.', '/', '\\']);
        let mut keys = vec![(if file { "votes" } else { "dataset" }, json!(votes))];
        keys.extend(self.votes.keys());
        keys.extend(self.inputs.as_ref().map(|path| ("inputs", json!(path.display().to_string()))));
        keys.extend(self.reading.keys());
        keys
    }
}

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
    /// Reads a file, a folder, or the images of a dataset by its name, and prints what was guessed.
    pub(crate) fn read(&self, path: &Path) -> Result<Inputs, dissensus::Error> {
        let options = ReadOptions {
            key: self.inputs_key.clone(),
            layout: self.inputs_layout,
            id: self.inputs_id.clone(),
            by_position: self.inputs_by_position,
            resize: self.inputs_resize,
            ..ReadOptions::default()
        };
        let inputs = dissensus::read_inputs(path, &options, &super::context())?;
        inputs.notes().iter().for_each(|note| ui::remark(&format!("{}: {note}", inputs.name())));
        Ok(inputs)
    }

    /// The keys of a spec's `[data]` that say the same.
    pub(crate) fn keys(&self) -> Vec<(&'static str, Value)> {
        let mut keys = vec![
            ("inputs_key", json!(self.inputs_key)),
            ("inputs_layout", json!(self.inputs_layout)),
            ("inputs_id", json!(self.inputs_id)),
            ("inputs_by_position", json!(self.inputs_by_position.then_some(true))),
            ("inputs_resize", json!(self.inputs_resize)),
        ];
        keys.retain(|(_, value)| !value.is_null());
        keys
    }
}
