//! CIFAR-10N: three votes on each CIFAR-10 training image, with the images.

use super::cifar10h::{CIFAR10, IMAGES};
use super::{Dataset, Kind, VoteSet, file};

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
        file!(
            "cifar10n/CIFAR-10_human.pt", Published "873e69c39cb9b5e97fb6bae2d60bb59b38a5cbc31d2b868f7903dcb2b9dd2310", 2_401_007,
            "the publisher's file; several projects that use it state the same";
            "https://raw.githubusercontent.com/UCSC-REAL/cifar-10-100n/main/data/CIFAR-10_human.pt";
        ),
        file!(
            "cifar10/data_batch_1.bin", Published "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5", 30_730_000,
            IMAGES; "cifar-10-batches-bin/data_batch_1.bin", in CIFAR10
        ),
        file!(
            "cifar10/data_batch_2.bin", Published "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed", 30_730_000,
            IMAGES; "cifar-10-batches-bin/data_batch_2.bin", in CIFAR10
        ),
        file!(
            "cifar10/data_batch_3.bin", Published "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67", 30_730_000,
            IMAGES; "cifar-10-batches-bin/data_batch_3.bin", in CIFAR10
        ),
        file!(
            "cifar10/data_batch_4.bin", Published "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48", 30_730_000,
            IMAGES; "cifar-10-batches-bin/data_batch_4.bin", in CIFAR10
        ),
        file!(
            "cifar10/data_batch_5.bin", Published "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add", 30_730_000,
            IMAGES; "cifar-10-batches-bin/data_batch_5.bin", in CIFAR10
        ),
    ],
    votes: &[VoteSet { name: "cifar10n", files: &["cifar10n/CIFAR-10_human.pt"] }],
};
