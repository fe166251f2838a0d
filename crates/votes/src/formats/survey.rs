//! Exports of surveys, in which people are rows and items are columns: Google Forms, LimeSurvey and SurveyMonkey (a grid
//! gives columns `question [item]`), Qualtrics (two more rows of headings, columns about the response), and tables with
//! one row per annotator.

use std::collections::HashSet;

use super::Format;
use super::columns;
use super::long::{Missing, MissingVotes};
use super::long_rows;
use crate::collector::{Collector, Places};
use crate::names;
use crate::options::ReadOptions;
use crate::plausible::Guesses;
use crate::profile::Profile;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::{Problem, ReadError, ReadOption, Row, Source, Table, cell_text};

pub(super) const FORMAT: Format = Format {
    name: "survey",
    title: "Surveys (Google Forms, LimeSurvey, SurveyMonkey, Qualtrics): one row per person, one column per item",
    layout: "CSV: Timestamp, then columns `question [item]`; or StartDate, …, ResponseId, then one column per item; a unique column of annotators, then one column per item",
    trap: "people stand in rows: previews of Qualtrics are left out and counted",
    examples: &[Example::text(
        "responses.csv",
        "Timestamp,Age,Is it rude? [Text 1],Is it rude? [Text 2]\n\
         2024-05-10,39,yes,no\n\
         2024-05-11,25,no,no\n",
    )],
    options: &[O::Label, O::Annotator, O::Classes, O::Missing, O::Multilabel, O::Separator],
    detect,
    read,
};

/// The columns of items by question.
struct Grid {
    questions: Vec<(String, Vec<(usize, String)>)>,
    annotator: Option<usize>,
    qualtrics: bool,
    /// Whether only the user can say that people stand in rows and items in columns.
    asks: bool,
}

fn grid(table: &Table, options: &ReadOptions) -> Option<Grid> {
    let said = options.annotator.as_ref().and_then(|said| columns::named(&table.columns, said));
    let annotator = said.or_else(|| respondent(table));
    let stamp = table.columns.first().is_some_and(|first| {
        ["Timestamp", "Zeitstempel", "Horodateur", "Marca temporal"].contains(&first.as_str())
    });
    let begins =
        |start: &str| table.columns.iter().any(|name| name.split('.').next() == Some(start));
    let lime = begins("submitdate") && begins("lastpage");
    let monkey = table.columns.first().is_some_and(|first| names::plain(first) == "respondentid");
    if stamp || lime || monkey {
        let mut questions: Vec<(String, Vec<(usize, String)>)> = Vec::new();
        for (c, name) in table.columns.iter().enumerate() {
            let Some((question, item)) = in_brackets(name) else { continue };
            match questions.iter_mut().find(|(known, _)| *known == question) {
                Some((_, items)) => items.push((c, item)),
                None => questions.push((question, vec![(c, item)])),
            }
        }
        questions.retain(|(_, items)| items.len() > 1);
        if !questions.is_empty() {
            return Some(Grid { questions, annotator, qualtrics: false, asks: false });
        }
    }
    let qualtrics =
        ["StartDate", "EndDate", "Finished"].iter().all(|name| table.column(name).is_some());
    let rows: Vec<&Row> =
        table.sample.iter().filter(|row| !qualtrics || !is_heading(row)).collect();
    let profile = Profile::of(&table.columns, rows.into_iter());
    let people = annotator.is_some_and(|who| {
        profile.is_unique(who) && (said.is_some() || names::annotator(profile.name(who)))
    });
    // A column of items beside one of labels has a row per vote.
    let is =
        |named: fn(&str) -> Option<usize>| table.columns.iter().any(|name| named(name).is_some());
    let long = is(names::item) && is(names::label);
    if !(qualtrics || stamp || (people && !long)) {
        return None;
    }
    let end = match qualtrics {
        true => {
            table
                .column("UserLanguage")
                .or_else(|| table.column("DistributionChannel"))
                .unwrap_or(0)
                + 1
        }
        false => 0,
    };
    let of_item = |&c: &usize| {
        let name = profile.name(c);
        c >= end
            && Some(c) != annotator
            && !names::derived(name)
            && (qualtrics || !names::about(name) || name.split_whitespace().count() > 3)
    };
    let answer =
        |c: &usize| of_item(c) && (2..=20).contains(&profile.distinct(*c)) && !profile.is_text(*c);
    let answers: Vec<usize> = profile.all().filter(answer).collect();
    let values = |c: usize| profile.values(c).collect::<HashSet<&str>>();
    let alike = |a: usize| {
        answers.iter().copied().filter(|&b| !values(a).is_disjoint(&values(b))).collect::<Vec<_>>()
    };
    let items =
        answers.iter().map(|&a| alike(a)).max_by_key(Vec::len).filter(|items| items.len() > 2)?;
    let all: HashSet<&str> = items.iter().flat_map(|&c| profile.values(c)).collect();
    // An item on which everybody agrees belongs to them, too.
    let same = |c: &usize| {
        of_item(c)
            && profile.distinct(*c) > 0
            && profile.values(*c).all(|value| all.contains(value))
    };
    let items: Vec<usize> = profile.all().filter(|c| items.contains(c) || same(c)).collect();
    // A table about annotators may have a few columns alike.
    if !qualtrics && (items.len() * 2 < table.columns.len() || all.len() > 12) {
        return None;
    }
    let items = items.into_iter().map(|c| (c, table.columns[c].clone())).collect();
    let questions = vec![("answers".to_owned(), items)];
    Some(Grid { questions, annotator, qualtrics, asks: true })
}

/// The column of who answers.
fn respondent(table: &Table) -> Option<usize> {
    const KNOWN: [&str; 8] = [
        "Email Address",
        "Username",
        "Email",
        "ResponseId",
        "Respondent ID",
        "id. Response ID",
        "id. ID der Antwort",
        "id",
    ];
    let known = || KNOWN.iter().find_map(|name| table.column(name));
    let mut people = (0..table.columns.len()).filter(|&c| names::annotator(&table.columns[c]));
    let first = people.next().filter(|_| people.next().is_none());
    first.or_else(known)
}

/// A question and the item in brackets behind it: `Rude? [Text 1]`, `Q1[SQ001]`, `Q1[SQ001]. Rude? [Text 1]`.
fn in_brackets(name: &str) -> Option<(String, String)> {
    let inner = |text: &str| {
        let (question, item) = text.strip_suffix(']')?.rsplit_once('[')?;
        Some((question.trim().to_owned(), item.trim().to_owned()))
    };
    if let Some((code, text)) = name.split_once("]. ") {
        let (question, item) = inner(&format!("{code}]"))?;
        return Some((question, inner(text).map_or(item, |(_, item)| item)));
    }
    inner(name)
}

/// Whether a row of Qualtrics is one of the two more rows of headings.
fn is_heading(row: &Row) -> bool {
    let first = cell_text(row.cell(0)).unwrap_or_default();
    first == "Start Date" || first.contains("ImportId")
}

fn detect(source: &Source, options: &ReadOptions) -> bool {
    let forced = options.format.as_deref() == Some(FORMAT.name);
    let free = options.item.is_none() && options.annotators.is_none() && options.counts.is_none();
    matches!(source, Source::Table(table) if (forced || free) && grid(table, options).is_some())
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let not_this = Problem::NotThisFormat { format: FORMAT.name, seen };
    let Source::Table(table) = source else {
        return Err(collector.error(not_this));
    };
    let options = collector.options;
    let Some(Grid { mut questions, annotator, qualtrics, asks }) = grid(&table, options) else {
        return Err(collector.error(not_this));
    };
    if asks && options.format.is_none() {
        return Err(collector.error(Problem::Choice {
            expected: "to be told that this table has one row per person and one column per item (a survey)",
            found: vec![FORMAT.name.to_owned()],
            option: ReadOption::Format,
        }));
    }
    let place = match &options.label {
        Some(said) => questions.iter().position(|(question, _)| question == said),
        None => (questions.len() == 1).then_some(0),
    };
    let Some(place) = place else {
        let found = questions.into_iter().map(|(question, _)| question).collect();
        let expected = "one question of the survey to read";
        return Err(collector.error(Problem::Choice {
            expected,
            found,
            option: ReadOption::Label,
        }));
    };
    let (question, items) = questions.swap_remove(place);
    if options.label.is_none() {
        collector.note("question", question.clone());
    }
    collector.note("items", format!("{} columns, one row per person", items.len()));
    let who = annotator.map_or("none: rows are numbered", |c| table.columns[c].as_str()).to_owned();
    collector.note("annotator column", who);
    collector.guesses =
        Some(Guesses { labels: options.label.is_none().then_some(question), ..Guesses::default() });
    let status = table.column("Status").filter(|_| qualtrics);
    let values = items.iter().flat_map(|(column, _)| columns::values(&table, *column)).collect();
    let separator = long_rows::separator(&values, collector);
    let missing_values = Missing::new(options, false);
    let (mut missing, mut previews) = (MissingVotes::default(), Places::default());
    for row in table.rows(&options.limits) {
        let Some(row) = collector.good(row)? else {
            continue;
        };
        if qualtrics && is_heading(&row) {
            continue;
        }
        let status = status.and_then(|c| cell_text(row.cell(c))).unwrap_or_default();
        if ["Survey Preview", "Survey Test", "Spam", "1", "2", "8"].contains(&status.as_str()) {
            previews.add(&status, row.number);
            continue;
        }
        let named =
            annotator.and_then(|c| cell_text(row.cell(c))).filter(|who| !who.trim().is_empty());
        let who = named.unwrap_or_else(|| format!("row {}", row.number));
        for (column, item) in &items {
            let labels = long_rows::cell_labels(row.cell(*column), separator);
            let labels = match labels {
                Ok(labels) => labels,
                Err(problem) => {
                    let error = collector.error(problem).row(row.number).item(item);
                    collector.reject(error)?;
                    continue;
                }
            };
            let several: Vec<&str> = labels
                .iter()
                .map(String::as_str)
                .filter(|label| !missing_values.contains(label))
                .collect();
            if several.is_empty() {
                collector.name_item(item, row.number)?;
                missing.add(item, row.number, labels.first().map_or("", String::as_str));
            } else {
                collector.vote_several(item, Some(&who), &several, row.number)?;
            }
        }
    }
    missing.note(collector);
    previews.left_out(
        collector,
        "not-a-vote",
        "previews and tests of the survey",
        "nobody answered them",
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};

    #[test]
    fn a_grid_of_google_forms() {
        let text = "Timestamp,Email Address,Age,Rude? [A],Rude? [B]\nt,a@x,3,yes,no\nt,b@x,4,no,\n";
        let reading = read_bytes("x", text.into(), &ReadOptions::default()).unwrap();
        assert_eq!(reading.format.name, "survey");
        assert!(reading.table.items().iter().eq(["A", "B"]));
        assert!(reading.table.annotators().iter().eq(["a@x", "b@x"]));
        assert_eq!(reading.table.counts().unwrap().row(0, 2), [1.0, 1.0]);
        let two = text
            .replace("Rude? [B]", "Rude? [B],Mean? [A],Mean? [B]")
            .replace("no,\n", "no,,,no\n")
            .replace("yes,no\n", "yes,no,yes,no\n");
        let error = read_bytes("x", two.into(), &ReadOptions::default()).err().unwrap();
        assert!(error.to_string().contains("found Rude?, Mean?"), "{error}");
    }

    #[test]
    fn qualtrics_is_asked_for() {
        let text = "StartDate,EndDate,Status,Finished,ResponseId,UserLanguage,i1,i2,i3\n\
            Start Date,End Date,Response Type,Finished,Response ID,User Language,A?,B?,C?\n\
            {ImportId},x,x,x,x,x,x,x,x\n\
            t,t,IP Address,True,R1,EN,yes,no,no\nt,t,IP Address,True,R2,EN,no,no,yes\nt,t,Survey Preview,True,R3,EN,yes,yes,yes\n";
        let error = read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap();
        assert_eq!(error.advice.unwrap().ways[0].options["format"], "survey");
        let options = ReadOptions { format: Some("survey".into()), ..ReadOptions::default() };
        let table = read_bytes("x", text.into(), &options).unwrap().table;
        assert_eq!((table.len(), table.annotators().len()), (3, 2));
    }
}
