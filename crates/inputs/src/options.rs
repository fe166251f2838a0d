//! What the user says about a source of inputs; the rest is detected.

use std::str::FromStr;

use dissensus_io::{Limits, SourceOptions};
use serde::{Deserialize, Serialize};

/// Where the channels of an array of pictures stand.
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// The array in an `.npz` or safetensors file; the column of lists in a table.
    pub key: Option<String>,
    /// Where the channels of a four-axis array stand.
    pub layout: Option<Layout>,
    /// The id column of a table: a name, or `#2` for the second column.
    pub id: Option<String>,
    /// The column of file names in a table of pictures.
    pub file: Option<String>,
    /// Columns of a table that are no features.
    pub skip: Vec<String>,
    /// Height and width to which picture files are brought.
    pub resize: Option<[usize; 2]>,
    /// The delimiter of a text table.
    pub delimiter: Option<u8>,
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

    /// The names of the options that are set.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let all = [
            ("key", self.key.is_some()),
            ("layout", self.layout.is_some()),
            ("id", self.id.is_some()),
            ("file", self.file.is_some()),
            ("skip", !self.skip.is_empty()),
            ("resize", self.resize.is_some()),
        ];
        all.into_iter().filter(|(_, set)| *set).map(|(name, _)| name).collect()
    }
}
