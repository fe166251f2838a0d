//! Options of reading images or feature vectors.

use std::path::{Path, PathBuf};

use dissensus::inputs::{Inputs, Layout, ReadOptions, parse_size};
use dissensus::train::spec::{Data, DataSource};

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
    /// A file of votes or a dataset, with its inputs.
    pub(crate) fn data(&self, votes: &str) -> anyhow::Result<Data> {
        let reading = self.votes.given();
        let mut data = match Path::new(votes).exists() || votes.contains(['.', '/', '\\']) {
            true => Data::of_file(votes, reading.clone()),
            false => Data::of_dataset(votes, None, None),
        };
        if let (DataSource::Dataset(_), Some((option, _))) =
            (&data.source, reading.values().first())
        {
            let flag = option.name().replace('_', "-");
            anyhow::bail!("--{flag} is for a file of votes, and {votes} is a dataset");
        }
        data.inputs.clone_from(&self.inputs);
        data.inputs_reading = self.reading.options();
        if self.inputs.is_none() && data.inputs_reading != ReadOptions::default() {
            anyhow::bail!("--inputs names no file whose reading is described");
        }
        Ok(data)
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
    /// The options that are given.
    fn options(&self) -> ReadOptions {
        ReadOptions {
            key: self.inputs_key.clone(),
            layout: self.inputs_layout,
            id: self.inputs_id.clone(),
            by_position: self.inputs_by_position,
            resize: self.inputs_resize,
            ..ReadOptions::default()
        }
    }

    /// Reads a file, a folder, or the images of a dataset by its name, and prints what was guessed.
    pub(crate) fn read(&self, path: &Path) -> Result<Inputs, dissensus::SourceError> {
        let inputs = dissensus::read_inputs(path, &self.options(), &super::context())?;
        inputs.notes().iter().for_each(|note| ui::remark(&format!("{}: {note}", inputs.name())));
        Ok(inputs)
    }
}
