//! Image files: PNG and JPEG, 8-bit grey or RGB.
//!
//! All headers are looked at first, so that an image of another size is named before any is
//! decoded. Files are then decoded in parallel, a block at a time, and put in order: memory grows
//! with what was really decoded, not with what headers say. If one image is RGB, all become RGB.
//!
//! Images are turned as their EXIF data say. Colour profiles are not applied, and not even unpacked. What
//! 8-bit grey or RGB cannot hold (more bits, transparency) is an error, not a guess; an alpha
//! channel that is opaque everywhere says nothing and is dropped.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder, ImageReader, Limits};
use rayon::prelude::*;

use super::png_chunks;
use crate::error::InputError;
use crate::images::Images;
use crate::inputs::{Inputs, Kind, check_ids};
use crate::options::ReadOptions;

/// A file and the item that it shows.
pub(super) struct ImageFile {
    pub(super) id: String,
    pub(super) path: PathBuf,
}

/// The largest side of an image.
const MOST_SIDE: usize = 1 << 14;
/// The most that one image may take decoded, and the most that its file may hold.
const MOST_BYTES: u64 = 256 << 20;
/// So many files are decoded at a time.
const BLOCK: usize = 512;

/// Whether a file's name says that it is an image.
pub(super) fn is_image(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["png", "jpg", "jpeg"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// A file's name without its folder and its ending.
pub(super) fn stem(name: &str) -> &str {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// What a header says.
struct Head {
    size: (usize, usize),
    grey: bool,
    turned: bool,
}

/// Reads all files into images of one size.
pub(super) fn read_all(
    file: &str,
    list: &[ImageFile],
    mut notes: Vec<String>,
    options: &ReadOptions,
) -> Result<Inputs, InputError> {
    let resize = options.resize.map(check_resize).transpose()?;
    let heads: Vec<Result<Head, InputError>> =
        list.par_iter().map(|image| head(&image.path)).collect();
    // One after another, so that the first in order is the one that is named.
    let heads: Vec<Head> = heads.into_iter().collect::<Result<_, _>>()?;
    let Some(first) = heads.first() else {
        let found = "a table without rows".to_owned();
        return Err(InputError::NoImages { file: file.to_owned(), found });
    };
    let (height, width) = resize.unwrap_or(first.size);
    let differs = heads.iter().position(|head| head.size != (height, width));
    match (differs, resize) {
        (Some(at), None) => {
            return Err(InputError::Size {
                file: list[at].path.display().to_string(),
                found: heads[at].size,
                first: list[0].path.display().to_string(),
                expected: first.size,
            });
        }
        (Some(_), Some(_)) => {
            let count = heads.iter().filter(|head| head.size != (height, width)).count();
            notes.push(format!("{count} images brought to {height} × {width} (bilinear)"));
        }
        (None, _) => {}
    }
    let turned = heads.iter().filter(|head| head.turned).count();
    if turned > 0 {
        notes.push(format!("{turned} images turned as their EXIF data say"));
    }
    let grey = heads.iter().filter(|head| head.grey).count();
    let channels = if grey == heads.len() { 1 } else { 3 };
    if channels == 3 && grey > 0 {
        notes.push(format!("{grey} grey images among RGB ones, taken as RGB"));
    }
    let values = |images: usize, (height, width): (usize, usize)| {
        let axes = [height, width, channels];
        axes.iter().fold(images as u64, |n, &axis| n.saturating_mul(axis as u64))
    };
    // Each is decoded in its own size first.
    let largest = heads.iter().map(|head| values(1, head.size)).max();
    let found = values(list.len(), (height, width)).max(largest.unwrap_or(0));
    let limit = options.limits.cells;
    if found > limit {
        let (file, what) = (file.to_owned(), "pixel values");
        return Err(InputError::TooMany { file, what, found, limit });
    }
    let mut pixels = Vec::new();
    for block in list.chunks(BLOCK) {
        let decoded: Vec<Result<Vec<u8>, InputError>> =
            block.par_iter().map(|image| decode(&image.path, (height, width), channels)).collect();
        for image in decoded {
            pixels.extend_from_slice(&image?);
        }
    }
    let ids = list.iter().map(|image| image.id.as_str());
    let ids = check_ids(file, ids, |row| format!("file {}", row + 1))?;
    let images = Images::new(file, height, width, channels, pixels)?;
    Ok(Inputs::new(file, Some(ids), Kind::Images(images))?.noting(notes))
}

fn check_resize(found: [usize; 2]) -> Result<(usize, usize), InputError> {
    match found.iter().all(|side| (1..=MOST_SIDE).contains(side)) {
        true => Ok((found[0], found[1])),
        false => Err(InputError::Resize { found, most: MOST_SIDE }),
    }
}

fn bad(path: &Path, why: impl ToString) -> InputError {
    InputError::Decode { file: path.display().to_string(), why: why.to_string() }
}

/// A decoder that makes nothing larger than the limits.
fn decoder<'a>(
    path: &Path,
    source: impl BufRead + Seek + 'a,
) -> Result<impl ImageDecoder + 'a, InputError> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MOST_SIDE as u32);
    limits.max_image_height = Some(MOST_SIDE as u32);
    limits.max_alloc = Some(MOST_BYTES);
    let mut reader =
        ImageReader::new(source).with_guessed_format().map_err(|e| InputError::io(path, e))?;
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(|error| bad(path, error))?;
    if decoder.total_bytes() > MOST_BYTES {
        let (width, height) = decoder.dimensions();
        return Err(bad(path, format!("{height} × {width} pixels are too many")));
    }
    Ok(decoder)
}

fn head(path: &Path) -> Result<Head, InputError> {
    let fail = |error| InputError::io(path, error);
    let mut file = File::open(path).map_err(fail)?;
    let mut start = Vec::new();
    file.by_ref().take(8).read_to_end(&mut start).map_err(fail)?;
    file.rewind().map_err(fail)?;
    if png_chunks::is_png(&start) {
        let bytes = png_chunks::needed(file, false, MOST_BYTES).map_err(fail)?;
        return head_of(path, decoder(path, Cursor::new(bytes))?);
    }
    head_of(path, decoder(path, BufReader::new(file))?)
}

fn head_of(path: &Path, mut decoder: impl ImageDecoder) -> Result<Head, InputError> {
    let orientation = decoder.orientation().map_err(|error| bad(path, error))?;
    let (mut width, mut height) = decoder.dimensions();
    if matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    ) {
        (width, height) = (height, width);
    }
    let turned = orientation != Orientation::NoTransforms;
    let grey = match decoder.color_type() {
        ColorType::L8 | ColorType::La8 => true,
        ColorType::Rgb8 | ColorType::Rgba8 => false,
        _ => {
            return Err(InputError::Lossy {
                file: path.display().to_string(),
                what: "more than 8 bits a value",
                remedy: "convert it first, for example: magick mogrify -depth 8 *.png",
            });
        }
    };
    Ok(Head { size: (height as usize, width as usize), grey, turned })
}

fn decode(
    path: &Path,
    (height, width): (usize, usize),
    channels: usize,
) -> Result<Vec<u8>, InputError> {
    let fail = |error| InputError::io(path, error);
    let mut bytes = Vec::new();
    File::open(path).map_err(fail)?.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(bad(path, format!("the file is larger than {MOST_BYTES} bytes")));
    }
    if is_cut_jpeg(&bytes) {
        return Err(bad(path, "the file breaks off before its end"));
    }
    if png_chunks::is_png(&bytes) {
        bytes = png_chunks::needed(Cursor::new(bytes), true, MOST_BYTES).map_err(fail)?;
    }
    let mut decoder = decoder(path, Cursor::new(bytes))?;
    let orientation = decoder.orientation().map_err(|error| bad(path, error))?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(|error| bad(path, error))?;
    image.apply_orientation(orientation);
    let see_through = match &image {
        DynamicImage::ImageLumaA8(pixels) => pixels.pixels().any(|pixel| pixel.0[1] < 255),
        DynamicImage::ImageRgba8(pixels) => pixels.pixels().any(|pixel| pixel.0[3] < 255),
        _ => false,
    };
    if see_through {
        return Err(InputError::Lossy {
            file: path.display().to_string(),
            what: "transparent pixels",
            remedy: "put it on a background first, for example: \
                     magick mogrify -background black -alpha remove *.png",
        });
    }
    if (image.height() as usize, image.width() as usize) != (height, width) {
        image = image.resize_exact(width as u32, height as u32, FilterType::Triangle);
    }
    Ok(match channels {
        1 => image.into_luma8().into_raw(),
        _ => image.into_rgb8().into_raw(),
    })
}

/// Whether a JPEG lacks its end mark (FF D9) behind its last scan (FF DA). The decoder would fill
/// what is missing with grey and say nothing. Neither mark occurs inside a scan.
fn is_cut_jpeg(bytes: &[u8]) -> bool {
    if !bytes.starts_with(&[0xff, 0xd8]) {
        return false;
    }
    let marks = |mark: u8| bytes.windows(2).rposition(|pair| pair == [0xff, mark]);
    marks(0xda).is_some_and(|scan| marks(0xd9).is_none_or(|end| end < scan))
}
