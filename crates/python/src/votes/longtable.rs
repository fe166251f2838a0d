//! The canonical long table as Arrow columns: texts are stored once, and rows are numbers.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use dissensus::core::{Scale, VoteTable};
use dissensus::votes::write::{WriteError, class_column, is_weighted, long_rows};
use pyo3::prelude::*;

use crate::errors::value_error;

/// A row per vote.
#[derive(Default)]
pub(super) struct LongColumns {
    items: Vec<Option<i32>>,
    annotators: Vec<Option<i32>>,
    classes: Vec<Option<i32>>,
    votes: Vec<Option<i64>>,
    weights: Vec<f64>,
}

impl LongColumns {
    pub(super) fn of(table: &VoteTable) -> Result<Self, WriteError> {
        let mut columns = Self::default();
        let key = |place: usize| i32::try_from(place).ok();
        long_rows(table, "long", |row| {
            columns.items.push(row.item.and_then(key));
            columns.annotators.push(row.annotator.and_then(key));
            columns.classes.push(row.class.map(i32::from));
            columns.votes.push(row.vote.and_then(|vote| i64::try_from(vote).ok()));
            columns.weights.push(row.weight);
            Ok::<(), WriteError>(())
        })?;
        Ok(columns)
    }

    pub(super) fn batch(self, table: &VoteTable) -> PyResult<RecordBatch> {
        let Self { items, annotators, classes, votes, weights } = self;
        if table.len() > i32::MAX as usize || table.annotators().len() > i32::MAX as usize {
            return Err(value_error(format!("more than {} items or annotators", i32::MAX)));
        }
        let texts = |keys: Vec<Option<i32>>, texts: StringArray| -> PyResult<ArrayRef> {
            let keys = Int32Array::from(keys);
            let column = DictionaryArray::<Int32Type>::try_new(keys, Arc::new(texts));
            Ok(Arc::new(column.map_err(|error| value_error(error.to_string()))?))
        };
        let names = table.classes().names().iter();
        let mut columns = vec![
            ("item", texts(items, StringArray::from_iter_values(table.items().iter()))?),
            (
                "annotator",
                texts(annotators, StringArray::from_iter_values(table.annotators().iter()))?,
            ),
            ("label", texts(classes.clone(), StringArray::from_iter_values(names))?),
            (class_column(table.scale()), Arc::new(Int32Array::from(classes)) as ArrayRef),
        ];
        if table.scale() == Scale::MultiLabel {
            columns.push(("vote", Arc::new(Int64Array::from(votes))));
        }
        if is_weighted(table) {
            columns.push(("weight", Arc::new(Float64Array::from(weights))));
        }
        let columns = columns.into_iter().map(|(name, column)| (name, column, true));
        RecordBatch::try_from_iter_with_nullable(columns)
            .map_err(|error| value_error(error.to_string()))
    }
}
