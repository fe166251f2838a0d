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

/// The built-in studies.
pub const BUILTIN: &[Builtin] = &[
    Builtin {
        name: "demo",
        title: "Six deliveries of the same votes, with few votes an item and with all",
        text: include_str!("builtin/demo.toml"),
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
        }
        let error = Study::builtin("dmeo").unwrap_err().to_string();
        assert!(error.contains("did you mean `demo`?"), "{error}");
    }
}
