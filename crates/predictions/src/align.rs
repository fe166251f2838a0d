//! Predictions matched with votes: items by id and classes by name; by position where there are no
//! ids or names, or where the user says so.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use dissensus_core::{MatchError, Matched, VoteTable, match_ids};
use dissensus_io::ReadOption;
use thiserror::Error;

use crate::classes::{Unmatched, match_classes, said_order, suggest_map};
use crate::note::{ClassesMatched, Note};
use crate::options::{ClassMap, ClassOrder};
use crate::order::{Better, Fit};
use crate::predictions::Predictions;

/// Predictions for items of a vote table.
#[derive(Clone, Debug)]
pub struct Aligned<'a> {
    /// How items were matched.
    pub matched: Matched,
    /// The items of the vote table that have predictions, in its order.
    pub items: Vec<usize>,
    /// Their predictions, row after row, classes in the table's order.
    pub values: Cow<'a, [f64]>,
    /// Items of the table without a prediction.
    pub without_prediction: usize,
    /// Predictions whose id is not in the table.
    pub without_votes: usize,
    /// How classes were matched.
    pub classes_matched: ClassesMatched,
    /// The name of each class in the file (or its column) and in the votes, in the votes' order.
    pub classes: Vec<(String, String)>,
    /// What was assumed.
    pub notes: Vec<Note>,
}

/// Why predictions do not fit votes.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum AlignError {
    /// Different numbers of classes.
    #[error(
        "{file} predicts {found} classes{}, the votes have {}: {}",
        names.as_ref().map_or(String::new(), |names| format!(" ({})", names.join(", "))),
        classes.len(),
        classes.join(", ")
    )]
    Width {
        /// The file.
        file: String,
        /// Rows of predictions.
        rows: usize,
        /// Classes predicted.
        found: usize,
        /// Their names, where they have some.
        names: Option<Vec<String>>,
        /// The classes of the votes.
        classes: Vec<String>,
    },
    /// Different class names.
    #[error(
        "the classes of {file} are {}, those of the votes {}",
        names.join(", "),
        classes.join(", ")
    )]
    Classes {
        /// The file.
        file: String,
        /// The classes predicted.
        names: Vec<String>,
        /// The classes of the votes.
        classes: Vec<String>,
        /// A class map that may be meant.
        suggestion: Option<ClassMap>,
    },
    /// Columns without names of classes.
    #[error(
        "the order of the classes of {file} is not known: {} and no names of classes, and the classes \
         of the votes are {}",
        names.as_ref().map_or("its columns have numbers".to_owned(), |n| format!("it has {}", n.join(", "))),
        classes.join(", ")
    )]
    Unnamed {
        /// The file.
        file: String,
        /// What the columns are called.
        names: Option<Vec<String>>,
        /// The classes of the votes.
        classes: Vec<String>,
    },
    /// The order that the user says is not one of the votes' classes.
    #[error(
        "the order of the classes of {file} is said to be {said}, and {} {}",
        if *named { "its columns are named" } else { "the classes of the votes are" },
        classes.join(", ")
    )]
    Order {
        /// The file.
        file: String,
        /// What the user says.
        said: String,
        /// Whether the columns have names of classes, which say another order.
        named: bool,
        /// These names, or the classes of the votes.
        classes: Vec<String>,
    },
    /// Another order of the classes fits the votes significantly better.
    #[error(
        "the columns of {file} ({}) would be {}, but as {} they fit the votes significantly better: soft \
         NLL {better:.4} instead of {taken:.4} (paired test over items, p < 0.001 after a correction for \
         all orders)",
        columns.join(", "),
        order.join(", "),
        other.join(", ")
    )]
    OtherOrder {
        /// The file.
        file: String,
        /// The columns, in the order of the file.
        columns: Vec<String>,
        /// The classes that they would be.
        order: Vec<String>,
        /// The classes in the better order.
        other: Vec<String>,
        /// Whether the names of the columns said the order.
        named: bool,
        /// The soft NLL in the order that was taken.
        taken: f64,
        /// The soft NLL in the better order.
        better: f64,
    },
    /// The scores of each row are sorted, so that a column is a rank and no class.
    #[error(
        "the numbers of {file} are sorted in every row, as the scores of a list of the best labels are: \
         which class a number is for is not known"
    )]
    Ranked {
        /// The file.
        file: String,
    },
    /// Its rows are not those of the votes.
    #[error("{file}: {source}")]
    Match {
        /// The file.
        file: String,
        /// Why.
        source: MatchError,
    },
}

impl AlignError {
    /// What the user can do. Options of reading are written as `` `class_map` `` or
    /// `` `by_position = items` ``; [`options`](Self::options) lists them.
    pub fn remedy(&self) -> String {
        const IN_ORDER: &str =
            "say `by_position = items` if the rows are in the order of the votes";
        match self {
            Self::Width { rows, classes, .. } if *rows == classes.len() => {
                "the array may be classes × items: transpose it to items × classes".to_owned()
            }
            Self::Width { found, classes, .. } if *found > classes.len() => {
                "remove columns that are no classes; if the votes lack a class that nobody chose, \
                 name all of them with `classes`"
                    .to_owned()
            }
            Self::Width { .. } => "predict every class of the votes".to_owned(),
            Self::Classes { suggestion: Some(map), .. } => {
                format!("say which is which with `class_map = {}`", String::from(map.clone()))
            }
            Self::Classes { suggestion: None, .. } => {
                "say which is which with `class_map = FILE=VOTES`, a pair for each class; or say the class of \
                 each column in order with `class_order`"
                    .to_owned()
            }
            Self::Unnamed { .. } => {
                "say the class of each column with `class_order`, as a list in the order of the columns, or \
                 as `class_order = by-name` where they are sorted by name"
                    .to_owned()
            }
            Self::Order { named: true, .. } => {
                "leave the order out; if the names are wrong, say which is which with `class_map = FILE=VOTES`"
                    .to_owned()
            }
            Self::Order { .. } => "name each class of the votes once".to_owned(),
            Self::OtherOrder { columns, other, named, .. } => {
                let pair = |(column, class): (&String, &String)| format!("{column}={class}");
                let pairs = columns.iter().zip(other).map(pair).collect::<Vec<_>>().join(",");
                let order = match named {
                    true => format!("`class_map = {pairs}`"),
                    false => format!("`class_order = {}`", other.join(",")),
                };
                format!(
                    "if the columns are in the other order, say {order}; if the first is right and the model \
                     is bad, say `trust_order = true`"
                )
            }
            Self::Ranked { .. } => {
                "write the label beside each score, or the scores in the order of the classes; if the \
                 columns are classes, say `trust_order = true`"
                    .to_owned()
            }
            Self::Match { source, .. } => match source {
                MatchError::NoIds { found, expected, .. } if found == expected => format!(
                    "give the predictions ids (a column `id`, or an array `ids` in an .npz), or {IN_ORDER}"
                ),
                MatchError::Rows { .. } | MatchError::NoIds { .. } => {
                    "give the predictions ids: a column `id`, or an array `ids` in an .npz".to_owned()
                }
                MatchError::NoneShared { .. } | MatchError::RowNumbers { .. } => {
                    format!("name the column or array with the votes' ids with `id`, or {IN_ORDER}")
                }
            },
        }
    }

    /// The file, with the model where it holds several.
    pub fn file(&self) -> &str {
        match self {
            Self::Width { file, .. }
            | Self::Classes { file, .. }
            | Self::Unnamed { file, .. }
            | Self::Order { file, .. }
            | Self::OtherOrder { file, .. }
            | Self::Ranked { file }
            | Self::Match { file, .. } => file,
        }
    }

    /// The options that the remedy names.
    pub fn options(&self) -> &'static [ReadOption] {
        match self {
            Self::Width { .. } => &[ReadOption::Classes],
            Self::Classes { .. } => &[ReadOption::ClassMap, ReadOption::ClassOrder],
            Self::Unnamed { .. } => &[ReadOption::ClassOrder],
            Self::Order { .. } => &[ReadOption::ClassMap],
            Self::OtherOrder { .. } => {
                &[ReadOption::ClassMap, ReadOption::ClassOrder, ReadOption::TrustOrder]
            }
            Self::Ranked { .. } => &[ReadOption::TrustOrder],
            Self::Match { source, .. } => match source {
                MatchError::Rows { .. } => &[],
                MatchError::NoIds { .. } => &[ReadOption::ByPosition],
                MatchError::NoneShared { .. } | MatchError::RowNumbers { .. } => {
                    &[ReadOption::Id, ReadOption::ByPosition]
                }
            },
        }
    }
}

/// Matches predictions with votes.
pub fn align<'a>(
    table: &VoteTable,
    predictions: &'a Predictions,
) -> Result<Aligned<'a>, AlignError> {
    let file = || predictions.label();
    if !predictions.trust_order && is_ranked(predictions) {
        return Err(AlignError::Ranked { file: file() });
    }
    let (order, classes_matched) = class_order(table, predictions)?;
    let found = predictions.len();
    let by_position = predictions.by_position.items;
    let joined = |ids: Option<&[String]>| {
        let ids = ids.map(|ids| ids.iter().map(String::as_str));
        match_ids(table.items(), found, ids, by_position)
    };
    let mut notes = Vec::new();
    let joined = joined(predictions.ids.as_deref()).or_else(|error| {
        let form = predictions.ids.as_deref().and_then(|ids| in_other_form(table, ids));
        let (ids, without) = form.ok_or_else(|| error.clone())?;
        notes.push(Note::IdForm { without });
        joined(Some(&ids)).map_err(|_| error)
    });
    let joined = joined.map_err(|source| AlignError::Match { file: file(), source })?;
    let in_order = order.iter().enumerate().all(|(at, &column)| at == column);
    let rows = || joined.items.iter().map(|&(_, row)| row);
    let values = match in_order && rows().eq(0..predictions.len()) {
        true => Cow::Borrowed(&predictions.values[..]),
        false => {
            let row = |row: usize| &predictions.values[row * predictions.width..];
            rows().flat_map(|at| order.iter().map(move |&class| row(at)[class])).collect()
        }
    };
    let names = predictions.file_classes.as_ref().or(predictions.classes.as_ref());
    let column = |column: &usize| match names {
        Some(names) => names[*column].clone(),
        None => format!("column {}", column + 1),
    };
    let classes: Vec<(String, String)> =
        order.iter().map(column).zip(table.classes().names().iter().cloned()).collect();
    let items: Vec<usize> = joined.items.iter().map(|&(item, _)| item).collect();
    if !predictions.trust_order {
        check_order(table, predictions, (&items, &values), (&order, &classes))?;
    }
    if joined.alike.count > 0 {
        notes.push(Note::Alike { count: joined.alike.count, first: joined.alike.to_string() });
    }
    if joined.matched == Matched::ByPosition {
        notes.push(Note::ItemsByPosition { said: by_position });
    }
    let mapped = predictions.file_classes.is_some();
    if classes_matched != ClassesMatched::ByName || !in_order || mapped {
        notes.push(Note::Classes { matched: classes_matched, pairs: classes.clone() });
    }
    Ok(Aligned {
        matched: joined.matched,
        items,
        values,
        without_prediction: joined.without_row.count,
        without_votes: joined.without_item.count,
        classes_matched,
        classes,
        notes,
    })
}

/// Whether the columns are ranks: they have no names of classes, and the numbers of every row are sorted.
fn is_ranked(predictions: &Predictions) -> bool {
    /// Different rows from which on no model has its classes in one order by chance.
    const ROWS: usize = 16;
    let ranks = |names: &[String]| {
        let stem =
            |name: &String| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_lowercase();
        let named = |stem: &str| !matches!(stem, "" | "label_" | "class_" | "label" | "class");
        crate::classes::numbered(names).is_some_and(|order| order.is_sorted())
            && names.first().is_some_and(|first| named(&stem(first)))
    };
    let unnamed = predictions.by_position.classes
        || predictions.classes.as_deref().is_none_or(|names| names.len() > 2 && ranks(names));
    let sorted = || {
        let rows = || predictions.values.chunks(predictions.width);
        rows().all(|row| row.is_sorted_by(|a, b| a >= b)) || rows().all(|row| row.is_sorted())
    };
    let different = || {
        let mut rows: Vec<&[f64]> = predictions.values.chunks(predictions.width).collect();
        rows.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        rows.dedup();
        rows.len()
    };
    predictions.width > 1 && unnamed && sorted() && different() >= ROWS
}

/// Refuses an order of classes where another one fits the votes significantly better. `order` has the
/// column of each class, `classes` their names.
fn check_order(
    table: &VoteTable,
    predictions: &Predictions,
    (items, values): (&[usize], &[f64]),
    (order, classes): (&[usize], &[(String, String)]),
) -> Result<(), AlignError> {
    let fit = Fit::new(table, items, values, predictions.kind);
    let Some(Better { order: better, losses, .. }) = fit.and_then(|fit| fit.better()) else {
        return Ok(());
    };
    // The classes by columns of the file: as they were taken, and as they fit better.
    let mut of_columns = vec![(String::new(), String::new(), String::new()); order.len()];
    for (class, &column) in order.iter().enumerate() {
        (of_columns[column].0, of_columns[column].1) = classes[class].clone();
        of_columns[order[better[class]]].2.clone_from(&classes[class].1);
    }
    // Numbered columns are named in the order of their numbers, as their order is said.
    let names = predictions.file_classes.as_ref().or(predictions.classes.as_ref());
    if let Some(columns) = names.and_then(|names| crate::classes::numbered(names)) {
        of_columns = columns.into_iter().map(|column| of_columns[column].clone()).collect();
    }
    let part =
        |of: fn(&(String, String, String)) -> &String| of_columns.iter().map(of).cloned().collect();
    Err(AlignError::OtherOrder {
        file: predictions.label(),
        columns: part(|names| &names.0),
        order: part(|names| &names.1),
        other: part(|names| &names.2),
        named: predictions.classes.as_ref().is_some_and(|names| {
            !predictions.by_position.classes
                && match_classes(table.classes().names(), Some(names), false).is_ok()
        }),
        taken: losses.0,
        better: losses.1,
    })
}

/// Ids in another form, in which nearly all of them are ids of the votes and none means two items: whole
/// numbers that became fractions, and paths of files.
fn in_other_form(table: &VoteTable, ids: &[String]) -> Option<(Vec<String>, &'static str)> {
    type Form = fn(&str) -> &str;
    fn whole(id: &str) -> &str {
        id.strip_suffix(".0").filter(|n| n.parse::<i64>().is_ok()).unwrap_or(id)
    }
    fn file(id: &str) -> &str {
        id.rsplit(['/', '\\']).next().unwrap_or(id)
    }
    fn stem(id: &str) -> &str {
        file(id).rsplit_once('.').map_or(file(id), |(stem, end)| match end.parse::<f64>() {
            Err(_) if !stem.is_empty() && end.len() < 6 => stem,
            _ => file(id),
        })
    }
    let forms: [(Form, &str); 4] = [
        (whole, "the .0 of whole numbers"),
        (str::trim, "the spaces around them"),
        (file, "the folders of paths"),
        (stem, "the folders and endings of files"),
    ];
    forms.into_iter().find_map(|(form, without)| {
        let mut theirs: HashMap<&str, Option<&str>> = HashMap::new();
        for id in table.items().iter() {
            theirs.entry(form(id)).and_modify(|twice| *twice = None).or_insert(Some(id));
        }
        let mut seen = HashSet::new();
        if !ids.iter().all(|id| seen.insert(form(id))) {
            return None;
        }
        let place = |id: &String| theirs.get(form(id)).copied().flatten();
        let known = ids.iter().filter(|id| place(id).is_some()).count();
        let renamed = |id: &String| place(id).unwrap_or(id).to_owned();
        (10 * known >= 9 * ids.len()).then(|| (ids.iter().map(renamed).collect(), without))
    })
}

/// For each class of the votes, its column among the predictions.
fn class_order(
    table: &VoteTable,
    predictions: &Predictions,
) -> Result<(Vec<usize>, ClassesMatched), AlignError> {
    let (votes, names) = (table.classes().names(), predictions.classes.as_deref());
    let file = predictions.label();
    if predictions.width != votes.len() {
        return Err(AlignError::Width {
            file,
            rows: predictions.len(),
            found: predictions.width,
            names: predictions.classes.clone(),
            classes: votes.to_vec(),
        });
    }
    let classes = votes.to_vec();
    if let Some(said) = &predictions.class_order {
        let order = said_order(votes, names, said).map(|order| (order, ClassesMatched::InOrder));
        let by_list = matches!(said, ClassOrder::List(_));
        let said = String::from(said.clone());
        // Names of classes say more than an order, which is for columns that have none.
        return match (names.map(|names| (names, match_classes(votes, Some(names), false))), order) {
            (Some((_, Ok(matched))), Some((order, _))) if !by_list || matched.0 == order => {
                Ok(matched)
            }
            (Some((names, Ok(_))), _) => {
                Err(AlignError::Order { file, said, named: true, classes: names.to_vec() })
            }
            (_, Some(order)) => Ok(order),
            (_, None) => Err(AlignError::Order { file, said, named: false, classes }),
        };
    }
    match_classes(votes, names, predictions.by_position.classes).map_err(|unmatched| match names {
        Some(names) if unmatched == Unmatched::Names => {
            let suggestion = suggest_map(votes, names);
            AlignError::Classes { file, names: names.to_vec(), classes, suggestion }
        }
        names => AlignError::Unnamed { file, names: names.map(<[String]>::to_vec), classes },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, read_bytes};

    fn votes() -> VoteTable {
        let text = "id,cat,dog\na,3,1\nb,0,4\nc,2,2\n";
        let options = dissensus_votes::ReadOptions::default();
        dissensus_votes::read_bytes("v", text.into(), &options).unwrap().table
    }

    fn aligned(text: &str) -> Result<Aligned<'static>, AlignError> {
        let predictions = read_bytes("m.csv", text.into(), &ReadOptions::default()).unwrap();
        let found = align(&votes(), &predictions[0])?;
        Ok(Aligned { values: found.values.into_owned().into(), ..found })
    }

    #[test]
    fn ids_and_class_names_decide_not_positions() {
        let found = aligned("id,dog,cat\nc,0.9,0.1\na,0.2,0.8\nz,0.5,0.5\n").unwrap();
        assert_eq!((found.matched, &found.items[..]), (Matched::ById, &[0, 2][..]));
        assert_eq!(found.values[..], [0.8, 0.2, 0.1, 0.9]);
        assert_eq!((found.without_prediction, found.without_votes), (1, 1));
        let pairs = ["cat", "dog"].map(|name| (name.to_owned(), name.to_owned()));
        assert_eq!(found.classes, pairs);
        let note = found.notes.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(note, ["classes are matched by name: cat → cat, dog → dog"]);
    }

    #[test]
    fn sorted_scores_have_no_order_of_classes() {
        let row = |i: usize| format!("{},{}\n", 0.5 + i as f64 / 100.0, 0.5 - i as f64 / 100.0);
        let read = |text: &str, said: &str, trust_order: bool| {
            let options = ReadOptions {
                class_order: said.parse().ok(),
                trust_order,
                by_position: crate::ByPosition { items: true, classes: false },
                ..ReadOptions::default()
            };
            let votes: String =
                (0..20).map(|i| format!("i{i},{},{}\n", 3 - i % 3, i % 3)).collect();
            let votes = format!("id,cat,dog\n{votes}");
            let votes =
                dissensus_votes::read_bytes("v", votes.into(), &Default::default()).unwrap();
            let models = read_bytes("m.csv", text.into(), &options).unwrap();
            align(&votes.table, &models[0]).map(|_| ())
        };
        let sorted: String = (0..20).map(row).collect();
        let refused = read(&sorted, "cat,dog", false).unwrap_err();
        assert!(matches!(refused, AlignError::Ranked { .. }), "{refused}");
        assert_eq!(read(&sorted, "cat,dog", true), Ok(()));
        // One row in the other order, or names of classes, say more.
        assert_eq!(
            read(&format!("{}0.4,0.6\n", (1..20).map(row).collect::<String>()), "cat,dog", false),
            Ok(())
        );
        assert_eq!(read(&format!("cat,dog\n{sorted}"), "", false), Ok(()));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let wide = aligned("id,x,y,z\na,0.5,0.2,0.3\n").unwrap_err();
        assert_eq!(
            wide.to_string(),
            "m.csv predicts 3 classes (x, y, z), the votes have 2: cat, dog"
        );
        let other = aligned("id,cat,emu\na,0.6,0.4\n").unwrap_err();
        assert_eq!(
            other.to_string(),
            "the classes of m.csv are cat, emu, those of the votes cat, dog"
        );
        let nobody = aligned("id,cat,dog\nx,0.4,0.6\n").unwrap_err();
        assert!(nobody.to_string().starts_with("m.csv: no id is among the votes"), "{nobody}");
        let short = aligned("cat,dog\n0.4,0.6\n").unwrap_err();
        let wanted =
            "m.csv: its 1 rows have no ids, and the 3 items of the votes have (the first is \"a\")";
        assert_eq!(short.to_string(), wanted);
    }
}
