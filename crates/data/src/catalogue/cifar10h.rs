//! CIFAR-10H: about 51 votes on each of the 10,000 CIFAR-10 test images, with the images.

use super::{Archive, Dataset, Format, Kind, VoteSet, file};

/// How the digests of images are known.
pub(super) const IMAGES: &str =
    "the member of the official archive; torchvision-ruby states the same";

pub(super) static DATASET: Dataset = Dataset {
    name: "cifar10h",
    title: "CIFAR-10H, with the CIFAR-10 test images",
    what: "511,000 human votes over 10 classes on the 10,000 CIFAR-10 test images (47 to 63 per image)",
    licence: "CC BY-NC-SA 4.0 (votes); none stated (images)",
    homepage: Some("https://github.com/jcpeterson/cifar-10h"),
    citation: "Peterson, Battleday, Griffiths, Russakovsky (2019), Human uncertainty makes classification more robust, ICCV",
    kind: Kind::Fetched,
    made_by: None,
    files: &[
        file!(
            "cifar10h/cifar10h-counts.npy", Copied "9b36b4550349af56c79083356312eb4af856cc5fd3caf1f669d40b9d0bbb69ff", 800_128,
            "taken from a copy of the publisher's repository";
            "https://raw.githubusercontent.com/jcpeterson/cifar-10h/master/data/cifar10h-counts.npy";
        ),
        file!(
            "cifar10h/cifar10h-probs.npy", Copied "436ae98620e00073f9d08585ac870573b588853e7af9f54eb1647408114af77d", 800_128,
            "taken from a copy of the publisher's repository";
            "https://raw.githubusercontent.com/jcpeterson/cifar-10h/master/data/cifar10h-probs.npy";
        ),
        file!(
            "cifar10/test_batch.bin", Published "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b", 30_730_000,
            IMAGES;
            "cifar-10-batches-bin/test_batch.bin", in CIFAR10;
        ),
    ],
    votes: &[VoteSet { name: "cifar10h", files: &["cifar10h/cifar10h-counts.npy"] }],
};

/// The publisher states the MD5 c32a1d4ab5d03f1284b67883e8d87530; the SHA-256 is the one that
/// MLDatasets.jl and torchvision-ruby pin for the same file.
pub(super) static CIFAR10: Archive = Archive {
    url: "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    file: "cifar-10-binary.tar.gz",
    format: Format::TarGz,
    known: Some((170_052_171, "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd")),
};
