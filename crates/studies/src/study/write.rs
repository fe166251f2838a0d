//! A study as TOML: all that determines its runs and its report, in a fixed order.

use std::fmt::Write as _;

use dissensus_examine::Slice;
use serde::Serialize;
use toml::{Table, Value};

use super::Study;
use crate::file::{Setting, VotesChoice};

pub(super) fn toml(study: &Study, spec: &Table, stages: &Table) -> String {
    let mut page = Page::default();
    page.head("[study]");
    page.put("name", &study.name);
    page.put("title", &study.title);
    page.put("about", &study.about);
    page.put("question", &study.opening.question);
    page.put("main_claim", &study.opening.claim);
    page.put("main_figure", &study.opening.figure);
    page.put("scale", &study.scale);
    page.put("defaults", &study.defaults);
    page.set(&study.set);
    page.sections(spec);
    for dataset in &study.datasets {
        page.head("[[dataset]]");
        page.put("name", &dataset.name);
        page.put("title", &dataset.title);
        page.put("classes", &dataset.classes);
        page.set(&dataset.set);
    }
    for arm in &study.arms {
        page.head("[[arm]]");
        page.put("name", &arm.name);
        page.put("title", &arm.title);
        page.put("about", &arm.about);
        page.put("delivery", &arm.delivery);
        let votes: Vec<String> = arm.votes.iter().flatten().map(votes).collect();
        page.list("votes", &votes);
        page.put("seeds", &arm.seeds);
        page.set(&arm.set);
        page.put("datasets", &arm.datasets);
    }
    if let Some(grid) = &study.grid {
        page.head("[grid]");
        grid.axes.iter().for_each(|axis| page.put(&quoted(&axis.path), &axis.values));
        page.put("select", &grid.select);
        page.put("on", &grid.on);
        page.put("seed", &grid.seed);
    }
    for slice in &study.slices {
        page.head("[[slice]]");
        page.put("name", &slice.name);
        match slice.by {
            Slice::All => {}
            Slice::Top(share) => page.put("top", &share),
            Slice::Above(entropy) => page.put("above", &entropy),
        }
    }
    if !stages.is_empty() {
        page.sections(&Table::from_iter([("stages".to_owned(), Value::Table(stages.clone()))]));
    }
    study.tables.iter().for_each(|table| page.one_of("table", table));
    study.figures.iter().for_each(|figure| page.one_of("figure", figure));
    study.claims.iter().for_each(|claim| page.one_of("claim", claim));
    study.references.iter().for_each(|reference| page.one_of("reference", reference));
    for scale in &study.scales {
        page.head(&format!("[scale.{}]", quoted(&scale.name)));
        page.put("about", &scale.about);
        page.set(&scale.set);
        page.put("seeds", &scale.seeds);
        page.list("ks", &scale.ks.iter().copied().map(number).collect::<Vec<_>>());
        let axes = scale.grid.iter();
        page.inline("grid", axes.map(|axis| (&*axis.path, Value::Array(axis.values.clone()))));
    }
    page.0
}

/// A number of votes.
fn number(k: Option<u32>) -> String {
    k.map_or_else(|| quoted("all"), |k| k.to_string())
}

fn votes(choice: &VotesChoice) -> String {
    let k = number(choice.k);
    match &choice.seeds {
        Some(seeds) => format!("{{ k = {k}, seeds = {seeds:?} }}"),
        None => k,
    }
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn head(&mut self, head: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        let _ = writeln!(self.0, "{head}");
    }

    /// A key, where its value is not empty.
    fn put(&mut self, key: &str, value: &impl Serialize) {
        if let Ok(value) = Value::try_from(value)
            && !is_empty(&value)
        {
            let _ = writeln!(self.0, "{key} = {value}");
        }
    }

    /// A list of values in TOML, where there are any.
    fn list(&mut self, key: &str, values: &[String]) {
        if !values.is_empty() {
            let _ = writeln!(self.0, "{key} = [{}]", values.join(", "));
        }
    }

    /// A table on one line, where it has any keys.
    fn inline<'k>(&mut self, key: &str, pairs: impl Iterator<Item = (&'k str, Value)>) {
        let pairs = pairs.map(|(path, value)| format!("{} = {value}", quoted(path)));
        let pairs = pairs.collect::<Vec<_>>().join(", ");
        if !pairs.is_empty() {
            let _ = writeln!(self.0, "{key} = {{ {pairs} }}");
        }
    }

    /// Settings. The last of several for one key applies, and TOML allows only one.
    fn set(&mut self, set: &[Setting]) {
        let is_last = |at: &usize| set[at + 1..].iter().all(|later| later.path != set[*at].path);
        let last = (0..set.len()).filter(is_last).map(|at| &set[at]);
        self.inline("set", last.map(|one| (one.path.as_str(), one.value.clone())));
    }

    /// Tables with tables in them.
    fn sections(&mut self, tables: &impl Serialize) {
        let text = toml::to_string(tables).unwrap_or_default();
        if !text.is_empty() {
            self.0 = format!("{}\n{text}", self.0);
        }
    }

    /// A table of an array, without empty values, which are the defaults.
    fn one_of(&mut self, name: &str, value: &impl Serialize) {
        let Ok(mut table) = Table::try_from(value) else { return };
        table.retain(|_, value| !is_empty(value));
        self.sections(&Table::from_iter([(name.to_owned(), Value::from(vec![table]))]));
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
