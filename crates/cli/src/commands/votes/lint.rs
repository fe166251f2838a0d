//! `dissensus votes lint FILE`

use std::fmt::Write as _;
use std::process::ExitCode;

use dissensus::core::Keep;
use dissensus::votes::lint::{Report, report};
use dissensus::votes::{Finding, ReadOptions, Severity};

use super::reading::ReadArgs;
use crate::ui::{self, paint, text};

/// Report what may be wrong with a vote file.
///
/// Errors of single rows do not stop the reading. Exit code 0: no errors (there may be
/// warnings and notes); 1: errors; 2: the command line is wrong.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    read: ReadArgs,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let options = args.read.options(Keep::VotesAndRows);
    let options = ReadOptions { collect: true, ..options };
    let report = report(&args.read.file.display().to_string(), args.read.read(&options));
    if args.json {
        ui::out(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        print(&report)?;
    }
    let clean = report.count(Severity::Error) == 0;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn print(report: &Report) -> anyhow::Result<()> {
    let mut page = String::new();
    writeln!(page, "{}", paint::title(&text::one_line(&report.file, 80)))?;
    if let (Some(format), Some(size)) = (report.format, report.size) {
        let votes =
            size.votes.map_or("no counts".to_owned(), |v| format!("{} votes", text::thousands(v)));
        let count = |n: usize| text::thousands(n as u64);
        let (items, annotators) = (count(size.items), count(size.annotators));
        let classes = count(size.classes);
        writeln!(
            page,
            "  {format}: {items} items, {annotators} annotators, {classes} classes, {votes}"
        )?;
    }
    for finding in &report.findings {
        print_finding(&mut page, finding)?;
    }
    let counts = [Severity::Error, Severity::Warning, Severity::Note].map(|s| report.count(s));
    let [errors, warnings, notes] = counts;
    writeln!(page, "\n{errors} errors, {warnings} warnings, {notes} notes")?;
    ui::out(&page)?;
    Ok(())
}

fn print_finding(page: &mut String, finding: &Finding) -> std::fmt::Result {
    let name = match finding.severity {
        Severity::Error => paint::bad("error"),
        Severity::Warning => paint::warn("warning"),
        Severity::Note => paint::dim("note"),
    };
    let mut place = Vec::new();
    place.extend(finding.row.map(|row| format!("row {row}")));
    place.extend(finding.column.as_ref().map(|c| format!("column {:?}", text::one_line(c, 40))));
    place.extend(finding.item.as_ref().map(|i| format!("item {:?}", text::one_line(i, 40))));
    let place = match (place.is_empty(), finding.count) {
        (true, _) => String::new(),
        (false, 1) => format!(" ({})", place.join(", ")),
        (false, n) => format!(" ({} times, first: {})", text::thousands(n), place.join(", ")),
    };
    let code = paint::dim(&format!("[{}]", finding.code));
    writeln!(page, "\n{name} {code} {}{place}", text::one_line(&finding.message, 200))?;
    match &finding.remedy {
        Some(remedy) => {
            let remedy = ui::hints::flags(remedy, finding.options);
            writeln!(page, "  {} {remedy}", paint::dim("remedy:"))
        }
        None => Ok(()),
    }
}
