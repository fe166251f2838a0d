//! The studies that come with the program, each a commented TOML to copy and change.

/// A built-in study.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Its file.
    pub text: &'static str,
    /// Files that it names, by their names.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

impl Builtin {
    /// Its file with those that it names inside it, comments included: a copy needs nothing beside
    /// it.
    pub fn whole(&self) -> String {
        let mut whole = String::new();
        for line in self.text.lines() {
            let names = |file: &&(&str, &str)| line == format!("references = \"{}\"", file.0);
            if !self.files.iter().any(|file| names(&file)) {
                whole += line;
                whole.push('\n');
            }
        }
        for (_, text) in self.files {
            whole.push('\n');
            whole += text;
        }
        whole
    }
}

/// A study with every key explained, to copy and change.
pub fn template() -> &'static str {
    include_str!("template.toml")
}

/// The built-in studies.
pub const BUILTIN: &[Builtin] = &[
    Builtin {
        name: "demo",
        title: "Six deliveries of the same votes, with few votes an item and with all",
        text: include_str!("builtin/demo.toml"),
        files: &[],
    },
    Builtin {
        name: "same-target",
        title: "Same target, different basins: hard and soft delivery of the same votes",
        text: include_str!("builtin/same-target.toml"),
        files: &[(
            "same-target.references.toml",
            include_str!("builtin/same-target.references.toml"),
        )],
    },
    Builtin {
        name: "same-target-cifar10n",
        title: "Same target, three votes: CIFAR-10N, judged by CIFAR-10H",
        text: include_str!("builtin/same-target-cifar10n.toml"),
        files: &[],
    },
    Builtin {
        name: "same-target-further",
        title: "Same target, further: few real votes, drawn without replacement",
        text: include_str!("builtin/same-target-further.toml"),
        files: &[],
    },
    Builtin {
        name: "soft-label",
        title: "Soft-label training on frozen embeddings",
        text: include_str!("builtin/soft-label.toml"),
        files: &[(
            "soft-label.references.toml",
            include_str!("builtin/soft-label.references.toml"),
        )],
    },
    Builtin {
        name: "soft-label-further",
        title: "Soft labels on frozen embeddings: few votes, and longer training",
        text: include_str!("builtin/soft-label-further.toml"),
        files: &[],
    },
];

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::Study;

    #[test]
    fn every_one_can_be_read_and_is_what_the_list_says() {
        for builtin in BUILTIN {
            let study = Study::builtin(builtin.name).unwrap();
            assert_eq!((study.name.as_str(), study.title.as_str()), (builtin.name, builtin.title));
            assert!(!study.about.is_empty() && !study.tables.is_empty());
            // What is shown to copy is the same study, in one piece.
            let copy = Study::parse(&builtin.whole(), "a copy").unwrap();
            assert_eq!(copy.to_toml(), study.to_toml());
            assert_eq!(copy.references.len(), builtin.whole().matches("[[reference]]").count());
        }
        let error = Study::builtin("dmeo").unwrap_err().to_string();
        assert!(error.contains("did you mean `demo`?"), "{error}");
    }
}
