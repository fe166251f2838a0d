//! Every metric of a run's stored predictions, on all items and on every slice; of the selected epoch
//! and, under the same name with `.last`, of the last one.

use std::sync::Arc;

use dissensus_measure::{Judged, METRICS, Metric as Measured, Scorer, Settings, metric};
use dissensus_report::book::Metric;
use dissensus_store::Which;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Read, Stage, StageEntry, described, settings};
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::study::unknown;
use crate::{Material, Number, StudyError};

pub(super) const ENTRY: StageEntry = StageEntry {
    name: "measure",
    about: "metrics of the predictions, of the selected epoch and the last",
    always: true,
    keys: &["metrics", "which", "bins"],
    template: r#"[stages.measure]
# "all", or a list of metrics.
# metrics = "all"
# "best" (the selected epoch), "last" or "both"; metrics of the last one end in `.last`.
# which = "both"
# Bins of calibration errors.
# bins = 15
"#,
    read: Read::Stage(read),
};

struct Measure {
    metrics: Vec<&'static Measured>,
    which: Vec<Which>,
    slices: Vec<SliceRule>,
    settings: Settings,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    Word(String),
    List(Vec<String>),
}

fn read(section: &Section<'_>, slices: &[SliceRule]) -> Result<Arc<dyn Stage>, StudyError> {
    const EXPECTED: &str = "\"all\", or a list of metrics";
    let metrics = match section.get("metrics", EXPECTED)? {
        Some(Names::Word(word)) if word != "all" => {
            return Err(section.unexpected("metrics", EXPECTED).into());
        }
        Some(Names::List(names)) => {
            let (key, place) = (section.key("metrics"), section.place("metrics"));
            let known = || METRICS.iter().map(|metric| metric.about.name);
            let find =
                |name: &String| metric(name).ok_or_else(|| unknown(&key, name, known(), &place));
            names.iter().map(find).collect::<Result<_, _>>()?
        }
        // Nothing that is trained on has labels of its own beside the votes.
        _ => METRICS.iter().filter(|metric| metric.about.name != "accuracy_given").collect(),
    };
    let mut scoring = Settings::default();
    scoring.bins =
        settings::count(section, "bins", 1..=Settings::MOST_BINS)?.unwrap_or(scoring.bins);
    let which = settings::which(section, &[Which::Best, Which::Last])?;
    Ok(Arc::new(Measure { metrics, which, slices: slices.to_vec(), settings: scoring }))
}

impl Stage for Measure {
    fn settings(&self) -> Value {
        json!({
            "format": 1,
            "metrics": self.metrics.iter().map(|m| m.about.name).collect::<Vec<_>>(),
            "which": self.which.iter().map(|which| which.name()).collect::<Vec<_>>(),
            "slices": settings::told(&self.slices),
            "bins": self.settings.bins,
        })
    }

    fn metrics(&self) -> Vec<Metric> {
        let each = |&which: &Which| {
            self.metrics.iter().map(move |metric| {
                let mut about = described(metric);
                if about.settings.contains("bins") {
                    about.settings =
                        format!("here {} bins. {}", self.settings.bins, about.settings);
                }
                settings::said(about, which)
            })
        };
        self.which.iter().flat_map(each).collect()
    }

    fn numbers(&self, run: &Finished<'_>) -> Result<Vec<Number>, StudyError> {
        let mut numbers = Vec::new();
        for &which in &self.which {
            let scores = self.scores(&run.judged(which)?.1, None)?;
            numbers.extend(scores.into_iter().map(|score| score.of(which)));
        }
        Ok(numbers)
    }

    fn of_predictions(
        &self,
        _: &Material,
        _: &[usize],
        judged: &Judged,
        only: Option<&[&str]>,
    ) -> Result<Vec<Number>, StudyError> {
        let scores = self.scores(judged, only)?;
        let of = |&which: &Which| scores.iter().map(move |score| score.clone().of(which));
        Ok(self.which.iter().flat_map(of).collect())
    }
}

/// A metric's value on a slice.
#[derive(Clone)]
struct Score {
    metric: &'static str,
    slice: String,
    value: Option<f64>,
}

impl Score {
    fn of(self, which: Which) -> Number {
        Number::new(&settings::named(self.metric, which), &self.slice, self.value)
    }
}

impl Measure {
    /// All metrics, or only these, on all items and on every slice.
    fn scores(&self, judged: &Judged, only: Option<&[&str]>) -> Result<Vec<Score>, StudyError> {
        let mut scores = Vec::new();
        let mut score = |slice: &str, judged: &Judged| {
            let scorer = Scorer::new(judged, self.settings)?;
            let names = self.metrics.iter().map(|metric| (metric, metric.about.name));
            let wanted = names.filter(|(_, name)| only.is_none_or(|only| only.contains(name)));
            scores.extend(wanted.map(|(of, metric)| {
                let value = (of.compute)(&scorer).value;
                Score { metric, slice: slice.to_owned(), value }
            }));
            Ok::<(), StudyError>(())
        };
        score("all", judged)?;
        for rule in &self.slices {
            let items = rule.by.places(judged.truth().entropy())?;
            score(&rule.name, &judged.select(&items)?)?;
        }
        Ok(scores)
    }
}
