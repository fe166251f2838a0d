//! `dissensus votes inspect FILE`

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::core::{Keep, normalized_entropy};
use dissensus::report::figures::Form;
use dissensus::votes::Note;
use dissensus::votes::summary::{Summary, summarize};
use serde::Serialize;

use super::reading::ReadArgs;
use crate::ui::{self, bars, paint, text};

/// Show what is in a vote file.
///
/// The format is detected from the content and the columns are guessed from known names; what was
/// guessed is printed, and options override every guess.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    read: ReadArgs,
    /// How many of the most ambiguous items to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
    /// Draw the entropy of the items as an SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace the SVG file if it exists
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Inspection<'a> {
    file: &'a str,
    format: &'a str,
    notes: &'a [Note],
    #[serde(flatten)]
    summary: &'a Summary,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let reading = args.read.read(&args.read.options(Keep::Votes))?;
    let summary = summarize(&reading.table, &reading.texts, args.top);
    if let Some(path) = &args.svg {
        let svg = dissensus::votes_figure(text::file_name(&reading.file), &summary).svg(Form::File);
        ui::files::write_text(path, args.force, &svg)?;
        ui::err(&format!("wrote {}\n", path.display()));
    }
    if args.json {
        let (file, format) = (reading.file.as_str(), reading.format.name);
        let all = Inspection { file, format, notes: &reading.notes, summary: &summary };
        ui::out(&format!("{}\n", serde_json::to_string_pretty(&all)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    print_summary(&reading.file, &reading.notes, &summary)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a summary for people.
pub(crate) fn print_summary(file: &str, notes: &[Note], summary: &Summary) -> anyhow::Result<()> {
    let mut page = String::new();
    writeln!(page, "{}", paint::title(&text::one_line(file, 80)))?;
    for (i, note) in notes.iter().enumerate() {
        let name = if i == 0 { "read as" } else { "" };
        let line = format!("{}: {}", note.what, text::one_line(&note.value, 70));
        writeln!(page, "  {} {line}", paint::dim(&format!("{name:<11}")))?;
    }
    writeln!(page)?;
    for (name, value) in figures(summary) {
        writeln!(page, "  {} {value}", paint::dim(&format!("{name:<11}")))?;
    }
    if let Some(entropy) = &summary.entropy {
        writeln!(page, "\n{}", paint::title("How much people disagree (normalized entropy)"))?;
        let most = entropy.histogram.iter().copied().max().unwrap_or(0);
        for (bin, &count) in entropy.histogram.iter().enumerate() {
            let range = format!("{:.1}–{:.1}", bin as f64 / 10.0, (bin + 1) as f64 / 10.0);
            let bar = bars::bar(count as f64, most as f64, 40);
            writeln!(page, "  {} {bar} {}", paint::dim(&range), text::thousands(count as u64))?;
        }
    }
    print_classes(&mut page, summary)?;
    print_ambiguous(&mut page, summary)?;
    ui::out(&page)?;
    Ok(())
}

/// The figures, a name and a text each.
fn figures(summary: &Summary) -> Vec<(&'static str, String)> {
    let count = |n: usize| text::thousands(n as u64);
    let voted = summary.items - summary.items_without_votes;
    let share = |n: usize| {
        let percent = 100.0 * n as f64 / voted.max(1) as f64;
        format!("{} ({percent:.1} % of the items)", count(n))
    };
    let mut items = count(summary.items);
    if summary.items_without_votes > 0 {
        items += &format!(", {} of them without votes", count(summary.items_without_votes));
    }
    let votes = match (summary.votes, &summary.votes_per_item) {
        (Some(votes), Some(per)) => {
            let weighted = if summary.weighted { ", weighted" } else { "" };
            format!(
                "{}, per item {} to {}, median {}{weighted}",
                text::thousands(votes),
                text::thousands(per.min),
                text::thousands(per.max),
                per.median
            )
        }
        _ => "unknown: only probabilities".to_owned(),
    };
    let names: Vec<&str> = summary.classes.iter().map(|c| c.name.as_str()).collect();
    let order = summary.class_order.describe();
    let classes = format!("{}: {} ({order})", names.len(), text::list(&names, 60));
    let mut rows = vec![
        ("items", items),
        ("annotators", summary.annotators.map_or("not named".to_owned(), count)),
        ("votes", votes),
        ("classes", classes),
        ("unanimous", share(summary.unanimous)),
        ("ties", share(summary.ties)),
    ];
    if let Some(entropy) = &summary.entropy {
        let mut line =
            format!("mean {:.5} nats = {:.5} bits", entropy.mean_nats, entropy.mean_bits);
        if let (Some(mean), Some(sd)) = (entropy.mean_normalized, entropy.sd_normalized) {
            line += &format!(" = {mean:.3} normalized (sd {sd:.3})");
        }
        rows.push(("entropy", line));
    }
    let figure = |name: &str, value: Option<f64>, why: &str| match value {
        Some(value) => format!("{name} {value:.4}"),
        None => format!("{name} undefined ({why})"),
    };
    let why_alpha = match (summary.votes, summary.weighted) {
        (None, _) => "no counts",
        (_, true) => "weighted votes",
        _ => "needs two votes on an item, and two classes used",
    };
    let why_kappa = match (summary.votes, summary.weighted, &summary.votes_per_item) {
        (None, ..) => "no counts",
        (_, true, _) => "weighted votes",
        (_, _, Some(per)) if per.min != per.max => "items have different numbers of votes",
        _ => "needs two votes on every item, and two classes used",
    };
    let alpha = figure("Krippendorff's α", summary.krippendorff_alpha, why_alpha);
    let kappa = figure("Fleiss' κ", summary.fleiss_kappa, why_kappa);
    rows.push(("agreement", format!("{alpha}, {kappa}")));
    rows.push(("digest", summary.digest.get(..16).unwrap_or_default().to_owned()));
    rows
}

/// Classes that are listed one by one.
const CLASSES: usize = 20;

fn print_classes(page: &mut String, summary: &Summary) -> std::fmt::Result {
    writeln!(page, "\n{}", paint::title("Shares of the classes"))?;
    let width = summary.classes.iter().take(CLASSES).map(|c| text::width(&c.name)).max();
    let width = width.unwrap_or(0).min(24);
    let most = summary.classes.iter().map(|c| c.share).fold(0.0, f64::max);
    for class in summary.classes.iter().take(CLASSES) {
        let name = text::pad(&text::one_line(&class.name, 24), width);
        let bar = bars::bar(class.share, most, 40);
        writeln!(page, "  {name} {bar} {:.1} %", 100.0 * class.share)?;
    }
    if summary.classes.len() > CLASSES {
        writeln!(page, "  … and {} more", summary.classes.len() - CLASSES)?;
    }
    Ok(())
}

fn print_ambiguous(page: &mut String, summary: &Summary) -> std::fmt::Result {
    if summary.most_ambiguous.is_empty() {
        return Ok(());
    }
    writeln!(page, "\n{}", paint::title("Where people disagree most"))?;
    for item in &summary.most_ambiguous {
        let votes = item.votes.map_or(String::new(), |n| format!(", {} votes", text::thousands(n)));
        let relative = normalized_entropy(item.nats, summary.classes.len()).unwrap_or(0.0);
        let id = paint::strong(&text::one_line(&item.item, 40));
        writeln!(page, "  {id}  {}", paint::dim(&format!("entropy {relative:.3}{votes}")))?;
        if let Some(content) = &item.text {
            writeln!(page, "    {}", text::one_line(content, 92))?;
        }
        let mut shares: Vec<(usize, f64)> = item.shares.iter().copied().enumerate().collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        for (class, share) in shares.into_iter().filter(|s| s.1 > 0.0).take(4) {
            let name = text::pad(&text::one_line(&summary.classes[class].name, 14), 14);
            writeln!(page, "    {name} {} {:.0} %", bars::bar(share, 1.0, 25), 100.0 * share)?;
        }
    }
    Ok(())
}
