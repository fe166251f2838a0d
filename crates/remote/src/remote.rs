//! A bucket that holds a store, and a thread that pushes runs to it as they finish.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use dissensus_store::{Item, RunId, Store};

use crate::RemoteError;
use crate::objects::{self, Created, Objects};
use crate::sync::{self, SyncOptions, Synced};
use crate::url::Address;

/// A bucket, or a folder that is used as one.
pub struct Remote {
    pub(crate) objects: Box<dyn Objects>,
}

impl Remote {
    /// The bucket at `s3://BUCKET/PREFIX`, `gs://…`, `az://…` or `file:///FOLDER`. No request is sent.
    pub fn open(url: &str) -> Result<Self, RemoteError> {
        Ok(Self { objects: objects::open(Address::parse(url)?)? })
    }

    /// Pushes what the bucket lacks and pulls what the store lacks. A store that does not exist is made.
    ///
    /// One item that fails does not stop the others; see [`Synced`].
    pub fn sync(&self, store: &Path, options: &SyncOptions<'_>) -> Result<Synced, RemoteError> {
        sync::sync(self, store, options)
    }

    /// Pushes an item of this version.
    pub(crate) fn push(
        &self,
        store: &Store,
        item: &Item,
        version: &str,
    ) -> Result<(Created, u64), RemoteError> {
        let pack = store.pack_item(item, version)?;
        let bytes = pack.len() as u64;
        Ok((self.objects.create(&item.pack_name(version), pack)?, bytes))
    }
}

/// Pushes runs in the background, as they finish. What it could not push is left to the next
/// [`sync`](Remote::sync).
pub struct Pusher {
    runs: Sender<RunId>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Pusher {
    /// A thread that waits for runs of this store.
    pub fn start(remote: Arc<Remote>, store: Store) -> Self {
        let (runs, waiting) = channel::<RunId>();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            for id in waiting {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                // What fails here is noticed by the sync at the end, which compares both sides.
                let version = store.run(&id).and_then(|run| run.predictions_digest());
                let _ = version.map(|version| remote.push(&store, &Item::Run(id), &version));
            }
        });
        Self { runs, stop, thread }
    }

    /// Pushes a finished run soon.
    pub fn push(&self, id: &RunId) {
        // A thread that has ended leaves it to the sync at the end.
        let _ = self.runs.send(id.clone());
    }

    /// Waits for the run that is being pushed; others that wait are left to the next sync.
    pub fn finish(self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(self.runs);
        let _ = self.thread.join();
    }
}
