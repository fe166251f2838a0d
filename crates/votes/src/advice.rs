//! What a refused file holds, and which readings of it are certain but for a word.
//!
//! Readings are proposed from what the data prove, and each is tried before it is shown: it must give votes that
//! nothing speaks against.

use std::collections::HashSet;

use dissensus_io::{
    Advice, Problem, ReadError, ReadOption, Row, Source, Table, TableKind, Way, json,
};
use serde_json::{Map, Value, json as value};

use crate::formats::{columns, diagnosis, matrix};
use crate::names;
use crate::options::{MultiLabel, ReadOptions};
use crate::plausible;
use crate::profile::{Profile, REPEATED};
use crate::reading::{VoteFile, read_source};

/// Opens the source once more.
pub(crate) type Open<'a> = &'a dyn Fn() -> Result<Source, ReadError>;

/// Rows that a profile is made of at the most.
const ROWS: usize = 100_000;
/// Columns up to which readings are looked for.
const COLUMNS: usize = 1000;
/// Readings that are shown at the most.
const WAYS: usize = 8;

/// Options of reading, by name.
type Said = Map<String, Value>;

fn said<const N: usize>(options: [(&str, Value); N]) -> Said {
    options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The error with what the file holds and how it can be read.
pub(crate) fn advise(mut error: ReadError, options: &ReadOptions, open: Open<'_>) -> ReadError {
    let open_question = matches!(
        error.problem,
        Problem::UnknownFormat { .. }
            | Problem::Doubt { .. }
            | Problem::NoColumn { .. }
            | Problem::Choice { .. }
            | Problem::MultiLabel { .. }
            | Problem::NotThisFormat { .. }
    );
    if options.collect || !open_question || error.advice.is_some() {
        return error;
    }
    let Ok(table) = open().map(as_table) else { return error };
    let mut advice = Advice::default();
    let mut proposed = match &error.problem {
        Problem::MultiLabel { .. } if options.multilabel == MultiLabel::Error => {
            vec![said([("multilabel", value!("votes"))])]
        }
        Problem::Choice {
            option: option @ (ReadOption::Label | ReadOption::Format),
            found,
            ..
        } => found.iter().map(|choice| said([(option.name(), value!(choice))])).collect(),
        _ => Vec::new(),
    };
    if let Ok(table) = table {
        let unknown = matches!(error.problem, Problem::UnknownFormat { .. });
        let names = table.columns.clone();
        let kind = table.kind;
        let sample = table.sample.clone();
        let mut rows: Vec<Row> = Vec::new();
        for row in table.rows(&options.limits).take(ROWS) {
            match row {
                Ok(row) => rows.push(row),
                // A line that is no JSON or no text says more than that nothing is known.
                Err(bad)
                    if unknown
                        && matches!(bad.problem, Problem::Json(_) | Problem::Encoding { .. }) =>
                {
                    return bad;
                }
                Err(_) => {}
            }
        }
        let profile =
            Profile::of(&names, if rows.is_empty() { sample.iter() } else { rows.iter() });
        let roles = Roles::of(&profile, options);
        advice.profile = profile.lines(roles.item, roles.annotator);
        if proposed.is_empty() && names.len() <= COLUMNS {
            proposed = ways(&profile, &roles, kind);
        }
        if let Problem::UnknownFormat { seen } = &mut error.problem {
            *seen = format!("{seen}; {}", diagnosis::of(&profile, kind));
        }
    } else if let (Problem::UnknownFormat { seen }, Ok(source)) = (&mut error.problem, open())
        && let Some(shape) = diagnosis::of_document(&source)
    {
        *seen = format!("{seen}; {shape}");
    }
    let tried = proposed
        .into_iter()
        .take(2 * WAYS)
        .filter_map(|way| attempt(&error.file, way, options, open));
    advice.ways = tried.take(WAYS).collect();
    error.advice = Some(Box::new(advice));
    error
}

/// The table that a source is, or can be taken for.
fn as_table(source: Source) -> Result<Table, ()> {
    match source {
        Source::Table(table) => Ok(table),
        Source::Json(value) => json::array_as_table(value).map_err(|_| ()),
        _ => Err(()),
    }
}

/// A reading with more options; `None` where it gives no votes, or such that something speaks against.
fn attempt(file: &str, more: Said, options: &ReadOptions, open: Open<'_>) -> Option<Way> {
    let default = serde_json::to_value(ReadOptions::default()).ok()?;
    let mut all = serde_json::to_value(options).ok()?.as_object()?.clone();
    all.retain(|name, value| default.get(name) != Some(value));
    all.extend(more);
    let with: ReadOptions = serde_json::from_value(all.clone().into()).ok()?;
    let with = ReadOptions { limits: options.limits, ..with };
    let read = read_source(file.to_owned(), open().ok()?, &with).ok()?;
    let agreed = all.contains_key("label") && all.contains_key("annotator");
    let several = with.multilabel != MultiLabel::Error;
    plausible::certain(&read.table, agreed, several)
        .then(|| Way { options: all, gives: gives(&read) })
}

/// `95 items × 22 annotators, 1,234 votes`.
fn gives(read: &VoteFile) -> String {
    let people = match read.table.annotators().len() {
        0 => String::new(),
        n => format!(" × {n} annotators"),
    };
    let votes =
        read.table.counts().map_or(String::new(), |counts| format!(", {} votes", counts.total()));
    format!("{} items{people}{votes}", read.table.len())
}

/// Which column has which role, by what the user says and by names that are known and unique.
struct Roles {
    item: Option<usize>,
    annotator: Option<usize>,
    label: Option<usize>,
    /// Whether the item was said.
    item_said: bool,
}

impl Roles {
    fn of(profile: &Profile, options: &ReadOptions) -> Self {
        let all: Vec<String> = profile.all().map(|c| profile.name(c).to_owned()).collect();
        let named =
            |said: &Option<String>| said.as_ref().and_then(|name| columns::named(&all, name));
        let people: Vec<usize> = profile
            .all()
            .filter(|&c| names::annotator(&all[c]) && profile.distinct(c) > 1)
            .collect();
        let annotator = named(&options.annotator).or_else(|| one(profile, &people));
        let mut items: Vec<usize> = profile
            .all()
            .filter(|&c| names::item(&all[c]).is_some() && profile.distinct(c) > 1)
            .collect();
        let votes = annotator.is_some();
        if items.iter().any(|&c| profile.is_unique(c) != votes) {
            items.retain(|&c| profile.is_unique(c) != votes);
        }
        items.sort_by_key(|&c| names::item(&all[c]));
        let item = named(&options.item).or_else(|| one(profile, &items));
        let mut labels: Vec<usize> = profile
            .all()
            .filter(|&c| {
                names::label(&all[c]).is_some() && profile.distinct(c) > 1 && !profile.is_text(c)
            })
            .collect();
        if let Some(item) = item.filter(|_| labels.len() > 1) {
            labels.retain(|&c| !profile.constant_within(c, item));
        }
        let mut label = named(&options.label).or_else(|| one(profile, &labels));
        if let (Some(item), Some(who), Some(c), None) = (item, annotator, label, &options.label) {
            // Other columns answer questions, and this one does not.
            let answers = profile.answers(item, who);
            label = label.filter(|_| answers.is_empty() || answers.contains(&c));
        }
        Self { item, annotator, label, item_said: options.item.is_some() }
    }
}

/// The only one, or the first of several that say the same.
fn one(profile: &Profile, found: &[usize]) -> Option<usize> {
    let (&first, rest) = found.split_first()?;
    rest.iter().all(|&c| profile.same_partition(first, c)).then_some(first)
}

/// Readings that the data prove.
fn ways(profile: &Profile, roles: &Roles, kind: TableKind) -> Vec<Said> {
    let named = |c: usize| value!(profile.name(c));
    if matches!(kind, TableKind::Delimited(dialect) if !dialect.header) {
        return without_names(profile);
    }
    // Where annotators answer several times per item, a row is more than a vote.
    if let (Some(item), Some(who)) = (roles.item, roles.annotator)
        && profile.new_pairs(item, who) < REPEATED
    {
        return Vec::new();
    }
    match (roles.item, roles.annotator, roles.label) {
        (Some(item), Some(who), None) => questions(profile, item, who),
        (None, Some(who), Some(label)) => {
            let item = |&c: &usize| {
                let name = profile.name(c);
                c != who
                    && c != label
                    && profile.distinct(c) > 1
                    && profile.distinct(c) * 2 <= profile.rows
                    && !names::derived(name)
                    && profile.distinct_pairs(c, who) * 50 >= profile.filled(who) * 49
                    && profile.varies_within(label, c)
            };
            let mut items: Vec<usize> = profile.all().filter(item).collect();
            items.sort_by_key(|&c| (profile.is_text(c), names::about(profile.name(c)), c));
            one(profile, &items)
                .map(|item| {
                    said([
                        ("item", named(item)),
                        ("annotator", named(who)),
                        ("label", named(label)),
                    ])
                })
                .into_iter()
                .collect()
        }
        (Some(item), None, Some(label)) if !profile.is_unique(item) => {
            let person = |&c: &usize| {
                c != item
                    && c != label
                    && profile.values(c).all(columns::like_person)
                    && profile.distinct(c) * 2 <= profile.rows
                    && profile.distinct(c) > 1
                    && profile.new_pairs(item, c) >= 0.98
            };
            let people: Vec<usize> = profile.all().filter(person).collect();
            one(profile, &people)
                .map(|who| {
                    said([
                        ("item", named(item)),
                        ("annotator", named(who)),
                        ("label", named(label)),
                    ])
                })
                .into_iter()
                .collect()
        }
        (item, None, _) => {
            let item_said = roles.item_said;
            let first = (0..profile.all().len().min(1)).find(|&c| profile.is_unique(c));
            match item.filter(|&c| item_said || profile.is_unique(c)).or(first) {
                Some(item) => one_row_per_item(profile, item),
                None => Vec::new(),
            }
        }
        (Some(item), Some(who), Some(label)) => {
            // The question that is called so, and those with the same answers. Where nothing else is asked,
            // everybody may agree.
            let mut asked = profile.answers(item, who);
            let alone = asked.iter().all(|&c| c == label)
                && !profile.same_partition(label, item)
                && !profile.constant_within(label, item)
                && !profile.constant_within(label, who);
            if alone && !names::derived(profile.name(label)) && !profile.is_text(label) {
                asked = vec![label];
            }
            asked.retain(|&c| c == label || profile.alike(c, label));
            let way = |&c: &usize| {
                said([("item", named(item)), ("annotator", named(who)), ("label", named(c))])
            };
            asked.iter().map(way).collect()
        }
        _ => Vec::new(),
    }
}

/// Three columns of numbers without names: items by annotators, or the other way round.
fn without_names(profile: &Profile) -> Vec<Said> {
    let triple = profile.all().len() == 3
        && profile.new_pairs(0, 1) >= 0.9
        && profile.distinct(2) <= 20
        && profile.distinct(2) < profile.distinct(0).max(profile.distinct(1))
        && profile.all().all(|c| profile.is_counts(c));
    if !triple {
        return Vec::new();
    }
    let way = |item: &str, who: &str| {
        said([("item", value!(item)), ("annotator", value!(who)), ("label", value!("#3"))])
    };
    vec![way("#1", "#2"), way("#2", "#1")]
}

/// The columns that answer a question about the item, in a table with a row per item and annotator.
fn questions(profile: &Profile, item: usize, who: usize) -> Vec<Said> {
    let roles = [("item", value!(profile.name(item))), ("annotator", value!(profile.name(who)))];
    let answers = profile.answers(item, who);
    let flags: Vec<usize> =
        profile.all().filter(|c| *c != item && *c != who && is_flag(profile, *c)).collect();
    if flags.len() >= 4 && answers.iter().all(|c| flags.contains(c) || profile.is_binary(*c)) {
        let set: Vec<usize> = (0..profile.rows).map(|row| profile.flags(&flags, row)).collect();
        let some = set.iter().filter(|&&n| n > 0).count();
        let chosen: usize = set.iter().sum();
        // In nearly every row something is chosen, and seldom much: one question with several answers. Of
        // questions that are answered yes or no, many would be answered yes together.
        let one_question = some * 5 >= profile.rows * 4 && chosen * 2 <= some * 3;
        if one_question && set.iter().any(|&n| n > 1) {
            let one_hot: Vec<&str> = flags.iter().map(|&c| profile.name(c)).collect();
            let mut way = said(roles.clone());
            way.insert("one_hot".to_owned(), value!(one_hot));
            way.insert("multilabel".to_owned(), value!("votes"));
            return vec![way];
        }
    }
    // Several questions have the same answers; what else differs may be anything.
    let same = answers.len() == 1
        || answers.iter().all(|&a| answers.iter().any(|&b| a != b && profile.alike(a, b)));
    if !same || answers.len() > WAYS {
        return Vec::new();
    }
    let way = |&c: &usize| {
        let mut way = said(roles.clone());
        way.insert("label".to_owned(), value!(profile.name(c)));
        way
    };
    answers.iter().map(way).collect()
}

/// A column of 0 and 1 as numbers that is named like a class.
fn is_flag(profile: &Profile, c: usize) -> bool {
    profile.is_binary(c) && profile.is_counts(c) && !names::derived(profile.name(c))
}

/// Counts whose sum stands beside them, or a series of columns with the same words: one row per item.
fn one_row_per_item(profile: &Profile, item: usize) -> Vec<Said> {
    let list = |of: &[usize]| of.iter().map(|&c| profile.name(c)).collect::<Vec<&str>>();
    let with = |key: &str, of: &[usize]| {
        said([("item", value!(profile.name(item))), (key, value!(list(of)))])
    };
    let totals = matrix::totals(profile);
    if !totals.is_empty() {
        return totals
            .iter()
            .filter(|(_, run)| !run.contains(&item))
            .map(|(_, run)| with("counts", run))
            .collect();
    }
    let rest: Vec<usize> =
        profile.all().filter(|&c| c != item && !names::derived(profile.name(c))).collect();
    if rest.len() > 1
        && rest.iter().all(|&c| profile.is_counts(c))
        && profile.rows > 3
        && profile.same_sums(&rest)
    {
        return vec![with("counts", &rest)];
    }
    let annotators = |run: Vec<usize>| {
        let mut way = with("annotators", &run);
        let values: HashSet<&str> = run.iter().flat_map(|&c| profile.values(c)).collect();
        if values.contains("None") {
            // Where something else says that a vote is missing, None is a class.
            let others: Vec<&str> = ["n/a", "N/A", "NA", "null", "-", "nan"]
                .into_iter()
                .filter(|v| values.contains(v))
                .collect();
            if others.is_empty() {
                return None;
            }
            way.insert("missing".to_owned(), value!(others));
        }
        Some(way)
    };
    series(profile).and_then(annotators).into_iter().collect()
}

/// Columns `A1`, `A2`, `A3` … with the same few words.
fn series(profile: &Profile) -> Option<Vec<usize>> {
    const QUESTIONS: [&str; 12] = [
        "q",
        "question",
        "item",
        "criterion",
        "option",
        "feature",
        "x",
        "v",
        "var",
        "class",
        "topic",
        "aspect",
    ];
    let mut found: Vec<(String, Vec<usize>)> = Vec::new();
    for c in profile.all() {
        let Some((stem, _)) = names::series(profile.name(c)) else { continue };
        match found.iter_mut().find(|(known, _)| *known == stem) {
            Some((_, run)) => run.push(c),
            None => found.push((stem, vec![c])),
        }
    }
    let words = |c: &usize| {
        profile.distinct(*c) > 1 && profile.values(*c).all(|v| v.parse::<f64>().is_err())
    };
    let fits = |(stem, run): &(String, Vec<usize>)| {
        let all: HashSet<String> =
            run.iter().flat_map(|&c| profile.values(c)).map(str::to_lowercase).collect();
        let yes_or_no =
            all.iter().all(|v| matches!(v.as_str(), "yes" | "no" | "true" | "false" | "y" | "n"));
        let shared = |c: &usize| {
            let own: HashSet<String> = profile.values(*c).map(str::to_lowercase).collect();
            own.len() * 2 >= all.len()
        };
        run.len() >= 3
            && !QUESTIONS.contains(&stem.as_str())
            && !names::annotator_stem(stem)
            && run.iter().all(words)
            && run.iter().all(shared)
            && run.iter().all(|&c| !profile.is_text(c) && !names::about(profile.name(c)))
            && all.len() <= 20
            && all.len() * 2 < profile.rows
            && !yes_or_no
    };
    let mut fitting = found.into_iter().filter(fits);
    let first = fitting.next()?.1;
    fitting.next().is_none().then_some(first)
}
