//! Files that are no data in a form that is read, named by their first bytes: what they are, and what to do.

use crate::error::Problem;
use crate::json::without_bom;

/// What a file is that is not read, from its first bytes.
pub(crate) fn foreign(head: &[u8]) -> Option<Problem> {
    let (what, remedy) = binary(head).or_else(|| marked(beginning(head).trim_start()))?;
    Some(Problem::NotRead { what: what.to_owned(), remedy: Some(remedy) })
}

/// What a text is whose lines are no rows of cells.
pub(crate) fn without_cells(head: &[u8]) -> Option<Problem> {
    let (what, remedy) = loose(&beginning(head))?;
    Some(Problem::NotRead { what: what.to_owned(), remedy: Some(remedy) })
}

fn beginning(head: &[u8]) -> String {
    let start = without_bom(head);
    String::from_utf8_lossy(&start[..start.len().min(64 << 10)]).into_owned()
}

/// What an archive is that holds a document, from the names of its members.
pub(crate) fn document(mut names: impl Iterator<Item = String>) -> Option<Problem> {
    let (what, remedy) = names.find_map(|name| match name.as_str() {
        "xl/workbook.xml" | "xl/workbook.bin" => {
            Some(("this is an Excel workbook (.xlsx)", AS_CSV))
        }
        "word/document.xml" => Some(("this is a Word document (.docx)", AS_CSV)),
        "content.xml" => Some(("this is an OpenDocument file (.ods, .odt)", AS_CSV)),
        _ => None,
    })?;
    Some(Problem::NotRead { what: what.to_owned(), remedy: Some(remedy) })
}

const AS_CSV: &str = "save it as CSV and read that";
const FROM_PYTHON: &str = "load it in Python and write CSV or Parquet from there";

fn binary(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let kinds: [(&[u8], &str, &str); 18] = [
        (
            b"\xd0\xcf\x11\xe0",
            "this is an Excel workbook or another document of old Microsoft Office (.xls)",
            AS_CSV,
        ),
        (b"\x89HDF", "this is an HDF5 file", FROM_PYTHON),
        (
            b"$FL2",
            "this is an SPSS file (.sav)",
            "export it as CSV, or read it with pandas.read_spss and write CSV",
        ),
        (
            b"$FL3",
            "this is an SPSS file (.zsav)",
            "export it as CSV, or read it with pandas.read_spss and write CSV",
        ),
        (
            b"<stata_dta>",
            "this is a Stata file (.dta)",
            "read it with pandas.read_stata and write CSV",
        ),
        (
            b"MATLAB 5.0",
            "this is a MATLAB file (.mat)",
            "load it with scipy.io.loadmat and write CSV or .npz",
        ),
        (b"SQLite format 3", "this is an SQLite database", "export the table as CSV"),
        (b"RDX", "this is a file of R's data (.RData)", "write the table from R with write.csv"),
        (b"RDA", "this is a file of R's data (.RData)", "write the table from R with write.csv"),
        (b"%PDF", "this is a PDF document", "give the data that it was made from"),
        (
            b"ARROW1",
            "this is an Arrow or Feather file",
            "read it with pandas.read_feather and write Parquet",
        ),
        (b"FEA1", "this is a Feather file", "read it with pandas.read_feather and write Parquet"),
        (
            b"\x89PNG",
            "this is an image (PNG)",
            "give the file with the data, or a folder of images",
        ),
        (
            b"\xff\xd8\xff",
            "this is an image (JPEG)",
            "give the file with the data, or a folder of images",
        ),
        (b"Obj\x01", "this is an Avro file", "write it as Parquet or CSV"),
        (b"Rar!", "this is a RAR archive", "unpack it first"),
        (b"7z\xbc\xaf", "this is a 7-Zip archive", "unpack it first"),
        (
            b"X\n\x00\x00",
            "this is a file of R's data (.rds)",
            "write the table from R with write.csv",
        ),
    ];
    let known = kinds.iter().find(|(start, ..)| head.starts_with(start));
    if let Some((_, what, remedy)) = known {
        return Some((*what, *remedy));
    }
    match head {
        [0x80, 2..=5, ..] => {
            Some(("this is a pickle (a Python object), which is never run", FROM_PYTHON))
        }
        _ if head.get(257..262) == Some(b"ustar") => {
            Some(("this is a tar archive", "unpack it first"))
        }
        _ => None,
    }
}

fn marked(body: &str) -> Option<(&'static str, &'static str)> {
    let lower = body.get(..body.len().min(64)).unwrap_or(body).to_lowercase();
    if body.starts_with("version https://git-lfs.github.com") {
        let remedy = "fetch the file itself: git lfs pull";
        return Some((
            "this is a Git LFS pointer (a pointer file of Git Large File Storage) and not the data",
            remedy,
        ));
    }
    if lower.starts_with("<!doctype html") || lower.starts_with("<html") {
        return Some((
            "this is HTML (a web page), perhaps an error page that was saved",
            "download the file itself",
        ));
    }
    if lower.starts_with("<?xml")
        || lower.starts_with("<annotation")
        || lower.starts_with("<corpus")
    {
        return Some(("this is XML, which is not read", FROM_PYTHON));
    }
    if lower.starts_with("\\documentclass")
        || lower.starts_with("@article")
        || lower.starts_with("@inproceedings")
    {
        return Some(("this is LaTeX or BibTeX and not a table", "give the file with the data"));
    }
    None
}

fn loose(body: &str) -> Option<(&'static str, &'static str)> {
    let lines: Vec<&str> = body.lines().filter(|line| !line.trim().is_empty()).take(200).collect();
    let brat = |line: &&str| {
        let id = line.split('\t').next().unwrap_or_default();
        let number = id.strip_prefix(['T', 'A', 'R', 'E', '#']).unwrap_or_default();
        line.contains('\t') && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    };
    if lines.len() > 1 && lines.iter().all(brat) {
        return Some((
            "these are annotations of brat (standoff), which mark spans of text and no classes of items",
            "give a table of items and classes",
        ));
    }
    let tag = |line: &&str| {
        let last = line.split_whitespace().last().unwrap_or_default();
        line.contains([' ', '\t'])
            && (last == "O" || last.starts_with("B-") || last.starts_with("I-"))
    };
    if lines.len() > 3 && lines.iter().filter(|line| tag(line)).count() * 10 >= lines.len() * 9 {
        return Some((
            "these are tags of tokens (CoNLL, BIO), which mark spans of text and no classes of items",
            "give a table of items and classes",
        ));
    }
    if is_code(&lines) {
        return Some((
            "this is the text of a program (source code) and not a table",
            "give the file that it reads or writes",
        ));
    }
    if is_yaml(&lines) {
        return Some((
            "this is YAML (settings as `key: value`), a configuration and not a table",
            "give the file with the data, or write it as JSON or CSV",
        ));
    }
    is_prose(&lines).then_some((
        "this is plain text (prose, such as a README) and not a table",
        "give the file with the data",
    ))
}

/// Lines `key: value`, lists and comments only.
fn is_yaml(lines: &[&str]) -> bool {
    let key = |line: &&&str| {
        let line = line.trim_start().trim_start_matches("- ");
        let name = line
            .split_once(':')
            .map(|(name, rest)| (name, rest.is_empty() || rest.starts_with(' ')));
        let plain = |c: char| c.is_alphanumeric() || "_-. /'\"".contains(c);
        name.is_some_and(|(name, spaced)| {
            spaced && !name.is_empty() && name.len() < 60 && name.chars().all(plain)
        })
    };
    let other = |line: &&&str| {
        let line = line.trim_start();
        line.starts_with('#')
            || line.starts_with("- ")
            || line.starts_with("---")
            || line.starts_with(['{', '}', ']', '\'', '"'])
    };
    let keys = lines.iter().filter(key).count();
    let fits = lines.iter().filter(|line| key(line) || other(line)).count();
    // One key per line is no table with a column of `a: b`, whose cells are many.
    lines.len() > 1 && keys * 2 > lines.len() && fits * 10 >= lines.len() * 9 && !same_keys(lines)
}

/// Whether all lines have the same key, as the cells of a column do.
fn same_keys(lines: &[&str]) -> bool {
    let key = |line: &&str| line.split_once(':').map(|(key, _)| key.trim().to_owned());
    let first = lines.first().and_then(key);
    lines.len() > 2 && lines.iter().all(|line| key(line) == first)
}

fn is_code(lines: &[&str]) -> bool {
    let code = |line: &&&str| {
        let line = line.trim();
        [
            "import ",
            "from ",
            "def ",
            "class ",
            "#include",
            "function ",
            "library(",
            "#!/",
            "const ",
            "public ",
        ]
        .iter()
        .any(|start| line.starts_with(start))
            || line.ends_with('{')
            || line.ends_with(");")
    };
    let statement = |line: &&str| {
        line.starts_with("import ") || line.starts_with("#!") || line.starts_with("#include")
    };
    lines.len() > 3
        && lines.iter().take(20).any(statement)
        && lines.iter().filter(code).count() * 5 >= lines.len()
}

/// Lines of words without a delimiter that stands as often in all of them.
fn is_prose(lines: &[&str]) -> bool {
    if lines.len() < 2 {
        return false;
    }
    let heading = lines
        .iter()
        .any(|line| line.starts_with("# ") || line.starts_with("## ") || line.starts_with("==="));
    let words: usize = lines.iter().map(|line| line.split_whitespace().count()).sum();
    let alike = |delimiter: char| {
        let cells = |line: &&str| line.matches(delimiter).count();
        let first = lines.first().map_or(0, cells);
        first > 0 && lines.iter().filter(|line| cells(line) == first).count() * 2 > lines.len()
    };
    let table = [',', '\t', ';', '|'].into_iter().any(alike);
    let markdown = heading
        && lines.iter().filter(|line| line.starts_with(['#', '-', '*', '`', '>', '['])).count() > 1;
    let spaces: Vec<usize> = lines.iter().map(|line| line.split_whitespace().count()).collect();
    let printed = spaces.iter().filter(|&&n| n == spaces[0]).count() * 10 >= spaces.len() * 9;
    !table
        && !printed
        && words > 4 * lines.len()
        && (markdown || heading || words > 8 * lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(text: &str) -> String {
        let found = foreign(text.as_bytes()).or_else(|| without_cells(text.as_bytes()));
        found.map_or(String::new(), |problem| problem.to_string())
    }

    #[test]
    fn files_are_named_for_what_they_are() {
        for (text, word) in [
            (
                "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 3\n",
                "Git LFS pointer",
            ),
            ("<!DOCTYPE html>\n<html></html>", "HTML"),
            ("name: x\ncolumns:\n  - a\n  - b\npath: data.csv\n", "YAML"),
            (
                "# Title\n\nWe asked many people for their view of things.\n\n- one\n- two of them here\n",
                "prose",
            ),
            ("\u{80}", ""),
            ("import os\nimport sys\ndef main():\n    print(1)\nclass A:\n", "source code"),
        ] {
            assert!(what(text).contains(word), "{text}: {}", what(text));
        }
        for (start, word) in
            [(&b"\x80\x04\x95"[..], "pickle"), (b"Obj\x01x", "Avro"), (b"\x89HDF", "HDF5")]
        {
            assert!(foreign(start).is_some_and(|p| p.to_string().contains(word)));
        }
        for table in [
            "a,b\n1,2\n",
            "text\nHere is a sentence with words in it\n",
            "1 2 3\n1 3 2\n",
            "id\ttext\n1\tHello there, you\n2\tAnd here: more\n",
            "label: a,1\nlabel: b,2\nlabel: c,3\n",
        ] {
            assert_eq!(what(table), "", "{table}");
        }
    }
}
