//! SVHN cropped test digits: the far out-of-distribution set for CIFAR-10.

use super::{Dataset, Kind, Origin, RemoteFile, Source, Variant};

pub(super) static DATASET: Dataset = Dataset {
    name: "svhn",
    title: "Street View House Numbers, cropped test digits",
    what: "26,032 images of digits, 32×32; used as far out-of-distribution data",
    licence: "non-commercial use only",
    homepage: Some("http://ufldl.stanford.edu/housenumbers/"),
    citation: "Netzer, Wang, Coates, Bissacco, Wu, Ng (2011), Reading digits in natural images with unsupervised feature learning, NIPS workshop",
    kind: Kind::Fetched,
    made_by: None,
    files: &[RemoteFile {
        path: "svhn/test_32x32.mat",
        accepted: &[
            Variant {
                sha256: "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
                bytes: 64_275_384,
                origin: Origin::Published,
                note: "the official file (MD5 eb5a983be6a315427106f1b164d9cef3), as torchvision pins it",
            },
            Variant {
                sha256: "6c77aa57970b800cbe8ae4d83cff399475984aeb59731fffb141283c502b7791",
                bytes: 63_779_440,
                origin: Origin::Rebuilt,
                note: "from the full-number PNGs: labels exact, about 100 of 80 million pixel values differ by 1",
            },
        ],
        sources: &[Source::Direct { url: "http://ufldl.stanford.edu/housenumbers/test_32x32.mat" }],
    }],
    votes: &[],
};
