//! `dissensus data …`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dissensus::data::blends::Settings;
use dissensus::data::cache::{Holding, State};
use dissensus::data::catalogue::Kind;
use dissensus::data::fetch::Outcome;
use dissensus::data::{
    Dataset, HUB_PREFIX, HubModel, Options, default_cache_dir, fetch, fetch_model, find, status,
};
use dissensus::{BLENDS_FILES, save_blends};

use crate::ui::{self, paint, progress::Terminal, text};

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

pub(crate) fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::List(args) => list(args.cache),
        Command::Fetch(args) => get(args),
    }
}

fn cache_dir(said: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    match said {
        Some(folder) => Ok(folder),
        None => Ok(default_cache_dir()?),
    }
}

fn list(cache: Option<PathBuf>) -> anyhow::Result<ExitCode> {
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
    ui::out(&page)?;
    Ok(ExitCode::SUCCESS)
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

fn get(args: FetchArgs) -> anyhow::Result<ExitCode> {
    // All names are checked before anything is fetched.
    let wanted = args.names.iter().map(|name| match name.starts_with(HUB_PREFIX) {
        true => Ok(Wanted::Model(name.parse()?)),
        false => Ok(Wanted::Dataset(find(name)?)),
    });
    let wanted = wanted.collect::<anyhow::Result<Vec<_>>>()?;
    let cache = cache_dir(args.cache)?;
    let options = Options { from: args.from, force: args.force, ..Options::new(&cache) };
    for wanted in wanted {
        match wanted {
            Wanted::Model(model) => get_model(&model, &options)?,
            Wanted::Dataset(dataset) => match dataset.kind {
                Kind::Generated => generate(dataset, &cache, args.force)?,
                _ => get_files(dataset, &options)?,
            },
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A dataset or a model by its name.
enum Wanted {
    Dataset(&'static Dataset),
    Model(HubModel),
}

/// The source of a file in the cache, in words.
fn how(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Present => "in the cache already".to_owned(),
        Outcome::Copied { from } => format!("copied from {}", from.display()),
        Outcome::Downloaded { url, resumed_from: None } => format!("from {url}"),
        Outcome::Downloaded { url, resumed_from: Some(bytes) } => {
            format!("from {url}, resumed at {} bytes", text::thousands(*bytes))
        }
    }
}

fn get_model(model: &HubModel, options: &Options) -> anyhow::Result<()> {
    let fetched = fetch_model(model, options, &Terminal::default())?;
    for file in &fetched.files {
        let line = format!("{}; sha256 {}…\n", how(&file.outcome), &file.sha256[..12]);
        ui::err(&paint::dim(&line));
        ui::out(&format!("{}\n", file.path.display()))?;
    }
    Ok(())
}

fn get_files(dataset: &Dataset, options: &Options) -> anyhow::Result<()> {
    let fetched = fetch(dataset, options, &Terminal::default())?;
    for file in &fetched.files {
        let checked = format!("sha256 {}…", &file.variant.sha256[..12]);
        ui::err(&paint::dim(&format!(
            "{}; {checked}, {}\n",
            how(&file.outcome),
            file.variant.note
        )));
        ui::out(&format!("{}\n", file.path.display()))?;
    }
    Ok(())
}

fn generate(dataset: &Dataset, cache: &Path, force: bool) -> anyhow::Result<()> {
    let folder = cache.join(dataset.name);
    let paths = BLENDS_FILES.map(|file| folder.join(file));
    if force || !paths.iter().all(|path| path.exists()) {
        let blends = Settings::default().check()?.generate()?;
        save_blends(&blends, &folder, true)?;
    }
    for path in paths {
        ui::out(&format!("{}\n", path.display()))?;
    }
    Ok(())
}
