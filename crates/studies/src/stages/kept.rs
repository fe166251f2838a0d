//! What a stage that looks into models found of a run, and its file in the study's folder.
//!
//! A file is named by the stage, its settings, the run and the runs that were looked at with it. With
//! other settings or other peers it is another file, so that what was found on two machines can be
//! laid together.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use dissensus_store::{Durability, Made, State, Store, StoreError, StudyFolder, digest};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Examination, Group};
use crate::{Job, Number, StudyError};

/// Hex digits of a digest in a name.
const DIGITS: usize = 12;

/// What was found of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The runs that were looked at with it, sorted.
    #[serde(default)]
    pub(crate) peers: Vec<String>,
    pub(crate) numbers: Vec<Number>,
    /// Numbers by item.
    #[serde(default)]
    pub(crate) items: Option<ItemColumns>,
    /// Lines over something.
    #[serde(default)]
    pub(crate) paths: Vec<Path>,
    /// Pictures by item.
    #[serde(default)]
    pub(crate) pictures: Vec<Picture>,
}

/// Columns of numbers by item; `None` where there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ItemColumns {
    pub(crate) ids: Vec<String>,
    pub(crate) columns: Vec<(String, Vec<Option<f64>>)>,
}

impl ItemColumns {
    pub(super) fn column(&self, name: &str) -> Option<&[Option<f64>]> {
        self.columns.iter().find(|(column, _)| column == name).map(|(_, values)| &values[..])
    }
}

/// A line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Path {
    pub(crate) name: String,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
}

/// A picture in red, green and blue, its bytes as hex digits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Picture {
    pub(crate) item: String,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: String,
}

impl Picture {
    pub(crate) fn new(item: &str, width: usize, height: usize, pixels: &[u8]) -> Self {
        let pixels = pixels.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { item: item.to_owned(), width, height, pixels }
    }

    /// The bytes; `None` where the text is not theirs.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        let pair = |at: usize| u8::from_str_radix(self.pixels.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..self.pixels.len() / 2).map(|at| pair(2 * at)).collect();
        bytes.filter(|bytes| bytes.len() == 3 * self.width * self.height)
    }
}

impl Kept {
    /// Nothing but these numbers.
    pub(super) fn of(numbers: Vec<Number>) -> Self {
        Self { numbers, ..Self::default() }
    }
}

/// The folder of a stage with its settings.
fn folder_of(stage: &Examination) -> String {
    let digest: String = digest(&stage.settings()).chars().take(DIGITS).collect();
    format!("stages/{}-{digest}", stage.name)
}

/// What a file that is not as it was written counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damaged {
    /// As not there: it is made again.
    Absent,
    /// As an error: results without it would be incomplete.
    Refused,
}

/// The files of what stages found, in a study's folder, and in those of other studies of the store
/// that have some of its runs. What was found of other predictions than a run has is refused.
pub(crate) struct KeptFiles {
    store: Store,
    folder: StudyFolder,
    names: Vec<String>,
    others: Vec<StudyFolder>,
    /// The files that the study's results were made of.
    used: BTreeSet<String>,
    /// The digests of the predictions of runs; `None` where there are none.
    digests: RefCell<BTreeMap<String, Option<String>>>,
}

/// What was found of a run, and its file in the study's folder, unless it is that of another study.
pub(crate) type FoundFile = (Kept, Option<String>);

impl KeptFiles {
    pub(crate) fn open(store: &Store, study: &str) -> Result<Self, StudyError> {
        let folder = store.study(study)?;
        let others = store.studies()?.into_iter().filter(|name| name != study);
        let others = others.map(|name| store.study(&name)).collect::<Result<_, _>>()?;
        let (names, used) = (folder.files()?, folder.made_of()?.files);
        let (store, digests) = (store.clone(), RefCell::default());
        Ok(Self { store, names, folder, others, used, digests })
    }

    /// Whether results were made of what a stage had found of a run.
    pub(crate) fn had(&self, stage: &Examination, job: &Job) -> bool {
        let start = format!("{}/{}", folder_of(stage), job.id);
        self.used.range(start.clone()..).next().is_some_and(|name| name.starts_with(&start))
    }

    /// The digest of a run's predictions; `None` where it is not there or not finished.
    fn digest_of(&self, id: &str) -> Option<String> {
        let known = self.digests.borrow().get(id).cloned();
        known.unwrap_or_else(|| {
            let run = id.parse().ok().and_then(|id| self.store.get(&id).ok().flatten());
            let run = run.filter(|run| run.status.state == State::Finished);
            let digest = run.and_then(|run| run.predictions_digest().ok());
            self.digests.borrow_mut().insert(id.to_owned(), digest.clone());
            digest
        })
    }

    /// The file of a run, and the runs that were looked at with it, sorted.
    fn file(stage: &Examination, group: &Group<'_>, job: &Job) -> (String, Vec<String>) {
        let peers: BTreeSet<String> = group.peers(job).iter().map(|id| id.to_string()).collect();
        let peers: Vec<String> = peers.into_iter().collect();
        let start = format!("{}/{}", folder_of(stage), job.id);
        if peers.is_empty() {
            return (format!("{start}.json"), peers);
        }
        let digest: String = digest(&json!(peers)).chars().take(DIGITS).collect();
        (format!("{start}-{digest}.json"), peers)
    }

    /// Whatever code made a file, it stays, as its models may be gone.
    fn read(
        &self,
        folder: &StudyFolder,
        name: &str,
        job: &Job,
        damaged: Damaged,
    ) -> Result<Option<Kept>, StudyError> {
        let bytes = match folder.read_made(name) {
            Err(error) if error.is_damage() && damaged == Damaged::Absent => None,
            read => read?,
        };
        let Some((bytes, made)) = bytes else { return Ok(None) };
        let other =
            |id: &str, digest: &String| self.digest_of(id).is_some_and(|found| found != *digest);
        if let Some(Made { from, peers, .. }) = &made
            && (other(job.id.as_str(), from) || peers.iter().any(|(id, from)| other(id, from)))
        {
            return match damaged {
                Damaged::Absent => Ok(None),
                Damaged::Refused => Err(StudyError::Store(StoreError::Foreign {
                    path: folder.path().join(name),
                    reason: "it was computed from other predictions than its runs have".to_owned(),
                })),
            };
        }
        match (serde_json::from_slice(&bytes), damaged) {
            (Ok(kept), _) => Ok(Some(kept)),
            (Err(_), Damaged::Absent) => Ok(None),
            (Err(error), Damaged::Refused) => {
                let what = folder.path().join(name).display().to_string();
                Err(StudyError::Results { what, reason: error.to_string() })
            }
        }
    }

    /// What was found of a run with the others of its group or else, of what was found with some of
    /// them, that with most. Of equals the first by name.
    pub(crate) fn nearest(
        &self,
        stage: &Examination,
        group: &Group<'_>,
        job: &Job,
        damaged: Damaged,
    ) -> Result<Option<FoundFile>, StudyError> {
        let (name, peers) = Self::file(stage, group, job);
        // The name holds the settings, the run and its peers: another study found the same.
        if let Some(kept) = self.read(&self.folder, &name, job, damaged)? {
            return Ok(Some((kept, Some(name))));
        }
        for folder in &self.others {
            if let Some(kept) = self.read(folder, &name, job, damaged)? {
                return Ok(Some((kept, None)));
            }
        }
        let mut best: Option<FoundFile> = None;
        let start = format!("{}/{}-", folder_of(stage), job.id);
        let first = self.names.partition_point(|name| *name < start);
        let names = self.names.iter().skip(first).take_while(|name| name.starts_with(&start));
        for name in names.filter(|name| name.ends_with(".json")) {
            let Some(kept) = self.read(&self.folder, name, job, damaged)? else { continue };
            let fits = kept.peers.iter().all(|peer| peers.contains(peer));
            if fits && best.as_ref().is_none_or(|best| best.0.peers.len() < kept.peers.len()) {
                best = Some((kept, Some(name.clone())));
            }
        }
        Ok(best)
    }

    /// Writes what was found of a run whose predictions have this digest.
    pub(crate) fn write(
        &self,
        stage: &Examination,
        group: &Group<'_>,
        job: &Job,
        mut kept: Kept,
        from: String,
    ) -> Result<(), StudyError> {
        let (name, peers) = Self::file(stage, group, job);
        kept.peers = peers;
        let bytes = serde_json::to_vec(&kept).map_err(|error| StudyError::Results {
            what: name.clone(),
            reason: error.to_string(),
        })?;
        let (rows, code) = (kept.numbers.len(), env!("CARGO_PKG_VERSION").to_owned());
        let digest = |id: &String| Some((id.clone(), self.digest_of(id)?));
        let peers = kept.peers.iter().filter_map(digest).collect();
        let made = Made { rows, from, code, peers };
        Ok(self.folder.write_made(&name, &bytes, &made, Durability::Power)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_read_back() {
        let picture = Picture::new("a", 1, 2, &[0, 1, 2, 253, 254, 255]);
        assert_eq!(picture.pixels, "000102fdfeff");
        assert_eq!(picture.bytes().unwrap(), [0, 1, 2, 253, 254, 255]);
        assert_eq!(Picture { pixels: "00".into(), ..picture.clone() }.bytes(), None);
        assert_eq!(Picture { pixels: "zz".repeat(6), ..picture }.bytes(), None);
    }

    /// Results of `same-target` are kept in `results/` under these names, and their models are gone:
    /// under another name, they would not be found again.
    #[test]
    fn results_of_same_target_are_found_again() {
        let study = crate::Study::builtin("same-target").unwrap();
        let names: Vec<String> = study.stages.examinations.iter().map(folder_of).collect();
        let kept = [
            "stages/geometry-28360b984a2e",
            "stages/variance-b0127afbb1ec",
            "stages/ood-6a13a9f5b516",
            "stages/barrier-70ee99eb01f6",
            "stages/cka-4b02b3d26385",
            "stages/gradcam-dcd11e7ddf23",
        ];
        for name in kept {
            assert!(names.iter().any(|known| known == name), "{name} is none of {names:?}");
        }
        assert_eq!(names.len(), kept.len());
    }
}
