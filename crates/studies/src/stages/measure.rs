//! Every metric of a run's stored predictions, on all items and on every slice; of the selected epoch
//! and, under the same name with `.last`, of the last one.

use std::sync::Arc;

use dissensus_measure::{METRICS, Metric as Measured, Scorer, Settings, metric};
use dissensus_report::book::Metric;
use dissensus_store::Which;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Stage, described, settings};
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::study::unknown;
use crate::{Number, StudyError};

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

pub(super) fn read(
    section: &Section<'_>,
    slices: &[SliceRule],
) -> Result<Arc<dyn Stage>, StudyError> {
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
            let (_, judged) = run.judged(which)?;
            let mut score = |slice: &str, judged: &dissensus_measure::Judged| {
                let scorer = Scorer::new(judged, self.settings)?;
                numbers.extend(self.metrics.iter().map(|metric| {
                    let name = settings::named(metric.about.name, which);
                    Number::new(&name, slice, (metric.compute)(&scorer).value)
                }));
                Ok::<(), StudyError>(())
            };
            score("all", &judged)?;
            for rule in &self.slices {
                let items = rule.by.places(judged.truth().entropy())?;
                score(&rule.name, &judged.select(&items)?)?;
            }
        }
        Ok(numbers)
    }
}
