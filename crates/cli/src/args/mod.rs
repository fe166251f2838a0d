//! Options that several commands share, each declared once and flattened into the commands.

mod device;
mod evaluation;
mod fetch;
mod form;
mod inputs;
mod models;
mod store;
mod votes;

pub(crate) use device::{DeviceArgs, ExecutionArgs, WeightsArgs};
pub(crate) use evaluation::{EvaluateArgs, Models};
pub(crate) use fetch::FetchArgs;
pub(crate) use form::FormArgs;
pub(crate) use inputs::{DataArgs, InputArgs};
pub(crate) use models::{ModelArgs, ask};
pub(crate) use store::{StoreArgs, quoted, store_flag};
pub(crate) use votes::{VoteArgs, VoteFileArgs, read_votes};

use std::ops::RangeInclusive;

use dissensus::LoadContext;

use crate::ui::{progress::Terminal, text};

/// Parses whole numbers in a range; the error has the range.
pub(crate) fn whole<T: TryFrom<u64> + Clone + Send + Sync + 'static>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number: Option<u64> = text.parse().ok().filter(|number| range.contains(number));
        number.and_then(|number| number.try_into().ok()).ok_or_else(|| {
            let [from, to] = [range.start(), range.end()].map(|end| text::thousands(*end as usize));
            format!("expected a whole number from {from} to {to}")
        })
    }
}

/// How data are loaded: from the default cache, with notes and bars on standard error.
pub(crate) fn context() -> LoadContext<'static> {
    // One bar at a time serves the whole program.
    static TERMINAL: std::sync::LazyLock<Terminal> = std::sync::LazyLock::new(Terminal::default);
    LoadContext { cancel: crate::interrupt::cancel().clone(), ..LoadContext::new(&*TERMINAL) }
}
