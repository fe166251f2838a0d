//! Mixup of majority labels: in every batch, inputs and one-hot labels are mixed with those of a
//! permuted batch, x ← λ x + (1 − λ) x_π and likewise for the labels, with λ ~ Beta(α, α).
//!
//! Zhang, Cisse, Dauphin and Lopez-Paz, *mixup: beyond empirical risk minimization* (ICLR 2018).
//!
//! Only labels, λ and π are made here; the mixing of inputs is the training loop's. Both λ and π
//! are pure functions of (seed, epoch, batch). π is a Fisher–Yates shuffle from the end by the
//! stream `pair`. λ comes from the stream `mix`:
//!
//! * α ≤ 1: Jöhnk (1964): u, v until u^(1/α) + v^(1/α) ≤ 1, then the first one's share of the sum.
//!   The very draw of `np.random.Generator(philox(seed, b"mix", [0, epoch, batch, 0])).beta(α, α)`.
//! * α > 1: Cheng's algorithm BB (CACM 1978), which for equal parameters needs two logarithms and
//!   an exponential a try.

use std::f64::consts::LN_2;

use dissensus_core::{Scale, philox::Stream};
use libm::{exp, log, pow};

use super::majority::{TIES, majorities};
use super::{Delivers, DeliveryEntry, Kind, method};
use crate::{Setting, streams};

pub(super) const ENTRY: DeliveryEntry = DeliveryEntry {
    name: "mixup",
    title: "mixup",
    description: "the majority label, inputs and labels mixed in pairs",
    formula: "lambda onehot(i) + (1 - lambda) onehot(partner of i), lambda ~ Beta(alpha, alpha) a batch",
    delivers: Delivers::Labels,
    scales: Scale::ONE_LABEL,
    needs_counts: false,
    settings: &[
        Setting {
            name: "alpha",
            description: "both parameters of the Beta distribution of lambda",
            default: "1",
            expected: "a number from 0.000001 to 1000000",
            came_later: false,
        },
        TIES,
    ],
    make: |given| {
        let alpha = given.next(|alpha| (1e-6..=1e6).contains(alpha))?;
        let ties = given.next(|_| true)?;
        Ok(method(move |source, seed| {
            let labels = majorities(source, ties, seed)?;
            Ok(Kind::Fixed { labels, mixing: Some(Mixing { alpha, seed }) })
        }))
    },
};

/// How the batches of a run are mixed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixing {
    alpha: f64,
    seed: u64,
}

impl Mixing {
    /// The parameter of the Beta distribution.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The share of the example itself, from 0 to 1; the rest is its partner's.
    pub fn lambda(&self, epoch: u64, batch: u64) -> f64 {
        let mut stream = Stream::new([self.seed, streams::MIX], [epoch, batch, 0]);
        if self.alpha <= 1.0 {
            johnk(&mut stream, self.alpha)
        } else {
            cheng(&mut stream, self.alpha)
        }
    }

    /// The partner of every example of a batch, as a place in the batch.
    pub fn partners(&self, epoch: u64, batch: u64, out: &mut [u32]) {
        (0..).zip(out.iter_mut()).for_each(|(place, partner)| *partner = place);
        Stream::new([self.seed, streams::PAIR], [epoch, batch, 0]).shuffle(out);
    }
}

fn johnk(stream: &mut Stream, alpha: f64) -> f64 {
    loop {
        let (u, v) = (stream.unit(), stream.unit());
        let (x, y) = (pow(u, 1.0 / alpha), pow(v, 1.0 / alpha));
        if x + y <= 1.0 && u + v > 0.0 {
            if x + y > 0.0 {
                return x / (x + y);
            }
            // Both powers are too small for f64; their shares are not.
            let (x, y) = (log(u) / alpha, log(v) / alpha);
            let top = x.max(y);
            let (x, y) = (x - top, y - top);
            return exp(x - log(exp(x) + exp(y)));
        }
    }
}

fn cheng(stream: &mut Stream, alpha: f64) -> f64 {
    let (beta, gamma) = (1.0 / alpha.sqrt(), alpha + alpha.sqrt());
    loop {
        let (u, v) = (stream.unit(), stream.unit());
        if u <= 0.0 || v <= 0.0 {
            continue;
        }
        let logit = beta * log(u / (1.0 - u));
        let w = alpha * exp(logit);
        let gain = gamma * logit - 2.0 * LN_2 + 2.0 * alpha * log(2.0 * alpha / (alpha + w));
        if gain >= log(u * u * v) {
            return w / (alpha + w);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Delivery;
    use crate::Source;
    use crate::testing::counted;

    /// Beta(α, α) has mean 1/2, variance v = 1 / (4(2α + 1)) and fourth central moment
    /// 3 / (16(2α + 1)(2α + 3)). Over n draws, the mean has the sd √(v/n), and the mean square
    /// about 1/2 the sd √((μ₄ − v²)/n); 5 of each are allowed.
    #[test]
    fn lambdas_have_the_moments_of_beta() {
        let n = 20_000u64;
        for alpha in [0.05, 0.2, 0.4, 1.0, 1.5, 8.0, 300.0] {
            let mixing = Mixing { alpha, seed: 4 };
            let (mut sum, mut square) = (0.0, 0.0);
            for batch in 0..n {
                let lambda = mixing.lambda(batch % 7, batch);
                assert!((0.0..=1.0).contains(&lambda), "{lambda}");
                sum += lambda - 0.5;
                square += (lambda - 0.5).powi(2);
            }
            let v = 1.0 / (4.0 * (2.0 * alpha + 1.0));
            let fourth = 3.0 / (16.0 * (2.0 * alpha + 1.0) * (2.0 * alpha + 3.0));
            let (n, sd) = (n as f64, |variance: f64| 5.0 * (variance / n as f64).sqrt());
            assert!((sum / n).abs() < sd(v), "α = {alpha}: mean {}", sum / n);
            assert!((square / n - v).abs() < sd(fourth - v * v), "α = {alpha}: {}", square / n);
        }
    }

    #[test]
    fn tiny_alphas_still_give_shares() {
        let mixing = Mixing { alpha: 1e-6, seed: 0 };
        let ends = (0..200).map(|b| mixing.lambda(0, b)).filter(|l| *l < 1e-3 || *l > 0.999);
        assert_eq!(ends.count(), 200);
    }

    #[test]
    fn partners_are_a_permutation_of_the_batch() {
        let table = counted(&vec![vec![1, 2]; 3]);
        let mixup: Delivery = "mixup:alpha=0.4".parse().unwrap();
        let prepared = mixup.prepare(&Source::new(&table).unwrap(), 5).unwrap();
        let mixing = prepared.mixing().unwrap();
        assert_eq!(mixing.alpha(), 0.4);
        let partners = |epoch, batch| {
            let mut out = [0; 64];
            mixing.partners(epoch, batch, &mut out);
            out
        };
        assert_eq!(partners(1, 2), partners(1, 2));
        assert_ne!(partners(1, 2), partners(2, 1));
        let mut sorted = partners(1, 2);
        sorted.sort();
        assert!(sorted.into_iter().eq(0..64));
        assert_eq!(prepared.label(0, 1).unwrap(), 1);
    }
}
