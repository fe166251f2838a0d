//! As much of MATLAB's version 5 files as SVHN needs: one named array of bytes.
//!
//! ```text
//! file     128 bytes of header, ending in "IM" (little-endian), then elements
//! element  type u32, length u32, data, padding to 8 bytes; or, for up to 4 bytes of data,
//!          type u16, length u16, data in the next 4 bytes
//! array    an element of type 14 that holds elements: flags, axes, name, values;
//!          often packed with zlib into an element of type 15
//! ```
//!
//! Reference: MAT-File Format, version 5 (MathWorks).

use std::io::Read;

use flate2::read::ZlibDecoder;

/// An array of bytes, the first axis the fastest.
#[derive(Debug, PartialEq)]
pub(super) struct Array {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<u8>,
}

const HEADER: usize = 128;
/// The most that an element may unpack to.
const MOST: u64 = 1 << 30;

const INT8: u32 = 1;
const UINT8: u32 = 2;
const INT32: u32 = 5;
const UINT32: u32 = 6;
const MATRIX: u32 = 14;
const PACKED: u32 = 15;

/// Takes elements off the front of bytes.
struct Elements<'a> {
    left: &'a [u8],
}

impl<'a> Elements<'a> {
    fn next(&mut self) -> Result<Option<(u32, &'a [u8])>, String> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let Some((tag, rest)) = self.left.split_first_chunk::<8>() else {
            return Err("an element that breaks off in its tag".to_owned());
        };
        let [a, b, c, d, e, f, g, h] = *tag;
        let (kind, length) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        if kind >> 16 != 0 {
            let (kind, length) = (kind & 0xffff, (kind >> 16) as usize);
            let data = self.left[4..8].get(..length);
            self.left = rest;
            let data = data.ok_or_else(|| format!("a small element of {length} bytes"))?;
            return Ok(Some((kind, data)));
        }
        let length = length as usize;
        let Some((data, rest)) = rest.split_at_checked(length) else {
            return Err(format!("an element of {length} bytes, of which {} are there", rest.len()));
        };
        // Packed elements follow each other without padding.
        let padding = if kind == PACKED { 0 } else { length.next_multiple_of(8) - length };
        self.left = rest.get(padding..).unwrap_or(&[]);
        Ok(Some((kind, data)))
    }

    /// The next element, which must be of this type.
    fn of_type(&mut self, wanted: u32) -> Result<&'a [u8], String> {
        match self.next()? {
            Some((kind, data)) if kind == wanted => Ok(data),
            Some((kind, _)) => Err(format!("an element of type {kind} where {wanted} should be")),
            None => Err(format!("no element of type {wanted}")),
        }
    }
}

/// The array of bytes of this name, or what was found instead.
pub(super) fn bytes_of(file: &[u8], name: &str) -> Result<Array, String> {
    let Some((header, body)) = file.split_at_checked(HEADER) else {
        return Err(format!("{} bytes", file.len()));
    };
    if !header.starts_with(b"MATLAB 5.0") || !header.ends_with(b"IM") {
        return Err("another header".to_owned());
    }
    let mut elements = Elements { left: body };
    let mut seen = Vec::new();
    while let Some((kind, data)) = elements.next()? {
        let unpacked;
        let data = match kind {
            PACKED => {
                unpacked = unpack(data)?;
                Elements { left: &unpacked }.of_type(MATRIX)?
            }
            MATRIX => data,
            _ => continue,
        };
        let mut parts = Elements { left: data };
        parts.of_type(UINT32)?;
        let axes = parts.of_type(INT32)?;
        let found = String::from_utf8_lossy(parts.of_type(INT8)?).into_owned();
        if found != name {
            seen.push(found);
            continue;
        }
        let values = parts.of_type(UINT8)?;
        let axis = |bytes: &[u8; 4]| usize::try_from(i32::from_le_bytes(*bytes)).ok();
        let shape: Option<Vec<usize>> = axes.as_chunks::<4>().0.iter().map(axis).collect();
        let shape = shape.ok_or("an axis of negative length")?;
        let cells = shape.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis));
        if cells != Some(values.len()) {
            return Err(format!("{} values for the shape {shape:?}", values.len()));
        }
        return Ok(Array { shape, values: values.to_vec() });
    }
    Err(format!("the arrays {}", seen.join(", ")))
}

fn unpack(data: &[u8]) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    // What really comes out is counted, whatever the file says.
    let read = ZlibDecoder::new(data).take(MOST + 1).read_to_end(&mut unpacked);
    match read {
        Ok(_) if unpacked.len() as u64 > MOST => Err(format!("more than {MOST} bytes, unpacked")),
        Ok(_) => Ok(unpacked),
        Err(error) => Err(format!("data that does not unpack ({error})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn element(kind: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = [kind.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    fn array(name: u8, axes: &[i32], values: &[u8]) -> Vec<u8> {
        let flags = element(UINT32, &[9, 0, 0, 0, 0, 0, 0, 0]);
        let axes: Vec<u8> = axes.iter().flat_map(|axis| axis.to_le_bytes()).collect();
        // One letter fits into a small element.
        let name = vec![1, 0, 1, 0, name, 0, 0, 0];
        let parts = [flags, element(INT32, &axes), name, element(UINT8, values)].concat();
        element(MATRIX, &parts)
    }

    fn packed(element: &[u8]) -> Vec<u8> {
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(element).unwrap();
        let data = zlib.finish().unwrap();
        [&PACKED.to_le_bytes()[..], &(data.len() as u32).to_le_bytes(), &data].concat()
    }

    fn file(elements: &[Vec<u8>]) -> Vec<u8> {
        let mut header = b"MATLAB 5.0 MAT-file".to_vec();
        header.resize(126, b' ');
        [header, b"IM".to_vec(), elements.concat()].concat()
    }

    #[test]
    fn an_array_packed_or_plain_behind_another() {
        let (y, x) = (array(b'y', &[2, 1], &[8, 9]), array(b'X', &[1, 3], &[1, 2, 3]));
        let wanted = Array { shape: vec![1, 3], values: vec![1, 2, 3] };
        assert_eq!(bytes_of(&file(&[y.clone(), x.clone()]), "X"), Ok(wanted));
        let both = file(&[packed(&y), packed(&x)]);
        assert_eq!(bytes_of(&both, "X").unwrap().values, [1, 2, 3]);
        assert_eq!(bytes_of(&both, "Z"), Err("the arrays y, X".to_owned()));
    }

    #[test]
    fn malformed_files_are_named_and_never_panic() {
        let good = file(&[packed(&array(b'X', &[2, 2], &[1, 2, 3, 4]))]);
        for end in 0..good.len() {
            assert!(bytes_of(&good[..end], "X").is_err(), "cut at {end}");
        }
        let short = file(&[array(b'X', &[2, 3], &[1, 2, 3, 4])]);
        assert_eq!(bytes_of(&short, "X"), Err("4 values for the shape [2, 3]".to_owned()));
        let negative = file(&[array(b'X', &[-2, -2], &[1, 2, 3, 4])]);
        assert_eq!(bytes_of(&negative, "X"), Err("an axis of negative length".to_owned()));
        let plain = file(&[array(b'X', &[2, 2], &[1, 2, 3, 4])]);
        for at in 128..plain.len() {
            let mut bytes = plain.clone();
            bytes[at] ^= 0xff;
            let _ = bytes_of(&bytes, "X");
        }
    }
}
