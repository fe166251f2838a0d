//! What a reader hands its votes to: the table builder, with a place for guesses and findings,
//! and one rule for bad rows.

use std::collections::{BTreeSet, HashSet};

use dissensus_core::{Keep, Scale, TableBuilder, VoteTable, plain_label};
use serde::Serialize;

use crate::options::{MultiLabel, ReadOptions};
use crate::plausible::Guesses;
use dissensus_io::{Problem, ReadError, ReadOption, shorten};

/// Something that was guessed or decided while reading, to be printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What it is about: `label column`, `missing`, ….
    pub what: String,
    /// What was decided.
    pub value: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably not meant so.
    Warning,
    /// Cannot be used as it is.
    Error,
}

/// Something that the linter reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// A short name that does not change.
    pub code: String,
    /// What was found.
    pub message: String,
    /// How often, where the finding stands for several places.
    pub count: u64,
    /// The first item it concerns.
    pub item: Option<String>,
    /// The first row.
    pub row: Option<u64>,
    /// The column.
    pub column: Option<String>,
    /// What to do about it.
    pub remedy: Option<String>,
    /// The options of reading that the remedy names.
    #[serde(skip)]
    pub options: &'static [ReadOption],
}

impl Finding {
    /// A finding about the whole file.
    pub fn new(severity: Severity, code: &str, message: impl Into<String>) -> Self {
        Self {
            severity,
            code: code.to_owned(),
            message: message.into(),
            count: 1,
            item: None,
            row: None,
            column: None,
            remedy: None,
            options: &[],
        }
    }

    /// Adds the first place.
    pub fn at(mut self, item: Option<&str>, row: Option<u64>) -> Self {
        self.item = item.map(str::to_owned);
        self.row = row;
        self
    }

    /// Adds how often.
    pub fn times(mut self, count: u64) -> Self {
        self.count = count;
        self
    }

    /// Adds what to do.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl From<&ReadError> for Finding {
    fn from(error: &ReadError) -> Self {
        Self {
            severity: Severity::Error,
            code: error.problem.code().to_owned(),
            message: error.problem.to_string(),
            count: 1,
            item: error.item.clone(),
            row: error.row,
            column: error.column.clone(),
            remedy: error.problem.remedy().map(str::to_owned),
            options: error.problem.options(),
        }
    }
}

/// Places of one kind (something left out, something odd): how many, and the first.
#[derive(Clone, Debug, Default)]
pub struct Places {
    count: u64,
    first: Option<(String, u64)>,
}

impl Places {
    /// One place more.
    pub fn add(&mut self, item: &str, row: u64) {
        self.count += 1;
        self.first.get_or_insert_with(|| (item.to_owned(), row));
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// One finding for all of them; none where there are none.
    pub fn find(
        self,
        collector: &mut Collector<'_>,
        severity: Severity,
        code: &str,
        message: &str,
        remedy: &str,
    ) {
        if self.count > 0 {
            let (item, row) = self.first.unzip();
            let finding = Finding::new(severity, code, message).times(self.count);
            collector.finding(finding.at(item.as_deref(), row).remedy(remedy));
        }
    }

    /// States that they were left out: a note, and a finding.
    pub fn left_out(self, collector: &mut Collector<'_>, code: &str, what: &str, remedy: &str) {
        if self.count > 0 {
            collector.note("left out", format!("{what}: {}", self.count));
            self.find(collector, Severity::Note, code, &format!("{what}: left out"), remedy);
        }
    }
}

/// Findings of one code that are listed one by one; further ones are only counted.
const LISTED: usize = 20;

/// Takes what a format's reader finds.
pub struct Collector<'a> {
    /// The file's name, for errors.
    pub file: String,
    /// What the user said.
    pub options: &'a ReadOptions,
    /// Where votes go.
    pub builder: TableBuilder,
    /// The table, for formats that make it without votes one by one.
    pub table: Option<VoteTable>,
    /// The scale of the classes, where the format or the file states it.
    pub scale: Option<Scale>,
    /// What was guessed.
    pub notes: Vec<Note>,
    /// What the linter will report.
    pub findings: Vec<Finding>,
    /// (item, text) where the source carries texts.
    pub texts: Vec<(String, String)>,
    /// What was guessed, to be checked when all votes are read.
    pub(crate) guesses: Option<Guesses>,
    /// Values that were taken for missing votes, though nobody said so, and that may be classes.
    pub(crate) may_be_classes: BTreeSet<&'static str>,
    /// Votes that counts stood for so far.
    counted: u64,
}

impl<'a> Collector<'a> {
    /// An empty collector for a source of this name.
    pub fn new(file: &str, options: &'a ReadOptions, shards: usize) -> Result<Self, ReadError> {
        let mut builder = TableBuilder::with_shards(options.keep, shards);
        if options.multilabel == MultiLabel::Each {
            builder.require_votes();
        }
        if options.keeps_sets() {
            builder.set_scale(Scale::MultiLabel);
        }
        let fail = |problem: Problem| ReadError::new(file, problem);
        if options.keeps_sets() && options.multilabel != MultiLabel::Error {
            return Err(fail(Problem::Doubt {
                doubt:
                    "`scale = multilabel` keeps the labels of a vote together, and `multilabel` \
                        splits them"
                        .to_owned(),
                options: &[ReadOption::Scale, ReadOption::Multilabel],
                remedy: "give only `scale` or only `multilabel`",
            }));
        }
        if let Some(classes) = options.class_set().map_err(|e| fail(Problem::Vote(e.into())))? {
            builder.declare(classes).map_err(|e| fail(e.into()))?;
        }
        Ok(Self {
            file: file.to_owned(),
            options,
            builder,
            table: None,
            scale: None,
            notes: Vec::new(),
            findings: Vec::new(),
            texts: Vec::new(),
            guesses: None,
            may_be_classes: BTreeSet::new(),
            counted: 0,
        })
    }

    /// An error about the whole file.
    pub fn error(&self, problem: impl Into<Problem>) -> ReadError {
        ReadError::new(self.file.clone(), problem)
    }

    /// Writes down a decision.
    pub fn note(&mut self, what: impl Into<String>, value: impl Into<String>) {
        self.notes.push(Note { what: what.into(), value: value.into() });
    }

    /// Adds a finding. One that says the same as another, and those beyond the first few of a code,
    /// are only counted.
    pub fn finding(&mut self, finding: Finding) {
        let alike = |f: &&mut Finding| f.code == finding.code && f.message == finding.message;
        if let Some(known) = self.findings.iter_mut().find(alike) {
            known.count += finding.count;
            return;
        }
        let same: Vec<usize> =
            (0..self.findings.len()).filter(|&i| self.findings[i].code == finding.code).collect();
        match same.last() {
            Some(&last) if same.len() >= LISTED => {
                let last = &mut self.findings[last];
                last.count += finding.count;
            }
            _ => self.findings.push(finding),
        }
    }

    /// The one rule for a bad row: stop there, or (for the linter) write it down and go on.
    pub fn reject(&mut self, error: ReadError) -> Result<(), ReadError> {
        if !self.options.collect {
            return Err(error);
        }
        self.finding(Finding::from(&error));
        Ok(())
    }

    /// What is wrong with a vote without an item or a label.
    fn empty(&self, item: &str, label: &str, row: u64) -> Option<ReadError> {
        let role = match (item, label) {
            ("", _) => "item",
            (_, "") => "label",
            _ => return None,
        };
        let mut error = self.error(Problem::EmptyCell { role }).row(row);
        error.item = (!item.is_empty()).then(|| item.to_owned());
        Some(error)
    }

    /// A row that could be read; a bad one goes by the rule for bad rows and is `None`.
    pub fn good<T>(&mut self, row: Result<T, ReadError>) -> Result<Option<T>, ReadError> {
        match row {
            Ok(row) => Ok(Some(row)),
            Err(error) => self.reject(error).map(|()| None),
        }
    }

    /// Adds a vote; a refused one goes by the rule for bad rows.
    pub fn vote(
        &mut self,
        item: &str,
        annotator: Option<&str>,
        label: &str,
        weight: f64,
        row: u64,
    ) -> Result<(), ReadError> {
        if let Some(error) = self.empty(item, label, row) {
            return self.reject(error);
        }
        match self.builder.vote(item, annotator, label, weight, row) {
            Ok(()) => Ok(()),
            Err(error) => {
                let error = self.error(error).row(row).item(item);
                self.reject(error)
            }
        }
    }

    /// Adds a vote for one or several labels, as the options `multilabel` and `scale` say.
    pub fn vote_several(
        &mut self,
        item: &str,
        annotator: Option<&str>,
        labels: &[&str],
        row: u64,
    ) -> Result<(), ReadError> {
        self.vote_several_weighted(item, annotator, labels, 1.0, row)
    }

    /// The same for a vote with a weight.
    pub fn vote_several_weighted(
        &mut self,
        item: &str,
        annotator: Option<&str>,
        labels: &[&str],
        weight: f64,
        row: u64,
    ) -> Result<(), ReadError> {
        match (&self.options.multilabel, labels) {
            (MultiLabel::Only(class), _) => {
                let yes = labels.iter().any(|label| plain_label(label) == plain_label(class));
                let label = if yes { class.clone() } else { format!("not {class}") };
                self.vote(item, annotator, &label, weight, row)
            }
            _ if self.builder.scale() == Scale::MultiLabel => {
                self.vote_set(item, annotator, labels, weight, row)
            }
            (_, []) => {
                let error = self.error(Problem::EmptyCell { role: "label" }).row(row).item(item);
                self.reject(error)
            }
            (_, [label]) => self.vote(item, annotator, label, weight, row),
            (MultiLabel::Error, _) => {
                let text = shorten(&labels.join(", "));
                let error = self.error(Problem::MultiLabel { text }).row(row).item(item);
                self.reject(error)
            }
            (MultiLabel::Votes, _) => {
                labels.iter().try_for_each(|label| self.vote(item, annotator, label, weight, row))
            }
            (MultiLabel::Each, _) => {
                let share = weight / labels.len() as f64;
                labels.iter().try_for_each(|label| self.vote(item, annotator, label, share, row))
            }
        }
    }

    /// Adds a vote for a set of labels, which may be empty. A label that stands in it twice goes by the
    /// rule for bad rows.
    pub fn vote_set(
        &mut self,
        item: &str,
        annotator: Option<&str>,
        labels: &[&str],
        weight: f64,
        row: u64,
    ) -> Result<(), ReadError> {
        let label = if labels.iter().any(|label| label.is_empty()) { "" } else { "set" };
        if let Some(error) = self.empty(item, label, row) {
            return self.reject(error);
        }
        let mut seen = HashSet::new();
        if !labels.iter().all(|label| seen.insert(*label)) {
            let found = shorten(&labels.join(", "));
            let expected = "each label once in a vote for several";
            let error = self.error(Problem::Shape { expected, found }).row(row).item(item);
            return self.reject(error);
        }
        match self.builder.vote_set(item, annotator, labels, weight, row) {
            Ok(()) => Ok(()),
            Err(error) => {
                let error = self.error(error).row(row).item(item);
                self.reject(error)
            }
        }
    }

    /// Adds votes of unknown annotators.
    pub fn votes(&mut self, item: &str, label: &str, n: u32, row: u64) -> Result<(), ReadError> {
        if let Some(error) = self.empty(item, label, row) {
            return self.reject(error);
        }
        // Ten digits in a file may stand for four billion votes, each of which takes memory.
        let limit = self.options.limits.votes;
        if self.builder.keep() != Keep::Counts && self.counted + u64::from(n) > limit {
            let error = self.error(Problem::TooMany { what: "votes in its counts", limit });
            return self.reject(error.row(row).item(item));
        }
        self.counted += u64::from(n);
        match self.builder.votes(item, label, n, row) {
            Ok(()) => Ok(()),
            Err(error) => {
                let error = self.error(error).row(row).item(item);
                self.reject(error)
            }
        }
    }

    /// Whether a label means "no vote": an empty one, or one that the option `missing` names.
    pub fn is_missing(&self, label: &str) -> bool {
        let label = plain_label(label);
        let named = |values: &Vec<String>| values.iter().any(|value| plain_label(value) == label);
        label.is_empty() || self.options.missing.as_ref().is_some_and(named)
    }

    /// The labels of one vote without those that mean "no vote".
    pub fn kept<'l>(&self, labels: &'l [String]) -> Vec<&'l str> {
        labels.iter().map(String::as_str).filter(|label| !self.is_missing(label)).collect()
    }

    /// Names an item that may get no votes.
    pub fn name_item(&mut self, item: &str, row: u64) -> Result<(), ReadError> {
        if item.is_empty() {
            let error = self.error(Problem::EmptyCell { role: "item" }).row(row);
            return self.reject(error);
        }
        self.builder.item(item, row).map_err(|e| self.error(e).row(row))
    }

    /// Names an item that must be new; a second row for it goes by the rule for bad rows.
    /// Says whether the row is to be read.
    pub fn new_item(&mut self, item: &str, row: u64) -> Result<bool, ReadError> {
        let problem = match item {
            "" => Some(Problem::EmptyCell { role: "item" }),
            _ if self.builder.has_item(item) => Some(Problem::DuplicateItem { id: shorten(item) }),
            _ => None,
        };
        if let Some(problem) = problem {
            let error = self.error(problem).row(row);
            self.reject(error)?;
            return Ok(false);
        }
        self.builder.item(item, row).map_err(|e| self.error(e).row(row))?;
        Ok(true)
    }

    /// Keeps the text of an item.
    pub fn text(&mut self, item: &str, text: impl Into<String>) {
        self.texts.push((item.to_owned(), text.into()));
    }
}
