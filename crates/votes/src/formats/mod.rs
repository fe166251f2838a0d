//! How votes lie in a source: one file per format, and this list.
//!
//! To add one, write `formats/NAME.rs` with a `FORMAT` and put it into [`FORMATS`]; the command
//! line, its help and the documentation take it from there. The first format in the list that
//! recognizes a source reads it, so the more specific ones stand first.

mod argilla;
mod chaosnli;
mod cifar10n;
mod columns;
mod huggingface;
mod label_studio;
mod lewidi;
mod long;
mod long_text;
mod matrix;
mod peerannot;
mod popquorn;
mod prodigy;
mod wide;

use crate::collector::Collector;
use crate::options::ReadOptions;
use dissensus_io::ReadError;
use dissensus_io::Source;

/// A way in which votes are stored.
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// What it looks like.
    pub layout: &'static str,
    /// What goes wrong with it elsewhere, and what happens here.
    pub trap: &'static str,
    /// Whether a source looks like it.
    pub detect: fn(&Source, &ReadOptions) -> bool,
    /// Reads a source.
    pub read: fn(Source, &mut Collector<'_>) -> Result<(), ReadError>,
}

/// All formats, the most specific first.
pub const FORMATS: &[Format] = &[
    chaosnli::FORMAT,
    lewidi::FORMAT_2023,
    lewidi::FORMAT_2025,
    popquorn::FORMAT,
    label_studio::FORMAT,
    argilla::FORMAT,
    prodigy::FORMAT,
    peerannot::FORMAT,
    huggingface::FORMAT,
    cifar10n::FORMAT,
    matrix::NPY,
    matrix::NPZ,
    long::FORMAT,
    wide::FORMAT,
    matrix::TABLE,
];

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The format that recognizes a source.
pub fn detect(source: &Source, options: &ReadOptions) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.detect)(source, options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_named_once_and_explained() {
        for (i, format) in FORMATS.iter().enumerate() {
            assert!(FORMATS[..i].iter().all(|other| other.name != format.name), "{}", format.name);
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(format.name.chars().all(kebab), "{}", format.name);
            for text in [format.title, format.layout, format.trap] {
                assert!(text.len() > 10, "{} has {text:?}", format.name);
            }
        }
    }
}
