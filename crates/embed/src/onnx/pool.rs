//! Pools: the largest or the mean number of a window, channel by channel.

use super::tensor::{Scratch, Tensor, affordable, elements};
use super::window::Window;

#[derive(Debug)]
pub(super) enum Pool {
    Max(Window),
    /// Over the picture, or with zeros for its padding, too.
    Mean {
        window: Window,
        padding_counts: bool,
    },
    /// The mean of the whole picture.
    Whole,
}

impl Pool {
    pub(super) fn run(&self, input: &Tensor, scratch: &mut Scratch) -> Result<Tensor, String> {
        let (window, padding_counts) = match self {
            Self::Max(window) => (window, None),
            Self::Mean { window, padding_counts } => (window, Some(*padding_counts)),
            Self::Whole => return whole(input, scratch),
        };
        let [n, channels, height, width] = input.picture()?;
        let sides @ [rows, columns] = window.on([height, width])?;
        let shape = [n, channels, rows.outputs, columns.outputs];
        let length = elements(&shape)?;
        affordable(length, (rows.kernel * columns.kernel).min(height * width))?;
        let input = input.as_pixels(scratch)?;
        let mut out = scratch.take(length);
        out.fill(if padding_counts.is_some() { 0.0 } else { f32::NEG_INFINITY });
        for (pixel, y) in out.chunks_exact_mut(channels.max(1)).enumerate() {
            let (row, column) = (pixel / columns.outputs % rows.outputs, pixel % columns.outputs);
            let picture = pixel / columns.outputs / rows.outputs * height;
            let (down, top) = rows.taps(row);
            let (across, left) = columns.taps(column);
            for i in 0..down.len() {
                for j in 0..across.len() {
                    let line = picture + top + i * sides[0].step();
                    let at = line * width + left + j * sides[1].step();
                    let x = &input.data[at * channels..][..channels];
                    let pairs = y.iter_mut().zip(x);
                    match padding_counts {
                        None => pairs.for_each(|(y, x)| *y = y.max(*x)),
                        Some(_) => pairs.for_each(|(y, x)| *y += x),
                    }
                }
            }
            let count = match padding_counts {
                None => continue,
                Some(false) => down.len() * across.len(),
                Some(true) => rows.padded_taps(row) * columns.padded_taps(column),
            };
            y.iter_mut().for_each(|y| *y /= count as f32);
        }
        scratch.give_cow(input);
        Ok(Tensor::pixels(shape, out))
    }
}

fn whole(input: &Tensor, scratch: &mut Scratch) -> Result<Tensor, String> {
    let [n, channels, height, width] = input.picture()?;
    let pixels = height * width;
    if pixels == 0 {
        return Err(format!("the mean of no pixels, in a shape of {:?}", input.shape));
    }
    let input = input.as_pixels(scratch)?;
    let mut out = scratch.take(n * channels);
    out.fill(0.0);
    let pictures = input.data.chunks_exact((pixels * channels).max(1));
    for (x, y) in pictures.zip(out.chunks_exact_mut(channels.max(1))) {
        for x in x.chunks_exact(channels) {
            y.iter_mut().zip(x).for_each(|(y, x)| *y += x);
        }
        y.iter_mut().for_each(|y| *y /= pixels as f32);
    }
    scratch.give_cow(input);
    Ok(Tensor::pixels([n, channels, 1, 1], out))
}
