//! The built-in studies, each a commented TOML file to copy and change.

use dissensus_report::figures::FigureKind;

use crate::stages;

/// A built-in study.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its file.
    pub text: &'static str,
}

/// A study with all keys explained: the sections of a training spec, and those that only studies have.
pub fn template() -> String {
    // A study with arms has no list of methods.
    let runs = dissensus_train::template().replace("\nmethods = ", "\n# methods = ");
    let figures: Vec<&str> = FigureKind::ALL.iter().map(|kind| kind.template()).collect();
    let study = STUDY_TEMPLATE.replacen("[[stages]]\n\n", &stages::template(), 1);
    runs + &study.replacen("[[figures]]\n", &figures.join("\n"), 1)
}

/// The sections of a study; the members of a family describe
/// themselves where `[[stages]]` and `[[figures]]` stand.
const STUDY_TEMPLATE: &str = include_str!("template.toml");

/// The built-in studies.
pub const BUILTIN: &[Builtin] = &[
    Builtin {
        name: "demo",
        title: "Four deliveries of the same votes, with few votes per item and with all",
        text: include_str!("builtin/demo.toml"),
    },
    Builtin {
        name: "same-target",
        title: "Same target, different basins: hard and soft delivery of the same votes",
        text: concat!(
            include_str!("builtin/same-target.toml"),
            "\n",
            include_str!("builtin/same-target.references.toml")
        ),
    },
    Builtin {
        name: "same-target-cifar10n",
        title: "Same target, three votes: CIFAR-10N, evaluated on CIFAR-10H",
        text: include_str!("builtin/same-target-cifar10n.toml"),
    },
    Builtin {
        name: "same-target-further",
        title: "Same target, further: few real votes, drawn without replacement",
        text: include_str!("builtin/same-target-further.toml"),
    },
    Builtin {
        name: "same-target-why",
        title: "Same target, why: selection, noise, few votes and shrinkage",
        text: include_str!("builtin/same-target-why.toml"),
    },
    Builtin {
        name: "soft-label",
        title: "Soft-label training on frozen embeddings",
        text: concat!(
            include_str!("builtin/soft-label.toml"),
            "\n",
            include_str!("builtin/soft-label.references.toml")
        ),
    },
    Builtin {
        name: "soft-label-encoder",
        title: "Soft labels on the features of a ResNet-18 trained on CIFAR-10",
        text: include_str!("builtin/soft-label-encoder.toml"),
    },
    Builtin {
        name: "soft-label-further",
        title: "Soft labels on frozen embeddings: few votes, and longer training",
        text: include_str!("builtin/soft-label-further.toml"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Study;

    #[test]
    fn every_one_can_be_read_and_is_what_the_list_says() {
        for builtin in BUILTIN {
            let study = Study::builtin(builtin.name).unwrap();
            assert_eq!((study.name.as_str(), study.title.as_str()), (builtin.name, builtin.title));
            assert!(!study.about.is_empty() && !study.tables.is_empty());
            assert_eq!(study.references.len(), builtin.text.matches("[[reference]]").count());
        }
        let error = Study::builtin("dmeo").unwrap_err().to_string();
        assert!(error.contains("did you mean `demo`?"), "{error}");
    }
}
