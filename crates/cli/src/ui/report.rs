//! Writing of reports, shared by `report`, `study run` and `demo`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::Context as _;
use dissensus::report;
use dissensus::store::Store;
use dissensus::studies::Plan;

use super::{err, paint};

/// What was written, and what is missing from it.
pub(crate) fn words(written: &report::WrittenReport, out: &Path) -> String {
    let mut words = format!("wrote {} files into {}\n", written.files, out.display());
    for problem in &written.problems {
        words += &format!("{} {problem}\n", paint::bad("left out:"));
    }
    if !written.stored {
        let note = paint::warn("note:");
        words += &format!("{note} the store is read-only, so the results are only there\n");
    }
    let open = [(written.failed, "failed"), (written.missing, "are not finished")];
    let open = open.into_iter().filter(|(count, _)| *count > 0);
    let open: Vec<String> = open.map(|(count, how)| format!("{count} {how}")).collect();
    if !open.is_empty() {
        let (note, open) = (paint::warn("note:"), open.join(" and "));
        words += &format!("{note} of the study's runs, {open}\n");
    }
    let lists = [
        (&written.without_weights, "the store has none, and not the weights that they need"),
        (&written.unexamined, "`dissensus study run` runs these stages where the weights are"),
    ];
    // Those that need other weights than are there are the same ones twice.
    let list = lists.into_iter().find(|(list, _)| !list.is_empty());
    if let Some((list, why)) = list {
        let one = |(stage, runs): &(String, usize)| format!("{stage} ({runs} runs)");
        let stages = list.iter().map(one).collect::<Vec<_>>().join(", ");
        words += &format!("{} no results of {stages}: {why}\n", paint::warn("note:"));
    }
    words
}

/// The exit code where this was written: of less than the study asks for, of less than its tables and figures,
/// or of all.
pub(crate) fn code(written: &report::WrittenReport) -> ExitCode {
    match (written.without_weights.is_empty(), written.problems.is_empty()) {
        (false, _) => ExitCode::from(2),
        (true, complete) => ExitCode::from(u8::from(!complete)),
    }
}

/// A path beside a store, of its name and this.
pub(crate) fn beside(store: &Path, ending: &str) -> PathBuf {
    // `.` has a name only where it really lies; what is written does not belong into the store.
    let place = match store.file_name() {
        Some(_) => store.to_owned(),
        None => store.canonicalize().unwrap_or_else(|_| store.to_owned()),
    };
    let name = place.file_name().map_or("runs".into(), |name| name.to_string_lossy().into_owned());
    place.with_file_name(name + ending)
}

/// The folder of a report: this one, or the one beside the store.
pub(crate) fn folder(store: &Path, out: Option<&Path>) -> PathBuf {
    out.map_or_else(|| beside(store, "-report"), Path::to_owned)
}

/// Writes a report into this folder or one beside the store, and prints what was written.
pub(crate) fn write_and_say(
    plan: &Plan<'_>,
    store: &Store,
    out: Option<&Path>,
    force: bool,
) -> anyhow::Result<report::WrittenReport> {
    let out = folder(store.path(), out);
    let written = report::write(plan, store, &out, force)?;
    err(&words(&written, &out));
    super::out(&format!("{}\n", written.page.display()))?;
    Ok(written)
}

/// Opens a page in whatever opens pages here.
pub(crate) fn open(page: &Path) -> anyhow::Result<()> {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(before).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().with_context(|| {
        format!("{program} is not installed; open {} in a browser", page.display())
    })?;
    Ok(())
}
