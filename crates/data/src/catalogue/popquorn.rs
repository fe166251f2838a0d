//! POPQUORN: politeness and offensiveness ratings by a representative sample of people.

use super::{Dataset, Kind, VoteSet, file};

pub(super) static DATASET: Dataset = Dataset {
    name: "popquorn",
    title: "POPQUORN politeness and offensiveness",
    what: "25,042 politeness votes on 3,718 emails and 13,036 offensiveness votes on 1,500 comments, 1 to 5, with demographics",
    licence: "none stated",
    homepage: Some("https://github.com/Jiaxin-Pei/Potato-Prolific-Dataset"),
    citation: "Pei, Jurgens (2023), When do annotator demographics matter?, LAW workshop",
    kind: Kind::Fetched,
    made_by: None,
    files: &[
        file!(
            "popquorn/politeness.csv", Copied "0df8464a132f524e4d14bebfea2fae17793638cd15ed78a7b42587f6bd80763c", 1_779_750,
            "taken from a copy of github Jiaxin-Pei/LLM-as-Subjective-Judge";
            "https://raw.githubusercontent.com/Jiaxin-Pei/LLM-as-Subjective-Judge/416e31887b5de5c2ad652d31a41f75d8dc56a878/POPQUORN_data/politeness.csv";
        ),
        file!(
            "popquorn/offensiveness_raw.csv", Copied "fb0589093d45da76bf4ef4d0abff679b540bdd5b17af5764913b3ccd0a069e1e", 3_062_770,
            "taken from a copy of github Jiaxin-Pei/Potato-Prolific-Dataset";
            "https://raw.githubusercontent.com/Jiaxin-Pei/Potato-Prolific-Dataset/c329119e878037654f6aa59b319aae6e996585bb/dataset/offensiveness/raw_data.csv";
        ),
    ],
    votes: &[
        VoteSet { name: "popquorn", files: &["popquorn/politeness.csv"] },
        VoteSet { name: "popquorn-politeness", files: &["popquorn/politeness.csv"] },
        VoteSet { name: "popquorn-offensiveness", files: &["popquorn/offensiveness_raw.csv"] },
    ],
};
