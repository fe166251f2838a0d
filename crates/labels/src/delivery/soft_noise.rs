//! The distribution with Gaussian noise: the target in epoch t is p_i + ξ_it, where
//!
//! ξ = s · Σ_k √p_k z_k (e_k − p), z_k independent and standard normal.
//!
//! ξ sums to 0 and has the mean 0 and the covariance s² (Diag(p) − ppᵀ). At the logits, the loss
//! −Σ_k (p + ξ)_k ln q_k has the gradient q − p − ξ: that of `soft`, and for s = 1 noise of the mean
//! and covariance that it has in `sls`, through all layers, but without one-hot labels. So it tells
//! noise from delivery. s = 0 is `soft`. Where all votes agree there is no noise.
//!
//! Entries may be negative or above 1: these are targets of a loss, not probabilities.
//!
//! z_k is a pure function of (seed, epoch, id, class): Box–Muller of the first two words of block
//! (0, key, epoch, k) of the stream `noise`, as [`normal`](dissensus_core::philox::Stream::normal)
//! makes it. Logarithm and cosine are the platform's, so that the last bits may differ from one to
//! another; [`streams`](crate::streams) has the lines of numpy.
//!
//! Memory: 8 bytes for each item and class, and as much again for the targets of an epoch.

use std::sync::Arc;

use dissensus_core::{Scale, philox::Stream};
use rayon::prelude::*;

use super::prepared::EpochRows;
use super::{Delivers, DeliveryEntry, Kind, method};
use crate::params::Given;
use crate::{LabelError, Setting, Source, streams};

pub(super) const ENTRY: DeliveryEntry = DeliveryEntry {
    name: "soft_noise",
    title: "soft labels with noise",
    description: "the annotator distribution with Gaussian noise of SLS's covariance, a control",
    formula: "p_i + xi, drawn anew in every epoch: xi has the mean 0 and the covariance \
           scale^2 (Diag(p_i) - p_i p_i^T)",
    delivers: Delivers::EpochDistributions,
    scales: Scale::ONE_LABEL,
    needs_counts: false,
    settings: &[SCALE],
    make: |given| {
        let scale = scale(given)?;
        Ok(method(move |source, seed| Noise::kind(source, seed, scale, Shape::Labels(None))))
    },
};

pub(super) const SCALE: Setting = Setting {
    name: "scale",
    description: "the standard deviation of the noise, in that of SLS",
    default: "1",
    expected: "a number from 0 to 10",
    came_later: false,
};

pub(super) fn scale(given: &mut Given) -> Result<f64, LabelError> {
    given.next(|scale| (0.0..=10.0).contains(scale))
}

/// Distributions, and the noise that an epoch adds to them.
pub(super) struct Noise {
    rows: Vec<f64>,
    classes: usize,
    keys: Arc<[u64]>,
    seed: u64,
    scale: f64,
    shape: Shape,
}

/// The covariance of the noise.
pub(super) enum Shape {
    /// That of labels drawn from the distributions themselves, or from these.
    Labels(Option<Vec<f64>>),
    /// The same variance in every direction, as much as drawn labels have.
    Isotropic,
}

impl EpochRows for Noise {
    fn fill(&self, epoch: u64, out: &mut Vec<f64>) {
        out.resize(self.rows.len(), 0.0);
        let items = out.par_chunks_exact_mut(self.classes).enumerate();
        items.with_min_len(256).for_each(|(place, out)| self.row(epoch, place, out));
    }

    fn row(&self, epoch: u64, place: usize, out: &mut [f64]) {
        let own = place * self.classes..(place + 1) * self.classes;
        let (key, p) = (self.keys[place], &self.rows[own.clone()]);
        match &self.shape {
            Shape::Labels(Some(others)) => self.labels(epoch, key, p, &others[own], out),
            Shape::Labels(None) => self.labels(epoch, key, p, p, out),
            Shape::Isotropic => self.isotropic(epoch, key, p, out),
        }
    }
}

impl Noise {
    pub(super) fn kind(
        source: &Source<'_>,
        seed: u64,
        scale: f64,
        shape: Shape,
    ) -> Result<Kind, LabelError> {
        source.check_memory("the array of soft labels", 1)?;
        Ok(Kind::Varying(Box::new(Noise {
            rows: source.distributions(),
            classes: source.classes().len().max(1),
            keys: Arc::clone(source.keys()),
            seed,
            scale,
            shape,
        })))
    }

    fn normal(&self, epoch: u64, key: u64, class: u64) -> f64 {
        Stream::new([self.seed, streams::NOISE], [key, epoch, class]).normal()
    }

    /// p with noise of the covariance of labels that are drawn from q.
    fn labels(&self, epoch: u64, key: u64, p: &[f64], q: &[f64], out: &mut [f64]) {
        let mut sum = 0.0;
        for ((class, &q), to) in (0..).zip(q).zip(out.iter_mut()) {
            // Classes without a share have no noise, and need no number for it.
            *to = 0.0;
            if q > 0.0 {
                *to = self.scale * q.sqrt() * self.normal(epoch, key, class);
                sum += *to;
            }
        }
        // In this order ξ is exactly 0 for q = 1, and p stays exactly p for s = 0.
        out.iter_mut().zip(p).zip(q).for_each(|((to, &p), &q)| *to = p + (*to - q * sum));
    }

    /// p with as much noise as labels drawn from it have, the same in every direction.
    fn isotropic(&self, epoch: u64, key: u64, p: &[f64], out: &mut [f64]) {
        let trace = (1.0 - p.iter().map(|p| p * p).sum::<f64>()).max(0.0);
        let deviation = self.scale * (trace / (p.len().max(2) - 1) as f64).sqrt();
        if deviation == 0.0 {
            return out.copy_from_slice(p);
        }
        (0..).zip(out.iter_mut()).for_each(|(class, to)| *to = self.normal(epoch, key, class));
        let mean = out.iter().sum::<f64>() / p.len() as f64;
        out.iter_mut().zip(p).for_each(|(to, &p)| *to = p + deviation * (*to - mean));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{counted, shares};
    use crate::{Delivery, EpochBuffer, EpochTargets, LabelError, Prepared, Source};

    fn rows(prepared: &Prepared, epoch: u64) -> Vec<f64> {
        let mut buffer = EpochBuffer::default();
        let targets = prepared.targets_at(epoch, &mut buffer);
        let EpochTargets::Distributions(rows) = targets else { panic!("distributions") };
        rows.to_vec()
    }

    fn prepared(text: &str, source: &Source<'_>, seed: u64) -> Prepared {
        text.parse::<Delivery>().unwrap().prepare(source, seed).unwrap()
    }

    #[test]
    fn without_noise_it_is_soft() {
        let many: Vec<Vec<u32>> = (0..900).map(|i| vec![i % 3, 1 + i % 5, i % 7, 0]).collect();
        let part = |i: u32| f64::from(i % 9) / 10.0;
        let some: Vec<Vec<f64>> = (0..90).map(|i| vec![part(i), 1.0 - part(i)]).collect();
        for table in [counted(&many), shares(&some)] {
            let source = Source::new(&table).unwrap();
            let (none, soft) = (prepared("soft_noise:scale=0", &source, 3), source.distributions());
            for epoch in [0, 1, 77] {
                let bits = |rows: &[f64]| rows.iter().map(|t| t.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&rows(&none, epoch)), bits(&soft));
            }
            let small = rows(&prepared("soft_noise:scale=0.001", &source, 3), 0);
            assert!(small != soft && small.iter().zip(&soft).all(|(a, b)| (a - b).abs() < 0.01));
        }
    }

    /// As large as the scale says, with negative entries, and none where votes agree.
    #[test]
    fn noise_is_scaled() {
        let table = counted(&[vec![1, 1, 2], vec![0, 7, 0], vec![9, 1, 0]]);
        let source = Source::new(&table).unwrap();
        let p = source.distributions();
        let noise = |scale: f64, epoch| -> Vec<f64> {
            let seen = rows(&prepared(&format!("soft_noise:scale={scale}"), &source, 3), epoch);
            assert_eq!(seen[3..6], [0.0, 1.0, 0.0]);
            assert_eq!(seen[8], 0.0);
            seen.iter().zip(&p).map(|(t, p)| t - p).collect()
        };
        let (one, ten) = (noise(1.0, 5), noise(10.0, 5));
        assert!(one.iter().zip(&ten).all(|(a, b)| (10.0 * a - b).abs() < 1e-12), "{one:?} {ten:?}");
        assert!(ten.iter().zip(&p).any(|(xi, p)| p + xi < 0.0) && ten.iter().any(|xi| *xi > 1.0));
        assert_ne!(one, noise(1.0, 6));
        assert_ne!(one, noise(1.0, u64::MAX));
    }

    /// The same target for the same id, whatever the others, and another for another id or seed.
    #[test]
    fn noise_belongs_to_ids() {
        let table = counted(&vec![vec![2, 1, 1]; 700]);
        let source = Source::new(&table).unwrap();
        let all = prepared("soft_noise", &source, 3);
        let order: Vec<usize> = (0..40).map(|i| i * 17 % 700).collect();
        let some = prepared("soft_noise", &source.select(&order).unwrap(), 3);
        for epoch in [0, 9] {
            let (all, some) = (rows(&all, epoch), rows(&some, epoch));
            for (at, &place) in order.iter().enumerate() {
                assert_eq!(some[3 * at..][..3], all[3 * place..][..3]);
            }
            let mut bits: Vec<u64> = all.iter().map(|t| t.to_bits()).collect();
            bits.sort_unstable();
            bits.dedup();
            assert_eq!(bits.len(), all.len());
            assert_ne!(all, rows(&prepared("soft_noise", &source, 4), epoch));
        }
    }

    #[test]
    fn it_says_what_it_is() {
        let table = counted(&[vec![1, 2]]);
        let noisy = prepared("soft_noise", &Source::new(&table).unwrap(), 3);
        assert_eq!(noisy.delivery().to_string(), "soft_noise:scale=1");
        assert_eq!((noisy.targets(), noisy.mixing()), (None, None));
        assert_eq!((noisy.draw_of(0), noisy.draw_of(8), noisy.listed()), (0, 8, None));
        let error = LabelError::NotHard { delivery: "soft_noise:scale=1".into() };
        assert_eq!(noisy.label(0, 0), Err(error.clone()));
        assert_eq!(noisy.epoch(0, &mut [0]), Err(error.clone()));
        assert_eq!(noisy.epochs().unwrap_err(), error);
        for bad in ["-1", "10.5", "NaN", "inf", "x"] {
            let error = format!("soft_noise:scale={bad}").parse::<Delivery>().unwrap_err();
            assert!(error.to_string().contains("expected a number from 0 to 10"), "{error}");
        }
    }

    /// The three shapes of noise: sums to 0, and over many draws the variances that each promises.
    #[test]
    fn noise_has_the_covariance_of_its_shape() {
        let table = counted(&[vec![6, 3, 1, 0], vec![10, 0, 0, 0]]);
        let source = Source::new(&table).unwrap();
        let p = source.distributions();
        let variances = |text: &str| -> Vec<f64> {
            let prepared = prepared(text, &source, 3);
            let mut sums = vec![0.0; 8];
            for epoch in 0..20_000 {
                let noise: Vec<f64> =
                    rows(&prepared, epoch).iter().zip(&p).map(|(t, p)| t - p).collect();
                assert!(noise.chunks(4).all(|row| row.iter().sum::<f64>().abs() < 1e-12));
                sums.iter_mut().zip(&noise).for_each(|(sum, xi)| *sum += xi * xi / 20_000.0);
            }
            sums
        };
        let near = |seen: &[f64], expected: &[f64]| {
            assert!(
                seen.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01),
                "{seen:?} {expected:?}"
            );
        };
        let own = [0.24, 0.21, 0.09, 0.0];
        near(&variances("soft_noise"), &[own, [0.0; 4]].concat());
        // Its trace, 0.54, is spread over all classes.
        near(&variances("isotropic_noise"), &[[0.135; 4], [0.0; 4]].concat());
        near(&variances("isotropic_noise:scale=0.5"), &[[0.135 / 4.0; 4], [0.0; 4]].concat());
        // Two items: under some seed they exchange their noise.
        let swapped = (0..20)
            .find(|&seed| rows(&prepared("shuffled_noise", &source, seed), 0)[..4] == p[..4]);
        let shuffled = prepared("shuffled_noise", &source, swapped.unwrap());
        let seen = rows(&shuffled, 1);
        assert_eq!(seen[..4], p[..4]);
        assert!(seen[4..7].iter().zip(&p[4..7]).all(|(a, b)| a != b) && seen[7] == 0.0);
    }
}
