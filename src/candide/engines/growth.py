"""States of many small batches, added up."""

from __future__ import annotations

from typing import Any

from ..model.state import State
from ..statistics.table import TableStatistics
from ..statistics.texts import TextStatistics

# A sum is added to one before it once it is this part of it.
_PART = 4


class Growth:
    """Batches in the order they came. Sparse sums are made anew whenever something is added to them, so small ones are
    added up among themselves until they are worth it: a stream of n batches costs n log n, not n². Others are added to
    at once.
    """

    def __init__(self, state: State | None = None) -> None:
        self._states = [] if state is None else [state]

    @property
    def main(self) -> State | None:
        """Most of the rows, or all of them."""
        return self._states[0] if self._states else None

    def add(self, batch: State) -> None:
        """Further rows. States that were given are used up."""
        self._states.append(batch)
        while len(self._states) > 1 and is_worth_adding(n_sparse(self._states[-1]), self._states[-2]):
            self._join()

    @property
    def whole_size(self) -> int:
        """Cells of all sparse sums."""
        return sum(map(n_sparse, self._states))

    def whole(self) -> State:
        """All rows."""
        while len(self._states) > 1:
            self._join()
        return self._states[0]

    def _join(self) -> None:
        last = self._states.pop()
        self._states[-1] = self._states[-1].learn(last, in_place=True)


def is_worth_adding(n_cells: int, state: State) -> bool:
    """Whether so many cells of sparse sums are enough to make those of a state anew."""
    return _PART * n_cells >= n_sparse(state)


def n_sparse(state: State) -> int:
    """Cells of sparse sums."""
    statistics: Any = state.statistics
    texts = statistics.texts if isinstance(statistics, TableStatistics) else (statistics,)
    looks = [look for one in texts if isinstance(one, TextStatistics) for look in one.looks]
    return sum(int(getattr(look.counts.total, "nnz", 0)) for look in looks)
