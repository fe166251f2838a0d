//! `docs/files.md` shows a small file of every format that is read. It is written from the lists of
//! formats (`DISSENSUS_WRITE_DOCS=1 cargo test -p dissensus --test files`), and every file on it is
//! read by its reader.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::path::Path;

use dissensus::io::{Content, Example, ReadOption};

const PAGE: &str = "../../docs/files.md";

const HEAD: &str = "\
# Files that are read

Three lines of every layout of votes, inputs and predictions. The format is detected from the content. `.gz` and `.zst`
files are unpacked, and `-` is standard input. Tables may be CSV, TSV, JSON Lines, a JSON array of rows or Parquet.
Arrays are shown by their names and values, or by their type and shape. The options of reading are keys of a spec and
options of the command line; an option that has no meaning for a format is an error.
`scale` holds for every format of votes: `nominal` (the default), `ordinal`, or `multilabel`, which keeps the labels of a
vote together.

A test writes this page from the lists of formats and reads every file on it.
";

struct Shown {
    name: &'static str,
    title: &'static str,
    trap: Option<&'static str>,
    options: &'static [ReadOption],
    examples: &'static [Example],
}

/// The parts of the page: title, text and formats.
fn parts() -> Vec<(&'static str, &'static str, Vec<Shown>)> {
    let votes = dissensus::votes::formats::FORMATS.iter().map(|format| Shown {
        name: format.name,
        title: format.title,
        trap: Some(format.trap),
        options: format.options,
        examples: format.examples,
    });
    let inputs = dissensus::inputs::FORMATS.iter().map(|format| Shown {
        name: format.name,
        title: format.layout,
        trap: None,
        options: format.options,
        examples: format.examples,
    });
    let predictions = dissensus::predictions::FORMATS.iter().map(|format| Shown {
        name: format.name,
        title: format.layout,
        trap: None,
        options: &[],
        examples: format.examples,
    });
    let inspect = "`dissensus votes inspect FILE` shows how a file is read.";
    let features = "What a model is trained on: images or feature vectors by item id.";
    let models = "Logits or probabilities, of one model or several.";
    vec![
        ("Votes", inspect, votes.collect()),
        ("Inputs", features, inputs.collect()),
        ("Predictions", models, predictions.collect()),
    ]
}

/// The language of a code block.
fn language(file: &str) -> &'static str {
    match file.rsplit('.').next() {
        Some("json" | "jsonl") => "json",
        Some("csv") => "csv",
        _ => "text",
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for (title, text, formats) in parts() {
        write!(page, "\n## {title}\n\n{text}\n").unwrap();
        for Shown { name, title, trap, options, examples } in formats {
            write!(page, "\n### {name}\n\n{}\n", sentence(title)).unwrap();
            if let Some(trap) = trap {
                writeln!(page, "{}", sentence(trap)).unwrap();
            }
            for example in examples {
                let (file, lines) = (example.file, example.lines());
                write!(page, "\n`{file}`\n\n```{}\n{lines}\n```\n", language(file)).unwrap();
            }
            if !options.is_empty() {
                let names: Vec<String> =
                    options.iter().map(|option| format!("`{option}`")).collect();
                write!(page, "\nOptions: {}\n", names.join(", ")).unwrap();
            }
        }
    }
    page
}

#[test]
fn the_page_is_that_of_the_formats() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("DISSENSUS_WRITE_DOCS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    let hint = "write it with DISSENSUS_WRITE_DOCS=1 cargo test -p dissensus --test files";
    assert!(written == page(), "docs/files.md is not that of the formats: {hint}");
}

/// A dictionary of arrays of small whole numbers, as `torch.save` stores it.
fn torch(arrays: &[(&str, &str)]) -> Vec<u8> {
    let text =
        |text: &str| [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let mut pickle = b"\x80\x03}(".to_vec();
    for (name, values) in arrays {
        let values: Vec<u8> = serde_json::from_str(values).unwrap();
        let length = values.len() as u8;
        pickle.extend(text(name));
        pickle.extend(
            b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R(K\x01K",
        );
        pickle.push(length);
        pickle.extend(b"\x85cnumpy\ndtype\n");
        pickle.extend(text("u1"));
        pickle.extend(b"K\x00K\x01\x87R(K\x03");
        pickle.extend(text("|"));
        pickle.extend(b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89C");
        pickle.push(length);
        pickle.extend(values);
        pickle.extend(b"tb");
    }
    pickle.extend(b"u.");
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("archive/data.pkl", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(&pickle).unwrap();
    zip.finish().unwrap().into_inner()
}

fn bytes(example: &Example) -> Vec<u8> {
    match example.content {
        Content::Arrays(arrays) if example.file.ends_with(".pt") => torch(arrays),
        _ => example.bytes().unwrap(),
    }
}

#[test]
fn every_file_of_votes_is_read() {
    for format in dissensus::votes::formats::FORMATS {
        for example in format.examples {
            let options = dissensus::votes::ReadOptions::default();
            let reading = dissensus::votes::read_bytes(example.file, bytes(example), &options);
            let reading = reading.unwrap_or_else(|error| panic!("{}: {error}", format.name));
            assert_eq!(reading.format.name, format.name, "{}", example.file);
            let (items, classes) = (reading.table.len(), reading.table.classes().len());
            assert!(items > 0 && classes > 0, "{}", example.file);
        }
    }
}

#[test]
fn every_file_of_predictions_is_read() {
    let options = dissensus::predictions::ReadOptions::default();
    for format in dissensus::predictions::FORMATS {
        for example in format.examples {
            let models = dissensus::predictions::read_bytes(example.file, bytes(example), &options);
            let models = models.unwrap_or_else(|error| panic!("{}: {error}", format.name));
            assert!(models.iter().all(|model| model.len() == 2), "{}", example.file);
        }
    }
}

#[test]
fn every_file_of_inputs_is_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("images")).unwrap();
    for name in ["one.png", "two.png", "images/a.png", "images/b.png", "images/c.png"] {
        image::RgbImage::new(8, 8).save(folder.path().join(name)).unwrap();
    }
    let options = dissensus::inputs::ReadOptions::default();
    for format in dissensus::inputs::FORMATS {
        for example in format.examples {
            let path = folder.path().join(example.file);
            if !matches!(example.content, Content::Images(_)) {
                std::fs::write(&path, bytes(example)).unwrap();
            }
            let inputs = dissensus::inputs::read(&path, &options);
            let inputs = inputs.unwrap_or_else(|error| panic!("{}: {error}", format.name));
            assert!(inputs.len() >= 2, "{}", example.file);
        }
    }
}
