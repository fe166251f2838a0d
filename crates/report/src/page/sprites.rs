//! Small images, many to a sheet.
//!
//! Ten thousand images as files of their own would carry ten thousand headers; as a few sheets
//! they are packed tightly, and a browser decodes only the sheets that it shows. All images of a
//! collection stand in cells of one size, in the order in which they come; a cell's sides are
//! multiples of 8, JPEG's blocks, and its rest repeats the image's edge, so that neighbours never
//! bleed into each other. Sheets are PNG where that is smaller or small, else JPEG.

use base64::{Engine, engine::general_purpose::STANDARD};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, GrayImage, ImageEncoder, ImageError, RgbImage, imageops};
use serde::Serialize;

use crate::book::Picture;

/// Images are shown no larger than this, so more pixels would only fill the file.
const LONGEST_SIDE: usize = 128;
/// A sheet's side, in pixels: small enough to be decoded in a few milliseconds.
const SHEET_SIDE: usize = 1024;
/// JPEG's qualities, tried in this order until all images fit.
const QUALITIES: [u8; 3] = [90, 75, 60];
/// What all sheets may take as PNG even where JPEG would be smaller: nothing is lost.
const SMALL: usize = 1_000_000;

/// The sheets of one collection.
#[derive(Debug, Serialize)]
pub(super) struct Sheets {
    /// A cell's width in pixels.
    pub(super) width: usize,
    /// A cell's height.
    pub(super) height: usize,
    /// Cells in a row.
    pub(super) columns: usize,
    /// Cells in a sheet; the last has fewer.
    pub(super) cells: usize,
    /// How many images there are in the sheets: the first ones of those that came.
    pub(super) kept: usize,
    pub(super) of: usize,
    /// JPEG's quality; `None` for PNG, which loses nothing.
    pub(super) quality: Option<u8>,
    /// Each image's own width and height, where cells are larger; empty where none is.
    pub(super) sizes: Vec<[usize; 2]>,
    /// The sheets themselves, as `data:` addresses.
    #[serde(skip)]
    pub(super) urls: Vec<String>,
}

/// How a sheet is written.
#[derive(Clone, Copy)]
enum Form {
    Png,
    Jpeg(u8),
}

/// An image no larger than it is shown, in the channels of its sheet.
struct Small {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

struct Layout {
    channels: usize,
    width: usize,
    height: usize,
    columns: usize,
    rows: usize,
}

/// Packs images, the most important ones first, into at most `budget` bytes of text. The images
/// are checked: as many bytes as they say.
pub(super) fn pack(pictures: &[&Picture], budget: usize) -> Result<Option<Sheets>, ImageError> {
    let sizes: Vec<[usize; 2]> = pictures.iter().map(|p| shown(p.width, p.height)).collect();
    let largest = |side: usize| sizes.iter().map(|size| size[side]).max();
    let (Some(width), Some(height)) = (largest(0), largest(1)) else { return Ok(None) };
    let channels = pictures.iter().map(|p| p.channels).max().unwrap_or(1);
    let (width, height) = (width.next_multiple_of(8), height.next_multiple_of(8));
    let (columns, rows) = ((SHEET_SIDE / width).max(1), (SHEET_SIDE / height).max(1));
    let layout = Layout { channels, width, height, columns, rows };
    let form = layout.form(pictures, budget)?;
    let mut sheets = Sheets {
        width,
        height,
        columns,
        cells: columns * rows,
        kept: 0,
        of: pictures.len(),
        quality: match form {
            Form::Png => None,
            Form::Jpeg(quality) => Some(quality),
        },
        sizes: Vec::new(),
        urls: Vec::new(),
    };
    let mut left = budget;
    for chunk in pictures.chunks(sheets.cells) {
        let Some((count, url)) = layout.fitting(chunk, form, left)? else { break };
        left -= url.len();
        sheets.kept += count;
        sheets.urls.push(url);
        if count < chunk.len() {
            break;
        }
    }
    if sizes.iter().any(|size| *size != [width, height]) {
        sheets.sizes = sizes[..sheets.kept].to_vec();
    }
    Ok(Some(sheets))
}

/// The size at which an image is kept.
fn shown(width: usize, height: usize) -> [usize; 2] {
    let longest = width.max(height);
    if longest <= LONGEST_SIDE {
        return [width, height];
    }
    [width, height].map(|side| (side * LONGEST_SIDE / longest).max(1))
}

/// As text, a third longer, with what stands before it.
fn text_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4 + "data:image/jpeg;base64,".len()
}

impl Layout {
    /// What a sample of the images speaks for.
    fn form(&self, pictures: &[&Picture], budget: usize) -> Result<Form, ImageError> {
        let step = pictures.len().div_ceil((self.columns * self.rows).min(256)).max(1);
        let sample: Vec<&Picture> = pictures.iter().copied().step_by(step).collect();
        let sheet = self.compose(&sample);
        let whole = |bytes: usize| text_length(bytes) * pictures.len() / sample.len().max(1);
        let png = whole(self.encode(&sheet, sample.len(), Form::Png)?.len());
        let mut form = Form::Png;
        for quality in QUALITIES {
            let jpeg = whole(self.encode(&sheet, sample.len(), Form::Jpeg(quality))?.len());
            if png <= budget && (png <= jpeg || png <= SMALL) {
                return Ok(Form::Png);
            }
            form = Form::Jpeg(quality);
            // A sample is off by a little; sheets are cut where it was off by more.
            if jpeg + jpeg / 50 <= budget {
                break;
            }
        }
        Ok(form)
    }

    /// A sheet of as many of the images as fit into `budget`; `None` where not a row of them does.
    fn fitting(
        &self,
        pictures: &[&Picture],
        form: Form,
        budget: usize,
    ) -> Result<Option<(usize, String)>, ImageError> {
        let mut count = pictures.len();
        while count > 0 {
            let bytes = self.encode(&self.compose(&pictures[..count]), count, form)?;
            let length = text_length(bytes.len());
            if length <= budget {
                let kind = if matches!(form, Form::Png) { "png" } else { "jpeg" };
                let text = STANDARD.encode(bytes);
                return Ok(Some((count, format!("data:image/{kind};base64,{text}"))));
            }
            // Some less than the share that fits, and always fewer than now.
            let share = count * budget / length;
            count = (share - share / 20).min(count - 1);
            if count < self.columns.min(pictures.len()) {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// The pixels of a sheet with these images; rows that stay empty are not there.
    fn compose(&self, pictures: &[&Picture]) -> Vec<u8> {
        let stride = self.columns * self.width * self.channels;
        let rows = pictures.len().div_ceil(self.columns);
        let mut sheet = vec![255; stride * rows * self.height];
        for (at, picture) in pictures.iter().enumerate() {
            let small = reduce(picture, self.channels);
            let corner = (at / self.columns) * self.height * stride
                + (at % self.columns) * self.width * self.channels;
            for y in 0..self.height {
                let from = y.min(small.height - 1) * small.width * self.channels;
                let row = &small.pixels[from..from + small.width * self.channels];
                let edge = &row[row.len() - self.channels..];
                let to = &mut sheet[corner + y * stride..][..self.width * self.channels];
                let (inside, beyond) = to.split_at_mut(row.len());
                inside.copy_from_slice(row);
                beyond.chunks_mut(self.channels).for_each(|pixel| pixel.copy_from_slice(edge));
            }
        }
        sheet
    }

    fn encode(&self, sheet: &[u8], count: usize, form: Form) -> Result<Vec<u8>, ImageError> {
        let colour = match self.channels {
            1 => ExtendedColorType::L8,
            _ => ExtendedColorType::Rgb8,
        };
        // Sides are below 2¹⁶: at most a sheet's.
        let width = (self.columns * self.width) as u32;
        let height = (count.div_ceil(self.columns) * self.height) as u32;
        let mut bytes = Vec::new();
        match form {
            Form::Png => {
                let (level, filter) = (CompressionType::Default, FilterType::Adaptive);
                let encoder = PngEncoder::new_with_quality(&mut bytes, level, filter);
                encoder.write_image(sheet, width, height, colour)?;
            }
            Form::Jpeg(quality) => {
                let encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
                encoder.write_image(sheet, width, height, colour)?;
            }
        }
        Ok(bytes)
    }
}

/// An image in `channels` channels, no larger than it is shown.
fn reduce(picture: &Picture, channels: usize) -> Small {
    let pixels = if picture.channels == channels {
        picture.pixels.clone()
    } else {
        picture.pixels.iter().flat_map(|grey| [*grey; 3]).collect()
    };
    let [width, height] = shown(picture.width, picture.height);
    if [width, height] == [picture.width, picture.height] {
        return Small { width, height, pixels };
    }
    let (from, to) = ((picture.width as u32, picture.height as u32), (width as u32, height as u32));
    let reduced = match channels {
        1 => GrayImage::from_raw(from.0, from.1, pixels)
            .map(|image| imageops::thumbnail(&image, to.0, to.1).into_raw()),
        _ => RgbImage::from_raw(from.0, from.1, pixels)
            .map(|image| imageops::thumbnail(&image, to.0, to.1).into_raw()),
    };
    // The sizes were checked, so there always is an image.
    Small { width, height, pixels: reduced.unwrap_or_else(|| vec![0; width * height * channels]) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    fn plain(width: usize, height: usize, channels: usize, value: u8) -> Picture {
        Picture { width, height, channels, pixels: vec![value; width * height * channels] }
    }

    fn noise(seed: u64, side: usize) -> Picture {
        let mut state = seed.wrapping_mul(2).wrapping_add(1);
        let pixels = (0..side * side * 3)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
            .collect();
        Picture { width: side, height: side, channels: 3, pixels }
    }

    fn decode(url: &str) -> image::DynamicImage {
        let (_, text) = url.split_once("base64,").unwrap();
        image::load_from_memory(&STANDARD.decode(text).unwrap()).unwrap()
    }

    #[test]
    fn pictures_come_back_from_their_cells() {
        let (a, b) = (plain(28, 28, 1, 10), plain(20, 12, 3, 200));
        let sheets = pack(&[&a, &b], 1 << 20).unwrap().unwrap();
        assert_eq!((sheets.width, sheets.height, sheets.columns), (32, 32, 32));
        assert_eq!((sheets.kept, sheets.of, sheets.quality), (2, 2, None));
        assert_eq!(sheets.sizes, [[28, 28], [20, 12]]);
        let sheet = decode(&sheets.urls[0]).to_rgb8();
        assert_eq!((sheet.width(), sheet.height()), (1024, 32));
        assert_eq!(sheet.get_pixel(5, 5).0, [10; 3]);
        assert_eq!(sheet.get_pixel(32 + 19, 11).0, [200; 3]);
        // The rest of a cell repeats the edge.
        assert_eq!(sheet.get_pixel(63, 31).0, [200; 3]);
    }

    #[test]
    fn what_does_not_fit_is_left_out_from_the_end() {
        let pictures: Vec<Picture> = (0..600).map(|seed| noise(seed, 16)).collect();
        let pictures: Vec<&Picture> = pictures.iter().collect();
        let all = pack(&pictures, 4 << 20).unwrap().unwrap();
        assert_eq!((all.kept, all.of), (600, 600));
        let budget = 100_000;
        let some = pack(&pictures, budget).unwrap().unwrap();
        let length: usize = some.urls.iter().map(String::len).sum();
        assert!(length <= budget && length > budget / 2, "{length}");
        assert!((100..600).contains(&some.kept), "{}", some.kept);
        assert_eq!(some.quality, Some(60));
        let none = pack(&pictures, 500).unwrap().unwrap();
        assert_eq!((none.kept, none.urls.len()), (0, 0));
    }

    #[test]
    fn large_pictures_are_reduced() {
        let large = plain(400, 100, 3, 77);
        let sheets = pack(&[&large], 1 << 20).unwrap().unwrap();
        assert_eq!((sheets.width, sheets.height), (128, 32));
        assert_eq!(decode(&sheets.urls[0]).to_rgb8().get_pixel(127, 31).0, [77; 3]);
        // A line of pixels stays at least one pixel wide.
        assert_eq!(shown(1, 4000), [1, 128]);
    }

    #[test]
    fn nothing_has_no_sheet() {
        assert!(pack(&[], 1 << 20).unwrap().is_none());
    }
}
