//! CIFAR's binary files: records of one label byte (CIFAR-10) or two (CIFAR-100) and a picture of
//! 32 × 32 pixels as three planes, red, green and blue.

use std::path::Path;

use dissensus_core::Ids;

use crate::error::InputError;
use crate::images::{Images, Strides, gather};
use crate::inputs::{Inputs, Kind};

const SIDE: usize = 32;
const PLANE: usize = SIDE * SIDE;
const CHANNELS: usize = 3;

/// The CIFAR-10 test pictures.
pub(super) fn ten(path: &Path) -> Result<Inputs, InputError> {
    let bytes = std::fs::read(path).map_err(|e| InputError::io(path, e))?;
    records("cifar10h", path, &bytes, 1)
}

/// The CIFAR-100 test pictures.
pub(super) fn hundred(path: &Path) -> Result<Inputs, InputError> {
    let bytes = std::fs::read(path).map_err(|e| InputError::io(path, e))?;
    records("cifar100", path, &bytes, 2)
}

fn records(
    name: &'static str,
    path: &Path,
    bytes: &[u8],
    labels: usize,
) -> Result<Inputs, InputError> {
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
    let pixels = gather(bytes, [items, SIDE, SIDE, CHANNELS], strides);
    let images = Images::new(name, SIDE, SIDE, CHANNELS, pixels)?;
    Inputs::new(name, Some(Ids::positions(items)), Kind::Images(images))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn planes_behind_labels() {
        for labels in [1, 2] {
            let picture = |n: u8| {
                let mut record = vec![200; labels];
                (0..3u8)
                    .for_each(|c| record.extend((0..1024u32).map(|i| (i % 60) as u8 + c * 60 + n)));
                record
            };
            let bytes = [picture(0), picture(1)].concat();
            let inputs = records("cifar10h", Path::new("x.bin"), &bytes, labels).unwrap();
            assert!(inputs.ids().unwrap().iter().eq(["0", "1"]));
            let Kind::Images(images) = inputs.kind() else { panic!("pictures") };
            assert_eq!(images.picture(0)[..6], [0, 60, 120, 1, 61, 121]);
            assert_eq!(images.picture(1)[..3], [1, 61, 121]);
            // The first pixel of the second row is number 32.
            assert_eq!(images.picture(0)[32 * 3..][..3], [32, 92, 152]);
            let cut = &bytes[..bytes.len() - 1];
            let error = records("cifar10h", Path::new("x.bin"), cut, labels).unwrap_err();
            assert!(error.to_string().contains("dissensus data fetch cifar10h"), "{error}");
        }
    }
}
