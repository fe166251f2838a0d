//! What a table of predictions has, column by column: shown where it is not read.

use std::collections::{BTreeSet, HashSet};

use dissensus_core::VoteTable;
use dissensus_io::{Source, SourceOptions, Table, cell_text, shorten};

use crate::classes::class_in;

/// The columns of the table in this file, a line each; empty where it is no table.
pub fn profile(path: &std::path::Path, votes: &VoteTable) -> Vec<String> {
    let opened = dissensus_io::Input::open(path)
        .and_then(|input| Source::open(input, &SourceOptions::default()));
    match opened {
        Ok(Source::Table(table)) => of_table(&table, votes),
        Ok(Source::Json(value)) => {
            match dissensus_io::json::array_as_table(crate::rows_of_json::rows_of_json(value)) {
                Ok(table) => of_table(&table, votes),
                Err(_) => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

fn of_table(table: &Table, votes: &VoteTable) -> Vec<String> {
    let column = |(at, name): (usize, &String)| {
        let texts: Vec<String> =
            table.sample.iter().map(|row| cell_text(row.cell(at)).unwrap_or_default()).collect();
        let (mut seen, mut examples) = (HashSet::new(), Vec::new());
        for text in &texts {
            if seen.insert(text) && examples.len() < 3 {
                examples.push(shorten(text));
            }
        }
        let looks_like = looks_like(name, &texts, votes);
        let (different, rows, examples) = (seen.len(), texts.len(), examples.join(", "));
        let line = format!("{name:?}: {different} different in {rows} rows ({examples})");
        if looks_like.is_empty() { line } else { format!("{line}; {looks_like}") }
    };
    table.columns.iter().enumerate().map(column).collect()
}

fn looks_like(name: &str, texts: &[String], votes: &VoteTable) -> &'static str {
    let classes = votes.classes().names();
    let numbers: Option<Vec<f64>> = texts.iter().map(|text| text.trim().parse().ok()).collect();
    let different: BTreeSet<&String> = texts.iter().collect();
    let fractions = |n: &Vec<f64>| n.iter().any(|n| n.fract() != 0.0);
    match &numbers {
        _ if texts.is_empty() => "",
        _ if different.len() == 1 && texts.len() > 1 => "the same in every row",
        Some(numbers) if fractions(numbers) && numbers.iter().all(|n| (0.0..=1.0).contains(n)) => {
            match class_in(classes, name) {
                Some(_) => "probabilities of a class of the votes",
                None => "numbers from 0 to 1",
            }
        }
        Some(numbers) if numbers.windows(2).all(|pair| pair[1] - pair[0] == 1.0) => {
            "numbers of rows"
        }
        _ if different.iter().all(|text| classes.contains(text)) => "classes of the votes",
        _ if texts.iter().all(|text| votes.items().position(text).is_some()) => "ids of the votes",
        Some(numbers) if fractions(numbers) => "numbers",
        Some(_) => "whole numbers",
        None => "",
    }
}
