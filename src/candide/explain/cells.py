"""Rows whose score is a sum over columns, as the likelihood adds them up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..data.columns import Columns
from ..families.score_terms import REST, Parts
from ..families.table_likelihood import TableLikelihood, texts_at
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Dense, Sparse, TextRows
from ..model.classifier import Classifier
from .dates import date_columns, written
from .terms import Term
from .tokens import code_names, tokens_of


def cell_terms(model: Classifier, row: Any, names: Array, kernels: Kernels) -> Iterator[Term]:
    """Of one row, without its prior."""
    likelihood = model.likelihood
    if isinstance(likelihood, TextLikelihood):
        yield from token_terms(likelihood, row, kernels)
        return
    yield from _of_columns(likelihood.parts(row, kernels), row, names)
    if isinstance(likelihood, TableLikelihood):
        for j, text in likelihood.texts.items():
            yield from token_terms(text, texts_at(row, j), kernels, names[j])


def _of_columns(parts: Parts, row: Any, names: Array) -> Iterator[Term]:
    values = shown_values(row, parts.columns, names)
    for i, (j, value) in enumerate(zip(parts.columns.tolist(), values, strict=True)):
        limits = tuple(limit[i] for limit in parts.limits)
        if j != REST:
            yield Term("cell", parts.finite[i], names[j], value, limits=limits)
        elif parts.finite[i].any() or any(limit.any() for limit in limits):
            yield Term("rest", parts.finite[i], value=_rest_of(row), limits=limits)


def token_terms(text: TextLikelihood, row: TextRows, kernels: Kernels, column: Any = None) -> Iterator[Term]:
    """Of one text, by the likelihood of its tokens."""
    parts = text.parts(row, kernels)
    look, coding = text.known.look, text.known.coding
    tokens = code_names(tokens_of(look.recipe, row, kernels), coding)
    for i, code in enumerate(parts.columns.tolist()):
        limits = tuple(limit[i] for limit in parts.limits)
        if code != REST:
            token = tokens[code]
            yield Term("token", parts.finite[i], column, token.name, count=float(token.times), limits=limits)
        elif parts.finite[i].any() or any(limit.any() for limit in limits):
            yield Term("rest", parts.finite[i], column, "everything not there", limits=limits)


def _rest_of(row: Data | Columns) -> str:
    if isinstance(row, Columns):
        return "columns together"
    return "everything not there" if isinstance(row, Sparse) else "all together"


def shown_values(row: Data | Columns, columns: Array, names: Array) -> list[Any]:
    """One row's cells in some columns, dates as people write them."""
    dates = date_columns(names.tolist()) if isinstance(row, Columns) else {}
    pairs = zip(columns.tolist(), _values(row, columns), strict=True)
    return [written(value) if j in dates else value for j, value in pairs]


def values_of(row: Data | Columns) -> list[Any]:
    """The cells of one row, as they were given; None where one is missing."""
    return _values(row, np.arange(row.n_columns))


def _values(row: Data | Columns, columns: Array) -> list[Any]:
    """Of one row's cells in some columns."""
    if isinstance(row, Sparse):
        held = dict(zip(row.indices.tolist(), row.values.tolist(), strict=True))
        return [or_none(held.get(j, 0.0)) for j in columns.tolist()]
    return [None if j == REST else _value(row, j) for j in columns.tolist()]


def _value(row: Data | Columns, j: int) -> Any:
    if isinstance(row, Dense):
        return or_none(row.column(j)[:1].tolist()[0])
    assert isinstance(row, Columns)
    column = row.columns[j]
    cell = column.values[:1].tolist()[0]
    if column.labels is None:
        return or_none(cell)
    return None if cell < 0 else column.labels[cell : cell + 1].tolist()[0]


def or_none(cell: Any) -> Any:
    """NaN is missing, and not even equal to itself."""
    return cell if cell == cell else None
