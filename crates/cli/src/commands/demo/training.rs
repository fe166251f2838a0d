//! The training half of the demo: a study, a table, a summary in words, and a report.

use std::process::ExitCode;

use dissensus::data::blends::Blends;
use dissensus::measure::metric;
use dissensus::store::{Store, Which};
use dissensus::studies::{LoadError, Material, PlanOptions, Study};
use dissensus::train::spec::Data;
use dissensus::{
    RunSummary, StudyOptions, SummaryColumn, blends_material, summarize_runs, train_study,
};

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
    ui::out(&format!("\n{}\n", shows(&summary)))?;
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

/// Two sentences, from the numbers.
fn shows(summary: &RunSummary) -> String {
    let kl = |method: &str, votes: &str| {
        let arm = summary.arms.iter().find(|arm| arm.arm == format!("{method} · {votes}"))?;
        arm.figures.iter().find(|figure| figure.metric == TRUE_KL)?.mean
    };
    let few = format!("{FEW} votes");
    let (Some(soft), Some(pass), Some(sls), Some(majority)) =
        (kl("soft", &few), kl("multipass", &few), kl("sls", &few), kl("majority", &few))
    else {
        return String::new();
    };
    let (Some(soft_all), Some(pass_all)) = (kl("soft", "all votes"), kl("multipass", "all votes"))
    else {
        return String::new();
    };
    let better = |a: f64, b: f64| if a < b { "closer to" } else { "farther from" };
    format!(
        "With {FEW} votes per item, delivering them one by one (multipass {pass:.3}, sls {sls:.3}) \
         lands {} the truth than their average as a soft target ({soft:.3}),\nand the majority \
         label alone, which throws the disagreement away, {} ({majority:.3}). With all votes, \
         multipass lands {} it than soft ({pass_all:.3} and {soft_all:.3}).",
        better(pass.max(sls), soft),
        if majority > soft.max(pass).max(sls) { "farthest" } else { "not farthest" },
        better(pass_all, soft_all),
    )
}
