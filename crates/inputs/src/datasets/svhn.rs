//! SVHN's cropped digits: a MATLAB file with `X`, height × width × channels × items, the first
//! axis the fastest.

use std::path::{Path, PathBuf};

use dissensus_core::Ids;

use super::mat;
use crate::error::InputError;
use crate::images::{Images, Strides, gather};
use crate::inputs::{Inputs, Kind};

/// The test digits.
pub(super) fn read(paths: &[PathBuf]) -> Result<Inputs, InputError> {
    let path = paths.first().map_or(Path::new(""), PathBuf::as_path);
    let bytes = std::fs::read(path).map_err(|e| InputError::io(path, e))?;
    let wrong = |found: String| InputError::Dataset {
        name: "svhn",
        file: path.display().to_string(),
        expected: "a MATLAB 5 file with bytes X, 32 × 32 × 3 × items",
        found,
    };
    let array = mat::bytes_of(&bytes, "X").map_err(wrong)?;
    let [height, width, channels, items] = array.shape[..] else {
        return Err(wrong(format!("X of shape {:?}", array.shape)));
    };
    if items == 0 || height == 0 || width == 0 || !matches!(channels, 1 | 3) {
        return Err(wrong(format!("X of shape {:?}", array.shape)));
    }
    let plane = height * width;
    let strides =
        Strides { item: plane * channels, row: 1, column: height, channel: plane, start: 0 };
    let pixels = gather(&array.values, [items, height, width, channels], strides);
    let images = Images::new("svhn", height, width, channels, pixels)?;
    Inputs::new("svhn", Some(Ids::positions(items)), Kind::Images(images))
}
