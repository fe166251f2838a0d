//! Images: items × height × width × channels, one byte a value.

use rayon::prelude::*;

use crate::error::InputError;

/// Images of one size, grey (1 channel) or RGB (3 channels).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    height: usize,
    width: usize,
    channels: usize,
    pixels: Vec<u8>,
}

/// Mean and standard deviation of each channel, where 0 is black and 1 white.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalization {
    /// The mean of each channel.
    pub mean: Vec<f32>,
    /// The standard deviation of each channel over all pixels (divided by their number); 0 for a
    /// channel that never changes.
    pub sd: Vec<f32>,
}

impl Images {
    /// Checks that the pixels make whole images, at least one. `name` says in messages what
    /// they belong to.
    pub fn new(
        name: &str,
        height: usize,
        width: usize,
        channels: usize,
        pixels: Vec<u8>,
    ) -> Result<Self, InputError> {
        let size = height.checked_mul(width).and_then(|n| n.checked_mul(channels)).unwrap_or(0);
        let whole = size > 0 && !pixels.is_empty() && pixels.len().is_multiple_of(size);
        if !whole || !matches!(channels, 1 | 3) {
            let (name, found) = (name.to_owned(), pixels.len());
            return Err(InputError::Pixels { name, height, width, channels, found });
        }
        Ok(Self { height, width, channels, pixels })
    }

    /// How many images there are.
    pub fn len(&self) -> usize {
        self.pixels.len() / self.size()
    }

    pub fn is_empty(&self) -> bool {
        self.pixels.is_empty()
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// Columns of an image.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Channels of a pixel: 1 for grey, 3 for RGB.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Height, width and channels.
    pub(crate) fn shape(&self) -> [usize; 3] {
        [self.height, self.width, self.channels]
    }

    /// All pixels, image after image.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// One image, height × width × channels; empty where there is no such image.
    pub fn image(&self, place: usize) -> &[u8] {
        self.pixels.chunks_exact(self.size()).nth(place).unwrap_or(&[])
    }

    /// Bytes of an image.
    fn size(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// The images at these places.
    pub(crate) fn select(&self, places: &[usize]) -> Self {
        let mut pixels = Vec::with_capacity(places.len() * self.size());
        places.iter().for_each(|&place| pixels.extend_from_slice(self.image(place)));
        Self { pixels, ..*self }
    }

    /// Mean and standard deviation of each channel over the images at these places, or over all:
    ///
    /// ```text
    /// mean = Σ v / 255 n        sd = √(n Σ v² − (Σ v)²) / 255 n
    /// ```
    ///
    /// The sums are of whole numbers, so the result does not depend on threads or order. `None`
    /// where no place holds an image.
    pub fn normalization(&self, places: Option<&[usize]>) -> Option<Normalization> {
        let all: Vec<usize>;
        let places = match places {
            Some(places) => places,
            None => {
                all = (0..self.len()).collect();
                &all
            }
        };
        let add = |mut a: [[u64; 3]; 3], b: [[u64; 3]; 3]| {
            a.iter_mut().flatten().zip(b.iter().flatten()).for_each(|(a, b)| *a += b);
            a
        };
        let of = |&place: &usize| {
            let mut sums = [[0; 3]; 3];
            for pixel in self.image(place).chunks_exact(self.channels) {
                for ([count, sum, squares], &value) in sums.iter_mut().zip(pixel) {
                    let value = u64::from(value);
                    (*count, *sum, *squares) = (*count + 1, *sum + value, *squares + value * value);
                }
            }
            sums
        };
        let sums = places.par_iter().map(of).reduce(|| [[0; 3]; 3], add);
        let channel = |&[count, sum, squares]: &[u64; 3]| {
            let (n, sum, squares) = (u128::from(count), u128::from(sum), u128::from(squares));
            let scale = 255.0 * count as f64;
            let spread = (n * squares - sum * sum) as f64;
            (count > 0).then(|| ((sum as f64 / scale) as f32, (spread.sqrt() / scale) as f32))
        };
        let channels: Option<Vec<(f32, f32)>> =
            sums.iter().take(self.channels).map(channel).collect();
        let (mean, sd) = channels?.into_iter().unzip();
        Some(Normalization { mean, sd })
    }
}

/// Where the value of (item, row, column, channel) stands: the sum of each number times its
/// stride.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strides {
    pub(crate) item: usize,
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) channel: usize,
    /// What comes before the first value.
    pub(crate) start: usize,
}

/// Images whose values stand in another order, brought into ours. The caller has checked that
/// every value is there and that no axis is empty.
pub(crate) fn gather(
    data: &[u8],
    [items, height, width, channels]: [usize; 4],
    strides: Strides,
) -> Vec<u8> {
    let size = (height * width * channels).max(1);
    let mut pixels = vec![0; items * size];
    let ours =
        strides.channel == 1 && strides.column == channels && strides.row == width * channels;
    pixels.par_chunks_exact_mut(size).enumerate().for_each(|(item, image)| {
        let data = &data[strides.start + item * strides.item..];
        if ours {
            return image.copy_from_slice(&data[..size]);
        }
        for (row, values) in image.chunks_exact_mut(width * channels).enumerate() {
            for (column, pixel) in values.chunks_exact_mut(channels).enumerate() {
                let at = row * strides.row + column * strides.column;
                for (channel, value) in pixel.iter_mut().enumerate() {
                    *value = data[at + channel * strides.channel];
                }
            }
        }
    });
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalization_is_per_channel_and_over_the_places() {
        // Two images of 1 × 2, RGB.
        let pixels = vec![0, 10, 255, 255, 10, 0, 255, 30, 0, 255, 30, 0];
        let images = Images::new("x", 1, 2, 3, pixels).unwrap();
        let all = images.normalization(None).unwrap();
        let close = |found: &[f32], wanted: [f64; 3]| {
            for (a, b) in found.iter().zip(wanted) {
                assert!((f64::from(*a) - b).abs() < 1e-6, "{found:?} is not {wanted:?}");
            }
        };
        let spread = 0.1875f64.sqrt();
        close(&all.mean, [0.75, 20.0 / 255.0, 0.25]);
        close(&all.sd, [spread, 10.0 / 255.0, spread]);
        let second = images.normalization(Some(&[1])).unwrap();
        close(&second.mean, [1.0, 30.0 / 255.0, 0.0]);
        close(&second.sd, [0.0, 0.0, 0.0]);
        assert_eq!(images.normalization(Some(&[])), None);
        assert_eq!(images.normalization(Some(&[9])), None);
    }

    #[test]
    fn pixels_must_make_whole_images() {
        assert!(Images::new("x", 2, 2, 3, vec![0; 12]).is_ok());
        for (height, width, channels, bytes) in
            [(2, 2, 3, 11), (2, 2, 2, 8), (0, 2, 1, 4), (2, 2, 1, 0), (usize::MAX, 2, 1, 4)]
        {
            let error = Images::new("x", height, width, channels, vec![0; bytes]).unwrap_err();
            assert!(error.to_string().contains("do not make images"), "{error}");
        }
    }

    #[test]
    fn planes_become_pixels() {
        // One image of 1 × 2 with planes R, G, B behind a label byte.
        let strides = Strides { item: 7, row: 2, column: 1, channel: 2, start: 1 };
        let data = [99, 1, 2, 3, 4, 5, 6];
        assert_eq!(gather(&data, [1, 1, 2, 3], strides), [1, 3, 5, 2, 4, 6]);
    }
}
