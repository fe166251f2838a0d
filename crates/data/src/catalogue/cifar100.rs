//! CIFAR-100 test images: the near out-of-distribution set for CIFAR-10.

use super::{Archive, Dataset, Format, Kind, Origin, RemoteFile, Source, Variant};

pub(super) static DATASET: Dataset = Dataset {
    name: "cifar100",
    title: "CIFAR-100 test images",
    what: "10,000 images of 100 classes, 32×32; used as near out-of-distribution data",
    licence: "none stated",
    homepage: Some("https://www.cs.toronto.edu/~kriz/cifar.html"),
    citation: "Krizhevsky (2009), Learning multiple layers of features from tiny images",
    kind: Kind::Fetched,
    made_by: None,
    files: &[RemoteFile {
        path: "cifar100/test.bin",
        accepted: &[
            Variant {
                sha256: "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a",
                bytes: 30_740_000,
                origin: Origin::Published,
                note: "the member of the official archive, as torchvision-ruby states it",
            },
            Variant {
                sha256: "2fce158546caae6e2d975c24eb75b99194fe4190bc7c4e2d7d20774ecd155612",
                bytes: 30_740_000,
                origin: Origin::Rebuilt,
                note: "from lossless PNGs (github cyizhuo/CIFAR-100-dataset): same images and labels, ordered by class and file name",
            },
        ],
        sources: &[Source::Member { archive: &CIFAR100, member: "cifar-100-binary/test.bin" }],
    }],
    votes: &[],
};

/// The publisher states the MD5 03b5dce01913d631647c71ecec9e9cb8; the SHA-256 is the one that
/// MLDatasets.jl and torchvision-ruby pin for the same file.
static CIFAR100: Archive = Archive {
    url: "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
    file: "cifar-100-binary.tar.gz",
    format: Format::TarGz,
    known: Some((168_513_733, "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec")),
};
