//! What is done number by number: functions of one number, of two, and a scale a channel.

use std::borrow::Cow;

use super::product::Bounds;
use super::tensor::{Scratch, Tensor, elements};

/// A function of one number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unary {
    Clip(Bounds),
    Sigmoid,
    /// min(max(a·x + b, 0), 1)
    HardSigmoid(f32, f32),
    /// x · min(max(x/6 + 1/2, 0), 1)
    HardSwish,
}

impl Unary {
    pub(super) fn run(self, input: &Tensor, scratch: &mut Scratch) -> Tensor {
        let hard = |x: f32, a: f32, b: f32| a.mul_add(x, b).clamp(0.0, 1.0);
        match self {
            Self::Clip(Bounds(low, high)) => map(input, scratch, |x| x.max(low).min(high)),
            Self::Sigmoid => map(input, scratch, |x| 1.0 / (1.0 + (-x).exp())),
            Self::HardSigmoid(a, b) => map(input, scratch, |x| hard(x, a, b)),
            Self::HardSwish => map(input, scratch, |x| x * hard(x, 1.0 / 6.0, 0.5)),
        }
    }
}

fn map(input: &Tensor, scratch: &mut Scratch, function: impl Fn(f32) -> f32) -> Tensor {
    let mut data = scratch.take(input.data.len());
    data.iter_mut().zip(&input.data).for_each(|(y, x)| *y = function(*x));
    Tensor { shape: input.shape.clone(), data, channels_last: input.channels_last }
}

/// A function of two numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Binary {
    /// Shapes are broadcast: aligned at their ends, a size of 1 stands for any.
    pub(super) fn run(
        self,
        a: &Tensor,
        b: &Tensor,
        scratch: &mut Scratch,
    ) -> Result<Tensor, String> {
        match self {
            Self::Add => broadcast(a, b, scratch, |a, b| a + b),
            Self::Subtract => broadcast(a, b, scratch, |a, b| a - b),
            Self::Multiply => broadcast(a, b, scratch, |a, b| a * b),
            Self::Divide => broadcast(a, b, scratch, |a, b| a / b),
        }
    }
}

fn broadcast(
    a: &Tensor,
    b: &Tensor,
    scratch: &mut Scratch,
    function: impl Fn(f32, f32) -> f32,
) -> Result<Tensor, String> {
    let rank = a.shape.len().max(b.shape.len());
    let pixels = rank == 4 && (a.channels_last || b.channels_last);
    let (a, b) = (padded(a, rank, pixels, scratch)?, padded(b, rank, pixels, scratch)?);
    let (left, right) = (a.memory_shape(), b.memory_shape());
    let mut shape = Vec::with_capacity(rank);
    for (&x, &y) in left.iter().zip(&right) {
        if x != y && x != 1 && y != 1 {
            return Err(format!("shapes {:?} and {:?} do not go together", a.shape, b.shape));
        }
        shape.push(if x == 1 { y } else { x });
    }
    let mut out = scratch.take(elements(&shape)?);
    let (last, outer) = shape.split_last().unwrap_or((&1, &[]));
    let step = |own: &[usize]| usize::from(own.last().is_some_and(|size| *size != 1));
    let steps = [step(&left), step(&right)];
    let (lefts, rights) = (strides(&left), strides(&right));
    let starts = offsets(outer, &lefts).zip(offsets(outer, &rights));
    for (y, (i, j)) in out.chunks_exact_mut((*last).max(1)).zip(starts) {
        let (a, b) = (&a.data[i..], &b.data[j..]);
        match steps {
            [1, 1] => {
                y.iter_mut().zip(a.iter().zip(b)).for_each(|(y, (a, b))| *y = function(*a, *b));
            }
            [1, _] => y.iter_mut().zip(a).for_each(|(y, a)| *y = function(*a, b[0])),
            [_, 1] => y.iter_mut().zip(b).for_each(|(y, b)| *y = function(a[0], *b)),
            _ => y.fill(function(a[0], b[0])),
        }
    }
    if let (true, &[n, h, w, c]) = (pixels, shape.as_slice()) {
        return Ok(Tensor::pixels([n, c, h, w], out));
    }
    Ok(Tensor::plain(shape, out))
}

/// With as many dimensions as asked for, in the order of memory asked for.
fn padded<'a>(
    tensor: &'a Tensor,
    rank: usize,
    pixels: bool,
    scratch: &mut Scratch,
) -> Result<Cow<'a, Tensor>, String> {
    if tensor.shape.len() == rank {
        return if pixels { tensor.as_pixels(scratch) } else { Ok(Cow::Borrowed(tensor)) };
    }
    let mut shape = vec![1; rank - tensor.shape.len()];
    shape.extend(&tensor.shape);
    let padded = Tensor::plain(shape, tensor.in_order(scratch).data.clone());
    let padded = if pixels { padded.as_pixels(scratch)?.into_owned() } else { padded };
    Ok(Cow::Owned(padded))
}

/// Numbers from one index to the next in each dimension; 0 where a size of 1 stands for any.
fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![0; shape.len()];
    let mut step = 1;
    for (stride, size) in strides.iter_mut().zip(shape).rev() {
        *stride = if *size == 1 { 0 } else { step };
        step *= size;
    }
    strides
}

/// Where every index of a shape lies, the last dimension fastest.
pub(super) fn offsets<'a>(
    shape: &'a [usize],
    strides: &'a [usize],
) -> impl Iterator<Item = usize> + 'a {
    let count = shape.iter().product();
    let mut index = vec![0; shape.len()];
    let mut offset = 0;
    (0..count).map(move |_| {
        let here = offset;
        for ((index, size), stride) in index.iter_mut().zip(shape).zip(strides).rev() {
            *index += 1;
            offset += stride;
            if *index < *size {
                break;
            }
            offset -= *index * stride;
            *index = 0;
        }
        here
    })
}

/// y = x·scale + shift with a number each a channel, which is the second dimension.
pub(super) fn affine(
    input: &Tensor,
    scale: &[f32],
    shift: &[f32],
    scratch: &mut Scratch,
) -> Result<Tensor, String> {
    if input.shape.get(1) != Some(&scale.len()) {
        return Err(format!("{} channels and a shape of {:?}", scale.len(), input.shape));
    }
    let mut data = scratch.take(input.data.len());
    if input.channels_last {
        let rows = data.chunks_exact_mut(scale.len().max(1));
        for (y, x) in rows.zip(input.data.chunks_exact(scale.len().max(1))) {
            for (((y, x), scale), shift) in y.iter_mut().zip(x).zip(scale).zip(shift) {
                *y = x * scale + shift;
            }
        }
    } else {
        let each: usize = input.shape[2..].iter().product::<usize>().max(1);
        let channels = scale.iter().zip(shift).cycle();
        let rows = data.chunks_exact_mut(each).zip(input.data.chunks_exact(each));
        for ((y, x), (scale, shift)) in rows.zip(channels) {
            y.iter_mut().zip(x).for_each(|(y, x)| *y = x * scale + shift);
        }
    }
    Ok(Tensor { shape: input.shape.clone(), data, channels_last: input.channels_last })
}
