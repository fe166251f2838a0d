//! Readings of a refused table that the data prove, but for a word of the user: which columns have which role, which rows
//! count, what an item is made of. Each is tried before it is shown (see `advice`).

use std::collections::HashSet;

use dissensus_io::TableKind;
use serde_json::json as value;

use crate::advice::{Said, WAYS, said};
use crate::formats::{columns, lists, matrix};
use crate::names;
use crate::options::ReadOptions;
use crate::profile::{Profile, REPEATED};

/// Which column has which role, by what the user says and by names that are known and unique.
pub(crate) struct Roles {
    pub(crate) item: Option<usize>,
    pub(crate) annotator: Option<usize>,
    label: Option<usize>,
    /// Whether the item was said.
    item_said: bool,
}

impl Roles {
    pub(crate) fn of(profile: &Profile, options: &ReadOptions) -> Self {
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
pub(crate) fn ways(
    profile: &Profile,
    roles: &Roles,
    kind: TableKind,
    options: &ReadOptions,
) -> Vec<Said> {
    if matches!(kind, TableKind::Delimited(dialect) if !dialect.header) {
        return without_names(profile);
    }
    let Some(rows) = rows_that_count(profile, roles, options) else { return Vec::new() };
    let mut found = readings(profile, roles);
    if !rows.is_empty() {
        found.iter_mut().for_each(|way| drop(way.insert("rows".to_owned(), value!(rows))));
    }
    found
}

/// The rows that are votes, as options, where the values of all columns that say so are known; `None` where they are
/// not.
fn rows_that_count(profile: &Profile, roles: &Roles, options: &ReadOptions) -> Option<Vec<String>> {
    const MOST: usize = 3;
    if options.rows.is_some() {
        return Some(Vec::new());
    }
    let mut rows = Vec::new();
    for c in profile.all().filter(|&c| names::state(profile.name(c)) && profile.differs(c)) {
        let name = profile.name(c);
        let empty = profile.has_gaps(c).then_some("");
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for value in profile.values(c).chain(empty) {
            let list = if names::counts_as_vote(name, value)? { &mut good } else { &mut bad };
            list.push(value);
        }
        match (good.as_slice(), bad.as_slice()) {
            (_, []) => {}
            ([one], _) => rows.push(format!("{name}={one}")),
            (_, bad) if !good.is_empty() && bad.len() <= MOST => {
                rows.extend(bad.iter().map(|value| format!("{name}!={value}")));
            }
            _ => return None,
        }
    }
    let who = roles.annotator.into_iter().flat_map(|c| profile.values(c).map(move |v| (c, v)));
    for (c, value) in who.filter(|(_, value)| names::reference_annotator(value)) {
        rows.push(format!("{}!={value}", profile.name(c)));
    }
    // A comma stands between conditions.
    rows.iter().all(|row| !row.contains(',')).then_some(rows)
}

/// The same for the rows that count.
fn readings(profile: &Profile, roles: &Roles) -> Vec<Said> {
    let named = |c: usize| value!(profile.name(c));
    if let Some(found) = of_parts(profile, roles) {
        return found;
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
            let way = |item| {
                said([("item", named(item)), ("annotator", named(who)), ("label", named(label))])
            };
            one(profile, &items).map(way).into_iter().collect()
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
            let way = |who| {
                said([("item", named(item)), ("annotator", named(who)), ("label", named(label))])
            };
            let found: Vec<Said> = one(profile, &people).map(way).into_iter().collect();
            if found.is_empty() { value_counts(profile, item) } else { found }
        }
        (item, None, _) => {
            let item_said = roles.item_said;
            let first = (0..profile.all().len().min(1)).find(|&c| profile.is_unique(c));
            if let Some(item) = item.filter(|&c| !profile.is_unique(c)) {
                let found = value_counts(profile, item);
                if !found.is_empty() {
                    return found;
                }
            }
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

/// Readings where a row is more than an item and an annotator: it answers one of several questions, or is about a
/// part of the item. `None` where nothing says so; nothing is found where that is open.
fn of_parts(profile: &Profile, roles: &Roles) -> Option<Vec<Said>> {
    /// Questions that are listed at the most.
    const QUESTIONS: usize = WAYS;
    let who = roles.annotator?;
    let named = |c: usize| value!(profile.name(c));
    let items: Vec<usize> = match roles.item {
        Some(item) => vec![item],
        // Several columns may be parts of the item.
        None => profile
            .all()
            .filter(|&c| {
                names::item(profile.name(c)).is_some() && profile.distinct(c) > 1 && c != who
            })
            .filter(|&c| !profile.is_unique(c))
            .collect(),
    };
    // A column of a few questions may have a name that items have, too.
    let (asked, rest): (Vec<usize>, Vec<usize>) = items
        .iter()
        .copied()
        .partition(|&c| names::question(profile.name(c)) && profile.distinct(c) <= QUESTIONS);
    let items = if rest.is_empty() { asked } else { rest };
    let (&first, more) = items.split_first()?;
    let varies = |&c: &usize| c != who && !items.contains(&c) && profile.varies_within(c, first);
    let mut others = profile.all().filter(varies);
    let again = profile.new_pairs(first, who) < REPEATED;
    let key = |of: &[usize]| profile.new_tuples(of) >= 0.98;
    let joined = |of: &[usize]| {
        let list: Vec<&str> = of.iter().map(|&c| profile.name(c)).collect();
        let plain = list.iter().all(|name| !name.contains(','));
        let mut way = said([("item", value!(list.join(","))), ("annotator", named(who))]);
        if let Some(label) = roles.label {
            way.insert("label".to_owned(), named(label));
        }
        if plain { vec![way] } else { Vec::new() }
    };
    let with = |more: &[usize], last: usize| [more, &[last]].concat();
    if !more.is_empty() {
        return (again && key(&with(&items, who))).then(|| joined(&items));
    }
    let columns: Vec<usize> = others.by_ref().collect();
    let is = |known: fn(&str) -> bool| {
        columns.iter().copied().find(|&c| known(profile.name(c)) && Some(c) != roles.label)
    };
    let values = |c: usize| profile.values(c).map(str::to_owned).collect::<Vec<String>>();
    let question = is(names::question).filter(|&c| {
        !names::part(profile.name(c)) && !profile.is_text(c) && profile.distinct(c) <= QUESTIONS
    });
    if let Some(c) = question {
        let way = |question: String| {
            said([("item", named(first)), ("annotator", named(who)), ("label", value!(question))])
        };
        return Some(match key(&[first, c, who]) {
            true => values(c).into_iter().map(way).collect(),
            false => Vec::new(),
        });
    }
    let texts: Vec<usize> = columns
        .iter()
        .copied()
        .filter(|&c| profile.is_text(c) && !names::about(profile.name(c)))
        .collect();
    let part = |c: usize| names::part(profile.name(c)) || names::group(profile.name(c));
    if again {
        let part = columns
            .iter()
            .copied()
            .find(|&c| part(c) && !profile.is_text(c) && !names::round(profile.name(c)));
        if let Some(c) = part.filter(|&c| key(&[first, c, who])) {
            return Some(joined(&[first, c]));
        }
        let text = texts.iter().copied().find(|&c| key(&[first, c, who]));
        // Who answers something else again may answer another question.
        return Some(text.map_or(Vec::new(), |c| match profile.varies_within(first, c) {
            true => joined(&[first, c]),
            false => joined(&[c]),
        }));
    }
    if is(names::round).is_some() && profile.new_pairs(first, who) < 1.0 {
        return Some(Vec::new());
    }
    let group = is(names::group)
        .filter(|&c| profile.varying_share(c, first) >= 0.5 && profile.distinct(c) <= 30);
    if let Some(c) = group {
        // Another text in each group proves that ids begin anew.
        let proven = texts.iter().any(|&t| profile.constant_within_both(t, [first, c]));
        return Some(if proven { joined(&[c, first]) } else { Vec::new() });
    }
    if let Some(&text) = texts.iter().find(|&&c| {
        profile.varying_share(c, first) >= 0.5
            && profile.varies_within(c, who)
            && !profile.is_unique(c)
    }) {
        let proven = roles.label.is_some_and(|label| profile.varies_within(label, text));
        return Some(if proven { joined(&[first, text]) } else { Vec::new() });
    }
    let twice = |c: &usize| {
        names::other_label(profile.name(*c))
            && roles.label.is_none_or(|label| label == *c || profile.alike(*c, label))
    };
    columns.iter().any(twice).then(Vec::new)
}

/// A row for every item and label with the number of votes: another column is the only one that can name labels.
fn value_counts(profile: &Profile, item: usize) -> Vec<Said> {
    let number = |&c: &usize| {
        let name = profile.name(c);
        (names::count(name)
            || name == "0"
            || (names::derived(name) && names::words(name).len() > 1))
            && c != item
            && profile.is_counts(c)
            && profile.varies_within(c, item)
    };
    let numbers: Vec<usize> = profile.all().filter(number).collect();
    let label = |&c: &usize| {
        c != item
            && !numbers.contains(&c)
            && !names::derived(profile.name(c))
            && (2..=30).contains(&profile.distinct(c))
            && !profile.is_unique(c)
            && profile.new_pairs(item, c) == 1.0
    };
    let labels: Vec<usize> = profile.all().filter(label).collect();
    let ([count], [label]) = (numbers.as_slice(), labels.as_slice()) else { return Vec::new() };
    let rest = profile.all().filter(|c| ![item, *count, *label].contains(c));
    // Anything else that differs within items may be what is counted.
    if rest.into_iter().any(|c| profile.varies_within(c, item) && !profile.is_unique(c)) {
        return Vec::new();
    }
    let named = |c: usize| value!(profile.name(c));
    vec![said([("item", named(item)), ("label", named(*label)), ("count", named(*count))])]
}

/// Three columns of numbers without names: the item has, everywhere, as many annotators; or one order gives no votes.
fn without_names(profile: &Profile) -> Vec<Said> {
    const ENOUGH: usize = 8;
    let triple = profile.all().len() == 3
        && profile.new_pairs(0, 1) >= 0.9
        && profile.distinct(2) <= 20
        && profile.distinct(2) < profile.distinct(0).max(profile.distinct(1))
        && profile.all().all(|c| profile.is_counts(c));
    if !triple {
        return Vec::new();
    }
    let even =
        |c: usize| profile.same_frequencies(c).filter(|&n| n > 1 && profile.distinct(c) >= ENOUGH);
    let way = |item: &str, who: &str| {
        said([("item", value!(item)), ("annotator", value!(who)), ("label", value!("#3"))])
    };
    match (even(0), even(1)) {
        (Some(_), None) => vec![way("#1", "#2")],
        (None, Some(_)) => vec![way("#2", "#1")],
        // Of two readings, one may give no votes.
        _ => vec![way("#1", "#2"), way("#2", "#1")],
    }
}

/// The columns that answer a question about the item, in a table with a row per item and annotator.
fn questions(profile: &Profile, item: usize, who: usize) -> Vec<Said> {
    let roles = [("item", value!(profile.name(item))), ("annotator", value!(profile.name(who)))];
    let answers = profile.answers(item, who);
    let flags: Vec<usize> =
        profile.all().filter(|c| *c != item && *c != who && is_flag(profile, *c)).collect();
    let one_each =
        |of: &[usize]| of.len() > 1 && (0..profile.rows).all(|row| profile.flags(of, row) == 1);
    let without = |left: usize| flags.iter().copied().filter(|&c| c != left).collect::<Vec<_>>();
    // One flag of another kind beside classes of which each row has one.
    let beside = flags.iter().map(|&c| without(c)).find(|rest| rest.len() > 2 && one_each(rest));
    if let Some(classes) = beside {
        let one_hot: Vec<&str> = classes.iter().map(|&c| profile.name(c)).collect();
        let mut way = said(roles);
        way.insert("one_hot".to_owned(), value!(one_hot));
        return vec![way];
    }
    if flags.len() >= 4
        && !flags.iter().any(|&c| is_about_something(profile.name(c)))
        && answers.iter().all(|c| flags.contains(c) || profile.is_binary(*c))
    {
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

/// Whether a name says that something is or was so.
fn is_about_something(name: &str) -> bool {
    let first = names::words(name).into_iter().next().unwrap_or_default();
    ["is", "has", "was", "did", "in"].contains(&first.as_str())
}

/// A column of 0 and 1 as numbers that is named like a class.
fn is_flag(profile: &Profile, c: usize) -> bool {
    profile.is_binary(c) && profile.is_counts(c) && !names::derived(profile.name(c))
}

/// Counts whose sum stands beside them, ratings whose mean or majority stands beside them, people's names, or a series
/// of columns with the same words: one row per item.
fn one_row_per_item(profile: &Profile, item: usize) -> Vec<Said> {
    let list = |of: &[usize]| of.iter().map(|&c| profile.name(c)).collect::<Vec<&str>>();
    let plain = |of: &[usize]| of.iter().all(|&c| !profile.name(c).contains(','));
    let with = |key: &str, of: &[usize]| {
        said([("item", value!(profile.name(item))), (key, value!(list(of)))])
    };
    let totals = matrix::totals(profile);
    if !totals.is_empty() {
        return totals
            .iter()
            .filter(|(_, run)| !run.contains(&item) && plain(run))
            .filter(|(_, run)| !names::results(list(run).into_iter()))
            .map(|(_, run)| with("counts", run))
            .collect();
    }
    let rest: Vec<usize> = profile
        .all()
        .filter(|&c| c != item && !names::derived(profile.name(c)) && profile.distinct(c) > 0)
        .collect();
    if rest.len() > 1
        && rest.iter().all(|&c| profile.is_counts(c))
        && profile.rows > 3
        && profile.same_sums(&rest)
        && !rest.iter().any(|&c| profile.is_constant(c))
        && plain(&rest)
        && !names::results(list(&rest).into_iter())
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
    if let Some(run) = summarized(profile, item).filter(|run| plain(run)) {
        return annotators(run).into_iter().collect();
    }
    if let Some(run) = people(profile, item).filter(|run| plain(run)) {
        return annotators(run).into_iter().collect();
    }
    // Pivoted counts have either zeros or gaps where nobody voted: these are labels.
    let pivot = rest.len() > 2
        && rest.iter().all(|&c| profile.is_counts(c))
        && rest.iter().any(|&c| profile.has_gaps(c))
        && rest.iter().any(|&c| profile.values(c).any(|v| v.parse::<f64>() == Ok(0.0)))
        && rest.iter().flat_map(|&c| profile.values(c)).collect::<HashSet<_>>().len() <= 20;
    // People with numbers for names, grades without a zero: of classes, somebody would have none.
    let numbers: Option<Vec<i64>> = rest.iter().map(|&c| profile.name(c).parse().ok()).collect();
    let gaps = |numbers: &Vec<i64>| {
        numbers.len() > 2 && numbers.windows(2).any(|pair| pair[1] - pair[0] > 1)
    };
    let grades = |&c: &usize| {
        profile.is_counts(c)
            && profile.values(c).all(|v| v.parse::<f64>().is_ok_and(|v| (1.0..=10.0).contains(&v)))
    };
    let people = numbers.as_ref().is_some_and(gaps) && profile.rows >= 8 && rest.iter().all(grades);
    if pivot || people {
        return vec![said([("item", value!(profile.name(item))), ("values", value!("labels"))])];
    }
    let found = lists_of_votes(profile, item);
    if !found.is_empty() {
        return found;
    }
    series(profile).filter(|run| plain(run)).and_then(annotators).into_iter().collect()
}

/// Lists that are several people's labels.
pub(crate) fn lists_of_votes(profile: &Profile, item: usize) -> Vec<Said> {
    let Some(labels) = lists::column_of_labels(profile, item) else { return Vec::new() };
    let (item, label) = (profile.name(item), profile.name(labels));
    vec![said([("format", value!("lists")), ("item", value!(item)), ("label", value!(label))])]
}

/// Columns of which another one is the mean, the median or the majority: several people's votes on one question.
fn summarized(profile: &Profile, item: usize) -> Option<Vec<usize>> {
    const FEWEST: usize = 3;
    let rating = |&c: &usize| {
        c != item
            && !names::derived(profile.name(c))
            && names::label(profile.name(c)).is_none()
            && (2..=20).contains(&profile.distinct(c))
            && !profile.is_text(c)
    };
    let numbers: Vec<usize> = profile
        .all()
        .filter(rating)
        .filter(|&c| profile.is_numeric(c) && !profile.has_fractions(c))
        .collect();
    let summary = |&c: &usize| c != item && profile.is_numeric(c) && !numbers.contains(&c);
    let mean = |of: &[usize]| profile.all().filter(summary).any(|c| profile.is_mean(c, of));
    let runs = |columns: &[usize]| {
        let mut runs: Vec<Vec<usize>> = Vec::new();
        for &c in columns {
            match runs.last_mut() {
                Some(run) if run.last().is_some_and(|&last| last + 1 == c) => run.push(c),
                _ => runs.push(vec![c]),
            }
        }
        runs.into_iter().filter(|run| run.len() >= FEWEST).collect::<Vec<_>>()
    };
    if let Some(run) = runs(&numbers).into_iter().find(|run| mean(run)) {
        return Some(run);
    }
    let words: Vec<usize> = profile.all().filter(rating).collect();
    let alike = |run: &[usize]| run.iter().all(|&c| profile.alike(run[0], c));
    let mode = |run: &[usize]| {
        let other = |c: &usize| *c != item && !run.contains(c) && profile.alike(*c, run[0]);
        profile.all().filter(other).any(|c| profile.is_mode(c, run))
    };
    let cut = |run: Vec<usize>| {
        // The majority may stand at either end of the run and have no known name.
        let ends = [run.clone(), run[1..].to_vec(), run[..run.len() - 1].to_vec()];
        ends.into_iter().find(|run| run.len() >= FEWEST && alike(run) && mode(run))
    };
    runs(&words).into_iter().find_map(cut)
}

/// Columns with the names of people and the same labels.
fn people(profile: &Profile, item: usize) -> Option<Vec<usize>> {
    let named = |&c: &usize| c != item && names::first_name(profile.name(c)) && !profile.is_text(c);
    let found: Vec<usize> = profile.all().filter(named).collect();
    let few = |&c: &usize| {
        (1..=20).contains(&profile.distinct(c)) && profile.filled(c) > profile.distinct(c)
    };
    let alike = found.iter().all(|&c| profile.alike(found[0], c));
    (found.len() > 1 && alike && found.iter().all(few)).then_some(found)
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
