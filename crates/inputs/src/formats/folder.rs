//! A folder of PNG and JPEG files, sorted by name. An item's id is its file's name without the
//! ending.

use dissensus_io::ReadOption;
use dissensus_io::{Content, Example};

use super::image_files::{self, ImageFile, is_image, stem};
use super::{Format, Opened, Origin};
use crate::error::{InputError, listed};
use crate::inputs::{Inputs, check_ids};
use crate::options::ReadOptions;

pub(super) const FORMAT: Format = Format {
    name: "folder",
    layout: "a folder of PNG or JPEG files of one size; the ids are their names without the endings",
    examples: &[Example {
        file: "images/",
        content: Content::Images(&["a.png", "b.png", "c.png"]),
    }],
    options: &[ReadOption::Resize],
    detect: |opened, _| matches!(opened, Opened::Folder),
    read,
};

fn read(origin: &Origin, _: Opened, options: &ReadOptions) -> Result<Inputs, InputError> {
    let file = origin.name.as_str();
    let fail = |error| InputError::io(&origin.folder, error);
    let (mut names, mut others) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(&origin.folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name().into_string().map_err(|name| {
            let why = "its name is not UTF-8 text, so it gives no id; rename it".to_owned();
            InputError::Decode { file: name.to_string_lossy().into_owned(), why }
        })?;
        // Hidden files are what file managers leave behind.
        if name.starts_with('.') {
            continue;
        }
        match is_image(&name) && entry.path().is_file() {
            true => names.push(name),
            false => others.push(name),
        }
    }
    names.sort_unstable();
    others.sort_unstable();
    if names.is_empty() {
        let hint = "images in folders inside it are read by way of a table with an id column \
                    and a column of files";
        let found = match others.is_empty() {
            true => "an empty folder".to_owned(),
            false => format!("{} ({hint})", listed(&others)),
        };
        return Err(InputError::NoImages { file: file.to_owned(), found });
    }
    check_ids(file, names.iter().map(|name| stem(name)), |at| names[at].clone())?;
    let image =
        |name: &String| ImageFile { id: stem(name).to_owned(), path: origin.folder.join(name) };
    let list: Vec<ImageFile> = names.iter().map(image).collect();
    let notes = match others.is_empty() {
        true => Vec::new(),
        false => vec![format!("left out, being no PNG or JPEG files: {}", listed(&others))],
    };
    image_files::read_all(file, &list, notes, options)
}
