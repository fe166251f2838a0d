//! The training half of the demo: a study, a table, a summary in words, and a report.

use std::process::ExitCode;

use dissensus::data::blends::Blends;
use dissensus::measure::metric;
use dissensus::report::book::Book;
use dissensus::report::tables::{Number, Test, prepare};
use dissensus::stats::LEVEL;
use dissensus::store::{Store, Which};
use dissensus::studies::{LoadError, Material, PlanOptions, Study};
use dissensus::train::spec::Data;
use dissensus::{StudyOptions, SummaryColumn, blends_material, summarize_runs, train_study};

use super::Args;
use crate::commands::study::say;
use crate::reporting;
use crate::training::{Bars, on_interrupt, open_device};
use crate::ui::table::{Form, Print as _};
use crate::ui::{self, paint};

/// Votes per item in the sparse half.
const FEW: u64 = 5;

pub(super) fn run(args: &Args, blends: &Blends) -> anyhow::Result<ExitCode> {
    let sets =
        [format!("data.items={}", args.settings.items), format!("training.epochs={}", args.epochs)];
    let seeds: Vec<u64> = (0..args.seeds).collect();
    let study = Study::builtin("demo")?.with_overrides(&sets)?.seeded(&seeds);
    let mut load = |_: &Data| -> Result<Material, LoadError> { Ok(blends_material(blends)?) };
    let plan = study.plan(&PlanOptions::default(), &mut load)?;
    let store = Store::create_or_open(&args.store)?;
    ui::err(&format!(
        "training {} runs of a small network: {} methods, {FEW} votes per item and all votes, {} seeds\n",
        plan.finals(&store)?.jobs.len(),
        study.arms.len(),
        args.seeds
    ));
    let (device, bars) = (open_device("cpu")?, Bars::new());
    let options = StudyOptions {
        progress: &bars,
        cancel: on_interrupt().clone(),
        on_event: &|event| say(&event, &plan, &bars, false),
        ..StudyOptions::new(&device)
    };
    let ended = train_study(&plan, &store, &options);
    bars.end();
    let ended = ended?;
    if ended.iter().any(|run| run.outcome.result().is_none()) {
        ui::err("\nnot all runs are done; the same command continues them\n");
        return Ok(ExitCode::from(130));
    }
    let summary = summarize_runs(&ended, &columns(&store, blends), Which::Best);
    let title = "Delivery methods on the same votes";
    ui::out(&format!("\n{} (selected epoch, mean ± sd over seeds)\n", paint::title(title)))?;
    ui::out(&summary.table().print(Form::Terminal))?;
    ui::out(&format!("\n{}", shows(&plan.book(&store)?)))?;
    let out = reporting::beside(&args.store, "-report");
    let written = dissensus::write_report(&plan, &store, &out)?;
    ui::err(&reporting::words(&written, &out));
    let store = args.store.display();
    ui::out(&format!(
        "\nreport: {}   figures, and every image with its votes\n",
        written.page.display()
    ))?;
    ui::out(&format!("next: dissensus runs list --store {store}\n"))?;
    ui::out(
        "      dissensus study new votes.csv --inputs images   the same with votes of your own\n",
    )?;
    ui::out(
        "      dissensus train --template > spec.toml            only train, with every key explained\n",
    )?;
    Ok(ExitCode::SUCCESS)
}

/// The title of the column of KL to the true distribution.
const TRUE_KL: &str = "KL to p*";

fn columns<'a>(store: &'a Store, blends: &'a Blends) -> Vec<SummaryColumn<'a>> {
    let named = |name: &str, title: &str| {
        metric(name).map(|metric| SummaryColumn {
            name: title.into(),
            ..SummaryColumn::metric(metric, Which::Best)
        })
    };
    let truth = SummaryColumn::kl_to_truth(TRUE_KL, store, blends);
    let first = [named("soft_nll", "soft NLL"), named("kl", "KL to votes"), Some(truth)];
    let rest = [
        named("accuracy", "accuracy"),
        named("ece_mass", "ECE"),
        named("entropy_spearman", "entropy corr."),
    ];
    first.into_iter().chain(rest).flatten().collect()
}

/// A sentence for few votes and one for all, from the study's main table and its own tests.
fn shows(book: &Book) -> String {
    let Some(table) = book.tables.first().and_then(|spec| prepare(spec, book).ok()) else {
        return String::new();
    };
    let title = |name: &str| {
        let arm = book.arms.iter().find(|arm| arm.name == name);
        arm.map_or(name, |arm| &arm.title).to_owned()
    };
    let few = u32::try_from(FEW).ok();
    let line = |(k, votes): (Option<u32>, String)| {
        let of = |number: &&Number| number.at.metric == "true_kl" && number.at.k == k;
        let numbers: Vec<&Number> = table.numbers().filter(of).collect();
        let arms = ["soft", "multipass", "sls", "majority"].iter().filter_map(|name| {
            let number = numbers.iter().find(|number| number.at.arm == *name)?;
            Some(format!("{} {:.3}", title(name), number.mean?))
        });
        let arms = arms.collect::<Vec<_>>().join(", ");
        let tests = || numbers.iter().filter_map(|n| Some((&n.at.arm, n.test.as_ref()?)));
        let p = |test: &Test| test.corrected.or(test.p);
        let apart = tests().filter(|(_, test)| p(test).is_some_and(|p| p < LEVEL));
        let apart: Vec<String> = apart.map(|(arm, _)| title(arm)).collect();
        let floor = tests().find_map(|(_, test)| Some((test.smallest?, test.pairs)));
        let said = match (apart.is_empty(), floor) {
            (false, _) => format!("significantly different from soft labels: {}", apart.join(", ")),
            (true, Some((p, seeds))) if p >= LEVEL => {
                format!("no significant difference (smallest possible p {p} with {seeds} seeds)")
            }
            (true, _) => "no significant difference".to_owned(),
        };
        format!("With {votes}, the distance to the truth ({TRUE_KL}) is: {arms};\n{said}.\n")
    };
    let both = [(few, format!("{FEW} votes per item")), (None, "all votes".to_owned())];
    both.into_iter().map(line).collect()
}
