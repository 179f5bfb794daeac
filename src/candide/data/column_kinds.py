"""The kind of a column (number, category, text, missing), inferred from its cells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..exceptions import InputError
from ..kernels.layouts import Array, TextRows
from .arrays import KERNEL_DTYPES, aligned
from .column_types import (
    Cells,
    ColumnType,
    are_numbers,
    convert_cells,
    is_empty,
    n_cells,
    number_labels,
    one_label_type,
)
from .columns import Column, Kind
from .dates import date_categories, date_parts, durations_to_seconds
from .factorize import Factorized, category_column, parse_numbers, plain_labels, reject_stray_texts, unbox_cells
from .index import is_exact
from .texts import read_texts


def build_columns(name: Any, cells: Cells, kinds: Mapping[Any, Kind], types: Mapping[Any, ColumnType]) -> list[Column]:
    """Return the columns made from one input column: several for a date."""
    kind = kinds.get(name)
    if isinstance(cells, Factorized):
        cells = plain_labels(cells)
    if name in types:
        cells = convert_cells(name, cells, types[name])
        if kind in (None, "missing") and not is_empty(cells):
            kind = types[name].counted_as
    elif isinstance(cells, Factorized):
        if not cells.declared:
            # Numbers that are categories stay objects: float64 would round large integers.
            cells = unbox_cells(cells, name, numbers=kind != "category")
        if kind == "category" and isinstance(cells, Factorized):
            cells = one_label_type(cells)
    if not isinstance(cells, Factorized) and cells.dtype.kind == "M" and kind != "category":
        return [build_column(part, values, kinds.get(part)) for part, values in date_parts(name, cells, kinds)]
    return [build_column(name, cells, kind)]


def build_column(name: Any, cells: Cells, kind: Kind | None) -> Column:
    """Return one column, of the kind requested or else inferred from its cells."""
    infer = kind is None or kind == "missing"
    if not isinstance(cells, Factorized):
        cells = date_categories(cells) if cells.dtype.kind == "M" else _to_kernel_dtype(cells)
    if (infer or kind == "text") and is_empty(cells):
        return Column(name, "missing", np.full(n_cells(cells), np.nan))
    if kind == "text":
        return text_column(name, cells)
    if not isinstance(cells, Factorized):
        return category_column(name, number_labels(name, cells)) if kind == "category" else _number_column(name, cells)
    if kind == "number":
        return _number_column(name, parse_numbers(cells, name))
    if infer and not cells.declared:
        if are_numbers(cells):
            return _number_column(name, parse_numbers(cells, name))
        reject_stray_texts(cells, name)
        if is_free_text(cells):
            return text_column(name, cells)
        cells = one_label_type(cells)
        assert isinstance(cells, Factorized)
    return category_column(name, cells)


def _to_kernel_dtype(values: Array) -> Array:
    """Return numbers or durations in a data type that kernels read."""
    if values.dtype.kind == "m":
        return durations_to_seconds(values)
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    return aligned(values) if values.dtype in KERNEL_DTYPES else values.astype(np.float64)


def _number_column(name: Any, values: Array) -> Column:
    # Kernels read float64: integers that are equal as float64 must be equal in every container.
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and not is_exact(values):
        values = values.astype(np.float64)
    return Column(name, "number", values)


# A column with fewer distinct texts is categorical.
_MIN_TEXTS = 20
# The minimal share of distinct cells in a text column: categories repeat.
_MIN_DISTINCT_SHARE = 0.8
# The minimal mean number of words per text: names have fewer, codes have none.
_MIN_MEAN_WORDS = 3.0
_WORD = re.compile(r"[^\W\d_]{2,}")
# The number of texts whose words are counted.
_MAX_INSPECTED = 1_000


def is_free_text(cells: Factorized, least: int = _MIN_TEXTS) -> bool:
    """Return whether cells are free text, not categories: more than ``least``, nearly all distinct, of several words.

    Blank strings count as little as missing cells.

    >>> is_free_text(Factorized(np.arange(30), [f"the room was clean, number {i}" for i in range(30)]))
    True
    >>> is_free_text(Factorized(np.arange(30), [f"room {i}" for i in range(30)]))
    False
    """
    if len(cells.labels) <= least:
        return False
    is_blank = [isinstance(label, str) and (not label or label.isspace()) for label in cells.labels]
    n_rows = np.count_nonzero(cells.codes >= 0) - (len(cells.rows_where(is_blank)) if any(is_blank) else 0)
    texts = [label for label, blank in zip(cells.labels, is_blank, strict=True) if not blank]
    return len(texts) > max(least, _MIN_DISTINCT_SHARE * n_rows) and has_several_words(texts)


def has_several_words(labels: list[Any]) -> bool:
    """Return whether all labels are strings, of several words on average."""
    some = labels[:: -(-len(labels) // _MAX_INSPECTED)]
    if not all(isinstance(text, str) for text in some):
        return False
    return float(np.mean([len(_WORD.findall(text)) for text in some])) >= _MIN_MEAN_WORDS


def text_column(name: Any, cells: Array | Factorized) -> Column:
    """Return a text column; raise for cells that are not texts."""
    if not isinstance(cells, Factorized):
        row = int((~np.isnan(cells.astype(np.float64))).argmax())
        raise _not_text_error(name, cells[row].item(), row)
    odd = cells.rows_where([not isinstance(label, str) for label in cells.labels])
    if len(odd):
        raise _not_text_error(name, cells.labels[cells.codes[odd[0]]], int(odd[0]))
    missing = cells.codes < 0
    texts = TextRows(read_texts([*cells.labels, None])).take(np.where(missing, len(cells.labels), cells.codes))
    return Column(name, "text", np.where(missing, np.nan, 0.0), texts=texts)


def _not_text_error(name: Any, found: Any, row: int) -> InputError:
    how = "text.decode('utf-8')" if isinstance(found, bytes) else "str(value)"
    return InputError(
        f"column {name!r} contains {found!r} at row {row}, but a text column needs strings; convert the values, as in "
        f"{how}, or choose another family: columns={{{name!r}: 'categorical'}}"
    )
