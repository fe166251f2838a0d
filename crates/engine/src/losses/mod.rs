//! The losses, one file per loss, in one list.
//!
//! A loss compares the outputs z of a network for one example with a target p, one number per class. A
//! target sums to 1: it is a class, the shares of votes, or such shares with noise, which may be negative
//! in places. Each file has the value and its gradient at the outputs, the tangent of that gradient for
//! Hessian products, and the noise that a label adds to the gradient when it is drawn from p. The GPU's
//! kernels are `cuda/kernels/flat.cu` (the cross-entropy) and `cuda/kernels/losses`.

mod binary_cross_entropy;
mod cross_entropy;
mod rps;

use serde::{Deserialize, Serialize};

use crate::scalar::{Real, inner};

pub(crate) use binary_cross_entropy::log_sigmoid;

/// The names of [`LOSSES`], in their order.
pub const LOSS_NAMES: &[&str] = &{
    let mut names = [""; LOSSES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = LOSSES[at].name;
        at += 1;
    }
    names
};

/// One line per loss: its variant, and its module.
macro_rules! losses {
    ($($(#[$about:meta])* $loss:ident: $module:ident),* $(,)?) => {
        /// How far the outputs of a network are from a target.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Loss {
            $($(#[$about])* $loss,)*
        }

        /// The losses, in the order of [`Loss`]. The first is the default of a spec.
        pub const LOSSES: &[LossEntry] = &[$($module::ENTRY),*];

        impl Loss {
            /// The loss of one example with the outputs z and the target p; `dz` becomes its gradient at
            /// the outputs times `weight`. All have one number per class.
            pub fn value<F: Real>(self, z: &[F], p: &[F], weight: F, dz: &mut [F]) -> F {
                match self {
                    $(Self::$loss => $module::value(z, p, weight, dz),)*
                }
            }

            /// `tdz` becomes the tangent of the gradient `dz` along ż, where `dz` and `weight` are those
            /// of [`Loss::value`].
            pub fn tangent<F: Real>(self, z: &[F], tz: &[F], dz: &[F], weight: F, tdz: &mut [F]) {
                match self {
                    $(Self::$loss => $module::tangent(z, tz, dz, weight, tdz),)*
                }
            }

            /// The trace of the covariance of the gradient at the outputs when the target is one class,
            /// drawn from the probabilities p. The mean of these gradients is the gradient at p, whatever
            /// the loss.
            pub fn noise_variance(self, z: &[f64], p: &[f64]) -> f64 {
                match self {
                    $(Self::$loss => $module::noise_variance(z, p),)*
                }
            }
        }
    };
}

losses! {
    /// Softmax cross-entropy.
    #[default]
    CrossEntropy: cross_entropy,
    /// Binary cross-entropy of each class.
    BinaryCrossEntropy: binary_cross_entropy,
    /// The ranked probability score of classes in their order.
    Rps: rps,
}

/// How outputs become probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// All together: exp z_k / Σ exp z.
    Softmax,
    /// Each by itself: 1 / (1 + exp −z_k).
    Sigmoid,
}

/// A loss of the list.
#[derive(Clone, Copy, Debug)]
pub struct LossEntry {
    pub loss: Loss,
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// How its outputs become probabilities.
    pub link: Link,
    /// Whether it compares classes in their order.
    pub ordered: bool,
    /// Whether the noise of drawn labels depends on the outputs; where it does not, its variance is
    /// 1 − ‖p‖².
    pub noise_depends_on_outputs: bool,
}

impl Loss {
    /// Its entry in the list.
    pub fn entry(self) -> &'static LossEntry {
        &LOSSES[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        LOSSES.iter().find(|entry| entry.name == name).map(|entry| entry.loss)
    }

    /// How its outputs become probabilities.
    pub fn link(self) -> Link {
        self.entry().link
    }

    /// Whether it is the default of a spec.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether [`Loss::noise_variance`] depends on the outputs; where it does not, it is 1 − ‖p‖².
    pub fn noise_depends_on_outputs(self) -> bool {
        self.entry().noise_depends_on_outputs
    }
}

/// The trace of the covariance of e_y for a class y drawn from p.
fn of_one_label(p: &[f64]) -> f64 {
    1.0 - inner(p, p)
}

#[cfg(test)]
mod tests {
    use dissensus_core::philox::Stream;

    use super::*;

    const K: usize = 6;

    /// Outputs, a direction of theirs, and a target.
    type Case = ([f64; K], [f64; K], [f64; K]);

    /// Targets are probabilities, a class, and shares with noise.
    fn cases() -> Vec<Case> {
        let mut draw = Stream::new([11, 0], [0; 3]);
        let targets = [
            [0.1, 0.2, 0.3, 0.15, 0.05, 0.2],
            [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            [0.5, -0.25, 0.5, 0.5, -0.5, 0.25],
            [0.5, 0.0, 0.0, 0.0, 0.0, 0.5],
        ];
        let normal = |draw: &mut Stream| [0; K].map(|_| 2.0 * draw.normal());
        targets.map(|p| (normal(&mut draw), normal(&mut draw), p)).to_vec()
    }

    fn gradient(loss: Loss, z: &[f64; K], p: &[f64; K]) -> [f64; K] {
        let mut dz = [0.0; K];
        loss.value(z, p, 1.0, &mut dz);
        dz
    }

    fn moved(z: &[f64; K], along: &[f64; K], by: f64) -> [f64; K] {
        std::array::from_fn(|k| z[k] + by * along[k])
    }

    #[test]
    fn the_list_is_that_of_the_variants() {
        for (at, entry) in LOSSES.iter().enumerate() {
            let loss = entry.loss;
            assert_eq!(loss as usize, at, "{}: its entry names another loss", entry.name);
            assert_eq!(serde_json::to_value(loss).unwrap(), entry.name);
            assert_eq!((Loss::named(entry.name), LOSS_NAMES[at]), (Some(loss), entry.name));
            assert!(!entry.description.is_empty() && !entry.description.contains('\n'));
        }
        assert!(Loss::named("hinge").is_none() && LOSSES[0].loss.is_default());
    }

    #[test]
    fn gradients_agree_with_differences_of_the_value() {
        for (loss, (z, along, p)) in pairs() {
            let dz = gradient(loss, &z, &p);
            let slope: f64 = dz.iter().zip(&along).map(|(d, a)| d * a).sum();
            let [up, down] =
                [1e-5, -1e-5].map(|by| loss.value(&moved(&z, &along, by), &p, 1.0, &mut [0.0; K]));
            let difference = (up - down) / 2e-5;
            assert!((slope - difference).abs() < 1e-8, "{loss:?}: {slope}, not {difference}");
            // A weight multiplies the gradient and not the value.
            let mut weighted = [0.0; K];
            let value = loss.value(&z, &p, 0.25, &mut weighted);
            assert_eq!(
                (value, weighted),
                (loss.value(&z, &p, 1.0, &mut [0.0; K]), dz.map(|d| d / 4.0))
            );
        }
    }

    #[test]
    fn tangents_agree_with_differences_of_the_gradient() {
        for (loss, (z, along, p)) in pairs() {
            let (mut dz, mut tdz) = ([0.0; K], [0.0; K]);
            loss.value(&z, &p, 0.5, &mut dz);
            loss.tangent(&z, &along, &dz, 0.5, &mut tdz);
            let [up, down] = [1e-5, -1e-5].map(|by| gradient(loss, &moved(&z, &along, by), &p));
            for (at, found) in tdz.iter().enumerate() {
                let difference = 0.5 * (up[at] - down[at]) / 2e-5;
                assert!((found - difference).abs() < 1e-8, "{loss:?}: {found}, not {difference}");
            }
            assert!(tdz.iter().any(|t| t.abs() > 1e-4), "{loss:?}: no tangent to compare");
        }
    }

    /// Labels drawn from p train towards p, whatever the loss: the mean of the gradients at the classes is
    /// the gradient at p, and the trace of their covariance is what the loss says. The mean of the values is
    /// the value at p, and for the ranked probability score Σ_k P_k (1 − P_k) more.
    #[test]
    fn drawn_labels_have_the_gradient_and_the_noise_of_their_distribution() {
        for (loss, (z, _, p)) in pairs() {
            if p.iter().any(|p| *p < 0.0) {
                continue;
            }
            let goal = gradient(loss, &z, &p);
            let (mut mean, mut variance, mut value) = ([0.0; K], 0.0, 0.0);
            for (class, &p) in p.iter().enumerate() {
                let (mut label, mut own) = ([0.0; K], [0.0; K]);
                label[class] = 1.0;
                value += p * loss.value(&z, &label, 1.0, &mut own);
                for ((mean, own), goal) in mean.iter_mut().zip(&own).zip(&goal) {
                    *mean += p * own;
                    variance += p * (own - goal) * (own - goal);
                }
            }
            let off = mean.iter().zip(&goal).fold(0.0f64, |off, (a, b)| off.max((a - b).abs()));
            assert!(off < 1e-14, "{loss:?}: the mean gradient is off by {off:e}");
            let found = loss.noise_variance(&z, &p);
            assert!((found - variance).abs() < 1e-14, "{loss:?}: {found}, not {variance}");
            if !loss.noise_depends_on_outputs() {
                assert_eq!(found, loss.noise_variance(&[0.0; K], &p), "{loss:?}");
            }
            let spread =
                |(sum, all): (f64, f64), p: &f64| (sum + p, all + (sum + p) * (1.0 - sum - p));
            let more = if loss == Loss::Rps { p.iter().fold((0.0, 0.0), spread).1 } else { 0.0 };
            let wanted = loss.value(&z, &p, 1.0, &mut [0.0; K]) + more;
            assert!((value - wanted).abs() < 1e-13, "{loss:?}: {value}, not {wanted}");
        }
    }

    #[test]
    fn single_precision_is_as_accurate_as_it_can_be() {
        for (loss, (z, along, p)) in pairs() {
            let narrow = |values: [f64; K]| values.map(|v| v as f32);
            let wide = |values: [f32; K]| values.map(f64::from);
            let (z, along, p) = (narrow(z), narrow(along), narrow(p));
            let (mut dz, mut tdz, mut true_tdz) = ([0.0f32; K], [0.0f32; K], [0.0; K]);
            let value = f64::from(loss.value(&z, &p, 1.0, &mut dz));
            loss.tangent(&z, &along, &dz, 1.0, &mut tdz);
            let mut true_dz = [0.0; K];
            let true_value = loss.value(&wide(z), &wide(p), 1.0, &mut true_dz);
            loss.tangent(&wide(z), &wide(along), &true_dz, 1.0, &mut true_tdz);
            let off = |a: [f32; K], b: [f64; K]| {
                (0..K).fold(0.0f64, |off, k| off.max((f64::from(a[k]) - b[k]).abs()))
            };
            let all = [(value - true_value).abs(), off(dz, true_dz), off(tdz, true_tdz)];
            assert!(all.iter().all(|off| *off < 4e-6), "{loss:?}: off by {all:?}");
        }
    }

    fn pairs() -> impl Iterator<Item = (Loss, Case)> {
        let losses = LOSSES.iter().map(|entry| entry.loss);
        losses.flat_map(|loss| cases().into_iter().map(move |case| (loss, case)))
    }
}
