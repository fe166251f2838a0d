//! Protocol buffers as bytes: a message is fields, each a number that names it and a value.
//!
//! Nothing is copied and nothing is allocated on a length's word: a field that does not fit into
//! what is left of the message is an error.

/// A field's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field<'a> {
    /// A variable-length number.
    Number(u64),
    /// Four bytes.
    Four([u8; 4]),
    /// Eight bytes, which nothing that is read here has.
    Eight,
    /// A text, bytes, a message or packed numbers.
    Bytes(&'a [u8]),
}

/// What is left of a message.
pub(super) struct Message<'a>(&'a [u8]);

impl<'a> Message<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next field; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Field<'a>)>, String> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let key = self.number()?;
        let value = match key & 7 {
            0 => Field::Number(self.number()?),
            1 => self.array::<8>().map(|_| Field::Eight)?,
            2 => {
                let length = self.number()?;
                Field::Bytes(self.take(length)?)
            }
            5 => Field::Four(self.array()?),
            other => return Err(format!("a field of kind {other}, which ONNX does not have")),
        };
        Ok(Some((key >> 3, value)))
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], String> {
        let cut = usize::try_from(length).ok().and_then(|length| self.0.split_at_checked(length));
        let Some((taken, rest)) = cut else {
            let left = self.0.len();
            return Err(format!("a field of {length} bytes where {left} are left"));
        };
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let left = self.0.len();
        let Some((taken, rest)) = self.0.split_first_chunk() else {
            return Err(format!("a field of {N} bytes where {left} are left"));
        };
        self.0 = rest;
        Ok(*taken)
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fn number(&mut self) -> Result<u64, String> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        Err("a number of more than ten bytes".to_owned())
    }
}

impl<'a> Field<'a> {
    /// Bytes, or an error that names the field.
    pub(super) fn bytes(self, name: &str) -> Result<&'a [u8], String> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            other => Err(format!("{name} should be bytes and is {other:?}")),
        }
    }

    /// A text.
    pub(super) fn text(self, name: &str) -> Result<String, String> {
        let bytes = self.bytes(name)?.to_vec();
        String::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8"))
    }

    /// A whole number.
    pub(super) fn integer(self, name: &str) -> Result<i64, String> {
        match self {
            Self::Number(number) => Ok(number.cast_signed()),
            other => Err(format!("{name} should be a number and is {other:?}")),
        }
    }

    /// Adds one whole number, or many packed ones.
    pub(super) fn integers(self, name: &str, into: &mut Vec<i64>) -> Result<(), String> {
        let Self::Bytes(bytes) = self else {
            into.push(self.integer(name)?);
            return Ok(());
        };
        let mut packed = Message::new(bytes);
        while !packed.0.is_empty() {
            into.push(packed.number()?.cast_signed());
        }
        Ok(())
    }

    /// A number of four bytes.
    pub(super) fn float(self, name: &str) -> Result<f32, String> {
        match self {
            Self::Four(bytes) => Ok(f32::from_le_bytes(bytes)),
            other => Err(format!("{name} should be a float and is {other:?}")),
        }
    }

    /// Adds one float, or many packed ones.
    pub(super) fn floats(self, name: &str, into: &mut Vec<f32>) -> Result<(), String> {
        let Self::Bytes(bytes) = self else {
            into.push(self.float(name)?);
            return Ok(());
        };
        into.extend(floats(bytes).ok_or_else(|| format!("{name} is not whole floats"))?);
        Ok(())
    }
}

/// Floats of four bytes each; `None` where there is a part of one.
pub(super) fn floats(bytes: &[u8]) -> Option<impl Iterator<Item = f32>> {
    let (whole, rest) = bytes.as_chunks();
    rest.is_empty().then(|| whole.iter().map(|bytes| f32::from_le_bytes(*bytes)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_apart() {
        // 1: 150; 2: "ab"; 3: 1.0f32; 4: packed 1, 300.
        let bytes = [8, 150, 1, 18, 2, b'a', b'b', 29, 0, 0, 128, 63, 34, 3, 1, 172, 2];
        let mut message = Message::new(&bytes);
        let (number, field) = message.next().unwrap().unwrap();
        assert_eq!((number, field.integer("n").unwrap()), (1, 150));
        assert_eq!(message.next().unwrap().unwrap().1.text("t").unwrap(), "ab");
        assert_eq!(message.next().unwrap().unwrap().1.float("f").unwrap(), 1.0);
        let mut numbers = vec![];
        message.next().unwrap().unwrap().1.integers("p", &mut numbers).unwrap();
        assert_eq!(numbers, [1, 300]);
        assert!(message.next().unwrap().is_none());
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let says = |bytes: &[u8]| Message::new(bytes).next().unwrap_err();
        assert!(says(&[18, 5, 1]).contains("5 bytes where 1 are left"));
        assert!(says(&[18, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]).contains("left"));
        assert!(says(&[11]).contains("kind 3"));
        assert!(says(&[255; 11]).contains("ten bytes"));
        assert!(says(&[13, 1]).contains("4 bytes where 1"));
    }
}
