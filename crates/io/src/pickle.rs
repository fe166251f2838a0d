//! Arrays out of a pickle, without running it.
//!
//! A pickle is a program for a small stack machine that can call any function. This reader knows
//! only what numpy needs to store plain arrays in lists and dictionaries: a dozen opcodes, and
//! four names that build an array from bytes. Any other name, and any other opcode, ends the
//! reading with an error that says what was asked for. Nothing is imported, called or evaluated.
//!
//! A short program can also ask for much: a value in itself a million times over, or a copy of a
//! text for every few bytes. So nesting is bounded, and what is made takes no more memory than the
//! pickle itself, a fixed number of times.

use std::rc::Rc;

use crate::error::{Problem, shorten};

/// A value in a pickle.
#[derive(Clone, Debug, PartialEq)]
pub enum Object {
    /// `None`.
    None,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A float.
    Float(f64),
    /// Text.
    Text(Rc<str>),
    /// Bytes.
    Bytes(Rc<[u8]>),
    /// A tuple.
    Tuple(Rc<[Object]>),
    /// A list.
    List(Vec<Object>),
    /// A dictionary, in order.
    Dict(Vec<(Object, Object)>),
    /// One of the names that are known.
    Name(Known),
    /// A numpy element type, such as `<i8`.
    Dtype(String),
    /// A numpy array.
    Array(NdArray),
}

/// An array as numpy pickles it.
#[derive(Clone, Debug, PartialEq)]
pub struct NdArray {
    /// The lengths of its axes.
    pub shape: Vec<usize>,
    /// Its element type.
    pub dtype: String,
    /// Whether columns come first.
    pub fortran: bool,
    /// Its values.
    pub data: Rc<[u8]>,
}

/// The only names that a pickle may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// `numpy.core.multiarray._reconstruct`
    Reconstruct,
    /// `numpy.ndarray`
    NdArray,
    /// `numpy.dtype`
    Dtype,
    /// `_codecs.encode`
    Encode,
}

fn known(module: &str, name: &str) -> Option<Known> {
    match (module, name) {
        ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => {
            Some(Known::Reconstruct)
        }
        ("numpy", "ndarray") => Some(Known::NdArray),
        ("numpy", "dtype") => Some(Known::Dtype),
        ("_codecs", "encode") => Some(Known::Encode),
        _ => None,
    }
}

fn bad<T>(message: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Pickle(message.into()))
}

/// The value that a pickle stands for.
pub fn parse(bytes: &[u8]) -> Result<Object, Problem> {
    let mut machine = Machine {
        bytes,
        at: 0,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: Vec::new(),
        encodable: bytes.len(),
    };
    machine.run()
}

/// More opcodes, memo entries, axes or values within values than an honest file of arrays has.
const MOST_STEPS: usize = 1_000_000;
const MOST_MEMO: usize = 1 << 16;
const MOST_AXES: usize = 32;
const DEEPEST: usize = 32;

/// A value and how many levels of values are inside it.
type Slot = (Object, usize);

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Slot>,
    marks: Vec<usize>,
    memo: Vec<Option<Slot>>,
    /// Bytes that `_codecs.encode` may still make: an honest pickle encodes each text once.
    encodable: usize,
}

impl<'a> Machine<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], Problem> {
        match self.bytes.get(self.at..self.at.saturating_add(n)) {
            Some(bytes) => {
                self.at += n;
                Ok(bytes)
            }
            None => bad("it ends too soon"),
        }
    }

    fn number(&mut self, n: usize) -> Result<usize, Problem> {
        let mut word = [0; 8];
        word[..n].copy_from_slice(self.take(n)?);
        usize::try_from(u64::from_le_bytes(word)).or_else(|_| bad("a length out of range"))
    }

    fn line(&mut self) -> Result<&'a str, Problem> {
        let rest = &self.bytes[self.at..];
        let Some(end) = memchr::memchr(b'\n', rest) else {
            return bad("it ends too soon");
        };
        self.at += end + 1;
        std::str::from_utf8(&rest[..end]).or_else(|_| bad("a name that is not text"))
    }

    fn text(&mut self, n: usize) -> Result<Object, Problem> {
        match std::str::from_utf8(self.take(n)?) {
            Ok(text) => Ok(Object::Text(text.into())),
            Err(_) => bad("a text that is not UTF-8"),
        }
    }

    /// Pushes a value without others inside it.
    fn push(&mut self, object: Object) {
        self.stack.push((object, 0));
    }

    fn pop(&mut self) -> Result<Slot, Problem> {
        // Values below the last mark belong to what is being built there.
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return bad("its stack runs empty");
        }
        self.stack.pop().map_or_else(|| bad("its stack runs empty"), Ok)
    }

    fn since_mark(&mut self) -> Result<Vec<Slot>, Problem> {
        match self.marks.pop() {
            Some(mark) if mark <= self.stack.len() => Ok(self.stack.split_off(mark)),
            _ => bad("a mark is missing"),
        }
    }

    /// The last values, in order.
    fn last(&mut self, n: usize) -> Result<Vec<Slot>, Problem> {
        let mut items = Vec::with_capacity(n);
        for _ in 0..n {
            items.push(self.pop()?);
        }
        items.reverse();
        Ok(items)
    }

    fn tuple(&mut self, items: Vec<Slot>) -> Result<(), Problem> {
        let depth = level_of(&items)?;
        let items: Vec<Object> = items.into_iter().map(|(object, _)| object).collect();
        self.stack.push((Object::Tuple(items.into()), depth));
        Ok(())
    }

    fn remember(&mut self, place: usize) -> Result<(), Problem> {
        if place >= MOST_MEMO {
            return bad("its memo is too large");
        }
        let Some(top) = self.stack.last().cloned() else {
            return bad("its stack runs empty");
        };
        if self.memo.len() <= place {
            self.memo.resize(place + 1, None);
        }
        // Lists and dictionaries are never remembered by value: they grow after being stored, and
        // an honest file of arrays does not ask for them again.
        let plain = !matches!(top.0, Object::List(_) | Object::Dict(_));
        self.memo[place] = plain.then_some(top);
        Ok(())
    }

    fn recall(&mut self, place: usize) -> Result<(), Problem> {
        match self.memo.get(place) {
            Some(Some(slot)) => {
                self.stack.push(slot.clone());
                Ok(())
            }
            _ => bad("it recalls what it did not store"),
        }
    }

    fn run(&mut self) -> Result<Object, Problem> {
        for _ in 0..MOST_STEPS {
            let op = self.take(1)?[0];
            match op {
                0x80 => {
                    self.take(1)?;
                }
                0x95 => {
                    self.take(8)?;
                }
                b'.' => return self.pop().map(|(object, _)| object),
                b'N' => self.push(Object::None),
                0x88 => self.push(Object::Bool(true)),
                0x89 => self.push(Object::Bool(false)),
                b'K' | b'M' => {
                    let n = self.number(if op == b'K' { 1 } else { 2 })?;
                    self.push(Object::Int(n as i64));
                }
                b'J' => {
                    let n = self.number(4)? as u32 as i32;
                    self.push(Object::Int(i64::from(n)));
                }
                0x8a => {
                    let n = self.number(1)?;
                    if n > 8 {
                        return bad("a number out of range");
                    }
                    let word = self.take(n)?;
                    let negative = word.last().is_some_and(|b| b >> 7 == 1);
                    let mut all = [if negative { 0xff } else { 0 }; 8];
                    all[..n].copy_from_slice(word);
                    self.push(Object::Int(i64::from_le_bytes(all)));
                }
                b'G' => {
                    let word: [u8; 8] = self.take(8)?.try_into().unwrap_or_default();
                    self.push(Object::Float(f64::from_be_bytes(word)));
                }
                0x8c | b'X' | 0x8d | b'C' | b'B' | 0x8e => {
                    let n = self.number(match op {
                        0x8c | b'C' => 1,
                        b'X' | b'B' => 4,
                        _ => 8,
                    })?;
                    let object = match op {
                        0x8c | b'X' | 0x8d => self.text(n)?,
                        _ => Object::Bytes(self.take(n)?.into()),
                    };
                    self.push(object);
                }
                b'(' => self.marks.push(self.stack.len()),
                b')' => self.tuple(Vec::new())?,
                0x85..=0x87 => {
                    let items = self.last(usize::from(op - 0x84))?;
                    self.tuple(items)?;
                }
                b't' => {
                    let items = self.since_mark()?;
                    self.tuple(items)?;
                }
                b']' => self.push(Object::List(Vec::new())),
                b'}' => self.push(Object::Dict(Vec::new())),
                b'a' | b'e' => {
                    let items = if op == b'a' { self.last(1)? } else { self.since_mark()? };
                    let level = level_of(&items)?;
                    match self.stack.last_mut() {
                        Some((Object::List(list), depth)) => {
                            list.extend(items.into_iter().map(|(object, _)| object));
                            *depth = level.max(*depth);
                        }
                        _ => return bad("it appends to what is no list"),
                    }
                }
                b's' | b'u' => {
                    let items = if op == b's' { self.last(2)? } else { self.since_mark()? };
                    let level = level_of(&items)?;
                    let Some((Object::Dict(dict), depth)) = self.stack.last_mut() else {
                        return bad("it sets keys of what is no dictionary");
                    };
                    *depth = level.max(*depth);
                    if items.len() % 2 == 1 {
                        return bad("a key without a value");
                    }
                    let mut items = items.into_iter().map(|(object, _)| object);
                    while let (Some(key), Some(value)) = (items.next(), items.next()) {
                        dict.push((key, value));
                    }
                }
                b'q' | b'r' => {
                    let place = self.number(if op == b'q' { 1 } else { 4 })?;
                    self.remember(place)?;
                }
                0x94 => self.remember(self.memo.len())?,
                b'h' | b'j' => {
                    let place = self.number(if op == b'h' { 1 } else { 4 })?;
                    self.recall(place)?;
                }
                b'c' => {
                    let (module, name) = (self.line()?, self.line()?);
                    self.name(module, name)?;
                }
                0x93 => {
                    let ((name, _), (module, _)) = (self.pop()?, self.pop()?);
                    match (module, name) {
                        (Object::Text(module), Object::Text(name)) => self.name(&module, &name)?,
                        _ => return bad("a name that is not text"),
                    }
                }
                b'R' => {
                    let ((arguments, _), (function, _)) = (self.pop()?, self.pop()?);
                    let result = call(function, arguments)?;
                    if let Object::Bytes(bytes) = &result {
                        let Some(left) = self.encodable.checked_sub(bytes.len()) else {
                            return bad("it encodes more than there is");
                        };
                        self.encodable = left;
                    }
                    self.push(result);
                }
                b'b' => {
                    let ((state, _), (object, _)) = (self.pop()?, self.pop()?);
                    let built = build(object, state)?;
                    self.push(built);
                }
                b'Q' | b'P' => {
                    let wanted = "a tensor storage (torch.save of tensors)".to_owned();
                    return Err(Problem::UnsafePickle { wanted });
                }
                b'i' | b'o' | 0x81 | 0x92 => {
                    let wanted = "to create an object of a class".to_owned();
                    return Err(Problem::UnsafePickle { wanted });
                }
                _ => return bad(format!("it uses the opcode {op:#04x}")),
            }
        }
        bad("it never ends")
    }

    fn name(&mut self, module: &str, name: &str) -> Result<(), Problem> {
        match known(module, name) {
            Some(name) => {
                self.push(Object::Name(name));
                Ok(())
            }
            None => Err(Problem::UnsafePickle { wanted: shorten(&format!("{module}.{name}")) }),
        }
    }
}

/// How many levels deep a value is that holds these.
fn level_of(items: &[Slot]) -> Result<usize, Problem> {
    match items.iter().map(|(_, depth)| depth + 1).max().unwrap_or(0) {
        depth if depth > DEEPEST => bad(format!("more than {DEEPEST} values inside one another")),
        depth => Ok(depth),
    }
}

/// What the known names give for their arguments.
fn call(function: Object, arguments: Object) -> Result<Object, Problem> {
    let Object::Tuple(arguments) = arguments else {
        return bad("a call without arguments");
    };
    match (function, &arguments[..]) {
        // An empty array, to be filled by `build`.
        (Object::Name(Known::Reconstruct), [Object::Name(Known::NdArray), _, _]) => {
            let data = Rc::from([].as_slice());
            Ok(Object::Array(NdArray { shape: vec![], dtype: String::new(), fortran: false, data }))
        }
        (Object::Name(Known::Dtype), [Object::Text(descr), ..]) => {
            Ok(Object::Dtype(descr.to_string()))
        }
        // Python 2 could not store bytes: they were stored as the text of the same code points.
        (Object::Name(Known::Encode), [Object::Text(text), Object::Text(codec)])
            if &**codec == "latin1" =>
        {
            let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
            bytes.map_or_else(|| bad("a byte out of range"), |b| Ok(Object::Bytes(b.into())))
        }
        _ => bad("a call that makes no array"),
    }
}

/// Fills a type or an array with its state.
fn build(object: Object, state: Object) -> Result<Object, Problem> {
    let Object::Tuple(state) = state else {
        return bad("a state that is no tuple");
    };
    match (object, &state[..]) {
        (Object::Dtype(descr), [_, Object::Text(order), ..])
            if matches!(&**order, "<" | ">" | "=" | "|") && descr.len() < 32 =>
        {
            Ok(Object::Dtype(format!("{order}{descr}")))
        }
        (
            Object::Array(_),
            [
                _,
                Object::Tuple(axes),
                Object::Dtype(dtype),
                Object::Bool(fortran),
                Object::Bytes(data),
            ],
        ) if axes.len() <= MOST_AXES => {
            let axis = |axis: &Object| match axis {
                Object::Int(n) => usize::try_from(*n).ok(),
                _ => None,
            };
            let Some(shape) = axes.iter().map(axis).collect() else {
                return bad("a shape that is not of whole numbers");
            };
            let (dtype, fortran, data) = (dtype.clone(), *fortran, data.clone());
            Ok(Object::Array(NdArray { shape, dtype, fortran, data }))
        }
        _ => bad("a state that makes no array"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_a_pickle_is_refused_by_name() {
        // pickle.dumps of an object whose __reduce__ returns (os.system, ("echo",)), protocol 2
        let attack = b"\x80\x02cposix\nsystem\nq\x00X\x04\x00\x00\x00echoq\x01\x85q\x02Rq\x03.";
        let error = parse(attack).unwrap_err();
        assert_eq!(error.to_string(), "the pickle in it wants posix.system, which is never run");
        // The same by protocol 4's STACK_GLOBAL
        let attack = b"\x80\x04\x8c\x08builtins\x94\x8c\x04eval\x94\x93\x94\x8c\x011\x94\x85R.";
        let error = parse(attack).unwrap_err();
        assert_eq!(error.to_string(), "the pickle in it wants builtins.eval, which is never run");
    }

    #[test]
    fn plain_values() {
        // pickle.dumps({"a": [1, -2, 300, None, True, 1.5]}, protocol=2)
        let bytes = b"\x80\x02}q\x00X\x01\x00\x00\x00aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,\x01N\x88G?\xf8\x00\x00\x00\x00\x00\x00es.";
        let list = vec![
            Object::Int(1),
            Object::Int(-2),
            Object::Int(300),
            Object::None,
            Object::Bool(true),
            Object::Float(1.5),
        ];
        let wanted = Object::Dict(vec![(Object::Text("a".into()), Object::List(list))]);
        assert_eq!(parse(bytes).unwrap(), wanted);
    }

    #[test]
    fn hostile_pickles_end() {
        let cases: [&[u8]; 6] = [
            b"",
            b"\x80\x02",
            b"\x80\x02X\xff\xff\xff\xffa.",
            b"\x80\x02h\x05.",
            b"t.",
            b"\x80\x02r\xff\xff\xff\x7f.",
        ];
        for bytes in cases {
            assert_eq!(parse(bytes).unwrap_err().code(), "pickle", "{bytes:?}");
        }
    }

    #[test]
    fn short_programs_cannot_ask_for_much() {
        let text = |text: &str| {
            [b"X".as_slice(), &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()
        };
        // A tuple in a tuple, half a million times: dropping it would overflow the stack.
        let deep = [b"\x80\x02)".to_vec(), vec![0x85; 500_000], b".".to_vec()].concat();
        let lists = [b"\x80\x02".to_vec(), vec![b']'; 9_999], vec![b'a'; 9_998], b".".to_vec()];
        // Each call makes a copy of the text.
        let mut copies = b"\x80\x02c_codecs\nencode\nq\x00".to_vec();
        copies.extend([text(&"x".repeat(9_000)), b"q\x01".to_vec(), text("latin1")].concat());
        copies.extend(b"q\x02");
        (0..100).for_each(|_| copies.extend(b"h\x00h\x01h\x02\x86R"));
        copies.push(b'.');
        // Each state makes the type's name longer.
        let mut name = b"\x80\x02cnumpy\ndtype\nX\x02\x00\x00\x00u1\x85R".to_vec();
        name.extend([b"K\x03".to_vec(), text(&"<".repeat(9_000)), b"\x86b.".to_vec()].concat());
        let cases = [
            (deep, "more than 32 values inside one another"),
            (lists.concat(), "more than 32 values inside one another"),
            (copies, "it encodes more than there is"),
            (name, "a state that makes no array"),
            (b"\x80\x02}(NNNu.".to_vec(), "a key without a value"),
        ];
        for (bytes, wanted) in cases {
            let error = parse(&bytes).unwrap_err().to_string();
            assert_eq!(error, format!("not a readable pickle: {wanted}"));
        }
    }
}
