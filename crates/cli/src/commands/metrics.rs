//! `dissensus metrics …`

use std::fmt::Write as _;

use dissensus::measure::{METRICS, explain, ood};

use crate::ui::{self, paint, text};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List all metrics
    List,
    /// Explain a metric: formula, unit, direction, settings, reference
    Explain {
        /// Its name, as `dissensus metrics list` gives it
        name: String,
    },
}

pub(crate) fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::List => ui::out(&list()?)?,
        Command::Explain { name } => match explain(&name) {
            Some(page) => ui::out(&page)?,
            None => {
                anyhow::bail!("there is no metric {name:?}; `dissensus metrics list` lists them")
            }
        },
    }
    Ok(())
}

fn list() -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    let families = [
        ("Metrics", METRICS.iter().map(|m| m.about).collect::<Vec<_>>()),
        ("Out-of-distribution scores", ood::SCORES.iter().map(|s| s.about).collect()),
        ("Detection figures", ood::FIGURES.iter().map(|f| f.about).collect()),
    ];
    for (i, (title, abouts)) in families.into_iter().enumerate() {
        let gap = if i > 0 { "\n" } else { "" };
        writeln!(page, "{gap}{}", paint::title(title))?;
        for about in abouts {
            let name = paint::strong(&text::pad(about.name, 20));
            writeln!(page, "  {name} {} ({})", about.title, about.direction)?;
        }
    }
    Ok(page)
}
