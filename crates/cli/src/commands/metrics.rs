//! `dissensus metrics …`

use std::fmt::Write as _;

use dissensus::measure::{About, METRICS, explain, nearest_metrics, ood};

use crate::ui::{self, hints, paint, text};

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
                let hint = hints::metric_hint(&nearest_metrics(&name));
                anyhow::bail!("there is no metric {name:?}; {hint}")
            }
        },
    }
    Ok(())
}

fn families() -> [(&'static str, Vec<About>); 3] {
    [
        ("Metrics", METRICS.iter().map(|m| m.about).collect()),
        ("Out-of-distribution scores", ood::SCORES.iter().map(|s| s.about).collect()),
        ("Detection figures", ood::FIGURES.iter().map(|f| f.about).collect()),
    ]
}

fn list() -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    for (i, (title, abouts)) in families().into_iter().enumerate() {
        let gap = if i > 0 { "\n" } else { "" };
        writeln!(page, "{gap}{}", paint::title(title))?;
        for about in abouts {
            let name = paint::strong(&text::pad(about.name, 20));
            writeln!(page, "  {name} {} ({})", about.title, about.direction)?;
        }
    }
    Ok(page)
}
