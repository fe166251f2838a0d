//! Figures of votes and of evaluated models: entropy, reliability diagrams, entropy scatters.

use std::path::{Path, PathBuf};

use dissensus_io::FileError;
use dissensus_measure::reliability::{Bin, Binning};
use dissensus_measure::{Against, Scorer, Settings};
use dissensus_report::figures::{Figure, Form, Key, ReliabilityBin, ReliabilityCurve};
use dissensus_report::plain::format_number;
use dissensus_stats::correlation::{CorrelationSettings, spearman};
use dissensus_votes::summary::{BINS, Summary};

use crate::files::{plain_name, write_bytes};
use crate::{Error, Evaluated, ScoreError};

/// Points of a scatter; more only make the file large. Every n-th item is drawn beyond.
const POINTS: usize = 5_000;

/// The figures of a model with their names: `reliability` and `entropy`.
pub fn model_figures(model: &Evaluated, settings: Settings) -> Result<[Figure; 2], ScoreError> {
    let scorer = model.scorer(settings)?;
    Ok([reliability_figure(&scorer, &model.name), scatter(model)?])
}

/// Draws the figures of a model into a folder as SVG files, which are named after the model.
pub fn write_model_figures(
    model: &Evaluated,
    folder: &Path,
    settings: Settings,
    force: bool,
) -> Result<Vec<PathBuf>, Error> {
    let name = plain_name(&model.name, '-');
    let drawn = model_figures(model, settings)?.map(|figure| {
        let path = folder.join(format!("{}-{}.svg", name.trim_matches(['-', '.']), figure.name));
        let svg = figure.svg(Form::File);
        write_bytes(&path, force, svg.as_bytes()).map(|()| path)
    });
    Ok(drawn.into_iter().collect::<Result<_, FileError>>()?)
}

/// The reliability diagram of a model: bins of equal mass and smooth curves, against the majority label and
/// against the share of the votes.
pub fn reliability_figure(scorer: &Scorer<'_>, name: &str) -> Figure {
    let binned = |against| {
        let curve = scorer.reliability(Binning::Mass, against).into_iter();
        let bin = |bin: Bin| ReliabilityBin::of_run(bin.confidence, bin.outcome, bin.items as u64);
        curve.map(bin).collect()
    };
    // Beyond the confidences that there are, a smooth curve only repeats its ends.
    let confidence = scorer.judged().confidence();
    let low = confidence.iter().copied().fold(1.0, f64::min);
    let high = confidence.iter().copied().fold(0.0, f64::max);
    let smooth = |against| {
        let curve = scorer.smooth_curve(against, 201);
        let inside = curve.into_iter().filter(|p| (low..=high).contains(&p.confidence));
        inside.map(|point| (point.confidence, point.outcome)).collect()
    };
    let error = scorer.smooth(Against::Majority).map(|s| s.error);
    let arms = ["majority label", "share of the votes"];
    let arms = [0, 1].map(|look| Key { name: arms[look].into(), title: arms[look].into(), look });
    let curve = |look: usize, against| ReliabilityCurve {
        key: arms[look].clone(),
        bins: binned(against),
        smooth: smooth(against),
        ..ReliabilityCurve::default()
    };
    let curves = vec![curve(0, Against::Majority), curve(1, Against::Human)];
    let title = format!("Reliability: {name} (smooth ECE {})", format_number(error));
    let titles = ["confidence of the prediction", "what came true"];
    Figure::reliability("reliability", title, curves, titles)
}

fn scatter(model: &Evaluated) -> Result<Figure, ScoreError> {
    let (x, y) = (model.judged.truth().entropy(), model.judged.entropy());
    let step = x.len().div_ceil(POINTS).max(1);
    let settings = CorrelationSettings::default();
    let rank = match x.len() {
        0 | 1 => None,
        _ => spearman(x, y, &settings)?.r,
    };
    let most = (model.judged.truth().classes() as f64).ln();
    let points = x.iter().copied().zip(y.iter().copied()).step_by(step);
    let title = format!("Entropy: {} (Spearman {})", model.name, format_number(rank));
    let titles = ["entropy of the votes (nats)", "entropy of the prediction (nats)"];
    Ok(Figure::agreement("entropy", title, points, titles, most))
}

/// A histogram of how much people disagree on the items of a vote file.
pub fn votes_figure(file: &str, summary: &Summary) -> Figure {
    let entropy = summary.entropy.as_ref();
    let mean = entropy.and_then(|e| e.mean_normalized);
    let counts = entropy.map_or(vec![0; BINS], |e| e.histogram.clone());
    let mark = mean.map(|mean| (mean, format!("mean {mean:.3}")));
    let title = format!("How much people disagree: {file}");
    let titles = ["entropy of an item's votes, divided by its largest value", "items"];
    Figure::counts("entropy", title, counts, mark, titles)
}
