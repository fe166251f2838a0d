//! How far the work is, for whoever waits.

/// A step of the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// What is being done.
    pub what: &'a str,
    /// Steps done.
    pub done: usize,
    /// Steps that there are at most; an estimate that converges ends before.
    pub most: usize,
}

/// Who is told.
pub type Watch<'w> = dyn FnMut(Progress<'_>) + 'w;

/// Nobody is told.
pub fn unwatched(_: Progress<'_>) {}
