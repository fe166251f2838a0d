//! `dissensus study list` and `show`

use std::path::PathBuf;

use dissensus::store::Store;
use dissensus::studies::{BUILTIN, Study, template};

use crate::ui::{self, paint, text};

#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Also list the studies of this store
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

/// Print a study's file, to copy and change.
///
/// A built-in study is printed with its comments and published values. With --resolved, all settings
/// are printed, as they are stored with the results.
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// A built-in study, or a file
    #[arg(value_name = "NAME|FILE", required_unless_present = "template")]
    study: Option<String>,
    /// Print a study with every key explained
    #[arg(long, conflicts_with_all = ["study", "resolved"])]
    template: bool,
    /// Print the study with all settings resolved, without comments
    #[arg(long)]
    resolved: bool,
}

/// Columns of a name.
const WIDE: usize = 19;

pub(crate) fn list(args: &ListArgs) -> anyhow::Result<()> {
    let mut page = String::new();
    for builtin in BUILTIN {
        let title = Study::builtin(builtin.name)?.title;
        page += &format!("{} {title}\n", paint::strong(&text::pad(builtin.name, WIDE)));
    }
    if let Some(folder) = &args.store {
        for name in Store::open(folder)?.studies()? {
            let note = paint::dim(&format!("in {}", folder.display()));
            page += &format!("{} {note}\n", paint::strong(&text::pad(&name, WIDE)));
        }
    }
    Ok(ui::out(&page)?)
}

pub(crate) fn show(args: &ShowArgs) -> anyhow::Result<()> {
    let builtin = |name: &str| BUILTIN.iter().find(|builtin| builtin.name == name);
    match &args.study {
        None => ui::out(&template())?,
        Some(study) => match builtin(study).filter(|_| !args.resolved) {
            Some(builtin) => ui::out(builtin.text)?,
            None => ui::out(&dissensus::study::open(study)?.to_toml())?,
        },
    }
    Ok(())
}
