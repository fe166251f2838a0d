//! `dissensus data …`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dissensus::data::cache::{Holding, State};
use dissensus::data::catalogue::Kind;
use dissensus::data::fetch::Outcome;
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
        let here = here(&holding, &cache);
        writeln!(page, "{}  {title}", paint::strong(&text::pad(name, 9)))?;
        writeln!(page, "           {what}")?;
        let home = homepage.map_or(String::new(), |home| format!(", {home}"));
        writeln!(page, "           {}", paint::dim(&format!("licence: {licence}{home}")))?;
        writeln!(page, "           {}", paint::dim(&here))?;
    }
    writeln!(page, "\ncache: {}", cache.display())?;
    Ok(ui::out(&page)?)
}

/// What of a dataset is in the cache, in words.
fn here(holding: &Holding, cache: &Path) -> String {
    if holding.dataset.kind == Kind::Generated {
        let folder = cache.join(holding.dataset.name);
        let made = BLENDS_FILES.iter().all(|file| folder.join(file).exists());
        return if made { "in the cache" } else { "generated, nothing to download" }.to_owned();
    }
    let files = &holding.files;
    let total: u64 = files.iter().filter_map(|f| f.file.bytes()).sum();
    let plural = if files.len() == 1 { "" } else { "s" };
    let size = format!("{} file{plural}, {:.1} MB", files.len(), total as f64 / 1e6);
    let present = files.iter().filter(|f| matches!(f.state, State::Present)).count();
    match present {
        0 => format!("{size}; not in the cache"),
        n if n == files.len() => format!("{size}; in the cache"),
        n => format!("{size}; {n} of {} in the cache", files.len()),
    }
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
                ui::remark(&format!("{}; sha256 {}…{note}", how(outcome), &file.sha256[..12]));
            }
            ui::out(&format!("{}\n", file.path.display()))?;
        }
    }
    Ok(())
}

/// The source of a file in the cache, in words.
fn how(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Present => "in the cache already".to_owned(),
        Outcome::Copied { from } => format!("copied from {}", from.display()),
        Outcome::Downloaded { url, resumed_from: None } => format!("from {url}"),
        Outcome::Downloaded { url, resumed_from: Some(bytes) } => {
            format!("from {url}, resumed at {} bytes", text::thousands(*bytes as usize))
        }
    }
}
