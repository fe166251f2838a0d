//! What the tests of several crates share: real data that may be missing ([`data`], [`skipped`]), and
//! an HTTP server on the loopback interface ([`Server`]). Not published.

// Tests panic.
#![allow(clippy::unwrap_used)]

mod data;
mod server;

pub use data::{data, data_named, mirror, skipped};
pub use server::{How, Reply, Request, Server};
