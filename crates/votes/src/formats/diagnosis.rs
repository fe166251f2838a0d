//! What a table is that holds no votes that can be read, from its columns.

use dissensus_io::{Source, TableKind};
use serde_json::Value;

use crate::names;
use crate::profile::Profile;

/// One sentence on a document that is no table.
pub(crate) fn of_document(source: &Source) -> Option<String> {
    let Source::Json(value) = source else { return None };
    let depth = lists(value);
    Some(match value {
        Value::Array(list) if list.iter().all(Value::is_array) && depth > 2 => {
            format!("its entries are lists in lists ({depth} levels, as rankings have them), and nothing names votes")
        }
        Value::Object(map) if ["entities", "relations", "spans"].iter().any(|key| map.contains_key(*key)) => {
            "it marks spans of a text and their relations, and holds no votes for classes".to_owned()
        }
        Value::Object(map) if ["train", "test", "val", "dev"].iter().filter(|key| map.contains_key(**key)).count() > 1 => {
            "it lists the items of splits, and holds no votes".to_owned()
        }
        _ => "no object within it has a known name of an annotator and of a label: no column of votes is known".to_owned(),
    })
}

/// How many lists are within one another.
fn lists(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().take(20).map(lists).max().unwrap_or(0),
        _ => 0,
    }
}

/// One sentence on a table that no format recognizes.
pub(crate) fn of(profile: &Profile, kind: TableKind) -> String {
    let name = |c: usize| profile.name(c).to_owned();
    let words: Vec<Vec<String>> = profile.all().map(|c| names::words(profile.name(c))).collect();
    let has = |word: &str| words.iter().any(|words| words.iter().any(|w| w == word));
    let any = |list: &[&str]| list.iter().filter(|word| has(word)).count();
    let headless = matches!(kind, TableKind::Delimited(dialect) if !dialect.header);
    let data = |c: usize| {
        let name = profile.name(c);
        name.contains("://") || name.split_whitespace().count() > 12
    };
    if profile.all().filter(|&c| data(c)).count() * 3 > profile.all().len()
        && profile.all().len() < 12
    {
        return "its first row reads like data: it may have no header, and no column of votes can be told".to_owned();
    }
    if headless {
        return "its columns have no names (it has no header), and no column of votes can be told"
            .to_owned();
    }
    if profile.all().len() == 1 {
        return "it is plain text with one column and not a table with votes".to_owned();
    }
    if has("best") && has("worst") || words.iter().any(|w| w.concat().starts_with("bestitem")) {
        return "it holds best–worst choices (comparisons of several items), not votes for classes of one item".to_owned();
    }
    if any(&["winner", "loser"]) > 0 || (has("left") && has("right")) {
        return "it may hold comparisons of two items (pairwise), not votes for classes of one item".to_owned();
    }
    let positions = |name: &str| {
        profile.all().any(|c| words[c] == [name] && profile.is_numeric(c) && !profile.is_binary(c))
    };
    if positions("x") && positions("y") {
        return "it holds positions (x and y coordinates of drawn marks), no votes for classes"
            .to_owned();
    }
    if any(&["variable", "codebook", "description"]) > 0
        && any(&["values", "type", "variable", "meaning"]) > 0
    {
        return "it describes variables (a codebook), and holds no votes".to_owned();
    }
    if any(&[
        "accuracy",
        "f1",
        "auc",
        "auroc",
        "auprc",
        "precision",
        "recall",
        "loss",
        "epoch",
        "roc",
        "spearman",
        "rmse",
        "bleu",
    ]) > 0
    {
        return "it holds results of experiments (metrics of models), no votes".to_owned();
    }
    if any(&["entities", "relations", "spans"]) > 0 {
        return "it marks spans of a text, and holds no votes for classes".to_owned();
    }
    if any(&["train", "test", "val", "dev"]) > 1 && profile.rows < 3 {
        return "it lists the items of splits, and holds no votes".to_owned();
    }
    if any(&[
        "prob",
        "probs",
        "probability",
        "pred",
        "prediction",
        "logit",
        "logits",
        "softmax",
        "proba",
    ]) > 0
    {
        return "it holds predictions of a model by name (probabilities, logits), no individual votes".to_owned();
    }
    let tag = |value: &str| value.starts_with("B-") || value.starts_with("I-");
    if profile.all().any(|c| profile.values(c).any(|v| v == "O") && profile.values(c).any(tag)) {
        return "it holds tags of tokens (CoNLL, BIO): spans of a text, no votes for classes"
            .to_owned();
    }
    let people: Vec<usize> = profile.all().filter(|&c| names::annotator(profile.name(c))).collect();
    if let Some(&who) = people.iter().find(|&&c| profile.is_unique(c)) {
        return format!(
            "it is a table of annotators: one row per annotator ({:?}), no votes on items",
            name(who)
        );
    }
    let free = |&c: &usize| {
        !names::about(profile.name(c))
            && !profile.is_text(c)
            && names::item(profile.name(c)).is_none()
    };
    let fractions: Vec<usize> =
        profile.all().filter(free).filter(|&c| profile.has_fractions(c)).collect();
    let ids: Vec<usize> = profile.all().filter(|&c| profile.is_unique(c)).collect();
    let labels: Vec<usize> = profile
        .all()
        .filter(free)
        .filter(|&c| {
            (2..=30).contains(&profile.distinct(c)) && profile.filled(c) >= 2 * profile.distinct(c)
        })
        .collect();
    let list = |of: &[usize]| {
        of.iter().take(4).map(|&c| format!("{:?}", name(c))).collect::<Vec<_>>().join(", ")
    };
    if people.is_empty() && !fractions.is_empty() {
        return format!(
            "no annotator column is known, and {} holds numbers with fractions (scores, means or other aggregates), \
             which are no individual votes",
            list(&fractions)
        );
    }
    if people.is_empty() && !ids.is_empty() && !labels.is_empty() {
        return format!(
            "it has one row per item ({:?}) and no annotator column: {} may be a reference label (gold) or something \
             else about the item, and no column holds votes of several people",
            name(ids[0]),
            list(&labels)
        );
    }
    if people.is_empty() && !ids.is_empty() {
        return format!(
            "it has one row for each {:?}, no annotator column and no column of votes",
            name(ids[0])
        );
    }
    let objects = profile.all().filter(|&c| profile.has_objects(c)).count();
    if objects > 0 {
        return "cells hold nested lists of objects, and no column of votes is known by its name"
            .to_owned();
    }
    "no column of votes is known by its name, and the data prove none".to_owned()
}
