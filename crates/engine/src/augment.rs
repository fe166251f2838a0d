//! Crops and flips, drawn for an example in an epoch: Philox of (seed, epoch, the example's key).

use dissensus_core::philox;
use serde::{Deserialize, Serialize};

use crate::device::Shift;
use crate::random::CROP;

/// How images are changed from epoch to epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Augment {
    /// Up to so many pixels in each direction: a random crop after padding by as many.
    pub crop: u8,
    /// Left and right are swapped half of the time.
    pub flip: bool,
}

impl Augment {
    /// The largest `crop`.
    pub const MAX_CROP: u8 = 63;

    /// True when it changes nothing.
    pub fn is_none(&self) -> bool {
        self.crop == 0 && !self.flip
    }

    /// How the image of the example with this key is changed in this epoch.
    pub fn shift(&self, seed: u64, epoch: u64, key: u64) -> Shift {
        let words = philox::block([seed, CROP], [0, key, epoch, 0]);
        let crop = self.crop.min(Self::MAX_CROP);
        // The upper half of the product is uniform up to 2⁻⁵⁷.
        let many = 2 * u128::from(crop) + 1;
        let moved = |word: u64| ((u128::from(word) * many) >> 64) as i8 - crop as i8;
        Shift {
            down: moved(words[0]),
            right: moved(words[1]),
            flip: self.flip && words[2] >> 63 == 1,
        }
    }
}

/// As in a spec: `false`, or a table.
impl std::fmt::Display for Augment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.is_none() {
            true => f.write_str("false"),
            false => write!(f, "{{ crop = {}, flip = {} }}", self.crop, self.flip),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Augment;

    #[test]
    fn every_shift_and_both_sides_are_as_likely() {
        let augment = Augment { crop: 4, flip: true };
        let (mut seen, mut flips) = ([[0u32; 9]; 9], 0);
        let draws = 81_000;
        for key in 0..draws {
            let shift = augment.shift(1, key % 7, key);
            seen[(shift.down + 4) as usize][(shift.right + 4) as usize] += 1;
            flips += u32::from(shift.flip);
        }
        // A count of 1000 has a standard deviation of 32, the flips of 142; five of them.
        assert!(seen.iter().flatten().all(|&n| (840..1160).contains(&n)), "{seen:?}");
        assert!((i64::from(flips) - draws as i64 / 2).abs() < 712, "{flips}");
    }

    #[test]
    fn none_changes_nothing() {
        let none = Augment::default();
        assert!(none.is_none() && none.shift(1, 2, 3) == Default::default());
    }
}
