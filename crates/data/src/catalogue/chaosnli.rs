//! ChaosNLI: 100 votes on each of 4,645 inference items.
//!
//! The publisher's Dropbox archive was reported as deleted in 2026, so a pinned copy of the
//! same files in a public repository stands first.

use super::{Archive, Dataset, Format, Kind, VoteSet, file};

/// The folder of a pinned copy.
macro_rules! copy {
    () => {
        "https://raw.githubusercontent.com/jsbaan/calibration-on-disagreement-data/990e81cacadac5d0268160d1c02bad19d4ddb9a3/data/chaosNLI_v1.0/"
    };
}

const STATED: &str = "version 1.0; several projects that use it state the same";

pub(super) static DATASET: Dataset = Dataset {
    name: "chaosnli",
    title: "ChaosNLI 1.0",
    what: "100 votes on each of 1,514 SNLI, 1,599 MNLI and 1,532 abductive NLI items, with texts",
    licence: "CC BY-NC 4.0",
    homepage: Some("https://github.com/easonnie/ChaosNLI"),
    citation: "Nie, Zhou, Bansal (2020), What can we learn from collective human opinions on natural language inference data?, EMNLP",
    kind: Kind::Fetched,
    made_by: None,
    files: &[
        file!(
            "chaosnli/chaosNLI_snli.jsonl", Published "99f9015ddda7d85f66a087452bc30d53974314fe27e7d589e2f41ad44bd509c1", 768_107,
            STATED;
            concat!(copy!(), "chaosNLI_snli.jsonl");
            "chaosNLI_v1.0/chaosNLI_snli.jsonl", in DROPBOX;
        ),
        file!(
            "chaosnli/chaosNLI_mnli_m.jsonl", Published "8eb49b589488e7b1a9ec95fb8a864bd50f0509b4f808eed0aed3f8167617664d", 871_731,
            STATED;
            concat!(copy!(), "chaosNLI_mnli_m.jsonl");
            "chaosNLI_v1.0/chaosNLI_mnli_m.jsonl", in DROPBOX;
        ),
        file!(
            "chaosnli/chaosNLI_alphanli.jsonl", Copied "f55817ecc11a02ba3030cd7d2c567d23843456809020723abad53f4fde024c9e", 793_550,
            "taken from a copy of version 1.0";
            concat!(copy!(), "chaosNLI_alphanli.jsonl");
            "chaosNLI_v1.0/chaosNLI_alphanli.jsonl", in DROPBOX;
        ),
    ],
    votes: &[
        // The abductive part has other classes and stands alone.
        VoteSet {
            name: "chaosnli",
            files: &["chaosnli/chaosNLI_snli.jsonl", "chaosnli/chaosNLI_mnli_m.jsonl"],
        },
        VoteSet { name: "chaosnli-snli", files: &["chaosnli/chaosNLI_snli.jsonl"] },
        VoteSet { name: "chaosnli-mnli", files: &["chaosnli/chaosNLI_mnli_m.jsonl"] },
        VoteSet { name: "chaosnli-alphanli", files: &["chaosnli/chaosNLI_alphanli.jsonl"] },
    ],
};

/// The publisher's own link; no checksum of the archive is known.
static DROPBOX: Archive = Archive {
    url: "https://www.dropbox.com/s/h4j7dqszmpt2679/chaosNLI_v1.0.zip?dl=1",
    file: "chaosNLI_v1.0.zip",
    format: Format::Zip,
    known: None,
};
