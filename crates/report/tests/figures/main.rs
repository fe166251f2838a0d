//! Figures: their data compared as numbers, their pictures checked for what a picture must be.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod book;
mod data;
mod drawn;
mod hostile;
