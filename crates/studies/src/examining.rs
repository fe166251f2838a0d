//! Finished runs looked into, one after the other, by the stages that need their models.
//!
//! This takes the weights and a device, so it is done where a study is run, right after training, and
//! not where its results are collected: there, what was found is read from the study's folder. What
//! was found once is not looked for again, and is still there when the weights are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use dissensus_core::{Batch, Cancel, Ending, Event, Progress};
use dissensus_examine::Observer;
use dissensus_store::{RunId, State, Store, Which};

use crate::collect::Ran;
use crate::context::Models;
use crate::finished::Finished;
use crate::stages::{Damaged, Examination, Group, KeptFiles};
use crate::{Failure, Job, Plan, StageContext, StudyError};

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

impl Plan<'_> {
    /// Looks into the models of all finished runs, as far as stages ask for it and it has not been
    /// done. A run that cannot be looked into does not stop the others.
    pub fn examine(
        &self,
        store: &Store,
        context: &StageContext<'_>,
        cancel: &Cancel,
        progress: &dyn Progress,
    ) -> Result<Examined, StudyError> {
        self.examine_groups(store, context, cancel, progress, &|_| true)
    }

    /// As [`examine`](Self::examine), of stages that look at each run alone and of these runs.
    pub fn examine_alone(
        &self,
        store: &Store,
        context: &StageContext<'_>,
        cancel: &Cancel,
        progress: &dyn Progress,
        of: &dyn Fn(&RunId) -> bool,
    ) -> Result<Examined, StudyError> {
        let alone = |group: &Group<'_>| match &group.runs[..] {
            [run] => of(&run.id),
            _ => false,
        };
        self.examine_groups(store, context, cancel, progress, &alone)
    }

    fn examine_groups(
        &self,
        store: &Store,
        context: &StageContext<'_>,
        cancel: &Cancel,
        progress: &dyn Progress,
        wanted: &dyn Fn(&Group<'_>) -> bool,
    ) -> Result<Examined, StudyError> {
        if !self.has_examinations() {
            return Ok(Examined::default());
        }
        let jobs = self.finals(store)?.jobs;
        let mut work = Work {
            plan: self,
            ran: with_weights(store, &jobs)?,
            files: KeptFiles::open(store, &self.study().name)?,
            context,
            cancel,
            progress,
            examined: Examined::default(),
        };
        for stage in self.examinations() {
            let groups = work.groups(stage, &jobs, wanted)?;
            if groups.is_empty() {
                continue;
            }
            let batch = Batch::Stage(stage.name);
            let labels: Vec<String> = groups.iter().map(Group::label).collect();
            let tasks: Vec<&str> = labels.iter().map(String::as_str).collect();
            let steps = groups.len() as u64;
            progress.report(Event::BatchStarted { batch, tasks: &tasks, steps });
            let looked = work.look(stage, groups.iter().zip(&tasks));
            progress.report(Event::BatchFinished { batch });
            looked?;
        }
        Ok(work.examined)
    }

    /// Whether any stage needs models.
    pub fn has_examinations(&self) -> bool {
        !self.examinations().is_empty()
    }

    /// The data sets of the catalogue, and the paths of other inputs, that stages will read for these
    /// runs beside the study's own.
    pub fn needs(&self, store: &Store) -> Result<BTreeSet<&str>, StudyError> {
        let jobs = self.finals(store)?.jobs;
        let at_work = self.examinations().iter().filter(|stage| !stage.runs.of(&jobs).is_empty());
        Ok(at_work.flat_map(|stage| stage.stage.needs()).collect())
    }

    /// Runs that no stage needs the weights of any more, as all have been looked into.
    pub fn spent(&self, store: &Store) -> Result<Vec<RunId>, StudyError> {
        let jobs = self.finals(store)?.jobs;
        let files = KeptFiles::open(store, &self.study().name)?;
        let mut needed: Vec<&RunId> = Vec::new();
        for stage in self.examinations() {
            for group in stage.groups(&jobs) {
                if !is_found(&files, stage, &group, |_| true, group.runs.len())? {
                    needed.extend(group.runs.iter().map(|job| &job.id));
                }
            }
        }
        let ran = with_weights(store, &jobs)?;
        Ok(ran.into_keys().filter(|id| !needed.contains(&id)).collect())
    }

    pub(crate) fn examinations(&self) -> &[Examination] {
        &self.study().stages.examinations
    }
}

/// What looking into models needs, and what has become of it.
struct Work<'a> {
    plan: &'a Plan<'a>,
    /// The finished runs whose weights are there.
    ran: BTreeMap<RunId, Ran>,
    files: KeptFiles,
    context: &'a StageContext<'a>,
    cancel: &'a Cancel,
    progress: &'a dyn Progress,
    examined: Examined,
}

impl Work<'_> {
    /// The groups that are to be looked at, each with the runs that are there.
    fn groups<'j>(
        &mut self,
        stage: &Examination,
        jobs: &'j [Job],
        wanted: &dyn Fn(&Group<'_>) -> bool,
    ) -> Result<Vec<Group<'j>>, StudyError> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for mut group in stage.groups(jobs).into_iter().filter(wanted) {
            let there = |job: &Job| self.ran.contains_key(&job.id);
            let available = group.runs.iter().filter(|job| there(job)).count();
            // Where runs are there, the others may not be trained yet.
            let asked = |job: &Job| available < group.least || there(job);
            if is_found(&self.files, stage, &group, asked, available.max(group.least))? {
                self.examined.before += 1;
            } else if available >= group.least {
                let pair = group.subjects < group.runs.len();
                group.runs.retain(|job| there(job));
                if !pair {
                    group.subjects = group.runs.len();
                }
                // Of equals one is enough: arms may share runs.
                if !groups.iter().any(|other| other.is_same(&group)) {
                    groups.push(group);
                }
            } else {
                *self.examined.without_weights.entry(stage.name.to_owned()).or_default() += 1;
            }
        }
        Ok(groups)
    }

    fn look<'g>(
        &mut self,
        stage: &Examination,
        groups: impl Iterator<Item = (&'g Group<'g>, &'g &'g str)>,
    ) -> Result<(), StudyError> {
        for (group, &label) in groups {
            let (progress, started) = (self.progress, Instant::now());
            let ended = |ending| {
                let (seconds, steps, detail) = (started.elapsed().as_secs_f64(), 1, "");
                let id = group.runs[0].id.as_str();
                let task = label;
                progress.report(Event::Ended { task, id, ending, steps, seconds, detail });
            };
            if self.cancel.is_cancelled() {
                self.examined.stopped = true;
                return Ok(());
            }
            let runs = group.runs.iter().filter_map(|job| {
                let Ran { info, result, .. } = self.ran.get(&job.id)?;
                Some(Finished { job, info, result, material: self.plan.material(job) })
            });
            let runs: Vec<Finished<'_>> = runs.collect();
            let reports = |event: Event<'_>| {
                if let Event::Advanced { task, done, total, .. } = event {
                    let of = total.map_or(String::new(), |total| format!("/{total}"));
                    let detail = format!("{task} {done}{of}");
                    let event = Event::Advanced { task: label, done, total, detail: &detail };
                    progress.report(event);
                }
            };
            let observer = Observer::new(&reports, self.cancel.clone());
            let models = Models { context: self.context, precision: stage.precision, observer };
            let found = match stage.stage.examine(&runs, &models) {
                Ok(found) => found,
                Err(StudyError::Examine(error)) if error.is_cancelled() => {
                    self.examined.stopped = true;
                    return Ok(());
                }
                Err(error) => {
                    let reason = format!("{}: {error}", stage.name);
                    ended(Ending::Failed(&reason));
                    let (id, label) = (group.runs[0].id.clone(), label.to_owned());
                    self.examined.failed.push(Failure { id, label, reason });
                    // Inputs that are not there are not there for the next run either.
                    match error {
                        StudyError::Load { .. } => return Ok(()),
                        _ => continue,
                    }
                }
            };
            for (run, kept) in runs.iter().zip(found) {
                if let Some(kept) = kept {
                    let from = run.info.predictions_digest()?;
                    self.files.write(stage, group, run.job, kept, from)?;
                }
            }
            self.examined.done += 1;
            ended(Ending::Done);
        }
        Ok(())
    }
}

/// The finished runs whose weights are there.
fn with_weights(store: &Store, jobs: &[Job]) -> Result<BTreeMap<RunId, Ran>, StudyError> {
    let mut ran = BTreeMap::new();
    for job in crate::distinct(jobs) {
        let Some(info) = store.get(&job.id)? else { continue };
        if info.status.state == State::Finished
            && info.weights_path(Which::Best).is_file()
            && let Some(result) = info.result()?
        {
            ran.insert(job.id.clone(), Ran::new(info, result));
        }
    }
    Ok(ran)
}

/// Whether all that a group gives of these runs was found, with at least as many runs together.
fn is_found(
    files: &KeptFiles,
    stage: &Examination,
    group: &Group<'_>,
    of: impl Fn(&Job) -> bool,
    together: usize,
) -> Result<bool, StudyError> {
    for job in group.subjects().iter().filter(|job| of(job)) {
        let kept = files.nearest(stage, group, job, Damaged::Absent)?;
        if kept.is_none_or(|(kept, _)| kept.peers.len() + 1 < together) {
            return Ok(false);
        }
    }
    Ok(true)
}
