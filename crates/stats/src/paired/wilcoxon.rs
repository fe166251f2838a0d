//! Wilcoxon's signed-rank test, exact also with ties and zeros.
//!
//! W⁺ is the sum of the ranks of |d| over positive differences d, W⁻ over negative ones. The exact
//! p comes from all 2ⁿ sign patterns (see [`super::signed_ranks`]); scipy's `method="exact"`
//! assumes plain ranks, its `PermutationMethod` agrees with this. Where that is out of reach,
//!
//! z = (W⁺ − W⁻) / 2 / √(Σ r² / 4)
//!
//! is taken as normal; the sum over squared midranks is what the usual tie correction amounts to.
//! As in scipy, `zsplit` counts the zeros' ranks in that sum. F. Wilcoxon (1945); J. W. Pratt
//! (1959); E. E. Cureton, *The normal approximation to the signed-rank sampling distribution when
//! zero differences are present* (1967).

use serde::{Deserialize, Serialize};

use super::signed_ranks::{SignedRanks, ZeroMethod, lower_tail};
use crate::special::normal_sf;
use crate::{Alternative, StatsError, Undefined, check};

/// Up to so many pairs that differ, [`WilcoxonMethod::Auto`] is exact.
pub const AUTO_EXACT_LIMIT: usize = 200;
/// Up to so many pairs that differ, [`WilcoxonMethod::Exact`] answers.
pub const EXACT_LIMIT: usize = 1000;
/// The additions that each of the two may take. Only `pratt` and `zsplit` on many zeros, whose
/// ranks are large, come near.
const AUTO_CELLS: u64 = 1 << 26;
const CELLS: u64 = 1 << 30;

/// Which distribution to compare with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WilcoxonMethod {
    /// Exact where that is quick, else normal.
    #[default]
    Auto,
    /// Exact, or an error.
    Exact,
    /// The normal approximation.
    Normal,
}

/// Which distribution a p came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NullDistribution {
    /// All sign patterns.
    Exact,
    /// The normal approximation.
    Normal,
}

/// How to test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct WilcoxonSettings {
    /// The side.
    pub alternative: Alternative,
    /// What becomes of zero differences.
    pub zeros: ZeroMethod,
    /// Exact or approximate.
    pub method: WilcoxonMethod,
    /// Whether the normal approximation moves W⁺ by ½ towards its mean.
    pub continuity: bool,
    /// If given, differences are rounded to multiples of this before they are ranked, so that
    /// scores such as k/n tie where they should: 0.3 − 0.2 is not 0.2 − 0.1 in floating point.
    pub resolution: Option<f64>,
}

/// What the test found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WilcoxonResult {
    /// How it was tested.
    pub settings: WilcoxonSettings,
    /// Pairs given.
    pub n: usize,
    /// Of these, without a difference.
    pub n_zero: usize,
    /// Of these, with a difference: the signs that the null distribution flips.
    pub n_used: usize,
    /// Of those with a difference, how many share its size with another.
    pub n_tied: usize,
    /// The rank sum of positive differences, W⁺.
    pub w_plus: f64,
    /// The rank sum of negative differences, W⁻.
    pub w_minus: f64,
    /// The normal deviate, where the approximation was used.
    pub z: Option<f64>,
    pub p: Option<f64>,
    /// Where the p value came from.
    pub null: Option<NullDistribution>,
    /// Why there is no p.
    pub undefined: Option<Undefined>,
}

/// Tests whether differences are symmetric about zero.
pub fn wilcoxon(
    differences: &[f64],
    settings: &WilcoxonSettings,
) -> Result<WilcoxonResult, StatsError> {
    check::finite("differences", differences)?;
    let ranks = SignedRanks::new(differences, settings.zeros, settings.resolution)?;
    let (w_plus, w_minus) = ranks.sums();
    let mut result = WilcoxonResult {
        settings: *settings,
        n: differences.len(),
        n_zero: ranks.n_zero,
        n_used: ranks.doubled.len(),
        n_tied: ranks.n_tied,
        w_plus,
        w_minus,
        z: None,
        p: None,
        null: None,
        undefined: None,
    };
    if result.n_used == 0 {
        result.undefined = Some(Undefined::NoDifferences);
    } else if exact(&ranks, settings.method)? {
        let less = lower_tail(&ranks.doubled, ranks.plus);
        let greater = lower_tail(&ranks.doubled, ranks.minus);
        result.p = Some(settings.alternative.p(less, greater));
        result.null = Some(NullDistribution::Exact);
    } else {
        let z = deviate(&ranks, settings);
        result.z = Some(z);
        result.p = Some(settings.alternative.p(normal_sf(-z), normal_sf(z)));
        result.null = Some(NullDistribution::Normal);
    }
    Ok(result)
}

fn exact(ranks: &SignedRanks, method: WilcoxonMethod) -> Result<bool, StatsError> {
    let (n, cells) = (ranks.doubled.len(), ranks.cells());
    match method {
        WilcoxonMethod::Normal => Ok(false),
        WilcoxonMethod::Auto => Ok(n <= AUTO_EXACT_LIMIT && cells <= AUTO_CELLS),
        WilcoxonMethod::Exact if n <= EXACT_LIMIT && cells <= CELLS => Ok(true),
        WilcoxonMethod::Exact => {
            let instead = "the normal approximation";
            let (n, unit, limit) = match n > EXACT_LIMIT {
                true => (n as u64, "pairs", EXACT_LIMIT as u64),
                false => (cells, "additions over ranks this large", CELLS),
            };
            Err(StatsError::ExactOutOfReach { n, unit, limit, instead })
        }
    }
}

fn deviate(ranks: &SignedRanks, settings: &WilcoxonSettings) -> f64 {
    // Doubled ranks squared and summed in whole numbers: exact for any slice that fits in memory.
    let flipped = ranks.doubled.iter().chain(&ranks.zeros);
    let squares: u128 = flipped.map(|&rank| u128::from(rank) * u128::from(rank)).sum();
    let sd = (squares as f64).sqrt() / 4.0;
    let distance = (ranks.plus as f64 - ranks.minus as f64) / 4.0;
    let towards = match (settings.continuity, settings.alternative) {
        (false, _) => 0.0,
        (true, Alternative::Greater) => 0.5,
        (true, Alternative::Less) => -0.5,
        (true, Alternative::TwoSided) if distance == 0.0 => 0.0,
        (true, Alternative::TwoSided) => 0.5f64.copysign(distance),
    };
    (distance - towards) / sd
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(differences: &[f64], settings: WilcoxonSettings) -> WilcoxonResult {
        wilcoxon(differences, &settings).unwrap()
    }

    #[test]
    fn nothing_to_test_is_undefined() {
        for zeros in ZeroMethod::ALL {
            let result = run(&[0.0, -0.0], WilcoxonSettings { zeros, ..Default::default() });
            assert_eq!((result.p, result.undefined), (None, Some(Undefined::NoDifferences)));
            assert_eq!((result.n, result.n_zero, result.n_used), (2, 2, 0));
        }
        let bad = wilcoxon(&[1.0, f64::NAN], &WilcoxonSettings::default());
        assert!(matches!(bad, Err(StatsError::NotFinite { index: 1, .. })));
    }

    #[test]
    fn a_resolution_restores_ties() {
        let differences = [0.3 - 0.2, 0.2 - 0.1, -(0.4 - 0.3), 0.5];
        assert_eq!(run(&differences, WilcoxonSettings::default()).n_tied, 0);
        let mut settings = WilcoxonSettings { resolution: Some(1e-9), ..Default::default() };
        let result = run(&differences, settings);
        assert_eq!((result.n_tied, result.w_plus, result.w_minus), (3, 8.0, 2.0));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320] {
            settings.resolution = Some(bad);
            let refused = wilcoxon(&differences, &settings);
            assert!(matches!(refused, Err(StatsError::Setting { name: "resolution", .. })));
        }
    }

    #[test]
    fn the_limits_of_exactness() {
        let ramp = |n: usize| (1..=n).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 } * i as f64);
        let null = |n, method| {
            let differences: Vec<f64> = ramp(n).collect();
            wilcoxon(&differences, &WilcoxonSettings { method, ..Default::default() })
                .map(|result| result.null)
        };
        assert_eq!(null(200, WilcoxonMethod::Auto), Ok(Some(NullDistribution::Exact)));
        assert_eq!(null(201, WilcoxonMethod::Auto), Ok(Some(NullDistribution::Normal)));
        assert_eq!(null(201, WilcoxonMethod::Exact), Ok(Some(NullDistribution::Exact)));
        let beyond = null(1001, WilcoxonMethod::Exact);
        assert!(matches!(beyond, Err(StatsError::ExactOutOfReach { n: 1001, .. })));
        let mut mostly_zero = vec![0.0; 3_000_000];
        mostly_zero.extend(ramp(190));
        let mut settings = WilcoxonSettings { zeros: ZeroMethod::Pratt, ..Default::default() };
        assert_eq!(run(&mostly_zero, settings).null, Some(NullDistribution::Normal));
        settings.method = WilcoxonMethod::Exact;
        assert!(wilcoxon(&mostly_zero, &settings).is_err());
    }

    /// W⁺ by definition: midranks by counting, zeros as stated.
    fn naive_w_plus(differences: &[f64], zeros: ZeroMethod) -> f64 {
        let ranked: Vec<f64> = differences
            .iter()
            .copied()
            .filter(|d| *d != 0.0 || zeros != ZeroMethod::Wilcox)
            .collect();
        let count = |test: &dyn Fn(f64) -> bool| ranked.iter().filter(|d| test(d.abs())).count();
        let rank = |d: f64| {
            let (below, equal) = (count(&|e| e < d.abs()), count(&|e| e == d.abs()));
            below as f64 + (equal as f64 + 1.0) / 2.0
        };
        let share = |d: f64| match zeros {
            _ if d > 0.0 => 1.0,
            ZeroMethod::Zsplit if d == 0.0 => 0.5,
            _ => 0.0,
        };
        ranked.iter().map(|&d| share(d) * rank(d)).sum()
    }

    /// p from every one of the 2ⁿ ways to flip the signs of the differences.
    fn brute_force(differences: &[f64], settings: WilcoxonSettings) -> f64 {
        let observed = naive_w_plus(differences, settings.zeros);
        let patterns = 1u32 << differences.len();
        let (mut less, mut greater) = (0u32, 0u32);
        for bits in 0..patterns {
            let sign = |i: usize| if bits >> i & 1 == 1 { -1.0 } else { 1.0 };
            let flipped: Vec<f64> =
                differences.iter().enumerate().map(|(i, d)| sign(i) * d).collect();
            let sum = naive_w_plus(&flipped, settings.zeros);
            less += u32::from(sum <= observed);
            greater += u32::from(sum >= observed);
        }
        let patterns = f64::from(patterns);
        settings.alternative.p(f64::from(less) / patterns, f64::from(greater) / patterns)
    }

    proptest! {
        // A case of ten pairs takes a thousand patterns.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn exact_is_brute_force(
            differences in prop::collection::vec(-4i8..=4, 1..=10), zeros in 0..3usize,
        ) {
            let differences: Vec<f64> = differences.into_iter().map(f64::from).collect();
            prop_assume!(differences.iter().any(|d| *d != 0.0));
            for alternative in Alternative::ALL {
                let zeros = ZeroMethod::ALL[zeros];
                let settings = WilcoxonSettings { alternative, zeros, ..Default::default() };
                let p = run(&differences, settings).p.unwrap();
                prop_assert_eq!(p, brute_force(&differences, settings));
            }
        }

        #[test]
        fn swapping_the_sides_swaps_the_test(
            differences in prop::collection::vec(-9i8..=9, 1..40), normal: bool, continuity: bool,
        ) {
            let differences: Vec<f64> = differences.into_iter().map(f64::from).collect();
            let negated: Vec<f64> = differences.iter().map(|d| -d).collect();
            let method = if normal { WilcoxonMethod::Normal } else { WilcoxonMethod::Exact };
            for alternative in Alternative::ALL {
                let settings =
                    WilcoxonSettings { alternative, method, continuity, ..Default::default() };
                let swapped = WilcoxonSettings { alternative: alternative.swapped(), ..settings };
                let (a, b) = (run(&differences, settings), run(&negated, swapped));
                prop_assert_eq!(a.p, b.p);
                prop_assert_eq!((a.w_plus, a.w_minus), (b.w_minus, b.w_plus));
            }
        }
    }
}
