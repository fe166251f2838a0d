//! Predictions in memory: checked, and logits told from probabilities.

use std::collections::HashMap;

use dissensus_core::Ids;
use dissensus_io::ReadOption;

use crate::context::Context;
use crate::error::{BadRow, PredictionError, PredictionProblem};
use crate::note::Note;
use crate::numbers::{Refused, Said, settle};
use crate::options::{ByPosition, ClassMap, ClassNames, ClassOrder, Kind, ReadOptions};

/// What a model said, one row per item.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// The model: its name in the file, or the file's.
    pub name: String,
    /// The file, as the user named it.
    pub file: String,
    /// The items' ids; `None` where the file has none, or where positions decide.
    pub ids: Option<Vec<String>>,
    /// The classes' names; `None` where the file has none, or where positions decide.
    pub classes: Option<Vec<String>>,
    /// The classes' names in the file, where a class map gave them others.
    pub file_classes: Option<Vec<String>>,
    /// Values, row after row.
    pub values: Vec<f64>,
    /// Values in a row.
    pub width: usize,
    /// What they are.
    pub kind: Kind,
    /// Whether that was detected (or said by the user).
    pub kind_detected: bool,
    /// What is matched with the votes by position, because the user says so.
    pub by_position: ByPosition,
    /// The classes of the columns, because the user says so.
    pub class_order: Option<ClassOrder>,
    /// Whether the order of the classes is right although another one fits the votes better.
    pub trust_order: bool,
    /// What was assumed or changed.
    pub notes: Vec<Note>,
}

/// The ids of rows, where they have some.
pub struct RowIds(Option<Vec<String>>);

impl From<Option<Vec<String>>> for RowIds {
    fn from(ids: Option<Vec<String>>) -> Self {
        Self(ids)
    }
}

impl From<&Ids> for RowIds {
    fn from(ids: &Ids) -> Self {
        Self(Some(ids.iter().map(str::to_owned).collect()))
    }
}

impl Predictions {
    /// Predictions in memory under a name for messages, with the checks of a file: rows of `width`
    /// numbers (`f32` or `f64`), and for rows and columns ids and class names where they have some.
    ///
    /// ```
    /// use dissensus_predictions::Predictions;
    /// let values = vec![0.75, 0.25, 0.1, 0.9];
    /// let ids = Some(vec!["a".to_owned(), "b".to_owned()]);
    /// let model = Predictions::from_rows("model", values, 2, ids, None, &Default::default())?;
    /// assert_eq!(model.kind.name(), "probabilities");
    /// let ids = dissensus_core::Ids::positions(2);
    /// let values = vec![0.75f32, 0.25, 0.1, 0.9];
    /// let model = Predictions::from_rows("model", values, 2, &ids, None, &Default::default())?;
    /// assert_eq!(model.values[..2], [0.75, 0.25]);
    /// # Ok::<(), dissensus_predictions::PredictionError>(())
    /// ```
    pub fn from_rows(
        name: &str,
        values: impl IntoIterator<Item = impl Into<f64>>,
        width: usize,
        ids: impl Into<RowIds>,
        classes: Option<Vec<String>>,
        options: &ReadOptions,
    ) -> Result<Self, PredictionError> {
        check_options(name, options)?;
        let RowIds(ids) = ids.into();
        let values: Vec<f64> = values.into_iter().map(Into::into).collect();
        let rows = values.len().checked_div(width).unwrap_or(0);
        let counted = [("ids", &ids, rows, "rows"), ("classes", &classes, width, "columns")];
        for (list, names, expected, what) in counted {
            let found = names.as_ref().map_or(expected, Vec::len);
            if found != expected {
                let list = list.to_owned();
                let problem = PredictionProblem::Count { name: list, found, expected, what };
                return Err(PredictionError::new(name, problem));
            }
        }
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = classes.iter().flatten().find(|class| !seen.insert(class.as_str())) {
            let problem = PredictionProblem::DuplicateClass { name: twice.clone() };
            return Err(PredictionError::new(name, problem));
        }
        let model = Some(name.to_owned());
        let mut found =
            RawPredictions { name: model, ids, classes, values, width, ..Default::default() };
        let options = Context::new(options, None);
        name_classes(name, &mut found, None, &options)?;
        finish(name, found, &options)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The file for messages, with the model where the file holds several.
    pub(crate) fn label(&self) -> String {
        match self.name == stem(&self.file) || self.name == self.file {
            true => self.file.clone(),
            false => format!("{} ({})", self.file, self.name),
        }
    }
}

/// Predictions as they were found, before checks.
#[derive(Default)]
pub(crate) struct RawPredictions {
    /// The model's name, where the file has one.
    pub(crate) name: Option<String>,
    pub(crate) ids: Option<Vec<String>>,
    pub(crate) classes: Option<Vec<String>>,
    pub(crate) values: Vec<f64>,
    pub(crate) width: usize,
    /// What the numbers are, where the name they stand under says so.
    pub(crate) kind: Option<Kind>,
    /// The rows' numbers in the file; empty where they are counted from 1.
    pub(crate) rows: Vec<u64>,
    pub(crate) notes: Vec<Note>,
    /// Whether the numbers are shares of answers, which may be one 1 and zeros.
    pub(crate) sampled: bool,
}

impl RawPredictions {
    /// A row's number in the file.
    pub(crate) fn number(&self, row: usize) -> u64 {
        self.rows.get(row).copied().unwrap_or(row as u64 + 1)
    }

    /// A column's name for messages: its class, or its number from 1.
    pub(crate) fn column(&self, column: usize) -> String {
        let name = self.classes.as_ref().and_then(|names| names.get(column).cloned());
        name.unwrap_or_else(|| format!("#{}", column + 1))
    }

    /// The rows of each model, where this is the model of each row.
    #[cfg(feature = "files")]
    pub(crate) fn by_model(&self, models: &[String]) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for (row, model) in models.iter().enumerate() {
            let at = match found.iter().position(|one| one.name.as_ref() == Some(model)) {
                Some(at) => at,
                None => {
                    let (classes, notes) = (self.classes.clone(), self.notes.clone());
                    let (name, kind, width) = (Some(model.clone()), self.kind, self.width);
                    let empty = Self { name, classes, width, kind, notes, ..Self::default() };
                    found.push(Self { ids: self.ids.as_ref().map(|_| Vec::new()), ..empty });
                    found.len() - 1
                }
            };
            let one = &mut found[at];
            one.values.extend(&self.values[row * self.width..(row + 1) * self.width]);
            one.rows.push(self.number(row));
            if let (Some(ids), Some(id)) =
                (&mut one.ids, self.ids.as_ref().and_then(|ids| ids.get(row)))
            {
                ids.push(id.clone());
            }
        }
        found
    }

    /// Adds a row and its item to an error.
    pub(crate) fn place(&self, error: PredictionError, row: usize) -> PredictionError {
        let item = self.ids.as_ref().and_then(|ids| ids.get(row).cloned());
        error.row(self.number(row)).item(item)
    }
}

/// Gives classes that the file does not name, or only numbers, the names that the user says or that stand
/// beside them.
pub(crate) fn name_classes(
    file: &str,
    found: &mut RawPredictions,
    beside: Option<&[String]>,
    options: &Context<'_>,
) -> Result<(), PredictionError> {
    let said = options.class_names.as_ref().map(ClassNames::names);
    let Some(names) = said.or(beside) else { return Ok(()) };
    let order = match &found.classes {
        None => Some((0..found.width).collect()),
        Some(known) => crate::classes::numbered(known),
    };
    let Some(order) = order.filter(|_| names.len() == found.width) else {
        let (expected, len) = (found.width, names.len());
        let list = || "class_names".to_owned();
        let problem = match &found.classes {
            _ if said.is_none() => return Ok(()),
            Some(known) if len == expected => {
                PredictionProblem::Named { classes: known.join(", ") }
            }
            _ => PredictionProblem::Count { name: list(), found: len, expected, what: "columns" },
        };
        return Err(PredictionError::new(file, problem));
    };
    let mut classes = vec![String::new(); found.width];
    for (name, column) in names.iter().zip(order) {
        classes[column].clone_from(name);
    }
    found.classes = Some(classes);
    if said.is_none() {
        found.notes.push(Note::ClassNames { name: "id2label".to_owned() });
    }
    Ok(())
}

/// Refuses options that contradict each other.
pub(crate) fn check_options(file: &str, options: &ReadOptions) -> Result<(), PredictionError> {
    let ByPosition { items, classes } = options.by_position;
    let meaningless = [
        (options.id.is_some() && items, "rows by position", ReadOption::Id),
        (options.class_map.is_some() && classes, "columns by position", ReadOption::ClassMap),
        (options.class_order.is_some() && classes, "columns by position", ReadOption::ClassOrder),
        (options.class_names.is_some() && classes, "columns by position", ReadOption::ClassNames),
        (options.answers && options.kind.is_some(), "numbers of answers", ReadOption::Logits),
    ];
    match meaningless.into_iter().find(|(both, ..)| *both) {
        Some((_, format, option)) => {
            Err(PredictionError::new(file, PredictionProblem::Inapplicable { format, option }))
        }
        None => Ok(()),
    }
}

/// Checks the numbers and tells what they are.
pub(crate) fn finish(
    file: &str,
    mut found: RawPredictions,
    options: &Context<'_>,
) -> Result<Predictions, PredictionError> {
    if found.width == 0 || found.values.is_empty() {
        return Err(PredictionError::new(file, PredictionProblem::Empty));
    }
    let of_one = found.width == 1;
    if of_one && !options.one_column && !complement(&mut found, options) {
        let seen = match &found.classes {
            Some(names) => format!("only {:?} holds numbers", names.join(", ")),
            None => "a matrix with one column".to_owned(),
        };
        return Err(PredictionError::new(file, PredictionProblem::OneNumber { seen }));
    }
    if !options.by_position.items {
        check_ids(file, &found)?;
    }
    if let Some(at) = found.values.iter().position(|value| !value.is_finite()) {
        let value = found.values[at];
        let error = PredictionError::new(file, PredictionProblem::NotFinite { value });
        let column = found.column(at % found.width);
        return Err(found.place(error, at / found.width).column(column));
    }
    if options.answers && !of_one {
        shares_of_answers(file, &mut found)?;
    }
    let said = match (options.kind, found.kind) {
        (Some(kind), _) => Said::ByUser(kind),
        (None, Some(kind)) if found.sampled => Said::ByUser(kind),
        (None, Some(kind)) => Said::ByName(kind),
        (None, None) => Said::Nobody,
    };
    let (kind, notes) = match found.width {
        // What one column of a table is, its other columns say.
        1 => (options.kind.or(found.kind).unwrap_or(Kind::Probabilities), Vec::new()),
        width => settle(&mut found.values, width, said)
            .map_err(|refused| refuse(file, &found, refused))?,
    };
    found.notes.extend(notes);
    let file_classes = found.classes.clone();
    if !of_one {
        rename(file, &mut found, options.class_map.as_ref())?;
    }
    let file_classes = file_classes.filter(|names| found.classes.as_ref() != Some(names));
    if options.by_position.items {
        found.ids = None;
    }
    if options.by_position.classes {
        found.classes = None;
    }
    let RawPredictions { name, ids, classes, values, width, notes, .. } = found;
    Ok(Predictions {
        name: name.unwrap_or_else(|| stem(file)),
        file: file.to_owned(),
        ids,
        classes,
        file_classes,
        values,
        width,
        kind,
        kind_detected: options.kind.is_none(),
        by_position: options.by_position,
        class_order: options.class_order.clone().filter(|_| !of_one),
        trust_order: options.trust_order,
        notes,
    })
}

/// Divides numbers of answers by their sums.
fn shares_of_answers(file: &str, found: &mut RawPredictions) -> Result<(), PredictionError> {
    if found.sampled {
        return Ok(());
    }
    let (mut least, mut most) = (f64::MAX, 0.0f64);
    for row in 0..found.values.len() / found.width {
        let numbers = &mut found.values[row * found.width..(row + 1) * found.width];
        let sum: f64 = numbers.iter().sum();
        let bad = numbers.iter().find(|n| **n < 0.0 || n.fract() != 0.0).copied();
        if let Some(value) = bad.or((sum == 0.0).then_some(sum)) {
            let error = PredictionError::new(file, PredictionProblem::NoAnswers { value });
            return Err(found.place(error, row));
        }
        numbers.iter_mut().for_each(|number| *number /= sum);
        (least, most) = (least.min(sum), most.max(sum));
    }
    (found.sampled, found.kind) = (true, Some(Kind::Probabilities));
    found.notes.push(Note::Samples { least: least as u64, most: most as u64 });
    Ok(())
}

/// Makes one number per item, which is said to be that of one of two classes, a number for each class.
fn complement(found: &mut RawPredictions, options: &Context<'_>) -> bool {
    let Some([first, second]) = options.classes() else { return false };
    let logits = options.kind.or(found.kind) == Some(Kind::Logits);
    if !logits && !found.values.iter().all(|value| (0.0..=1.0).contains(value)) {
        return false;
    }
    let name = found.classes.as_ref().and_then(|names| names.first());
    let class = match &options.class_order {
        Some(ClassOrder::List(list)) if list.len() == 1 => options.class_of(&list[0]),
        Some(_) => None,
        None => name.and_then(|name| options.class_of(name)),
    };
    let Some(class) = class else { return false };
    let other = if class == first { second } else { first };
    found.values =
        found.values.iter().flat_map(|&p| [p, if logits { 0.0 } else { 1.0 - p }]).collect();
    found.width = 2;
    found.classes = Some(vec![class.clone(), other.clone()]);
    found.notes.push(Note::Complement { class: format!("{class:?}") });
    true
}

/// Refuses an empty id and one that stands in two rows.
fn check_ids(file: &str, found: &RawPredictions) -> Result<(), PredictionError> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (row, id) in found.ids.iter().flatten().enumerate() {
        let problem = match seen.insert(id, row) {
            _ if id.is_empty() => PredictionProblem::EmptyId,
            Some(first) => {
                PredictionProblem::DuplicateId { id: id.clone(), first: found.number(first) }
            }
            None => continue,
        };
        return Err(PredictionError::new(file, problem).row(found.number(row)));
    }
    Ok(())
}

/// Gives classes the names that the votes have for them.
fn rename(
    file: &str,
    found: &mut RawPredictions,
    map: Option<&ClassMap>,
) -> Result<(), PredictionError> {
    let Some(pairs) = map.map(ClassMap::pairs) else { return Ok(()) };
    let fail = |problem| Err(PredictionError::new(file, problem));
    let Some(classes) = &mut found.classes else {
        let (name, known) = match pairs.first() {
            Some((name, _)) => (name.clone(), "the file has no class names".to_owned()),
            None => return Ok(()),
        };
        return fail(PredictionProblem::ClassMap { name, known });
    };
    // A file that has the votes' names already, next to one that needs the map.
    let needed = |(from, to): &(String, String)| classes.contains(from) || !classes.contains(to);
    if !pairs.iter().any(needed) {
        found.notes.push(Note::ClassMapNotNeeded);
        return Ok(());
    }
    if let Some((name, _)) = pairs.iter().find(|(from, _)| !classes.contains(from)) {
        let known = format!("the classes of the file are {}", classes.join(", "));
        return fail(PredictionProblem::ClassMap { name: name.clone(), known });
    }
    for class in classes.iter_mut() {
        if let Some((_, to)) = pairs.iter().find(|(from, _)| from == class) {
            class.clone_from(to);
        }
    }
    let mut names = std::collections::HashSet::new();
    match classes.iter().find(|class| !names.insert(class.as_str())) {
        Some(twice) => fail(PredictionProblem::DuplicateClass { name: twice.clone() }),
        None => Ok(()),
    }
}

/// How many bad rows a message names.
const SHOWN: usize = 3;

fn refuse(file: &str, found: &RawPredictions, refused: Refused) -> PredictionError {
    let bad = |(row, problem)| BadRow {
        row: found.number(row),
        item: found.ids.as_ref().and_then(|ids| ids.get(row).cloned()),
        problem,
    };
    let sums = |row, sum| bad((row, crate::numbers::RowProblem::Sum { sum, whole: 1.0 }));
    let columns = found.classes.as_ref().map(|names| names.join(", "));
    let problem = match refused {
        Refused::OneHot => PredictionProblem::OneHot,
        Refused::NamedLogits => PredictionProblem::NamedLogits,
        Refused::NegativeShares { row, value } => {
            PredictionProblem::NegativeShares { row: found.number(row), value }
        }
        Refused::NotSumming { row, sum } => {
            PredictionProblem::NotSumming { row: sums(row, sum), columns }
        }
        Refused::NonNegative { row, sum } => {
            PredictionProblem::NonNegative { row: sums(row, sum), columns }
        }
        Refused::Rows(rows) => PredictionProblem::Rows {
            nearly: rows.iter().all(|(_, problem)| problem.is_near()),
            count: rows.len(),
            of: found.values.len() / found.width,
            first: rows.into_iter().take(SHOWN).map(bad).collect(),
        },
    };
    PredictionError::new(file, problem)
}

/// A file's name without its folder and ending.
pub(crate) fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() { name.to_owned() } else { stem.to_owned() }
}
