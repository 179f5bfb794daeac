"""States of batches: counting one batch, adding up a stream, and merging partitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..data.index import Index
from ..data.labeled_rows import LabeledRows
from ..families import Batch
from ..kernels import Kernels
from ..kernels.counting import Hashes
from ..kernels.layouts import TextRows
from ..specs.base import BoundSpec
from ..statistics.texts import TextStatistics
from .state import State

# A sum is added to the previous one once it has at least 1 / 4 of its size.
_PART = 4


class Joining(Protocol):
    """Protocol of states and models that rows will be added to."""

    def kept_below(self, classes: Index) -> Hashes | None:
        """Return the hash of each class below which training rows are kept; None if no rows are kept."""


class NothingYet:
    """The sum of a partition before its first rows: all of them may be kept, but not their tokens."""

    def kept_below(self, classes: Index) -> None:
        """Return None: all rows are kept."""


def summarize(spec: BoundSpec, rows: LabeledRows, kernels: Kernels, joining: Joining | None = None) -> State:
    """Return the state of one batch. Rows of weight 0 are ignored: their classes do not appear.

    ``joining``: the state or model that the state will be added to. Training rows that it would not keep are not
    copied.
    """
    data, classes, positions, weight, groups = rows
    if isinstance(data, TextRows) and joining is None:
        # If these are the only texts, their tokens are needed again when stacking weights are fitted.
        data = replace(data, asked_again=True)
    batch = Batch(data, positions, weight, len(classes))
    statistics, sample = spec.family.observe(batch, kernels), None
    if spec.budget is not None:
        from ..statistics import Sample

        below = None if joining is None else joining.kept_below(classes)
        sample = Sample.of(data, positions, weight, len(classes), spec.budget, below, groups)
    if isinstance(data, TextRows):
        data.counted.clear()  # the sample keeps the tokens of its texts
    state = State(classes, np.zeros(len(classes), dtype=bool), statistics, sample=sample)
    return state if weight is None else state.without_empty_classes()


class Accumulator:
    """Adds up the states of batches, in order.

    Sparse sums are rebuilt with every addition, so small ones are first added to each other: n batches take time n log
    n instead of n². Other sums are added immediately.
    """

    def __init__(self, state: State | None = None) -> None:
        self._states = [] if state is None else [state]

    @property
    def main(self) -> State | None:
        """The state of most of the rows, or of all of them."""
        return self._states[0] if self._states else None

    def add(self, batch: State) -> None:
        """Add the state of further rows, which must not be used afterwards."""
        self._states.append(batch)
        while len(self._states) > 1 and is_worth_adding(n_sparse_cells(self._states[-1]), self._states[-2]):
            self._join()

    @property
    def n_sparse_cells(self) -> int:
        """Number of cells of all sparse sums."""
        return sum(map(n_sparse_cells, self._states))

    def total(self) -> State:
        """Return the state of all rows."""
        while len(self._states) > 1:
            self._join()
        return self._states[0]

    def _join(self) -> None:
        last = self._states.pop()
        self._states[-1] = self._states[-1].learn(last, in_place=True)


def is_worth_adding(n_cells: int, state: State) -> bool:
    """Return whether adding this many cells justifies rebuilding the sparse sums of a state."""
    return _PART * n_cells >= n_sparse_cells(state)


def n_sparse_cells(state: State) -> int:
    """Return the number of cells of the sparse sums of a state."""
    statistics: Any = state.statistics
    texts = getattr(statistics, "texts", (statistics,))
    feature_sets = [feature_set for one in texts if isinstance(one, TextStatistics) for feature_set in one.feature_sets]
    return sum(int(getattr(feature_set.counts.total, "nnz", 0)) for feature_set in feature_sets)


class RowCounts(NamedTuple):
    """Numbers of rows and partitions that were counted."""

    n_rows: int
    n_unlabeled: int  # rows without a label, which were skipped
    n_partitions: int


class PartialState(NamedTuple):
    """The state of some partitions, with their numbers."""

    state: State | None  # None if there were no rows
    partitions: frozenset[int]
    n_rows: int = 0
    n_unlabeled: int = 0
    name: str = ""  # of the chunk, in errors
    rows: tuple[Any, ...] = ()  # of small partitions that are not counted yet

    @property
    def row_counts(self) -> RowCounts:
        return RowCounts(self.n_rows, self.n_unlabeled, len(self.partitions))


def merge_partial_states(parts: Iterable[PartialState]) -> PartialState:
    """Merge partial states. A partition that was counted twice, for example after a retry, is used once."""
    kept = _each_once(parts)
    partitions = frozenset[int]().union(*(part.partitions for part in kept))
    states = [part.state for part in kept if part.state is not None]
    n_rows, n_unlabeled = sum(part.n_rows for part in kept), sum(part.n_unlabeled for part in kept)
    rows = tuple(rows for part in kept for rows in part.rows)
    return PartialState(_merge_pairwise(states), partitions, n_rows, n_unlabeled, rows=rows)


def _each_once(parts: Iterable[PartialState]) -> list[PartialState]:
    seen: set[int] = set()
    kept: list[PartialState] = []
    # Parts with the most partitions come first, because they may include smaller ones.
    for part in sorted(parts, key=lambda part: (-len(part.partitions), min(part.partitions, default=-1))):
        if part.partitions <= seen:
            continue
        if part.partitions & seen:
            raise RuntimeError(f"partitions {sorted(part.partitions & seen)} were counted twice")
        seen |= part.partitions
        kept.append(part)
    return kept


def _merge_pairwise(states: list[State]) -> State | None:
    """Merge states pairwise, because the time of an addition is proportional to the larger sum."""
    while len(states) > 1:
        pairs = zip(states[::2], states[1::2], strict=False)
        states = [a.merge(b) for a, b in pairs] + states[len(states) & ~1 :]
    return states[0] if states else None
