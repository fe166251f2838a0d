//! LeWiDi: the "learning with disagreements" shared tasks, votes of each annotator.
//!
//! The 2023 edition is one archive, named first on the branch its page links to and then at a
//! fixed commit, should the file be moved; the 2025 edition is plain files at fixed commits.
//! Two of the `annotators_meta` files are not valid JSON upstream; they are kept as they are.

use super::{Archive, Dataset, Format, Kind, VoteSet, file};

const NOTE: &str = "taken from a copy of github Le-Wi-Di/le-wi-di.github.io";

macro_rules! of_2023 {
    ($path:literal, $sha256:literal, $bytes:literal) => {
        file!(
            concat!("lewidi/", $path), Copied $sha256, $bytes, NOTE;
            concat!("data_post-competition/", $path), in BRANCH_2023;
            concat!("data_post-competition/", $path), in COMMIT_2023;
        )
    };
}

macro_rules! of_2025 {
    ($commit:literal, $path:literal, $sha256:literal, $bytes:literal) => {
        file!(
            concat!("lewidi/", $path), Copied $sha256, $bytes, NOTE;
            concat!(
                "https://raw.githubusercontent.com/Le-Wi-Di/le-wi-di.github.io/", $commit,
                "/LeWiDi_3-2025/", $path
            );
        )
    };
}

pub(super) static DATASET: Dataset = Dataset {
    name: "lewidi",
    title: "LeWiDi 2023 and 2025",
    what: "votes of each annotator on hate speech (HS-Brexit), abuse (ConvAbuse), paraphrases and inference (VariErrNLI)",
    licence: "none stated",
    homepage: Some("https://le-wi-di.github.io/"),
    citation: "Leonardelli et al. (2023), SemEval-2023 task 11: Learning with disagreements; Leonardelli et al. (2025), LeWiDi-2025 at NLPerspectives",
    kind: Kind::Fetched,
    made_by: None,
    files: &[
        of_2023!(
            "HS-Brexit_dataset/HS-Brexit_train.json",
            "d204d83c7b1a73f037b3aff36aac61357c08a96f96292a37ac7655eb562d81fb",
            667_673
        ),
        of_2023!(
            "HS-Brexit_dataset/HS-Brexit_dev.json",
            "77c17f95985cbb6db47ffcda637e717a9074f2660e15b5c0c1f9006f50da60a7",
            142_353
        ),
        of_2023!(
            "HS-Brexit_dataset/HS-Brexit_test.json",
            "24e5e1615818ff6e3b96e50245cfe10636ef8ec0ea51f2c2a60acb68858fd195",
            142_747
        ),
        of_2023!(
            "ConvAbuse_dataset/ConvAbuse_train.json",
            "f68d9c1e234afaf7e582103daac4e0f362da6418be3ff38e6cce76cfa3b674fc",
            2_846_714
        ),
        of_2023!(
            "ConvAbuse_dataset/ConvAbuse_dev.json",
            "d95f9e740b07076e070ed47a8e010894d7cdbacb3246c89a000c26a17c61a04e",
            966_416
        ),
        of_2023!(
            "ConvAbuse_dataset/ConvAbuse_test.json",
            "4a88c6cf2530eb3610bd1e9e7291916ad7fdaedc01dca4e68bcc3e846310afd9",
            1_005_523
        ),
        of_2025!(
            "124ad2c2b97b6198db8f1a80008bc48a81675d3a",
            "Paraphrase/Paraphrase_train.json",
            "2ec98bad361732dbb568e4acea339edbbd747299fbd716e99812e4f14042bc53",
            516_303
        ),
        of_2025!(
            "124ad2c2b97b6198db8f1a80008bc48a81675d3a",
            "Paraphrase/Paraphrase_dev.json",
            "821f8b142d63c9ccc38cb801fa6ca4cdcfe5049c8bfb151c7d7d3dd025db8e03",
            65_183
        ),
        of_2025!(
            "124ad2c2b97b6198db8f1a80008bc48a81675d3a",
            "Paraphrase/Paraphrase_test.json",
            "5c2396b91ae84edcf64b1b529b8ade83b1fa3a78b4b930cbcf613b917875ae1d",
            54_219
        ),
        of_2025!(
            "124ad2c2b97b6198db8f1a80008bc48a81675d3a",
            "Paraphrase/Paraphrase_annotators_meta.json",
            "a5d56635ea516288e26e162cd5599db95b3fa89dad24fee4f6d5a37ec125a0e4",
            429
        ),
        of_2025!(
            "d87a8f74243973d6154867f0c8dcb2dee82ea994",
            "VariErrNLI/VariErrNLI_train.json",
            "466a507dec72eb118d528e52aa5a905cb23a4e5acaf7af02062938ea958d1a0d",
            560_187
        ),
        of_2025!(
            "d87a8f74243973d6154867f0c8dcb2dee82ea994",
            "VariErrNLI/VariErrNLI_dev.json",
            "6d1b5ca80ee4eb79c608de828b386f524cacddc608d0396464c71d728b369efd",
            69_902
        ),
        of_2025!(
            "d87a8f74243973d6154867f0c8dcb2dee82ea994",
            "VariErrNLI/VariErrNLI_test.json",
            "872fa56f32a999fd46954cae144528ea7445186cf35ca473fabf6d3eeb43340a",
            61_459
        ),
        of_2025!(
            "d87a8f74243973d6154867f0c8dcb2dee82ea994",
            "VariErrNLI/VariErrNLI_annotators_meta.json",
            "3cd41a2a8cad537788b5bdf46b2c9dac3731142a6a9704484b60275fa0b2dc66",
            422
        ),
    ],
    votes: &[
        // Votes of VariErrNLI name several labels; how to read them is the user's choice.
        VoteSet {
            name: "lewidi-hs-brexit",
            files: &[
                "lewidi/HS-Brexit_dataset/HS-Brexit_train.json",
                "lewidi/HS-Brexit_dataset/HS-Brexit_dev.json",
                "lewidi/HS-Brexit_dataset/HS-Brexit_test.json",
            ],
        },
        VoteSet {
            name: "lewidi-convabuse",
            files: &[
                "lewidi/ConvAbuse_dataset/ConvAbuse_train.json",
                "lewidi/ConvAbuse_dataset/ConvAbuse_dev.json",
                "lewidi/ConvAbuse_dataset/ConvAbuse_test.json",
            ],
        },
        VoteSet {
            name: "lewidi-paraphrase",
            files: &[
                "lewidi/Paraphrase/Paraphrase_train.json",
                "lewidi/Paraphrase/Paraphrase_dev.json",
                "lewidi/Paraphrase/Paraphrase_test.json",
            ],
        },
    ],
};

static BRANCH_2023: Archive = Archive {
    url: "https://raw.githubusercontent.com/Le-Wi-Di/le-wi-di.github.io/main/data_post-competition.zip",
    file: "lewidi-2023.zip",
    format: Format::Zip,
    known: None,
};

static COMMIT_2023: Archive = Archive {
    url: "https://raw.githubusercontent.com/Le-Wi-Di/le-wi-di.github.io/37ed47e84d3709a3eb08c67dd3c65d0f934e2b9c/data_post-competition.zip",
    file: "lewidi-2023-fixed.zip",
    format: Format::Zip,
    known: None,
};
