//! Blends: drawn images with simulated raters, whose true vote distributions are known.

use super::{Dataset, Kind};

pub(super) static DATASET: Dataset = Dataset {
    name: "blends",
    title: "Blends, with known vote distributions",
    what: "grey images of 16×16 pixels that show two of ten glyphs at once, with votes of simulated raters and the true distribution of each",
    licence: "none needed: made by this program",
    homepage: None,
    citation: "none: made by this program",
    kind: Kind::Generated,
    made_by: None,
    files: &[],
    votes: &[],
};
