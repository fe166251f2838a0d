//! What can keep a page from being made.

use thiserror::Error;

/// Items that cannot be shown, or an image that cannot be packed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PageError {
    #[error(
        "item {id:?} of data set {dataset:?} has {got} {what}, but {expected} {of}: give one for each"
    )]
    Length {
        dataset: String,
        id: String,
        what: &'static str,
        got: usize,
        expected: usize,
        /// What it should have one for each of.
        of: &'static str,
    },
    #[error(
        "the image of item {id:?} of data set {dataset:?} has {got} bytes, but {width}×{height} \
         pixels of {channels} channels were declared; images have 1 or 3 channels and one byte for \
         each pixel and channel"
    )]
    Picture {
        dataset: String,
        id: String,
        got: usize,
        width: usize,
        height: usize,
        channels: usize,
    },
    #[error("the images of data set {dataset:?} could not be packed into a sheet: {why}")]
    Sheet { dataset: String, why: String },
}
