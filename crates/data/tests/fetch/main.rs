//! Fetching, end to end: from servers on the loopback interface and from mirrors on disk.

// Helpers, unlike test functions, are not exempt by themselves.
#![allow(clippy::unwrap_used)]

mod archives;
mod downloads;
mod hub;
mod mirror;
mod support;
