"""What workers do with the rows of one partition, whosever they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..exceptions import CandideError, InputError
from ..model.accumulator import PartialState
from .rows import Answerer, Chunk, Counter


class Labelled(NamedTuple):
    """Rows that have a label, and how many that came with them have none."""

    chunk: Chunk
    n_unlabeled: int


class Share(NamedTuple):
    """Weight of the rows that are predicted right, and of all."""

    right: float
    whole: float


def counted(counter: Counter, place: int, groups: Iterable[Labelled]) -> PartialState:
    """The sums of a partition, whose number errors tell."""
    n_rows = n_unlabeled = 0

    def told() -> Iterator[Labelled]:
        nonlocal n_rows, n_unlabeled
        for group in groups:
            n_rows += len(group.chunk[1]) + group.n_unlabeled
            n_unlabeled += group.n_unlabeled
            yield group

    try:
        state = counter.count(_worth_counting(told()))
    except CandideError as error:
        error.args = (f"partition {place}: {error}",)
        raise
    return PartialState(state, frozenset([place]), n_rows, n_unlabeled)


def scored(model: Answerer, groups: Iterable[Labelled]) -> Share:
    """How many rows of a partition are predicted right."""
    right = whole = 0.0
    for X, y, weight in _worth_counting(groups):
        size = float(len(y) if weight is None else np.sum(weight))
        right += model.score(X, y, weight) * size
        whole += size
    return Share(right, whole)


def share_right(shares: Iterable[Share]) -> float:
    """Of all partitions together."""
    right, whole = np.sum([*shares, (0.0, 0.0)], axis=0)
    if not whole:
        raise InputError("there are no rows with a label and a weight, and nothing to be scored")
    return float(right / whole)


def _worth_counting(groups: Iterable[Labelled]) -> Iterator[Chunk]:
    """Those in which there is something to learn: rows, not all of weight 0."""
    for (X, y, weight), _ in groups:
        if len(y) and (weight is None or np.any(np.asarray(weight) != 0)):
            yield X, y, weight
