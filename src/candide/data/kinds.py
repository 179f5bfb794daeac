"""What kind of column some cells are: numbers, categories, texts, or nothing but holes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..exceptions import InputError
from ..kernels import Kernels
from ..kernels.layouts import Array
from .categories import distinct_values
from .columns import DIRECT, aligned
from .dates import date_parts, date_texts, has_parts, seconds
from .index import is_exact
from .labels import Labelled, category, numbers_among, refuse_few_texts, unboxed
from .prose import is_prose, text_column
from .typed import Column, Kind

Cells = Array | Labelled


def columns_of(name: Any, cells: Cells, kinds: Mapping[Any, Kind]) -> list[Column]:
    """The columns that one of the user's makes: a date makes several."""
    kind = kinds.get(name)
    if isinstance(cells, Labelled) and not cells.declared:
        # As categories, numbers stay what they are: doubles would round the large ones.
        cells = unboxed(cells, name, numbers=kind != "category")
    if has_parts(name, kinds) and _is_empty(cells):
        cells = np.full(_n_rows(cells), "NaT", dtype="datetime64[s]")  # no date may come in any type
    if has_parts(name, kinds) and kind == "number" and isinstance(cells, Labelled):
        _refuse_texts(name, cells)
    if not isinstance(cells, Labelled) and cells.dtype.kind == "M" and kind != "category":
        return [column_of(part, values, kinds.get(part)) for part, values in date_parts(name, cells, kinds)]
    return [column_of(name, cells, kind)]


def column_of(name: Any, cells: Cells, kind: Kind | None) -> Column:
    """One column, of the kind that its cells are or that is asked for."""
    free = kind is None or kind == "missing"
    if not isinstance(cells, Labelled):
        cells = date_texts(cells) if cells.dtype.kind == "M" else _direct(cells)
    if (free or kind == "text") and _is_empty(cells):
        return Column(name, "missing", np.full(_n_rows(cells), np.nan))
    if kind == "text":
        return text_column(name, cells)
    if not isinstance(cells, Labelled):
        return _coded_numbers(name, cells) if kind == "category" else _numbers(name, cells)
    if kind == "number":
        return _numbers(name, numbers_among(cells, name))
    if free and not cells.declared:
        refuse_few_texts(cells, name)
        if is_prose(cells):
            return text_column(name, cells)
    return category(name, cells)


def _refuse_texts(name: Any, cells: Labelled) -> None:
    """Where there were dates."""
    texts = [label for label in cells.labels if isinstance(label, str)]
    if texts:
        raise InputError(
            f"column {name!r} held dates when it was learned, and now holds texts such as {texts[0]!r}; parse them "
            "first, with pandas.to_datetime or the like"
        )


def _n_rows(cells: Cells) -> int:
    return len(cells.codes if isinstance(cells, Labelled) else cells)


def _is_empty(cells: Cells) -> bool:
    if isinstance(cells, Labelled):
        return not (cells.codes >= 0).any()
    # Mostly the first cell tells.
    return cells.dtype.kind == "f" and bool(np.isnan(cells[:1]).all() and np.isnan(cells).all())


def _direct(values: Array) -> Array:
    """Numbers or durations in a type that kernels read."""
    if values.dtype.kind == "m":
        return seconds(values)
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    return aligned(values) if values.dtype in DIRECT else values.astype(np.float64)


def _numbers(name: Any, values: Array) -> Column:
    # Kernels read doubles; what they take for one number must be one in every container.
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and not is_exact(values):
        values = values.astype(np.float64)
    return Column(name, "number", values)


def _coded_numbers(name: Any, values: Array) -> Column:
    """Numbers as categories: the labels are the numbers."""
    known, index, positions = distinct_values(values, f"column {name!r}", Kernels())
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[known] = positions
    return category(name, Labelled(codes, index.labels.tolist()))
