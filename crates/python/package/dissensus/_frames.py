"""Data frames as something that the native part reads: an Arrow stream, or lists by column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def readable(frame: Any) -> Any:
    """The frame itself where it has an Arrow stream, a pyarrow table, or a dictionary of columns."""
    library, kind = type(frame).__module__.partition(".")[0], type(frame).__name__
    if kind in ("Series", "Array", "ChunkedArray"):
        raise TypeError(f"a {kind} is one column; expected a data frame, or Votes.from_arrays")
    if library == "datasets":
        return _dataset(frame)
    if library == "polars":
        return _polars(frame)
    if library == "pandas":
        return _pandas(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        return frame
    if isinstance(frame, Mapping):
        return dict(frame)
    raise TypeError(
        f"a frame of type {kind}; expected a data frame of polars, pandas, pyarrow or duckdb, a datasets.Dataset, or a "
        "dictionary of lists"
    )


def predicted(frame: Any) -> Any:
    """As `readable`, for predictions: an array where neither rows nor columns have names."""
    if type(frame).__module__.partition(".")[0] != "pandas":
        return frame
    index = frame.index
    unnamed = index.nlevels == 1 and index.name is None
    counted = unnamed and list(index) == list(range(len(index)))
    if frame.columns.inferred_type == "integer":
        if counted and list(frame.columns) == list(range(frame.shape[1])):
            return frame.to_numpy()
        # The numbers are names of classes.
        frame = frame.rename(columns=str)
    if unnamed and not counted and "id" not in frame and _holds_numbers(frame):
        frame = frame.rename_axis("id")
    return _pandas(frame)


def _polars(frame: Any) -> Any:
    import polars as pl

    frame = frame.lazy().collect()
    # A column without a type has nothing in it, and no Arrow stream that everyone reads.
    return frame.cast({name: pl.String for name, kind in frame.schema.items() if kind == pl.Null})


def _pandas(frame: Any) -> Any:
    if not frame.columns.is_unique:
        raise ValueError(f"two columns are named {frame.columns[frame.columns.duplicated()][0]!r}")
    # An index with a name is a column. Without a name, numbers count the rows; texts may be ids or not, which matters
    # beside counts: other columns say what they are.
    named = [level for level, name in enumerate(frame.index.names) if name is not None]
    if not named and frame.index.inferred_type not in ("integer", "empty") and _holds_numbers(frame):
        raise ValueError(
            'the index of the data frame has no name and is not numbers; name it, as in frame.rename_axis("item"), or '
            "drop it, as in frame.reset_index(drop=True)"
        )
    if named:
        frame = frame.reset_index(named)
    try:
        import pyarrow as pa

        return pa.Table.from_pandas(frame, preserve_index=False)
    except (ImportError, ValueError, TypeError):
        # Without pyarrow, or with a column of different types.
        return {str(name): frame[name].to_numpy() for name in frame.columns}


def _holds_numbers(frame: Any) -> bool:
    """Whether all columns of a pandas data frame are numbers."""
    return all(kind.kind in "biuf" for kind in frame.dtypes)


def _dataset(dataset: Any) -> Any:
    """A dataset of Hugging Face as a table. Class labels are numbers there, and get their names."""
    import datasets
    import pyarrow as pa

    if isinstance(dataset, Mapping):
        raise TypeError(f"a dictionary of datasets; choose one of {', '.join(map(repr, dataset))}")
    if not isinstance(dataset, datasets.Dataset):
        raise TypeError(f"a dataset of type {type(dataset).__name__}; expected datasets.Dataset")
    table = dataset.with_format("arrow")[:]
    for name, feature in dataset.features.items():
        if isinstance(feature, datasets.ClassLabel) and feature.names:
            place = table.column_names.index(name)
            # -1 is a label that is not known.
            numbers = [None if n is None or n < 0 else n for n in table.column(name).to_pylist()]
            names = pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), pa.array(feature.names), ordered=True)
            table = table.set_column(place, pa.field(name, names.type), names)
    return table
