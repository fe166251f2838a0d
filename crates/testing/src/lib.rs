//! What the tests of several crates share: real data that may be missing ([`data`], [`skipped`]), and
//! an HTTP server on the loopback interface ([`Server`]). Not published.

// Tests panic, and say why they do not run.
#![allow(clippy::panic, clippy::print_stderr, clippy::unwrap_used)]

mod data;
mod server;

pub use data::{data, mirror, skipped};
pub use server::{How, Reply, Request, Server};
