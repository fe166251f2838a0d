//! A table in memory, column by column: what a program hands over instead of a file.

use dissensus_core::Ids;
use serde_json::Value;

/// Named columns of one length.
pub trait Frame: Send + Sync {
    /// The names of the columns.
    fn columns(&self) -> &[String];

    /// How many rows there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A cell; `Null` where there is no value.
    fn cell(&self, row: usize, column: usize) -> Value;

    /// A column of plain values (no lists or objects), each text stored once; `None` for any other.
    fn coded(&self, column: usize) -> Option<Coded>;

    /// The values that a column may have, where the frame gives them an order.
    fn categories(&self, column: usize) -> Option<Vec<String>>;

    /// The value of a key in the frame's own metadata.
    fn metadata(&self, key: &str) -> Option<String>;
}

/// The values of a column as numbers of different texts, which are those of
/// [`cell_text`](crate::cell_text).
pub struct Coded {
    /// The texts, in the order of their first rows.
    pub texts: Ids,
    /// The number of each row's text; [`Coded::NONE`] where there is no value.
    pub codes: Vec<u32>,
}

impl Coded {
    /// Stands for no value.
    pub const NONE: u32 = u32::MAX;
}
