//! Every metric of a run's stored predictions, on all items and on every slice; of the selected epoch
//! and, under the same name with `.last`, of the last one.

use std::sync::Arc;

use dissensus_measure::{METRICS, Metric as Measured, Scorer, Settings, metric};
use dissensus_report::book::Metric;
use dissensus_store::Which;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Info, Made, Stage, described, settings};
use crate::file::{Section, SliceRule};
use crate::finished::Finished;
use crate::study::unknown;
use crate::{Number, StudyError, slices};

pub(super) const INFO: Info = Info {
    name: "measure",
    about: "metrics of the predictions, of the selected epoch and the last",
    always: true,
    read,
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

fn read(section: Option<&Section<'_, '_, '_>>, slices: &[SliceRule]) -> Result<Made, StudyError> {
    const METRICS_EXPECTED: &str = "\"all\", or a list of metrics";
    const BINS: &str = "a whole number from 1 to 1000";
    // Nothing that is trained on has labels of its own beside the votes.
    let all = || METRICS.iter().filter(|metric| metric.about.name != "accuracy_given").collect();
    let mut stage = Measure {
        metrics: all(),
        which: vec![Which::Best, Which::Last],
        slices: slices.to_vec(),
        settings: Settings::default(),
    };
    let Some(section) = section else { return Ok(Made::Stage(Arc::new(stage))) };
    section.known(&["metrics", "which", "bins"])?;
    match section.get("metrics", METRICS_EXPECTED)? {
        None => {}
        Some(Names::Word(word)) if word == "all" => {}
        Some(Names::Word(_)) => return Err(section.unexpected("metrics", METRICS_EXPECTED).into()),
        Some(Names::List(names)) => {
            let find = |name: &String| {
                let known = METRICS.iter().map(|metric| metric.about.name);
                let place = section.place("metrics");
                metric(name).ok_or_else(|| unknown(&section.key("metrics"), name, known, &place))
            };
            stage.metrics = names.iter().map(find).collect::<Result<_, _>>()?;
        }
    }
    stage.which = settings::which(section, stage.which)?;
    if let Some(bins) = section.get::<usize>("bins", BINS)? {
        if !(1..=Settings::MOST_BINS).contains(&bins) {
            return Err(section.unexpected("bins", BINS).into());
        }
        stage.settings.bins = bins;
    }
    Ok(Made::Stage(Arc::new(stage)))
}

impl Stage for Measure {
    fn name(&self) -> &'static str {
        INFO.name
    }

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
                numbers.extend(self.metrics.iter().map(|metric| Number {
                    metric: settings::named(metric.about.name, which),
                    slice: slice.to_owned(),
                    value: (metric.compute)(&scorer).value.filter(|value| !value.is_nan()),
                }));
                Ok::<(), StudyError>(())
            };
            score("all", &judged)?;
            for rule in &self.slices {
                let items = slices::items(rule, judged.truth().entropy())?;
                score(&rule.name, &judged.select(&items)?)?;
            }
        }
        Ok(numbers)
    }
}
