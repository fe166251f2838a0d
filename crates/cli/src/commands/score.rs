//! `dissensus score`

use std::path::PathBuf;

use dissensus::measure::ceiling::Ceiling;
use dissensus::measure::{Note, Settings};
use dissensus::predictions::Join;
use dissensus::tables::{ceiling_table, ceiling_words, scores_table};
use dissensus::{
    Evaluated, LoadContext, ModelReading, Scores, Silent, pages, same_items, score_models,
    trained_on,
};
use serde::Serialize;

use super::predict::warn_trained;
use crate::args::{EvaluateArgs, FormArgs, Models, StoreArgs, whole};
use crate::ui::table::{self, Form};
use crate::ui::{self, paint, progress::Terminal, text};

/// Evaluate predictions against the votes.
///
/// Predictions come from any model: .npy, .npz, CSV, JSON, JSON Lines, Parquet, safetensors, or
/// ChaosNLI's layout with several models in one file. Items are matched with the votes by id and
/// classes by name; what is assumed is printed, and what is in doubt is refused until an option
/// says it. Numbers have 95 % intervals over the items, where one is known to hold; whether two models
/// differ is for `dissensus compare` to test. `dissensus metrics explain NAME` explains a metric.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of predictions
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    predictions: Vec<PathBuf>,
    #[command(flatten)]
    evaluation: EvaluateArgs,
    /// What the files, or the seeds in a column of a file, are: `models` of their own, as files are by
    /// default; `classes` of one model, with a number per item each; or `seeds`, whose probabilities are averaged
    #[arg(long, value_name = "WHAT", value_parser = ["models", "classes", "seeds"])]
    join: Option<String>,
    /// Also evaluate slices of the items: `entropy` slices them by how much people disagree
    #[arg(long, value_name = "WHAT", value_parser = ["entropy"])]
    by: Option<String>,
    /// Number of slices
    #[arg(long, value_name = "N", default_value_t = 4, requires = "by")]
    #[arg(value_parser = whole::<usize>(1..=1000), allow_negative_numbers = true)]
    slices: usize,
    /// Also show how well any model can score against these votes, as `votes ceiling` does, from N
    /// divisions of the votes [default: 20]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20", conflicts_with = "csv")]
    #[arg(value_parser = whole::<usize>(1..=10_000), allow_negative_numbers = true)]
    ceiling: Option<usize>,
    #[command(flatten)]
    form: FormArgs,
    /// Draw reliability diagrams and entropy scatters into this folder
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Replace figures that exist
    #[arg(long)]
    force: bool,
    /// The run whose model made the predictions: warn where items are in its training part
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Serialize)]
struct Report<'a> {
    votes: String,
    settings: Settings,
    replicates: Option<usize>,
    seed: u64,
    notes: Vec<String>,
    models: Vec<ModelReading>,
    scores: &'a [Scores],
    #[serde(skip_serializing_if = "Option::is_none")]
    ceiling: Option<&'a Ceiling>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let options = args.evaluation.options(&args.predictions)?;
    let votes = args.evaluation.read_votes()?;
    let how = match args.join.as_deref() {
        Some("classes") => Models::Joined(Join::Classes),
        Some("seeds") => Models::Joined(Join::Seeds),
        Some(_) => Models::EachRun,
        None => Models::Each,
    };
    let models = args.evaluation.evaluate(&votes, &args.predictions, &options, how)?;
    if let Some(run) = &args.run {
        let store = args.store.open()?;
        let trained = trained_on(&store.find(run)?, &store, &LoadContext::new(&Silent))?;
        let Some(ids) = trained.as_ref().and_then(|trained| trained.ids()) else {
            anyhow::bail!("the data of the run are not found, so its training part is not known");
        };
        for model in &models {
            let is_trained = |at: &&usize| ids.position(votes.items().name(**at)).is_some();
            let trained = model.items.iter().filter(is_trained).count();
            warn_trained(&format!("{}: ", model.name), trained, model.items.len());
        }
    }
    if !same_items(&models) {
        let counts =
            models.iter().map(|m| format!("{} {}", m.name, text::thousands(m.items.len())));
        let counts = counts.collect::<Vec<_>>().join(", ");
        ui::note(&format!(
            "the models do not predict the same items ({counts}), so their values are not comparable; \
             `dissensus compare` compares them on the items that all predict"
        ));
    }
    let (bar, slices) = (Terminal::named("scoring"), args.by.as_ref().map(|_| args.slices));
    let (scores, ceiling) = score_models(&votes, &models, slices, args.ceiling, &options, &bar)?;
    for (folder, model) in
        args.svg.iter().flat_map(|folder| models.iter().map(move |m| (folder, m)))
    {
        let paths = pages::write_model_figures(model, folder, options.settings, args.force)?;
        paths.iter().for_each(|path| ui::wrote(path, ""));
    }
    let Some(form) = args.form.table() else {
        return ui::json(&Report {
            votes: args.evaluation.votes.display().to_string(),
            settings: options.settings,
            replicates: options.replicates,
            seed: options.seed,
            notes: models.iter().map(|model| model.note(votes.len())).collect(),
            models: models.iter().map(Evaluated::reading).collect(),
            scores: &scores,
            ceiling: ceiling.as_ref(),
        });
    };
    let mut tables = vec![scores_table(&scores, &options.chosen()?, form)];
    tables.extend(ceiling.iter().map(|found| ceiling_table(found, form)));
    table::print(&tables, form)?;
    if let (Some(found), Form::Terminal) = (&ceiling, form) {
        ui::out(&format!("\n{}\n", ceiling_words(found, &scores).join("\n")))?;
    }
    let mut without: Vec<(&str, Vec<&str>)> = Vec::new();
    for cell in scores.iter().flat_map(|score| &score.metrics) {
        let Some(why) = cell.no_interval else { continue };
        match without.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) if names.contains(&cell.metric) => {}
            Some((_, names)) => names.push(cell.metric),
            None => without.push((why, vec![cell.metric])),
        }
    }
    for (why, names) in without {
        ui::note(&format!("no interval of {}: {why}", names.join(", ")));
    }
    for (score, cell) in scores.iter().flat_map(|s| s.metrics.iter().map(move |cell| (s, cell))) {
        let Some(note) = cell.note else { continue };
        let line = format!("{}, {}: {note}", score.model, cell.metric);
        ui::err(&format!("{}\n", paint::warn(&line)));
        if matches!(note, Note::Infinite { .. }) {
            ui::hint("--clip 1e-12 makes it finite");
        }
    }
    Ok(())
}
