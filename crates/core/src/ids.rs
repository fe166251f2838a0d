//! Ids as people wrote them, stored compactly.
//!
//! [`IdsBuilder`] numbers ids in the order in which they are first seen; [`Ids`] is the finished,
//! immutable list. Both keep all text in one allocation. Short ids are compared inside the hash
//! table's own entry, so that looking up one of a million ids touches two cache lines, not four.

use std::hash::BuildHasher;
use std::sync::OnceLock;

use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry};
use thiserror::Error;

/// Ids up to this many bytes are stored inside the hash table.
const INLINE: usize = 15;

/// The hash of an id, the same throughout a process and seeded anew in each one, so that a file
/// of chosen ids cannot make the tables slow. Nothing that is written depends on it.
pub fn id_hash(id: &str) -> u64 {
    static STATE: OnceLock<DefaultHashBuilder> = OnceLock::new();
    STATE.get_or_init(DefaultHashBuilder::default).hash_one(id.as_bytes())
}

#[derive(Clone, Copy)]
struct Slot {
    /// The id itself where it fits, padded with zeros; else its first bytes.
    head: [u8; INLINE],
    /// The id's length, or `u8::MAX` for one that does not fit into `head`.
    len: u8,
    index: u32,
}

impl Slot {
    fn new(id: &str, index: u32) -> Self {
        let mut head = [0; INLINE];
        let bytes = id.as_bytes();
        let kept = bytes.len().min(INLINE);
        head[..kept].copy_from_slice(&bytes[..kept]);
        let len = if bytes.len() <= INLINE { bytes.len() as u8 } else { u8::MAX };
        Self { head, len, index }
    }

    fn holds(&self, wanted: &Slot, id: &str, list: &Texts) -> bool {
        self.head == wanted.head
            && self.len == wanted.len
            && (self.len != u8::MAX || list.get(self.index as usize) == Some(id))
    }
}

/// Strings one after another in one allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        self.text.get(start..end)
    }
}

/// Numbers ids in the order of their first appearance.
#[derive(Default)]
pub struct IdsBuilder {
    list: Texts,
    table: HashTable<Slot>,
}

impl IdsBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of `id`, and whether it is new. `None` when there are 2³² − 1 ids already.
    pub fn intern(&mut self, id: &str) -> Option<(u32, bool)> {
        self.intern_hashed(id, id_hash(id))
    }

    /// As [`intern`](Self::intern) for a caller that has [`id_hash`]`(id)` at hand.
    #[inline]
    pub fn intern_hashed(&mut self, id: &str, hash: u64) -> Option<(u32, bool)> {
        let wanted = Slot::new(id, self.list.ends.len() as u32);
        let list = &self.list;
        let same = |slot: &Slot| slot.holds(&wanted, id, list);
        let rehash = |slot: &Slot| list.get(slot.index as usize).map_or(0, id_hash);
        match self.table.entry(hash, same, rehash) {
            Entry::Occupied(slot) => Some((slot.get().index, false)),
            Entry::Vacant(place) => {
                if self.list.ends.len() >= u32::MAX as usize {
                    return None;
                }
                place.insert(wanted);
                self.list.push(id);
                Some((wanted.index, true))
            }
        }
    }

    /// Whether this id has been seen; `hash` is its [`id_hash`].
    pub fn contains_hashed(&self, id: &str, hash: u64) -> bool {
        let wanted = Slot::new(id, 0);
        self.table.find(hash, |slot| slot.holds(&wanted, id, &self.list)).is_some()
    }

    /// How many different ids there are.
    pub fn len(&self) -> usize {
        self.list.ends.len()
    }

    /// Whether no id was seen.
    pub fn is_empty(&self) -> bool {
        self.list.ends.is_empty()
    }

    /// The id with this number.
    pub fn get(&self, index: usize) -> Option<&str> {
        self.list.get(index)
    }

    /// The finished list. The hash table is dropped; [`Ids`] makes one when it is first asked.
    pub fn finish(self) -> Ids {
        Ids { list: self.list, ..Ids::default() }
    }
}

/// An id that stands twice in a list of ids.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the id {id:?} stands twice in a list of ids")]
pub struct RepeatedId {
    /// The id.
    pub id: String,
}

/// A list of different ids, each known by its place in the list and found by its text. Only
/// [`select`](Self::select) makes a list in which an id stands twice, which no table takes.
#[derive(Default)]
pub struct Ids {
    list: Texts,
    table: OnceLock<HashTable<Slot>>,
    /// The place of an id that stands before it, too.
    repeated: Option<usize>,
}

impl Ids {
    /// These ids in this order; one that stands twice is an error.
    pub fn new<S: AsRef<str>>(ids: impl IntoIterator<Item = S>) -> Result<Self, RepeatedId> {
        let mut builder = IdsBuilder::new();
        for id in ids {
            let id = id.as_ref();
            if !builder.intern(id).is_some_and(|(_, new)| new) {
                return Err(RepeatedId { id: id.to_owned() });
            }
        }
        let table = OnceLock::from(builder.table);
        Ok(Self { list: builder.list, table, repeated: None })
    }

    /// Ids that the caller knows to be different from each other.
    pub(crate) fn from_different<S: AsRef<str>>(ids: impl IntoIterator<Item = S>) -> Self {
        let mut list = Texts::default();
        ids.into_iter().for_each(|id| list.push(id.as_ref()));
        Self { list, ..Self::default() }
    }

    /// The positions `0`, `1`, … as ids, for data that comes without any.
    pub fn positions(n: usize) -> Self {
        Self::from_different((0..n).map(|i| i.to_string()))
    }

    /// These ids with a text before each.
    pub fn with_prefix(&self, prefix: &str) -> Self {
        let ids = Self::from_different(self.iter().map(|id| format!("{prefix}{id}")));
        Self { repeated: self.repeated, ..ids }
    }

    /// Passes where all ids are different, as they are but after [`select`](Self::select) of a
    /// place twice.
    pub fn check_different(&self) -> Result<(), RepeatedId> {
        match self.repeated {
            Some(place) => Err(RepeatedId { id: self.name(place).to_owned() }),
            None => Ok(()),
        }
    }

    /// How many ids there are.
    pub fn len(&self) -> usize {
        self.list.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.ends.is_empty()
    }

    /// The id at this place.
    pub fn get(&self, index: usize) -> Option<&str> {
        self.list.get(index)
    }

    /// The id at this place, or an empty text where there is none.
    pub fn name(&self, index: usize) -> &str {
        self.get(index).unwrap_or_default()
    }

    /// All ids in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.len()).map(|i| self.name(i))
    }

    /// The place of `id`.
    pub fn position(&self, id: &str) -> Option<usize> {
        let table = self.table.get_or_init(|| {
            let mut table = HashTable::with_capacity(self.len());
            let rehash = |slot: &Slot| id_hash(self.name(slot.index as usize));
            for (index, id) in self.iter().enumerate() {
                table.insert_unique(id_hash(id), Slot::new(id, index as u32), rehash);
            }
            table
        });
        let wanted = Slot::new(id, 0);
        let found = table.find(id_hash(id), |slot| slot.holds(&wanted, id, &self.list))?;
        Some(found.index as usize)
    }

    /// The place of `id`, which is looked for at `guess` first: lists in the same order need no table.
    pub fn position_near(&self, id: &str, guess: usize) -> Option<usize> {
        if self.get(guess) == Some(id) { Some(guess) } else { self.position(id) }
    }

    /// The ids in the given order of their places. Places that do not exist are left out; an id
    /// whose place comes twice stands there twice, as in a resample.
    pub fn select(&self, order: impl IntoIterator<Item = usize>) -> Self {
        let mut list = Texts::default();
        let mut seen = vec![false; self.len()];
        let mut repeated = None;
        for place in order {
            let Some(id) = self.get(place) else { continue };
            if std::mem::replace(&mut seen[place], true) {
                repeated.get_or_insert(list.ends.len());
            }
            list.push(id);
        }
        // The list itself may be a resample.
        let repeated = repeated.or_else(|| {
            self.repeated?;
            let mut known = std::collections::HashSet::new();
            (0..list.ends.len()).find(|&place| !known.insert(list.get(place)))
        });
        Self { list, table: OnceLock::new(), repeated }
    }

    /// The places, sorted by id (bytewise).
    pub fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| self.name(a as usize).cmp(self.name(b as usize)));
        order
    }
}

impl Clone for Ids {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), table: OnceLock::new(), repeated: self.repeated }
    }
}

impl PartialEq for Ids {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl std::fmt::Debug for Ids {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().take(8)).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_that_share_a_long_beginning_stay_apart() {
        let mut ids = IdsBuilder::new();
        assert_eq!(ids.intern("a-very-long-identifier-1"), Some((0, true)));
        assert_eq!(ids.intern("a-very-long-identifier-2"), Some((1, true)));
        assert_eq!(ids.intern("a-very-long-ide"), Some((2, true)));
        assert_eq!(ids.intern("a-very-long-identifier-1"), Some((0, false)));
        assert_eq!(ids.intern(""), Some((3, true)));
        assert_eq!(ids.intern("\0"), Some((4, true)));
        let ids = ids.finish();
        assert_eq!(ids.position("\0"), Some(4));
        assert_eq!(ids.position("\0\0"), None);
    }

    #[test]
    fn an_id_stands_twice_only_in_a_resample() {
        let ids = Ids::new(["a", "b", "c"]).unwrap();
        assert_eq!(Ids::new(["a", "b", "a"]), Err(RepeatedId { id: "a".into() }));
        assert_eq!(ids.select([2, 7, 0]).check_different(), Ok(()));
        let twice = ids.select([1, 2, 1]);
        assert_eq!(twice.check_different(), Err(RepeatedId { id: "b".into() }));
        assert_eq!(twice.with_prefix("x/").check_different().unwrap_err().id, "x/b");
        assert!(twice.select([0, 2]).check_different().is_err());
        assert_eq!(twice.select([0, 1]).check_different(), Ok(()));
    }

    proptest! {
        #[test]
        fn numbers_follow_first_appearance(words in prop::collection::vec("[ab]{0,18}", 0..200)) {
            let mut builder = IdsBuilder::new();
            let mut seen: Vec<String> = Vec::new();
            for word in &words {
                let expected = seen.iter().position(|s| s == word).unwrap_or_else(|| {
                    seen.push(word.clone());
                    seen.len() - 1
                });
                prop_assert_eq!(builder.intern(word).unwrap().0 as usize, expected);
            }
            let ids = builder.finish();
            prop_assert!(ids.iter().eq(seen.iter().map(String::as_str)));
            for (i, id) in seen.iter().enumerate() {
                prop_assert_eq!(ids.position(id), Some(i));
                prop_assert_eq!(ids.position_near(id, 3), Some(i));
            }
        }
    }
}
