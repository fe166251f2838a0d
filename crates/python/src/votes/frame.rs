//! Arrow tables as frames that votes are read from: each text and number is looked at once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use dissensus::core::IdsBuilder;
use dissensus::io::cell_text;
use dissensus::votes::{Coded, Frame};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::errors::value_error;

/// Record batches of one schema.
pub(crate) struct ArrowFrame {
    names: Vec<String>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// The first row of each batch, and the number of rows.
    starts: Vec<usize>,
}

impl ArrowFrame {
    /// The batches, one after another.
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> PyResult<Self> {
        let mut starts = vec![0];
        starts.extend(batches.iter().scan(0, |rows, batch| {
            *rows += batch.num_rows();
            Some(*rows)
        }));
        if starts.last().is_some_and(|&rows| rows >= u32::MAX as usize) {
            return Err(value_error(format!("more than {} rows", u32::MAX)));
        }
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        Ok(Self { names, schema, batches, starts })
    }

    /// The batches, one after another.
    pub(crate) fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// The first row without a value in a column.
    pub(super) fn first_missing(&self, column: usize) -> Option<usize> {
        (0..self.len()).find(|&row| self.cell(row, column).is_null())
    }

    fn chunks(&self, column: usize) -> impl Iterator<Item = &ArrayRef> {
        self.batches.iter().map(move |batch| batch.column(column))
    }
}

impl Frame for ArrowFrame {
    fn columns(&self) -> &[String] {
        &self.names
    }

    fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    fn cell(&self, row: usize, column: usize) -> Value {
        let batch = self.starts.partition_point(|&start| start <= row).saturating_sub(1);
        match self.batches.get(batch) {
            Some(rows) => value(rows.column(column), row - self.starts[batch]),
            None => Value::Null,
        }
    }

    fn coded(&self, column: usize) -> Option<Coded> {
        let mut coder = Coder::new(self.len());
        match self.schema.field(column).data_type() {
            DataType::Utf8 => {
                for chunk in self.chunks(column) {
                    let texts = chunk.as_string::<i32>();
                    coder.texts(texts.len(), |at| texts.is_valid(at).then(|| texts.value(at)));
                }
            }
            DataType::LargeUtf8 => {
                for chunk in self.chunks(column) {
                    let texts = chunk.as_string::<i64>();
                    coder.texts(texts.len(), |at| texts.is_valid(at).then(|| texts.value(at)));
                }
            }
            DataType::Utf8View => {
                for chunk in self.chunks(column) {
                    let texts = chunk.as_string_view();
                    coder.texts(texts.len(), |at| texts.is_valid(at).then(|| texts.value(at)));
                }
            }
            DataType::Dictionary(_, values) if is_plain(values) => {
                for chunk in self.chunks(column) {
                    let dictionary = chunk.as_any_dictionary_opt()?;
                    let keys = match dictionary.values().is_empty() {
                        true => vec![0; dictionary.len()],
                        false => dictionary.normalized_keys(),
                    };
                    let values = dictionary.values();
                    let valid = |at: &usize| dictionary.keys().is_valid(*at);
                    coder.keys(
                        values.len(),
                        (0..keys.len()).map(|at| valid(&at).then(|| keys[at])),
                        |key| cell_text(&value(values, key)),
                    );
                }
            }
            other if other.is_integer() && *other != DataType::UInt64 => {
                let chunks: Vec<(Cow<'_, [i64]>, &ArrayRef)> = self
                    .chunks(column)
                    .map(|chunk| Some((whole_numbers(chunk)?, chunk)))
                    .collect::<Option<_>>()?;
                coder.whole_numbers(&chunks);
            }
            other if is_plain(other) => {
                let mut known: HashMap<u64, u32, FastHash> = HashMap::default();
                for chunk in self.chunks(column) {
                    coder.others(chunk, &mut known);
                }
            }
            _ => return None,
        }
        Some(Coded { texts: coder.ids.finish(), codes: coder.codes })
    }

    fn categories(&self, column: usize) -> Option<Vec<String>> {
        let field = self.schema.field(column);
        if field.dict_is_ordered() != Some(true) {
            return None;
        }
        let of = |chunk: &ArrayRef| -> Option<Vec<String>> {
            let values = chunk.as_any_dictionary_opt()?.values();
            (0..values.len()).map(|at| cell_text(&value(values, at))).collect()
        };
        let mut chunks = self.chunks(column);
        let first = of(chunks.next()?)?;
        chunks.all(|chunk| of(chunk).as_ref() == Some(&first)).then_some(first)
    }

    fn metadata(&self, key: &str) -> Option<String> {
        self.schema.metadata().get(key).cloned()
    }
}

/// Whether values of a type are single texts, numbers or flags.
fn is_plain(data_type: &DataType) -> bool {
    use DataType as T;
    matches!(data_type, T::Null | T::Boolean | T::Utf8 | T::LargeUtf8 | T::Utf8View)
        || data_type.is_integer()
        || data_type.is_floating()
}

fn whole_numbers(chunk: &ArrayRef) -> Option<Cow<'_, [i64]>> {
    macro_rules! widened {
        ($type:ty) => {
            Cow::Owned(
                chunk.as_primitive::<$type>().values().iter().map(|&v| i64::from(v)).collect(),
            )
        };
    }
    Some(match chunk.data_type() {
        DataType::Int8 => widened!(Int8Type),
        DataType::Int16 => widened!(Int16Type),
        DataType::Int32 => widened!(Int32Type),
        DataType::Int64 => Cow::Borrowed(&chunk.as_primitive::<Int64Type>().values()[..]),
        DataType::UInt8 => widened!(UInt8Type),
        DataType::UInt16 => widened!(UInt16Type),
        DataType::UInt32 => widened!(UInt32Type),
        _ => return None,
    })
}

/// A number as JSON. NaN is no value; JSON has no infinity, which is a text, as in a text file.
pub(super) fn fraction(value: f64) -> Value {
    match serde_json::Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value.is_nan() => Value::Null,
        None => Value::from(value.to_string()),
    }
}

/// A cell as JSON; a value that can be none of an id, a label or a number is an object that says so.
fn value(array: &ArrayRef, at: usize) -> Value {
    if array.is_null(at) {
        return Value::Null;
    }
    macro_rules! number {
        ($type:ty) => {
            Value::from(array.as_primitive::<$type>().value(at))
        };
    }
    let list = |values: ArrayRef| (0..values.len()).map(|at| value(&values, at)).collect();
    match array.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => Value::Bool(array.as_boolean().value(at)),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float16 => fraction(array.as_primitive::<Float16Type>().value(at).to_f64()),
        DataType::Float32 => fraction(array.as_primitive::<Float32Type>().value(at).into()),
        DataType::Float64 => fraction(array.as_primitive::<Float64Type>().value(at)),
        DataType::Utf8 => Value::from(array.as_string::<i32>().value(at)),
        DataType::LargeUtf8 => Value::from(array.as_string::<i64>().value(at)),
        DataType::Utf8View => Value::from(array.as_string_view().value(at)),
        DataType::List(_) => list(array.as_list::<i32>().value(at)),
        DataType::LargeList(_) => list(array.as_list::<i64>().value(at)),
        DataType::FixedSizeList(..) => list(array.as_fixed_size_list().value(at)),
        DataType::Struct(fields) => {
            let columns = fields.iter().zip(array.as_struct().columns());
            let object: Map<String, Value> =
                columns.map(|(field, column)| (field.name().clone(), value(column, at))).collect();
            Value::Object(object)
        }
        DataType::Dictionary(..) => match array.as_any_dictionary_opt() {
            Some(dictionary) => match value(&dictionary.keys().slice(at, 1), 0).as_u64() {
                Some(key) => value(dictionary.values(), key as usize),
                None => Value::Null,
            },
            None => Value::Null,
        },
        other => {
            let unusable = [("unusable type".to_owned(), Value::from(other.to_string()))];
            Value::Object(unusable.into_iter().collect())
        }
    }
}

/// Cells on their way to numbers of texts.
struct Coder {
    ids: IdsBuilder,
    codes: Vec<u32>,
}

/// Not numbered yet.
const NEW: u32 = u32::MAX - 1;

impl Coder {
    fn new(rows: usize) -> Self {
        Self { ids: IdsBuilder::new(), codes: Vec::with_capacity(rows) }
    }

    fn intern(&mut self, text: &str) -> u32 {
        self.ids.intern(text).map_or(Coded::NONE, |(number, _)| number)
    }

    fn texts<'a>(&mut self, rows: usize, text: impl Fn(usize) -> Option<&'a str>) {
        for at in 0..rows {
            let code = text(at).map_or(Coded::NONE, |text| self.intern(text));
            self.codes.push(code);
        }
    }

    /// Rows that are keys below `keys`, whose texts are only asked for once.
    fn keys(
        &mut self,
        keys: usize,
        rows: impl Iterator<Item = Option<usize>>,
        text: impl Fn(usize) -> Option<String>,
    ) {
        let mut known = vec![NEW; keys];
        for key in rows {
            let code = match key.and_then(|key| Some((key, *known.get(key)?))) {
                None => Coded::NONE,
                Some((key, NEW)) => {
                    known[key] = text(key).map_or(Coded::NONE, |text| self.intern(&text));
                    known[key]
                }
                Some((_, code)) => code,
            };
            self.codes.push(code);
        }
    }

    fn whole_numbers(&mut self, chunks: &[(Cow<'_, [i64]>, &ArrayRef)]) {
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for (values, array) in chunks {
            match array.nulls() {
                None => values.iter().for_each(|&v| (low, high) = (low.min(v), high.max(v))),
                Some(valid) => {
                    let values = values.iter().zip(valid).filter(|(_, valid)| *valid);
                    values.for_each(|(&v, _)| (low, high) = (low.min(v), high.max(v)));
                }
            }
        }
        let rows: usize = chunks.iter().map(|(values, _)| values.len()).sum();
        let span = high.checked_sub(low).and_then(|span| usize::try_from(span).ok());
        let mut dense = match span {
            // Numbers that lie close together are their own places in a list.
            Some(span) if span < (4 * rows).max(1 << 16) => vec![NEW; span + 1],
            _ => Vec::new(),
        };
        let mut sparse: HashMap<i64, u32, FastHash> = HashMap::default();
        for (values, array) in chunks {
            let valid = array.nulls();
            for (at, &value) in values.iter().enumerate() {
                if valid.is_some_and(|valid| valid.is_null(at)) {
                    self.codes.push(Coded::NONE);
                    continue;
                }
                let code = match dense.is_empty() {
                    false => &mut dense[(value - low) as usize],
                    true => sparse.entry(value).or_insert(NEW),
                };
                if *code == NEW {
                    *code = self.ids.intern(&value.to_string()).map_or(Coded::NONE, |(n, _)| n);
                }
                self.codes.push(*code);
            }
        }
    }

    /// Fractions, flags, and whole numbers of 64 bits without a sign: the text of each different one is made once.
    fn others(&mut self, chunk: &ArrayRef, known: &mut HashMap<u64, u32, FastHash>) {
        let bits = |at: usize| match chunk.data_type() {
            DataType::Float64 => chunk.as_primitive::<Float64Type>().value(at).to_bits(),
            DataType::Float32 => chunk.as_primitive::<Float32Type>().value(at).to_bits().into(),
            DataType::Float16 => chunk.as_primitive::<Float16Type>().value(at).to_bits().into(),
            DataType::UInt64 => chunk.as_primitive::<UInt64Type>().value(at),
            DataType::Boolean => chunk.as_boolean().value(at).into(),
            _ => 0,
        };
        for at in 0..chunk.len() {
            let code = match chunk.is_null(at) {
                true => Coded::NONE,
                false => *known.entry(bits(at)).or_insert_with(|| {
                    let text = cell_text(&value(chunk, at));
                    text.and_then(|text| self.ids.intern(&text)).map_or(Coded::NONE, |(n, _)| n)
                }),
            };
            self.codes.push(code);
        }
    }
}

/// A hash of one number, by multiplication.
#[derive(Default)]
struct NumberHash(u64);

type FastHash = BuildHasherDefault<NumberHash>;

impl Hasher for NumberHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number as u64);
    }
}
