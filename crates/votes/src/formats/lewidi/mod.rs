//! Learning With Disagreements (Le-Wi-Di), the shared tasks of SemEval-2023 (Leonardelli et al.)
//! and of 2025: one JSON object of items by id, each with its annotations, annotators and text.
//!
//! Both years repeat the votes as a `soft_label`, the share of each class, rounded to two or three
//! places. The votes are read; the soft label is only compared with them (`checks`).

mod checks;
mod y2023;
mod y2025;

pub(super) use y2023::FORMAT as FORMAT_2023;
pub(super) use y2025::FORMAT as FORMAT_2025;
