//! Figures as PNG and PDF, from their SVG files, with the figures' own fonts and none of the
//! system's. The same SVG gives the same bytes.

use resvg::tiny_skia::{Pixmap, PremultipliedColorU8, Transform};
use resvg::usvg::{ImageHrefResolver, ImageRendering, Options, Tree};

use crate::ReportError;
use crate::book::Picture;
pub use crate::pdf::pdf;
use crate::texts::{self, Line};

/// Pixels per side, above which a PNG is refused: it would take gigabytes.
const LARGEST: f32 = 20_000.0;

/// A figure whose texts are paths, so that it looks the same without its fonts.
pub fn outlined(svg: &str) -> Result<String, ReportError> {
    Ok(texts::as_paths(svg)?.0)
}

/// The drawing, and the texts that some of its paths are.
pub(crate) fn tree(svg: &str) -> Result<(Tree, Vec<Line>), ReportError> {
    let (svg, lines) = texts::as_paths(svg)?;
    let options = Options {
        // Images of items show their pixels.
        image_rendering: ImageRendering::OptimizeSpeed,
        image_href_resolver: ImageHrefResolver {
            // An address in a drawing is not followed.
            resolve_string: Box::new(|_, _| None),
            ..ImageHrefResolver::default()
        },
        ..Options::default()
    };
    let tree = Tree::from_str(&svg, &options).map_err(|error| drawing(error.to_string()))?;
    Ok((tree, lines))
}

pub(crate) fn drawing(reason: String) -> ReportError {
    ReportError::Drawing { reason }
}

/// A figure as PNG: 96 dots per inch times `scale`.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, ReportError> {
    let (tree, _) = tree(svg)?;
    let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
    let fine = |side: f32| side.is_finite() && side > 0.0 && side <= LARGEST;
    if !fine(width) || !fine(height) {
        return Err(drawing(format!(
            "a PNG of {width} × {height} pixels, where a side is at most {LARGEST}; choose another \
             scale than {scale}"
        )));
    }
    let Some(mut pixels) = Pixmap::new(width.ceil() as u32, height.ceil() as u32) else {
        return Err(drawing(format!("no memory for a PNG of {width} × {height} pixels")));
    };
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| drawing(error.to_string()))
}

/// A small image as PNG; `None` where its bytes do not fit its size.
pub(crate) fn picture(picture: &Picture) -> Option<Vec<u8>> {
    let Picture { width, height, channels, ref pixels } = *picture;
    let fits = matches!(channels, 1 | 3)
        && width.checked_mul(height)?.checked_mul(channels)? == pixels.len();
    if !fits {
        return None;
    }
    let mut out = Pixmap::new(u32::try_from(width).ok()?, u32::try_from(height).ok()?)?;
    for (pixel, bytes) in out.pixels_mut().iter_mut().zip(pixels.chunks_exact(channels)) {
        let (red, green, blue) = match *bytes {
            [red, green, blue] => (red, green, blue),
            [grey] => (grey, grey, grey),
            _ => return None,
        };
        *pixel = PremultipliedColorU8::from_rgba(red, green, blue, u8::MAX)?;
    }
    out.encode_png().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_must_fit_their_size() {
        let pixels = vec![0, 128, 255, 9, 9, 9];
        let right = Picture { width: 2, height: 1, channels: 3, pixels: pixels.clone() };
        let png = picture(&right).unwrap_or_default();
        assert!(png.starts_with(b"\x89PNG"));
        let wrong = |width, height, channels| {
            picture(&Picture { width, height, channels, pixels: pixels.clone() })
        };
        assert_eq!(wrong(3, 1, 3), None);
        assert_eq!(wrong(3, 1, 2), None);
        assert_eq!(wrong(0, 0, 1), None);
        assert_eq!(wrong(usize::MAX, 2, 3), None);
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        let small = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"/>";
        for scale in [0.0, -1.0, f32::NAN, 1e9] {
            assert!(matches!(png(small, scale), Err(ReportError::Drawing { .. })));
        }
        assert!(png(small, 2.0).is_ok_and(|png| png.starts_with(b"\x89PNG")));
        assert!(matches!(pdf("<svg"), Err(ReportError::Drawing { .. })));
    }
}
