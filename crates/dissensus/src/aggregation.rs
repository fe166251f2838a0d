//! What an estimator of targets found, as data with names and as a page for a terminal.

use std::collections::BTreeMap;

use dissensus_core::{Ballots, VoteTable};
use dissensus_labels::{Aggregation, FitReport, LabelError, Source, Target};
use dissensus_report::plain::{
    Page, count, format_number, format_significant, one_line, thousands,
};
use dissensus_report::tables::{Columns, Style, TableForm};
use serde::Serialize;

/// Up to so many classes, the page shows confusion matrices.
const FEW_CLASSES: usize = 12;

/// An aggregation of votes with the names of classes, annotators and items.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AggregationReport {
    /// The estimator with its settings.
    pub target: String,
    /// How many iterations it took; 0 for a formula.
    pub iterations: u32,
    /// Whether it stopped because little changed, and not because the iterations were over.
    pub converged: bool,
    /// The log-likelihood of the last iteration, in nats.
    pub log_likelihood: Option<f64>,
    /// The log-likelihood of each iteration.
    pub log_likelihoods: Vec<f64>,
    /// The classes, in the order of all rows below.
    pub classes: Vec<AggregatedClass>,
    /// The annotators; `None` where they are not told apart.
    pub annotators: Option<Vec<AggregatedAnnotator>>,
    /// The items with their targets.
    pub items: Vec<AggregatedItem>,
}

/// A class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AggregatedClass {
    /// Its name.
    pub name: String,
    /// Its mean share of the votes on an item.
    pub frequency: f64,
    /// Its mean share of the targets.
    pub target: f64,
    /// The share of the items that are of it, as the model estimates it.
    pub prior: Option<f64>,
}

/// An annotator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AggregatedAnnotator {
    /// The annotator's id.
    pub name: String,
    /// The parameters of the model, by name.
    #[serde(flatten)]
    pub parameters: BTreeMap<&'static str, Option<f64>>,
    /// The probability of each vote (column) on an item of each class (row).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confusion: Option<Vec<Vec<f64>>>,
}

/// An item.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AggregatedItem {
    /// Its id.
    pub id: String,
    /// Its target distribution.
    pub target: Vec<f64>,
}

impl AggregationReport {
    /// What a target found of these votes.
    pub fn new(
        votes: &VoteTable,
        target: &Target,
        found: &Aggregation<'_>,
    ) -> Result<Self, LabelError> {
        Self::of(votes, target, found, true)
    }

    fn of(
        votes: &VoteTable,
        target: &Target,
        found: &Aggregation<'_>,
        confusions: bool,
    ) -> Result<Self, LabelError> {
        let width = votes.classes().len().max(1);
        let targets = Source::new(&found.targets)?.distributions();
        let frequencies = means(&Source::new(votes)?.distributions(), width);
        let priors = found.items.as_ref().map(|items| &items.priors);
        let classes = votes.classes().names().iter().zip(means(&targets, width)).enumerate();
        let class = |(at, (name, target)): (usize, (&String, f64))| AggregatedClass {
            name: name.clone(),
            frequency: frequencies[at],
            target,
            prior: priors.map(|priors| priors[at]),
        };
        let annotators = match &found.annotators {
            None => None,
            Some(model) => {
                let all = model.confusions.as_ref().filter(|_| confusions);
                let matrices = all.map(|all| all.matrices()).transpose()?;
                let annotator = |(at, name): (usize, &str)| AggregatedAnnotator {
                    name: name.to_owned(),
                    parameters: model.parameters.iter().map(|p| (p.name, p.values[at])).collect(),
                    confusion: matrices.as_ref().map(|cells| {
                        let own = &cells[at * width * width..(at + 1) * width * width];
                        own.chunks_exact(width).map(<[f64]>::to_vec).collect()
                    }),
                };
                Some(votes.annotators().iter().enumerate().map(annotator).collect())
            }
        };
        let items = votes.items().iter().zip(targets.chunks_exact(width));
        let item =
            |(id, row): (&str, &[f64])| AggregatedItem { id: id.to_owned(), target: row.to_vec() };
        let FitReport { iterations, converged, log_likelihoods } = found.fit.clone();
        Ok(Self {
            target: target.to_string(),
            iterations,
            converged,
            log_likelihood: found.fit.log_likelihood(),
            log_likelihoods,
            classes: classes.map(class).collect(),
            annotators,
            items: items.map(item).collect(),
        })
    }
}

/// The means of the columns of rows.
fn means(rows: &[f64], width: usize) -> Vec<f64> {
    let items = rows.len() / width;
    let mut sums = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        sums.iter_mut().zip(row).for_each(|(sum, share)| *sum += share);
    }
    sums.iter().map(|sum| sum / items.max(1) as f64).collect()
}

/// What a target found of votes, as a page: the fit, the classes, the `top` annotators with the most
/// votes.
pub fn aggregation_page(
    file: &str,
    votes: &VoteTable,
    target: &Target,
    found: &Aggregation<'_>,
    top: usize,
    style: &Style,
) -> Result<String, LabelError> {
    let few = votes.classes().len() <= FEW_CLASSES;
    let report = AggregationReport::of(votes, target, found, few)?;
    let mut page = Page::new(style);
    page.title(&one_line(file, 80));
    page.row("target", &report.target);
    page.row("", target.entry().formula);
    let cast = match votes.ballots() {
        Ballots::Votes(votes) => Some(votes.len()),
        _ => None,
    };
    let mut size = vec![count(report.items.len(), "item", "items")];
    size.extend(cast.map(|cast| count(cast, "vote", "votes")));
    size.extend(report.annotators.as_ref().map(|all| count(all.len(), "annotator", "annotators")));
    page.row("votes", &size.join(", "));
    if let Some(value) = report.log_likelihood {
        let how = if report.converged { "converged after" } else { "NOT converged after" };
        let rounds = count(report.iterations as usize, "iteration", "iterations");
        let mut line = format!("{how} {rounds}; log-likelihood {}", format_significant(value, 8));
        if let Some(cast) = cast {
            line += &format!(" nats, {} per vote", format_number(Some(value / cast as f64)));
        }
        page.row("fit", &line);
    }
    let table = |text: String, page: &mut Page<'_>| page.text += &text;
    page.section("Classes (mean shares of an item)");
    let mut columns = Columns::new(TableForm::Terminal)
        .name("class", |c: &AggregatedClass| one_line(&c.name, 40))
        .value("votes", |c| Some(c.frequency))
        .value("target", |c| Some(c.target));
    if found.items.is_some() {
        columns = columns.value("prior", |c| c.prior);
    }
    table(columns.table(&report.classes).terminal(style), &mut page);

    let Some(mut people) = report.annotators else { return Ok(page.text) };
    let classes = &report.classes;
    let votes_of = |who: &AggregatedAnnotator| who.parameters.get("votes").copied().flatten();
    let confused = people.iter().any(|who| who.confusion.is_some());
    if confused {
        page.section("Votes on an item of each class (all annotators, weighted by their votes)");
        let mut columns = Columns::new(TableForm::Terminal)
            .name("class", |&class: &usize| one_line(&classes[class].name, 40));
        for (vote, to) in classes.iter().enumerate() {
            let people = &people;
            columns = columns.number(&format!("votes {}", one_line(&to.name, 20)), move |&class| {
                let weighted = people.iter().filter_map(|who| {
                    let votes = who.parameters.get("votes").copied().flatten()?;
                    Some((votes, votes * who.confusion.as_ref()?[class][vote]))
                });
                let sums = weighted.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                share((sums.0 > 0.0).then(|| sums.1 / sums.0))
            });
        }
        let rows: Vec<usize> = (0..classes.len()).collect();
        table(columns.table(&rows).terminal(style), &mut page);
    }
    let all = people.len();
    people.sort_by(|a, b| votes_of(b).unwrap_or(0.0).total_cmp(&votes_of(a).unwrap_or(0.0)));
    people.truncate(top);
    if people.is_empty() {
        return Ok(page.text);
    }
    page.section(&match all > people.len() {
        true => format!("Annotators ({} of {}, most votes first)", people.len(), thousands(all)),
        false => "Annotators (most votes first)".to_owned(),
    });
    let mut columns = Columns::new(TableForm::Terminal)
        .name("annotator", |who: &AggregatedAnnotator| one_line(&who.name, 40));
    for parameter in found.annotators.iter().flat_map(|model| &model.parameters) {
        let name = parameter.name;
        let value = move |who: &AggregatedAnnotator| who.parameters.get(name).copied().flatten();
        columns = match name {
            "votes" => columns.number(name, move |who| {
                value(who).map_or("–".to_owned(), |votes| votes.to_string())
            }),
            _ => columns.value(name, value),
        };
    }
    if confused {
        for (class, of) in classes.iter().enumerate() {
            let head = format!("right on {}", one_line(&of.name, 20));
            let right =
                move |who: &AggregatedAnnotator| Some(who.confusion.as_ref()?[class][class]);
            columns = columns.number(&head, move |who| share(right(who)));
        }
    }
    table(columns.table(&people).terminal(style), &mut page);
    for parameter in found.annotators.iter().flat_map(|model| &model.parameters) {
        page.line(&(style.dim)(&format!("{}: {}", parameter.name, parameter.description)));
    }
    Ok(page.text)
}

/// A probability of a matrix: what a model keeps from 0 by a tiny number is 0 for people.
fn share(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.4}"))
}
