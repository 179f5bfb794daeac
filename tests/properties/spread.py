"""Rows in many places: partitions of all kinds, and a cluster that is nothing but lists."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from candide.clusters.rows import Chunk, Counter, SpreadRows
from candide.clusters.work import Labelled, counted, scored, share_right
from candide.model.accumulator import PartialState, merge_partial_states
from candide.training.distributed import train_distributed

from .compare import assert_alike
from .models import assert_same_model
from .strategies import Rows, numbers, orders


@st.composite
def partitions(draw: Any, table: Rows, most: int = 5) -> list[Rows]:
    """The rows dealt out in any order; partitions may be empty, have rows of weight 0 alone, or one class alone."""
    n_rows = len(table.y)
    deal = numbers(draw, (n_rows,), list(range(most)))
    order = draw(orders(n_rows))
    return [table.take(order[deal[order] == place]) for place in range(most)]


class Lists:
    """A cluster whose rows are a list of chunks."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def rows(self, X: list[Chunk], y: Any, sample_weight: Any, casting: Any) -> SpreadRows:
        return ListedRows(X, self.seed)


class ListedRows(SpreadRows):
    """What is counted travels as bytes, now and then twice, and meets in any order."""

    roles = None

    def __init__(self, chunks: list[Chunk], seed: int) -> None:
        self._chunks = chunks
        self._rng = np.random.default_rng(seed)

    def _first(self, n: int, having: list[str]) -> Chunk | None:
        found = [(X, y, weight) for X, y, weight in self._chunks if np.any(weight)]
        return self._joined(found) if found else None

    def _empty(self, X: Any) -> list[str]:
        return []

    def _joined(self, chunks: Sequence[Chunk]) -> Chunk:
        X, y, weight = (np.concatenate([chunk[i] for chunk in chunks]) for i in range(3))
        return X, y, weight

    def count(self, counter: Counter) -> PartialState:
        sent = pickle.dumps(counter)
        counts = [counted(pickle.loads(sent), i, [Labelled(one, 0)]) for i, one in enumerate(self._chunks)]
        while len(counts) > 1:
            again = [counts[i] for i in self._rng.permutation(len(counts))[: self._rng.integers(0, 3)]]
            counts = [merge_partial_states(_sent(group)) for group in self._groups(counts, again)]
        return counts[0]

    def _groups(self, parts: list[PartialState], again: list[PartialState]) -> Iterable[list[PartialState]]:
        """Some together; those that come twice, with their twins."""
        shuffled = [parts[i] for i in self._rng.permutation(len(parts))]
        size = int(self._rng.integers(2, 4))
        for i in range(0, len(shuffled), size):
            group = shuffled[i : i + size]
            yield group + [part for part in again if any(part is one for one in group)]

    def score(self, model: Any) -> float:
        return share_right(scored(model, [Labelled(one, 0)]) for one in self._chunks)


def _sent(parts: list[PartialState]) -> list[PartialState]:
    return [pickle.loads(pickle.dumps(part)) for part in parts]


def fit_apart(model: Any, chunks: list[Chunk], seed: int = 0) -> Any:
    """As ``fit`` does with rows of a cluster."""
    model.model_ = train_distributed(model._spec(), Lists(seed), chunks, None, None, None)
    return model


def assert_same_state(a: Any, b: Any) -> None:
    """The same sums and the same training rows."""
    assert_same_model(a, b, scale=10)
    assert_alike(a.model_.classifier.state.sample, b.model_.classifier.state.sample)
