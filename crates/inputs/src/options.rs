//! What the user says about a source of inputs; the rest is detected.

use std::str::FromStr;

use dissensus_io::{Delimiter, Limits, ReadOption, SourceOptions};
use serde::{Deserialize, Serialize};

/// Where the channels of an array of images stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Items × height × width × channels.
    Nhwc,
    /// Items × channels × height × width.
    Nchw,
}

impl FromStr for Layout {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "nhwc" => Ok(Self::Nhwc),
            "nchw" => Ok(Self::Nchw),
            _ => Err("expected `nhwc` or `nchw`".to_owned()),
        }
    }
}

/// How to read inputs. The default detects everything. An option that means nothing for what the
/// source turns out to be is an error.
///
/// Every field but `limits` is a key of the same name, in a file or (with dashes) on a command
/// line; there, [`parse_size`] reads `resize`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// The array in an `.npz` or safetensors file; the column of lists in a table.
    pub key: Option<String>,
    /// Where the channels of a four-axis array stand.
    pub layout: Option<Layout>,
    /// The id column of a table (a name, or `#2` for the second column), or the array of ids.
    pub id: Option<String>,
    /// Rows are matched with the votes by position; ids in the source do not count.
    pub by_position: bool,
    /// The column of file names in a table of images.
    pub file: Option<String>,
    /// Columns of a table that are no features.
    pub skip: Vec<String>,
    /// Height and width to which image files are brought.
    pub resize: Option<[usize; 2]>,
    /// The delimiter of a text table.
    pub delimiter: Option<Delimiter>,
    /// Whether a text table's first row is its header.
    pub header: Option<bool>,
    /// The largest things that are read.
    #[serde(skip)]
    pub limits: Limits,
}

impl ReadOptions {
    pub(crate) fn source(&self) -> SourceOptions {
        SourceOptions { delimiter: self.delimiter, header: self.header, limits: self.limits }
    }

    /// The options that are set and that not every source takes.
    pub(crate) fn given(&self) -> Vec<ReadOption> {
        let all = [
            (ReadOption::Key, self.key.is_some()),
            (ReadOption::Layout, self.layout.is_some()),
            (ReadOption::Id, self.id.is_some()),
            (ReadOption::File, self.file.is_some()),
            (ReadOption::Skip, !self.skip.is_empty()),
            (ReadOption::Resize, self.resize.is_some()),
        ];
        all.into_iter().filter(|(_, set)| *set).map(|(option, _)| option).collect()
    }
}

/// A size as `32x48` (height × width), or `32` for a square.
///
/// ```
/// assert_eq!(dissensus_inputs::parse_size("32x48"), Ok([32, 48]));
/// assert_eq!(dissensus_inputs::parse_size("32"), Ok([32, 32]));
/// assert!(dissensus_inputs::parse_size("small").is_err());
/// ```
pub fn parse_size(text: &str) -> Result<[usize; 2], String> {
    let (height, width) = text.split_once('x').unwrap_or((text, text));
    match (height.parse(), width.parse()) {
        (Ok(height), Ok(width)) => Ok([height, width]),
        _ => Err("expected HEIGHTxWIDTH, such as 32x32".to_owned()),
    }
}
