"""Columns of texts: which they are, and how they are read."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..exceptions import InputError
from ..kernels.layouts import Array, TextRows
from .labels import Labelled
from .texts import read_texts
from .typed import Column

# Fewer different texts may be categories.
_FEW_TEXTS = 20
# Of the cells, this share at least must be different: what is said again and again is a category.
_DIFFERENT = 0.8
# Words of a text, in the mean: names of people and things have fewer, codes have none.
_WORDS = 3.0
_WORD = re.compile(r"[^\W\d_]{2,}")
# Texts that are enough to tell.
_LOOKED_AT = 1_000


def is_prose(cells: Labelled) -> bool:
    """Whether cells are texts to be read, not names of categories: many, nearly all different, of several words.

    >>> is_prose(Labelled(np.arange(30), [f"the room was clean, number {i}" for i in range(30)]))
    True
    >>> is_prose(Labelled(np.arange(30), [f"room {i}" for i in range(30)]))
    False
    """
    n_texts = len(cells.labels)
    if n_texts <= _FEW_TEXTS or n_texts <= _DIFFERENT * np.count_nonzero(cells.codes >= 0):
        return False
    return has_words(cells.labels)


def has_words(labels: list[Any]) -> bool:
    """Whether these are strings of several words."""
    some = labels[:: -(-len(labels) // _LOOKED_AT)]
    if not all(isinstance(text, str) for text in some):
        return False
    return float(np.mean([len(_WORD.findall(text)) for text in some])) >= _WORDS


def text_column(name: Any, cells: Array | Labelled) -> Column:
    """A column of texts; anything else in it is refused."""
    if not isinstance(cells, Labelled):
        row = int((~np.isnan(cells.astype(np.float64))).argmax())
        raise _no_text(name, cells[row].item(), row)
    odd = cells.rows_of([not isinstance(label, str) for label in cells.labels])
    if len(odd):
        raise _no_text(name, cells.labels[cells.codes[odd[0]]], int(odd[0]))
    missing = cells.codes < 0
    texts = TextRows(read_texts([*cells.labels, None])).take(np.where(missing, len(cells.labels), cells.codes))
    return Column(name, "text", np.where(missing, np.nan, 0.0), texts=texts)


def _no_text(name: Any, found: Any, row: int) -> InputError:
    how = "text.decode('utf-8')" if isinstance(found, bytes) else "str(value)"
    return InputError(
        f"column {name!r} holds {found!r} at row {row}, and a column of texts needs texts; make it one, as in "
        f"{how}, or name another family: columns={{{name!r}: 'categorical'}}"
    )
