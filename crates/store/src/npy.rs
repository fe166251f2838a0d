//! The two arrays of numpy that the store knows: matrices of 32-bit floats and lists of texts.
//!
//! A `.npy` is a magic, a version, the length of a head, the head (a Python dictionary in text
//! form), and the values. Texts are UTF-32 of one width, filled up with NULs.

use std::io::{self, Write};

/// Begins every `.npy`.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 16;

fn head(descr: &str, shape: &str) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version and length take 10 bytes; all is padded to 64 and ends in a line break.
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = [MAGIC, &[1, 0][..]].concat();
    bytes.extend((padded as u16).to_le_bytes());
    bytes.extend(format!("{text:<width$}\n", width = padded - 1).bytes());
    bytes
}

/// Writes a matrix, row after row.
pub(crate) fn write_matrix(
    out: &mut impl Write,
    [rows, columns]: [usize; 2],
    values: &[f32],
) -> io::Result<()> {
    out.write_all(&head("<f4", &format!("{rows}, {columns}")))?;
    let mut buffer = Vec::with_capacity(BUFFER);
    for block in values.chunks(BUFFER / 4) {
        buffer.clear();
        buffer.extend(block.iter().flat_map(|value| value.to_le_bytes()));
        out.write_all(&buffer)?;
    }
    Ok(())
}

/// Writes a list of texts; none may end in NUL, which numpy would drop.
pub(crate) fn write_texts(out: &mut impl Write, texts: &[String]) -> io::Result<()> {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    out.write_all(&head(&format!("<U{width}"), &format!("{},", texts.len())))?;
    let mut buffer = Vec::new();
    for text in texts {
        let end = buffer.len() + 4 * width;
        buffer.extend(text.chars().flat_map(|c| u32::from(c).to_le_bytes()));
        buffer.resize(end, 0);
        if buffer.len() > BUFFER {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    out.write_all(&buffer)
}

/// Type, shape and values of an array; or what is wrong with it.
fn parse(bytes: &[u8]) -> Result<(&str, Vec<usize>, &[u8]), String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it does not begin with \\x93NUMPY")?;
    let (start, length): (usize, usize) = match rest {
        [1, _, a, b, ..] => (4, usize::from(u16::from_le_bytes([*a, *b]))),
        [2 | 3, _, a, b, c, d, ..] => (6, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        _ => return Err("it is of an unknown version, or cut".to_owned()),
    };
    let text = rest.get(start..start.saturating_add(length)).ok_or("it ends inside its head")?;
    let text = std::str::from_utf8(text).map_err(|_| "its head is not text")?;
    let field = |name: &str| {
        let at = text.find(&format!("'{name}':"))?;
        Some(text[at + name.len() + 3..].trim_start())
    };
    let descr = field("descr").and_then(|t| t.strip_prefix('\'')?.split('\'').next());
    let shape = field("shape").and_then(|t| t.strip_prefix('(')?.split(')').next());
    let (Some(descr), Some(shape)) = (descr, shape) else {
        return Err(format!("its head is {text:?}"));
    };
    if !field("fortran_order").is_some_and(|t| t.starts_with("False")) {
        return Err("expected an array in C order".to_owned());
    }
    let axes = shape.split(',').map(str::trim).filter(|axis| !axis.is_empty());
    let axes: Result<Vec<usize>, _> = axes.map(str::parse).collect();
    let shape = axes.map_err(|_| format!("its shape is ({shape})"))?;
    Ok((descr, shape, &rest[start + length..]))
}

/// Whether `data` holds exactly the cells of a shape.
fn check(shape: &[usize], size: usize, data: &[u8]) -> Result<(), String> {
    let wanted = shape.iter().try_fold(size, |n, &axis| n.checked_mul(axis));
    match wanted == Some(data.len()) {
        true => Ok(()),
        false => Err(format!("{} bytes of values do not make the shape {shape:?}", data.len())),
    }
}

/// The shape and values of a matrix.
pub(crate) fn read_matrix(bytes: &[u8]) -> Result<([usize; 2], Vec<f32>), String> {
    let (descr, shape, data) = parse(bytes)?;
    let ("<f4", [rows, columns]) = (descr, &shape[..]) else {
        return Err(format!("expected a matrix of <f4, it is {descr} of shape {shape:?}"));
    };
    check(&shape, 4, data)?;
    let values = data.as_chunks::<4>().0.iter().map(|cell| f32::from_le_bytes(*cell)).collect();
    Ok(([*rows, *columns], values))
}

/// A list of texts.
pub(crate) fn read_texts(bytes: &[u8]) -> Result<Vec<String>, String> {
    let (descr, shape, data) = parse(bytes)?;
    let width = descr.strip_prefix("<U").and_then(|width| width.parse::<usize>().ok());
    let (Some(width @ 1..), [_]) = (width, &shape[..]) else {
        return Err(format!("expected a list of <U texts, it is {descr} of shape {shape:?}"));
    };
    let size = width.checked_mul(4).ok_or_else(|| format!("its type is {descr}"))?;
    check(&shape, size, data)?;
    let text = |cells: &[u8]| -> Option<String> {
        let (cells, _) = cells.as_chunks::<4>();
        let text: Option<String> =
            cells.iter().map(|cell| char::from_u32(u32::from_le_bytes(*cell))).collect();
        text.map(|text| text.trim_end_matches('\0').to_owned())
    };
    let texts: Option<Vec<String>> = data.chunks(size).map(text).collect();
    texts.ok_or_else(|| "a text holds what is not a character".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How `np.save(file, np.array([[1.5], [-2]], "<f4"))` of numpy 2.4.6 begins.
    #[test]
    fn heads_are_numpys() {
        let mut bytes = Vec::new();
        write_matrix(&mut bytes, [2, 1], &[1.5, -2.0]).unwrap();
        let head =
            b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }";
        assert_eq!(&bytes[..head.len()], head);
        assert_eq!((bytes.len(), bytes[127]), (128 + 8, b'\n'));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let mut good = Vec::new();
        write_matrix(&mut good, [2, 1], &[1.5, -2.0]).unwrap();
        assert_eq!(read_matrix(&good).unwrap(), ([2, 1], vec![1.5, -2.0]));
        let with = |from: &str, to: &str| {
            let text = good.iter().map(|&b| char::from(b)).collect::<String>().replace(from, to);
            let bytes: Vec<u8> = text.chars().map(|c| c as u8).collect();
            read_matrix(&bytes).unwrap_err()
        };
        assert_eq!(with("NUMPY", "numpy"), "it does not begin with \\x93NUMPY");
        assert_eq!(with("<f4", "<f8"), "expected a matrix of <f4, it is <f8 of shape [2, 1]");
        assert_eq!(with("False", "True "), "expected an array in C order");
        assert_eq!(with("(2, 1)", "(2, 9)"), "8 bytes of values do not make the shape [2, 9]");
        assert_eq!(with("(2, 1)", "(2, x)"), "its shape is (2, x)");
        assert!(with("'descr'", "'dtype'").starts_with("its head is"));
        assert_eq!(read_matrix(&good[..60]).unwrap_err(), "it ends inside its head");
        assert_eq!(read_matrix(&good[..7]).unwrap_err(), "it is of an unknown version, or cut");
        assert!(read_texts(&good).unwrap_err().starts_with("expected a list of <U texts"));
        let mut texts = Vec::new();
        write_texts(&mut texts, &["é".to_owned(), "日本".to_owned(), String::new()]).unwrap();
        assert_eq!(read_texts(&texts).unwrap(), ["é", "日本", ""]);
        let last = texts.len() - 5;
        texts[last] = 0xff;
        assert_eq!(read_texts(&texts).unwrap_err(), "a text holds what is not a character");
    }
}
