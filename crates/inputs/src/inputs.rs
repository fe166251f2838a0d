//! Inputs: images or feature vectors, and the ids of the items they belong to.

use std::sync::Arc;

use dissensus_core::{Digest, Ids, IdsBuilder};

use crate::digest;
use crate::error::{InputError, place};
use crate::features::Features;
use crate::images::Images;

/// What inputs are.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Images(Images),
    /// Feature vectors.
    Features(Features),
}

impl Kind {
    /// How many items there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Images(images) => images.len(),
            Self::Features(features) => features.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a row is, in words.
    fn describe(&self) -> String {
        match self {
            Self::Images(images) => {
                let [height, width, channels] = images.shape();
                format!("images of {height}×{width}×{channels}")
            }
            Self::Features(features) => format!("vectors of {} numbers", features.width()),
        }
    }
}

/// What images show, as far as it is known: which random changes leave their meaning as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// Not known: a user's own images, or no images.
    #[default]
    Unknown,
    /// Photographs of things, which stay what they are when they are mirrored.
    Photographs,
    /// Photographs of characters, which do not.
    Characters,
    /// Patterns that a program drew.
    Generated,
}

/// What a model is trained on, one row per item.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    name: String,
    ids: Option<Ids>,
    kind: Kind,
    content: Content,
    by_position: bool,
    notes: Vec<String>,
    /// The names of features, where the source has columns.
    columns: Option<Arc<[String]>>,
}

impl Inputs {
    /// Inputs under a name for messages. There must be as many ids as rows, each different from
    /// the others and not empty.
    pub fn new(name: &str, ids: Option<Ids>, kind: Kind) -> Result<Self, InputError> {
        if let Some(ids) = &ids {
            let rows = kind.len();
            if ids.len() != rows {
                return Err(InputError::IdCount { file: name.to_owned(), ids: ids.len(), rows });
            }
            check_ids(name, ids.iter(), |row| place(row, None))?;
        }
        let (content, by_position, notes) = (Content::Unknown, false, Vec::new());
        let name = name.to_owned();
        Ok(Self { name, ids, kind, content, by_position, notes, columns: None })
    }

    /// The same inputs, which show this.
    pub fn showing(self, content: Content) -> Self {
        Self { content, ..self }
    }

    /// The same rows, to be matched with votes by position. Ids are dropped.
    pub fn by_position(self) -> Self {
        Self { ids: None, by_position: true, ..self }
    }

    /// Adds what was left out or changed on the way in.
    pub(crate) fn noting(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }

    pub(crate) fn add_note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(crate) fn set_columns(&mut self, columns: Vec<String>) {
        self.columns = Some(columns.into());
    }

    /// The same source with these rows.
    pub(crate) fn with(&self, ids: Option<Ids>, kind: Kind) -> Self {
        Self {
            name: self.name.clone(),
            ids,
            kind,
            content: self.content,
            by_position: self.by_position,
            notes: self.notes.clone(),
            columns: self.columns.clone(),
        }
    }

    /// The same rows under another name, with these ids, as many as rows.
    pub fn renamed(self, name: &str, ids: Ids) -> Result<Self, InputError> {
        let Self { content, columns, kind, .. } = self;
        Ok(Self { content, columns, ..Self::new(name, Some(ids), kind)? })
    }

    /// The names of the columns that features came from; `None` for images, lists and arrays.
    pub fn columns(&self) -> Option<&[String]> {
        self.columns.as_deref()
    }

    /// The file or dataset, as the user named it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The items' ids; `None` where the source has none, and rows are known by their place.
    pub fn ids(&self) -> Option<&Ids> {
        self.ids.as_ref()
    }

    /// Whether rows are matched with votes by position, because the user says so.
    pub fn is_by_position(&self) -> bool {
        self.by_position
    }

    /// Images or feature vectors.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// What the images show.
    pub fn content(&self) -> Content {
        self.content
    }

    /// Images or feature vectors, for a caller that needs nothing else.
    pub fn into_kind(self) -> Kind {
        self.kind
    }

    /// What was left out or changed on the way in, in words.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// A hash of the content: kind, shape, ids and values. Where there are ids, the order of rows
    /// does not matter; the source and its format never do.
    pub fn digest(&self) -> Digest {
        digest::of_inputs(self)
    }

    /// The items at these places, in this order. A place that does not exist, or that was taken
    /// already, is left out, so that ids stay different.
    pub fn select(&self, places: &[usize]) -> Self {
        let mut taken = vec![false; self.len()];
        let first = |&&place: &&usize| {
            taken.get_mut(place).is_some_and(|taken| !std::mem::replace(taken, true))
        };
        let places: Vec<usize> = places.iter().filter(first).copied().collect();
        let ids = self.ids.as_ref().map(|ids| ids.select(places.iter().copied()));
        let kind = match &self.kind {
            Kind::Images(images) => Kind::Images(images.select(&places)),
            Kind::Features(features) => Kind::Features(features.select(&places)),
        };
        self.with(ids, kind)
    }

    /// These rows, and after them those of `other`, under the name of the first. Both are images
    /// of one size, or vectors of one width. There are ids where both have some, all different. The
    /// content is that of the first; features with names are matched by name.
    pub fn followed_by(&self, other: &Self) -> Result<Self, InputError> {
        let name = &self.name;
        let (other, _) = match (&self.columns, &other.columns) {
            (Some(columns), Some(_)) => other.in_order_of(columns)?,
            _ => (std::borrow::Cow::Borrowed(other), None),
        };
        let kind = match (&self.kind, &other.kind) {
            (Kind::Images(a), Kind::Images(b)) if a.shape() == b.shape() => {
                let [height, width, channels] = a.shape();
                let pixels = [a.pixels(), b.pixels()].concat();
                Kind::Images(Images::new(name, height, width, channels, pixels)?)
            }
            (Kind::Features(a), Kind::Features(b)) if a.width() == b.width() => {
                let values = [a.values(), b.values()].concat();
                Kind::Features(Features::new(name, a.width(), values)?)
            }
            (a, b) => {
                return Err(InputError::Unlike {
                    first: name.clone(),
                    first_kind: a.describe(),
                    second: other.name.clone(),
                    second_kind: b.describe(),
                });
            }
        };
        let ids = self.ids.as_ref().zip(other.ids.as_ref());
        let both = |(a, b): (&Ids, &Ids)| {
            check_ids(name, a.iter().chain(b.iter()), |row| place(row, None))
        };
        let ids = ids.map(both).transpose()?;
        let notes = [&self.notes[..], &other.notes].concat();
        let by_position = self.by_position || other.by_position;
        let content = self.content;
        let columns = self.columns.clone();
        Ok(Self { by_position, content, columns, ..Self::new(name, ids, kind)?.noting(notes) })
    }
}

/// These ids; an empty one and one that stands in two places is an error. `place` names a place in messages.
pub(crate) fn check_ids<'a>(
    file: &str,
    ids: impl Iterator<Item = &'a str>,
    place: impl Fn(usize) -> String,
) -> Result<Ids, InputError> {
    let mut seen = IdsBuilder::new();
    for (row, id) in ids.enumerate() {
        if id.is_empty() {
            return Err(InputError::EmptyId { file: file.to_owned(), place: place(row) });
        }
        if let Some((first, false)) = seen.intern(id) {
            return Err(InputError::DuplicateId {
                file: file.to_owned(),
                id: id.to_owned(),
                first: place(first as usize),
                second: place(row),
            });
        }
    }
    Ok(seen.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(ids: Option<&[&str]>, values: &[f32]) -> Result<Inputs, InputError> {
        let kind = Kind::Features(Features::new("x", 2, values.to_vec())?);
        let ids = ids.map(|ids| check_ids("x", ids.iter().copied(), |row| place(row, None)));
        Inputs::new("x", ids.transpose()?, kind)
    }

    #[test]
    fn ids_are_as_many_as_rows_and_different() {
        let error = |ids: &[&str]| features(Some(ids), &[0.0; 6]).unwrap_err().to_string();
        assert_eq!(error(&["a", "b"]), "x: 2 ids for 3 rows; give each row one id");
        assert_eq!(
            error(&["a", "b", "a"]),
            "x: row 0 and row 2 have the same id \"a\"; give every item one row"
        );
        assert_eq!(error(&["a", "", "b"]), "x, row 1: the id is empty; give the row one");
        let nan = features(None, &[1.0, 2.0, 3.0, f32::NAN]).unwrap_err().to_string();
        assert!(nan.starts_with("x, row 1, column \"1\": NaN is not a finite"), "{nan}");
        assert!(features(None, &[1.0, 2.0, 3.0]).is_err());
    }

    #[test]
    fn a_digest_names_the_content_not_the_order() {
        let digest = |ids, values: &[f32]| features(ids, values).unwrap().digest();
        let first = digest(Some(&["a", "b"][..]), &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(first, digest(Some(&["b", "a"]), &[3.0, 4.0, 1.0, 2.0]));
        assert_ne!(first, digest(Some(&["b", "a"]), &[1.0, 2.0, 3.0, 4.0]));
        assert_ne!(first, digest(Some(&["a", "b"]), &[1.0, 2.0, 3.0, 5.0]));
        assert_ne!(first, digest(None, &[1.0, 2.0, 3.0, 4.0]));
        assert_ne!(digest(None, &[1.0, 2.0, 3.0, 4.0]), digest(None, &[3.0, 4.0, 1.0, 2.0]));
        let shaped = |height, width| {
            let images = Images::new("x", height, width, 1, vec![7; 4]).unwrap();
            Inputs::new("x", None, Kind::Images(images)).unwrap().digest()
        };
        assert_ne!(shaped(1, 4), shaped(4, 1));
        assert_ne!(shaped(1, 4), shaped(1, 2));
        assert_eq!(first.to_string().len(), 64);
    }

    #[test]
    fn a_selection_keeps_ids_and_rows_together() {
        let inputs = features(Some(&["a", "b", "c"]), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let chosen = inputs.select(&[2, 9, 0, 2]);
        assert!(chosen.ids().unwrap().iter().eq(["c", "a"]));
        let Kind::Features(features) = chosen.kind() else { panic!("features") };
        assert_eq!(features.values(), [5.0, 6.0, 1.0, 2.0]);
        let images = Images::new("x", 1, 2, 1, vec![1, 2, 3, 4]).unwrap();
        let inputs = Inputs::new("x", None, Kind::Images(images)).unwrap();
        let Kind::Images(images) = inputs.select(&[1]).into_kind() else { panic!("images") };
        assert_eq!((images.len(), images.pixels()), (1, &[3, 4][..]));
        assert!(inputs.select(&[]).is_empty());
    }

    #[test]
    fn rows_follow_rows_of_the_same_kind() {
        let one = features(Some(&["a", "b"]), &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let two = features(Some(&["c"]), &[5.0, 6.0]).unwrap();
        let both = one.followed_by(&two).unwrap();
        let whole = features(Some(&["a", "b", "c"]), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!(both, whole);
        // Without ids on one side, rows are known by their place.
        let bare = features(None, &[5.0, 6.0]).unwrap();
        assert_eq!(one.followed_by(&bare).unwrap().ids(), None);
        let again = one.followed_by(&one).unwrap_err().to_string();
        assert!(again.contains("row 0 and row 2 have the same id"), "{again}");
        let of_size = |height, width, pixels: Vec<u8>| {
            let images = Images::new("y", height, width, 1, pixels).unwrap();
            Inputs::new("y", None, Kind::Images(images)).unwrap()
        };
        let (flat, other) = (of_size(1, 2, vec![1, 2]), of_size(1, 2, vec![3, 4, 5, 6]));
        let Kind::Images(images) = flat.followed_by(&other).unwrap().into_kind() else {
            panic!("images")
        };
        assert_eq!((images.len(), images.pixels()), (3, &[1, 2, 3, 4, 5, 6][..]));
        let tall = flat.followed_by(&of_size(2, 1, vec![1, 2])).unwrap_err().to_string();
        let wanted = "y are images of 1×2×1, and y images of 2×1×1; they must be alike to \
                      stand in one set";
        assert_eq!(tall, wanted);
        let mixed = one.followed_by(&flat).unwrap_err().to_string();
        assert!(mixed.starts_with("x are vectors of 2 numbers, and y images of"), "{mixed}");
    }
}
