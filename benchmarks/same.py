"""Whether two states hold the same, array by array."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from candide.model.state import State
from candide.statistics.table import TableStatistics
from candide.statistics.texts import TextStatistics
from candide.storage.encoder import Encoder


def differences(one: State, other: State) -> dict[str, float]:
    """The arrays that differ, with the largest difference as a part of what is there; none: bit for bit the same."""
    encoders = Encoder(), Encoder()
    trees = [encoder.tree(_as_sparse(state), "state") for encoder, state in zip(encoders, (one, other), strict=True)]
    mine, theirs = (encoder.arrays for encoder in encoders)
    if trees[0] != trees[1] or any(mine[name].shape != theirs[name].shape for name in mine):
        return {"what there is": np.inf}
    return {name: _largest(mine[name], theirs[name]) for name in mine if not _equal(mine[name], theirs[name])}


def _equal(one: Any, other: Any) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _largest(one: Any, other: Any) -> float:
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    size = np.maximum(np.abs(one), np.abs(other))
    return float(np.max(np.abs(one - other) / np.where(size > 0, size, 1.0)))


def _as_sparse(state: State) -> State:
    """Sums of tokens in one form: whether they are an array or sparse hangs on how they were added."""
    statistics = state.statistics
    if isinstance(statistics, TableStatistics):
        statistics = replace(statistics, texts=tuple(map(_sparse_texts, statistics.texts)))
    elif isinstance(statistics, TextStatistics):
        statistics = _sparse_texts(statistics)
    return replace(state, statistics=statistics)


def _sparse_texts(texts: TextStatistics) -> TextStatistics:
    feature_sets = tuple(
        replace(feature_set, counts=replace(feature_set.counts, total=_sparse(feature_set.counts.total)))
        for feature_set in texts.feature_sets
    )
    return replace(texts, feature_sets=feature_sets)


def _sparse(total: Any) -> Any:
    made = csr_array(total)
    made.sum_duplicates()
    return csr_array((made.data, made.indices.astype(np.int64), made.indptr.astype(np.int64)), shape=made.shape)
