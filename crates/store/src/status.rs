//! How far a run is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::layout::RunLayout;
use crate::{Durability, RunId, StoreError, files};

/// What has become of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// A process is training it.
    Running,
    /// It stopped before its end, by itself or with its process, and can be continued.
    Interrupted,
    /// It is done.
    Finished,
    /// It ended with an error; begun again, it starts anew.
    Failed {
        /// The error.
        reason: String,
    },
}

/// The state of a run, as of when it was last written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// What has become of it.
    #[serde(flatten)]
    pub state: State,
    /// Epochs done, as of the last checkpoint.
    pub epoch: u64,
    /// Epochs planned.
    pub planned: u64,
    /// When this was written, in seconds since 1970.
    pub updated: u64,
    /// The process that wrote it.
    pub process: u32,
}

/// The SHA-256 of the files of a finished run that results depend on, by their names in its folder.
/// They stand in its status, so that the one write that makes it finished makes them known.
pub(crate) type Checksums = BTreeMap<String, String>;

/// What `status.json` holds.
#[derive(Serialize, Deserialize)]
struct StatusFile {
    #[serde(flatten)]
    status: Status,
    /// Whose it is. Older runs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    /// Runs that were made before there were any have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    checksums: Checksums,
}

/// The status of a run; of this one, where it is bound to its run.
pub(crate) fn read(
    layout: &RunLayout,
    bound: Option<&RunId>,
) -> Result<(Status, Checksums), StoreError> {
    let path = layout.status();
    let read = serde_json::from_value(files::read_sealed(&path, |_| bound.is_none())?);
    let StatusFile { status, run, checksums } = match read {
        Ok(read) => read,
        Err(error) => return Err(StoreError::Json { path, error }),
    };
    match (bound, run) {
        (Some(id), Some(run)) if run != id.as_str() => {
            Err(StoreError::foreign(&path, format!("it is of run {run}")))
        }
        (Some(_), None) => Err(StoreError::foreign(&path, "it does not say whose it is")),
        _ => Ok((status, checksums)),
    }
}

/// What a run has come to, for whoever only wants to know that.
pub(crate) fn peek(layout: &RunLayout) -> Option<Status> {
    let value = files::read_sealed(&layout.status(), |_| true).ok()?;
    serde_json::from_value::<StatusFile>(value).ok().map(|file| file.status)
}

/// Replaces the status of a run.
pub(crate) fn write(
    layout: &RunLayout,
    id: &RunId,
    status: Status,
    checksums: Checksums,
    durability: Durability,
) -> Result<(), StoreError> {
    let run = Some(id.to_string());
    files::write_sealed(&layout.status(), &StatusFile { status, run, checksums }, durability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_reads_back_and_others_are_refused() {
        let failed = State::Failed { reason: "the loss is NaN".to_owned() };
        for state in [State::Running, State::Interrupted, State::Finished, failed] {
            let status = Status { state, epoch: 3, planned: 9, updated: 1_700_000_000, process: 7 };
            let text = serde_json::to_string(&status).unwrap();
            assert_eq!(serde_json::from_str::<Status>(&text).unwrap(), status);
        }
        let text =
            r#"{"state":"failed","reason":"x","epoch":0,"planned":1,"updated":2,"process":3}"#;
        assert!(serde_json::from_str::<Status>(text).is_ok());
        let error = serde_json::from_str::<Status>(&text.replace("failed", "lost")).unwrap_err();
        assert!(error.to_string().contains("unknown variant `lost`"), "{error}");
    }
}
