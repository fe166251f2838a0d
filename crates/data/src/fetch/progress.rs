//! How a caller follows a fetch.

use std::time::Duration;

use crate::Error;

/// Told what happens, in this order for each file or archive: [`start`](Progress::start),
/// [`total`](Progress::total) once it is known, perhaps [`resumed`](Progress::resumed), many
/// [`advance`](Progress::advance), perhaps [`retry`](Progress::retry) and more of the same, then
/// [`done`](Progress::done). A file that is there already gets [`present`](Progress::present)
/// alone. After an error nothing more is told.
///
/// Every method does nothing unless it is overridden; `()` is the silent listener.
pub trait Progress {
    /// The cache is locked by another process, which is now waited for.
    fn waiting(&mut self, _holder: &str) {}
    /// A file is in the cache and right.
    fn present(&mut self, _file: &str) {}
    /// Work on a file, or on the archive that holds it, begins; `from` is an address or a path.
    fn start(&mut self, _file: &str, _from: &str) {}
    /// Its size.
    fn total(&mut self, _bytes: u64) {}
    /// The first `bytes` were there from an earlier attempt and need not come again.
    fn resumed(&mut self, _bytes: u64) {}
    /// So many bytes are there now, counted from the beginning of the file. It can fall back
    /// when a server cannot resume.
    fn advance(&mut self, _bytes: u64) {}
    /// The transfer failed and will be taken up again, for the `attempt`-th time, after `wait`.
    fn retry(&mut self, _attempt: u32, _wait: Duration, _why: &Error) {}
    /// The file is in the cache and right, or the archive is complete.
    fn done(&mut self, _file: &str) {}
}

impl Progress for () {}
