//! A map laid over its image, as bytes.
//!
//! Colours lie on the straight line from a dark blue to a bright yellow in CIELAB, so that equal
//! steps of a map are about equal steps to the eye, and the order is plain in grey and to the colour
//! blind, too.

use crate::GeometryError;
use crate::error::count;

/// An image in RGB, one byte per number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RgbImage {
    /// Rows of pixels.
    pub height: usize,
    /// Pixels of a row.
    pub width: usize,
    /// H×W×3 bytes.
    pub pixels: Vec<u8>,
}

/// The ends of the line: lightness, green to red, blue to yellow.
const ENDS: [[f64; 3]; 2] = [[20.0, 26.0, -52.0], [91.0, -10.0, 76.0]];

/// A colour for a number from 0 to 1; what lies outside is taken to the nearer end.
pub fn colour(value: f32) -> [u8; 3] {
    rgb(lab(f64::from(value))).map(|linear| {
        let shown = match linear <= 0.003_130_8 {
            true => 12.92 * linear,
            false => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
        };
        (255.0 * shown).round().clamp(0.0, 255.0) as u8
    })
}

/// The colour in CIELAB.
fn lab(value: f64) -> [f64; 3] {
    let share = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
    std::array::from_fn(|at| (1.0 - share) * ENDS[0][at] + share * ENDS[1][at])
}

/// CIELAB (D65) as linear red, green and blue of sRGB.
fn rgb([l, a, b]: [f64; 3]) -> [f64; 3] {
    let y = (l + 16.0) / 116.0;
    let back = |t: f64| {
        let low = 6.0 / 29.0;
        if t > low { t.powi(3) } else { 3.0 * low * low * (t - 4.0 / 29.0) }
    };
    let [x, y, z] = [0.950_47 * back(y + a / 500.0), back(y), 1.088_83 * back(y - b / 200.0)];
    [
        3.240_454_2 * x - 1.537_138_5 * y - 0.498_531_4 * z,
        -0.969_266 * x + 1.876_010_8 * y + 0.041_556 * z,
        0.055_643_4 * x - 0.204_025_9 * y + 1.057_225_2 * z,
    ]
}

/// A map at another size, bilinear between the middles of pixels; beyond the outermost middles it
/// goes on as it is there. (`align_corners=False` in PyTorch.)
pub fn enlarged(
    map: &[f32],
    [height, width]: [usize; 2],
    [to_height, to_width]: [usize; 2],
) -> Result<Vec<f32>, GeometryError> {
    count("a map", height * width, map.len())?;
    if map.is_empty() {
        return Err(GeometryError::Data("a map without pixels cannot be enlarged".into()));
    }
    // The two neighbours of a pixel along one side, and the share of the second.
    let neighbours = |at: usize, from: usize, to: usize| {
        let place = (at as f64 + 0.5) * from as f64 / to as f64 - 0.5;
        let place = place.clamp(0.0, (from - 1) as f64);
        let low = place as usize;
        (low, (low + 1).min(from - 1), (place - low as f64) as f32)
    };
    let columns: Vec<_> = (0..to_width).map(|x| neighbours(x, width, to_width)).collect();
    let mut out = Vec::with_capacity(to_height * to_width);
    for y in 0..to_height {
        let (above, below, down) = neighbours(y, height, to_height);
        for &(left, right, along) in &columns {
            let row =
                |y: usize| (1.0 - along) * map[y * width + left] + along * map[y * width + right];
            out.push((1.0 - down) * row(above) + down * row(below));
        }
    }
    Ok(out)
}

/// The map over the image (H×W×1 or H×W×3 bytes), both enlarged `times`. A pixel is `opacity` of
/// the map's colour and the rest the image.
pub fn overlay(
    image: &[u8],
    [height, width, channels]: [usize; 3],
    map: &[f32],
    [map_height, map_width]: [usize; 2],
    times: usize,
    opacity: f32,
) -> Result<RgbImage, GeometryError> {
    count("an image", height * width * channels, image.len())?;
    if !matches!(channels, 1 | 3) {
        return Err(GeometryError::Data(format!(
            "an image of {channels} channels; expected 1 or 3"
        )));
    }
    if !(0.0..=1.0).contains(&opacity) {
        return Err(GeometryError::setting("opacity", opacity, "0 to 1"));
    }
    if !(1..=64).contains(&times) {
        return Err(GeometryError::setting("times", times, "1 to 64"));
    }
    let (tall, wide) = (height * times, width * times);
    let map = enlarged(map, [map_height, map_width], [tall, wide])?;
    let mut pixels = Vec::with_capacity(3 * tall * wide);
    for (at, value) in map.iter().enumerate() {
        let (y, x) = (at / wide / times, at % wide / times);
        let own = &image[(y * width + x) * channels..][..channels];
        for (band, over) in colour(*value).into_iter().enumerate() {
            let under = f32::from(own[band % channels]);
            pixels.push((opacity * f32::from(over) + (1.0 - opacity) * under).round() as u8);
        }
    }
    Ok(RgbImage { height: tall, width: wide, pixels })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_real_and_run_from_blue_to_yellow() {
        for step in 0..=100 {
            let linear = rgb(lab(f64::from(step) / 100.0));
            let inside = linear.iter().all(|v| (-1e-3..=1.001).contains(v));
            assert!(inside, "{step}: {linear:?} is no colour of a screen");
        }
        let ([_, _, blue], [red, green, low]) = (colour(0.0), colour(1.0));
        assert!(blue > 90 && red > 200 && green > 200 && low < 120, "{:?}", colour(1.0));
        let grey =
            |[r, g, b]: [u8; 3]| 2126 * u32::from(r) + 7152 * u32::from(g) + 722 * u32::from(b);
        let greys: Vec<u32> = (0..=50).map(|step| grey(colour(step as f32 / 50.0))).collect();
        assert!(greys.windows(2).all(|pair| pair[0] < pair[1]), "{greys:?}");
        assert_eq!(colour(-3.0), colour(0.0));
        assert_eq!((colour(7.0), colour(f32::NAN)), (colour(1.0), colour(0.0)));
    }

    /// PyTorch 2.15.0: `F.interpolate(torch.tensor([[[[0., 1.], [2., 5.]]]]), size=(4, 3),
    /// mode="bilinear", align_corners=False)`.
    #[test]
    fn as_pytorch_enlarges() {
        let found = enlarged(&[0.0, 1.0, 2.0, 5.0], [2, 2], [4, 3]).unwrap();
        let near = found.iter().zip(GOLDEN).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(near && found.len() == GOLDEN.len(), "{found:?}");
        assert_eq!(enlarged(&[3.0], [1, 1], [2, 2]).unwrap(), [3.0; 4]);
    }

    #[test]
    fn a_map_over_a_image() {
        let image = [0, 100, 200, 50, 60, 70];
        let shape = [1, 2, 3];
        let seen = overlay(&image, shape, &[0.0, 1.0], [1, 2], 1, 0.0).unwrap();
        assert_eq!(seen.pixels, image);
        let seen = overlay(&image, shape, &[0.0, 1.0], [1, 2], 1, 1.0).unwrap();
        assert_eq!(seen.pixels, [colour(0.0), colour(1.0)].concat());
        let seen = overlay(&[10, 20], [1, 2, 1], &[0.0, 0.0], [1, 2], 2, 0.0).unwrap();
        assert_eq!((seen.height, seen.width), (2, 4));
        assert_eq!(seen.pixels[..12], [10, 10, 10, 10, 10, 10, 20, 20, 20, 20, 20, 20]);
    }

    #[test]
    fn nonsense_is_refused() {
        let run = |bytes: usize, channels, map: &[f32], times, opacity| {
            overlay(&vec![0; bytes], [1, 2, channels], map, [1, 2], times, opacity).is_err()
        };
        let map = [0.0, 1.0];
        assert!(run(5, 3, &map, 1, 0.5) && run(4, 2, &map, 1, 0.5) && run(6, 3, &map, 0, 0.5));
        assert!(run(6, 3, &map, 1, 1.5) && run(6, 3, &[0.0], 1, 0.5));
        assert!(!run(6, 3, &map, 1, 0.5));
    }

    const GOLDEN: [f32; 12] = [0.0, 0.5, 1.0, 0.5, 1.25, 2.0, 1.5, 2.75, 4.0, 2.0, 3.5, 5.0];
}
