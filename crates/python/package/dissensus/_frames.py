"""Data frames as something that the native part reads: an Arrow stream, or lists by column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def readable(frame: Any) -> Any:
    """The frame itself where it has an Arrow stream, a pyarrow table, or a dictionary of columns."""
    if type(frame).__module__.partition(".")[0] == "datasets":
        return _dataset(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            import pyarrow  # noqa: F401  (pandas has the method and needs pyarrow for it)
        except ImportError:
            if type(frame).__module__.partition(".")[0] == "pandas":
                return {str(name): frame[name].to_numpy() for name in frame.columns}
        return frame
    if isinstance(frame, Mapping):
        return dict(frame)
    if hasattr(frame, "columns"):
        return {str(name): frame[name].to_numpy() for name in frame.columns}
    raise TypeError(
        f"a frame of type {type(frame).__name__}; expected a data frame of polars, pandas, pyarrow or duckdb, "
        "a datasets.Dataset, or a dictionary of lists"
    )


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
            numbers = table.column(name).combine_chunks()
            if isinstance(numbers, pa.ChunkedArray):
                numbers = pa.concat_arrays(numbers.chunks)
            # -1 is a label that is not known.
            numbers = pa.array([None if n is None or n < 0 else n for n in numbers.to_pylist()], pa.int32())
            names = pa.DictionaryArray.from_arrays(numbers, pa.array(feature.names), ordered=True)
            table = table.set_column(place, pa.field(name, names.type), names)
    return table
