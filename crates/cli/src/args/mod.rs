//! Options that several commands share, each declared once and flattened into the commands.

mod device;
mod evaluation;
mod fetch;
mod form;
mod inputs;
mod models;
mod store;
mod votes;

pub(crate) use device::{DeviceArgs, JobCount, WeightsArgs, open_device};
pub(crate) use evaluation::EvaluateArgs;
pub(crate) use fetch::FetchArgs;
pub(crate) use form::FormArgs;
pub(crate) use inputs::{DataArgs, InputArgs};
pub(crate) use models::{ModelArgs, ask};
pub(crate) use store::{StoreArgs, quoted};
pub(crate) use votes::{VoteArgs, VoteFileArgs, read_votes};

use dissensus::LoadContext;

use crate::ui::progress::Terminal;

/// For options that count something.
pub(crate) fn at_least_one(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "expected a whole number, at least 1".to_owned())
}

/// How data are loaded: from the default cache, with notes and bars on standard error.
pub(crate) fn context() -> LoadContext<'static> {
    // One bar at a time serves the whole program.
    static TERMINAL: std::sync::LazyLock<Terminal> = std::sync::LazyLock::new(Terminal::default);
    LoadContext { cancel: crate::interrupt::cancel().clone(), ..LoadContext::new(&*TERMINAL) }
}
