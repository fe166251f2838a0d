//! A download that has begun: how much there is, and how the server knows it again.
//!
//! Beside the part lies a small JSON note with the address and the validators that the server
//! gave. Without a strong validator a part cannot be resumed safely, and is not.

use std::fs;

use dissensus_io::{Durability, Existing, write_file};
use serde::{Deserialize, Serialize};

use super::place::Place;
use crate::Error;

/// The note beside a part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// The address, as in the catalogue.
    pub(super) url: String,
    /// The server's entity tag, if it is a strong one.
    pub(super) etag: Option<String>,
    /// The server's date of last modification.
    pub(super) last_modified: Option<String>,
    /// The whole size.
    pub(super) total: Option<u64>,
}

impl Note {
    /// What to send as `If-Range`.
    pub(super) fn validator(&self) -> Option<&str> {
        self.etag.as_deref().or(self.last_modified.as_deref())
    }

    /// Writes it beside the part, or removes an old one where this one could not be used.
    pub(super) fn save(&self, place: &Place) -> Result<(), Error> {
        let fail = |e| Error::io("writing", &place.note, e);
        if self.validator().is_none() {
            return match fs::remove_file(&place.note) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(fail(e)),
                _ => Ok(()),
            };
        }
        write_file(&place.note, Existing::Replace, Durability::Process, |out| {
            serde_json::to_writer(out, self).map_err(Into::into)
        })
        .map_err(fail)
    }
}

/// A part that can be resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Begun {
    pub(super) bytes: u64,
    pub(super) note: Note,
}

impl Begun {
    /// The part at this place, if it is of this address, has a validator and is not too long.
    pub(super) fn find(place: &Place, url: &str) -> Option<Begun> {
        // A link would lead the download elsewhere.
        let bytes = fs::symlink_metadata(&place.part).ok().filter(fs::Metadata::is_file)?.len();
        let note: Note = serde_json::from_slice(&fs::read(&place.note).ok()?).ok()?;
        let usable = bytes > 0
            && note.url == url
            && note.validator().is_some()
            && note.total.is_none_or(|total| bytes <= total);
        usable.then_some(Begun { bytes, note })
    }

    /// Whether nothing is missing.
    pub(super) fn is_whole(&self) -> bool {
        self.note.total == Some(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note() -> Note {
        Note {
            url: "http://a/b".into(),
            etag: Some("\"1\"".into()),
            last_modified: None,
            total: Some(10),
        }
    }

    #[test]
    fn only_a_part_of_the_same_address_with_a_validator_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path(), "x");
        assert_eq!(Begun::find(&place, "http://a/b"), None);

        fs::write(&place.part, b"1234").unwrap();
        assert_eq!(Begun::find(&place, "http://a/b"), None, "no note");

        note().save(&place).unwrap();
        let begun = Begun::find(&place, "http://a/b").unwrap();
        assert_eq!((begun.bytes, begun.is_whole()), (4, false));
        assert_eq!(Begun::find(&place, "http://a/c"), None, "another address");

        fs::write(&place.part, b"12345678901").unwrap();
        assert_eq!(Begun::find(&place, "http://a/b"), None, "longer than the whole");

        fs::write(&place.note, b"{\"url\":").unwrap();
        assert_eq!(Begun::find(&place, "http://a/b"), None, "a broken note");

        let blind = Note { etag: None, ..note() };
        blind.save(&place).unwrap();
        assert!(!place.note.exists(), "a note without validator is of no use");
    }
}
