//! The parts of a study: data sets, arms, the grid, slices, scales.

use dissensus_examine::Slice;
use dissensus_train::Place;
use serde::{Deserialize, Serialize};

use super::{Layer, Section, Setting, refuse, settings};
use crate::StudyError;

/// A data set of a study.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DatasetChoice {
    /// As results call it.
    pub name: String,
    /// For people.
    pub title: String,
    /// What its classes are called in a report, in their order; empty for their own names.
    pub classes: Vec<String>,
    /// What it changes in the spec.
    pub set: Vec<Setting>,
    pub(crate) classes_place: Place,
}

/// A number of votes of an arm, with seeds of its own where it has any.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VotesChoice {
    /// Votes an item; `None` for all.
    pub k: Option<u32>,
    /// Its seeds; `None` for the arm's.
    pub seeds: Option<Vec<u64>>,
}

/// One thing that is compared.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Arm {
    /// As results call it.
    pub name: String,
    /// For people.
    pub title: String,
    /// How it differs from the others.
    pub about: String,
    /// How the target reaches the loss, as in `sls:every=5`.
    pub delivery: String,
    /// Numbers of votes; `None` for those of the spec.
    pub votes: Option<Vec<VotesChoice>>,
    /// The seeds; `None` for those of the spec.
    pub seeds: Option<Vec<u64>>,
    /// What it changes in the spec.
    pub set: Vec<Setting>,
    /// Only on these data sets; empty for all.
    pub datasets: Vec<String>,
    pub(crate) delivery_place: Place,
    pub(crate) votes_place: Place,
    pub(crate) datasets_place: Place,
}

/// An axis of a grid.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Axis {
    /// The key, named with its section.
    pub path: String,
    /// Its values, in order.
    pub values: Vec<toml::Value>,
    pub(crate) place: Place,
}

/// A search over settings, for every arm.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Grid {
    /// The axes; the last runs fastest.
    pub axes: Vec<Axis>,
    /// The metric that selects; `None` for that which selects an epoch.
    pub select: Option<String>,
    /// The part of the split it is measured on; `None` for that which selects an epoch.
    pub on: Option<String>,
    /// The seed of the search.
    pub seed: u64,
    pub(crate) select_place: Place,
    pub(crate) on_place: Place,
}

/// Items by how much people disagree on them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SliceRule {
    /// As results call it.
    pub name: String,
    /// Which items.
    pub by: SliceBy,
}

/// Which of the items that a run is judged on are in a slice, by annotator entropy in nats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SliceBy {
    /// This share of them with the highest entropies, rounded up. Equal entropies are never parted:
    /// all items that are equal to the lowest of these come along.
    Top(f64),
    /// Those with an entropy above this.
    Above(f64),
}

impl SliceBy {
    /// As it is asked of models.
    pub(crate) fn slice(self) -> Slice {
        match self {
            Self::Top(share) => Slice::Top(share),
            Self::Above(bound) => Slice::Above(bound),
        }
    }
}

/// A named set of changes to all runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scale {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// What it changes in the spec.
    pub set: Vec<Setting>,
    /// At most so many seeds an arm.
    pub seeds: Option<u64>,
    /// Only these numbers of votes (`None`: all); empty for those that there are.
    pub ks: Vec<Option<u32>>,
    /// Fewer values on these axes of the grid.
    pub grid: Vec<Axis>,
}

const SEEDS: &str = "how many (at least 1), or a list of whole numbers, at least 0, none twice";
const VOTES: &str = "a list of numbers of votes, \"all\", and tables as in { k = 5, seeds = 3 }, \
                     none twice";
const NAMES: &str = "a list of names";
const VALUES: &str = "a list of values, none twice";
const MOST_SEEDS: u64 = 10_000;

/// A number, or a list.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Seeds {
    Count(u64),
    List(Vec<u64>),
}

impl Seeds {
    fn list(self) -> Option<Vec<u64>> {
        let list = match self {
            Self::Count(count) if count <= MOST_SEEDS => (0..count).collect(),
            Self::Count(_) => return None,
            Self::List(list) => list,
        };
        let fits = |&seed: &u64| i64::try_from(seed).is_ok();
        let twice = list.iter().enumerate().any(|(at, seed)| list[..at].contains(seed));
        (!list.is_empty() && !twice && list.iter().all(fits)).then_some(list)
    }
}

/// A number of votes, or `"all"`.
#[derive(Deserialize)]
#[serde(untagged)]
enum One {
    Number(u32),
    Text(String),
}

impl One {
    fn k(self) -> Option<Option<u32>> {
        match self {
            Self::Number(k) if k > 0 => Some(Some(k)),
            Self::Text(text) if text == "all" => Some(None),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum VotesEntry {
    One(One),
    With(With),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct With {
    k: OneOrMore,
    seeds: Seeds,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(One),
    More(Vec<One>),
}

fn votes(entries: Vec<VotesEntry>) -> Option<Vec<VotesChoice>> {
    let mut all: Vec<VotesChoice> = Vec::new();
    for entry in entries {
        let (ks, seeds) = match entry {
            VotesEntry::One(one) => (vec![one], None),
            VotesEntry::With(With { k: OneOrMore::One(one), seeds }) => {
                (vec![one], Some(seeds.list()?))
            }
            VotesEntry::With(With { k: OneOrMore::More(more), seeds }) => {
                (more, Some(seeds.list()?))
            }
        };
        for one in ks {
            let k = one.k()?;
            if all.iter().any(|choice| choice.k == k) {
                return None;
            }
            all.push(VotesChoice { k, seeds: seeds.clone() });
        }
    }
    (!all.is_empty()).then_some(all)
}

impl Section<'_, '_, '_> {
    fn seeds(&self) -> Result<Option<Vec<u64>>, StudyError> {
        let Some(seeds) = self.get::<Seeds>("seeds", SEEDS)? else { return Ok(None) };
        seeds.list().map(Some).ok_or_else(|| self.unexpected("seeds", SEEDS))
    }

    fn title(&self, name: &str) -> Result<String, StudyError> {
        let title = self.words("title")?;
        Ok(if title.is_empty() { name.to_owned() } else { title })
    }

    fn set(&self, layer: Layer) -> Result<Vec<Setting>, StudyError> {
        let Some(node) = self.node("set") else { return Ok(Vec::new()) };
        let set = settings(&Section::new(self.text, self.key("set"), node)?)?;
        set.iter().try_for_each(|one| refuse(layer, &one.path, &one.place))?;
        Ok(set)
    }
}

impl DatasetChoice {
    pub(crate) fn read(section: &Section<'_, '_, '_>) -> Result<Self, StudyError> {
        section.known(&["name", "title", "classes", "set"])?;
        let name = section.name("name")?;
        Ok(Self {
            title: section.title(&name)?,
            classes: section.get("classes", NAMES)?.unwrap_or_default(),
            set: section.set(Layer::Dataset)?,
            classes_place: section.place("classes"),
            name,
        })
    }
}

impl Arm {
    pub(crate) fn read(section: &Section<'_, '_, '_>) -> Result<Self, StudyError> {
        section
            .known(&["name", "title", "about", "delivery", "votes", "seeds", "set", "datasets"])?;
        let name = section.name("name")?;
        let read = section.get::<Vec<VotesEntry>>("votes", VOTES)?;
        let votes =
            read.map(|entries| votes(entries).ok_or_else(|| section.unexpected("votes", VOTES)));
        Ok(Self {
            title: section.title(&name)?,
            about: section.words("about")?,
            delivery: section.need("delivery", "a delivery method, as in \"sls:every=5\"")?,
            votes: votes.transpose()?,
            seeds: section.seeds()?,
            set: section.set(Layer::Arm)?,
            datasets: section.get("datasets", NAMES)?.unwrap_or_default(),
            delivery_place: section.place("delivery"),
            votes_place: section.place("votes"),
            datasets_place: section.place("datasets"),
            name,
        })
    }
}

fn axes(all: Vec<Setting>) -> Result<Vec<Axis>, StudyError> {
    let axis = |Setting { path, value, place }: Setting| {
        refuse(Layer::Grid, &path, &place)?;
        let wrong = |place: &Place| StudyError::Value {
            key: format!("[grid] {path}"),
            found: value.to_string(),
            expected: VALUES.into(),
            place: place.clone(),
        };
        let values = value.as_array().cloned().unwrap_or_default();
        let twice = values.iter().enumerate().any(|(at, one)| values[..at].contains(one));
        if values.is_empty() || twice {
            return Err(wrong(&place));
        }
        Ok(Axis { path, values, place })
    };
    all.into_iter().map(axis).collect()
}

impl Grid {
    const KEYS: [&'static str; 3] = ["select", "on", "seed"];

    pub(crate) fn read(section: &Section<'_, '_, '_>) -> Result<Self, StudyError> {
        let seed = section.get::<u64>("seed", "a whole number, at least 0")?.unwrap_or(0);
        let mut all = settings(section)?;
        all.retain(|one| !Self::KEYS.contains(&one.path.as_str()));
        // What is neither is a slip in one of these, not in a key of a spec.
        if let Some(bare) = all.iter().find(|one| !one.path.contains('.')) {
            return Err(StudyError::UnknownKey {
                name: bare.path.clone(),
                section: section.title.clone(),
                place: bare.place.clone(),
                nearest: dissensus_labels::nearest(&bare.path, Self::KEYS.into_iter()).to_owned(),
                known: format!(
                    "{} and keys of a spec, as in \"training.rate\"",
                    Self::KEYS.join(", ")
                ),
            });
        }
        Ok(Self {
            axes: axes(all)?,
            select: section.get("select", "the name of a metric")?,
            on: section.get("on", "the name of a part of the split")?,
            seed,
            select_place: section.place("select"),
            on_place: section.place("on"),
        })
    }

    /// Every combination of the axes' values, the last axis running fastest.
    pub(crate) fn points(&self) -> Vec<Vec<Setting>> {
        let mut points = vec![Vec::new()];
        for axis in &self.axes {
            let with = |point: &Vec<Setting>| {
                let each = axis.values.iter().map(|value| {
                    let (path, value, place) =
                        (axis.path.clone(), value.clone(), axis.place.clone());
                    [&point[..], &[Setting { path, value, place }]].concat()
                });
                each.collect::<Vec<_>>()
            };
            points = points.iter().flat_map(with).collect();
        }
        points
    }
}

impl SliceRule {
    pub(crate) fn read(section: &Section<'_, '_, '_>) -> Result<Self, StudyError> {
        section.known(&["name", "top", "above"])?;
        let name = section.name("name")?;
        if name == "all" {
            return Err(section.unexpected("name", "another name: `all` is every item"));
        }
        const TOP: &str = "a share of the items, above 0 and up to 1";
        const ABOVE: &str = "an entropy in nats, at least 0";
        let top = section.get::<f64>("top", TOP)?;
        let above = section.get::<f64>("above", ABOVE)?;
        let by = match (top, above) {
            (Some(top), None) if top > 0.0 && top <= 1.0 => SliceBy::Top(top),
            (Some(_), None) => return Err(section.unexpected("top", TOP)),
            (None, Some(above)) if above >= 0.0 && above.is_finite() => SliceBy::Above(above),
            (None, Some(_)) => return Err(section.unexpected("above", ABOVE)),
            _ => {
                return Err(StudyError::Conflict {
                    key: section.key(&name),
                    place: section.place("name"),
                    why: "needs one of `top` (a share) and `above` (an entropy)".into(),
                });
            }
        };
        Ok(Self { name, by })
    }
}

impl Scale {
    pub(crate) fn read(name: &str, section: &Section<'_, '_, '_>) -> Result<Self, StudyError> {
        section.known(&["about", "set", "seeds", "ks", "items", "grid"])?;
        const COUNT: &str = "a whole number, at least 1";
        let count = |key: &str| match section.get::<i64>(key, COUNT)? {
            Some(number) if number > 0 => Ok(u64::try_from(number).ok()),
            Some(_) => Err(section.unexpected(key, COUNT)),
            None => Ok(None),
        };
        let mut set = section.set(Layer::Study)?;
        if let Some(items) = count("items")? {
            let value = toml::Value::Integer(i64::try_from(items).unwrap_or(i64::MAX));
            let place = section.place("items");
            set.push(Setting { path: "data.items".into(), value, place });
        }
        let grid = match section.node("grid") {
            Some(node) => axes(settings(&Section::new(section.text, section.key("grid"), node)?)?)?,
            None => Vec::new(),
        };
        const KS: &str = "a list of numbers of votes, or \"all\"";
        let ks = section.get::<Vec<One>>("ks", KS)?.unwrap_or_default();
        let ks: Option<Vec<Option<u32>>> = ks.into_iter().map(One::k).collect();
        let ks = ks.ok_or_else(|| section.unexpected("ks", KS))?;
        let about = section.words("about")?;
        Ok(Self { name: name.to_owned(), about, set, seeds: count("seeds")?, ks, grid })
    }
}
