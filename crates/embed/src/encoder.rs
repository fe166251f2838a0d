//! What every encoder is.

use crate::EmbedError;

/// What an encoder takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Texts.
    Text,
    /// Pictures.
    Picture,
}

/// Which encoder it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// For people, and for results: `all-MiniLM-L6-v2`.
    pub name: String,
    /// SHA-256, in hex, of all that decides its output: weights, tokenizer, settings.
    pub digest: String,
}

/// A picture: rows of pixels, one byte a channel.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// Rows.
    pub height: usize,
    /// Pixels a row.
    pub width: usize,
    /// 1 (grey) or 3 (red, green, blue).
    pub channels: usize,
    /// All bytes.
    pub pixels: &'a [u8],
}

/// Told how many more are done; answers whether to go on.
pub type Progress<'a> = dyn FnMut(usize) -> bool + Send + 'a;

/// A frozen encoder. Vectors come in the order of what was given, row by row, and do not depend on
/// what else is encoded with them beyond the last digits that summation order explains; the same
/// call gives the same bits.
pub trait Encoder: Send + Sync {
    /// Which it is.
    fn identity(&self) -> &Identity;

    /// What it takes.
    fn kind(&self) -> Kind;

    /// Numbers of a vector; `None` where only the first answer tells.
    fn width(&self) -> Option<usize>;

    /// The vectors of texts.
    fn texts(&self, _texts: &[&str], _progress: &mut Progress<'_>) -> Result<Vec<f32>, EmbedError> {
        Err(EmbedError::Input(format!("{} does not take texts", self.identity().name)))
    }

    /// The vectors of pictures.
    fn pictures(
        &self,
        _pictures: &[Picture<'_>],
        _progress: &mut Progress<'_>,
    ) -> Result<Vec<f32>, EmbedError> {
        Err(EmbedError::Input(format!("{} does not take pictures", self.identity().name)))
    }
}
