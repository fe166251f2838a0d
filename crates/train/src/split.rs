//! Which items are trained on, and which are held out.
//!
//! Items are ordered by the word u_i of Philox4x64-10 under the key (seed, [`SPLIT`]) at the
//! counter (0, key of i, 0, 0), class by class where the split is stratified, and cut into parts:
//! n_s items of class s give part j ⌊n_s w_j⌋ or ⌈n_s w_j⌉ items, and all n items ⌊n w_j⌋ or
//! ⌈n w_j⌉, where w are the shares. An item's key is that of
//! [`example_key`](dissensus_labels::example_key), so that the split depends on the seed, on ids,
//! classes and shares, and on nothing else: not on the order of rows.
//!
//! Shares are taken to the nearest billionth and are whole numbers from there on: no rounding of
//! floating point decides where an item goes.
//!
//! In numpy, with the lines of [`streams`](dissensus_labels::streams):
//!
//! ```python
//! def place(id, seed):  # items of a class are sorted by this
//!     return philox(seed, b"split", [0, example_key(id), 0, 0]).random_raw()
//! ```

mod apportion;

use std::collections::BTreeMap;

use dissensus_core::philox::{block, stream};
use thiserror::Error;

use apportion::apportion;

/// The stream of splits.
pub const SPLIT: u64 = stream(b"split");

/// What the sum of shares may miss 1 by: the rounding of floating point, and of a sixth decimal.
const SLACK: f64 = 1e-6;
/// Shares are counted in billionths.
const BILLION: f64 = 1e9;

/// Why items cannot be split.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SplitError {
    /// Another number of keys than of items.
    #[error("{keys} keys for {items} items; give every item's key, in the same order")]
    Keys {
        /// How many keys came.
        keys: usize,
        /// How many items there are.
        items: usize,
    },
    /// Shares that are not parts of one whole.
    #[error("the shares are {shares:?}; expected numbers above 0 that sum to 1, as in [0.8, 0.2]")]
    Shares {
        /// What came.
        shares: Vec<f64>,
    },
    /// A part that would be empty.
    #[error(
        "{items} items with votes are too few for the shares {shares:?}: part {part} would be \
         empty; use more items, or larger shares"
    )]
    Empty {
        /// How many items could be split.
        items: usize,
        /// The shares.
        shares: Vec<f64>,
        /// The part, from 1.
        part: usize,
    },
}

/// Whether these are shares: above 0, with the sum 1.
pub fn are_shares(shares: &[f64]) -> bool {
    let sum: f64 = shares.iter().sum();
    shares.iter().all(|&share| share * BILLION >= 1.0) && (sum - 1.0).abs() <= SLACK
}

/// Splits items into parts of these shares: the places of each part's items, ascending.
///
/// `classes` has the majority class of every item and `keys` its key, both by place.
///
/// ```
/// use dissensus_train::split;
/// let keys: Vec<u64> = (0..10).map(|i| dissensus_labels::example_key(&i.to_string())).collect();
/// let classes: Vec<u32> = (0..10).map(|i| i % 2).collect();
/// let parts = split(&classes, &keys, &[0.8, 0.2], true, 7)?;
/// assert_eq!((parts[0].len(), parts[1].len()), (8, 2));
/// # Ok::<(), dissensus_train::SplitError>(())
/// ```
pub fn split(
    classes: &[u32],
    keys: &[u64],
    shares: &[f64],
    stratify: bool,
    seed: u64,
) -> Result<Vec<Vec<usize>>, SplitError> {
    if keys.len() != classes.len() {
        return Err(SplitError::Keys { keys: keys.len(), items: classes.len() });
    }
    if !are_shares(shares) {
        return Err(SplitError::Shares { shares: shares.to_vec() });
    }
    let mut strata: BTreeMap<u32, Vec<(u64, u64, usize)>> = BTreeMap::new();
    for (place, (&class, &key)) in classes.iter().zip(keys).enumerate() {
        let [word, ..] = block([seed, SPLIT], [0, key, 0, 0]);
        strata.entry(if stratify { class } else { 0 }).or_default().push((word, key, place));
    }

    let sizes: Vec<usize> = strata.values().map(Vec::len).collect();
    let weights: Vec<u64> = shares.iter().map(|share| (share * BILLION).round() as u64).collect();
    let mut parts = vec![Vec::new(); shares.len()];
    for (mut stratum, counts) in strata.into_values().zip(apportion(&sizes, &weights)) {
        stratum.sort_unstable();
        let mut rest = stratum.into_iter().map(|(.., place)| place);
        for (part, count) in parts.iter_mut().zip(counts) {
            part.extend(rest.by_ref().take(count));
        }
    }
    if let Some(part) = parts.iter().position(Vec::is_empty) {
        let (items, shares) = (classes.len(), shares.to_vec());
        return Err(SplitError::Empty { items, shares, part: part + 1 });
    }
    parts.iter_mut().for_each(|part| part.sort_unstable());
    Ok(parts)
}
