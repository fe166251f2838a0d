//! Numbers for tests.

/// `count` numbers between −1 and 1 that look random and are always the same.
pub(crate) fn numbers(count: usize) -> Vec<f32> {
    let mut state = 0x9e37_79b9_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}
