//! What a stage that looks into models found of a run, and its file in the study's folder.
//!
//! A file is named by the stage, its settings, the run and the runs that were looked at with it. With
//! other settings or other peers it is another file, so that what was found on two machines can be
//! laid together.

use std::collections::BTreeSet;

use dissensus_store::{Durability, Made, Store, StudyFolder, digest};
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

/// The files of what stages found, in a study's folder, and in those of other studies of the store
/// that have some of its runs.
pub(crate) struct KeptFiles {
    folder: StudyFolder,
    names: Vec<String>,
    others: Vec<StudyFolder>,
}

impl KeptFiles {
    pub(crate) fn open(store: &Store, study: &str) -> Result<Self, StudyError> {
        let folder = store.study(study)?;
        let others = store.studies()?.into_iter().filter(|name| name != study);
        let others = others.map(|name| store.study(&name)).collect::<Result<_, _>>()?;
        Ok(Self { names: folder.files()?, folder, others })
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

    /// A file that is damaged is made again. Whatever code made it, it stays, as its models may be
    /// gone.
    fn read(folder: &StudyFolder, name: &str) -> Result<Option<Kept>, StudyError> {
        let bytes = folder.read_made(name)?;
        Ok(bytes.and_then(|(bytes, _)| serde_json::from_slice(&bytes).ok()))
    }

    /// What was found of a run with the others of its group or else, of what was found with some of
    /// them, that with most. Of equals the first by name.
    pub(crate) fn nearest(
        &self,
        stage: &Examination,
        group: &Group<'_>,
        job: &Job,
    ) -> Result<Option<Kept>, StudyError> {
        let (name, peers) = Self::file(stage, group, job);
        // The name holds the settings, the run and its peers: another study found the same.
        let mut best = None;
        for folder in std::iter::once(&self.folder).chain(&self.others) {
            best = Self::read(folder, &name)?;
            if best.is_some() {
                return Ok(best);
            }
        }
        let start = format!("{}/{}-", folder_of(stage), job.id);
        for name in self.names.iter().filter(|name| name.starts_with(&start)) {
            let Some(kept) = Self::read(&self.folder, name)? else { continue };
            let fits = kept.peers.iter().all(|peer| peers.contains(peer));
            if fits && best.as_ref().is_none_or(|best| best.peers.len() < kept.peers.len()) {
                best = Some(kept);
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
        Ok(self.folder.write_made(&name, &bytes, &Made { rows, from, code }, Durability::Power)?)
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
