//! Numbers with a shape.
//!
//! A shape is always the one that ONNX speaks of: N×C×H×W for pictures. Convolutions keep the
//! numbers of a pixel together (N×H×W×C in memory), since a pixel's channels then fill vector
//! registers whatever the picture's size; such a tensor says so, and what cares for the order in
//! memory asks for the one that it wants.

use std::borrow::Cow;

/// The most numbers that a tensor may have: 256 MiB.
const MOST: usize = 1 << 26;

/// How many numbers a shape has, if they are not absurdly many.
pub(super) fn elements(shape: &[usize]) -> Result<usize, String> {
    // A size of 0 does not excuse the others: what is made beside them may have theirs.
    let most = shape.iter().try_fold(1usize, |count, size| count.checked_mul((*size).max(1)));
    match most {
        Some(count) if count <= MOST => Ok(if shape.contains(&0) { 0 } else { count }),
        _ => Err(format!("a tensor of shape {shape:?} has more than {MOST} numbers")),
    }
}

/// The most multiplications of one node: some seconds on one core.
const MOST_WORK: u128 = 1 << 36;

/// Refuses so many numbers of so many products each, if they are absurdly many.
pub(super) fn affordable(numbers: usize, each: usize) -> Result<(), String> {
    if numbers as u128 * each as u128 > MOST_WORK {
        return Err(format!("{numbers} numbers out of {each} each are too much work"));
    }
    Ok(())
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) data: Vec<f32>,
    /// Whether memory is N×H×W×C; only with four dimensions.
    pub(super) channels_last: bool,
}

impl Tensor {
    /// Memory in the order of the shape.
    pub(super) fn plain(shape: Vec<usize>, data: Vec<f32>) -> Self {
        Self { shape, data, channels_last: false }
    }

    /// Memory as N×H×W×C for a shape of N×C×H×W.
    pub(super) fn pixels(shape: [usize; 4], data: Vec<f32>) -> Self {
        Self { shape: shape.to_vec(), data, channels_last: true }
    }

    /// N, C, H, W.
    pub(super) fn picture(&self) -> Result<[usize; 4], String> {
        let shape: Result<[usize; 4], _> = self.shape.as_slice().try_into();
        shape.map_err(|_| format!("wants N×C×H×W and gets a shape of {:?}", self.shape))
    }

    /// The sizes in the order of memory.
    pub(super) fn memory_shape(&self) -> Vec<usize> {
        match (self.channels_last, self.shape.as_slice()) {
            (true, &[n, c, h, w]) => vec![n, h, w, c],
            _ => self.shape.clone(),
        }
    }

    /// The same with memory in the order of the shape.
    pub(super) fn in_order(&self, scratch: &mut Scratch) -> Cow<'_, Self> {
        match (self.channels_last, self.shape.as_slice()) {
            (true, &[n, c, h, w]) => {
                let data = swap(&self.data, [n, h * w, c], scratch);
                Cow::Owned(Self::plain(self.shape.clone(), data))
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// The same with memory as N×H×W×C; only for four dimensions.
    pub(super) fn as_pixels(&self, scratch: &mut Scratch) -> Result<Cow<'_, Self>, String> {
        let shape @ [n, c, h, w] = self.picture()?;
        if self.channels_last {
            return Ok(Cow::Borrowed(self));
        }
        let data = swap(&self.data, [n, c, h * w], scratch);
        Ok(Cow::Owned(Self::pixels(shape, data)))
    }
}

/// \[n\]\[a\]\[b\] as \[n\]\[b\]\[a\].
fn swap(data: &[f32], [n, a, b]: [usize; 3], scratch: &mut Scratch) -> Vec<f32> {
    let mut out = scratch.take(n * a * b);
    let blocks = data.chunks_exact((a * b).max(1)).zip(out.chunks_exact_mut((a * b).max(1)));
    for (from, to) in blocks {
        for (i, row) in from.chunks_exact(b).enumerate() {
            to.iter_mut().skip(i).step_by(a).zip(row).for_each(|(to, from)| *to = *from);
        }
    }
    out
}

/// Memory to be used again: a picture's tensors have the same sizes as those of the last one.
#[derive(Debug, Default)]
pub(super) struct Scratch(Vec<Vec<f32>>);

impl Scratch {
    /// So many numbers, whichever: all of them are to be written.
    pub(super) fn take(&mut self, length: usize) -> Vec<f32> {
        // The smallest that is large enough, else the largest of the others.
        let fits = |room: &Vec<f32>| (room.capacity() < length, room.capacity().abs_diff(length));
        let best = (0..self.0.len()).min_by_key(|at| fits(&self.0[*at]));
        let mut room = best.map(|at| self.0.swap_remove(at)).unwrap_or_default();
        room.resize(length, 0.0);
        room
    }

    /// Gives memory back.
    pub(super) fn give(&mut self, data: Vec<f32>) {
        if data.capacity() > 0 && self.0.len() < 16 {
            self.0.push(data);
        }
    }

    /// Gives a tensor's memory back if it is one's own.
    pub(super) fn give_cow(&mut self, tensor: Cow<'_, Tensor>) {
        if let Cow::Owned(tensor) = tensor {
            self.give(tensor.data);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_hold_the_same() {
        let mut scratch = Scratch::default();
        let numbers: Vec<f32> = (0..2 * 3 * 2 * 2).map(|n| n as f32).collect();
        let tensor = Tensor::plain(vec![2, 3, 2, 2], numbers);
        let pixels = tensor.as_pixels(&mut scratch).unwrap().into_owned();
        assert_eq!(pixels.data[..6], [0.0, 4.0, 8.0, 1.0, 5.0, 9.0]);
        assert_eq!(pixels.memory_shape(), [2, 2, 2, 3]);
        assert_eq!(*pixels.in_order(&mut scratch), tensor);
    }

    #[test]
    fn absurd_shapes_are_refused() {
        assert_eq!(elements(&[]), Ok(1));
        assert_eq!(elements(&[3, 0]), Ok(0));
        for shape in [&[usize::MAX, 2][..], &[1 << 14, 1 << 14], &[usize::MAX, usize::MAX, 0]] {
            assert!(elements(shape).unwrap_err().contains("more than"), "{shape:?}");
        }
    }
}
