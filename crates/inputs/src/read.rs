//! From a path to inputs: open, tell what it is, read.

use std::path::{Path, PathBuf};

use dissensus_core::{Progress, Silent};
use dissensus_io::{Input, ReadOption, Source, json};

use crate::error::InputError;
use crate::formats::{FORMATS, Opened, Origin};
use crate::inputs::Inputs;
use crate::options::ReadOptions;

/// Reads a file, a folder of images, or standard input for `-`.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Inputs, InputError> {
    read_with_progress(path, options, &Silent)
}

/// Reads a file, a folder of images, or standard input for `-`, and reports how far a file is.
pub fn read_with_progress(
    path: &Path,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Inputs, InputError> {
    if path.is_dir() {
        let origin = Origin { name: path.display().to_string(), folder: path.to_owned() };
        return by_format(&origin, Opened::Folder, options);
    }
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    Input::read_with_progress(path, progress, |input| read_input(input, folder, options))
}

/// Reads bytes in memory under a name for messages. Files that they name are looked for in the
/// working directory.
pub fn read_bytes(name: &str, bytes: Vec<u8>, options: &ReadOptions) -> Result<Inputs, InputError> {
    read_input(Input::from_bytes(name, bytes)?, PathBuf::new(), options)
}

fn read_input(input: Input, folder: PathBuf, options: &ReadOptions) -> Result<Inputs, InputError> {
    let origin = Origin { name: input.name.clone(), folder };
    let source = match Source::open(input, &options.source())? {
        // An array of objects is a table.
        Source::Json(value) => match json::array_as_table(value) {
            Ok(table) => Source::Table(table),
            Err(value) => Source::Json(value),
        },
        source => source,
    };
    by_format(&origin, Opened::Source(source), options)
}

fn by_format(origin: &Origin, opened: Opened, options: &ReadOptions) -> Result<Inputs, InputError> {
    let Some(format) = FORMATS.iter().find(|format| (format.detect)(&opened, options)) else {
        let file = origin.name.clone();
        return Err(InputError::Unknown { file, seen: opened.describe() });
    };
    if let Some(option) = options.given().into_iter().find(|o| !format.options.contains(o)) {
        let file = origin.name.clone();
        return Err(InputError::Inapplicable { file, format: format.name, option });
    }
    if options.by_position && options.id.is_some() {
        let (file, format) = (origin.name.clone(), "rows by position");
        return Err(InputError::Inapplicable { file, format, option: ReadOption::Id });
    }
    let inputs = (format.read)(origin, opened, options)?;
    Ok(if options.by_position { inputs.by_position() } else { inputs })
}
