//! Parquet's metadata, walked without being trusted (Thrift's compact protocol).
//!
//! The `parquet` crate reads a field as the type that it expects, skips a list of truth values
//! without moving on, and makes room for as many elements as a list claims. So before it sees any
//! metadata, [`walk`] goes through all of it and refuses what is not of the types that the format
//! fixes, claims more elements than there are bytes, or is nested too deeply.

/// What a field must be. Fields that the format does not know may be anything that can be passed
/// over in one way only.
pub(super) enum Kind {
    Bool,
    Byte,
    /// Of 16, 32 or 64 bits, which are written alike.
    Int,
    Double,
    Binary,
    List(&'static Kind),
    Struct(&'static [(i16, Kind)]),
}

/// What is met on the way, with the ids of the fields that lead there.
pub(super) enum Event {
    /// An element of a list of structs begins.
    Begin,
    /// A whole number; a truth value is 0 or 1.
    Int(i64),
}

/// Malformed; there is nothing more to say of bytes that are wrong.
#[derive(Debug)]
pub(super) struct Malformed;

const DEEPEST: usize = 32;

/// Walks a struct at the beginning of `bytes`; its length.
pub(super) fn walk(
    bytes: &[u8],
    fields: &'static [(i16, Kind)],
    visit: &mut dyn FnMut(&[i16], Event),
) -> Result<usize, Malformed> {
    let mut walker = Walker { bytes, at: 0, path: Vec::new(), visit };
    walker.fields(fields)?;
    Ok(walker.at)
}

struct Walker<'a> {
    bytes: &'a [u8],
    at: usize,
    path: Vec<i16>,
    visit: &'a mut dyn FnMut(&[i16], Event),
}

impl Walker<'_> {
    fn byte(&mut self) -> Result<u8, Malformed> {
        let byte = self.bytes.get(self.at).copied().ok_or(Malformed)?;
        self.at += 1;
        Ok(byte)
    }

    fn skip(&mut self, n: u64) -> Result<(), Malformed> {
        let left = self.bytes.len() - self.at;
        match usize::try_from(n) {
            Ok(n) if n <= left => {
                self.at += n;
                Ok(())
            }
            _ => Err(Malformed),
        }
    }

    fn unsigned(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        // The tenth byte holds the last bit.
        match self.byte()? {
            last @ 0..=1 => Ok(value | u64::from(last) << 63),
            _ => Err(Malformed),
        }
    }

    fn signed(&mut self) -> Result<i64, Malformed> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The fields of a struct, in ascending order of their ids.
    fn fields(&mut self, known: &'static [(i16, Kind)]) -> Result<(), Malformed> {
        let mut last = 0i16;
        loop {
            let head = self.byte()?;
            let (delta, kind) = (i16::from(head >> 4), head & 15);
            if kind == 0 {
                // Other readers end here whatever the upper bits say; nobody writes any.
                return if head == 0 { Ok(()) } else { Err(Malformed) };
            }
            let id = match delta {
                0 => i16::try_from(self.signed()?).map_err(|_| Malformed)?,
                _ => last.checked_add(delta).ok_or(Malformed)?,
            };
            if id <= last || self.path.len() >= DEEPEST {
                return Err(Malformed);
            }
            last = id;
            self.path.push(id);
            match known.iter().find(|(known, _)| *known == id) {
                Some((_, wanted)) => self.field(kind, wanted)?,
                None => self.unknown(kind, 0)?,
            }
            self.path.pop();
        }
    }

    fn field(&mut self, kind: u8, wanted: &'static Kind) -> Result<(), Malformed> {
        match (wanted, kind) {
            (Kind::Bool, 1 | 2) => {
                (self.visit)(&self.path, Event::Int(i64::from(kind == 1)));
                Ok(())
            }
            (Kind::Byte, 3) | (Kind::Int, 4..=6) | (Kind::Double, 7) | (Kind::Binary, 8) => {
                self.plain(kind)
            }
            (Kind::List(element), 9) => self.list(element),
            (Kind::Struct(fields), 12) => self.fields(fields),
            _ => Err(Malformed),
        }
    }

    fn plain(&mut self, kind: u8) -> Result<(), Malformed> {
        match kind {
            3 => self.skip(1),
            4..=6 => {
                let value = self.signed()?;
                (self.visit)(&self.path, Event::Int(value));
                Ok(())
            }
            7 => self.skip(8),
            _ => {
                let length = self.unsigned()?;
                self.skip(length)
            }
        }
    }

    /// The kind and number of a list's elements, each of which takes at least a byte.
    fn list_head(&mut self) -> Result<(u8, usize), Malformed> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.unsigned()?,
            count => u64::from(count),
        };
        if count > (self.bytes.len() - self.at) as u64 {
            return Err(Malformed);
        }
        Ok((head & 15, count as usize))
    }

    fn list(&mut self, element: &'static Kind) -> Result<(), Malformed> {
        let (kind, count) = self.list_head()?;
        for _ in 0..count {
            if let Kind::Struct(_) = element {
                (self.visit)(&self.path, Event::Begin);
            }
            self.field(kind, element)?;
        }
        Ok(())
    }

    fn unknown(&mut self, kind: u8, depth: usize) -> Result<(), Malformed> {
        match kind {
            _ if depth > DEEPEST => Err(Malformed),
            1 | 2 => Ok(()),
            3..=8 => self.plain(kind),
            9 => {
                let (kind, count) = self.list_head()?;
                // Truth values take a byte each in a list, and none elsewhere.
                if matches!(kind, 1 | 2) {
                    return Err(Malformed);
                }
                (0..count).try_for_each(|_| self.unknown(kind, depth + 1))
            }
            12 => loop {
                let head = self.byte()?;
                match (head >> 4, head & 15) {
                    (_, 0) => return Ok(()),
                    (0, _) => drop(self.signed()?),
                    _ => {}
                }
                self.unknown(head & 15, depth + 1)?;
            },
            _ => Err(Malformed),
        }
    }
}

const EMPTY: Kind = Kind::Struct(&[]);
const TIME: Kind =
    Kind::Struct(&[(1, Kind::Bool), (2, Kind::Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]))]);

/// `FileMetaData` of the format's `parquet.thrift`.
pub(super) const FILE: &[(i16, Kind)] = &[
    (1, Kind::Int),
    (2, Kind::List(&Kind::Struct(SCHEMA_ELEMENT))),
    (3, Kind::Int),
    (4, Kind::List(&Kind::Struct(ROW_GROUP))),
    (5, Kind::List(&KEY_VALUE)),
    (6, Kind::Binary),
    (7, Kind::List(&Kind::Struct(&[(1, EMPTY), (2, EMPTY)]))),
    (9, Kind::Binary),
];

const SCHEMA_ELEMENT: &[(i16, Kind)] = &[
    (1, Kind::Int),
    (2, Kind::Int),
    (3, Kind::Int),
    (4, Kind::Binary),
    (5, Kind::Int),
    (6, Kind::Int),
    (7, Kind::Int),
    (8, Kind::Int),
    (9, Kind::Int),
    (10, Kind::Struct(LOGICAL_TYPE)),
];

const LOGICAL_TYPE: &[(i16, Kind)] = &[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Kind::Struct(&[(1, Kind::Int), (2, Kind::Int)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Kind::Struct(&[(1, Kind::Byte), (2, Kind::Bool)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Kind::Struct(&[(1, Kind::Byte)])),
    (17, Kind::Struct(&[(1, Kind::Binary)])),
    (18, Kind::Struct(&[(1, Kind::Binary), (2, Kind::Int)])),
];

const KEY_VALUE: Kind = Kind::Struct(&[(1, Kind::Binary), (2, Kind::Binary)]);

const ROW_GROUP: &[(i16, Kind)] = &[
    (1, Kind::List(&Kind::Struct(COLUMN_CHUNK))),
    (2, Kind::Int),
    (3, Kind::Int),
    (4, Kind::List(&Kind::Struct(&[(1, Kind::Int), (2, Kind::Bool), (3, Kind::Bool)]))),
    (5, Kind::Int),
    (6, Kind::Int),
    (7, Kind::Int),
];

const COLUMN_CHUNK: &[(i16, Kind)] = &[
    (1, Kind::Binary),
    (2, Kind::Int),
    (3, Kind::Struct(COLUMN)),
    (4, Kind::Int),
    (5, Kind::Int),
    (6, Kind::Int),
    (7, Kind::Int),
    (9, Kind::Binary),
];

const COLUMN: &[(i16, Kind)] = &[
    (1, Kind::Int),
    (2, Kind::List(&Kind::Int)),
    (3, Kind::List(&Kind::Binary)),
    (4, Kind::Int),
    (5, Kind::Int),
    (6, Kind::Int),
    (7, Kind::Int),
    (8, Kind::List(&KEY_VALUE)),
    (9, Kind::Int),
    (10, Kind::Int),
    (11, Kind::Int),
    (12, STATISTICS),
    (13, Kind::List(&Kind::Struct(&[(1, Kind::Int), (2, Kind::Int), (3, Kind::Int)]))),
    (14, Kind::Int),
    (15, Kind::Int),
    (16, Kind::Struct(&[(1, Kind::Int), (2, Kind::List(&Kind::Int)), (3, Kind::List(&Kind::Int))])),
    (17, Kind::Struct(&[(1, BOX), (2, Kind::List(&Kind::Int))])),
];

const BOX: Kind = Kind::Struct(&[
    (1, Kind::Double),
    (2, Kind::Double),
    (3, Kind::Double),
    (4, Kind::Double),
    (5, Kind::Double),
    (6, Kind::Double),
    (7, Kind::Double),
    (8, Kind::Double),
]);

const STATISTICS: Kind = Kind::Struct(&[
    (1, Kind::Binary),
    (2, Kind::Binary),
    (3, Kind::Int),
    (4, Kind::Int),
    (5, Kind::Binary),
    (6, Kind::Binary),
    (7, Kind::Bool),
    (8, Kind::Bool),
    (9, Kind::Int),
]);

/// `PageHeader`.
pub(super) const PAGE: &[(i16, Kind)] = &[
    (1, Kind::Int),
    (2, Kind::Int),
    (3, Kind::Int),
    (4, Kind::Int),
    (
        5,
        Kind::Struct(&[
            (1, Kind::Int),
            (2, Kind::Int),
            (3, Kind::Int),
            (4, Kind::Int),
            (5, STATISTICS),
        ]),
    ),
    (6, EMPTY),
    (7, Kind::Struct(&[(1, Kind::Int), (2, Kind::Int), (3, Kind::Bool)])),
    (
        8,
        Kind::Struct(&[
            (1, Kind::Int),
            (2, Kind::Int),
            (3, Kind::Int),
            (4, Kind::Int),
            (5, Kind::Int),
            (6, Kind::Int),
            (7, Kind::Bool),
            (8, STATISTICS),
        ]),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    type Seen = Vec<(Vec<i16>, i64)>;

    fn walked(bytes: &[u8]) -> Option<(usize, Seen)> {
        let mut seen = Vec::new();
        let mut visit = |path: &[i16], event: Event| {
            if let Event::Int(value) = event {
                seen.push((path.to_vec(), value));
            }
        };
        let length = walk(bytes, PAGE, &mut visit).ok()?;
        Some((length, seen))
    }

    #[test]
    fn a_page_header() {
        // type 2 (dictionary), 300 bytes, 20 packed, {7 values, encoding 0, sorted}, and a field
        // of some later version
        let bytes =
            [0x15, 4, 0x15, 0xd8, 4, 0x15, 40, 0x4c, 0x15, 14, 0x15, 0, 0x11, 0, 0xc8, 1, b'x', 0];
        let (length, seen) = walked(&bytes).unwrap();
        assert_eq!(length, bytes.len());
        let wanted: [(&[i16], i64); 6] =
            [(&[1], 2), (&[2], 300), (&[3], 20), (&[7, 1], 7), (&[7, 2], 0), (&[7, 3], 1)];
        assert!(seen.iter().map(|(p, v)| (&p[..], *v)).eq(wanted), "{seen:?}");
        for cut in 0..bytes.len() {
            assert!(walked(&bytes[..cut]).is_none(), "{cut} bytes");
        }
    }

    #[test]
    fn hostile_metadata_is_refused() {
        let cases: [&[u8]; 8] = [
            // a number as a text
            &[0x18, 1, b'x', 0],
            // a field twice
            &[0x15, 4, 0x05, 2, 6, 0],
            // a list of 2³¹ truth values, in a field that nobody knows
            &[0x09, 60, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0],
            // the same of structs
            &[0x09, 60, 0xfc, 0xff, 0xff, 0xff, 0xff, 7, 0],
            // a map
            &[0x0b, 60, 1, 0x55, 2, 2, 0],
            // a text longer than the file
            &[0x08, 60, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0],
            // a number of too many bytes
            &[0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0],
            &[],
        ];
        for bytes in cases {
            assert!(walked(bytes).is_none(), "{bytes:?}");
        }
        let deep = [&[0x0c, 60][..], &[0x1c; 100_000]].concat();
        assert!(walked(&deep).is_none());
    }
}
