//! `dissensus data …`

use std::fmt::Write as _;
use std::path::PathBuf;

use dissensus::data::catalogue::Kind;
use dissensus::data::{Dataset, Options, default_cache_dir, status};
use dissensus::{BLENDS_FILES, Fetchable};

use crate::args::context;
use crate::ui::{self, paint, text};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List the known datasets, their licences, and which are in the cache
    List(ListArgs),
    /// Download datasets and encoders into the cache, with checksums
    Fetch(FetchArgs),
}

#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// The cache folder [default: the user's cache directory, or $DISSENSUS_CACHE]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

/// Download datasets and encoders into the cache.
///
/// Files are downloaded from their public sources, or copied from a local mirror with --from; every
/// file is checked before it is kept. An interrupted download is resumed when the command is run
/// again. Models of the Hugging Face hub are named
/// hf:OWNER/NAME, with @COMMIT to pin one; HF_ENDPOINT and HF_TOKEN are used if they are set.
#[derive(clap::Args)]
pub(crate) struct FetchArgs {
    /// Names of `dissensus data list`, or models of the hub: hf:OWNER/NAME or hf:OWNER/NAME@COMMIT
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Take the files from this folder instead of the network
    #[arg(long, value_name = "DIR", env = "DISSENSUS_MIRROR")]
    from: Option<PathBuf>,
    /// The cache folder [default: the user's cache directory, or $DISSENSUS_CACHE]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Download files again that are in the cache
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::List(args) => list(args.cache),
        Command::Fetch(args) => fetch(args),
    }
}

fn cache_dir(said: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    said.map_or_else(|| Ok(default_cache_dir()?), Ok)
}

fn list(cache: Option<PathBuf>) -> anyhow::Result<()> {
    let cache = cache_dir(cache)?;
    let mut page = String::new();
    for holding in status(&cache) {
        let Dataset { name, title, what, licence, homepage, .. } = *holding.dataset;
        let made = || BLENDS_FILES.iter().all(|file| cache.join(name).join(file).exists());
        let here = match holding.dataset.kind {
            Kind::Generated if made() => "in the cache".to_owned(),
            Kind::Generated => "generated, nothing to download".to_owned(),
            _ => holding.to_string(),
        };
        writeln!(page, "{}  {title}", paint::strong(&text::pad(name, 9)))?;
        writeln!(page, "           {what}")?;
        let home = homepage.map_or(String::new(), |home| format!(", {home}"));
        writeln!(page, "           {}", paint::dim(&format!("licence: {licence}{home}")))?;
        writeln!(page, "           {}", paint::dim(&here))?;
    }
    writeln!(page, "\ncache: {}", cache.display())?;
    Ok(ui::out(&page)?)
}

fn fetch(args: FetchArgs) -> anyhow::Result<()> {
    // All names are checked before anything is fetched.
    let wanted = args.names.iter().map(|name| Fetchable::named(name));
    let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
    let cache = cache_dir(args.cache)?;
    let options = Options { from: args.from, force: args.force, ..Options::new(&cache) };
    for wanted in wanted {
        for file in wanted.fetch(&options, context().progress)? {
            if let Some(outcome) = &file.outcome {
                let note = file.note.map_or(String::new(), |note| format!(", {note}"));
                ui::remark(&format!("{outcome}; sha256 {}…{note}", &file.sha256[..12]));
            }
            ui::out(&format!("{}\n", file.path.display()))?;
        }
    }
    Ok(())
}
