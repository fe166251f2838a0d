//! A study: what is compared, on which data, with how many seeds, and the report of it.

mod checks;
mod write;

use std::path::Path;

use dissensus_report::book::{Opening, Reference};
use dissensus_report::claims::ClaimSpec;
use dissensus_report::figures::FigureSpec;
use dissensus_report::tables::{Dimension, TableSpec, Votes};
use dissensus_train::spec::{Draft, SECTIONS, overrides, translate_stored};
use dissensus_train::{ConfigError, Place};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::file::{
    Arm, DatasetChoice, Entry, Grid, Layer, Part, Scale, Section, Setting, SliceRule, Text,
    is_file_name, refuse,
};
use crate::stages::{self, Stages};
use crate::{BUILTIN, StudyError};

/// A checked study. Made by [`Study::parse`], [`Study::read`] or [`Study::builtin`].
#[derive(Clone)]
#[non_exhaustive]
pub struct Study {
    /// Its name, which is also that of its folder in a store.
    pub name: String,
    /// Its title in reports.
    pub title: String,
    /// What it compares and why, in a paragraph.
    pub about: String,
    /// What its page opens with.
    pub opening: Opening,
    /// The chosen scale, if any.
    pub scale: Option<String>,
    /// Settings of all runs, over all others but the grid.
    pub set: Vec<Setting>,
    /// The datasets; none where `[data]` names the only one.
    pub datasets: Vec<DatasetChoice>,
    /// What is compared.
    pub arms: Vec<Arm>,
    /// A search over settings, for each arm.
    pub grid: Option<Grid>,
    /// Items by how much annotators disagree on them.
    pub slices: Vec<SliceRule>,
    /// The tables of its report.
    pub tables: Vec<TableSpec>,
    /// The figures of its report.
    pub figures: Vec<FigureSpec>,
    /// The claims that it tests.
    pub claims: Vec<ClaimSpec>,
    /// Published values to compare with.
    pub references: Vec<Reference>,
    /// Named sets of changes to choose from.
    pub scales: Vec<Scale>,
    /// Which defaults settings of its runs have; `None` where it states them all.
    pub(crate) defaults: Option<Defaults>,
    /// What is computed of its runs.
    pub(crate) stages: Stages,
    pub(crate) file: String,
    pub(crate) base: Draft,
    spec: toml::Table,
    stage_settings: toml::Table,
}

/// Which defaults settings of runs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub(crate) enum Defaults {
    /// Those before there were recipes: no augmentation, SGD for every model.
    One,
    /// The recipes of data and models.
    Two,
}

impl TryFrom<u8> for Defaults {
    type Error = String;

    fn try_from(version: u8) -> Result<Self, String> {
        [Self::One, Self::Two]
            .into_iter()
            .find(|known| u8::from(*known) == version)
            .ok_or_else(|| format!("{version} is no version of defaults"))
    }
}

impl From<Defaults> for u8 {
    fn from(defaults: Defaults) -> Self {
        match defaults {
            Defaults::One => 1,
            Defaults::Two => 2,
        }
    }
}

impl Defaults {
    /// What the first version set where a study does not.
    fn first() -> [(&'static str, Value); 2] {
        [
            ("training.augment", Value::Boolean(false)),
            ("training.optimizer", Value::String("sgd".to_owned())),
        ]
    }

    /// Whether settings of these runs depend on them.
    fn matter(base: &Draft) -> bool {
        Self::first().iter().any(|(path, _)| base.get(path).is_none())
    }

    fn fill_in(self, base: &mut Draft) -> Result<(), ConfigError> {
        for (path, value) in Self::first() {
            if self == Self::One && base.get(path).is_none() {
                let (path, place) = (path.to_owned(), Place::Call);
                base.set(&Setting { path, value, place })?;
            }
        }
        Ok(())
    }
}

/// Gives the text of a file that a study names.
type Open<'a> = &'a dyn Fn(&str) -> Result<String, StudyError>;

/// Who wrote the text of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Author {
    /// A user: whatever has no effect is refused.
    User,
    /// This program, or an earlier version of it.
    Program,
}

impl Study {
    /// Reads and checks a study; `name` is the name of its file in errors. It cannot name other files.
    pub fn parse(text: &str, name: &str) -> Result<Self, StudyError> {
        Self::parse_as(text, name, Author::User)
    }

    /// Checks a study whose sections are those of a JSON object, with the keys of a file. Errors name lines
    /// of [`to_toml`](Self::to_toml)'s form of it.
    pub fn from_json(study: &serde_json::Value, name: &str) -> Result<Self, StudyError> {
        let wrong = |reason: String| StudyError::Json { name: name.to_owned(), reason };
        if let Some(key) = null_in(study) {
            return Err(wrong(format!("{key} is null; leave it out")));
        }
        let text = toml::to_string(study).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&text, name)
    }

    fn parse_as(text: &str, name: &str, author: Author) -> Result<Self, StudyError> {
        let open = |file: &str| -> Result<String, StudyError> {
            Err(StudyError::File {
                path: file.into(),
                source: std::io::Error::other(
                    "a study that is not read from a file cannot name other files",
                ),
            })
        };
        Self::with_files(text, name, author, &open)
    }

    /// Reads and checks the file of a study, and the files next to it that it names. A training spec is
    /// a study, too: each of its methods is an arm, and its name is that of the file.
    pub fn read(path: &Path) -> Result<Self, StudyError> {
        Self::read_as(path, Author::User)
    }

    /// The same for a file that a program wrote: that of a study with its results, by this version or
    /// an earlier one.
    pub fn read_stored(path: &Path) -> Result<Self, StudyError> {
        Self::read_as(path, Author::Program)
    }

    fn read_as(path: &Path, author: Author) -> Result<Self, StudyError> {
        let read = |path: &Path| {
            let fail = |source| StudyError::File { path: path.to_owned(), source };
            std::fs::read_to_string(path).map_err(fail)
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        let open = |file: &str| read(&folder.join(file));
        Self::with_files(&read(path)?, &path.display().to_string(), author, &open)
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
        Self::parse(found.text, &format!("the study {name}"))
    }

    /// Reads and checks a study that is stored with its results, by this version or an earlier one.
    pub fn parse_stored(text: &str, name: &str) -> Result<Self, StudyError> {
        Self::parse_as(text, name, Author::Program)
    }

    fn with_files(
        text: &str,
        name: &str,
        author: Author,
        open: Open<'_>,
    ) -> Result<Self, StudyError> {
        let text = match author {
            Author::User => text.to_owned(),
            Author::Program => translate_stored(text),
        };
        let text = Text { name, text: &text };
        let parsed = text.parse()?;
        let root = Section::root(text, &parsed);
        let mut base = Draft::of_file(&root)?;
        let head = root.table("study")?.unwrap_or_else(|| Section::empty(text, "[study]"));
        let part = Part::new(&head, "study")?;
        let defaults = part.checked("defaults", |version: u8| Defaults::try_from(version).ok())?;
        let defaults = defaults.unwrap_or(match author {
            Author::User => Defaults::Two,
            Author::Program => Defaults::One,
        });
        let named = Defaults::matter(&base).then_some(defaults);
        defaults.fill_in(&mut base)?;
        let own = match root.node("study") {
            Some(_) => part.name(is_file_name)?,
            None => name_of_file(name),
        };
        let mut spec = toml::Table::new();
        for (section, _, node) in root.entries() {
            if SECTIONS.contains(&section) {
                spec.insert(section.to_owned(), text.read(node)?);
            }
        }
        let mut arms = each(&root, "arm", Arm::read)?;
        let mut tables: Vec<TableSpec> = each(&root, "table", typed)?;
        if let Some((methods, place)) = base.get("delivery.methods") {
            if !arms.is_empty() {
                refuse(Layer::Study, "delivery.methods", place)?;
            }
            // Without arms, each method is one, and there is a table of them.
            let methods = methods.as_array().map_or(std::slice::from_ref(methods), Vec::as_slice);
            let methods = methods.iter().filter_map(Value::as_str);
            arms = methods.map(|method| Arm::of_method(method, place)).collect();
            if tables.is_empty() {
                tables.push(default_table());
            }
            if let Some(Value::Table(delivery)) = spec.get_mut("delivery") {
                delivery.remove("methods");
            }
        }
        let slices = each(&root, "slice", SliceRule::read)?;
        let stages = stages::read(text, root.table("stages")?.as_ref(), &slices)?;
        let mut references = each(&root, "reference", typed)?;
        if let Some(file) = part.get::<String>("references")? {
            references.extend(read_references(&file, &open(&file)?)?);
        }
        let stage_settings = root.node("stages").map(|node| text.read(node)).transpose()?;
        let study = Self {
            title: part.title(&own)?,
            name: own,
            about: head.words("about")?,
            opening: Opening {
                question: head.words("question")?,
                claim: part.get("main_claim")?,
                figure: part.get("main_figure")?,
            },
            scale: part.get("scale")?,
            set: part.set(Layer::Study)?,
            datasets: each(&root, "dataset", DatasetChoice::read)?,
            arms,
            grid: root.table("grid")?.as_ref().map(Grid::read).transpose()?,
            slices,
            stages,
            tables,
            figures: each(&root, "figure", typed)?,
            claims: each(&root, "claim", typed)?,
            defaults: named,
            references,
            scales: scales(&root)?,
            file: name.to_owned(),
            base,
            spec,
            stage_settings: stage_settings.unwrap_or_default(),
        };
        checks::check(&study, &root, author)?;
        Ok(study)
    }

    /// The same study at one of its scales.
    pub fn scaled(mut self, name: &str) -> Result<Self, StudyError> {
        let Some(scale) = self.scales.iter().find(|scale| scale.name == name).cloned() else {
            let known: Vec<&str> = self.scales.iter().map(|scale| scale.name.as_str()).collect();
            return Err(match known.is_empty() {
                true => ConfigError::missing(&self.file, "scales", "run it without one").into(),
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

    /// Keeps only these numbers of votes of arms that list theirs, and removes tables, figures and
    /// claims that are only about others.
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
        self.claims.retain_mut(|claim| narrowed(&mut claim.ks) && narrowed(&mut claim.than_ks));
        let Self { opening, figures, claims, .. } = self;
        opening.figure.take_if(|name| figures.iter().all(|figure| figure.name != *name));
        opening.claim.take_if(|name| claims.iter().all(|claim| claim.name != *name));
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

    /// The same study with overrides for all runs, as in `training.epochs=20`.
    pub fn with_overrides(self, given: &[String]) -> Result<Self, StudyError> {
        let settings: Result<Vec<_>, _> = given.iter().map(|one| overrides(one)).collect();
        self.with_settings(settings?.concat())
    }

    /// The same study with these settings for all runs.
    pub fn with_settings(mut self, settings: Vec<Setting>) -> Result<Self, StudyError> {
        settings.iter().try_for_each(|one| refuse(Layer::Study, &one.path, &one.place))?;
        self.set.extend(settings);
        self.checked()
    }

    /// Checks again that all runs are valid.
    fn checked(self) -> Result<Self, StudyError> {
        self.outlines(None)?;
        Ok(self)
    }

    /// The study as TOML, with all that was set and chosen; read again, it gives the same runs.
    pub fn to_toml(&self) -> String {
        write::toml(self, &self.spec, &self.stage_settings)
    }

    /// The metrics of its results, and how they are computed.
    pub fn metrics(&self) -> Vec<dissensus_report::book::Metric> {
        self.stages.metrics()
    }
}

impl std::fmt::Debug for Study {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Study({})", self.name)
    }
}

/// The key of a null, which TOML does not have.
fn null_in(value: &serde_json::Value) -> Option<String> {
    use serde_json::Value;
    let below = |key: String, value: &Value| match value {
        Value::Null => Some(key),
        value => null_in(value).map(|inner| format!("{key}.{inner}")),
    };
    match value {
        Value::Object(object) => object.iter().find_map(|(key, value)| below(key.clone(), value)),
        Value::Array(values) => {
            values.iter().enumerate().find_map(|(at, value)| below(at.to_string(), value))
        }
        _ => None,
    }
}

/// The name of a study without `[study]`: that of its file, in letters that a name can have.
fn name_of_file(file: &str) -> String {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = stem.chars().map(plain).take(60).collect();
    match name.trim_matches('-') {
        "" => "study".to_owned(),
        name => name.to_owned(),
    }
}

/// The table of a study that has no arms of its own.
fn default_table() -> TableSpec {
    TableSpec {
        name: "main".to_owned(),
        title: "All deliveries".to_owned(),
        down: vec![Dimension::K, Dimension::Arm],
        metrics: ["soft_nll", "kl", "accuracy", "ece_mass"].map(str::to_owned).to_vec(),
        ..TableSpec::default()
    }
}

/// That a name is not in a list.
pub(crate) fn unknown<'a>(
    key: &str,
    found: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    place: &Place,
) -> StudyError {
    ConfigError::unknown_name(key, found, known, place).into()
}

/// The tables of an array of tables, each read in the same way.
fn each<T>(
    root: &Section<'_>,
    key: &str,
    read: impl Fn(&Section<'_>) -> Result<T, ConfigError>,
) -> Result<Vec<T>, ConfigError> {
    root.list(key)?.iter().map(read).collect()
}

/// A table that is read as a type of the report. The type's own fields are the known keys.
fn typed<T: Default + Serialize + DeserializeOwned>(
    section: &Section<'_>,
) -> Result<T, ConfigError> {
    let fields = serde_json::to_value(T::default()).unwrap_or_default();
    let keys: Vec<&str> = fields.as_object().into_iter().flatten().map(|(key, _)| &**key).collect();
    section.known(&keys)?;
    section.read()
}

/// The published values in a separate file, which holds nothing else.
fn read_references(name: &str, content: &str) -> Result<Vec<Reference>, ConfigError> {
    let text = Text { name, text: content };
    let parsed = text.parse()?;
    let root = Section::root(text, &parsed);
    root.known(&["reference"])?;
    each(&root, "reference", typed)
}

fn scales(root: &Section<'_>) -> Result<Vec<Scale>, ConfigError> {
    let Some(section) = root.table("scale")? else { return Ok(Vec::new()) };
    let each = |(name, _, node): Entry<'_>| {
        Scale::read(name, &Section::new(root.text, format!("[scale.{name}]"), node)?)
    };
    section.entries().into_iter().map(each).collect()
}
