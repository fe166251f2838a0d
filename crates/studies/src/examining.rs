//! Finished runs looked into, one after the other, by the stages that need their models.
//!
//! This takes the weights and a device, so it is done where a study is run, right after training, and
//! not where its results are collected: there, what was found is read from the study's folder. What
//! was found once is not looked for again, and is still there when the weights are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use dissensus_core::{Cancel, Event, Progress};
use dissensus_examine::Observer;
use dissensus_store::{RunId, State, Store, StudyFolder, Which};

use crate::collect::Ran;
use crate::finished::Finished;
use crate::stages::{Examiner, Group, Kept};
use crate::{Bench, Failure, Job, Plan, StudyError};

/// Who is told how far it is.
pub trait Onlooker: Send {
    /// A stage begins, with so many things to look at.
    fn begun(&mut self, stage: &str, all: usize);
    /// It looks at this, and has done so many steps of a task.
    fn looking(&mut self, label: &str, task: &str, done: u64, total: Option<u64>);
    /// It is done with this; why not, where it could not be done.
    fn looked(&mut self, label: &str, failed: Option<&str>);
}

/// What became of the stages that need models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Examined {
    /// How many runs or groups of runs were looked at now.
    pub done: usize,
    /// How many had been before.
    pub before: usize,
    /// How many could not be, as weights are gone, by stage.
    pub without_weights: BTreeMap<String, usize>,
    /// Those that failed, and why.
    pub failed: Vec<Failure>,
    /// Whether it was asked to end before it was done.
    pub stopped: bool,
}

/// What a stage still has to do.
struct Work<'p> {
    stage: &'p dyn Examiner,
    groups: Vec<Group<'p>>,
}

impl Plan<'_> {
    /// Looks into the models of all finished runs, as far as stages ask for it and it has not been
    /// done. A run that cannot be looked into does not stop the others.
    pub fn examine(
        &self,
        store: &Store,
        bench: &Bench<'_>,
        cancel: &Cancel,
        onlooker: &mut dyn Onlooker,
    ) -> Result<Examined, StudyError> {
        let mut examined = Examined::default();
        if !self.has_examinations() {
            return Ok(examined);
        }
        let folder = store.study(&self.study().name)?;
        let jobs = self.finals(store)?.jobs;
        let ran = with_weights(store, &jobs)?;
        let names = folder.files()?;
        for stage in self.examiners() {
            let work = todo(stage, &jobs, &ran, &folder, &names, &mut examined)?;
            if !work.groups.is_empty() {
                self.one_stage(&work, &ran, &folder, bench, cancel, onlooker, &mut examined)?;
            }
        }
        Ok(examined)
    }

    /// Whether any stage needs models.
    pub fn has_examinations(&self) -> bool {
        self.examiners().next().is_some()
    }

    /// The data sets of the catalogue, and the paths of other inputs, that stages will read for these
    /// runs beside the study's own.
    pub fn needs(&self, store: &Store) -> Result<BTreeSet<&str>, StudyError> {
        let jobs = self.finals(store)?.jobs;
        let at_work = self.examiners().filter(|stage| !stage.among().of(&jobs).is_empty());
        Ok(at_work.flat_map(Examiner::needs).collect())
    }

    /// Runs that no stage needs the weights of any more, as all have been looked into.
    pub fn spent(&self, store: &Store) -> Result<Vec<RunId>, StudyError> {
        let folder = store.study(&self.study().name)?;
        let (jobs, names) = (self.finals(store)?.jobs, folder.files()?);
        let mut needed: Vec<&RunId> = Vec::new();
        for stage in self.examiners() {
            for group in stage.groups(&stage.among().of(&jobs)) {
                let whole = group.runs.len();
                if !found(stage, &group, |_| true, whole, &folder, &names)? {
                    needed.extend(group.runs.iter().map(|job| &job.id));
                }
            }
        }
        let ran = with_weights(store, &jobs)?;
        Ok(ran.into_keys().filter(|id| !needed.contains(&id)).collect())
    }

    pub(crate) fn examiners(&self) -> impl Iterator<Item = &dyn Examiner> {
        self.study().examiners.iter().map(|stage| &**stage)
    }

    #[allow(clippy::too_many_arguments)]
    fn one_stage(
        &self,
        work: &Work<'_>,
        ran: &BTreeMap<RunId, Ran>,
        folder: &StudyFolder,
        bench: &Bench<'_>,
        cancel: &Cancel,
        onlooker: &mut dyn Onlooker,
        examined: &mut Examined,
    ) -> Result<(), StudyError> {
        onlooker.begun(work.stage.name(), work.groups.len());
        for group in &work.groups {
            if cancel.is_cancelled() {
                examined.stopped = true;
                return Ok(());
            }
            let label = group.label();
            let runs: Vec<Finished<'_>> = group
                .runs
                .iter()
                .filter_map(|job| {
                    let Ran { info, result, .. } = ran.get(&job.id)?;
                    Some(Finished { job, info, result, material: self.material(job) })
                })
                .collect();
            let reports = Reports { label: &label, onlooker: Mutex::new(&mut *onlooker) };
            let observer = Observer::new(&reports, cancel.clone());
            let found = work.stage.examine(&runs, bench, &observer);
            let found = match found {
                Ok(found) => found,
                Err(StudyError::Examine(error)) if error.is_cancelled() => {
                    examined.stopped = true;
                    return Ok(());
                }
                Err(error) => {
                    let reason = format!("{}: {error}", work.stage.name());
                    onlooker.looked(&label, Some(&reason));
                    let id = group.runs[0].id.clone();
                    examined.failed.push(Failure { id, label, reason });
                    // Inputs that are not there are not there for the next run either.
                    match error {
                        StudyError::Load { .. } => return Ok(()),
                        _ => continue,
                    }
                }
            };
            for (job, kept) in group.runs.iter().zip(found) {
                if let Some(kept) = kept {
                    kept.write(folder, work.stage, &job.id, &group.peers(job))?;
                }
            }
            examined.done += 1;
            onlooker.looked(&label, None);
        }
        Ok(())
    }
}

/// Hands progress on to an onlooker.
struct Reports<'a, 'o> {
    label: &'a str,
    onlooker: Mutex<&'a mut (dyn Onlooker + 'o)>,
}

impl Progress for Reports<'_, '_> {
    fn report(&self, event: Event<'_>) {
        if let (Event::Advanced { task, done, total, .. }, Ok(mut onlooker)) =
            (event, self.onlooker.lock())
        {
            onlooker.looking(self.label, task, done, total);
        }
    }
}

/// The finished runs whose weights are there.
fn with_weights(store: &Store, jobs: &[Job]) -> Result<BTreeMap<RunId, Ran>, StudyError> {
    let mut ran = BTreeMap::new();
    for job in crate::distinct(jobs) {
        let Some(info) = store.get(&job.id)? else { continue };
        if info.status.state != State::Finished || !info.weights_path(Which::Best).is_file() {
            continue;
        }
        if let Some(result) = info.result()? {
            ran.insert(job.id.clone(), Ran::new(info, result));
        }
    }
    Ok(ran)
}

/// Whether all that a group gives of these runs was found, with at least as many runs together.
fn found(
    stage: &dyn Examiner,
    group: &Group<'_>,
    of: impl Fn(&Job) -> bool,
    together: usize,
    folder: &StudyFolder,
    names: &[String],
) -> Result<bool, StudyError> {
    for job in group.runs.iter().take(group.subjects).filter(|job| of(job)) {
        let kept = Kept::nearest(folder, names, stage, &job.id, &group.peers(job))?;
        if kept.is_none_or(|kept| kept.peers.len() + 1 < together) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The groups that are to be looked at, each with the runs that are there.
fn todo<'p>(
    stage: &'p dyn Examiner,
    jobs: &'p [Job],
    ran: &BTreeMap<RunId, Ran>,
    folder: &StudyFolder,
    names: &[String],
    examined: &mut Examined,
) -> Result<Work<'p>, StudyError> {
    let mut groups = Vec::new();
    for mut group in stage.groups(&stage.among().of(jobs)) {
        let there = |job: &&Job| ran.contains_key(&job.id);
        let available = group.runs.iter().filter(|job| there(job)).count();
        // Where runs are there, the others may not be trained yet.
        let asked = |job: &Job| available < group.least || ran.contains_key(&job.id);
        if found(stage, &group, asked, available.max(group.least), folder, names)? {
            examined.before += 1;
        } else if available >= group.least {
            let pair = group.subjects < group.runs.len();
            group.runs.retain(there);
            if !pair {
                group.subjects = group.runs.len();
            }
            // Of equals one is enough: arms may share runs.
            if !groups.iter().any(|other: &Group<'_>| other.is_same(&group)) {
                groups.push(group);
            }
        } else {
            *examined.without_weights.entry(stage.name().to_owned()).or_default() += 1;
        }
    }
    Ok(Work { stage, groups })
}
