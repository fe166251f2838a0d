//! The bytes of a file of vectors: a header, and records of one length.

use super::key::Key;

const MAGIC: &[u8; 8] = b"dissvec1";
/// Magic, length, width and digest; then the name and a checksum.
const FIXED: usize = 8 + 4 + 4 + 64;
const CHECKSUM: usize = 4;
/// Longer names are cut: they are for people.
const LONGEST_NAME: usize = 1024;

/// The largest header there is.
pub(super) const LONGEST_HEADER: usize = FIXED + LONGEST_NAME + CHECKSUM;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Numbers of a vector.
    pub(super) width: usize,
    /// Bytes of the header.
    pub(super) length: usize,
}

impl Header {
    /// Bytes of a record.
    pub(super) fn record(&self) -> usize {
        size_of::<Key>() + 4 * self.width + CHECKSUM
    }
}

/// The bytes of a header.
pub(super) fn header(width: u32, digest: &str, name: &str) -> Vec<u8> {
    let cut = (0..=name.len().min(LONGEST_NAME)).rev().find(|&end| name.is_char_boundary(end));
    let cut = cut.unwrap_or(0);
    let length = FIXED + cut + CHECKSUM;
    let mut bytes = Vec::with_capacity(length);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&(length as u32).to_le_bytes());
    bytes.extend_from_slice(&width.to_le_bytes());
    bytes.extend_from_slice(digest.as_bytes());
    bytes.extend_from_slice(&name.as_bytes()[..cut]);
    bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
    bytes
}

/// The header at the start of a file; `None` where the file ends before its header does, and what
/// is wrong where it is no header of this encoder.
pub(super) fn parse_header(start: &[u8], digest: &str) -> Result<Option<Header>, String> {
    let magic = &start[..start.len().min(MAGIC.len())];
    if !MAGIC.starts_with(magic) {
        return Err("it does not begin with \"dissvec1\"".to_owned());
    }
    let number = |at: usize| {
        let bytes = start.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    let (Some(length), Some(width)) = (number(8), number(12)) else {
        return Ok(None);
    };
    if !(FIXED + CHECKSUM..=LONGEST_HEADER).contains(&length) {
        return Err(format!("its header cannot have {length} bytes"));
    }
    let Some(whole) = start.get(..length) else {
        return Ok(None);
    };
    let (content, checksum) = whole.split_at(length - CHECKSUM);
    if crc32c::crc32c(content).to_le_bytes() != checksum || width == 0 {
        return Err("its header is damaged".to_owned());
    }
    if &content[16..FIXED] != digest.as_bytes() {
        return Err("it belongs to another encoder".to_owned());
    }
    Ok(Some(Header { width, length }))
}

/// Adds the bytes of a record.
pub(super) fn push_record(bytes: &mut Vec<u8>, key: &Key, vector: &[f32]) {
    let start = bytes.len();
    bytes.extend_from_slice(key);
    vector.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    let checksum = crc32c::crc32c(&bytes[start..]);
    bytes.extend_from_slice(&checksum.to_le_bytes());
}

/// The key and the bytes of the vector of a record; `None` where it is damaged.
pub(super) fn parse_record(record: &[u8]) -> Option<(Key, &[u8])> {
    let (content, checksum) = record.split_at_checked(record.len().checked_sub(CHECKSUM)?)?;
    let (key, vector) = content.split_first_chunk::<{ size_of::<Key>() }>()?;
    (crc32c::crc32c(content).to_le_bytes() == checksum).then_some((*key, vector))
}

/// The numbers of a vector.
pub(super) fn numbers(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest() -> String {
        "ab".repeat(32)
    }

    #[test]
    fn a_header_comes_back_whole_or_not_at_all() {
        let bytes = header(384, &digest(), "mini é");
        let read = parse_header(&bytes, &digest()).unwrap().unwrap();
        assert_eq!(read, Header { width: 384, length: bytes.len() });
        assert_eq!(read.record(), 32 + 384 * 4 + 4);
        for end in 0..bytes.len() {
            assert_eq!(parse_header(&bytes[..end], &digest()), Ok(None), "{end}");
        }
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            let read = parse_header(&bad, &digest());
            assert!(!matches!(read, Ok(Some(_))), "byte {at}: {read:?}");
        }
        assert!(parse_header(&bytes, &"cd".repeat(32)).unwrap_err().contains("another encoder"));
        let long = header(1, &digest(), &"é".repeat(2000));
        assert!(long.len() <= LONGEST_HEADER && parse_header(&long, &digest()).is_ok());
    }

    #[test]
    fn a_record_with_a_changed_bit_is_none() {
        let mut bytes = Vec::new();
        let vector = [1.5, -0.0, f32::MIN_POSITIVE / 2.0];
        push_record(&mut bytes, &[7; 32], &vector);
        let (key, values) = parse_record(&bytes).unwrap();
        assert_eq!(key, [7; 32]);
        let bits = |v: f32| v.to_bits();
        assert!(numbers(values).map(bits).eq(vector.map(bits)));
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x10;
            assert!(parse_record(&bad).is_none(), "byte {at}");
        }
        assert!(parse_record(&[]).is_none() && parse_record(&[0; 35]).is_none());
    }
}
