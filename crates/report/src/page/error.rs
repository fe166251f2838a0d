//! What can keep a page from being made.

use thiserror::Error;

/// Items that cannot be shown, or an image that cannot be packed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PageError {
    /// A list of an item has not one entry for each class or prediction.
    #[error(
        "item {id:?} of data set {dataset:?} has {got} {what}, but {expected} {of}: give one for each"
    )]
    Length {
        /// The data set.
        dataset: String,
        /// The item.
        id: String,
        /// What the list holds.
        what: &'static str,
        /// How many it has.
        got: usize,
        /// How many it should have.
        expected: usize,
        /// What it should have one for each of.
        of: &'static str,
    },
    /// An image's bytes do not fit its size.
    #[error(
        "the image of item {id:?} of data set {dataset:?} has {got} bytes, but {width}×{height} \
         pixels of {channels} channels were declared; images have 1 or 3 channels and one byte for \
         each pixel and channel"
    )]
    Picture {
        /// The data set.
        dataset: String,
        /// The item.
        id: String,
        /// Bytes that came.
        got: usize,
        /// Pixels per row.
        width: usize,
        /// Rows.
        height: usize,
        /// Channels.
        channels: usize,
    },
    /// The images could not be written into a sheet.
    #[error("the images of data set {dataset:?} could not be packed into a sheet: {why}")]
    Sheet {
        /// The data set.
        dataset: String,
        /// Why.
        why: String,
    },
}
