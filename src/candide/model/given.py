"""Models of subsets of the columns, for rows in which the other columns are absent.

If training rows are kept, the views, weights and calibration can be fitted without the absent columns. The result
equals a model trained without these columns. It is computed when rows first lack them, depends only on the original
model, and is kept in a global cache of limited size, which is not stored in files.
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

# Maximum number of models per call: for the most frequent sets of absent columns, the first in case of ties. Other rows
# are scored by the model of all columns, with weights that depend on the share of the given columns.
MOST_PATTERNS = 16
# Maximum number of cached models.
_MAX_CACHED = 32


class _Cache:
    """A thread-safe cache of the models used last. Two threads may compute the same model."""

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
        """Drop the cached models of a deleted model, without acquiring the lock, which this thread may already hold."""
        self._whole.pop(key, None)
        for pair in [pair for pair in tuple(self._models) if pair[0] == key]:
            self._models.pop(pair, None)


_CACHE = _Cache(_MAX_CACHED)


def log_posterior(model: Classifier, data: Any, kernels: Kernels) -> Floats:
    """Return calibrated log posteriors, each row scored by the model of its given columns."""
    parts = _by_model(model, data)
    if parts is None:
        return model.calibrated(model.uncalibrated(data, kernels), data)
    out = np.empty((data.n_rows, len(model.classes)))
    for rows, own in parts:
        some = data.take(rows)
        out[rows] = own.calibrated(own.uncalibrated(some, kernels), some)
    return out


def model_for(model: Classifier, row: Any) -> Classifier:
    """Return the model that scores one row: that of all columns, or of the given ones."""
    parts = _by_model(model, row)
    return model if parts is None else next(own for _, own in parts)


def nothing_given(model: Classifier, data: Any) -> Array:
    """Return for which rows no column is given, ``(rows, 1)`` or ``(1, 1)``; they get the class prior, uncalibrated."""
    absent = _lacking(model, data)
    none = np.zeros((1, 1), dtype=bool)
    return none if absent is None else np.asarray(absent[:, _used_columns(model)].all(axis=1, keepdims=True))


def _by_model(model: Classifier, data: object) -> Iterator[tuple[Array, Classifier]] | None:
    """Return groups of rows with the models that score them; None if the model of all columns scores all rows."""
    absent = _lacking(model, data)
    if absent is None or not model.bound_spec.corrects or model.state.sample is None:
        return None
    patterns, first, of_row, sizes = np.unique(
        absent, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    n_columns = len(_used_columns(model))
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
    """Return which used columns are absent in each row, ``(rows, columns)``; None if no column is absent."""
    if not isinstance(data, Columns) or not is_table(model.bound_spec.family):
        return None
    absent = data.absent()
    if absent is None:
        return None
    uses = np.zeros(data.n_columns, dtype=bool)
    uses[_used_columns(model)] = True
    absent &= uses
    return absent if absent.any() else None


def _used_columns(model: Classifier) -> list[int]:
    """Return the positions of the columns of the table that a model uses."""
    likelihood: TableLikelihood = model.likelihood
    return likelihood.places


def without(model: Classifier, absent: frozenset[int]) -> Classifier:
    """Return the model of all other columns."""
    found = _CACHE.get(model, absent)
    if found is None:
        found = _fitted_without(model, absent)
        _CACHE.put(model, absent, found)
    return found


def _fitted_without(model: Classifier, absent: frozenset[int]) -> Classifier:
    from .classifier import Classifier

    family, state = model.family, model.state
    assert is_table(family)
    if any(j in absent for block in family.blocks for j in block.columns):
        assert state.sample is not None
        state = replace(state, sample=replace(state.sample, data=_with_missing_columns(state.sample.data, absent)))
    made = Classifier(replace(model.bound_spec, family=family.without(absent)), state)
    # The statistics and the models of single columns are the same.
    vars(made)["statistics"] = model.statistics
    return made.complete()


def _with_missing_columns(data: Any, absent: frozenset[int]) -> Dense | MixedRows:
    """Return the kept rows with some columns set to missing, because blocks use several columns jointly."""
    if isinstance(data, Dense):
        return _without_cells(data, absent)
    mixed: MixedRows = data
    return replace(mixed, cells=_without_cells(mixed.cells, absent))


def _without_cells(data: Dense, absent: frozenset[int]) -> Dense:
    columns = (data.column(j) for j in range(data.n_columns))
    cells = tuple(_all_missing(column) if j in absent else column for j, column in enumerate(columns))
    return replace(data, values=cells)


def _all_missing(column: Array) -> Array:
    return np.full(len(column), np.nan) if column.dtype.kind in "biuf" else np.full(len(column), None, dtype=object)
