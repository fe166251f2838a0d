//! The one list of known datasets, and the types it is written in.
//!
//! Every dataset is one file in this folder and one line in [`DATASETS`]. A file's `path` is at
//! once its place in the cache and in a local mirror, so that a mirror is simply a copy of a
//! cache.
//!
//! Checksums are listed as [`Variant`]s, since some files exist in more than one form
//! (an official file, and one rebuilt from a lossless source). Each says where it comes from;
//! a file without any variant is not allowed in, so nothing unverified ever reaches the cache.
//!
//! Which of its files hold votes, and which of them belong together, a dataset says itself: a
//! [`VoteSet`] has a name of its own, so that `chaosnli` means its SNLI and MNLI parts together and
//! `chaosnli-snli` one of them.

/// A file with one accepted variant: its path, how its digest is known, the digest, the size, a note,
/// and its sources (an address, or a member `in` an archive).
macro_rules! file {
    (
        $path:expr, $origin:ident $sha256:literal, $bytes:literal, $note:expr;
        $($source:expr $(, in $archive:ident)?);* $(;)?
    ) => {
        $crate::catalogue::RemoteFile {
            path: $path,
            accepted: &[$crate::catalogue::Variant {
                sha256: $sha256,
                bytes: $bytes,
                origin: $crate::catalogue::Origin::$origin,
                note: $note,
            }],
            sources: &[$(file!(source $source $(, in $archive)?)),*],
        }
    };
    (source $url:expr) => {
        $crate::catalogue::Source::Direct { url: $url }
    };
    (source $member:expr, in $archive:ident) => {
        $crate::catalogue::Source::Member { archive: &$archive, member: $member }
    };
}

mod blends;
mod chaosnli;
mod cifar100;
mod cifar10h;
mod cifar10n;
mod efficientnet_lite0;
mod lewidi;
mod minilm;
mod popquorn;
mod svhn;

use crate::Error;

/// All known datasets, in the order in which they are listed to the user.
pub static DATASETS: &[&Dataset] = &[
    &cifar10h::DATASET,
    &cifar10n::DATASET,
    &cifar100::DATASET,
    &svhn::DATASET,
    &chaosnli::DATASET,
    &popquorn::DATASET,
    &lewidi::DATASET,
    &blends::DATASET,
    &minilm::DATASET,
    &efficientnet_lite0::DATASET,
];

/// The dataset of this name, or an error that lists the known names.
pub fn find(name: &str) -> Result<&'static Dataset, Error> {
    DATASETS.iter().copied().find(|d| d.name == name).ok_or_else(|| Error::UnknownDataset {
        name: name.to_owned(),
        known: DATASETS.iter().map(|d| d.name).collect::<Vec<_>>().join(", "),
    })
}

/// The set of votes of this name, with the dataset it belongs to.
pub fn find_votes(name: &str) -> Result<(&'static Dataset, &'static VoteSet), Error> {
    let sets = || DATASETS.iter().flat_map(|d| d.votes.iter().map(move |set| (*d, set)));
    if let Some(found) = sets().find(|(_, set)| set.name == name) {
        return Ok(found);
    }
    let names = |list: Vec<&str>| list.join(", ");
    let all = || names(sets().map(|(_, set)| set.name).collect());
    let Ok(dataset) = find(name) else {
        return Err(Error::UnknownDataset { name: name.to_owned(), known: all() });
    };
    let own = names(dataset.votes.iter().map(|set| set.name).collect());
    let known = if own.is_empty() { all() } else { own };
    Err(Error::WithoutVotes { name: name.to_owned(), known })
}

/// One dataset of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Dataset {
    /// Short name, in kebab case: what the user types.
    pub name: &'static str,
    /// Name in full.
    pub title: &'static str,
    /// What it holds, in one line.
    pub what: &'static str,
    /// Licence, as stated by its publisher.
    pub licence: &'static str,
    /// Page of its publisher; generated data has none.
    pub homepage: Option<&'static str>,
    /// Paper to cite.
    pub citation: &'static str,
    /// Whether it is fetched or made here.
    pub kind: Kind,
    /// The script of the repository that makes its files from public ones, where nobody offers them
    /// for download.
    pub made_by: Option<&'static str>,
    /// Its files; none for generated data.
    pub files: &'static [RemoteFile],
    /// The sets of votes in them; none where there are no votes, or where they are generated.
    pub votes: &'static [VoteSet],
}

/// Votes of a dataset that belong together.
#[derive(Debug, Clone, Copy)]
pub struct VoteSet {
    /// What a spec names: the dataset's own name, or that name and a part, `chaosnli-snli`.
    pub name: &'static str,
    /// The `path`s of its files, whose votes are read one after the other.
    pub files: &'static [&'static str],
}

/// How a dataset comes to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Its files are fetched.
    Fetched,
    /// It is made on this machine, from a seed.
    Generated,
}

/// One file of a dataset.
#[derive(Debug, Clone, Copy)]
pub struct RemoteFile {
    /// Place below the cache directory and below a mirror, with forward slashes.
    pub path: &'static str,
    /// The forms in which it is accepted. The first is the one of its public source.
    pub accepted: &'static [Variant],
    /// Public sources, tried in this order; empty when none is known.
    pub sources: &'static [Source],
}

impl RemoteFile {
    /// Size of the file of the public source, if the catalogue knows one.
    pub fn bytes(&self) -> Option<u64> {
        self.accepted.first().map(|v| v.bytes)
    }

    /// The variant that has this digest and size.
    pub fn variant(&self, sha256: &str, bytes: u64) -> Option<Variant> {
        self.accepted.iter().find(|v| v.sha256 == sha256 && v.bytes == bytes).copied()
    }

    /// Whether any accepted variant has this size.
    pub fn has_size(&self, bytes: u64) -> bool {
        self.accepted.iter().any(|v| v.bytes == bytes)
    }
}

/// One accepted form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: &'static str,
    /// Size in bytes.
    pub bytes: u64,
    /// How we know this digest.
    pub origin: Origin,
    /// Where the digest is from, or how the file was rebuilt.
    pub note: &'static str,
}

/// How a digest came to be known; it says how much it proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The digest of the publisher's file, also stated by others.
    Published,
    /// Taken by us from a copy of the publisher's file; the publisher states none.
    Copied,
    /// The digest of a file rebuilt from another source: same content, other bytes.
    Rebuilt,
}

impl Origin {
    /// One word for messages and tables.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Published => "published",
            Origin::Copied => "copied",
            Origin::Rebuilt => "rebuilt",
        }
    }
}

/// A public source of a file.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// The file itself.
    Direct {
        /// Its address.
        url: &'static str,
    },
    /// A member of an archive, where the source offers nothing smaller.
    Member {
        archive: &'static Archive,
        /// The member's path inside it.
        member: &'static str,
    },
}

impl Source {
    /// The address that is downloaded.
    pub fn url(&self) -> &'static str {
        match self {
            Source::Direct { url } => url,
            Source::Member { archive, .. } => archive.url,
        }
    }
}

/// An archive that holds files of a dataset; downloaded once per fetch, then removed.
#[derive(Debug, Clone, Copy)]
pub struct Archive {
    /// Its address.
    pub url: &'static str,
    /// File name while it lies in the cache.
    pub file: &'static str,
    /// How to read it.
    pub format: Format,
    /// Size and SHA-256, where they are known. Members are verified in any case.
    pub known: Option<(u64, &'static str)>,
}

/// Archive formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A gzipped tar file.
    TarGz,
    /// A zip file.
    Zip,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn files() -> impl Iterator<Item = (&'static Dataset, &'static RemoteFile)> {
        DATASETS.iter().flat_map(|d| d.files.iter().map(move |f| (*d, f)))
    }

    fn is_sha256(text: &str) -> bool {
        text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    }

    #[test]
    fn names_are_unique_kebab_case_and_found() {
        let mut seen = HashSet::new();
        for d in DATASETS {
            assert!(seen.insert(d.name), "{} is listed twice", d.name);
            assert!(
                d.name.split('-').all(|w| !w.is_empty()
                    && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())),
                "{} is not kebab case",
                d.name
            );
            assert_eq!(find(d.name).unwrap().name, d.name);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let message = find("cifar-10h").unwrap_err().to_string();
        assert!(
            message.contains("cifar-10h") && message.contains("cifar10h, cifar10n"),
            "{message}"
        );
    }

    #[test]
    fn every_text_is_there_and_one_line() {
        for d in DATASETS {
            for text in [d.title, d.what, d.licence, d.citation] {
                assert!(!text.trim().is_empty() && !text.contains('\n'), "{}: {text:?}", d.name);
            }
            assert_eq!(d.homepage.is_some_and(is_http), d.kind == Kind::Fetched, "{}", d.name);
        }
    }

    #[test]
    fn fetched_data_has_files_and_generated_data_none() {
        for d in DATASETS {
            assert_eq!(d.kind == Kind::Fetched, !d.files.is_empty(), "{}", d.name);
        }
    }

    #[test]
    fn paths_are_relative_and_stay_inside_the_cache() {
        for (d, f) in files() {
            let inside = !f.path.starts_with('/')
                && !f.path.contains(['\\', ':'])
                && f.path.split('/').all(|part| !matches!(part, "" | "." | ".."));
            assert!(inside, "{}: {}", d.name, f.path);
            // Reserved for what a fetch leaves lying while it is under way.
            assert!(![".part", ".json.part"].iter().any(|s| f.path.ends_with(s)), "{}", f.path);
        }
        // A file shared by two datasets must be the same file.
        let mut seen: Vec<&RemoteFile> = Vec::new();
        for (_, f) in files() {
            if let Some(other) = seen.iter().find(|o| o.path == f.path) {
                assert_eq!(other.accepted, f.accepted, "{}", f.path);
            }
            seen.push(f);
        }
    }

    #[test]
    fn sets_of_votes_are_named_after_their_dataset_and_made_of_its_files() {
        let mut seen = HashSet::new();
        for d in DATASETS {
            for set in d.votes {
                assert!(seen.insert(set.name), "{} is listed twice", set.name);
                let part = set.name.strip_prefix(d.name).unwrap();
                assert!(part.is_empty() || part.starts_with('-'), "{}", set.name);
                assert!(!set.files.is_empty(), "{}", set.name);
                for file in set.files {
                    assert!(d.files.iter().any(|f| f.path == *file), "{}: {file}", set.name);
                }
                // A part may not be taken for another dataset.
                assert!(find(set.name).is_ok_and(|other| other.name == d.name) || !part.is_empty());
                assert_eq!(find_votes(set.name).unwrap().0.name, d.name);
            }
        }
        let (_, both) = find_votes("chaosnli").unwrap();
        assert_eq!(both.files, ["chaosnli/chaosNLI_snli.jsonl", "chaosnli/chaosNLI_mnli_m.jsonl"]);
    }

    #[test]
    fn a_name_without_votes_says_which_have_some() {
        let message = |name| find_votes(name).unwrap_err().to_string();
        let unknown = message("chaosnli-nli");
        assert!(unknown.contains("no dataset 'chaosnli-nli'"), "{unknown}");
        assert!(unknown.contains("chaosnli-snli, chaosnli-mnli"), "{unknown}");
        assert!(message("svhn").contains("cifar10h, cifar10n"), "{}", message("svhn"));
        let several = message("lewidi");
        assert!(several.contains("lewidi-hs-brexit") && !several.contains("svhn"), "{several}");
    }

    #[test]
    fn every_file_has_a_checksum() {
        for (d, f) in files() {
            assert!(!f.accepted.is_empty(), "{}: {} has no checksum", d.name, f.path);
            for v in f.accepted {
                assert!(is_sha256(v.sha256), "{}: {}", f.path, v.sha256);
                assert!(v.bytes > 0 && !v.note.is_empty(), "{}", f.path);
            }
        }
    }

    #[test]
    fn every_file_can_be_obtained() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        for (d, f) in files() {
            let script = |path: &str| std::path::Path::new(root).join(path).exists();
            assert!(!f.sources.is_empty() || d.made_by.is_some_and(script), "{}", f.path);
        }
    }

    #[test]
    fn every_source_is_http_and_every_archive_is_described() {
        for (d, f) in files() {
            for s in f.sources {
                assert!(is_http(s.url()), "{}: {}", d.name, s.url());
                if let Source::Member { archive, member } = s {
                    assert!(!member.starts_with('/') && !member.contains(".."), "{member}");
                    assert!(!archive.file.contains('/') && !archive.file.is_empty());
                    if let Some((bytes, sha256)) = archive.known {
                        assert!(bytes > 0 && is_sha256(sha256), "{}", archive.url);
                    }
                }
            }
        }
    }

    fn is_http(url: &str) -> bool {
        url.starts_with("https://") || url.starts_with("http://")
    }
}
