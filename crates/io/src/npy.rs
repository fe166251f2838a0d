//! numpy's `.npy`: a small header, then the values.
//!
//! The header is a Python dictionary in text form. Only the dictionaries that numpy writes are
//! understood, by a parser of our own that allocates nothing on the header's word: the data must
//! be there before an array is made of it. Objects (pickles) are refused.
//!
//! Texts are UTF-32 of one width, filled up with NULs.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::error::Problem;

/// The element type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Signed integers of this many bytes.
    Int(usize),
    /// Unsigned integers; `bool` is one byte of them.
    Unsigned(usize),
    /// IEEE floats of 2, 4 or 8 bytes.
    Float(usize),
    /// UTF-32 text of this many characters.
    Text(usize),
    /// UTF-8 text of this many bytes.
    Bytes(usize),
}

impl Element {
    fn size(self) -> usize {
        match self {
            Self::Int(n) | Self::Unsigned(n) | Self::Float(n) | Self::Bytes(n) => n,
            Self::Text(n) => n.saturating_mul(4),
        }
    }
}

/// A parsed array whose values are still bytes.
#[derive(Debug)]
pub struct Array<'a> {
    /// What the values are.
    pub element: Element,
    /// The lengths of its axes.
    pub shape: Vec<usize>,
    big_endian: bool,
    fortran: bool,
    data: Cow<'a, [u8]>,
}

fn bad<T>(message: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Array(message.into()))
}

/// An array as the header at the start of a file describes it, without values; and the header's end.
fn described(bytes: &[u8]) -> Result<(Array<'static>, usize), Problem> {
    const MAGIC: &[u8] = b"\x93NUMPY";
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return bad("it does not begin with \\x93NUMPY");
    };
    let (start, length): (usize, usize) = match rest {
        [1, _, a, b, ..] => (4, u16::from_le_bytes([*a, *b]) as usize),
        [2 | 3, _, a, b, c, d, ..] => (6, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        [major, ..] if !(1..=3).contains(major) => return bad(format!("version {major}")),
        _ => return bad("it ends inside its header"),
    };
    let Some(header) = rest.get(start..start.saturating_add(length)) else {
        return bad(format!("the header claims {length} bytes, which are not there"));
    };
    let Ok(header) = std::str::from_utf8(header) else {
        return bad("the header is not text");
    };
    let header = Header::parse(header)?;
    let array = Array::new(&header.descr, header.shape, header.fortran)?;
    Ok((array, MAGIC.len() + start + length))
}

/// Bytes of the array whose file starts so: as they are stored, or as 64-bit numbers if that is more.
/// `None` where the header is not whole.
pub(crate) fn announced(start: &[u8]) -> Option<u64> {
    let (array, _) = described(start).ok()?;
    let cells = array.cells().unwrap_or(usize::MAX) as u64;
    Some(cells.saturating_mul(array.element.size().max(8) as u64))
}

/// Parses a `.npy` file.
pub fn parse(bytes: &[u8]) -> Result<Array<'_>, Problem> {
    let (described, end) = described(bytes)?;
    let mut array: Array<'_> = described;
    let data = &bytes[end..];
    let cells = array.cells()?;
    if cells > 0 && array.element.size() == 0 {
        return bad("its texts have no room for a character");
    }
    let Some(wanted) = cells.checked_mul(array.element.size()) else {
        return bad(format!("the shape {:?} is too large", array.shape));
    };
    if data.len() < wanted {
        return bad(format!(
            "the shape {:?} needs {wanted} bytes, the file has {}",
            array.shape,
            data.len()
        ));
    }
    array.data = data[..wanted].into();
    Ok(array)
}

impl<'a> Array<'a> {
    /// An array of raw values as numpy stores them, for arrays that come without a header.
    pub fn raw(
        descr: &str,
        shape: Vec<usize>,
        fortran: bool,
        data: impl Into<Cow<'a, [u8]>>,
    ) -> Result<Self, Problem> {
        let mut array = Array::new(descr, shape, fortran)?;
        let data = data.into();
        if array.cells()?.checked_mul(array.element.size()) != Some(data.len()) {
            return bad(format!("{} bytes do not make the shape {:?}", data.len(), array.shape));
        }
        array.data = data;
        Ok(array)
    }

    fn new(descr: &str, shape: Vec<usize>, fortran: bool) -> Result<Self, Problem> {
        let (element, big_endian) = element(descr)?;
        Ok(Self { element, shape, big_endian, fortran, data: Cow::default() })
    }

    fn cells(&self) -> Result<usize, Problem> {
        let product = self.shape.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis));
        product.map_or_else(|| bad(format!("the shape {:?} is too large", self.shape)), Ok)
    }

    /// Rows and columns of a matrix.
    pub fn matrix_shape(&self) -> Result<(usize, usize), Problem> {
        match self.shape[..] {
            [rows, columns] => Ok((rows, columns)),
            _ => bad(format!("a matrix is needed, the shape is {:?}", self.shape)),
        }
    }

    /// Its values' type and its shape, for people: `float32 of shape [2, 3]`.
    pub fn describe(&self) -> String {
        let element = match self.element {
            Element::Int(size) => format!("int{}", 8 * size),
            Element::Unsigned(size) => format!("uint{}", 8 * size),
            Element::Float(size) => format!("float{}", 8 * size),
            Element::Text(_) | Element::Bytes(_) => "texts".to_owned(),
        };
        format!("{element} of shape {:?}", self.shape)
    }

    /// The values as they are stored.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// What one step along each axis is worth, in values.
    pub fn steps(&self) -> Vec<usize> {
        let axes = self.shape.len();
        let mut steps = vec![1; axes];
        match self.fortran {
            true => (1..axes).for_each(|i| steps[i] = steps[i - 1] * self.shape[i - 1]),
            false => (1..axes).rev().for_each(|i| steps[i - 1] = steps[i] * self.shape[i]),
        }
        steps
    }

    /// A matrix of 32-bit floats, row after row, to the bit; `None` where it is something else.
    pub fn f32_matrix(&self) -> Option<([usize; 2], Vec<f32>)> {
        match (self.element, self.big_endian, self.fortran, &self.shape[..]) {
            (Element::Float(4), false, false, &[rows, columns]) => {
                let (cells, _) = self.data.as_chunks::<4>();
                Some(([rows, columns], cells.iter().map(|c| f32::from_le_bytes(*c)).collect()))
            }
            _ => None,
        }
    }

    /// Whether the values are whole numbers by type.
    pub fn is_integer(&self) -> bool {
        matches!(self.element, Element::Int(_) | Element::Unsigned(_))
    }

    fn bytes_of(&self, index: usize) -> &[u8] {
        let size = self.element.size();
        self.data.get(index * size..(index + 1) * size).unwrap_or(&[])
    }

    fn word(&self, index: usize) -> u64 {
        let bytes = self.bytes_of(index);
        let mut word = [0; 8];
        let n = bytes.len().min(8);
        word[..n].copy_from_slice(&bytes[..n]);
        if self.big_endian {
            word[..n].reverse();
        }
        u64::from_le_bytes(word)
    }

    /// A signed whole number of `size` bytes.
    fn whole(&self, index: usize, size: usize) -> i64 {
        let unused = 64 - 8 * size.min(8) as u32;
        (self.word(index) << unused) as i64 >> unused
    }

    fn number(&self, index: usize) -> f64 {
        let word = self.word(index);
        match self.element {
            Element::Int(size) => self.whole(index, size) as f64,
            Element::Unsigned(_) => word as f64,
            Element::Float(2) => half(word as u16),
            Element::Float(4) => f64::from(f32::from_bits(word as u32)),
            Element::Float(_) => f64::from_bits(word),
            Element::Text(_) | Element::Bytes(_) => f64::NAN,
        }
    }

    /// All values as numbers, row after row whatever the order in the file.
    pub fn numbers(&self) -> Result<Vec<f64>, Problem> {
        if matches!(self.element, Element::Text(_) | Element::Bytes(_)) {
            return bad("numbers are needed, these are texts");
        }
        let cells = self.cells()?;
        if let (true, [rows, columns]) = (self.fortran, &self.shape[..]) {
            let (rows, columns) = (*rows, *columns);
            return Ok((0..cells).map(|i| self.number(i % columns * rows + i / columns)).collect());
        }
        Ok((0..cells).map(|i| self.number(i)).collect())
    }

    /// All values as texts: strings, or whole numbers in digits.
    pub fn texts(&self) -> Result<Vec<String>, Problem> {
        (0..self.cells()?).map(|i| self.text(i)).collect()
    }

    fn text(&self, index: usize) -> Result<String, Problem> {
        let bytes = self.bytes_of(index);
        match self.element {
            Element::Text(_) => {
                let unit = |c: &[u8]| {
                    let mut word: [u8; 4] = c.try_into().unwrap_or_default();
                    if self.big_endian {
                        word.reverse();
                    }
                    u32::from_le_bytes(word)
                };
                let mut units: Vec<u32> = bytes.chunks_exact(4).map(unit).collect();
                while units.last() == Some(&0) {
                    units.pop();
                }
                let text: Option<String> = units.into_iter().map(char::from_u32).collect();
                text.map_or_else(|| bad("a text that is not Unicode"), Ok)
            }
            Element::Bytes(_) => {
                let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
                match std::str::from_utf8(&bytes[..end]) {
                    Ok(text) => Ok(text.to_owned()),
                    Err(_) => bad("a text that is not UTF-8"),
                }
            }
            Element::Unsigned(_) => Ok(self.word(index).to_string()),
            // Not by way of a float, in which two long ids would become one.
            Element::Int(size) => Ok(self.whole(index, size).to_string()),
            Element::Float(_) => Ok(self.number(index).to_string()),
        }
    }
}

/// An IEEE half as a double.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f64::from(bits & 1023);
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

fn element(descr: &str) -> Result<(Element, bool), Problem> {
    let (order, kind) = match descr.as_bytes() {
        [b'<' | b'|' | b'=', ..] => (false, &descr[1..]),
        [b'>', ..] => (true, &descr[1..]),
        _ => (false, descr),
    };
    let size = || kind.get(1..).and_then(|s| s.parse::<usize>().ok());
    let element = match (kind.as_bytes().first(), size()) {
        (Some(b'i'), Some(n @ (1 | 2 | 4 | 8))) => Element::Int(n),
        (Some(b'u'), Some(n @ (1 | 2 | 4 | 8))) => Element::Unsigned(n),
        (Some(b'b'), Some(1)) => Element::Unsigned(1),
        (Some(b'f'), Some(n @ (2 | 4 | 8))) => Element::Float(n),
        (Some(b'U'), Some(n)) if n <= 1 << 24 => Element::Text(n),
        (Some(b'S'), Some(n)) if n <= 1 << 26 => Element::Bytes(n),
        (Some(b'O'), _) => return bad("it holds Python objects, which are never loaded"),
        _ => return bad(format!("values of type {:?} are not supported", crate::shorten(descr))),
    };
    Ok((element, order))
}

struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Result<Self, Problem> {
        let value = |key: &str| {
            let quoted = [format!("'{key}'"), format!("\"{key}\"")];
            let at = quoted.iter().find_map(|q| text.find(q.as_str()).map(|i| i + q.len()));
            let rest = at.and_then(|at| text.get(at..)).map(str::trim_start);
            match rest.and_then(|rest| rest.strip_prefix(':')) {
                Some(rest) => Ok(rest.trim_start()),
                None => bad(format!("the header has no {key}")),
            }
        };
        let descr = value("descr")?;
        let quote = descr.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let descr = quote.and_then(|q| descr[1..].split_once(q)).map(|(inside, _)| inside);
        let Some(descr) = descr else {
            return bad("its values are records, not plain numbers");
        };
        let fortran = value("fortran_order")?.starts_with("True");
        let shape = value("shape")?;
        let inside = shape.strip_prefix('(').and_then(|s| s.split_once(')')).map(|(s, _)| s);
        let Some(inside) = inside else {
            return bad("the header's shape is not a tuple");
        };
        let axis = |s: &str| s.trim().trim_end_matches('L').parse::<usize>().ok();
        let parts = inside.split(',').filter(|s| !s.trim().is_empty());
        let Some(shape) = parts.map(axis).collect::<Option<Vec<_>>>() else {
            return bad(format!("the shape ({inside}) is not of whole numbers"));
        };
        if shape.len() > 32 {
            return bad("more than 32 axes");
        }
        Ok(Self { descr: descr.to_owned(), fortran, shape })
    }
}

/// A number that arrays can hold.
pub trait Scalar: Copy {
    /// numpy's name of its type.
    const DESCR: &'static str;
    /// Appends its bytes.
    fn append(self, bytes: &mut Vec<u8>);
}

macro_rules! scalars {
    ($($type:ty => $descr:literal),*) => {$(
        impl Scalar for $type {
            const DESCR: &'static str = $descr;
            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
        }
    )*};
}
scalars!(u8 => "|u1", u16 => "<u2", u32 => "<u4", f32 => "<f4", f64 => "<f8");

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 16;

/// Writes an array whose values come piece by piece, the last axis the fastest.
pub struct ArrayWriter<T, W> {
    out: W,
    buffer: Vec<u8>,
    left: usize,
    shape: Vec<usize>,
    values: std::marker::PhantomData<T>,
}

impl<T: Scalar, W: Write> ArrayWriter<T, W> {
    /// Writes the header.
    pub fn new(mut out: W, shape: &[usize]) -> io::Result<Self> {
        out.write_all(&header(T::DESCR, shape))?;
        let left = shape.iter().fold(1usize, |n, &axis| n.saturating_mul(axis));
        let (buffer, shape) = (Vec::with_capacity(BUFFER), shape.to_vec());
        Ok(Self { out, buffer, left, shape, values: std::marker::PhantomData })
    }

    /// Adds values.
    pub fn push(&mut self, values: &[T]) -> io::Result<()> {
        self.left = self.left.checked_sub(values.len()).ok_or_else(|| self.other_count())?;
        for block in values.chunks(BUFFER / size_of::<T>()) {
            block.iter().for_each(|value| value.append(&mut self.buffer));
            if self.buffer.len() >= BUFFER {
                self.out.write_all(&self.buffer)?;
                self.buffer.clear();
            }
        }
        Ok(())
    }

    /// Ends the array; there must be as many values as its shape says.
    pub fn finish(mut self) -> io::Result<()> {
        match self.left {
            0 => self.out.write_all(&self.buffer),
            _ => Err(self.other_count()),
        }
    }

    fn other_count(&self) -> io::Error {
        let text = format!("another number of values than the shape {:?} has", self.shape);
        io::Error::new(io::ErrorKind::InvalidInput, text)
    }
}

/// Writes an array, the last axis the fastest.
pub fn write_array<T: Scalar>(out: impl Write, shape: &[usize], values: &[T]) -> io::Result<()> {
    let mut writer = ArrayWriter::new(out, shape)?;
    writer.push(values)?;
    writer.finish()
}

/// Writes a list of texts; none may end in NUL, which numpy would drop.
pub fn write_texts<'t, I>(mut out: impl Write, texts: I) -> io::Result<()>
where
    I: IntoIterator<Item = &'t str>,
    I::IntoIter: Clone,
{
    let texts = texts.into_iter();
    let (mut count, mut width) = (0, 1);
    for text in texts.clone() {
        count += 1;
        width = width.max(text.chars().count());
    }
    out.write_all(&header(&format!("<U{width}"), &[count]))?;
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

/// A header of an array whose type is named as numpy does.
pub fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let axes: String = shape.iter().map(|axis| format!("{axis}, ")).collect();
    let axes = if shape.len() == 1 { axes.trim_end() } else { axes.trim_end_matches(", ") };
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}");
    // Magic, version and length take 10 bytes; everything is padded to 64, ending in a line break.
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((padded as u16).to_le_bytes());
    bytes.extend(format!("{text:<width$}\n", width = padded - 1).bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, shape: &str, fortran: bool, data: &[u8]) -> Vec<u8> {
        let fortran = if fortran { "True" } else { "False" };
        let text =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn types_and_orders() {
        let numbers = |bytes: Vec<u8>| parse(&bytes).unwrap().numbers().unwrap();
        assert_eq!(numbers(file("<i2", "(2,)", false, &[1, 0, 0xff, 0xff])), [1.0, -1.0]);
        assert_eq!(numbers(file(">u2", "(2,)", false, &[0, 1, 1, 0])), [1.0, 256.0]);
        assert_eq!(numbers(file("|b1", "(2,)", false, &[0, 1])), [0.0, 1.0]);
        assert_eq!(
            numbers(file("<f2", "(3,)", false, &[0, 0x3c, 0, 0xc0, 1, 0])),
            [1.0, -2.0, 2f64.powi(-24)]
        );
        assert_eq!(
            numbers(file("|u1", "(2, 3)", true, &[1, 4, 2, 5, 3, 6])),
            [1., 2., 3., 4., 5., 6.]
        );
        let text = file("<U2", "(2,)", false, b"a\0\0\0b\0\0\0\xe9\0\0\0\0\0\0\0");
        assert_eq!(parse(&text).unwrap().texts().unwrap(), ["ab", "é"]);
        let big: Vec<u8> = [-5i64, i64::MAX - 1].iter().flat_map(|n| n.to_le_bytes()).collect();
        let big = file("<i8", "(2,)", false, &big);
        assert_eq!(parse(&big).unwrap().texts().unwrap(), ["-5", "9223372036854775806"]);
    }

    #[test]
    fn a_header_of_ours_reads_back() {
        for shape in [vec![3], vec![4, 2], vec![]] {
            let mut bytes = header("<f8", &shape);
            assert_eq!(bytes.len() % 64, 0);
            let cells: usize = shape.iter().product();
            bytes.extend(vec![0; 8 * cells]);
            let array = parse(&bytes).unwrap();
            assert_eq!((&array.shape, array.element), (&shape, Element::Float(8)));
        }
    }

    /// How `np.save(file, np.array([[1.5], [-2]], "<f4"))` of numpy 2.4.6 begins.
    #[test]
    fn headers_are_numpys() {
        let mut bytes = Vec::new();
        write_array(&mut bytes, &[2, 1], &[1.5f32, -2.0]).unwrap();
        let head =
            b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }";
        assert_eq!(&bytes[..head.len()], head);
        assert_eq!((bytes.len(), bytes[127]), (128 + 8, b'\n'));
        assert_eq!(parse(&bytes).unwrap().f32_matrix(), Some(([2, 1], vec![1.5, -2.0])));
        assert!(write_array(&mut Vec::new(), &[2, 2], &[1u8, 2, 3]).is_err());
        assert!(write_array(&mut Vec::new(), &[1], &[1u8, 2]).is_err());
    }

    #[test]
    fn texts_and_long_arrays_read_back() {
        let mut bytes = Vec::new();
        write_texts(&mut bytes, ["é", "日本", ""]).unwrap();
        assert_eq!(parse(&bytes).unwrap().texts().unwrap(), ["é", "日本", ""]);
        let last = bytes.len() - 5;
        bytes[last] = 0xff;
        let error = parse(&bytes).unwrap().texts().unwrap_err().to_string();
        assert!(error.contains("not Unicode"), "{error}");
        let values: Vec<u16> = (0..100_000u32).map(|v| v as u16).collect();
        let mut bytes = Vec::new();
        let mut writer = ArrayWriter::new(&mut bytes, &[10, 10_000]).unwrap();
        values.chunks(10_000).for_each(|row| writer.push(row).unwrap());
        writer.finish().unwrap();
        let wanted: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
        assert_eq!(parse(&bytes).unwrap().numbers().unwrap(), wanted);
    }

    #[test]
    fn hostile_headers_are_named() {
        let cases = [
            (b"\x93NUMPY".to_vec(), "it ends inside its header"),
            (b"\x93NUMPY\x09\x00\x00\x00\x00\x00\x00\x00".to_vec(), "version 9"),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(), "claims 4294967295 bytes"),
            (file("|O", "(2,)", false, &[]), "Python objects"),
            (file("<c8", "(2,)", false, &[]), "not supported"),
            (file("<i8", "(99999999999, 99999999999)", false, &[]), "too large"),
            (file("<i8", "(1000000000, 10)", false, &[0; 16]), "needs 80000000000 bytes"),
            (file("<i8", "(-1, 10)", false, &[]), "not of whole numbers"),
            (file("|S0", "(99999999999,)", false, &[]), "no room for a character"),
            (file("<i8", "5", false, &[]), "not a tuple"),
        ];
        for (bytes, wanted) in cases {
            let message = parse(&bytes).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message} should contain {wanted}");
        }
    }
}
