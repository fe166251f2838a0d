//! A table of images: an id column and a column of file names, relative to the table.

use dissensus_io::Example;
use dissensus_io::ReadOption;
use dissensus_io::{Source, Table, cell_text};

use super::image_files::{self, ImageFile, is_image, stem};
use super::{Format, Opened, Origin, columns, features, misplaced};
use crate::error::{InputError, listed};
use crate::inputs::{Inputs, check_ids};
use crate::options::ReadOptions;

pub(super) const FORMAT: Format = Format {
    name: "index",
    layout: "CSV, TSV, JSON Lines or Parquet: an id column and a column `file` of PNG or JPEG files, relative to the table",
    examples: &[Example::text("images.csv", "id,file\na,one.png\nb,two.png\n")],
    options: &[ReadOption::Id, ReadOption::File, ReadOption::Resize],
    detect: |opened, options| match opened {
        Opened::Source(Source::Table(table)) => detect(table, options),
        _ => false,
    },
    read,
};

/// Names of a column of file names.
const FILES: [&str; 9] = [
    "file",
    "filename",
    "filepath",
    "path",
    "imagepath",
    "imagefile",
    "imagename",
    "image",
    "picture",
];

/// Names of columns that describe a file, whose id is its name without the ending.
const FILE_NAMES: [&str; 5] = ["name", "itemname", "imagename", "filename", "key"];

fn detect(table: &Table, options: &ReadOptions) -> bool {
    if options.file.is_some() {
        return true;
    }
    let vectors = options.key.is_some() || !options.skip.is_empty();
    let lists = || matches!(features::list_column("", table, options), Ok(Some(_)));
    !vectors && !lists() && file_column(table).is_some()
}

/// A column of a known name with nothing but names of images in it.
fn file_column(table: &Table) -> Option<usize> {
    let images = |&column: &usize| {
        let named = |cell: Option<String>| cell.is_some_and(|cell| is_image(&cell));
        !table.sample.is_empty()
            && table.sample.iter().all(|row| named(cell_text(row.cell(column))))
    };
    let known = |name: &&str| columns::known(&table.columns, &[*name]);
    FILES.iter().filter_map(known).find(images)
}

fn read(origin: &Origin, opened: Opened, options: &ReadOptions) -> Result<Inputs, InputError> {
    let Opened::Source(Source::Table(table)) = opened else {
        return Err(misplaced(origin, &opened));
    };
    let file = origin.name.as_str();
    let names = table.columns.clone();
    let file_column = match &options.file {
        Some(name) => Some(columns::named(file, &names, ReadOption::File, name)?),
        None => file_column(&table),
    };
    let Some(file_column) = file_column else {
        let seen = format!("no column of files; the columns are {}", listed(&names));
        return Err(InputError::Unknown { file: file.to_owned(), seen });
    };
    let id_column = columns::id(file, &names, options.id.as_deref())?;
    // The column of the files, or another name of theirs, is not the id, unless the user says so.
    let of_file = |id: usize| id == file_column || columns::is_one_of(&names[id], &FILE_NAMES);
    let id_column = id_column.filter(|&id| options.id.is_some() || !of_file(id));
    let (mut list, mut rows) = (Vec::new(), Vec::new());
    for row in table.rows(&options.limits) {
        let row = row?;
        let name = cell_text(row.cell(file_column)).unwrap_or_default();
        if name.is_empty() {
            return Err(InputError::NoImages {
                file: file.to_owned(),
                found: format!(
                    "an empty cell in row {}; name the file, or leave it out",
                    row.number
                ),
            });
        }
        let id = match id_column {
            Some(column) => cell_text(row.cell(column)).unwrap_or_default(),
            None => stem(&name).to_owned(),
        };
        list.push(ImageFile { id, path: origin.folder.join(&name) });
        rows.push(row.number);
    }
    check_ids(file, list.iter().map(|p| p.id.as_str()), |at| format!("row {}", rows[at]))?;
    let mut notes = Vec::new();
    let used = |&column: &usize| column == file_column || Some(column) == id_column;
    let others: Vec<&String> =
        (0..names.len()).filter(|column| !used(column)).map(|column| &names[column]).collect();
    if !others.is_empty() {
        notes.push(format!("columns left out: {}", listed(&others)));
    }
    if id_column.is_none() {
        notes.push("ids are the file names without their endings".to_owned());
    }
    image_files::read_all(file, &list, notes, options)
}
