"""Models of the columns that are given, for rows that lack the others.

Sums of columns that are not given simply are not asked, so a model of the others can be made whenever rows of training
are kept: views of the remaining columns, and weights and a calibration fitted on rows left out, as if the model had
been trained without the rest. It is a function of the model alone, made when rows first lack these columns and held in
a cache beside all models, which is bounded and no part of what is stored.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.columns import Columns
from ..families.base import is_table
from ..kernels import Kernels
from ..kernels.layouts import Array, Dense, Floats

if TYPE_CHECKING:
    from ..families.table_likelihood import TableLikelihood
    from ..statistics.kept_rows import MixedRows
    from .classifier import Classifier

# Sets of columns that one call makes models for at most: those of most rows, and of equals the first. Rows that lack
# other columns are scored by the model of all columns, with weights that follow the share of the columns they have.
MOST_PATTERNS = 16
# Maximum number of cached models.
_HELD = 32


class _Cache:
    """The models last used; safe for threads, of which two may make the same model."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._models: OrderedDict[tuple[int, frozenset[int]], Classifier] = OrderedDict()
        self._whole: dict[int, weakref.ref[Classifier]] = {}

    def get(self, whole: Classifier, absent: frozenset[int]) -> Classifier | None:
        with self._lock:
            found = self._models.get((id(whole), absent))
            if found is not None:
                self._models.move_to_end((id(whole), absent))
            return found

    def put(self, whole: Classifier, absent: frozenset[int], model: Classifier) -> None:
        key = id(whole)
        with self._lock:
            if key not in self._whole:
                self._whole[key] = weakref.ref(whole, lambda _: self._drop(key))
            self._models[key, absent] = model
            while len(self._models) > self._most:
                self._models.popitem(last=False)

    def _drop(self, key: int) -> None:
        """Drop the cached models of a deleted model, without the lock, which this thread may hold."""
        self._whole.pop(key, None)
        for pair in [pair for pair in tuple(self._models) if pair[0] == key]:
            self._models.pop(pair, None)


_CACHE = _Cache(_HELD)


def log_posterior(model: Classifier, data: Any, kernels: Kernels) -> Floats:
    """Calibrated, each row by the model of the columns that it has."""
    parts = _by_given(model, data)
    if parts is None:
        return model.calibrated(model.uncalibrated(data, kernels), data)
    out = np.empty((data.n_rows, len(model.classes)))
    for rows, own in parts:
        some = data.take(rows)
        out[rows] = own.calibrated(own.uncalibrated(some, kernels), some)
    return out


def model_for(model: Classifier, row: Any) -> Classifier:
    """The model that scores one row: that of all columns, or of those that the row has."""
    parts = _by_given(model, row)
    return model if parts is None else next(own for _, own in parts)


def nothing_given(model: Classifier, data: Any) -> Array:
    """``(rows, 1)``, or ``(1, 1)`` for all: rows whose class prior is all that is known, and not to be corrected."""
    absent = _lacking(model, data)
    none = np.zeros((1, 1), dtype=bool)
    return none if absent is None else np.asarray(absent[:, _places(model)].all(axis=1, keepdims=True))


def _by_given(model: Classifier, data: object) -> Iterator[tuple[Array, Classifier]] | None:
    """Rows with the model that scores them; None where the model of all columns scores all."""
    absent = _lacking(model, data)
    if absent is None or not model.bound_spec.corrects or model.state.sample is None:
        return None
    patterns, first, of_row, sizes = np.unique(
        absent, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    n_columns = len(_places(model))
    made = [i for i, pattern in enumerate(patterns) if 0 < pattern.sum() < n_columns]
    exact = set(sorted(made, key=lambda i: (-sizes[i], first[i]))[:MOST_PATTERNS])
    return _parts(model, patterns, of_row.ravel(), exact)


def _parts(model: Classifier, patterns: Array, of_row: Array, exact: set[int]) -> Iterator[tuple[Array, Classifier]]:
    rest = np.flatnonzero(~np.isin(of_row, list(exact)))
    if len(rest):
        yield rest, model
    for i in sorted(exact):
        yield np.flatnonzero(of_row == i), without(model, frozenset(np.flatnonzero(patterns[i]).tolist()))


def _lacking(model: Classifier, data: object) -> Array | None:
    """Return which used columns each row lacks, ``(rows, columns)``; None if no row lacks any."""
    if not isinstance(data, Columns) or not is_table(model.bound_spec.family):
        return None
    absent = data.absent()
    if absent is None:
        return None
    uses = np.zeros(data.n_columns, dtype=bool)
    uses[_places(model)] = True
    absent &= uses
    return absent if absent.any() else None


def _places(model: Classifier) -> list[int]:
    """Return the columns of the table that a model uses."""
    likelihood: TableLikelihood = model.likelihood
    return likelihood.places


def without(model: Classifier, absent: frozenset[int]) -> Classifier:
    """Return the model of all other columns."""
    found = _CACHE.get(model, absent)
    if found is None:
        found = _made(model, absent)
        _CACHE.put(model, absent, found)
    return found


def _made(model: Classifier, absent: frozenset[int]) -> Classifier:
    from .classifier import Classifier

    family, state = model.family, model.state
    assert is_table(family)
    if any(j in absent for block in family.blocks for j in block.columns):
        assert state.sample is not None
        state = replace(state, sample=replace(state.sample, data=_emptied(state.sample.data, absent)))
    made = Classifier(replace(model.bound_spec, family=family.without(absent)), state)
    # The sums are the same, and so are the models of single columns.
    vars(made)["statistics"] = model.statistics
    return made.complete()


def _emptied(data: Any, absent: frozenset[int]) -> Dense | MixedRows:
    """Return the kept rows with some columns set to missing, because blocks use several columns jointly."""
    if isinstance(data, Dense):
        return _without_cells(data, absent)
    mixed: MixedRows = data
    return replace(mixed, cells=_without_cells(mixed.cells, absent))


def _without_cells(data: Dense, absent: frozenset[int]) -> Dense:
    columns = (data.column(j) for j in range(data.n_columns))
    cells = tuple(_nothing(column) if j in absent else column for j, column in enumerate(columns))
    return replace(data, values=cells)


def _nothing(column: Array) -> Array:
    return np.full(len(column), np.nan) if column.dtype.kind in "biuf" else np.full(len(column), None, dtype=object)
