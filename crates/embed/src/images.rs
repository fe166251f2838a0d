//! Images of any size as the numbers that an encoder takes: resized, cropped, normalized.
//!
//! Resizing gives the same bytes as Pillow: a filter that widens with the reduction (antialias), first
//! along rows, then along columns, each rounded to bytes. torchvision gives the same for a PIL
//! image, and nearly the same for a tensor with `antialias=True`, where nothing is rounded.
//!
//! Output i of a side of `size` made `target` long: scale s = size / target, width f = max(s, 1),
//! centre c = (i + ½)·s, y = Σ_j w((j + ½ − c) / f)·x_j / Σ_j w(…). Bilinear: w(t) = max(1 − |t|, 0);
//! bicubic: Keys' kernel with a = −½ (Keys, 1981).

use crate::{EmbedError, Image};

/// How pixels are interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// A triangle of the two nearest; more of them in a reduction.
    Bilinear,
    /// Keys' cubic of the four nearest; more of them in a reduction.
    Bicubic,
}

/// How an image of another shape is fitted to the encoder's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Resized until it covers the size, and cropped to its middle.
    Cover,
    /// Stretched to the size, whatever its shape.
    Stretch,
}

/// From an image to numbers: resized, cut, (x − mean) / scale by channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Preparation {
    /// Height and width of the result.
    pub size: [usize; 2],
    /// How another shape is fitted to them.
    pub fit: Fit,
    /// How it is resized.
    pub filter: Filter,
    /// What is subtracted from red, green and blue bytes.
    pub mean: [f32; 3],
    /// What the difference is divided by.
    pub scale: [f32; 3],
}

/// A part of an image: its first row and column, its rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) top: usize,
    pub(crate) left: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Preparation {
    /// Writes an image's numbers, three per pixel, row by row; a grey one has three equal channels.
    pub fn apply(&self, image: &Image<'_>, into: &mut Vec<f32>) -> Result<(), EmbedError> {
        check(image)?;
        let [rows, columns] = self.size;
        let [tall, wide] = match self.fit {
            Fit::Stretch => self.size,
            Fit::Cover => cover([image.height, image.width], self.size),
        };
        // The middle; the odd pixel stays at the end.
        let cut = Cut { top: (tall - rows) / 2, left: (wide - columns) / 2, rows, columns };
        let bytes = resize(image, [tall, wide], cut, self.filter)?;
        let channel = |at: usize| (self.mean[at], self.scale[at]);
        let [red, green, blue] = [channel(0), channel(1), channel(2)];
        let number = |byte: u8, (mean, scale): (f32, f32)| (f32::from(byte) - mean) / scale;
        into.clear();
        into.reserve(3 * rows * columns);
        for pixel in bytes.chunks_exact(image.channels) {
            let [r, g, b] = match *pixel {
                [r, g, b] => [r, g, b],
                _ => [pixel[0]; 3],
            };
            into.extend([number(r, red), number(g, green), number(b, blue)]);
        }
        Ok(())
    }
}

/// The smallest size of the same shape that covers `size`.
fn cover([height, width]: [usize; 2], [rows, columns]: [usize; 2]) -> [usize; 2] {
    let longer = |side: usize, other: usize, target: usize| {
        let side = side as u128 * target as u128 / other as u128;
        usize::try_from(side).unwrap_or(usize::MAX)
    };
    // rows / height ≥ columns / width, without rounding.
    if rows as u128 * width as u128 >= columns as u128 * height as u128 {
        [rows, longer(width, height, rows).max(columns)]
    } else {
        [longer(height, width, columns).max(rows), columns]
    }
}

/// Refuses an image whose sizes do not fit its bytes.
fn check(image: &Image<'_>) -> Result<(), EmbedError> {
    let Image { height, width, channels, pixels } = *image;
    let wanted = height.checked_mul(width).and_then(|count| count.checked_mul(channels));
    if wanted != Some(pixels.len()) || pixels.is_empty() || !matches!(channels, 1 | 3) {
        return Err(EmbedError::Input(format!(
            "an image of {height}×{width} pixels, {channels} bytes each, with {} bytes; expected \
             1 (grey) or 3 (red, green, blue) bytes per pixel and at least one pixel",
            pixels.len()
        )));
    }
    Ok(())
}

/// A part of an image as it were at `size`: only what the part needs is computed.
pub(crate) fn resize(
    image: &Image<'_>,
    size: [usize; 2],
    cut: Cut,
    filter: Filter,
) -> Result<Vec<u8>, EmbedError> {
    check(image)?;
    let inside = |start: usize, length: usize, size: usize| {
        start.checked_add(length).is_some_and(|end| end <= size)
    };
    if !inside(cut.top, cut.rows, size[0]) || !inside(cut.left, cut.columns, size[1]) {
        return Err(EmbedError::Input(format!("{cut:?} does not lie in an image of {size:?}")));
    }
    let channels = image.channels;
    let across = filter.taps(image.width, size[1], cut.left, cut.columns);
    let down = filter.taps(image.height, size[0], cut.top, cut.rows);
    let first = down.iter().map(|tap| tap.start).min().unwrap_or(0);
    let last = down.iter().map(|tap| tap.start + tap.weights.len()).max().unwrap_or(0);
    let line = cut.columns * channels;
    let mut lines = Vec::with_capacity((last - first) * line);
    for row in image.pixels.chunks_exact(image.width * channels).take(last).skip(first) {
        for taps in &across {
            for channel in 0..channels {
                let from = row.iter().skip(taps.start * channels + channel).step_by(channels);
                lines.push(taps.sum(from));
            }
        }
    }
    let mut out = Vec::with_capacity(cut.rows * line);
    for taps in &down {
        for at in 0..line {
            let from = lines.iter().skip((taps.start - first) * line + at).step_by(line);
            out.push(taps.sum(from));
        }
    }
    Ok(out)
}

/// Bits after the point of a weight.
const BITS: u32 = 22;

/// The inputs of an output: from `start` on, as many as there are weights.
#[derive(Debug)]
struct Taps {
    start: usize,
    weights: Vec<i32>,
}

impl Taps {
    fn sum<'a>(&self, from: impl Iterator<Item = &'a u8>) -> u8 {
        let half = 1i64 << (BITS - 1);
        let pairs = from.zip(&self.weights);
        let sum =
            pairs.fold(half, |sum, (byte, weight)| sum + i64::from(*byte) * i64::from(*weight));
        u8::try_from((sum >> BITS).clamp(0, 255)).unwrap_or(u8::MAX)
    }
}

impl Filter {
    /// Half its width, and its height at a distance from the centre.
    fn kernel(self) -> (f64, fn(f64) -> f64) {
        match self {
            Self::Bilinear => (1.0, |t| (1.0 - t.abs()).max(0.0)),
            Self::Bicubic => (2.0, |t| {
                const A: f64 = -0.5;
                match t.abs() {
                    t if t < 1.0 => ((A + 2.0) * t - (A + 3.0)) * t * t + 1.0,
                    t if t < 2.0 => (((t - 5.0) * t + 8.0) * t - 4.0) * A,
                    _ => 0.0,
                }
            }),
        }
    }

    /// Of `count` outputs from `first` on, of a side of `size` made `target` long.
    fn taps(self, size: usize, target: usize, first: usize, count: usize) -> Vec<Taps> {
        let (reach, height) = self.kernel();
        let scale = size as f64 / target as f64;
        let wide = scale.max(1.0);
        let taps = |output: usize| {
            let centre = (output as f64 + 0.5) * scale;
            // Truncated, as Pillow's are; a negative one becomes 0.
            let start = (centre - reach * wide + 0.5) as usize;
            let end = ((centre + reach * wide + 0.5) as usize).min(size);
            let shift = start as f64 - centre + 0.5;
            let narrow = 1.0 / wide;
            let raw: Vec<f64> = (0..end.saturating_sub(start))
                .map(|j| height((j as f64 + shift) * narrow))
                .collect();
            let whole = 1.0 / raw.iter().sum::<f64>();
            let fixed = |weight: f64| (weight * whole * f64::from(1 << BITS)).round() as i32;
            Taps { start, weights: raw.into_iter().map(fixed).collect() }
        };
        (first..first + count).map(taps).collect()
    }
}
