//! Grad-CAM (Selvaraju et al., 2017): where in an image a class is seen.
//!
//! A is what the last pooling reads, H×W×C for an image. The weight of channel k is the mean over
//! pixels of the gradient of the class's logit z_c in A_k. Behind global average pooling and a
//! linear layer that is w_ck / (H·W), the same for every image, so no backward pass is needed:
//!
//! map = ReLU(Σ_k w_ck / (H·W) · A_k), divided by its largest value
//!
//! A map in which nothing speaks for the class is 0 everywhere, and stays so.

mod overlay;
mod stability;

use dissensus_engine::device::Maps;
use rayon::prelude::*;

pub use overlay::{RgbImage, colour, enlarged, overlay};
pub use stability::{PairStability, RunMaps, Stability, stability};

use crate::GeometryError;
use crate::error::count;

/// One map per image, H×W, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Cams {
    pub height: usize,
    pub width: usize,
    /// All numbers, map by map.
    pub values: Vec<f32>,
}

impl Cams {
    /// How many maps.
    pub fn len(&self) -> usize {
        self.values.len() / (self.height * self.width).max(1)
    }

    /// True without maps.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A map, row by row; `None` where there is no such image.
    pub fn map(&self, image: usize) -> Option<&[f32]> {
        let size = self.height * self.width;
        self.values.get(image * size..(image + 1) * size)
    }
}

/// The maps of `classes`, one per image, with the last layer's weights: a row of channels per class.
pub fn cams(maps: &Maps, weights: &[f32], classes: &[usize]) -> Result<Cams, GeometryError> {
    let (height, width, channels) = (maps.height, maps.width, maps.channels);
    let (pixels, own) = (height * width, channels.max(1));
    count("the maps", classes.len() * pixels * channels, maps.values.len())?;
    if pixels * channels == 0 || !weights.len().is_multiple_of(own) {
        let n = weights.len();
        let text = format!("{n} weights are not whole rows of {channels} channels");
        return Err(GeometryError::Data(text));
    }
    let rows = weights.len() / own;
    if let Some(at) = classes.iter().position(|&class| class >= rows) {
        let class = classes[at];
        let text = format!("image {at} is to be seen as class {class} of {rows} classes");
        return Err(GeometryError::Data(text));
    }
    let image = |(values, &class): (&[f32], &usize)| {
        let row = &weights[class * channels..][..channels];
        let pixel = |values: &[f32]| -> f64 {
            let terms = values.iter().zip(row).map(|(a, w)| f64::from(*a) * f64::from(*w));
            terms.sum::<f64>().max(0.0) / pixels as f64
        };
        let map: Vec<f64> = values.chunks_exact(channels).map(pixel).collect();
        let largest = map.iter().copied().fold(0.0, f64::max);
        let share = |v: f64| if largest > 0.0 { (v / largest) as f32 } else { 0.0 };
        map.into_iter().map(share).collect::<Vec<f32>>()
    };
    let each = maps.values.par_chunks(pixels * channels).zip(classes).map(image);
    let values = each.collect::<Vec<_>>().concat();
    Ok(Cams { height, width, values })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Two images of 1×2 pixels and two channels.
        let values = vec![1.0, 2.0, 3.0, 1.0, 1.0, 0.0, 5.0, 0.0];
        let maps = Maps { height: 1, width: 2, channels: 2, values };
        // Class 0 takes the difference of the channels, class 1 is against the first.
        let weights = [1.0, -1.0, -1.0, 0.0];
        let found = cams(&maps, &weights, &[0, 0]).unwrap();
        // 1 − 2 < 0 and 3 − 1 = 2; 1 and 5.
        assert_eq!(found.values, [0.0, 1.0, 0.2, 1.0]);
        assert_eq!((found.len(), found.map(1).unwrap()), (2, &[0.2, 1.0][..]));
        assert_eq!(found.map(2), None);
        let against = cams(&maps, &weights, &[1, 1]).unwrap();
        assert_eq!(against.values, [0.0; 4]);
    }

    #[test]
    fn nonsense_is_refused() {
        let maps = Maps { height: 1, width: 1, channels: 2, values: vec![1.0, 2.0] };
        let refusal = |weights: &[f32], classes: &[usize]| {
            cams(&maps, weights, classes).unwrap_err().to_string()
        };
        assert!(refusal(&[1.0; 4], &[0, 0]).contains("the maps: 2 numbers; expected 4"));
        assert!(refusal(&[1.0; 3], &[0]).contains("3 weights"));
        assert!(refusal(&[1.0; 4], &[2]).contains("class 2 of 2"));
    }
}
