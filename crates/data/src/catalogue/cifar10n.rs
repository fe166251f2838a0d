//! CIFAR-10N: three votes on each CIFAR-10 training image, with the images.

use super::cifar10h::CIFAR10;
use super::{Dataset, Kind, Origin, RemoteFile, Source, Variant, VoteSet};

pub(super) static DATASET: Dataset = Dataset {
    name: "cifar10n",
    title: "CIFAR-10N, with the CIFAR-10 training images",
    what: "3 human labels on each of the 50,000 CIFAR-10 training images; sparse votes, to be evaluated on cifar10h",
    licence: "CC BY-NC 4.0 (labels); none stated (images)",
    homepage: Some("https://github.com/UCSC-REAL/cifar-10-100n"),
    citation: "Wei, Zhu, Cheng, Liu, Niu, Liu (2022), Learning with noisy labels revisited, ICLR",
    kind: Kind::Fetched,
    made_by: None,
    files: &[
        RemoteFile {
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
        },
        RemoteFile {
            path: "cifar10/data_batch_1.bin",
            accepted: &[images("cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5")],
            sources: &[Source::Member {
                archive: &CIFAR10,
                member: "cifar-10-batches-bin/data_batch_1.bin",
            }],
        },
        RemoteFile {
            path: "cifar10/data_batch_2.bin",
            accepted: &[images("a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed")],
            sources: &[Source::Member {
                archive: &CIFAR10,
                member: "cifar-10-batches-bin/data_batch_2.bin",
            }],
        },
        RemoteFile {
            path: "cifar10/data_batch_3.bin",
            accepted: &[images("bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67")],
            sources: &[Source::Member {
                archive: &CIFAR10,
                member: "cifar-10-batches-bin/data_batch_3.bin",
            }],
        },
        RemoteFile {
            path: "cifar10/data_batch_4.bin",
            accepted: &[images("014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48")],
            sources: &[Source::Member {
                archive: &CIFAR10,
                member: "cifar-10-batches-bin/data_batch_4.bin",
            }],
        },
        RemoteFile {
            path: "cifar10/data_batch_5.bin",
            accepted: &[images("755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add")],
            sources: &[Source::Member {
                archive: &CIFAR10,
                member: "cifar-10-batches-bin/data_batch_5.bin",
            }],
        },
    ],
    votes: &[VoteSet { name: "cifar10n", files: &["cifar10n/CIFAR-10_human.pt"] }],
};

/// A file of 10,000 images.
const fn images(sha256: &'static str) -> Variant {
    Variant {
        sha256,
        bytes: 30_730_000,
        origin: Origin::Published,
        note: "the member of the official archive; torchvision-ruby states the same",
    }
}
