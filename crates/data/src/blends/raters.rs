//! The simulated population.
//!
//! Rater j takes in of class k what exceeds their threshold t, and votes by Luce's choice rule with
//! a sharpness s and a liking b for each class; now and then (lapse l) they just guess:
//!
//! ```text
//! x_k = floor + max(0, e_k − t)
//! P_j(k) = (1 − l) · b_k x_k^s / Σ_c b_c x_c^s + l/K
//! ```
//!
//! In logarithms this is a softmax over s·ln x_k + ln b_k, with temperature 1/s. Whole numbers s
//! and ratios b keep it free of exponentials.

use super::draws::{Use, bell, between, stream};
use super::glyphs::CLASSES;

/// Evidence that every class has, so that no vote is impossible and none is certain.
const FLOOR: f64 = 0.01;

/// Someone who votes.
pub(super) struct Rater {
    liking: [f64; CLASSES],
    sharpness: u32,
    threshold: f64,
    lapse: f64,
}

impl Rater {
    /// Rater number `index`, whatever the size of the population.
    pub(super) fn draw(seed: u64, index: usize) -> Self {
        let stream = &mut stream(seed, Use::Rater, [index, 0]);
        // (1+x)/(1−x) falls evenly on both sides of 1, as the exponential of 2x would; x stays
        // within ±0.7.
        let liking = std::array::from_fn(|_| {
            let x = 0.2 * bell(stream);
            (1.0 + x) / (1.0 - x)
        });
        let sharpness = 2 + stream.below(2) as u32;
        let threshold = between(stream, 0.0, 0.4);
        // Most lapse rarely: a square puts the middle rater at a quarter of the largest rate.
        let careless = stream.unit();
        Self { liking, sharpness, threshold, lapse: 0.01 * careless * careless }
    }

    /// The chance of every answer, given the evidence for each class.
    pub(super) fn answers(&self, evidence: &[f64; CLASSES]) -> [f64; CLASSES] {
        let mut weights = [0.0; CLASSES];
        for ((weight, &seen), liking) in weights.iter_mut().zip(evidence).zip(self.liking) {
            let taken_in = FLOOR + (seen - self.threshold).max(0.0);
            // `powi` promises no particular rounding; products do.
            *weight = (0..self.sharpness).fold(liking, |product, _| product * taken_in);
        }
        let total: f64 = weights.iter().sum();
        let guess = self.lapse / CLASSES as f64;
        weights.map(|weight| (1.0 - self.lapse) * weight / total + guess)
    }
}

/// The true distribution: the mean over the population.
pub(super) fn truth(raters: &[Rater], evidence: &[f64; CLASSES]) -> [f64; CLASSES] {
    let mut mean = [0.0; CLASSES];
    for rater in raters {
        for (sum, chance) in mean.iter_mut().zip(rater.answers(evidence)) {
            *sum += chance;
        }
    }
    mean.map(|sum| sum / raters.len() as f64)
}

/// The class that a number in [0, 1) falls to.
pub(super) fn pick(chances: &[f64; CLASSES], unit: f64) -> u16 {
    let mut below = 0.0;
    for (class, chance) in chances.iter().enumerate() {
        below += chance;
        if unit < below {
            return class as u16;
        }
    }
    // Rounding can leave the sum a little below 1.
    CLASSES as u16 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_a_distribution_even_without_evidence() {
        for evidence in [[0.0; CLASSES], [1.0; CLASSES], std::array::from_fn(|k| k as f64 / 9.0)] {
            for rater in (0..50).map(|j| Rater::draw(1, j)) {
                let answers = rater.answers(&evidence);
                assert!((answers.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(answers.iter().all(|&p| p > 0.0));
            }
        }
    }

    #[test]
    fn raters_differ() {
        let mut evidence = [0.0; CLASSES];
        (evidence[2], evidence[7]) = (0.6, 0.4);
        let chances: Vec<f64> = (0..30).map(|j| Rater::draw(1, j).answers(&evidence)[2]).collect();
        let (low, high) = chances.iter().fold((1f64, 0f64), |(l, h), &c| (l.min(c), h.max(c)));
        assert!(high - low > 0.2, "{low} to {high}");
    }

    #[test]
    fn pick_follows_the_chances() {
        let mut chances = [0.0; CLASSES];
        (chances[1], chances[4]) = (0.25, 0.75);
        assert_eq!([0.0, 0.2499, 0.25, 0.99].map(|u| pick(&chances, u)), [1, 1, 4, 4]);
        assert_eq!(pick(&[0.0; CLASSES], 0.5), 9);
    }
}
