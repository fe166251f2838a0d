//! CIFAR-10N: three votes on each CIFAR-10 training image.

use super::{Dataset, Kind, Origin, RemoteFile, Source, Variant, VoteSet};

pub(super) static DATASET: Dataset = Dataset {
    name: "cifar10n",
    title: "CIFAR-10N human labels",
    what: "3 human labels on each of the 50,000 CIFAR-10 training images (labels only, no images)",
    licence: "CC BY-NC 4.0",
    homepage: Some("https://github.com/UCSC-REAL/cifar-10-100n"),
    citation: "Wei, Zhu, Cheng, Liu, Niu, Liu (2022), Learning with noisy labels revisited, ICLR",
    kind: Kind::Fetched,
    files: &[RemoteFile {
        path: "cifar10n/CIFAR-10_human.pt",
        accepted: &[Variant {
            sha256: "873e69c39cb9b5e97fb6bae2d60bb59b38a5cbc31d2b868f7903dcb2b9dd2310",
            bytes: 2_401_007,
            origin: Origin::Published,
            note: "the publisher's file; several projects that use it state the same",
        }],
        sources: &[Source::Direct {
            url: "https://raw.githubusercontent.com/UCSC-REAL/cifar-10-100n/main/data/CIFAR-10_human.pt",
        }],
    }],
    votes: &[VoteSet { name: "cifar10n", files: &["cifar10n/CIFAR-10_human.pt"] }],
};
