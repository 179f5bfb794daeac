"""Rows in many places: partitions of all kinds, and a cluster that is nothing but lists."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from candide.model.accumulator import PartialState, merge_partial_states
from candide.model.source import Chunk
from candide.model.train import Summarize, train
from candide.sources.engine_source import EngineSource

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


class ListedSource(EngineSource):
    """A cluster whose rows are a list of chunks: what is counted travels as bytes, now and then twice."""

    def __init__(self, chunks: list[Any], seed: int) -> None:
        self._chunks = [Chunk(*chunk, may_be_empty=True) for chunk in chunks]
        self._rng = np.random.default_rng(seed)

    def _first(self, n: int, having: list[str]) -> Chunk | None:
        found = [chunk for chunk in self._chunks if np.any(chunk.weight)]
        return self._joined(found) if found else None

    def batches(self, n_bytes: int, start: int = 0) -> Iterator[Chunk]:
        return iter(self._chunks)

    def summarize(self, task: Summarize, start: int = 0) -> Iterator[PartialState]:
        sent = pickle.dumps(task.for_workers())
        counts = [pickle.loads(sent).whole([chunk], i) for i, chunk in enumerate(self._chunks)]
        while len(counts) > 1:
            again = [counts[i] for i in self._rng.permutation(len(counts))[: self._rng.integers(0, 3)]]
            counts = [merge_partial_states(_sent(group)) for group in self._groups(counts, again)]
        yield counts[0]

    def _groups(self, parts: list[PartialState], again: list[PartialState]) -> Iterable[list[PartialState]]:
        """Some together; those that come twice, with their twins."""
        shuffled = [parts[i] for i in self._rng.permutation(len(parts))]
        size = int(self._rng.integers(2, 4))
        for i in range(0, len(shuffled), size):
            group = shuffled[i : i + size]
            yield group + [part for part in again if any(part is one for one in group)]


def _sent(parts: list[PartialState]) -> list[PartialState]:
    return [pickle.loads(pickle.dumps(part)) for part in parts]


def fit_apart(model: Any, chunks: list[Any], seed: int = 0) -> Any:
    """As ``fit`` does with rows of a cluster."""
    model.model_ = train(model._spec(), ListedSource(chunks, seed))
    return model


def assert_same_state(a: Any, b: Any) -> None:
    """The same sums and the same training rows."""
    assert_same_model(a, b, scale=10)
    assert_alike(a.model_.classifier.state.sample, b.model_.classifier.state.sample)
