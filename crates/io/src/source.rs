//! What a file is before one asks what its votes look like: a table of rows, a JSON document, an
//! array, an archive.

use serde_json::Value;

use crate::archive::Archive;
use crate::error::{Problem, ReadError};
use crate::input::Input;
use crate::options::SourceOptions;
#[cfg(feature = "parquet")]
use crate::parquet;
use crate::table::Table;
use crate::tensors::is_safetensors;
use crate::{delimited, foreign, json};

/// The same text in UTF-8, as programs for Windows save it in UTF-16 with a byte-order mark.
fn utf_8(
    input: Input,
    unit: fn([u8; 2]) -> u16,
    options: &SourceOptions,
) -> Result<Input, ReadError> {
    const MOST: u64 = 1 << 30;
    let name = input.name.clone();
    let bytes = input.into_bytes(options.limits.document.min(MOST))?;
    let units = bytes.chunks_exact(2).skip(1).map(|pair| unit([pair[0], pair[1]]));
    let text: Result<String, _> = char::decode_utf16(units).collect();
    match text {
        Ok(text) if bytes.len() % 2 == 0 => Input::from_bytes(&name, text.into_bytes()),
        _ => Err(ReadError::new(name, Problem::Utf16 { encoding: "UTF-16 with an error in it" })),
    }
}

/// An opened source, as far as its container.
pub enum Source {
    /// Rows under named columns: CSV, TSV, JSON Lines, Parquet.
    Table(Table),
    /// One JSON document.
    Json(Value),
    /// A `.npy` file.
    Npy(Vec<u8>),
    /// A safetensors file.
    Tensors(Vec<u8>),
    /// A zip archive: `.npz`, or PyTorch's `.pt`.
    Archive(Archive),
}

impl Source {
    /// Tells the container from the first bytes and opens it.
    pub fn open(input: Input, options: &SourceOptions) -> Result<Self, ReadError> {
        let name = input.name.clone();
        let limit = options.limits.document;
        match input.head.as_slice() {
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Ok(Self::Npy(input.into_bytes(limit)?)),
            [b'P', b'K', 3 | 5, 4 | 6, ..] => {
                let archive = Archive::open(&name, input.into_bytes(limit)?, limit)?;
                match foreign::document(archive.names()) {
                    Some(problem) => Err(ReadError::new(name, problem)),
                    None => Ok(Self::Archive(archive)),
                }
            }
            #[cfg(not(feature = "parquet"))]
            [b'P', b'A', b'R', b'1', ..] => {
                let what = "a Parquet file, which this build does not read".to_owned();
                Err(ReadError::new(name, Problem::NotRead { what, remedy: None }))
            }
            #[cfg(feature = "parquet")]
            [b'P', b'A', b'R', b'1', ..] => {
                let bytes = input.into_bytes(limit)?;
                Ok(Self::Table(parquet::open(&name, bytes, &options.limits)?))
            }
            head if is_safetensors(head) => Ok(Self::Tensors(input.into_bytes(limit)?)),
            _ => Self::open_text(input, options),
        }
    }

    fn open_text(input: Input, options: &SourceOptions) -> Result<Self, ReadError> {
        let input = match input.head.as_slice() {
            [0xff, 0xfe, ..] => utf_8(input, u16::from_le_bytes, options)?,
            [0xfe, 0xff, ..] => utf_8(input, u16::from_be_bytes, options)?,
            _ => input,
        };
        if options.delimiter.is_none()
            && options.header.is_none()
            && let Some(problem) = foreign::foreign(&input.head)
        {
            return Err(ReadError::new(input.name, problem));
        }
        let body = json::without_bom(&input.head);
        let first = body.iter().find(|b| !b.is_ascii_whitespace());
        match first {
            None if input.whole => Err(ReadError::new(input.name, Problem::Empty)),
            Some(b'[') => json::open_document(input, options.limits.document).map(Self::Json),
            Some(b'{') => json::open_object_or_lines(input, options),
            _ => delimited::open(input, options).map(Self::Table),
        }
    }

    /// A few words on what was seen, for errors.
    pub fn describe(&self) -> String {
        match self {
            Self::Table(table) => {
                let columns: Vec<_> = table.columns.iter().take(12).map(String::as_str).collect();
                let more = if table.columns.len() > 12 { ", …" } else { "" };
                format!("{} with the columns {}{more}", table.kind.describe(), columns.join(", "))
            }
            Self::Json(Value::Array(list)) => format!("a JSON array of {} entries", list.len()),
            Self::Json(Value::Object(map)) => {
                let keys: Vec<_> = map.keys().take(5).map(String::as_str).collect();
                format!("a JSON object with the keys {}, …", keys.join(", "))
            }
            Self::Json(_) => "a JSON value that is neither an object nor an array".to_owned(),
            Self::Npy(_) => "a numpy array".to_owned(),
            Self::Tensors(_) => "a safetensors file".to_owned(),
            Self::Archive(archive) => {
                let names: Vec<_> = archive.names().take(5).collect();
                format!("a zip archive with {}", names.join(", "))
            }
        }
    }
}
