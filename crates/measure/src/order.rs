//! Sorting, and cutting what is sorted into parts of equal size without parting equals.

/// Positions by ascending value, equal values by position. −0 equals 0. Values are not NaN.
///
/// Many values are sorted by radix: the leading bits of what lies between the least and the most,
/// packed with the position into one word, digit by digit from the lowest. That puts nearly all in
/// their places; the runs that share those bits are then sorted by their values.
pub(crate) fn ascending(values: &[f64]) -> Vec<usize> {
    let full = |&at: &usize| (key(values[at]), at);
    let Some(last) = u32::try_from(values.len()).ok().filter(|&n| n >= SMALL) else {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_unstable_by_key(full);
        return order;
    };
    let range = |(least, most): (u64, u64), &v: &f64| (least.min(key(v)), most.max(key(v)));
    let (least, most) = values.iter().fold((u64::MAX, 0), range);
    let shift = (u64::BITS - (most - least).leading_zeros()).saturating_sub(u32::BITS);
    let leading = |v: &f64| (key(*v) - least) >> shift << 32;
    let mut packed: Vec<u64> =
        values.iter().zip(0..last).map(|(v, at)| leading(v) | u64::from(at)).collect();
    let mut moved = vec![0; packed.len()];
    for pass in 0..u32::BITS.div_ceil(DIGIT) {
        by_digit(&packed, &mut moved, 32 + pass * DIGIT);
        std::mem::swap(&mut packed, &mut moved);
    }
    let mut order: Vec<usize> = packed.iter().map(|word| *word as u32 as usize).collect();
    let mut start = 0;
    for run in packed.chunk_by(|a, b| a >> 32 == b >> 32) {
        let end = start + run.len();
        if run.len() > 1 {
            order[start..end].sort_unstable_by_key(full);
        }
        start = end;
    }
    order
}

const SMALL: u32 = 4096;
const DIGIT: u32 = 11;

/// A pass of a radix sort: ascending by the digit at this bit, otherwise in the order they had.
fn by_digit(words: &[u64], moved: &mut [u64], bit: u32) {
    let digit = |word: u64| (word >> bit) as usize & ((1 << DIGIT) - 1);
    let mut places = [0; 1 << DIGIT];
    words.iter().for_each(|&word| places[digit(word)] += 1);
    let mut next = 0;
    for place in &mut places {
        (*place, next) = (next, next + *place);
    }
    for &word in words {
        let place = &mut places[digit(word)];
        moved[*place] = word;
        *place += 1;
    }
}

/// A whole number that is ordered as the value is.
fn key(value: f64) -> u64 {
    // Adding 0 makes −0 a 0.
    let bits = (value + 0.0).to_bits();
    bits ^ (((bits as i64 >> 63) as u64) | 1 << 63)
}

/// Where to cut `n` sorted places into `parts` of equal size: the first n mod `parts` parts have
/// one more, as numpy's `array_split` does it. A cut that would part equal values moves up to the
/// end of their run, and parts left empty drop out. Returns the ends of the parts.
pub(crate) fn cuts(n: usize, parts: usize, equal: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let (size, larger) = (n / parts.max(1), n % parts.max(1));
    let mut ends = Vec::new();
    let mut end = 0;
    for part in 0..parts {
        let planned = (part + 1) * size + larger.min(part + 1);
        if end == n {
            break;
        }
        if planned <= end {
            continue;
        }
        end = planned;
        while end < n && equal(end - 1, end) {
            end += 1;
        }
        ends.push(end);
    }
    ends
}

/// Midranks, from 1: equal values share the mean of their places.
pub(crate) fn midranks(values: &[f64]) -> Vec<f64> {
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for group in ascending(values).chunk_by(|&a, &b| values[a] == values[b]) {
        let end = start + group.len();
        let rank = (start + 1 + end) as f64 / 2.0;
        group.iter().for_each(|&at| ranks[at] = rank);
        start = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_signs_zeros_and_infinities() {
        let values = [1.5, -0.0, f64::INFINITY, -2.0, 0.0, f64::NEG_INFINITY, -3.0];
        assert_eq!(ascending(&values), [5, 6, 3, 1, 4, 0, 2]);
        assert_eq!(midranks(&values), [6.0, 4.5, 7.0, 3.0, 4.5, 1.0, 2.0]);
    }

    #[test]
    fn many_sort_as_few_do() {
        let u = crate::testing::uniform(7, 4 * SMALL as usize);
        let spread = |u: &f64| (u - 0.5).powi(9) * 1e9;
        let few_values = |u: &f64| (u * 5.0).floor() - 2.0;
        let near = |u: &f64| 1.0 + u * 1e-13;
        let constant = |_: &f64| 0.3;
        let maps: [&dyn Fn(&f64) -> f64; 4] = [&spread, &few_values, &near, &constant];
        for map in maps {
            let values: Vec<f64> = u.iter().map(map).collect();
            let mut plain: Vec<usize> = (0..values.len()).collect();
            plain.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
            assert_eq!(ascending(&values), plain);
        }
    }

    #[test]
    fn parts_are_equal_and_never_split_ties() {
        assert_eq!(cuts(10, 3, |_, _| false), [4, 7, 10]);
        assert_eq!(cuts(2, 5, |_, _| false), [1, 2]);
        assert_eq!(cuts(2, usize::MAX, |_, _| false), [1, 2]);
        assert_eq!(cuts(0, 5, |_, _| false), [0; 0]);
        assert_eq!(cuts(10, 3, |_, _| true), [10]);
        // 0 0 0 0 0 1 2 3: the first cut, at 2, moves to 5; the second, at 4, is passed by.
        let values = [0, 0, 0, 0, 0, 1, 2, 3];
        assert_eq!(cuts(8, 4, |a, b| values[a] == values[b]), [5, 6, 8]);
    }
}
