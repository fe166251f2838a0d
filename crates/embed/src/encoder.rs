//! The interface of all encoders.

use crate::EmbedError;

/// What an encoder takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Image,
}

/// Which encoder it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its name in results: `all-MiniLM-L6-v2`.
    pub name: String,
    /// SHA-256, in hex, of everything that decides its output: weights, tokenizer, settings.
    pub digest: String,
}

/// An image: rows of pixels, one byte per channel.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    pub height: usize,
    /// Pixels per row.
    pub width: usize,
    /// 1 (grey) or 3 (red, green, blue).
    pub channels: usize,
    /// All bytes.
    pub pixels: &'a [u8],
}

/// Called with the number of items that were encoded since the last call; returns whether to
/// continue.
pub type Progress<'a> = dyn FnMut(usize) -> bool + Send + 'a;

/// A frozen encoder. Vectors come in the order of the input, row by row, and do not depend on what
/// else is encoded with them. The same call gives the same bits.
pub trait Encoder: Send + Sync {
    fn identity(&self) -> &Identity;

    /// What it takes.
    fn kind(&self) -> Kind;

    /// The length of a vector; `None` if it is not known before the first vector.
    fn width(&self) -> Option<usize>;

    /// The vectors of texts.
    fn texts(&self, _texts: &[&str], _progress: &mut Progress<'_>) -> Result<Vec<f32>, EmbedError> {
        Err(EmbedError::Input(format!("{} does not take texts", self.identity().name)))
    }

    /// The vectors of images.
    fn images(
        &self,
        _images: &[Image<'_>],
        _progress: &mut Progress<'_>,
    ) -> Result<Vec<f32>, EmbedError> {
        Err(EmbedError::Input(format!("{} does not take images", self.identity().name)))
    }
}
