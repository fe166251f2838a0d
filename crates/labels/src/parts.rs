//! One slice as several, for threads to write to.

/// Cuts a slice into parts of these sizes, one after another. What they leave over is dropped, and
/// parts beyond the end are short.
pub(crate) fn parts<T>(slice: &mut [T], sizes: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut rest = slice;
    let cut = |size: usize| {
        let whole = std::mem::take(&mut rest);
        let (part, after) = whole.split_at_mut(size.min(whole.len()));
        rest = after;
        part
    };
    sizes.map(cut).collect()
}

/// Turns how many each has into where each starts, and where the last one ends.
pub(crate) fn starts(sizes: impl Iterator<Item = usize>) -> Option<Vec<usize>> {
    let mut starts = Vec::with_capacity(sizes.size_hint().0 + 1);
    let mut end = 0usize;
    starts.push(end);
    for size in sizes {
        end = end.checked_add(size)?;
        starts.push(end);
    }
    Some(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts() {
        let starts = starts([2, 0, 3].into_iter()).unwrap();
        assert_eq!(starts, [0, 2, 2, 5]);
        let mut slice = [1, 2, 3, 4, 5];
        let parts = parts(&mut slice, starts.windows(2).map(|w| w[1] - w[0]));
        assert_eq!(parts, [&[1, 2][..], &[], &[3, 4, 5]]);
        assert_eq!(super::starts([usize::MAX, 1].into_iter()), None);
    }
}
