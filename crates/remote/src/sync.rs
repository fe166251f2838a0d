//! A store and a bucket, compared by names, and what one of them lacks moved there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use dissensus_core::{Cancel, Event, Progress, Silent, Unit};
use dissensus_store::{Item, RunId, State, Store, Unpacked};

use crate::objects::Created;
use crate::{Remote, RemoteError};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncDirection {
    /// What one side lacks comes from the other.
    #[default]
    Both,
    /// To the bucket only.
    Push,
    /// From the bucket only.
    Pull,
}

/// The runs of one study, their results of stages, and its text.
#[derive(Clone, Debug, Default)]
pub struct SyncFilter {
    pub runs: BTreeSet<RunId>,
    pub study: String,
}

impl SyncFilter {
    fn has(&self, item: &Item) -> bool {
        let of_study = match item {
            Item::Run(_) => true,
            Item::File { study, .. } => *study == self.study,
        };
        of_study && item.run().is_none_or(|run| self.runs.contains(&run))
    }
}

/// What is moved, and how.
pub struct SyncOptions<'a> {
    pub direction: SyncDirection,
    /// Whether to find out only what would be moved.
    pub dry_run: bool,
    /// How many items are moved at a time.
    pub jobs: usize,
    /// Only these; `None` for all.
    pub only: Option<&'a SyncFilter>,
    /// Receives the progress, in items.
    pub progress: &'a dyn Progress,
    /// Stops after the items that are being moved.
    pub cancel: Cancel,
}

impl Default for SyncOptions<'_> {
    fn default() -> Self {
        Self {
            direction: SyncDirection::Both,
            dry_run: false,
            jobs: 8,
            only: None,
            progress: &Silent,
            cancel: Cancel::new(),
        }
    }
}

/// How many items, and their bytes as packs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncCounts {
    pub runs: usize,
    /// Files of studies: results of stages and texts.
    pub files: usize,
    /// Bytes; in a dry run, those of what would be pulled.
    pub bytes: u64,
}

impl SyncCounts {
    fn add(&mut self, item: &Item, bytes: u64) {
        match item {
            Item::Run(_) => self.runs += 1,
            Item::File { .. } => self.files += 1,
        }
        self.bytes += bytes;
    }
}

/// Several versions of one item, none of which was moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub item: Item,
    /// The version in the store.
    pub here: Option<String>,
    /// The versions in the bucket.
    pub there: Vec<String>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, versions) = (self.item.name(), self.there.len());
        let s = if versions == 1 { "" } else { "s" };
        match self.item {
            Item::Run(_) => write!(
                f,
                "{name} has other predictions in the bucket ({versions} version{s}); neither was moved"
            ),
            Item::File { .. } => write!(f, "{name} is another file in the bucket"),
        }
    }
}

/// An item that was not moved, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub name: String,
    pub reason: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

/// What became of a sync.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synced {
    /// Now in the bucket; in a dry run, what would be.
    pub pushed: SyncCounts,
    /// Now in the store; in a dry run, what would be.
    pub pulled: SyncCounts,
    /// The same on both sides, as far as names say; without bytes.
    pub same: SyncCounts,
    /// Items of several versions, sorted.
    pub conflicts: Vec<Conflict>,
    /// What failed after all attempts, or was refused, sorted by name. It is where it was, and the next
    /// sync tries it again.
    pub failed: Vec<Failure>,
    /// Results of stages in the bucket whose runs are on neither side; they are pulled when the runs are.
    pub without_run: usize,
    /// Results of stages in the store that are not pushed, as no record says what they were computed from.
    pub unrecorded: usize,
    /// Objects below the prefix that are no items.
    pub foreign: usize,
    /// Whether the server knows no conditional writes. Names say versions, so nothing can be lost.
    pub unconditional: bool,
    /// Whether it was cancelled before the end.
    pub cancelled: bool,
}

impl Synced {
    /// Whether there is something that a person has to look at: a failure, or two versions of a run.
    pub fn has_problems(&self) -> bool {
        let of_run = |conflict: &Conflict| matches!(conflict.item, Item::Run(_));
        !self.failed.is_empty() || self.conflicts.iter().any(of_run)
    }

    /// What became of two syncs, one after the other, of which the items may overlap.
    pub fn and(mut self, later: Self) -> Self {
        let add = |a: SyncCounts, b: SyncCounts| SyncCounts {
            runs: a.runs + b.runs,
            files: a.files + b.files,
            bytes: a.bytes + b.bytes,
        };
        self.conflicts.extend(later.conflicts);
        self.conflicts.sort_by(|a, b| a.item.cmp(&b.item));
        self.conflicts.dedup();
        self.failed.extend(later.failed);
        self.failed.sort_by(|a, b| a.name.cmp(&b.name));
        self.failed.dedup_by(|a, b| a.name == b.name);
        Self {
            pushed: add(self.pushed, later.pushed),
            pulled: add(self.pulled, later.pulled),
            same: add(self.same, later.same),
            without_run: self.without_run.max(later.without_run),
            unrecorded: self.unrecorded.max(later.unrecorded),
            foreign: self.foreign.max(later.foreign),
            unconditional: self.unconditional || later.unconditional,
            cancelled: self.cancelled || later.cancelled,
            ..self
        }
    }

    /// Reports what a person has to know about it.
    pub fn report(&self, progress: &dyn Progress) {
        for conflict in &self.conflicts {
            progress.report(Event::Warning(&format!("different: {conflict}")));
        }
        for failure in &self.failed {
            progress.report(Event::Warning(&format!("failed: {failure}")));
        }
        let note = |number: usize, what: &str, text: &str| {
            if number > 0 {
                let s = if number == 1 { "" } else { "s" };
                progress.report(Event::Note(&format!("{number} {what}{s} {text}")));
            }
        };
        note(
            self.without_run,
            "result",
            "of stages in the bucket cannot be used without their runs",
        );
        note(
            self.unrecorded,
            "result",
            "of stages not pushed: no record says what they were computed from",
        );
        note(self.foreign, "object", "in the bucket not read: not of a store");
        if self.unconditional {
            progress.report(Event::Note(
                "the server knows no conditional writes; objects were looked for before they were written",
            ));
        }
    }

    fn fail(&mut self, name: String, reason: &dyn std::fmt::Display) {
        self.failed.push(Failure { name, reason: reason.to_string() });
    }
}

/// The versions of items in a bucket, with the sizes of their packs.
type Versions = BTreeMap<Item, Vec<(String, u64)>>;

/// Something to be moved.
struct Move {
    item: Item,
    version: String,
    /// The size of its pack, where it is known.
    bytes: u64,
}

pub(crate) fn sync(
    remote: &Remote,
    path: &Path,
    options: &SyncOptions<'_>,
) -> Result<Synced, RemoteError> {
    let mut synced = Synced::default();
    let store = match options.direction {
        SyncDirection::Push => Some(Store::open(path)?),
        _ if options.dry_run && !path.exists() => None,
        _ => Some(Store::create_or_open(path)?),
    };
    let mut here = match &store {
        Some(store) => store.items(options.only.map(|only| &only.runs))?,
        None => Default::default(),
    };
    here.versions.retain(|item, _| options.only.is_none_or(|only| only.has(item)));
    if options.direction != SyncDirection::Pull {
        synced.unrecorded = here.unrecorded;
    }
    for (name, error) in here.broken {
        synced.fail(name, &error);
    }
    let there = list(remote, options.only, &mut synced.foreign)?;
    let (pulls, pushes) = compare(here.versions, there, options.direction, &mut synced);
    if options.dry_run {
        pulls.iter().for_each(|one| synced.pulled.add(&one.item, one.bytes));
        pushes.iter().for_each(|one| synced.pushed.add(&one.item, 0));
    } else if let Some(store) = &store {
        let work = Work::new(remote, store, options, pulls.len() + pushes.len(), synced);
        // What was computed from a run comes after it, on both sides.
        let runs_first = |moves: &[Move], step: &(dyn Fn(&Move) + Sync)| {
            let runs = moves.partition_point(|one| matches!(one.item, Item::Run(_)));
            let (runs, files) = moves.split_at(runs);
            work.each(runs, step);
            work.each(files, step);
        };
        runs_first(&pulls, &|one| work.pull(one));
        runs_first(&pushes, &|one| work.push(one));
        synced = work.end();
        if synced.pushed.runs > 0 {
            find_conflicts(remote, options.only, &pushes, &mut synced)?;
        }
    }
    synced.cancelled = options.cancel.is_cancelled();
    synced.conflicts.sort_by(|a, b| a.item.cmp(&b.item));
    synced.failed.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(synced)
}

/// What is in the bucket.
fn list(
    remote: &Remote,
    only: Option<&SyncFilter>,
    foreign: &mut usize,
) -> Result<Versions, RemoteError> {
    let studies = only.map_or("studies".to_owned(), |only| format!("studies/{}", only.study));
    let mut versions = Versions::new();
    // Runs last: those of all results in the list are then in the list, too.
    for folder in [&studies, "runs"] {
        for object in remote.objects.list(folder)? {
            let Some((item, version)) = Item::of_pack(&object.name) else {
                *foreign += 1;
                continue;
            };
            if only.is_none_or(|only| only.has(&item)) {
                versions.entry(item).or_default().push((version, object.bytes));
            }
        }
    }
    Ok(versions)
}

/// What is to be pulled and pushed, both sorted: runs are before files.
fn compare(
    here: BTreeMap<Item, String>,
    mut there: Versions,
    direction: SyncDirection,
    synced: &mut Synced,
) -> (Vec<Move>, Vec<Move>) {
    let (mut pulls, mut pushes) = (Vec::new(), Vec::new());
    for (item, version) in here {
        match there.remove(&item) {
            None if direction == SyncDirection::Pull => {}
            None => pushes.push(Move { item, version, bytes: 0 }),
            Some(found) if found.iter().all(|(found, _)| *found == version) => {
                synced.same.add(&item, 0);
            }
            Some(found) => synced.conflicts.push(conflict(item, Some(version), found)),
        }
    }
    for (item, mut found) in there {
        match (found.pop(), found.is_empty()) {
            (Some(_), true) if direction == SyncDirection::Push => {}
            (Some((version, bytes)), true) => pulls.push(Move { item, version, bytes }),
            (last, _) => {
                found.extend(last);
                synced.conflicts.push(conflict(item, None, found));
            }
        }
    }
    (pulls, pushes)
}

fn conflict(item: Item, here: Option<String>, found: Vec<(String, u64)>) -> Conflict {
    let mut there: Vec<String> = found.into_iter().map(|(version, _)| version).collect();
    there.sort_unstable();
    Conflict { item, here, there }
}

/// Finds runs of which another process pushed another version meanwhile.
fn find_conflicts(
    remote: &Remote,
    only: Option<&SyncFilter>,
    pushed: &[Move],
    synced: &mut Synced,
) -> Result<(), RemoteError> {
    let mut there = list(remote, only, &mut 0)?;
    for Move { item, version, .. } in pushed {
        if let Some(found) = there.remove(item).filter(|found| found.len() > 1) {
            synced.conflicts.push(conflict(item.clone(), Some(version.clone()), found));
        }
    }
    Ok(())
}

/// Items on their way, moved by several threads.
struct Work<'a> {
    remote: &'a Remote,
    store: &'a Store,
    options: &'a SyncOptions<'a>,
    total: u64,
    done: Mutex<(u64, Synced)>,
}

/// The name of the task, for progress.
const TASK: &str = "sync";

impl<'a> Work<'a> {
    fn new(
        remote: &'a Remote,
        store: &'a Store,
        options: &'a SyncOptions<'a>,
        total: usize,
        synced: Synced,
    ) -> Self {
        let total = total as u64;
        options.progress.report(Event::Started {
            task: TASK,
            total: Some(total),
            unit: Unit::Steps,
        });
        Self { remote, store, options, total, done: Mutex::new((0, synced)) }
    }

    /// Moves all, each by one thread, until it is cancelled.
    fn each(&self, moves: &[Move], step: &(dyn Fn(&Move) + Sync)) {
        let next = AtomicUsize::new(0);
        let threads = self.options.jobs.clamp(1, moves.len().max(1));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(one) = moves.get(next.fetch_add(1, Ordering::Relaxed))
                        && !self.options.cancel.is_cancelled()
                    {
                        step(one);
                    }
                });
            }
        });
    }

    fn push(&self, one: &Move) {
        let pushed = self.remote.push(self.store, &one.item, &one.version);
        self.took(|synced| match pushed {
            Ok((created, bytes)) => {
                synced.unconditional |= created == Created::Unconditionally;
                match created {
                    Created::Exists => synced.same.add(&one.item, 0),
                    _ => synced.pushed.add(&one.item, bytes),
                }
            }
            Err(error) => synced.fail(one.item.name(), &error),
        });
    }

    fn pull(&self, one: &Move) {
        let pulled = self.pull_one(one);
        self.took(|synced| match pulled {
            Err(error) => synced.fail(one.item.name(), &error),
            Ok(None) => synced.without_run += 1,
            Ok(Some(Unpacked { differing, .. })) if !differing.is_empty() => {
                synced.conflicts.push(Conflict {
                    item: one.item.clone(),
                    here: None,
                    there: vec![one.version.clone()],
                });
            }
            Ok(Some(Unpacked { left, studies, .. })) => {
                let stays = studies.iter().any(|study| !study.differing.is_empty());
                match left.first() {
                    Some((_, reason)) => synced.fail(one.item.name(), reason),
                    None if stays => {
                        synced.fail(one.item.name(), &"the store has another file of this name");
                    }
                    None => synced.pulled.add(&one.item, one.bytes),
                }
            }
        });
    }

    /// `None` for what was computed from a run that is not here.
    fn pull_one(&self, one: &Move) -> Result<Option<Unpacked>, RemoteError> {
        if let (Item::File { .. }, Some(run)) = (&one.item, one.item.run()) {
            let run = self.store.get(&run)?;
            if run.is_none_or(|run| run.status.state != State::Finished) {
                return Ok(None);
            }
        }
        let content = self.remote.objects.get(&one.item.pack_name(&one.version))?;
        Ok(Some(self.store.add_item(&one.item, &one.version, &content)?))
    }

    /// Notes what became of an item.
    fn took(&self, note: impl FnOnce(&mut Synced)) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, synced) = &mut *done;
        *count += 1;
        note(synced);
        let bytes = synced.pushed.bytes + synced.pulled.bytes;
        self.options.progress.report(Event::Advanced {
            task: TASK,
            done: *count,
            total: Some(self.total),
            detail: &format!("{:.1} MB", bytes as f64 / 1e6),
        });
    }

    fn end(self) -> Synced {
        self.options.progress.report(Event::Finished { task: TASK });
        self.done.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Two syncs of one study: the search runs, then the final runs, with the study's text in both.
    #[test]
    fn the_conflicts_and_failures_of_both_syncs_are_kept() {
        let conflict = |file: &str| Conflict {
            item: Item::File { study: "mine".into(), file: file.into() },
            here: None,
            there: vec!["1".into()],
        };
        let failure = |name: &str| Failure { name: name.into(), reason: "gone".into() };
        let counts = |runs| SyncCounts { runs, files: 1, bytes: 10 };
        let searched = Synced {
            pulled: counts(1),
            conflicts: vec![conflict("b"), conflict("study.toml")],
            failed: vec![failure("runs/2")],
            foreign: 2,
            ..Synced::default()
        };
        let finals = Synced {
            pulled: counts(5),
            conflicts: vec![conflict("a"), conflict("study.toml")],
            failed: vec![failure("runs/1"), failure("runs/2")],
            foreign: 2,
            cancelled: true,
            ..Synced::default()
        };
        let both = searched.clone().and(finals.clone());
        assert_eq!(both.pulled, SyncCounts { runs: 6, files: 2, bytes: 20 });
        assert_eq!(both.conflicts, ["a", "b", "study.toml"].map(conflict));
        assert_eq!(both.failed, ["runs/1", "runs/2"].map(failure));
        assert_eq!((both.foreign, both.cancelled), (2, true));
        assert_eq!(finals.and(searched).conflicts, both.conflicts);

        let lines = Mutex::new(Vec::new());
        both.report(&|event: Event<'_>| lines.lock().unwrap().push(format!("{event:?}")));
        let lines = lines.into_inner().unwrap();
        assert_eq!(lines.len(), 3 + 2 + 1);
        assert!(lines[0].starts_with("Warning(\"different: "), "{lines:?}");
        assert!(lines[5].starts_with("Note(\"2 objects"), "{lines:?}");
    }
}
