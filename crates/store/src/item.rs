//! What is carried alone between stores: a finished run, what a stage computed from one, a study's text.
//!
//! An item has a name and a version. Two versions of one name are two results of the same thing, of
//! which no program can know the right one; so they are never merged. The version of a run is the
//! digest of its predictions, as for what is computed from them: the same run of another machine has
//! other times, and is the same run. The version of a file is its SHA-256.
//!
//! An item travels as a [pack](crate::pack()) of its own, under a name that says both:
//!
//! ```text
//! runs/ID.VERSION.pack
//! studies/STUDY/stages/STAGE/RUN.csv.VERSION.pack      with the record of what it was made of
//! studies/STUDY/study.toml.VERSION.pack
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::layout::{is_artifact, is_plain, run_of_artifact};
use crate::pack::{PackOptions, Source, Unpacked, files_of_run, open, pack_files};
use crate::study::{is_record, is_text, record_of};
use crate::{RunId, RunInfo, State, Store, StoreError};

/// Ends the name of a packed item.
const PACK: &str = ".pack";

/// Something that is carried alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// A finished run, without weights.
    Run(RunId),
    /// A file of a study: what a stage computed from a run, or the study's text.
    File {
        /// The study.
        study: String,
        /// The file in its folder.
        file: String,
    },
}

impl Item {
    /// Its name, without its version.
    pub fn name(&self) -> String {
        match self {
            Self::Run(id) => format!("runs/{id}"),
            Self::File { study, file } => format!("studies/{study}/{file}"),
        }
    }

    /// The name of its pack.
    pub fn pack_name(&self, version: &str) -> String {
        format!("{}.{version}{PACK}", self.name())
    }

    /// The item and the version that a pack of this name has; `None` where no item has that name.
    pub fn of_pack(name: &str) -> Option<(Self, String)> {
        let (name, version) = name.strip_suffix(PACK)?.rsplit_once('.')?;
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if version.len() != 64 || !version.bytes().all(digit) {
            return None;
        }
        let item = match name.split_once('/')? {
            ("runs", id) => Self::Run(id.parse().ok()?),
            ("studies", rest) => {
                let (study, file) = rest.split_once('/')?;
                let known = is_plain(study) && is_artifact(file) && is_carried(file);
                known.then(|| Self::File { study: study.to_owned(), file: file.to_owned() })?
            }
            _ => return None,
        };
        Some((item, version.to_owned()))
    }

    /// The run that it is, or was computed from.
    pub fn run(&self) -> Option<RunId> {
        match self {
            Self::Run(id) => Some(id.clone()),
            Self::File { file, .. } => run_of_artifact(file),
        }
    }
}

/// Whether a file of a study is carried: results of stages and the study's text. All other files are
/// made from them.
fn is_carried(file: &str) -> bool {
    (is_text(file) || run_of_artifact(file).is_some()) && !is_record(file)
}

/// The items of a store that can be carried.
#[derive(Debug, Default)]
pub struct Items {
    /// Their versions.
    pub versions: BTreeMap<Item, String>,
    /// What cannot be read, and why.
    pub broken: Vec<(String, StoreError)>,
    /// How many results of stages are left out, as no record says what they were computed from.
    pub unrecorded: usize,
}

impl Store {
    /// The items of these runs, or of all. Runs that have not ended, or that failed, are none; nor are
    /// results of stages without a record, which are counted, or of other predictions than their run has.
    pub fn items(&self, only: Option<&BTreeSet<RunId>>) -> Result<Items, StoreError> {
        let mut items = Items::default();
        let version = |run: RunInfo| Ok((run.id.clone(), finished_version(&run)?));
        let (runs, broken) = match only {
            None => self.each_run(version)?,
            Some(only) => self.each_of_runs(only, version),
        };
        for broken in broken {
            items.broken.push((broken.folder.display().to_string(), broken.error));
        }
        let predictions: BTreeMap<RunId, String> =
            runs.into_iter().filter_map(|(id, version)| Some((id, version?))).collect();
        for study in self.studies()? {
            let folder = self.study(&study)?;
            for file in folder.files()?.into_iter().filter(|file| is_carried(file)) {
                let item = Item::File { study: study.clone(), file };
                let Item::File { file, .. } = &item else { continue };
                let version = match run_of_artifact(file) {
                    Some(run) => {
                        let Some(from) = predictions.get(&run) else { continue };
                        let made = folder.version_made(file);
                        items.unrecorded += usize::from(matches!(made, Ok(None)));
                        made.map(|made| {
                            made.filter(|(_, of)| of == from).map(|(version, _)| version)
                        })
                    }
                    None => folder.version_of_text(file),
                };
                match version {
                    Ok(Some(version)) => items.versions.insert(item, version).map_or((), drop),
                    Ok(None) => {}
                    Err(error) => items.broken.push((item.name(), error)),
                }
            }
        }
        items.versions.extend(predictions.into_iter().map(|(id, digest)| (Item::Run(id), digest)));
        Ok(items)
    }

    /// Packs an item, all of whose files are as they were written and of this version.
    pub fn pack_item(&self, item: &Item, version: &str) -> Result<Vec<u8>, StoreError> {
        match item {
            Item::Run(id) => {
                let run = self.run(id)?;
                let files = files_of_run(&run, PackOptions::default())?;
                check_version(item, version, finished_version(&run)?)?;
                pack_files(self, std::slice::from_ref(id), files)
            }
            Item::File { study, file } => {
                let folder = self.study(study)?;
                let found = match run_of_artifact(file) {
                    Some(_) => {
                        folder.read_made(file)?.map(|(bytes, _)| crate::files::sha256(&bytes))
                    }
                    None => folder.version_of_text(file)?,
                };
                check_version(item, version, found)?;
                let source = |file: &str| -> Source {
                    (format!("studies/{study}/{file}"), folder.path().join(file))
                };
                let files = names_of_files(file).iter().map(|file| source(file)).collect();
                pack_files(self, &[], files)
            }
        }
    }

    /// Adds an item from its pack, unless anything in it is not what the name and the version say.
    pub fn add_item(
        &self,
        item: &Item,
        version: &str,
        pack: &[u8],
    ) -> Result<Unpacked, StoreError> {
        let name = item.pack_name(version);
        let refused = |reason: String| StoreError::Pack { path: name.clone().into(), reason };
        let opened = open(pack, pack.len() as u64, Path::new(&name), || Ok(self.clone()))?;
        let layout = opened.layout();
        let manifest = &opened.manifest;
        match item {
            Item::Run(id) => {
                let folder = format!("runs/{id}/");
                let foreign = manifest.files.iter().find(|file| !file.path.starts_with(&folder));
                if let Some(file) = foreign {
                    return Err(refused(format!("{} does not belong to run {id}", file.path)));
                }
                let run = RunInfo::read(layout.run(id), id.clone())
                    .and_then(|run| run.verify(true).map(|()| run))
                    .map_err(|error| refused(error.to_string()))?;
                let found = finished_version(&run).map_err(|error| refused(error.to_string()))?;
                check_version(item, version, found)?;
            }
            Item::File { study, file } => {
                let names = names_of_files(file);
                let expected = names.iter().map(|file| format!("studies/{study}/{file}"));
                if !expected.eq(manifest.files.iter().map(|file| file.path.clone())) {
                    return Err(refused(format!("it does not have {} alone", names.join(" and "))));
                }
                let staged = Store::at(layout).study(study)?;
                let found = match run_of_artifact(file) {
                    None => staged.version_of_text(file),
                    Some(run) => {
                        let run = self.get(&run)?.filter(|run| run.status.state == State::Finished);
                        let Some(run) = run else {
                            return Err(refused("its run is not in the store".to_owned()));
                        };
                        let made = staged.read_made(file);
                        match made.map_err(|error| refused(error.to_string()))? {
                            Some((bytes, Some(made)))
                                if made.from == run.predictions_digest()? =>
                            {
                                Ok(Some(crate::files::sha256(&bytes)))
                            }
                            _ => {
                                let reason =
                                    "it was computed from other predictions than the run has";
                                return Err(refused(reason.to_owned()));
                            }
                        }
                    }
                };
                check_version(item, version, found.map_err(|error| refused(error.to_string()))?)?;
            }
        }
        opened.merge()
    }
}

/// The files in the pack of a study's file, sorted.
fn names_of_files(file: &str) -> Vec<String> {
    match run_of_artifact(file) {
        Some(_) => vec![file.to_owned(), record_of(file)],
        None => vec![file.to_owned()],
    }
}

fn finished_version(run: &RunInfo) -> Result<Option<String>, StoreError> {
    match run.status.state {
        State::Finished => run.predictions_digest().map(Some),
        _ => Ok(None),
    }
}

fn check_version(item: &Item, expected: &str, found: Option<String>) -> Result<(), StoreError> {
    match found {
        Some(found) if found == expected => Ok(()),
        found => Err(StoreError::Pack {
            path: item.pack_name(expected).into(),
            reason: match found {
                Some(found) => format!("its content has the version {found}"),
                None => "it is not finished".to_owned(),
            },
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_packs_read_back_and_no_others_do() {
        let version = "ab".repeat(32);
        let file = |file: &str| Item::File { study: "s-1".into(), file: file.into() };
        let items = [
            Item::Run("0123456789abcdef".parse().unwrap()),
            file("study.toml"),
            file("stages/measure-1/0123456789abcdef.csv"),
            file("stages/cka-1/0123456789abcdef-aabb.json"),
        ];
        for item in items {
            let name = item.pack_name(&version);
            assert_eq!(Item::of_pack(&name), Some((item, version.clone())), "{name}");
            for other in [name.replace(".pack", ""), name.replace("ab", "AB"), format!("x/{name}")]
            {
                assert_eq!(Item::of_pack(&other), None, "{other}");
            }
        }
        let stage = "studies/s/stages/m/0123456789abcdef.csv";
        for name in [
            "runs/../x",
            "runs/0123456789abcdef/x",
            "studies/s/results.csv",
            "studies/../study.toml",
            "studies/s/../study.toml",
            "studies/s/a/b.toml",
            "studies/s/stages/m/x.csv",
            &format!("{stage}.made"),
            "",
            "runs/",
        ] {
            assert_eq!(Item::of_pack(&format!("{name}.{version}.pack")), None, "{name}");
        }
    }
}
