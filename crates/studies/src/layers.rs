//! From a study to runs: the settings of the file, and over them, in this order, those of a dataset,
//! those of an arm, the arm's delivery and votes, those of the study (its scale, overrides), and a
//! point of the grid, without the axes that the arm sets itself. Each combination is checked as a whole; errors name the position of the setting.

use dissensus_train::spec::{Data, Draft, Run, Spec, Votes, selectable};
use dissensus_train::{ConfigError, Place, RunPlan};
use toml::Value;

use crate::file::{Arm, DatasetChoice, Setting, VotesChoice};
use crate::study::Study;

/// One arm on one dataset with one number of votes: runs that differ in their seeds, and in the points
/// of a grid.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    pub(crate) dataset: String,
    pub(crate) arm: String,
    pub(crate) k: Option<u32>,
    pub(crate) seeds: Vec<u64>,
    /// The data to load.
    pub(crate) data: Data,
    /// One run per point; a single one without settings where there is no grid.
    pub(crate) points: Vec<Point>,
    /// How a point is selected; `None` where there is no grid.
    pub(crate) search: Option<Search>,
}

/// A point of the grid.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// Setting and value, as they are written.
    pub(crate) settings: Vec<(String, String)>,
    /// The run of one seed; others differ only in the seed.
    runs: Spec,
}

/// How a point is selected.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub(crate) seed: u64,
    pub(crate) metric: String,
    pub(crate) on: String,
}

impl Outline {
    /// Whether epochs are selected on the part that is judged.
    pub(crate) fn selects_on_judged(&self) -> bool {
        let judged = |spec: &Spec| spec.split.parts.last().is_some_and(|p| *p == spec.selection.on);
        self.points.iter().any(|point| judged(&point.runs))
    }
}

impl Point {
    /// Its runs with these seeds.
    pub(crate) fn runs(&self, seeds: &[u64]) -> Vec<RunPlan> {
        let mut spec = self.runs.clone();
        spec.run.seeds = seeds.to_vec();
        spec.runs()
    }
}

impl Study {
    /// The data of its runs, each once. The numbers of votes are left out: loading does not depend on
    /// them.
    pub fn data(&self) -> Result<Vec<Data>, ConfigError> {
        let mut all: Vec<Data> = Vec::new();
        for outline in self.outlines(None)? {
            if !all.contains(&outline.data) {
                all.push(outline.data);
            }
        }
        Ok(all)
    }

    /// The outlines of these arms (all of them where none is named), in the order of the study.
    pub(crate) fn outlines(&self, only: Option<&[String]>) -> Result<Vec<Outline>, ConfigError> {
        let mut outlines = Vec::new();
        let alone = [None];
        let datasets: Vec<Option<&DatasetChoice>> = match self.datasets.is_empty() {
            true => alone.to_vec(),
            false => self.datasets.iter().map(Some).collect(),
        };
        for dataset in datasets {
            for arm in &self.arms {
                let wanted = only.is_none_or(|only| only.contains(&arm.name));
                let here = dataset.is_none_or(|dataset| {
                    arm.datasets.is_empty() || arm.datasets.contains(&dataset.name)
                });
                if wanted && here {
                    self.arm(dataset, arm, &mut outlines)?;
                }
            }
        }
        Ok(outlines)
    }

    /// How runs are executed, which is the same for all: device, jobs, threads, store, checkpoints.
    /// The seeds are those of arms without their own.
    pub fn run_settings(&self) -> Result<Run, ConfigError> {
        let none = || ConfigError::missing(&self.file, "[[arm]]", "add one");
        let arm = self.arms.first().ok_or_else(none)?;
        Ok(self.draft(self.datasets.first(), arm, None, &[])?.check()?.run)
    }

    fn arm(
        &self,
        dataset: Option<&DatasetChoice>,
        arm: &Arm,
        outlines: &mut Vec<Outline>,
    ) -> Result<(), ConfigError> {
        let entries: Vec<Option<&VotesChoice>> = match &arm.votes {
            Some(votes) => votes.iter().map(Some).collect(),
            None => vec![None],
        };
        let points = match &self.grid {
            Some(grid) => grid.points(&arm.set),
            None => vec![Vec::new()],
        };
        for entry in entries {
            let mut specs = Vec::with_capacity(points.len());
            for point in &points {
                specs.push(self.draft(dataset, arm, entry, point)?.check()?);
            }
            let Some(first) = specs.first().cloned() else { continue };
            let own = entry.and_then(|entry| entry.seeds.as_ref()).or(arm.seeds.as_ref());
            let search = self.search(&first)?;
            for &votes in &first.data.votes {
                let point = |(spec, set): (&Spec, &Vec<Setting>)| {
                    let mut runs = spec.clone();
                    runs.data.votes = vec![votes];
                    let setting = |one: &Setting| (one.path.clone(), written(&one.value));
                    Point { settings: set.iter().map(setting).collect(), runs }
                };
                let mut data = first.data.clone();
                data.votes.clear();
                outlines.push(Outline {
                    dataset: dataset.map_or(first.data.name(), |dataset| &dataset.name).to_owned(),
                    arm: arm.name.clone(),
                    k: match votes {
                        Votes::All => None,
                        Votes::Drawn { per_item, .. } => Some(per_item),
                    },
                    seeds: own.unwrap_or(&first.run.seeds).clone(),
                    data,
                    points: specs.iter().zip(&points).map(point).collect(),
                    search: search.clone(),
                });
            }
        }
        Ok(())
    }

    fn search(&self, spec: &Spec) -> Result<Option<Search>, ConfigError> {
        let Some(grid) = &self.grid else { return Ok(None) };
        let metric = grid.select.clone().unwrap_or_else(|| spec.selection.metric.clone());
        let on = grid.on.clone().unwrap_or_else(|| spec.selection.on.clone());
        let parts = spec.split.parts.get(1..).unwrap_or_default();
        if !parts.contains(&on.as_str()) {
            let known = parts.iter().copied();
            return Err(ConfigError::unknown_name("[grid] on", &on, known, &grid.on_place));
        }
        selectable(&metric, "[grid] select", &grid.select_place)?;
        Ok(Some(Search { seed: grid.seed, metric, on }))
    }

    fn draft(
        &self,
        dataset: Option<&DatasetChoice>,
        arm: &Arm,
        votes: Option<&VotesChoice>,
        point: &[Setting],
    ) -> Result<Draft, ConfigError> {
        let mut draft = self.base.clone();
        let own = |path: &str, value: Value, place: &Place| Setting {
            path: path.to_owned(),
            value,
            place: place.clone(),
        };
        let delivery = Value::String(arm.delivery.clone());
        let delivery = own("delivery.methods", delivery, &arm.delivery_place);
        let votes = votes.map(|choice| {
            let k = choice.k.map_or(Value::String("all".into()), |k| Value::Integer(k.into()));
            own("data.votes_per_item", k, &arm.votes_place)
        });
        let dataset = dataset.map_or(&[][..], |dataset| &dataset.set);
        let first = dataset.iter().chain(&arm.set).chain([&delivery]).chain(&votes);
        first.chain(&self.set).chain(point).try_for_each(|one| draft.set(one))?;
        Ok(draft)
    }
}

/// A value for reports: a text without its quotes.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{BUILTIN, Study};

    /// A run is named by what it is, and results of these studies are published under the names of
    /// their runs: however a study is written, its runs stay the same.
    #[test]
    fn built_in_studies_keep_their_runs() {
        let digest_of = |study: &Study| {
            let outlines = study.outlines(None).unwrap();
            let runs = outlines.iter().map(|outline| {
                let runs = outline.points.iter().map(|point| point.runs(&outline.seeds));
                json!([outline.dataset, outline.arm, outline.k, runs.collect::<Vec<_>>()])
            });
            dissensus_store::digest(&runs.collect())
        };
        let mut found = String::new();
        for builtin in BUILTIN {
            let study = Study::builtin(builtin.name).unwrap();
            found += &format!("{} {:.16}", study.name, digest_of(&study));
            for scale in study.scales.clone() {
                let scaled = study.clone().scaled(&scale.name).unwrap();
                found += &format!(" {} {:.16}", scale.name, digest_of(&scaled));
            }
            found.push('\n');
        }
        assert_eq!(found, RUNS);
    }

    #[test]
    fn what_an_arm_sets_on_a_dataset_is_not_searched() {
        let study = Study::builtin("soft-label").unwrap();
        let outlines = study.outlines(None).unwrap();
        let of = |arm: &str, dataset: &str| {
            let mut here = outlines.iter().filter(|one| one.arm == arm && one.dataset == dataset);
            let (Some(outline), None) = (here.next(), here.next()) else {
                panic!("{arm} {dataset}")
            };
            let rate = outline.points[0].runs(&[0])[0].training.learning_rate;
            (outline.points.len(), rate)
        };
        assert_eq!(of("soft", "chaosnli").0, 108);
        assert_eq!(of("soft_published", "chaosnli"), (1, 1e-3));
        assert_eq!(of("soft_published", "popquorn"), (1, 1e-5));
        assert_eq!(of("hard_published", "popquorn"), (1, 1e-4));
        assert_eq!(of("hard_equal", "popquorn"), of("soft_published", "popquorn"));
    }

    const RUNS: &str = "\
        demo 72141f6755949fbe quick d3abd6cf10e4e85e\n\
        same-target f0f6a9be86c5ab6b quick 2fb5ddfb24c81c5e\n\
        same-target-cifar10n ecff484487ae84cd quick c9ffeb0d9791834f\n\
        same-target-further 6a873094046d2548 quick ba32a38039473dbc\n\
        same-target-why e269cd1865d7dcff quick 831c06742b80447b\n\
        soft-label 824496aa0d40dc01 quick fde5aebf2ae07f8a\n\
        soft-label-encoder 15ee83d525e7ecaa quick e979fa4670ee9c25\n\
        soft-label-further 9ad958740b93a185 quick ddcf69d982fb1469\n\
    ";
}
