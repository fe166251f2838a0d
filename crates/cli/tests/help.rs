//! `docs/cli.md` is the help of every command, in one page. Options that several commands share are
//! written once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
const HEAD: &str = "\
# Command line

`dissensus COMMAND --help` of every command, written by
`DISSENSUS_WRITE_DOCS=1 cargo test -p dissensus-cli --test help`. Options for reading files, which several commands
share, are [at the end](#shared-options).
";

/// A command and its help.
type Help = (String, String);

/// A block of options: its heading and its lines.
type Block = (String, String);

/// What a block says, however its lines are broken.
fn words((heading, lines): &Block) -> String {
    format!("{heading} {}", lines.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The help of a command and of those below it.
fn walk(command: &str, found: &mut Vec<Help>) {
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--help"]).collect();
    let output = common::dissensus(Path::new(env!("CARGO_MANIFEST_DIR")), &words);
    assert!(output.status.success() && output.stderr.is_empty(), "{command}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, below) = text.split_once("\nCommands:\n").unwrap_or_default();
    let names: Vec<String> = below
        .lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect();
    found.push((command.to_owned(), text.clone()));
    names.iter().for_each(|name| walk(&format!("{command} {name}"), found));
}

/// The blocks of options on reading files in a help, each from its heading to the next.
fn blocks(help: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut inside = false;
    for line in help.lines() {
        if let Some(heading) = line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            inside = heading.starts_with("Reading ");
            if inside {
                found.push((heading.to_owned(), String::new()));
                continue;
            }
        }
        inside &= line.is_empty() || line.starts_with(' ');
        if inside {
            writeln!(found.last_mut().unwrap().1, "{line}").unwrap();
        }
    }
    found.into_iter().map(|(heading, lines)| (heading, format!("{}\n", lines.trim_end()))).collect()
}

fn page() -> String {
    let mut helps = Vec::new();
    walk("dissensus", &mut helps);
    // The blocks that several commands have, by their words: the shortest form, and the commands.
    let mut shared: BTreeMap<String, (Block, Vec<&str>)> = BTreeMap::new();
    for (command, help) in &helps {
        for block in blocks(help) {
            let (shortest, commands) =
                shared.entry(words(&block)).or_insert_with(|| (block.clone(), Vec::new()));
            commands.push(command);
            if block.1.lines().count() < shortest.1.lines().count() {
                *shortest = block;
            }
        }
    }
    shared.retain(|_, (_, commands)| commands.len() > 1);
    let headings: Vec<&String> = shared.values().map(|((heading, _), _)| heading).collect();
    let twice = headings.windows(2).find(|pair| pair[0] == pair[1]);
    assert!(twice.is_none(), "two sets of shared options have one heading: {twice:?}");
    let mut page = HEAD.to_owned();
    for (command, help) in &helps {
        let (mut own, mut links) = (help.trim_end().to_owned(), Vec::new());
        for block in blocks(help).into_iter().filter(|block| shared.contains_key(&words(block))) {
            own = own.replace(format!("{}:\n{}", block.0, block.1).trim_end(), "");
            links.push(format!("[{}](#{})", block.0, block.0.to_lowercase().replace(' ', "-")));
        }
        let own = own.replace("\n\n\n", "\n\n");
        write!(page, "\n## `{command}`\n\n```text\n{}\n```\n", own.trim_end()).unwrap();
        if !links.is_empty() {
            write!(page, "\nAnd {}.\n", links.join(", ")).unwrap();
        }
    }
    page += "\n## Shared options\n";
    for ((heading, lines), commands) in shared.values() {
        let commands = commands.join("`, `");
        write!(page, "\n### {heading}\n\nOf `{commands}`:\n\n```text\n{lines}```\n").unwrap();
    }
    page
}

#[test]
fn the_page_is_the_help_of_every_command() {
    let page = page();
    if std::env::var_os("DISSENSUS_WRITE_DOCS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    let differs = written.lines().zip(page.lines()).find(|(old, new)| old != new);
    assert!(
        written == page,
        "docs/cli.md is not the help of the program; the first difference: {differs:?}; write it with \
         DISSENSUS_WRITE_DOCS=1 cargo test -p dissensus-cli --test help"
    );
}
