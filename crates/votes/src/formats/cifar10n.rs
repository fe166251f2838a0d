//! CIFAR-10N and CIFAR-100N (Wei et al., ICLR 2022): human labels of the CIFAR training images, as
//! `torch.save` writes them: a zip archive with a pickle of numpy arrays. The pickle is never run.
//!
//! CIFAR-10N has three labels per image, `random_label1` to `random_label3`, each by another worker
//! whose name is not known: the three arrays stand in for annotators. `aggre_label` (their majority)
//! and `worse_label` (a wrong one, if any) are made from them, `clean_label` is CIFAR-10's: none is
//! a vote. CIFAR-100N has one label per image, `noisy_label`. Items are positions, from 0, in
//! CIFAR's own order of the training images.

use super::Format;
use crate::collector::Collector;
use crate::options::ReadOptions;
use dissensus_io::Example;
use dissensus_io::ReadOption as O;
use dissensus_io::pickle::{self, Object};
use dissensus_io::{Archive, Source, npy};
use dissensus_io::{Problem, ReadError, shorten};

pub(super) const FORMAT: Format = Format {
    name: "cifar10n",
    title: "CIFAR-10N and CIFAR-100N: human labels in a torch archive",
    layout: r#".pt: a zip archive with data.pkl, {"clean_label": array, "random_label1": array, …}"#,
    trap: "a pickle can run code: only arrays are read from it, and anything else is refused",
    examples: &[Example::arrays(
        "CIFAR-10_human.pt",
        &[
            ("clean_label", "[6, 9]"),
            ("random_label1", "[6, 9]"),
            ("random_label2", "[6, 9]"),
            ("random_label3", "[2, 9]"),
        ],
    )],
    options: &[O::Classes],
    detect,
    read,
};

const CIFAR10: [&str; 10] =
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];
const VOTES: [&str; 3] = ["random_label1", "random_label2", "random_label3"];

fn member(archive: &Archive) -> Option<String> {
    archive.names().find(|name| name == "data.pkl" || name.ends_with("/data.pkl"))
}

fn detect(source: &Source, _: &ReadOptions) -> bool {
    matches!(source, Source::Archive(archive) if member(archive).is_some())
}

fn read(source: Source, collector: &mut Collector<'_>) -> Result<(), ReadError> {
    let seen = source.describe();
    let Source::Archive(mut archive) = source else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let Some(member) = member(&archive) else {
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let bytes = archive.read(&member)?;
    let object = pickle::parse(&bytes).map_err(|problem| collector.error(problem))?;
    let Object::Dict(entries) = object else {
        let seen = "a torch archive of something else than a dictionary".to_owned();
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let name = |entry: &(Object, Object)| match &entry.0 {
        Object::Text(name) => name.to_string(),
        // Not its contents: what is shared in a pickle would be printed over and over.
        _ => "a key that is no text".to_owned(),
    };
    let names: Vec<String> = entries.iter().map(name).collect();
    let has = |name: &str| names.iter().any(|n| n == name);
    let (votes, classes): (&[&str], Vec<String>) = if VOTES.iter().all(|name| has(name)) {
        (&VOTES, CIFAR10.iter().map(ToString::to_string).collect())
    } else if has("noisy_label") {
        (&["noisy_label"], (0..100).map(|class| class.to_string()).collect())
    } else {
        let more = if names.len() > 12 { ", …" } else { "" };
        let keys = names.iter().take(12).map(|name| shorten(name)).collect::<Vec<_>>().join(", ");
        let seen = format!("a torch archive with the keys {keys}{more}");
        return Err(collector.error(Problem::NotThisFormat { format: FORMAT.name, seen }));
    };
    let mut columns = Vec::new();
    for &wanted in votes {
        let entry = entries.iter().find(|entry| name(entry) == wanted);
        let labels = entry.map(|entry| numbers(&entry.1)).unwrap_or(Ok(Vec::new()));
        columns.push(labels.map_err(|problem| collector.error(problem).column(wanted))?);
    }
    for (&other, column) in votes.iter().zip(&columns) {
        if column.len() != columns[0].len() {
            let (left, left_len) = (votes[0].to_owned(), columns[0].len());
            let (right, right_len) = (other.to_owned(), column.len());
            return Err(collector.error(Problem::Unequal { left, left_len, right, right_len }));
        }
    }
    let left: Vec<_> = names.iter().filter(|n| !votes.contains(&n.as_str())).cloned().collect();
    collector.note("votes", votes.join(", "));
    if !left.is_empty() {
        collector.note("left out", format!("{} (no votes)", left.join(", ")));
    }
    collector.note("items", "positions from 0, in CIFAR's order of the training images");
    enter(votes, &columns, classes, collector)
}

/// The values of an array of labels.
fn numbers(object: &Object) -> Result<Vec<f64>, Problem> {
    match object {
        Object::Array(array) if array.shape.len() == 1 => {
            let shape = array.shape.clone();
            npy::Array::raw(&array.dtype, shape, array.fortran, &*array.data)?.numbers()
        }
        _ => Err(Problem::Array("a list of labels is needed".to_owned())),
    }
}

fn enter(
    votes: &[&str],
    columns: &[Vec<f64>],
    classes: Vec<String>,
    collector: &mut Collector<'_>,
) -> Result<(), ReadError> {
    collector.builder.declare_format(classes.clone()).map_err(|e| collector.error(e))?;
    for position in 0..columns[0].len() {
        let (id, row) = (position.to_string(), position as u64 + 1);
        collector.name_item(&id, row)?;
        for (&annotator, column) in votes.iter().zip(columns) {
            let number = column[position];
            let whole = number >= 0.0 && number.fract() == 0.0;
            match classes.get(number as usize).filter(|_| whole) {
                Some(class) => collector.vote(&id, Some(annotator), class, 1.0, row)?,
                None => {
                    let expected = "the number of a class, from 0";
                    let problem = Problem::Shape { expected, found: number.to_string() };
                    let error = collector.error(problem).row(row).column(annotator).item(&id);
                    collector.reject(error)?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use crate::{ReadOptions, read_bytes};

    fn text(text: &str) -> Vec<u8> {
        [b"X".as_slice(), &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()
    }

    /// What `pickle.dumps(numpy.array(values, dtype="u1"), protocol=3)` does, without its memo.
    fn array(values: &[u8]) -> Vec<u8> {
        let mut out =
            b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R".to_vec();
        out.extend_from_slice(b"(K\x01K");
        out.push(values.len() as u8);
        out.extend_from_slice(b"\x85cnumpy\ndtype\n");
        out.extend(text("u1"));
        out.extend_from_slice(b"K\x00K\x01\x87R(K\x03");
        out.extend(text("|"));
        out.extend_from_slice(b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89C");
        out.push(values.len() as u8);
        out.extend_from_slice(values);
        out.extend_from_slice(b"tb");
        out
    }

    fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut pickle = b"\x80\x03}(".to_vec();
        for (name, values) in entries {
            pickle.extend(text(name));
            pickle.extend(array(values));
        }
        pickle.extend_from_slice(b"u.");
        packed(&pickle)
    }

    fn packed(pickle: &[u8]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file("archive/data.pkl", options).unwrap();
        writer.write_all(pickle).unwrap();
        writer.finish().unwrap().into_inner()
    }

    fn error(bytes: Vec<u8>) -> String {
        read_bytes("x", bytes, &ReadOptions::default()).err().unwrap().to_string()
    }

    #[test]
    fn three_votes_an_image() {
        let bytes = archive(&[
            ("clean_label", &[6, 9]),
            ("random_label1", &[6, 9]),
            ("random_label2", &[4, 9]),
            ("random_label3", &[6, 0]),
        ]);
        let reading = read_bytes("x", bytes, &ReadOptions::default()).unwrap();
        assert_eq!(reading.format.name, "cifar10n");
        assert_eq!(reading.table.classes().names()[..3], ["airplane", "automobile", "bird"]);
        assert_eq!(reading.table.items().iter().collect::<Vec<_>>(), ["0", "1"]);
        assert_eq!(
            reading.table.annotators().iter().collect::<Vec<_>>(),
            ["random_label1", "random_label2", "random_label3"]
        );
        let counts = reading.table.counts().unwrap();
        assert_eq!(counts.entries(0).collect::<Vec<_>>(), [(4, 1), (6, 2)]);
        let notes: Vec<_> =
            reading.notes[1..].iter().map(|n| format!("{}: {}", n.what, n.value)).collect();
        assert_eq!(
            notes,
            [
                "votes: random_label1, random_label2, random_label3",
                "left out: clean_label (no votes)",
                "items: positions from 0, in CIFAR's order of the training images",
            ]
        );
    }

    #[test]
    fn one_vote_an_image_of_a_hundred_classes() {
        let bytes = archive(&[("clean_label", &[3, 99]), ("noisy_label", &[3, 98])]);
        let reading = read_bytes("x", bytes, &ReadOptions::default()).unwrap();
        assert_eq!(reading.table.classes().len(), 100);
        assert_eq!(reading.table.counts().unwrap().total(), 2);
    }

    #[test]
    fn other_archives_are_named() {
        assert_eq!(
            error(archive(&[("weight", &[1]), ("bias", &[2])])),
            "x: this is not cifar10n: a torch archive with the keys weight, bias"
        );
        assert_eq!(
            error(packed(b"\x80\x02]q\x00.")),
            "x: this is not cifar10n: a torch archive of something else than a dictionary"
        );
        assert_eq!(
            error(packed(b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.")),
            "x: the pickle in it wants os.system, which is never run"
        );
        assert_eq!(
            error(archive(&[("noisy_label", &[7, 100])])),
            "x, row 2, column \"noisy_label\", item \"1\": expected the number of a class, from 0, found 100"
        );
        let unequal =
            [("random_label1", &[1, 2][..]), ("random_label2", &[1]), ("random_label3", &[1, 2])];
        assert_eq!(error(archive(&unequal)), "x: random_label1 has 2 entries, random_label2 has 1");
    }
}
