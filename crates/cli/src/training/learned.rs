//! What a card found out about itself, kept from one start of the program to the next: without it a
//! run could be computed in another way tomorrow, and the first minute would be spent on finding out.

use std::io::Write as _;
use std::path::PathBuf;

use dissensus_engine::{Cuda, Device};

use crate::ui;

/// Tells a card what it knew before.
pub(super) fn recall(card: &Cuda) {
    if let Some(text) = path(card).and_then(|path| std::fs::read_to_string(path).ok()) {
        card.recall(&text);
    }
}

/// Keeps what a device found out since the last time. A note to oneself: without it, it is found out
/// again.
pub(super) fn keep(device: &dyn Device) {
    let Some(text) = device.learned() else { return };
    if let Some(path) = path(device) {
        let _ = ui::files::replace(&path, |out| out.write_all(text.as_bytes()));
    }
}

fn path(device: &dyn Device) -> Option<PathBuf> {
    let words = device.describe().to_lowercase();
    let words: Vec<&str> =
        words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let folder = dissensus_data::default_cache_dir().ok()?.join("cards");
    Some(folder.join(format!("{}.txt", words.join("-"))))
}
