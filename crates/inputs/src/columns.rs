//! The names of features: which columns of a table they came from, and the order of training.
//!
//! A column without a name whose numbers tell the rows apart (0, 1, 2, …) is the index of a data frame. It
//! says nothing of an item, and is no feature.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::error::{InputError, listed};
use crate::features::Features;
use crate::inputs::{Inputs, Kind};

impl Inputs {
    /// The same feature vectors, from columns of these names. The index of a data frame is left out, with a
    /// note.
    pub fn with_columns(self, names: Vec<String>) -> Result<Self, InputError> {
        let Kind::Features(features) = self.kind() else { return Ok(self) };
        let is_index = |&place: &usize| is_unnamed(&names[place]) && tells_rows(features, place);
        let index: Vec<usize> = (0..names.len()).filter(is_index).collect();
        if names.len() != features.width() || index.len() == names.len() {
            let (file, seen) = (self.name().to_owned(), format!("columns {}", listed(&names)));
            return Err(InputError::Unknown { file, seen });
        }
        let kept: Vec<usize> = (0..names.len()).filter(|place| !index.contains(place)).collect();
        let columns = kept.iter().map(|&place| names[place].clone()).collect();
        let mut inputs = if index.is_empty() { self } else { self.of_columns(&kept)? };
        if let Some(&place) = index.first() {
            let place = place + 1;
            let note = format!("column {place} has no name and counts rows: it is no feature");
            inputs.add_note(note);
        }
        inputs.set_columns(columns);
        Ok(inputs)
    }

    /// These inputs with their features in the order of training, and what a person should know of how they
    /// were matched. Names decide; where one side has none, positions do. Missing and unknown columns are an
    /// error.
    pub fn in_order_of(
        &self,
        trained: &[String],
    ) -> Result<(Cow<'_, Self>, Option<String>), InputError> {
        let same = |note: Option<String>| Ok((Cow::Borrowed(self), note));
        let name = self.name();
        match (self.columns(), trained) {
            (None, []) => return same(None),
            (None, _) => {
                return same(Some(format!(
                    "{name} has no names of columns: they are taken in the order of training"
                )));
            }
            (Some(_), []) => {
                return same(Some(format!(
                    "the model does not know the names of its features: the columns of {name} are \
                     taken in their order"
                )));
            }
            (Some(columns), trained) if columns == trained => return same(None),
            _ => {}
        }
        let columns = self.columns().unwrap_or_default();
        let places: HashMap<&String, usize> = columns.iter().zip(0..).collect();
        let order: Vec<Option<&usize>> = trained.iter().map(|name| places.get(name)).collect();
        let known: HashSet<&String> = trained.iter().collect();
        let missing: Vec<&String> = trained
            .iter()
            .zip(&order)
            .filter(|(_, place)| place.is_none())
            .map(|(n, _)| n)
            .collect();
        let extra: Vec<&String> = columns.iter().filter(|name| !known.contains(name)).collect();
        let once = places.len() == columns.len() && columns.len() == trained.len();
        if !missing.is_empty() || !extra.is_empty() || !once {
            return Err(InputError::Columns {
                file: name.to_owned(),
                expected: trained.len(),
                found: columns.len(),
                missing: listed(&missing),
                extra: listed(&extra),
            });
        }
        let order: Vec<usize> = order.into_iter().flatten().copied().collect();
        let mut inputs = self.of_columns(&order)?;
        inputs.set_columns(trained.to_vec());
        let note =
            format!("the columns of {name} are in another order than in training: matched by name");
        Ok((Cow::Owned(inputs), Some(note)))
    }

    /// What a model is trained on: how many features, and of which columns; `None` for images.
    pub fn describe_features(&self) -> Option<String> {
        let Kind::Features(features) = self.kind() else { return None };
        let many = match features.width() {
            1 => "1 feature".to_owned(),
            width => format!("{width} features"),
        };
        let quoted = |name: &String| if name.is_empty() { "\"\"".to_owned() } else { name.clone() };
        Some(match self.columns() {
            Some(columns) => {
                format!("{many}: {}", listed(&columns.iter().map(quoted).collect::<Vec<_>>()))
            }
            None => many,
        })
    }

    fn of_columns(&self, places: &[usize]) -> Result<Self, InputError> {
        let Kind::Features(features) = self.kind() else { return Ok(self.clone()) };
        let rows = features.values().chunks_exact(features.width());
        let values = rows.flat_map(|row| places.iter().map(|&place| row[place])).collect();
        let kind = Kind::Features(Features::new(self.name(), places.len(), values)?);
        Ok(self.with(self.ids().cloned(), kind))
    }
}

/// Whether a column has no name: that of an index in a CSV file, of one that was read and written again, and
/// of one in a Parquet file.
fn is_unnamed(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let level = || name.strip_prefix("__index_level_")?.strip_suffix("__");
    name.is_empty()
        || name.strip_prefix("Unnamed: ").is_some_and(number)
        || level().is_some_and(number)
}

/// Whether a column has a whole number from 0 in each row, each another.
fn tells_rows(features: &Features, place: usize) -> bool {
    let mut seen = HashSet::new();
    let mut column = features.values().iter().skip(place).step_by(features.width());
    column.all(|&value| value >= 0.0 && value.fract() == 0.0 && seen.insert(value.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, read_bytes};

    fn read(text: &str) -> Inputs {
        read_bytes("x.csv", text.into(), &ReadOptions::default()).unwrap()
    }

    fn values(inputs: &Inputs) -> &[f32] {
        let Kind::Features(features) = inputs.kind() else { panic!("features") };
        features.values()
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn features_are_matched_by_name() {
        let trained = names(&["u", "v"]);
        let order = |text: &str| {
            let (inputs, note) = (read(text), |note: Option<String>| note.unwrap_or_default());
            let (found, said) = inputs.in_order_of(&trained).unwrap();
            (values(&found).to_vec(), note(said))
        };
        assert_eq!(order("id,u,v\na,1,2\nb,3,4\n"), (vec![1.0, 2.0, 3.0, 4.0], String::new()));
        let (found, note) = order("id,v,u\na,2,1\nb,4,3\n");
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0]);
        assert!(note.contains("another order than in training"), "{note}");
        let refused = |text: &str| read(text).in_order_of(&trained).unwrap_err().to_string();
        let found = refused("id,u,w\na,1,2\n");
        assert!(found.contains("missing: v; not among them: w"), "{found}");
        assert!(refused("id,u\na,1\n").contains("missing: v"));
        assert!(refused("id,u,v,w\na,1,2,3\n").contains("not among them: w"));
    }

    #[test]
    fn where_names_are_not_known_positions_decide_and_it_is_said() {
        let named = read("id,u,v\na,1,2\n");
        let (found, note) = named.in_order_of(&[]).unwrap();
        assert!(values(&found) == [1.0, 2.0] && note.unwrap().contains("does not know the names"));
        let lists = read("id,embedding\na,\"[1, 2]\"\n");
        assert_eq!(lists.columns(), None);
        let (_, note) = lists.in_order_of(&names(&["u", "v"])).unwrap();
        assert!(note.unwrap().contains("no names of columns"));
        assert_eq!(lists.in_order_of(&[]).unwrap().1, None);
    }

    #[test]
    fn the_index_of_a_data_frame_is_no_feature() {
        for index in ["", "Unnamed: 0", "__index_level_0__"] {
            let inputs = read(&format!("{index},id,u\n7,a,1.5\n2,b,2.5\n"));
            assert_eq!(inputs.columns().unwrap(), ["u"]);
            assert_eq!(values(&inputs), [1.5, 2.5]);
            assert_eq!(inputs.notes(), ["column 1 has no name and counts rows: it is no feature"]);
            assert_eq!(inputs.describe_features().unwrap(), "1 feature: u");
        }
        // Numbers that repeat say something of items, and so may any column with a name.
        for text in
            [",id,u\n7,a,1\n7,b,2\n", ",id,u\n0.5,a,1\n1.5,b,2\n", "age,id,u\n0,a,1\n1,b,2\n"]
        {
            assert_eq!(read(text).columns().unwrap().len(), 2, "{text}");
        }
        // An index that nothing else names are the ids.
        let inputs = read(",u\n0,1\n1,2\n");
        assert!(inputs.ids().unwrap().iter().eq(["0", "1"]));
    }

    #[test]
    fn names_stay_with_their_values() {
        let inputs = read("id,u,v\na,1,2\nb,3,4\n");
        assert_eq!(inputs.select(&[1]).columns().unwrap(), ["u", "v"]);
        // Names are no content: a run's id does not depend on them.
        let other = read("id,x,y\na,1,2\nb,3,4\n");
        assert_eq!(inputs.digest(), other.digest());
        let more = read("id,v,u\nc,6,5\n");
        let both = inputs.followed_by(&more).unwrap();
        assert_eq!(values(&both), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(both.columns().unwrap(), ["u", "v"]);
        assert!(inputs.followed_by(&read("id,x,y\nc,6,5\n")).is_err());
    }
}
