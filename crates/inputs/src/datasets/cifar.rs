//! CIFAR's binary files: records of one label byte (CIFAR-10) or two (CIFAR-100) and an image of
//! 32 × 32 pixels as three planes, red, green and blue.

use std::path::{Path, PathBuf};

use dissensus_core::Ids;

use crate::error::InputError;
use crate::images::{Images, Strides, gather};
use crate::inputs::{Inputs, Kind};

const SIDE: usize = 32;
const PLANE: usize = SIDE * SIDE;
const CHANNELS: usize = 3;

/// The CIFAR-10 test images.
pub(super) fn ten(paths: &[PathBuf]) -> Result<Inputs, InputError> {
    read("cifar10h", paths, 1)
}

/// The CIFAR-10 training images, file after file.
pub(super) fn ten_to_train(paths: &[PathBuf]) -> Result<Inputs, InputError> {
    read("cifar10n", paths, 1)
}

/// The CIFAR-100 test images.
pub(super) fn hundred(paths: &[PathBuf]) -> Result<Inputs, InputError> {
    read("cifar100", paths, 2)
}

/// Files of records, each after `labels` bytes, numbered from 0 through all of them.
fn read(name: &'static str, paths: &[PathBuf], labels: usize) -> Result<Inputs, InputError> {
    let mut pixels = Vec::new();
    for path in paths {
        let bytes = std::fs::read(path).map_err(|e| InputError::io(path, e))?;
        pixels.extend(read_images(name, path, &bytes, labels)?);
    }
    let images = Images::new(name, SIDE, SIDE, CHANNELS, pixels)?;
    Inputs::new(name, Some(Ids::positions(images.len())), Kind::Images(images))
}

/// The pixels of the records of a file.
fn read_images(
    name: &'static str,
    path: &Path,
    bytes: &[u8],
    labels: usize,
) -> Result<Vec<u8>, InputError> {
    let record = labels + CHANNELS * PLANE;
    let items = bytes.len() / record;
    if items == 0 || !bytes.len().is_multiple_of(record) {
        return Err(InputError::Dataset {
            name,
            file: path.display().to_string(),
            expected: "whole records of label and 3 × 32 × 32 pixels",
            found: format!("{} bytes for records of {record}", bytes.len()),
        });
    }
    let strides = Strides { item: record, row: SIDE, column: 1, channel: PLANE, start: labels };
    Ok(gather(bytes, [items, SIDE, SIDE, CHANNELS], strides))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of image n, whose planes begin with n, 60 + n and 120 + n.
    fn record(labels: usize, n: u8) -> Vec<u8> {
        let mut record = vec![200; labels];
        (0..3u8).for_each(|c| record.extend((0..1024u32).map(|i| (i % 60) as u8 + c * 60 + n)));
        record
    }

    #[test]
    fn planes_behind_labels() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.bin");
        for labels in [1, 2] {
            let bytes = [record(labels, 0), record(labels, 1)].concat();
            std::fs::write(&path, &bytes).unwrap();
            let inputs = read("cifar10h", std::slice::from_ref(&path), labels).unwrap();
            assert!(inputs.ids().unwrap().iter().eq(["0", "1"]));
            let Kind::Images(images) = inputs.kind() else { panic!("images") };
            assert_eq!(images.image(0)[..6], [0, 60, 120, 1, 61, 121]);
            assert_eq!(images.image(1)[..3], [1, 61, 121]);
            // The first pixel of the second row is number 32.
            assert_eq!(images.image(0)[32 * 3..][..3], [32, 92, 152]);
            let cut = &bytes[..bytes.len() - 1];
            let error = read_images("cifar10h", Path::new("x.bin"), cut, labels).unwrap_err();
            assert!(error.to_string().contains("download the dataset 'cifar10h' again"), "{error}");
        }
    }

    #[test]
    fn files_are_numbered_through() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["b", "a"].map(|name| folder.path().join(name));
        std::fs::write(&paths[0], [record(1, 0), record(1, 1)].concat()).unwrap();
        std::fs::write(&paths[1], record(1, 2)).unwrap();
        let inputs = ten_to_train(&paths).unwrap();
        assert!(inputs.ids().unwrap().iter().eq(["0", "1", "2"]));
        let Kind::Images(images) = inputs.kind() else { panic!("images") };
        assert_eq!([0, 1, 2].map(|at| images.image(at)[0]), [0, 1, 2]);
        std::fs::write(&paths[1], [0; 9]).unwrap();
        let error = ten_to_train(&paths).unwrap_err().to_string();
        assert!(error.contains("9 bytes") && error.contains("'cifar10n' again"), "{error}");
    }
}
