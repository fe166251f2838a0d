//! A study: what is compared, on what, how often, and what is made of it.

mod checks;
mod write;

use std::path::Path;
use std::sync::Arc;

use dissensus_report::book::Reference;
use dissensus_report::claims::ClaimSpec;
use dissensus_report::figures::FigureSpec;
use dissensus_report::tables::{TableSpec, Votes};
use dissensus_train::Place;
use dissensus_train::spec::{Draft, setting};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::file::{
    Arm, DatasetChoice, Grid, Layer, Scale, Section, Setting, SliceRule, Text, refuse,
};
use crate::stages::{self, Examiner, Stage, Stages};
use crate::{BUILTIN, StudyError};

/// A checked study. Made by [`Study::parse`], [`Study::read`] or [`Study::builtin`].
#[derive(Clone)]
#[non_exhaustive]
pub struct Study {
    /// How it is referred to, and the name of its folder in a store.
    pub name: String,
    /// For people.
    pub title: String,
    /// What it asks.
    pub about: String,
    /// The scale that was chosen, where one was.
    pub scale: Option<String>,
    /// What is set for all runs, over everything but the grid.
    pub set: Vec<Setting>,
    /// The data sets; none where the spec names the only one.
    pub datasets: Vec<DatasetChoice>,
    /// What is compared.
    pub arms: Vec<Arm>,
    /// A search over settings, for every arm.
    pub grid: Option<Grid>,
    /// Items by how much people disagree on them.
    pub slices: Vec<SliceRule>,
    /// What is made of finished runs, by what they left; stages that look into models are beside
    /// these.
    pub stages: Vec<Arc<dyn Stage>>,
    /// The tables of its report.
    pub tables: Vec<TableSpec>,
    /// The figures of its report.
    pub figures: Vec<FigureSpec>,
    /// What is claimed to come out.
    pub claims: Vec<ClaimSpec>,
    /// Published values to stand beside its own.
    pub references: Vec<Reference>,
    /// Named sets of changes, to choose from.
    pub scales: Vec<Scale>,
    pub(crate) examiners: Vec<Arc<dyn Examiner>>,
    pub(crate) file: String,
    pub(crate) base: Draft,
    spec: toml::Table,
    stage_settings: toml::Table,
}

/// Who gives the text of a file that a study names.
type Open<'a> = &'a dyn Fn(&str) -> Result<String, StudyError>;

impl Study {
    /// Reads and checks a study; `name` is what errors call its file. It cannot name other files.
    pub fn parse(text: &str, name: &str) -> Result<Self, StudyError> {
        let open = |file: &str| -> Result<String, StudyError> {
            Err(StudyError::File {
                path: file.into(),
                source: std::io::Error::other(
                    "a study that is not read from a file cannot name others beside it",
                ),
            })
        };
        Self::with_files(text, name, &open)
    }

    /// Reads and checks a study's file, and the files beside it that it names.
    pub fn read(path: &Path) -> Result<Self, StudyError> {
        let read = |path: &Path| {
            let fail = |source| StudyError::File { path: path.to_owned(), source };
            std::fs::read_to_string(path).map_err(fail)
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        let open = |file: &str| read(&folder.join(file));
        Self::with_files(&read(path)?, &path.display().to_string(), &open)
    }

    /// A built-in study; [`BUILTIN`] lists them.
    pub fn builtin(name: &str) -> Result<Self, StudyError> {
        let Some(found) = BUILTIN.iter().find(|study| study.name == name) else {
            let known = || BUILTIN.iter().map(|study| study.name);
            return Err(StudyError::NoStudy {
                name: name.to_owned(),
                nearest: dissensus_labels::nearest(name, known()).to_owned(),
                known: known().collect::<Vec<_>>().join(", "),
            });
        };
        let open = |file: &str| {
            let text = found.files.iter().find(|(name, _)| *name == file);
            text.map(|(_, text)| (*text).to_owned()).ok_or_else(|| StudyError::File {
                path: file.into(),
                source: std::io::ErrorKind::NotFound.into(),
            })
        };
        Self::with_files(found.text, &format!("the study {name}"), &open)
    }

    fn with_files(text: &str, name: &str, open: Open<'_>) -> Result<Self, StudyError> {
        let text = Text { name, text };
        let parsed = text.parse()?;
        let root = Section::root(text, &parsed);
        root.known(&[
            "study",
            "spec",
            "dataset",
            "arm",
            "grid",
            "slice",
            "stages",
            "table",
            "figure",
            "claim",
            "reference",
            "scale",
        ])?;
        let Some(head) = root.table("study")? else {
            return Err(missing(name, "[study]", "begin it with [study] and a name"));
        };
        head.known(&["name", "title", "about", "references", "scale", "set"])?;
        let own = head.name("name")?;
        if !is_file_name(&own) {
            return Err(head.unexpected("name", FILE_NAME));
        }
        let title = head.words("title")?;
        let mut set = Vec::new();
        if let Some(node) = head.node("set") {
            set = crate::file::settings(&Section::new(text, "[study] set", node)?)?;
            set.iter().try_for_each(|one| refuse(Layer::Study, &one.path, &one.place))?;
        }
        let empty = toml::de::DeTable::default();
        let spec = root.table("spec")?;
        let base = Draft::of_table(text.text, name, spec.as_ref().map_or(&empty, Section::de))?;
        if let Some(place) = base.place("delivery.methods") {
            refuse(Layer::Base, "delivery.methods", place)?;
        }
        let each = |key: &str| root.list(key);
        let slices = each("slice")?.iter().map(SliceRule::read).collect::<Result<Vec<_>, _>>()?;
        let stage_nodes = root.table("stages")?;
        let Stages { stages, examiners } = stages::read(stage_nodes.as_ref(), &slices)?;
        let mut references: Vec<Reference> = Vec::new();
        for section in each("reference")? {
            references.push(typed(&section)?);
        }
        if let Some(file) = head.get::<String>("references", "the name of a file")? {
            references.extend(read_references(&file, &open(&file)?)?);
        }
        let table = |key: &str| root.node(key).map(|node| text.read(node)).transpose();
        let study = Self {
            title: if title.is_empty() { own.clone() } else { title },
            name: own,
            about: head.words("about")?,
            scale: head.get("scale", "the name of a scale")?,
            set,
            datasets: each("dataset")?.iter().map(DatasetChoice::read).collect::<Result<_, _>>()?,
            arms: each("arm")?.iter().map(Arm::read).collect::<Result<_, _>>()?,
            grid: root.table("grid")?.as_ref().map(Grid::read).transpose()?,
            slices,
            stages,
            tables: each("table")?.iter().map(typed).collect::<Result<_, _>>()?,
            figures: each("figure")?.iter().map(typed).collect::<Result<_, _>>()?,
            claims: each("claim")?.iter().map(typed).collect::<Result<_, _>>()?,
            references,
            scales: scales(&root)?,
            examiners,
            file: name.to_owned(),
            base,
            spec: table("spec")?.unwrap_or_default(),
            stage_settings: table("stages")?.unwrap_or_default(),
        };
        checks::check(&study, &root)?;
        Ok(study)
    }

    /// The same study at one of its scales.
    pub fn scaled(mut self, name: &str) -> Result<Self, StudyError> {
        let Some(scale) = self.scales.iter().find(|scale| scale.name == name).cloned() else {
            let known: Vec<&str> = self.scales.iter().map(|scale| scale.name.as_str()).collect();
            return Err(match known.is_empty() {
                true => missing(&self.file, "[scale.…]", "use it as it is"),
                false => unknown("the scale", name, known.into_iter(), &Place::Call),
            });
        };
        self.set.extend(scale.set);
        if let Some(grid) = &mut self.grid {
            for narrowed in scale.grid {
                for axis in grid.axes.iter_mut().filter(|axis| axis.path == narrowed.path) {
                    axis.values.clone_from(&narrowed.values);
                }
            }
        }
        if !scale.ks.is_empty() {
            self.keep_votes(&scale.ks);
        }
        self.scale = Some(scale.name);
        self.scales.clear();
        let study = self.checked()?;
        match scale.seeds {
            Some(seeds) => study.limited(seeds),
            None => Ok(study),
        }
    }

    /// Leaves only these numbers of votes of arms that name theirs; tables, figures and claims that
    /// were only about others go.
    fn keep_votes(&mut self, ks: &[Option<u32>]) {
        for votes in self.arms.iter_mut().filter_map(|arm| arm.votes.as_mut()) {
            votes.retain(|choice| ks.contains(&choice.k));
        }
        self.arms.retain(|arm| arm.votes.as_ref().is_none_or(|votes| !votes.is_empty()));
        let narrowed = |own: &mut Vec<Votes>| {
            let named = !own.is_empty();
            own.retain(|votes| ks.contains(&votes.0));
            !named || !own.is_empty()
        };
        self.tables.retain_mut(|table| narrowed(&mut table.ks));
        self.figures.retain_mut(|figure| narrowed(&mut figure.ks));
        self.claims.retain_mut(|claim| narrowed(&mut claim.ks));
    }

    /// The same study with at most so many seeds for every arm.
    pub fn limited(mut self, seeds: u64) -> Result<Self, StudyError> {
        let most = usize::try_from(seeds).unwrap_or(usize::MAX).max(1);
        let default = self.run_settings()?.seeds;
        for arm in &mut self.arms {
            for choice in arm.votes.iter_mut().flatten() {
                choice.seeds.iter_mut().for_each(|seeds| seeds.truncate(most));
            }
            arm.seeds.get_or_insert_with(|| default.clone()).truncate(most);
        }
        Ok(self)
    }

    /// The same study with these seeds for every arm.
    pub fn seeded(mut self, seeds: &[u64]) -> Self {
        for arm in &mut self.arms {
            for choice in arm.votes.iter_mut().flatten() {
                choice.seeds = None;
            }
            arm.seeds = Some(seeds.to_vec());
        }
        self
    }

    /// The same study with keys of the spec set for all runs, as in `training.epochs=20`.
    pub fn with_overrides(mut self, overrides: &[String]) -> Result<Self, StudyError> {
        for given in overrides {
            let (path, value) = setting(given)?;
            let place = Place::Override(given.clone());
            refuse(Layer::Study, &path, &place)?;
            self.set.push(Setting { path, value, place });
        }
        self.checked()
    }

    /// Checks again that every run can be made.
    fn checked(self) -> Result<Self, StudyError> {
        self.outlines(None)?;
        Ok(self)
    }

    /// The study as TOML, with all that was set and chosen; it can be read again, and gives the same
    /// runs.
    pub fn to_toml(&self) -> String {
        write::toml(self, &self.spec, &self.stage_settings)
    }

    /// What the metrics of its results are, and how they are made.
    pub fn metrics(&self) -> Vec<dissensus_report::book::Metric> {
        let examined = self.examiners.iter().flat_map(|stage| stage.metrics());
        self.stages.iter().flat_map(|stage| stage.metrics()).chain(examined).collect()
    }
}

impl std::fmt::Debug for Study {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Study({})", self.name)
    }
}

const FILE_NAME: &str = "a name of letters, digits, dashes and underscores, at most 60";

/// Whether this can be the name of a study, a table or a figure, which are names of files.
pub(crate) fn is_file_name(name: &str) -> bool {
    let sign = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    (1..=60).contains(&name.len()) && name.chars().all(sign) && !name.starts_with('-')
}

pub(crate) fn missing(study: &str, key: &str, remedy: &str) -> StudyError {
    let (study, key, remedy) = (study.to_owned(), key.to_owned(), remedy.to_owned());
    StudyError::Missing { study, key, remedy }
}

/// That a name is not in a list.
pub(crate) fn unknown<'a>(
    key: &str,
    found: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    place: &Place,
) -> StudyError {
    StudyError::UnknownName {
        key: key.to_owned(),
        found: found.to_owned(),
        nearest: dissensus_labels::nearest(found, known.clone()).to_owned(),
        known: known.collect::<Vec<_>>().join(", "),
        place: place.clone(),
    }
}

/// A table that is read as a type of the report. The type's own fields are the known keys.
fn typed<T: Default + Serialize + DeserializeOwned>(
    section: &Section<'_, '_, '_>,
) -> Result<T, StudyError> {
    let fields = serde_json::to_value(T::default()).unwrap_or_default();
    let keys: Vec<&str> = fields.as_object().into_iter().flatten().map(|(key, _)| &**key).collect();
    section.known(&keys)?;
    section.read()
}

/// The published values in a file of their own, which holds nothing else.
fn read_references(name: &str, content: &str) -> Result<Vec<Reference>, StudyError> {
    let text = Text { name, text: content };
    let parsed = text.parse()?;
    let root = Section::root(text, &parsed);
    root.known(&["reference"])?;
    root.list("reference")?.iter().map(typed).collect()
}

fn scales(root: &Section<'_, '_, '_>) -> Result<Vec<Scale>, StudyError> {
    let Some(section) = root.table("scale")? else { return Ok(Vec::new()) };
    let each = |(name, _, node): crate::file::Entry<'_, '_>| {
        Scale::read(name, &Section::new(root.text, format!("[scale.{name}]"), node)?)
    };
    section.entries().into_iter().map(each).collect()
}
