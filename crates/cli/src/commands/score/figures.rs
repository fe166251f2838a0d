//! The figures of `dissensus score --svg DIR`.

use std::path::Path;

use dissensus::Evaluated;
use dissensus::io::FileError;
use dissensus::measure::reliability::{Bin, Binning};
use dissensus::measure::{Against, Scorer, Settings};
use dissensus::report::figures::{
    Drawing, Figure, Form, Key, Reliability, ReliabilityBin, ReliabilityCurve, ReliabilityPanel,
    Scatter, ScatterPanel,
};

use crate::judging::number;
use crate::ui;

/// Points of a scatter; more only make the file large. Every n-th item is drawn beyond.
const POINTS: usize = 5_000;

pub(super) fn draw(
    folder: &Path,
    models: &[Evaluated],
    settings: Settings,
    force: bool,
) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| FileError::new(folder, error))?;
    for model in models {
        let scorer = Scorer::new(&model.judged, settings)?;
        let name = file_name(&model.name);
        let svg = reliability(&scorer, &model.name).svg(Form::File);
        save(&folder.join(format!("{name}-reliability.svg")), &svg, force)?;
        let svg = scatter(model)?.svg(Form::File);
        save(&folder.join(format!("{name}-entropy.svg")), &svg, force)?;
    }
    Ok(())
}

fn save(path: &Path, svg: &str, force: bool) -> anyhow::Result<()> {
    ui::files::write_text(path, force, svg)?;
    ui::err(&format!("wrote {}\n", path.display()));
    Ok(())
}

/// A model's name as part of a file's.
fn file_name(name: &str) -> String {
    let fine = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = name.chars().map(fine).collect();
    name.trim_matches(['-', '.']).to_owned()
}

fn reliability(scorer: &Scorer<'_>, name: &str) -> Figure {
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
    let panels = vec![ReliabilityPanel { curves, ..ReliabilityPanel::default() }];
    Figure {
        name: "reliability".into(),
        title: format!("Reliability: {name} (smooth ECE {})", number(error)),
        note: String::new(),
        arms: arms.to_vec(),
        drawing: Drawing::Reliability(Reliability {
            panels,
            x_title: "confidence of the prediction".into(),
            y_title: "what came true".into(),
        }),
    }
}

fn scatter(model: &Evaluated) -> anyhow::Result<Figure> {
    let (x, y) = (model.judged.truth().entropy(), model.judged.entropy());
    let step = x.len().div_ceil(POINTS).max(1);
    let settings = dissensus::stats::correlation::CorrelationSettings::default();
    let spearman = match x.len() {
        0 | 1 => None,
        _ => dissensus::stats::correlation::spearman(x, y, &settings)?.r,
    };
    let most = (model.judged.truth().classes() as f64).ln();
    let point = |(x, y): (&f64, &f64)| (String::new(), *x, *y);
    let points = x.iter().zip(y).step_by(step).map(point).collect();
    let panel = ScatterPanel { points, items: x.len(), ..ScatterPanel::default() };
    Ok(Figure {
        name: "entropy".into(),
        title: format!("Entropy: {} (Spearman {})", model.name, number(spearman)),
        note: String::new(),
        arms: Vec::new(),
        drawing: Drawing::Scatter(Scatter {
            panels: vec![panel],
            x_title: "entropy of the votes (nats)".into(),
            y_title: "entropy of the prediction (nats)".into(),
            diagonal: Some(most),
        }),
    })
}
