//! The store: opening, listing, finding, removing.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use dissensus_io::{check_outside, remove_orphans};

use crate::error::CAPITALS;
use crate::layout::{REMOVED, RunLayout, StoreLayout, run_of_artifact};
use crate::older::Marker;
use crate::{Durability, RunId, RunInfo, State, StoreError, files, lock, status, study};

/// How many ids are named to who asks for one that is not there.
const NEAREST: usize = 3;

/// A folder of runs.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) layout: StoreLayout,
    /// Whether this process has removed what others left half made or half removed.
    pub(crate) swept: Arc<AtomicBool>,
    /// Names among the runs that are ids in capitals, as of when one was first looked for.
    capitals: Arc<OnceLock<BTreeSet<String>>>,
}

/// The runs of a store.
#[derive(Debug, Default)]
pub struct Listing {
    /// Those that can be read, the oldest first.
    pub runs: Vec<RunInfo>,
    /// Those that cannot, by name.
    pub broken: Vec<Broken>,
}

/// Something among the runs that cannot be read as one.
#[derive(Debug)]
pub struct Broken {
    /// Its id; `None` where its name is not one.
    pub id: Option<RunId>,
    /// Where it lies.
    pub folder: PathBuf,
    /// What is wrong with it.
    pub error: StoreError,
}

impl Store {
    /// Opens a store that is there.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let layout = StoreLayout::new(path.as_ref());
        let path = || layout.root.clone();
        if !layout.root.exists() {
            return Err(StoreError::NoStore { path: path() });
        }
        if !layout.marker().exists() {
            let found = match layout.root.is_dir() {
                true => files::names(&layout.root)?.into_iter().next(),
                false => Some("a file".to_owned()),
            };
            return Err(match found {
                Some(found) => StoreError::NotAStore { path: path(), found },
                None => StoreError::NoStore { path: path() },
            });
        }
        let _: Marker = files::read_versioned(&layout.marker())?;
        Ok(Self::at(layout))
    }

    /// What is laid out as a store.
    pub(crate) fn at(layout: StoreLayout) -> Self {
        Self { layout, swept: Arc::default(), capitals: Arc::default() }
    }

    /// Opens a store, or makes one in a folder that is new or empty.
    pub fn create_or_open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let layout = StoreLayout::new(path.as_ref());
        if layout.marker().exists() {
            let store = Self::open(path)?;
            store.sweep()?;
            return Ok(store);
        }
        check_outside(&layout.root)?;
        fs::create_dir_all(&layout.root)
            .map_err(|error| StoreError::io("making the store", &layout.root, error))?;
        // Another process may be making the same store.
        let foreign = |name: &String| !StoreLayout::is_ours(name);
        if let Some(found) = files::names(&layout.root)?.into_iter().find(foreign) {
            return Err(StoreError::NotAStore { path: layout.root, found });
        }
        let making = lock::wait(&layout.lock())?;
        if !layout.marker().exists() {
            files::write_sealed(&layout.marker(), &Marker::new(), Durability::Power)?;
        }
        drop(making);
        Self::open(path)
    }

    /// Removes what processes that are no more left behind: temporary files that nobody writes, and the
    /// checkpoints of finished runs.
    fn sweep(&self) -> Result<(), StoreError> {
        remove_orphans(&self.layout.root);
        for name in self.names()? {
            let run = RunLayout { folder: self.layout.runs().join(name) };
            remove_orphans(&run.folder);
            remove_orphans(&run.predictions_folder());
            let finished = || status::peek(&run).is_some_and(|s| s.state == State::Finished);
            // A process that holds the run is about to do the same.
            if run.checkpoint().exists()
                && finished()
                && let Ok(Some(_held)) = lock::take(&run.lock())
            {
                files::remove(&run.checkpoint())?;
            }
        }
        for name in self.studies()? {
            for folder in study::folders(&self.layout.study(&name))? {
                remove_orphans(&folder);
            }
        }
        Ok(())
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.layout.root
    }

    /// All runs, the oldest first; those that cannot be read apart from the others.
    pub fn runs(&self) -> Result<Listing, StoreError> {
        let (mut runs, broken) = self.each_run(Ok)?;
        runs.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        Ok(Listing { runs, broken })
    }

    /// What a function makes of each run, in the order of their names; and those runs that cannot be read, or
    /// that it refuses. Only as many runs as there are threads are held at a time.
    pub fn each_run<T: Send>(
        &self,
        make: impl Fn(RunInfo) -> Result<T, StoreError> + Sync,
    ) -> Result<(Vec<T>, Vec<Broken>), StoreError> {
        Ok(self.each_of(&self.names()?, make))
    }

    /// The same of those of these runs that are there.
    pub(crate) fn each_of_runs<T: Send>(
        &self,
        ids: &BTreeSet<RunId>,
        make: impl Fn(RunInfo) -> Result<T, StoreError> + Sync,
    ) -> (Vec<T>, Vec<Broken>) {
        self.each_of(&ids.iter().map(RunId::to_string).collect::<Vec<_>>(), make)
    }

    fn each_of<T: Send>(
        &self,
        names: &[String],
        make: impl Fn(RunInfo) -> Result<T, StoreError> + Sync,
    ) -> (Vec<T>, Vec<Broken>) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = names.len().div_ceil(threads).max(1);
        let (mut all, mut broken, make) = (Vec::new(), Vec::new(), &make);
        std::thread::scope(|scope| {
            let read = |names| scope.spawn(move || self.read_runs(names, make));
            for reader in names.chunks(share).map(read).collect::<Vec<_>>() {
                let (made, unread) =
                    reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                all.extend(made);
                broken.extend(unread);
            }
        });
        (all, broken)
    }

    fn read_runs<T>(
        &self,
        names: &[String],
        make: impl Fn(RunInfo) -> Result<T, StoreError>,
    ) -> (Vec<T>, Vec<Broken>) {
        let (mut all, mut broken) = (Vec::new(), Vec::new());
        for name in names {
            let folder = self.layout.runs().join(name);
            // Where there are many, looking for those nearest to one that is not there takes long.
            if folder.symlink_metadata().is_err() {
                continue;
            }
            let id: Result<RunId, StoreError> = name.parse();
            match id.and_then(|id| self.run(&id)).and_then(&make) {
                Ok(made) => all.push(made),
                // Removed since the names were read.
                Err(_) if folder.symlink_metadata().is_err() => {}
                Err(error) => broken.push(Broken { id: name.parse().ok(), folder, error }),
            }
        }
        (all, broken)
    }

    /// What lies among the runs, sorted, without what is being made or removed.
    fn names(&self) -> Result<Vec<String>, StoreError> {
        let mut names = files::names(&self.layout.runs())?;
        names.retain(|name| !name.starts_with('.'));
        Ok(names)
    }

    /// The run of this id.
    pub fn run(&self, id: &RunId) -> Result<RunInfo, StoreError> {
        let layout = self.layout.run(id);
        match self.is_there(id)? {
            true => RunInfo::read(layout, id.clone()),
            false => Err(self.no_run(id.as_str(), self.ids()?)),
        }
    }

    /// The run of this id; `None` where there is none.
    pub fn get(&self, id: &RunId) -> Result<Option<RunInfo>, StoreError> {
        let layout = self.layout.run(id);
        match self.is_there(id)? {
            true => RunInfo::read(layout, id.clone()).map(Some),
            false => Ok(None),
        }
    }

    /// Whether there is a folder of this run. Something else in its place is an error.
    pub(crate) fn is_there(&self, id: &RunId) -> Result<bool, StoreError> {
        let path = self.layout.run(id).folder;
        let not = |path, found| Err(StoreError::NotARun { path, found });
        match path.metadata() {
            Ok(found) if found.is_dir() => return Ok(true),
            Ok(_) => return not(path, "a file"),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("reading", &path, error)),
        }
        if path.is_symlink() {
            return not(path, "a broken link");
        }
        let is_capital = |name: &String| {
            let small = name.to_lowercase();
            small != *name && small.parse::<RunId>().is_ok()
        };
        // Once is enough: where there are many runs, a list for each that is not there takes long.
        let capitals = self.capitals.get_or_init(|| {
            self.names().unwrap_or_default().into_iter().filter(is_capital).collect()
        });
        match capitals.iter().find(|name| name.eq_ignore_ascii_case(id.as_str())) {
            Some(name) => not(self.layout.runs().join(name), CAPITALS),
            None => Ok(false),
        }
    }

    /// The ids of all runs, readable or not, sorted.
    pub fn ids(&self) -> Result<Vec<RunId>, StoreError> {
        Ok(self.names()?.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// The only id that begins with these digits; that of a broken run too.
    pub fn resolve(&self, prefix: &str) -> Result<RunId, StoreError> {
        let digits = prefix.to_lowercase();
        let ids = self.ids()?;
        let begins = |id: &&RunId| !digits.is_empty() && id.as_str().starts_with(&digits);
        let mut found: Vec<RunId> = ids.iter().filter(begins).cloned().collect();
        match found.len() {
            0 => Err(self.no_run(prefix, ids)),
            1 => Ok(found.remove(0)),
            _ => Err(StoreError::Ambiguous { prefix: prefix.to_owned(), candidates: found }),
        }
    }

    /// The only run whose id begins with these digits.
    pub fn find(&self, prefix: &str) -> Result<RunInfo, StoreError> {
        self.run(&self.resolve(prefix)?)
    }

    fn no_run(&self, prefix: &str, mut ids: Vec<RunId>) -> StoreError {
        // Most digits shared from the start; the sort is stable, so that equals stay in order.
        let digits = prefix.to_lowercase();
        let shared = |id: &RunId| {
            let pairs = id.as_str().bytes().zip(digits.bytes());
            std::cmp::Reverse(pairs.take_while(|(a, b)| a == b).count())
        };
        ids.sort_by_key(shared);
        ids.truncate(NEAREST);
        StoreError::NoRun { prefix: prefix.to_owned(), nearest: ids }
    }

    /// Removes a run, broken or not, and what studies computed from it, unless a process is training it.
    ///
    /// Its folder is renamed first and emptied then, so that nothing half-removed is ever taken
    /// for a run; what a kill leaves of it goes when the next run begins. What was computed from it is put
    /// aside with it, before another process may add the run again.
    pub fn remove(&self, id: &RunId) -> Result<(), StoreError> {
        let run = self.layout.run(id);
        let making = lock::wait(&self.layout.lock())?;
        if !self.is_there(id)? {
            return Err(self.no_run(id.as_str(), self.ids()?));
        }
        let Some(held) = lock::take(&run.lock())? else {
            return Err(self.locked(id));
        };
        let (removed, computed) = (self.aside(id), self.computed_from(id)?);
        fs::rename(&run.folder, &removed)
            .map_err(|error| StoreError::io("removing", &run.folder, error))?;
        for (number, path) in computed.iter().enumerate() {
            let aside = removed.join(format!("computed-{number}"));
            fs::rename(path, aside).map_err(|error| StoreError::io("removing", path, error))?;
        }
        for study in self.studies()? {
            self.study(&study)?.forget(id)?;
        }
        drop((held, making));
        files::remove(&removed)
    }

    /// What studies computed from a run.
    fn computed_from(&self, id: &RunId) -> Result<Vec<PathBuf>, StoreError> {
        let mut paths = Vec::new();
        for name in self.studies()? {
            let study = self.study(&name)?;
            let mut names = study.files()?;
            names.retain(|name| run_of_artifact(name).as_ref() == Some(id));
            paths.extend(names.iter().map(|name| study.path().join(name)));
        }
        Ok(paths)
    }

    /// Where a run is put aside to be removed.
    pub(crate) fn aside(&self, id: &RunId) -> PathBuf {
        let unique = format!("{REMOVED}{id}-{}-{}", std::process::id(), nanoseconds());
        self.layout.runs().join(unique)
    }

    pub(crate) fn locked(&self, id: &RunId) -> StoreError {
        let status = status::peek(&self.layout.run(id));
        StoreError::Locked { id: id.clone(), process: status.map(|status| status.process) }
    }
}

fn nanoseconds() -> u128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_nanos())
}
