//! A study as TOML: all that determines its runs and its report, in a fixed order.

use std::fmt::Write as _;

use serde::Serialize;
use toml::Value;

use super::Study;
use crate::file::{Arm, Axis, Setting, SliceBy, VotesChoice};

pub(super) fn toml(study: &Study, spec: &toml::Table, stages: &toml::Table) -> String {
    let mut page = Page::default();
    page.head("[study]");
    page.text("name", &study.name);
    page.text("title", &study.title);
    page.words("about", &study.about);
    page.words("scale", study.scale.as_deref().unwrap_or_default());
    page.set(&study.set);
    page.sections(spec);
    for dataset in &study.datasets {
        page.head("[[dataset]]");
        page.text("name", &dataset.name);
        page.text("title", &dataset.title);
        if !dataset.classes.is_empty() {
            let names = dataset.classes.iter().map(|name| quoted(name));
            page.line("classes", &format!("[{}]", join(names)));
        }
        page.set(&dataset.set);
    }
    study.arms.iter().for_each(|one| arm(&mut page, one));
    if let Some(grid) = &study.grid {
        page.head("[grid]");
        for axis in &grid.axes {
            page.line(&quoted(&axis.path), &list(&axis.values));
        }
        page.words("select", grid.select.as_deref().unwrap_or_default());
        page.words("on", grid.on.as_deref().unwrap_or_default());
        page.line("seed", &grid.seed.to_string());
    }
    for slice in &study.slices {
        page.head("[[slice]]");
        page.text("name", &slice.name);
        match slice.by {
            SliceBy::Top(share) => page.line("top", &Value::Float(share).to_string()),
            SliceBy::Above(entropy) => page.line("above", &Value::Float(entropy).to_string()),
        }
    }
    if !stages.is_empty() {
        let stages = Value::Table(stages.clone());
        page.sections(&toml::Table::from_iter([("stages".to_owned(), stages)]));
    }
    study.tables.iter().for_each(|table| page.one_of("table", table));
    study.figures.iter().for_each(|figure| page.one_of("figure", figure));
    study.claims.iter().for_each(|claim| page.one_of("claim", claim));
    study.references.iter().for_each(|reference| page.one_of("reference", reference));
    for scale in &study.scales {
        page.head(&format!("[scale.{}]", quoted(&scale.name)));
        page.words("about", &scale.about);
        page.set(&scale.set);
        if let Some(seeds) = scale.seeds {
            page.line("seeds", &seeds.to_string());
        }
        if !scale.ks.is_empty() {
            let k = |k: &Option<u32>| k.map_or_else(|| quoted("all"), |k| k.to_string());
            page.line("ks", &format!("[{}]", join(scale.ks.iter().map(k))));
        }
        if !scale.grid.is_empty() {
            let axis = |axis: &Axis| format!("{} = {}", quoted(&axis.path), list(&axis.values));
            page.line("grid", &format!("{{ {} }}", join(scale.grid.iter().map(axis))));
        }
    }
    page.0
}

fn arm(page: &mut Page, arm: &Arm) {
    page.head("[[arm]]");
    page.text("name", &arm.name);
    page.text("title", &arm.title);
    page.words("about", &arm.about);
    page.text("delivery", &arm.delivery);
    if let Some(votes) = &arm.votes {
        let one = |choice: &VotesChoice| {
            let k = choice.k.map_or_else(|| quoted("all"), |k| k.to_string());
            match &choice.seeds {
                Some(seeds) => format!("{{ k = {k}, seeds = {} }}", numbers(seeds)),
                None => k,
            }
        };
        page.line("votes", &format!("[{}]", join(votes.iter().map(one))));
    }
    if let Some(seeds) = &arm.seeds {
        page.line("seeds", &numbers(seeds));
    }
    page.set(&arm.set);
    if !arm.datasets.is_empty() {
        let names = arm.datasets.iter().map(|name| quoted(name));
        page.line("datasets", &format!("[{}]", join(names)));
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

    fn line(&mut self, key: &str, value: &str) {
        let _ = writeln!(self.0, "{key} = {value}");
    }

    fn text(&mut self, key: &str, text: &str) {
        self.line(key, &quoted(text));
    }

    /// A text, where it is not empty.
    fn words(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.text(key, text);
        }
    }

    /// Settings. The last of several for one key applies, and TOML allows only one.
    fn set(&mut self, set: &[Setting]) {
        let last = |at: usize| set[at + 1..].iter().all(|later| later.path != set[at].path);
        let kept = (0..set.len()).filter(|&at| last(at)).map(|at| &set[at]);
        let inner = join(kept.map(|one| format!("{} = {}", quoted(&one.path), one.value)));
        if !inner.is_empty() {
            self.line("set", &format!("{{ {inner} }}"));
        }
    }

    /// Tables with tables in them.
    fn sections(&mut self, tables: &toml::Table) {
        if !tables.is_empty() {
            self.0.push('\n');
            self.0 += &toml::to_string(tables).unwrap_or_default();
        }
    }

    /// A table of an array, without empty values, which are the defaults.
    fn one_of(&mut self, name: &str, value: &impl Serialize) {
        let Ok(mut table) = toml::Table::try_from(value) else { return };
        table.retain(|_, value| match value {
            Value::String(text) => !text.is_empty(),
            Value::Array(list) => !list.is_empty(),
            _ => true,
        });
        let list = Value::Array(vec![Value::Table(table)]);
        let outer = toml::Table::from_iter([(name.to_owned(), list)]);
        self.0.push('\n');
        self.0 += &toml::to_string(&outer).unwrap_or_default();
    }
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn numbers(seeds: &[u64]) -> String {
    format!("[{}]", join(seeds.iter().map(u64::to_string)))
}

fn list(values: &[Value]) -> String {
    format!("[{}]", join(values.iter().map(Value::to_string)))
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}
