//! `dissensus votes lint FILE`

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::core::Keep;
use dissensus::votes::lint::{Report, report};
use dissensus::votes::{Finding, ReadOptions, Severity};

use crate::args::{VoteArgs, read_votes};
use crate::ui::{self, paint, text};

/// Report what may be wrong with a vote file.
///
/// Errors of single rows do not stop the reading. Exit code 0: no errors (there may be
/// warnings and notes); 1: errors, or with --strict warnings; 2: the command line is wrong.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The vote files; `-` is standard input; .gz and .zst are unpacked
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reading: VoteArgs,
    /// Also fail where there are warnings
    #[arg(long)]
    strict: bool,
    /// Print everything as JSON: an object, or a list of them for several files
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let options = ReadOptions { collect: true, ..args.reading.options(Keep::VotesAndRows) };
    let mut reports = Vec::new();
    for file in &args.files {
        let report = report(&file.display().to_string(), read_votes(file, &options));
        if !args.json {
            ui::out(if reports.is_empty() { "" } else { "\n" })?;
            print(&report)?;
        }
        reports.push(report);
    }
    match &reports[..] {
        _ if !args.json => {}
        [report] => ui::json(report)?,
        reports => ui::json(&reports)?,
    }
    let refused = |report: &Report| {
        report.count(Severity::Error) > 0 || (args.strict && report.count(Severity::Warning) > 0)
    };
    Ok(ExitCode::from(u8::from(reports.iter().any(refused))))
}

fn print(report: &Report) -> anyhow::Result<()> {
    let mut page = String::new();
    writeln!(page, "{}", paint::title(&text::one_line(&report.file, 80)))?;
    if let (Some(format), Some(size)) = (report.format, report.size) {
        let votes = size.votes.map_or("no counts".to_owned(), |n| counted(n as usize, "vote"));
        let items = counted(size.items, "item");
        let annotators = counted(size.annotators, "annotator");
        let classes = match size.classes {
            1 => "1 class".to_owned(),
            n => format!("{} classes", text::thousands(n)),
        };
        writeln!(page, "  {format}: {items}, {annotators}, {classes}, {votes}")?;
    }
    for finding in &report.findings {
        print_finding(&mut page, finding)?;
    }
    let [errors, warnings, notes] =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")]
            .map(|(severity, name)| counted(report.count(severity), name));
    writeln!(page, "\n{errors}, {warnings}, {notes}")?;
    Ok(ui::out(&page)?)
}

/// `1 vote`, `2 votes`.
fn counted(n: usize, what: &str) -> String {
    format!("{} {what}{}", text::thousands(n), if n == 1 { "" } else { "s" })
}

/// Prints a finding with its place and what to do about it.
pub(super) fn print_finding(page: &mut String, finding: &Finding) -> std::fmt::Result {
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
        (false, n) => {
            format!(" ({} times, first: {})", text::thousands(n as usize), place.join(", "))
        }
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
