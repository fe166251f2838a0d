//! Where every random number of `blends` comes from.
//!
//! Philox streams keyed by (seed, one of the ids below). The ids start with the letters of
//! `blends`, so that no other use of the same seed shares a stream with it.

use dissensus_core::philox::Stream;

const BLENDS: u64 = u64::from_be_bytes(*b"blends\0\0");

/// What a stream is for, and its place.
#[derive(Clone, Copy)]
pub(super) enum Use {
    /// Glyphs, share, poses, patch; place (item, 0).
    Scene = 1,
    /// Noise, a word a pixel; place (item, 0).
    Noise = 2,
    /// The character of a rater; place (rater, 0).
    Rater = 3,
    /// How many votes an item gets; place (item, 0).
    HowMany = 4,
    /// Who votes on an item, in order; place (item, 0).
    Who = 5,
    /// What a rater answers; place (item, rater).
    Answer = 6,
}

/// The stream of a use at a place.
pub(super) fn stream(seed: u64, what: Use, place: [usize; 2]) -> Stream {
    Stream::new([seed, BLENDS | what as u64], [place[0] as u64, place[1] as u64, 0])
}

/// An even draw between two numbers.
pub(super) fn between(stream: &mut Stream, low: f64, high: f64) -> f64 {
    low + (high - low) * stream.unit()
}

/// A bell-shaped draw of mean 0 and variance 1, within ±3.47: the sum of the four 16-bit parts of
/// a word. Near enough a normal number, and needs neither logarithm nor cosine.
pub(super) fn bell(stream: &mut Stream) -> f64 {
    let word = stream.word();
    let sum: u64 = (0..4).map(|part| word >> (16 * part) & 0xFFFF).sum();
    // Each part has mean 65535/2 and variance (65536² − 1)/12.
    (sum as f64 - 131_070.0) / 37_837.227_231_822_62
}

#[cfg(test)]
mod tests {
    use super::*;

    /// n = 40,000: the mean has sd 1/√n = 0.005; the mean square has sd √((κ−1)/n) ≈ 0.0065 with
    /// the kurtosis κ = 2.7 of a sum of four.
    #[test]
    fn bell_has_mean_0_and_variance_1() {
        let mut stream = stream(1, Use::Noise, [0, 0]);
        let draws: Vec<f64> = (0..40_000).map(|_| bell(&mut stream)).collect();
        let mean = draws.iter().sum::<f64>() / 40_000.0;
        let square = draws.iter().map(|x| x * x).sum::<f64>() / 40_000.0;
        assert!(mean.abs() < 0.025, "{mean}");
        assert!((square - 1.0).abs() < 0.033, "{square}");
    }

    #[test]
    fn uses_and_places_do_not_share_words() {
        let first = |what, place| stream(9, what, place).word();
        let words = [
            first(Use::Scene, [1, 0]),
            first(Use::Noise, [1, 0]),
            first(Use::Answer, [1, 0]),
            first(Use::Answer, [0, 1]),
        ];
        assert!((1..4).all(|i| !words[..i].contains(&words[i])), "{words:?}");
    }
}
