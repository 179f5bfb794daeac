"""Rows that lie in many places: each place counts its own, and the sums are added on the way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..model.state import State


class Counted(NamedTuple):
    """How much was counted."""

    n_rows: int
    n_without_label: int  # rows that were left out
    n_parts: int


class Part(NamedTuple):
    """What was counted in some places, by their numbers."""

    state: State | None  # None: there were no rows
    places: frozenset[int]
    n_rows: int = 0
    n_without_label: int = 0

    @property
    def counted(self) -> Counted:
        """Without the sums."""
        return Counted(self.n_rows, self.n_without_label, len(self.places))


def merged(parts: Iterable[Part]) -> Part:
    """All parts as one. A place that was counted twice, because somebody seemed lost and was not, counts once."""
    kept = _each_once(parts)
    places = frozenset[int]().union(*(part.places for part in kept))
    states = [part.state for part in kept if part.state is not None]
    sums = (sum(part.n_rows for part in kept), sum(part.n_without_label for part in kept))
    return Part(_added(states), places, *sums)


def _each_once(parts: Iterable[Part]) -> list[Part]:
    """Parts that hold all places, and no place twice."""
    seen: set[int] = set()
    kept: list[Part] = []
    # Those of most places first: what a smaller one holds may be in it already.
    for part in sorted(parts, key=lambda part: (-len(part.places), min(part.places, default=-1))):
        if part.places <= seen:
            continue
        if part.places & seen:
            raise RuntimeError(f"parts of places {sorted(part.places & seen)} came in two different sums")
        seen |= part.places
        kept.append(part)
    return kept


def _added(states: list[State]) -> State | None:
    """Two by two, for adding to a large sum takes as long as it is large."""
    while len(states) > 1:
        pairs = zip(states[::2], states[1::2], strict=False)
        states = [a.merge(b) for a, b in pairs] + states[len(states) & ~1 :]
    return states[0] if states else None
