//! `dissensus runs list`

use dissensus::train::{RunList, RunRow};

use crate::args::{FormArgs, StoreArgs};
use crate::ui::table::{Columns, Form, print};
use crate::ui::{self, paint, text};

/// List all runs of a store, the oldest first.
///
/// soft_nll and accuracy are those of the selected epoch on the last part of the split. CSV has full
/// ids, sizes in bytes and times in seconds since 1970. Runs that cannot be read come last, with the
/// reason on standard error.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    form: FormArgs,
}

/// A run that can be read, or the name of one that cannot.
type Row<'a> = (Option<&'a RunRow>, String);

pub(super) fn run(args: &ListArgs) -> anyhow::Result<()> {
    let (path, flag) = (args.store.path(), args.store.flag());
    let list = match path.exists() || !flag.is_empty() {
        true => RunList::read(&args.store.open()?)?,
        // The usual store is not missing: nothing was trained yet.
        false => RunList { store: path.to_owned(), ..RunList::default() },
    };
    let Some(form) = args.form.table() else { return ui::json(&list) };
    if list.runs.is_empty() && list.broken.is_empty() {
        let path = path.display();
        ui::err(&format!(
            "{path} has no runs yet; train some with\n  dissensus train --template > study.toml\n  \
             dissensus train study.toml{flag}\n"
        ));
        return Ok(());
    }
    let digits = if form == Form::Csv { usize::MAX } else { list.id_digits() };
    let name = |id: &str| id.chars().take(digits).collect::<String>();
    let mut rows: Vec<Row<'_>> =
        list.runs.iter().map(|run| (Some(run), name(run.id.as_str()))).collect();
    rows.extend(list.broken.iter().map(|broken| match (&broken.id, form) {
        (Some(id), Form::Terminal | Form::Markdown | Form::Latex) => (None, name(id.as_str())),
        _ => (None, broken.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()),
    }));
    print(&[columns(form).table(&rows)], form)?;
    say_notes(&list);
    Ok(())
}

fn columns<'a>(form: Form) -> Columns<'a, Row<'a>> {
    let none = if form == Form::Csv { "" } else { "–" };
    let words = move |row: &Row<'a>, of: fn(&RunRow) -> Option<String>| match row.0.and_then(of) {
        Some(text) if form == Form::Csv => text,
        Some(text) => text::one_line(&text, 40),
        None => none.to_owned(),
    };
    Columns::new(form)
        .name("id", |(_, name): &Row<'_>| name.clone())
        .name("arm", move |row| words(row, |run| run.arm.clone()))
        .name("data", move |row| words(row, |run| run.data.clone()))
        .word("state", |(run, _)| run.map_or("broken", |run| run.state))
        .number("seed", move |row| words(row, |run| Some(run.seed?.to_string())))
        .people(|columns| {
            columns
                .number("epochs", move |row| {
                    words(row, |run| Some(format!("{}/{}", run.epoch, run.planned)))
                })
                .value("soft_nll↓", |(run, _)| run.and_then(|run| run.soft_nll))
                .value("accuracy↑", |(run, _)| run.and_then(|run| run.accuracy))
                .number("age", move |row| words(row, |run| Some(text::age(run.created))))
                .number("size", move |row| words(row, |run| Some(text::size(run.size_bytes))))
        })
        .csv(|columns| {
            columns
                .number("epochs", move |row| words(row, |run| Some(run.epoch.to_string())))
                .number("planned", move |row| words(row, |run| Some(run.planned.to_string())))
                .value("soft_nll", |(run, _)| run.and_then(|run| run.soft_nll))
                .value("accuracy", |(run, _)| run.and_then(|run| run.accuracy))
                .number("created", move |row| words(row, |run| Some(run.created.to_string())))
                .number("bytes", move |row| words(row, |run| Some(run.size_bytes.to_string())))
        })
}

/// Why runs failed or cannot be read.
fn say_notes(list: &RunList) {
    for run in &list.runs {
        if let Some(reason) = &run.reason {
            ui::remark(&format!("{} failed: {}", run.id, text::one_line(reason, 300)));
        }
        if let Some(error) = &run.foreign {
            let line = format!("{}: its spec is not one of this version: {error}", run.id);
            ui::err(&format!("{}\n", paint::warn(&line)));
        }
    }
    for broken in &list.broken {
        ui::err(&format!("{}\n", paint::warn(&broken.error.to_string())));
        ui::hints::store_hint(&broken.error).iter().for_each(|remedy| ui::hint(remedy));
    }
}
