//! The votes of known datasets, from the files that make up a set of votes in the catalogue.
//!
//! A set of several files is one table: their items one after the other, in the order of the
//! files. All must have the same classes in the same order. Ids stay as they are where no two files
//! share one; else every id is preceded by the name of its file, as in `HS-Brexit_dev/17`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use dissensus_core::{Ballots, BuildError, Keep, TableBuilder, VoteTable};
use dissensus_data::locate_votes;
use dissensus_votes::{ReadOptions, VoteFile};

use crate::error::InputError;

/// The votes of a set in the catalogue: `chaosnli` (its SNLI and MNLI parts), `chaosnli-snli`,
/// `popquorn`, `cifar10h` and others. Its files must be in the cache; a missing one is an error
/// that says how to fetch it.
pub fn votes(name: &str, cache_dir: &Path) -> Result<VoteTable, InputError> {
    join(name, parts(name, cache_dir)?)
}

/// One file of a set, read.
pub(super) struct Part {
    pub(super) path: PathBuf,
    pub(super) reading: VoteFile,
    /// What precedes its ids.
    prefix: String,
}

impl Part {
    /// The id in the set of what the file calls `id`.
    pub(super) fn id(&self, id: &str) -> String {
        format!("{}{id}", self.prefix)
    }
}

/// The files of a set, read.
pub(super) fn parts(name: &str, cache_dir: &Path) -> Result<Vec<Part>, InputError> {
    let options = ReadOptions { keep: Keep::Votes, ..ReadOptions::default() };
    let read = |path: PathBuf| Ok((dissensus_votes::read(&path, &options)?, path));
    let read: Result<Vec<_>, InputError> =
        locate_votes(name, cache_dir)?.into_iter().map(read).collect();
    Ok(tell_apart(read?))
}

/// Gives the files prefixes where an id stands in two of them.
fn tell_apart(read: Vec<(VoteFile, PathBuf)>) -> Vec<Part> {
    let mut seen = HashSet::new();
    let clash =
        read.iter().any(|(reading, _)| reading.table.items().iter().any(|id| !seen.insert(id)));
    let prefix = |path: &Path| match (clash, path.file_stem()) {
        (true, Some(stem)) => format!("{}/", stem.to_string_lossy()),
        _ => String::new(),
    };
    let prefixes: Vec<String> = read.iter().map(|(_, path)| prefix(path)).collect();
    let both = read.into_iter().zip(prefixes);
    both.map(|((reading, path), prefix)| Part { path, reading, prefix }).collect()
}

fn join(name: &str, mut parts: Vec<Part>) -> Result<VoteTable, InputError> {
    if parts.len() == 1
        && let Some(only) = parts.pop()
    {
        return Ok(only.reading.table);
    }
    let wrong = |part: &Part, problem: String| InputError::Parts {
        name: name.to_owned(),
        file: part.path.display().to_string(),
        problem,
    };
    let single = |part: &Part| matches!(part.reading.table.ballots(), Ballots::Votes(_));
    let keep = if parts.iter().all(single) { Keep::Votes } else { Keep::Counts };
    let mut builder = TableBuilder::new(keep);
    let mut row = 0;
    for part in &parts {
        let table = &part.reading.table;
        match builder.declared().map(|first| first.names().join(", ")) {
            None => builder.declare(table.classes().clone()).map_err(|e| built(name, e))?,
            Some(first) if table.classes().names().join(", ") != first => {
                let found = table.classes().names().join(", ");
                return Err(wrong(part, format!("its classes are {found}, the others' {first}")));
            }
            Some(_) => {}
        }
        for item in 0..table.len() {
            row += 1;
            let id = part.id(table.items().name(item));
            builder.item(&id, row).map_err(|e| built(name, e))?;
            add(&mut builder, table, item, &id, row).map_err(|error| match error {
                Unfit::Build(error) => built(name, error),
                Unfit::Kind(found) => wrong(part, format!("it holds {found}")),
            })?;
        }
    }
    builder.finish().map_err(|error| built(name, error))
}

fn built(name: &str, error: BuildError) -> InputError {
    let (file, problem) = ("its files together".to_owned(), error.to_string());
    InputError::Parts { name: name.to_owned(), file, problem }
}

/// Why an item's votes cannot stand beside the others.
enum Unfit {
    Build(BuildError),
    Kind(&'static str),
}

fn add(
    builder: &mut TableBuilder,
    table: &VoteTable,
    item: usize,
    id: &str,
    row: u64,
) -> Result<(), Unfit> {
    match table.ballots() {
        Ballots::Votes(votes) if builder.keep() != Keep::Counts => {
            votes.of(item).try_for_each(|vote| {
                let who = vote.annotator.map(|at| table.annotators().name(at as usize));
                let labels: Vec<&str> =
                    vote.labels.iter().map(|&class| table.classes().name(class)).collect();
                builder.vote_set(id, who, &labels, vote.weight, row).map_err(Unfit::Build)
            })
        }
        Ballots::Counts(counts) if !counts.is_weighted() => {
            counts.entries(item).try_for_each(|(class, votes)| {
                let label = table.classes().name(class);
                builder.votes(id, label, votes, row).map_err(Unfit::Build)
            })
        }
        Ballots::Votes(_) => Err(Unfit::Kind("single votes, another file only counts of them")),
        Ballots::Counts(_) => Err(Unfit::Kind("weighted counts, which cannot be joined")),
        Ballots::Probabilities(_) => Err(Unfit::Kind("probabilities, which cannot be joined")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(file: &str, text: &str) -> (VoteFile, PathBuf) {
        let options = ReadOptions { keep: Keep::Votes, ..ReadOptions::default() };
        (dissensus_votes::read_bytes(file, text.into(), &options).unwrap(), file.into())
    }

    fn joined(files: Vec<(VoteFile, PathBuf)>) -> Result<VoteTable, String> {
        join("made-up", tell_apart(files)).map_err(|error| error.to_string())
    }

    const ONE: &str = "item,annotator,label\na,ann,yes\na,ben,no\nb,ann,no\n";
    const TWO: &str = "item,annotator,label\nd,ben,no\nc,ben,yes\nd,cem,no\n";

    #[test]
    fn items_and_annotators_keep_their_names() {
        let table = joined(vec![part("one.csv", ONE), part("two.csv", TWO)]).unwrap();
        assert_eq!(table.items().iter().collect::<Vec<_>>(), ["a", "b", "d", "c"]);
        assert_eq!(table.annotators().iter().collect::<Vec<_>>(), ["ann", "ben", "cem"]);
        assert_eq!(table.classes().names(), ["no", "yes"]);
        let counts = table.counts().unwrap();
        let rows: Vec<_> = (0..4).map(|item| counts.row(item, 2)).collect();
        assert_eq!(rows, [[1.0, 1.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]);
        // One vote per row, as if it had been one file.
        let whole = format!("{ONE}{}", TWO.split_once('\n').unwrap().1);
        assert_eq!(table.digest(), part("whole.csv", &whole).0.table.digest());
    }

    #[test]
    fn one_file_is_its_table() {
        assert_eq!(joined(vec![part("one.csv", ONE)]).unwrap(), part("one.csv", ONE).0.table);
    }

    #[test]
    fn ids_that_clash_are_told_apart_by_their_files() {
        let again = ONE.replace("b,ann", "x,ann");
        let table = joined(vec![part("in/one.csv", ONE), part("two.csv", &again)]).unwrap();
        assert_eq!(table.items().iter().collect::<Vec<_>>(), ["one/a", "one/b", "two/a", "two/x"]);
        assert_eq!(table.counts().unwrap().total(), 6);
    }

    #[test]
    fn other_classes_are_an_error() {
        let other = TWO.replace("yes", "maybe");
        let message = joined(vec![part("one.csv", ONE), part("two.csv", &other)]).unwrap_err();
        assert_eq!(
            message,
            "the files of 'made-up' do not make one table of votes: two.csv: its classes are maybe, \
             no, the others' no, yes"
        );
        let matrix = "item,no,yes\nd,0.25,0.75\n";
        let message = joined(vec![part("one.csv", ONE), part("two.csv", matrix)]).unwrap_err();
        assert!(message.contains("it holds"), "{message}");
    }
}
