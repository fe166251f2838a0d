//! What changes shapes, and what goes along one dimension.

use super::pointwise::offsets;
use super::tensor::{Scratch, Tensor, elements};

/// A dimension that may be counted from the end, as a place from the start.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize, String> {
    let place = if axis < 0 { axis.checked_add_unsigned(rank as u64) } else { Some(axis) };
    let place = place.and_then(|place| usize::try_from(place).ok());
    place
        .filter(|place| *place < rank)
        .ok_or_else(|| format!("dimension {axis} of a shape with {rank} dimensions"))
}

fn axes(list: &[i64], rank: usize) -> Result<Vec<bool>, String> {
    let mut chosen = vec![false; rank];
    for &each in list {
        chosen[axis(each, rank)?] = true;
    }
    Ok(chosen)
}

/// The same numbers in another shape.
fn reshaped(input: &Tensor, shape: Vec<usize>, scratch: &mut Scratch) -> Result<Tensor, String> {
    if elements(&shape)? != input.data.len() {
        return Err(format!("a shape of {:?} cannot become {shape:?}", input.shape));
    }
    Ok(Tensor::plain(shape, input.in_order(scratch).into_owned().data))
}

/// Two dimensions: those before `at`, and those from it on.
pub(super) fn flatten(input: &Tensor, at: i64, scratch: &mut Scratch) -> Result<Tensor, String> {
    let rank = input.shape.len();
    let at = if at == rank as i64 { rank } else { axis(at, rank)? };
    let (before, after) = input.shape.split_at(at);
    reshaped(input, vec![elements(before)?, elements(after)?], scratch)
}

/// −1 stands for what is left over, 0 (unless it is meant) for the size that was there.
pub(super) fn reshape(
    input: &Tensor,
    wanted: &[i64],
    zero_is_meant: bool,
    scratch: &mut Scratch,
) -> Result<Tensor, String> {
    let mut shape = Vec::with_capacity(wanted.len());
    let mut open = None;
    for (at, &size) in wanted.iter().enumerate() {
        shape.push(match size {
            -1 if open.is_none() => {
                open = Some(at);
                1
            }
            0 if !zero_is_meant => *input.shape.get(at).ok_or_else(|| {
                format!("size {at} of {wanted:?} is that of {:?}, which has fewer", input.shape)
            })?,
            size => usize::try_from(size).map_err(|_| format!("a shape of {wanted:?}"))?,
        });
    }
    if let Some(at) = open {
        shape[at] = input.data.len().checked_div(elements(&shape)?).unwrap_or(0);
    }
    reshaped(input, shape, scratch)
}

/// Without the dimensions named, which have a size of 1; all of those, where none is named.
pub(super) fn squeeze(
    input: &Tensor,
    list: Option<&[i64]>,
    scratch: &mut Scratch,
) -> Result<Tensor, String> {
    let chosen = match list {
        Some(list) => axes(list, input.shape.len())?,
        None => input.shape.iter().map(|size| *size == 1).collect(),
    };
    if input.shape.iter().zip(&chosen).any(|(size, chosen)| *chosen && *size != 1) {
        return Err(format!("a shape of {:?} has other sizes than 1 at {list:?}", input.shape));
    }
    let kept = input.shape.iter().zip(&chosen).filter(|(_, chosen)| !**chosen);
    reshaped(input, kept.map(|(size, _)| *size).collect(), scratch)
}

/// With dimensions of size 1 at the places named.
pub(super) fn unsqueeze(
    input: &Tensor,
    list: &[i64],
    scratch: &mut Scratch,
) -> Result<Tensor, String> {
    let rank = input.shape.len() + list.len();
    let chosen = axes(list, rank)?;
    let mut sizes = input.shape.iter().copied();
    let shape = chosen.iter().map(|new| if *new { Some(1) } else { sizes.next() });
    let shape: Option<Vec<usize>> = shape.collect();
    reshaped(input, shape.ok_or_else(|| format!("places {list:?} repeat"))?, scratch)
}

/// Dimension i of the output is dimension order\[i\] of the input; reversed where none is given.
pub(super) fn transpose(
    input: &Tensor,
    order: Option<&[i64]>,
    scratch: &mut Scratch,
) -> Result<Tensor, String> {
    let rank = input.shape.len();
    let order = match order {
        None => (0..rank).rev().collect(),
        Some(order) => {
            order.iter().map(|place| axis(*place, rank)).collect::<Result<Vec<_>, _>>()?
        }
    };
    let mut seen = vec![false; rank];
    order.iter().for_each(|place| seen[*place] = true);
    if order.len() != rank || seen.contains(&false) {
        return Err(format!("an order of {order:?} for a shape of {:?}", input.shape));
    }
    let input = input.in_order(scratch);
    let mut steps = vec![1; rank];
    for at in (1..rank).rev() {
        steps[at - 1] = steps[at] * input.shape[at];
    }
    let shape: Vec<usize> = order.iter().map(|place| input.shape[*place]).collect();
    let strides: Vec<usize> = order.iter().map(|place| steps[*place]).collect();
    let mut out = scratch.take(input.data.len());
    out.iter_mut().zip(offsets(&shape, &strides)).for_each(|(y, at)| *y = input.data[at]);
    scratch.give_cow(input);
    Ok(Tensor::plain(shape, out))
}

/// One after the other along a dimension.
pub(super) fn concat(parts: &[&Tensor], at: i64, scratch: &mut Scratch) -> Result<Tensor, String> {
    let rank = parts.first().map_or(0, |part| part.shape.len());
    let at = axis(at, rank)?;
    let mut shape = parts[0].shape.clone();
    shape[at] = 0;
    for part in parts {
        let fits = |i: usize| part.shape.get(i) == shape.get(i);
        if part.shape.len() != rank || !(0..rank).all(|i| i == at || fits(i)) {
            return Err(format!("shapes {:?} and {:?} side by side", parts[0].shape, part.shape));
        }
        shape[at] = shape[at].saturating_add(part.shape[at]);
    }
    let mut out = scratch.take(elements(&shape)?);
    let pixels = rank == 4 && parts.iter().any(|part| part.channels_last);
    // Where the dimension lies in memory.
    let place = if pixels { [0, 3, 1, 2][at] } else { at };
    let result = Tensor { shape, data: vec![], channels_last: pixels };
    let row: usize = result.memory_shape()[place..].iter().product();
    let mut start = 0;
    for part in parts {
        let part = if pixels { part.as_pixels(scratch)? } else { part.in_order(scratch) };
        let own: usize = part.memory_shape()[place..].iter().product();
        let rows = out.chunks_exact_mut(row.max(1)).zip(part.data.chunks_exact(own.max(1)));
        rows.for_each(|(y, x)| y[start..start + own].copy_from_slice(x));
        start += own;
        scratch.give_cow(part);
    }
    Ok(Tensor { data: out, ..result })
}

/// The mean over the dimensions named (all, where none is), which stay with a size of 1 or go.
pub(super) fn mean(
    input: &Tensor,
    list: Option<&[i64]>,
    keep: bool,
    scratch: &mut Scratch,
) -> Result<Tensor, String> {
    let input = input.in_order(scratch);
    let chosen = match list {
        Some(list) => axes(list, input.shape.len())?,
        None => vec![true; input.shape.len()],
    };
    let mut strides = vec![0; chosen.len()];
    let (mut length, mut count) = (1, 1);
    for at in (0..chosen.len()).rev() {
        if chosen[at] {
            count *= input.shape[at];
        } else {
            strides[at] = length;
            length *= input.shape[at];
        }
    }
    if count == 0 {
        return Err(format!("the mean of no numbers, in a shape of {:?}", input.shape));
    }
    let mut out = scratch.take(length);
    out.fill(0.0);
    input.data.iter().zip(offsets(&input.shape, &strides)).for_each(|(x, at)| out[at] += x);
    out.iter_mut().for_each(|y| *y /= count as f32);
    let sizes = input.shape.iter().zip(&chosen);
    let shape = sizes.filter_map(|(size, chosen)| match (chosen, keep) {
        (true, true) => Some(1),
        (true, false) => None,
        (false, _) => Some(*size),
    });
    let shape = shape.collect();
    scratch.give_cow(input);
    Ok(Tensor::plain(shape, out))
}

/// exp(x) / Σ exp(x) along a dimension, or over all from it on.
pub(super) fn softmax(
    input: &Tensor,
    at: i64,
    and_after: bool,
    scratch: &mut Scratch,
) -> Result<Tensor, String> {
    let at = axis(at, input.shape.len())?;
    let input = input.in_order(scratch);
    let after: usize = input.shape[at + 1..].iter().product();
    let (count, step) =
        if and_after { (input.shape[at] * after, 1) } else { (input.shape[at], after) };
    let mut out = scratch.take(input.data.len());
    out.copy_from_slice(&input.data);
    for block in out.chunks_exact_mut((count * step).max(1)) {
        for start in 0..step {
            let one = || (start..count * step).step_by(step);
            let highest = one().fold(f32::NEG_INFINITY, |highest, at| highest.max(block[at]));
            let mut sum = 0.0;
            for at in one() {
                block[at] = (block[at] - highest).exp();
                sum += block[at];
            }
            one().for_each(|at| block[at] /= sum);
        }
    }
    let shape = input.shape.clone();
    scratch.give_cow(input);
    Ok(Tensor::plain(shape, out))
}
