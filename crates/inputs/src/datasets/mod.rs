//! The images, votes and texts of known datasets, from the files that the catalogue keeps in the
//! cache.
//!
//! Ids are those that reading the dataset's votes gives: positions (`0`, `1`, …) for CIFAR-10H and
//! CIFAR-10N, whose votes come without ids in the order of the images; `blend-00042` for blends.
//! CIFAR-100 and SVHN, which have no votes and serve as foreign images, are numbered in the order
//! of their files.

mod cifar;
mod mat;
mod svhn;
mod texts;
mod votes;

use std::path::{Path, PathBuf};

use dissensus_data::blends::{Blends, SIDE, Settings};
use dissensus_data::catalogue;

use crate::error::InputError;
use crate::images::Images;
use crate::inputs::{Content, Inputs, Kind};

pub use texts::texts;
pub use votes::votes;

struct DatasetImages {
    name: &'static str,
    content: Content,
    /// The files in the cache; none for generated data.
    files: &'static [&'static str],
    read: fn(&[PathBuf]) -> Result<Inputs, InputError>,
}

const LIST: [DatasetImages; 5] = [
    DatasetImages {
        name: "cifar10h",
        content: Content::Photographs,
        files: &["cifar10/test_batch.bin"],
        read: cifar::ten,
    },
    DatasetImages {
        name: "cifar10n",
        content: Content::Photographs,
        files: &[
            "cifar10/data_batch_1.bin",
            "cifar10/data_batch_2.bin",
            "cifar10/data_batch_3.bin",
            "cifar10/data_batch_4.bin",
            "cifar10/data_batch_5.bin",
        ],
        read: cifar::ten_to_train,
    },
    DatasetImages {
        name: "cifar100",
        content: Content::Photographs,
        files: &["cifar100/test.bin"],
        read: cifar::hundred,
    },
    DatasetImages {
        name: "svhn",
        content: Content::Characters,
        files: &["svhn/test_32x32.mat"],
        read: svhn::read,
    },
    DatasetImages {
        name: "blends",
        content: Content::Generated,
        files: &[],
        read: |_| default_blends(),
    },
];

/// The datasets of the catalogue that have images.
pub const WITH_IMAGES: [&str; LIST.len()] =
    [LIST[0].name, LIST[1].name, LIST[2].name, LIST[3].name, LIST[4].name];

/// The images of a dataset of the catalogue. Files must be in the cache; a missing one is an
/// error that says how to fetch it. `blends` is made with its default settings.
pub fn from_dataset(name: &str, cache_dir: &Path) -> Result<Inputs, InputError> {
    let Some(known) = LIST.iter().find(|known| known.name == name) else {
        let name = catalogue::find(name)?.name.to_owned();
        return Err(InputError::WithoutImages { name, known: WITH_IMAGES.join(", ") });
    };
    if !known.files.is_empty() {
        dissensus_data::locate(name, cache_dir)?;
    }
    let paths: Vec<PathBuf> = known.files.iter().map(|file| cache_dir.join(file)).collect();
    Ok((known.read)(&paths)?.showing(known.content))
}

/// The images of generated blends, with the ids of their votes.
pub fn from_blends(blends: &Blends) -> Result<Inputs, InputError> {
    let images = Images::new("blends", SIDE, SIDE, 1, blends.images().to_vec())?;
    let ids = Some(blends.table().items().clone());
    Ok(Inputs::new("blends", ids, Kind::Images(images))?.showing(Content::Generated))
}

fn default_blends() -> Result<Inputs, InputError> {
    let settings = Settings::default().check().map_err(|e| InputError::Blends(e.to_string()))?;
    from_blends(&settings.generate().map_err(|e| InputError::Blends(e.to_string()))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dataset_is_in_the_catalogue_with_its_files() {
        for known in &LIST {
            let dataset = catalogue::find(known.name).unwrap();
            let listed = |file: &&str| dataset.files.iter().any(|f| f.path == *file);
            assert!(known.files.iter().all(listed), "{}", known.name);
            assert_eq!(known.files.is_empty(), dataset.files.is_empty(), "{}", known.name);
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let empty = tempfile::tempdir().unwrap();
        let error = |name| from_dataset(name, empty.path()).unwrap_err().to_string();
        for name in ["cifar10h", "cifar10n", "cifar100", "svhn"] {
            assert!(error(name).contains("is not in the cache"), "{name}");
        }
        assert!(error("chaosnli").contains("has no images here; those that do are: cifar10h"));
        assert!(error("nope").contains("there is no dataset 'nope'"));
    }

    #[test]
    fn blends_have_the_ids_of_their_votes() {
        let settings = Settings { items: 30, seed: 3, ..Settings::default() };
        let blends = settings.check().unwrap().generate().unwrap();
        let inputs = from_blends(&blends).unwrap();
        assert_eq!(inputs.ids(), Some(blends.table().items()));
        let Kind::Images(images) = inputs.kind() else { panic!("images") };
        assert_eq!((images.height(), images.channels(), images.len()), (16, 1, 30));
        assert_eq!(images.image(7), blends.image(7));
    }
}
