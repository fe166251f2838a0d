//! Long text tables, fast: blocks of the file are taken apart on all cores, then every core
//! enters the votes on its own share of the items.
//!
//! A batch of blocks passes two parallel steps with a short serial one between:
//! 1. each block: find rows and cells, number its labels and annotators locally, hash its items;
//! 2. serially: give the blocks' labels and annotators their numbers in the table;
//! 3. each shard of the table: enter the votes whose item hashes to it, in the order of the file.
//!
//! Nothing depends on the number of threads. A quote can hide line breaks, and a carriage return
//! without a line feed is one; so from the first of either on the CSV reader finds the rows, on
//! one thread, and steps 2 and 3 go on as before.
//! Memory is a few blocks and the table.

use std::io::{Cursor, Read};

use dissensus_core::{BuildError, HEAVIEST, IdsBuilder, ShardVote, TableBuilder, id_hash};
use rayon::prelude::*;

use super::long::{ClassOrderColumn, Layout, Missing, MissingVotes, Texts};
use crate::collector::Collector;
use dissensus_io::Table;
use dissensus_io::delimited::{Dialect, Records};
use dissensus_io::json::without_bom;
use dissensus_io::{Problem, ReadError, shorten};

/// Bytes in a block: small enough for the cache, large enough to make overheads vanish.
const BLOCK: usize = 1 << 20;
/// Rows that the CSV reader collects before they are entered.
const ROWS: u64 = 1 << 16;

/// What every block needs to know.
struct Plan {
    file: String,
    columns: Vec<String>,
    dialect: Dialect,
    layout: Layout,
    missing: Missing,
    limit: u64,
    keep_annotators: bool,
}

/// The cells of a row that matter.
#[derive(Clone, Copy, Default)]
struct Cells<'a> {
    item: &'a str,
    annotator: &'a str,
    label: &'a str,
    weight: &'a str,
    class: &'a str,
    text: &'a str,
}

/// A row of a block. Labels and annotators are numbered within the block.
struct RawVote {
    hash: u64,
    item_start: u32,
    item_len: u32,
    annotator: u32,
    label: u32,
    /// Row within the block, from 0.
    row: u32,
}

/// Stands for no annotator, or for no label: then the row only names its item.
const NONE: u32 = u32::MAX;

/// What was found in a block.
#[derive(Default)]
struct Found {
    rows: u64,
    votes: Vec<RawVote>,
    /// One a vote where there is a weight column.
    weights: Vec<f64>,
    labels: IdsBuilder,
    /// For each label, whether it means "no vote".
    label_missing: Vec<bool>,
    annotators: IdsBuilder,
    places: ClassOrderColumn,
    texts: Texts,
    missing: u64,
    first_missing: Option<(String, u64)>,
    /// Bad rows, with their numbers within the block.
    errors: Vec<ReadError>,
}

impl Found {
    /// Writes down what is wrong with the row that would be entered next.
    fn error(&mut self, plan: &Plan, problem: Problem, column: Option<usize>, item: &str) {
        let mut error = ReadError::new(&plan.file, problem).row(self.rows);
        error.column = column.and_then(|c| plan.columns.get(c).cloned());
        error.item = (!item.is_empty()).then(|| item.to_owned());
        self.errors.push(error);
    }

    /// Enters one row; its item stands at `item_start` of the block's text.
    #[inline]
    fn enter(&mut self, plan: &Plan, cells: Cells<'_>, item_start: usize) {
        self.vote(plan, cells, item_start);
        self.rows += 1;
    }

    #[inline]
    fn vote(&mut self, plan: &Plan, cells: Cells<'_>, item_start: usize) {
        let row = self.rows as u32;
        if plan.layout.class.is_some() {
            if let Err(problem) = self.places.see(cells.label, cells.class) {
                return self.error(plan, problem, plan.layout.class, cells.item);
            }
            // A canonical table names a class that nobody chose in a row without an item.
            if cells.item.is_empty() && !cells.label.is_empty() {
                return;
            }
        }
        let blank = cells.annotator.is_empty() && cells.label.is_empty();
        if cells.item.is_empty() && blank && plan.layout.annotator.is_some() {
            // A row without anything in it, as spreadsheets have them at their end.
            self.missing += 1;
            self.first_missing.get_or_insert_with(|| (String::new(), u64::from(row)));
            return;
        }
        if cells.item.is_empty() {
            let problem = Problem::EmptyCell { role: "item" };
            return self.error(plan, problem, Some(plan.layout.item), "");
        }
        if plan.layout.text.is_some() {
            self.texts.see(cells.item, cells.text);
        }
        let weight = match plan.layout.weight {
            None => 1.0,
            Some(_) if cells.weight.is_empty() => 1.0,
            Some(column) => match cells.weight.trim().parse::<f64>() {
                Ok(weight) if (0.0..=HEAVIEST).contains(&weight) => weight,
                Ok(weight) => {
                    let problem = Problem::Vote(BuildError::Weight { weight });
                    return self.error(plan, problem, Some(column), cells.item);
                }
                Err(_) => {
                    let problem = Problem::NotANumber { text: shorten(cells.weight) };
                    return self.error(plan, problem, Some(column), cells.item);
                }
            },
        };
        let (mut label, new) = self.labels.intern(cells.label).unwrap_or((NONE, false));
        if new {
            self.label_missing.push(plan.missing.contains(cells.label));
        }
        if self.label_missing.get(label as usize) == Some(&true) {
            label = NONE;
            self.missing += 1;
            let item = || (cells.item.to_owned(), u64::from(row));
            self.first_missing.get_or_insert_with(item);
        }
        let annotator = if cells.annotator.is_empty() || !plan.keep_annotators {
            NONE
        } else {
            self.annotators.intern(cells.annotator).map_or(NONE, |(number, _)| number)
        };
        if plan.layout.weight.is_some() {
            self.weights.push(weight);
        }
        self.votes.push(RawVote {
            hash: id_hash(cells.item),
            item_start: item_start as u32,
            item_len: cells.item.len() as u32,
            annotator,
            label,
            row,
        });
    }
}

/// A block's text and what was found in it.
type Parsed = (String, Found);

/// Takes apart a block without quotes; every row ends in a line break.
fn parse_block(plan: &Plan, bytes: Vec<u8>, header: bool) -> Parsed {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // The CSV reader says which cell is not text.
        Err(bad) => {
            let stream = Box::new(Cursor::new(bad.into_bytes()));
            let mut records = records(plan, stream, header);
            return parse_records(plan, &mut records, None).unwrap_or_default();
        }
    };
    let mut found = Found::default();
    found.votes.reserve(text.len() / 16);
    let Layout { item, annotator, label, weight, class, text: words, .. } = plan.layout;
    // An item may go by its text; a column has one slot.
    let same = words == Some(item);
    let wanted = [Some(item), annotator, Some(label), weight, class, words.filter(|_| !same)];
    let mut slot_of = vec![wanted.len(); plan.columns.len() + 1];
    for (slot, column) in wanted.into_iter().enumerate() {
        if let Some(column) = column {
            slot_of[column] = slot;
        }
    }
    let width = plan.columns.len();
    // One slot more than wanted takes the cells that do not matter.
    let mut ends = [(0usize, 0usize); 7];
    let (mut column, mut start, mut next_row) = (0, 0, 0);
    let mut skip_header = header;
    for at in memchr::memchr2_iter(plan.dialect.delimiter, b'\n', text.as_bytes()) {
        let row_ends = text.as_bytes()[at] == b'\n';
        let mut end = at;
        if row_ends && end > start && text.as_bytes()[end - 1] == b'\r' {
            end -= 1;
        }
        ends[slot_of[column.min(width)]] = (start, end);
        column += 1;
        let cell_start = std::mem::replace(&mut start, at + 1);
        if !row_ends {
            continue;
        }
        let cells = std::mem::replace(&mut column, 0);
        let row_start = std::mem::replace(&mut next_row, at + 1);
        if cells == 1 && cell_start == end {
            continue;
        }
        if std::mem::take(&mut skip_header) {
            continue;
        }
        if cells != width {
            let text = shorten(text.get(row_start..end).unwrap_or_default());
            found.error(plan, Problem::Ragged { text, expected: width, found: cells }, None, "");
            found.rows += 1;
            continue;
        }
        let cell = |slot: usize| match wanted[slot] {
            Some(_) => text.get(ends[slot].0..ends[slot].1).unwrap_or(""),
            None => "",
        };
        let cells = Cells {
            item: cell(0),
            annotator: cell(1),
            label: cell(2),
            weight: cell(3),
            class: cell(4),
            text: if same { cell(0) } else { cell(5) },
        };
        found.enter(plan, cells, ends[0].0);
    }
    (text, found)
}

fn records(plan: &Plan, stream: Box<dyn Read + Send>, header: bool) -> Records {
    let (file, delimiter) = (plan.file.clone(), plan.dialect.delimiter);
    let records = Records::new(file, stream, delimiter, plan.columns.len(), plan.limit);
    records.skip_header(header)
}

/// Collects up to `most` rows of the CSV reader, or all; `None` when there are no more.
fn parse_records(plan: &Plan, records: &mut Records, most: Option<u64>) -> Option<Parsed> {
    let mut text = String::new();
    let mut found = Found::default();
    while most.is_none_or(|most| found.rows < most && text.len() < 16 * BLOCK) {
        match records.step() {
            None => break,
            Some(Err(mut error)) => {
                error.row = Some(found.rows);
                let column = error.column.take();
                let number = column.as_deref().and_then(|c| c.strip_prefix('#')?.parse().ok());
                error.column = number.and_then(|n: usize| plan.columns.get(n - 1).cloned());
                found.errors.push(error);
                found.rows += 1;
            }
            Some(Ok(_)) => {
                let Layout { item, annotator, label, weight, class, text: words, .. } = plan.layout;
                let cell = |column: Option<usize>| column.map_or("", |c| records.cell(c));
                let start = text.len();
                let cells = Cells {
                    item: records.cell(item),
                    annotator: cell(annotator),
                    label: records.cell(label),
                    weight: cell(weight),
                    class: cell(class),
                    text: cell(words),
                };
                text.push_str(cells.item);
                found.enter(plan, cells, start);
            }
        }
    }
    (found.rows > 0 || !found.errors.is_empty()).then_some((text, found))
}

/// Cuts a stream into blocks that end with a line break.
struct Blocks {
    stream: Box<dyn Read + Send>,
    carry: Vec<u8>,
    limit: usize,
    done: bool,
}

/// What comes next of a stream.
enum Next {
    /// Whole rows without a quote, each ending in a line feed.
    Block(Vec<u8>),
    /// The rest, from a block on that has a quote or a lone carriage return in it.
    Quoted(Box<dyn Read + Send>),
    /// A row without an end.
    TooLong,
    End,
}

impl Blocks {
    fn next(&mut self) -> std::io::Result<Next> {
        if self.done {
            return Ok(Next::End);
        }
        let mut block = std::mem::take(&mut self.carry);
        loop {
            let start = block.len();
            let wanted = BLOCK.saturating_sub(start).max(BLOCK / 4);
            self.stream.by_ref().take(wanted as u64).read_to_end(&mut block)?;
            let end = block.len() - start < wanted;
            if memchr::memchr(b'"', &block[start..]).is_some() || lone_return(&block, start) {
                self.done = true;
                let rest = std::mem::replace(&mut self.stream, Box::new(std::io::empty()));
                return Ok(Next::Quoted(Box::new(Cursor::new(block).chain(rest))));
            }
            if end {
                self.done = true;
                if block.is_empty() {
                    return Ok(Next::End);
                }
                if block.last() != Some(&b'\n') {
                    block.push(b'\n');
                }
                return Ok(Next::Block(block));
            }
            if let Some(last) = memchr::memrchr(b'\n', &block) {
                self.carry = block.split_off(last + 1);
                return Ok(Next::Block(block));
            }
            if block.len() > self.limit {
                self.done = true;
                return Ok(Next::TooLong);
            }
        }
    }
}

/// Whether a carriage return ends a row by itself, from `start` on.
fn lone_return(block: &[u8], start: usize) -> bool {
    // The last byte before may be one whose line feed did not come.
    let start = start.saturating_sub(1);
    let followed = |at: usize| matches!(block.get(start + at + 1), None | Some(b'\n'));
    memchr::memchr_iter(b'\r', &block[start..]).any(|at| !followed(at))
}

pub(super) fn read(
    table: Table,
    dialect: Dialect,
    layout: Layout,
    collector: &mut Collector<'_>,
) -> Result<(), ReadError> {
    let plan = Plan {
        file: collector.file.clone(),
        columns: table.columns.clone(),
        dialect,
        layout,
        missing: Missing::new(collector.options, layout.class.is_some()),
        limit: collector.options.limits.line,
        keep_annotators: collector.builder.keep() != dissensus_core::Keep::Counts,
    };
    let Some(input) = table.into_input() else {
        return Ok(());
    };
    let bom = input.head.len() - without_bom(&input.head).len();
    let mut stream = input.into_stream();
    std::io::copy(&mut stream.by_ref().take(bom as u64), &mut std::io::sink())
        .map_err(|e| collector.error(e))?;
    let mut blocks = Blocks { stream, carry: Vec::new(), limit: plan.limit as usize, done: false };
    let mut totals =
        Totals { rows: dialect.before + u64::from(dialect.header), ..Totals::default() };
    let mut header = dialect.header;
    let batch = 4 * rayon::current_num_threads();
    loop {
        let mut cut = Vec::with_capacity(batch);
        let mut rest = None;
        while cut.len() < batch {
            match blocks.next().map_err(|e| collector.error(e))? {
                Next::Block(block) => cut.push(block),
                other => {
                    rest = Some(other);
                    break;
                }
            }
        }
        let first = header;
        header = header && cut.is_empty();
        let parsed: Vec<Parsed> = cut
            .into_par_iter()
            .enumerate()
            .map(|(i, block)| parse_block(&plan, block, first && i == 0))
            .collect();
        totals.enter(&plan, parsed, collector)?;
        match rest {
            None => {}
            Some(Next::Quoted(stream)) => {
                let mut records = records(&plan, stream, header);
                while let Some(parsed) = parse_records(&plan, &mut records, Some(ROWS)) {
                    totals.enter(&plan, vec![parsed], collector)?;
                }
                break;
            }
            Some(Next::TooLong) => {
                let problem = Problem::TooLarge { what: "the row", limit: plan.limit };
                collector.reject(ReadError::new(&plan.file, problem).row(totals.rows + 1))?;
                break;
            }
            Some(_) => break,
        }
    }
    totals.missing.note(collector);
    totals.texts.keep(collector);
    totals.places.declare(collector)
}

/// What has been entered so far.
#[derive(Default)]
struct Totals {
    rows: u64,
    missing: MissingVotes,
    places: ClassOrderColumn,
    texts: Texts,
}

impl Totals {
    /// Steps 2 and 3 for a batch.
    fn enter(
        &mut self,
        plan: &Plan,
        mut parsed: Vec<Parsed>,
        collector: &mut Collector<'_>,
    ) -> Result<(), ReadError> {
        // For each block: its first row, and the table's numbers of its labels and annotators.
        let mut numbers = Vec::with_capacity(parsed.len());
        for (_, found) in &mut parsed {
            let first_row = self.rows + 1;
            self.rows += found.rows;
            self.missing.count += found.missing;
            if let (None, Some((item, row))) = (&self.missing.first, found.first_missing.take()) {
                self.missing.first = Some((item, first_row + row));
            }
            let labels = found.label_missing.iter().enumerate().filter(|(_, missing)| **missing);
            let written = labels.filter_map(|(label, _)| found.labels.get(label));
            self.missing.values.extend(written.map(str::to_owned));
            self.texts.merge(std::mem::take(&mut found.texts));
            let places = std::mem::take(&mut found.places);
            if let Err(problem) = self.places.merge(places) {
                found.errors.push(ReadError::new(&plan.file, problem).row(0).column("class"));
            }
            let labels = number_labels(plan, found, collector);
            let mut errors = std::mem::take(&mut found.errors);
            errors.sort_by_key(|error| error.row);
            for mut error in errors {
                error.row = error.row.map(|row| first_row + row);
                collector.reject(error)?;
            }
            let mut annotators = Vec::with_capacity(found.annotators.len());
            for i in 0..found.annotators.len() {
                let name = found.annotators.get(i).unwrap_or_default();
                annotators.push(collector.builder.annotator(name).map_err(|e| collector.error(e))?);
            }
            numbers.push((first_row, labels, annotators));
        }
        let shards = collector.builder.shards_mut();
        let count = shards.len();
        let failed = shards
            .par_iter_mut()
            .enumerate()
            .filter_map(|(at, shard)| {
                let push = |(parsed, numbers): (&Parsed, &Numbers)| {
                    enter_block(shard, (at, count), parsed, numbers)
                };
                parsed.iter().zip(&numbers).map(push).find_map(Result::err)
            })
            .min_by_key(|(row, _)| *row);
        match failed {
            Some((row, error)) => Err(collector.error(error).row(row)),
            None => Ok(()),
        }
    }
}

/// A block's first row, and the table's numbers of its labels and annotators.
type Numbers = (u64, Vec<Option<u16>>, Vec<u32>);

/// The table's numbers of a block's labels; a label that is refused is an error in each of its
/// rows.
fn number_labels(
    plan: &Plan,
    found: &mut Found,
    collector: &mut Collector<'_>,
) -> Vec<Option<u16>> {
    let mut numbers = Vec::with_capacity(found.labels.len());
    for i in 0..found.labels.len() {
        let label = found.labels.get(i).unwrap_or_default();
        if found.label_missing[i] {
            numbers.push(None);
            continue;
        }
        match collector.builder.class(label) {
            Ok(class) => numbers.push(Some(class)),
            Err(refused) => {
                numbers.push(None);
                let bad = found.votes.iter().filter(|vote| vote.label as usize == i);
                let error = |vote: &RawVote| {
                    let problem = Problem::Vote(refused.clone());
                    let error = ReadError::new(&plan.file, problem).row(u64::from(vote.row));
                    error.column(plan.columns[plan.layout.label].clone())
                };
                found.errors.extend(bad.map(error));
            }
        }
    }
    numbers
}

/// Enters the votes of a block that belong to a shard.
fn enter_block(
    shard: &mut dissensus_core::Shard,
    (at, count): (usize, usize),
    (text, found): &Parsed,
    (first_row, labels, annotators): &Numbers,
) -> Result<(), (u64, BuildError)> {
    let mut votes: Vec<ShardVote<'_>> = Vec::with_capacity(found.votes.len() / count + 64);
    for (i, vote) in found.votes.iter().enumerate() {
        if TableBuilder::shard_of(vote.hash, count) != at {
            continue;
        }
        let start = vote.item_start as usize;
        let item = text.get(start..start + vote.item_len as usize).unwrap_or_default();
        let row = first_row + u64::from(vote.row);
        if vote.label == NONE {
            // The items before it come first.
            enter_votes(shard, &votes)?;
            votes.clear();
            shard.item(item, vote.hash, row).map_err(|error| (row, error))?;
        } else if let Some(&Some(class)) = labels.get(vote.label as usize) {
            votes.push(ShardVote {
                item,
                hash: vote.hash,
                class,
                annotator: annotators.get(vote.annotator as usize).copied(),
                weight: found.weights.get(i).copied().unwrap_or(1.0),
                row,
            });
        }
    }
    enter_votes(shard, &votes)
}

fn enter_votes(
    shard: &mut dissensus_core::Shard,
    votes: &[ShardVote<'_>],
) -> Result<(), (u64, BuildError)> {
    shard.push_all(votes).map_err(|(at, error)| (votes.get(at).map_or(0, |v| v.row), error))
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_bytes};
    use dissensus_core::Keep;

    fn error(text: &str) -> String {
        read_bytes("x", text.into(), &ReadOptions::default()).err().unwrap().to_string()
    }

    #[test]
    fn quotes_in_the_middle_change_nothing() {
        let mut plain = String::from("task,worker,label\n");
        let mut quoted = plain.clone();
        for i in 0..200_000 {
            let (item, worker, label) = (i % 5_000, i % 37, ["cat", "dog"][i % 3 / 2]);
            plain += &format!("i{item},w{worker},{label}\n");
            let q = if i >= 150_000 { "\"" } else { "" };
            quoted += &format!("{q}i{item}{q},w{worker},{q}{label}{q}\r\n");
        }
        for keep in [Keep::Counts, Keep::Votes, Keep::VotesAndRows] {
            let options = ReadOptions { keep, ..ReadOptions::default() };
            let plain = read_bytes("x", plain.clone().into(), &options).unwrap().table;
            let quoted = read_bytes("x", quoted.clone().into(), &options).unwrap().table;
            assert!(plain == quoted, "{keep:?}");
            assert_eq!((plain.len(), plain.counts().unwrap().total()), (5_000, 200_000));
        }
    }

    #[test]
    fn rows_that_end_in_carriage_returns_are_rows() {
        let wanted = read_bytes("x", "item,label\na,x\nb,y\nc,z\n".into(), &ReadOptions::default());
        let wanted = wanted.unwrap().table;
        for text in ["item,label\ra,x\rb,y\rc,z", "item,label\ra,x\rb,y\nc,z\r\n"] {
            let table = read_bytes("x", text.into(), &ReadOptions::default()).unwrap().table;
            assert!(table == wanted, "{text:?}");
        }
        // A return at the end of a block, whose line feed comes in the next one or does not.
        let rows = |end: &str| {
            let row = format!("i,{}{end}", "c".repeat(61));
            format!("item,label\n{}", row.repeat(80_000))
        };
        for end in ["\r\n", "\r"] {
            // One item and one class are meant.
            let said = |name: &str| Some(name.to_owned());
            let options =
                ReadOptions { item: said("item"), label: said("label"), ..ReadOptions::default() };
            let reading = read_bytes("x", rows(end).into(), &options).unwrap();
            assert_eq!(reading.table.counts().unwrap().total(), 80_000, "{end:?}");
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let rows = (0..300_000).map(|i| format!("i{},w{},c{}\n", i * 7 % 90_001, i % 11, i % 4));
        let text = format!("item,annotator,label\n{}", rows.collect::<String>());
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let read = || read_bytes("x", text.clone().into(), &ReadOptions::default());
            pool.install(read).unwrap().table
        };
        let one = with(1);
        assert!(one == with(2) && one == with(5));
        assert_eq!(one.items().name(1), "i7");
    }

    #[test]
    fn errors_carry_the_row() {
        let mut text = String::from("item,annotator,label\n");
        (0..150_000).for_each(|i| text += &format!("i{i},w,c\n"));
        assert_eq!(
            error(&format!("{text}i,w\n")),
            "x, row 150002: 2 cells where 3 are expected: \"i,w\""
        );
        assert_eq!(
            error(&format!("{text},w,c\n")),
            "x, row 150002, column \"item\": the item is empty"
        );
        let mut bytes = text.clone().into_bytes();
        bytes.extend(b"i,w,caf\xe9\n");
        let bad = read_bytes("x", bytes, &ReadOptions::default()).err().unwrap().to_string();
        assert_eq!(bad, "x, row 150002, column \"label\": not UTF-8 text (byte 0xe9)");
        let classes = Some(vec!["c".to_owned()]);
        let options = ReadOptions { classes, ..ReadOptions::default() };
        let bad = read_bytes("x", format!("{text}i,w,d\n").into(), &options).err().unwrap();
        assert_eq!(
            bad.to_string(),
            "x, row 150002, column \"label\": unknown class \"d\": the declared classes are c"
        );
    }

    #[test]
    fn the_first_bad_row_is_the_one_reported() {
        let text = "item,annotator,label,weight\na,w,c,1\n,w,c,1\na,w,c,heavy\na,w\n";
        assert_eq!(error(text), "x, row 3, column \"item\": the item is empty");
        let options = ReadOptions { collect: true, ..ReadOptions::default() };
        let reading = read_bytes("x", text.into(), &options).unwrap();
        let found: Vec<_> =
            reading.findings.iter().map(|f| (f.code.as_str(), f.row.unwrap())).collect();
        assert_eq!(found, [("empty-cell", 3), ("not-a-number", 4), ("ragged-row", 5)]);
    }

    #[test]
    fn a_row_has_a_limit() {
        let text = format!("item,annotator,label\na,b,{}", "c".repeat(20 << 20));
        assert_eq!(error(&text), "x, row 2: the row is larger than 16777216 bytes");
    }

    #[test]
    fn weights_missing_values_and_items_without_votes() {
        let text = "item,annotator,label,weight\na,w,yes,0.5\na,v,no,2\nb,w,,\nb,v,NaN,\n";
        let reading = read_bytes("x", text.into(), &ReadOptions::default()).unwrap();
        let table = reading.table;
        assert_eq!(table.len(), 2);
        assert_eq!(table.counts().unwrap().row(0, 2), [2.0, 0.5]);
        assert_eq!(table.distributions()[1], None);
        let missing = &reading.findings[0];
        assert_eq!(
            (missing.code.as_str(), missing.count, missing.row),
            ("missing-value", 2, Some(4))
        );
    }

    /// Only where they are wanted: of each item the first that is not empty, by any way of reading.
    #[test]
    fn texts_are_kept() {
        let csv = "item,who,label,comment\na,1,x,\na,2,y,Good day.\nb,1,x,Bye\nb,2,x,other\n";
        let csv = csv.replace("who", "worker");
        let quoted = csv.replace("Good day.", "\"Good day.\"");
        let lines = r#"{"item":"a","worker":"1","label":"x","comment":""}
{"item":"a","worker":"2","label":"y","comment":"Good day."}
{"item":"b","worker":"1","label":"x","comment":"Bye"}
{"item":"b","worker":"2","label":"x","comment":"other"}"#;
        let own = |(item, text): (&str, &str)| (item.to_owned(), text.to_owned());
        let wanted = [("a", "Good day."), ("b", "Bye")].map(own);
        let with = ReadOptions { texts: true, ..ReadOptions::default() };
        for text in [&*csv, &quoted, lines] {
            let reading = read_bytes("x", text.into(), &with).unwrap();
            assert_eq!(reading.texts, wanted, "{text}");
            assert!(reading.notes.iter().any(|note| note.value == "comment"));
            assert!(
                read_bytes("x", text.into(), &ReadOptions::default()).unwrap().texts.is_empty()
            );
        }
        let named = ReadOptions { text: Some("worker".into()), ..with.clone() };
        assert!(read_bytes("x", csv.clone().into(), &named).unwrap().texts.is_empty());
        let named = ReadOptions { text: Some("nothing".into()), ..with.clone() };
        let error = read_bytes("x", csv.into(), &named).err().unwrap().to_string();
        assert!(error.contains("nothing") && error.contains("comment"), "{error}");
        // The text may be what an item goes by; and a wide table has a row per item.
        let item = ReadOptions { item: Some("text".into()), ..with.clone() };
        let reading = read_bytes("x", "text,worker,label\nHi,1,x\nHi,2,y\n".into(), &item).unwrap();
        assert_eq!(reading.texts, [own(("Hi", "Hi"))]);
        let wide = "id,text,rater_1,rater_2\na,Hello,x,y\nb,Bye,y,y\n";
        let reading = read_bytes("x", wide.into(), &with).unwrap();
        assert_eq!(reading.texts, [("a", "Hello"), ("b", "Bye")].map(own));
    }

    #[test]
    fn canonical_order_survives() {
        let text = "item,annotator,label,class\na,w,zebra,0\na,v,ant,2\n,,mule,1\n";
        let table = read_bytes("x", text.into(), &ReadOptions::default()).unwrap().table;
        assert_eq!(table.classes().names(), ["zebra", "mule", "ant"]);
        assert_eq!(table.counts().unwrap().row(0, 3), [1.0, 0.0, 1.0]);
        let text = "item,annotator,label,class\na,w,zebra,0\na,v,zebra,1\n";
        assert!(error(text).contains("one class number for each label"), "{}", error(text));
    }
}
