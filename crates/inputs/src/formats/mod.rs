//! How inputs lie in files: one file per format, and this list.

mod array;
mod choice;
mod columns;
mod features;
mod folder;
mod image_files;
mod index;
mod npz;
mod png_chunks;
mod safetensors;

use std::path::PathBuf;

use dissensus_io::{Example, ReadOption, Source};

use crate::error::InputError;
use crate::inputs::Inputs;
use crate::options::ReadOptions;

/// Where something comes from.
pub(crate) struct Origin {
    /// As the user named it, for messages.
    pub(crate) name: String,
    /// The folder itself, or the one that the file lies in.
    pub(crate) folder: PathBuf,
}

/// An opened source.
pub(crate) enum Opened {
    Folder,
    /// A file, as far as its container.
    Source(Source),
}

impl Opened {
    /// A few words on what was seen, for errors.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Folder => "a folder".to_owned(),
            Self::Source(source) => source.describe(),
        }
    }
}

/// A way in which inputs are stored.
pub struct Format {
    pub name: &'static str,
    /// What it looks like.
    pub layout: &'static str,
    /// Small files of it.
    pub examples: &'static [Example],
    /// The options that mean something for it.
    pub options: &'static [ReadOption],
    pub(crate) detect: fn(&Opened, &ReadOptions) -> bool,
    pub(crate) read: fn(&Origin, Opened, &ReadOptions) -> Result<Inputs, InputError>,
}

/// All formats, the most specific first.
pub const FORMATS: &[Format] = &[
    folder::FORMAT,
    array::FORMAT,
    npz::FORMAT,
    safetensors::FORMAT,
    index::FORMAT,
    features::FORMAT,
];

/// The error for a source that a reader was not made for; detection keeps it from happening.
fn misplaced(origin: &Origin, opened: &Opened) -> InputError {
    InputError::Unknown { file: origin.name.clone(), seen: opened.describe() }
}

/// An `.npy` file of any type, for tests.
#[cfg(test)]
fn npy_bytes(descr: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
    [dissensus_io::npy::header(descr, shape), data.to_vec()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_each_format_once_and_only_options_that_exist() {
        let all = ReadOptions {
            key: Some(String::new()),
            layout: Some(crate::Layout::Nhwc),
            id: Some(String::new()),
            file: Some(String::new()),
            skip: vec![String::new()],
            resize: Some([1, 1]),
            ..ReadOptions::default()
        };
        let mut names = std::collections::HashSet::new();
        for format in FORMATS {
            assert!(names.insert(format.name) && !format.layout.is_empty(), "{}", format.name);
            assert!(format.options.iter().all(|o| all.given().contains(o)), "{}", format.name);
        }
        for option in all.given() {
            assert!(FORMATS.iter().any(|f| f.options.contains(&option)), "nothing takes {option}");
        }
    }
}
