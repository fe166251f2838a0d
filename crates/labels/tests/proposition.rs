//! Labels drawn from p train towards p: for y ~ p, q = softmax(z) and ℓ = −ln q_y,
//!
//! * E[ℓ] = H(p, q) = −Σ p_k ln q_k
//! * E[∇_z ℓ] = q − p, where ∇_z ℓ = q − e_y
//! * Cov[∇_z ℓ] = Diag(p) − ppᵀ
//! * E‖q − e_y‖² = ‖q − p‖² + 1 − ‖p‖²
//!
//! Exactly, by summing over the classes (1e-12), and by the labels that `sls` delivers, where a
//! mean of n draws may be off by 5 of its standard deviations σ/√n. σ is that of the very quantity,
//! computed from p.
//!
//! And `soft_noise` adds to p a noise ξ of that very covariance, times its scale squared: the
//! gradient of −Σ (p + ξ)_k ln q_k is q − p − ξ.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dissensus_core::philox::Stream;
use dissensus_core::{ClassSet, Counts, Ids, VoteTable};
use dissensus_labels::{Delivery, EpochBuffer, EpochTargets, Prepared, Source};

const K: usize = 5;
const N: u64 = 40_000;

/// Counts and logits; in some, classes without votes.
fn cases() -> Vec<([u32; K], [f64; K])> {
    let mut stream = Stream::new([2, 0], [0; 3]);
    let counts =
        [[1, 1, 1, 1, 1], [7, 2, 1, 0, 0], [0, 0, 9, 0, 0], [50, 1, 0, 0, 1], [3, 0, 4, 0, 5]];
    counts.map(|c| (c, [0; K].map(|_| 2.0 * stream.normal()))).to_vec()
}

fn softmax(z: &[f64; K]) -> [f64; K] {
    let total: f64 = z.iter().map(|z| z.exp()).sum();
    z.map(|z| z.exp() / total)
}

/// Everything that the proposition speaks of, for one label: the loss, the gradient, its products
/// about q − p, and the squared distance.
fn quantities(y: usize, p: &[f64; K], q: &[f64; K]) -> Vec<f64> {
    let gradient: Vec<f64> = (0..K).map(|k| q[k] - f64::from(u8::from(k == y))).collect();
    let centred: Vec<f64> = (0..K).map(|k| gradient[k] - (q[k] - p[k])).collect();
    let products = (0..K * K).map(|c| centred[c / K] * centred[c % K]);
    let distance = gradient.iter().map(|g| g * g).sum();
    [-q[y].ln(), distance].into_iter().chain(gradient.iter().copied()).chain(products).collect()
}

/// What the proposition says they are on average.
fn claimed(p: &[f64; K], q: &[f64; K]) -> Vec<f64> {
    let entropy: f64 = -(0..K).map(|k| p[k] * q[k].ln()).sum::<f64>();
    let gap: f64 = (0..K).map(|k| (q[k] - p[k]).powi(2)).sum();
    let distance = gap + 1.0 - p.iter().map(|p| p * p).sum::<f64>();
    let gradient = (0..K).map(|k| q[k] - p[k]);
    let covariance = (0..K * K).map(|c| {
        let (row, column) = (c / K, c % K);
        if row == column { p[row] - p[row] * p[row] } else { -p[row] * p[column] }
    });
    [entropy, distance].into_iter().chain(gradient).chain(covariance).collect()
}

#[test]
fn exactly_by_enumeration() {
    for (counts, z) in cases() {
        let total: u32 = counts.iter().sum();
        let (p, q) = (counts.map(|c| f64::from(c) / f64::from(total)), softmax(&z));
        let mut means = vec![0.0; 2 + K + K * K];
        for y in 0..K {
            let of = quantities(y, &p, &q);
            means.iter_mut().zip(of).for_each(|(mean, value)| *mean += p[y] * value);
        }
        for (at, (mean, claim)) in means.iter().zip(claimed(&p, &q)).enumerate() {
            assert!((mean - claim).abs() < 1e-12, "{counts:?} {at}: {mean}, not {claim}");
        }
    }
}

fn prepared(text: &str, cases: &[([u32; K], [f64; K])]) -> Prepared {
    let mut counts = Counts::new();
    cases.iter().for_each(|(c, _)| counts.push((0..).zip(*c)).unwrap());
    let table =
        VoteTable::from_counts(ClassSet::numbered(K).unwrap(), Ids::positions(cases.len()), counts)
            .unwrap();
    let delivery: Delivery = text.parse().unwrap();
    delivery.prepare(&Source::new(&table).unwrap(), 2024).unwrap()
}

#[test]
fn by_the_labels_that_sls_delivers() {
    let cases = cases();
    let prepared = prepared("sls", &cases);
    for (item, (counts, z)) in cases.iter().enumerate() {
        let total: u32 = counts.iter().sum();
        let (p, q) = (counts.map(|c| f64::from(c) / f64::from(total)), softmax(z));
        let all: Vec<Vec<f64>> = (0..K).map(|y| quantities(y, &p, &q)).collect();
        let mut seen = [0.0; K];
        (0..N).for_each(|t| seen[prepared.label(t, item).unwrap() as usize] += 1.0);
        for (at, claim) in claimed(&p, &q).into_iter().enumerate() {
            let mean = |weight: &dyn Fn(usize) -> f64| (0..K).map(weight).sum::<f64>();
            let variance = mean(&|y| p[y] * (all[y][at] - claim).powi(2));
            let drawn = mean(&|y| seen[y] / N as f64 * all[y][at]);
            let allowed = 5.0 * (variance / N as f64).sqrt() + 1e-12;
            assert!((drawn - claim).abs() <= allowed, "{counts:?} {at}: {drawn}, not {claim}");
        }
    }
}

/// With C = s² (Diag(p) − ppᵀ), ξ_j is normal of variance C_jj, ξ_j ξ_k has the mean C_jk and the
/// variance C_jj C_kk + C_jk², and the product of ξ_j with ξ_k of the epoch before the mean 0 and
/// the variance C_jj C_kk.
#[test]
fn by_the_targets_that_soft_noise_delivers() {
    // Two with the same votes, whose noise must not be the same, and one of each kind.
    let mut cases = cases();
    cases.push(cases[1]);
    for scale in [1.0, 0.25] {
        let prepared = prepared(&format!("soft_noise:scale={scale}"), &cases);
        let width = cases.len() * K;
        let (mut means, mut products) = (vec![0.0; width], vec![0.0; width * K]);
        let (mut lagged, mut across) = (vec![0.0; width * K], [0.0; K * K]);
        let (mut buffer, mut before) = (EpochBuffer::default(), vec![0.0; width]);
        for t in 0..N {
            let EpochTargets::Distributions(rows) = prepared.targets_at(t, &mut buffer) else {
                panic!("labels")
            };
            let mut noise = Vec::with_capacity(width);
            for ((counts, _), row) in cases.iter().zip(rows.chunks(K)) {
                let total: u32 = counts.iter().sum();
                let p = counts.map(|c| f64::from(c) / f64::from(total));
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{row:?}");
                assert!(p.contains(&1.0) <= (row == p), "{row:?}");
                noise.extend(row.iter().zip(p).map(|(t, p)| t - p));
            }
            for (at, xi) in noise.iter().enumerate() {
                means[at] += xi / N as f64;
                let own = at / K * K;
                for other in 0..K {
                    products[at * K + other] += xi * noise[own + other] / N as f64;
                    lagged[at * K + other] += xi * before[own + other] / N as f64;
                }
            }
            for (at, sum) in across.iter_mut().enumerate() {
                *sum += noise[K + at / K] * noise[width - K + at % K] / N as f64;
            }
            before = noise;
        }
        let near = |found: f64, wanted: f64, variance: f64, what: &str| {
            let allowed = 5.0 * (variance / N as f64).sqrt() + 1e-12;
            assert!((found - wanted).abs() <= allowed, "{what}: {found}, not {wanted} ± {allowed}");
        };
        for (item, (counts, z)) in cases.iter().enumerate() {
            let total: u32 = counts.iter().sum();
            let p = counts.map(|c| f64::from(c) / f64::from(total));
            let claims = claimed(&p, &softmax(z));
            let c = |j: usize, k: usize| scale * scale * claims[2 + K + j * K + k];
            for (j, k) in (0..K * K).map(|at| (at / K, at % K)) {
                let at = (item * K + j) * K + k;
                near(means[item * K + j], 0.0, c(j, j), &format!("{counts:?}, mean {j}"));
                let both = c(j, j) * c(k, k);
                let what = format!("{counts:?}, covariance {j} {k}");
                near(products[at], c(j, k), both + c(j, k).powi(2), &what);
                near(lagged[at], 0.0, both, &format!("{counts:?}, next epoch {j} {k}"));
                if item == 1 {
                    near(across[j * K + k], 0.0, both, &format!("another item {j} {k}"));
                }
            }
        }
    }
}
