//! Whether and from where to download what a study needs.

use std::path::PathBuf;

use dissensus::LoadContext;
use dissensus::data::{Options, default_cache_dir};

#[derive(clap::Args, Clone)]
pub(crate) struct FetchArgs {
    /// Download datasets and encoders that are not in the cache
    #[arg(long)]
    fetch: bool,
    /// With --fetch: take the files from this folder instead of the network
    #[arg(long, value_name = "DIR", env = "DISSENSUS_MIRROR")]
    from: Option<PathBuf>,
}

impl FetchArgs {
    /// How data are loaded.
    pub(crate) fn context(&self) -> anyhow::Result<LoadContext<'static>> {
        let mut context = super::context();
        if self.fetch {
            let options = Options::new(default_cache_dir()?);
            context.fetch = Some(Options { from: self.from.clone(), ..options });
        }
        Ok(context)
    }
}
