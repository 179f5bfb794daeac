"""What learners and clusters know of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from ..encoding.roles import Roles
from ..engines.parts import Part
from ..kernels.data import Array
from ..model.state import State

Chunk = tuple[Any, Any, Any]  # X, y and weights, as ``fit`` takes them


class Counter(Protocol):
    """A learner that knows how rows are read; it travels to where they are."""

    reads_texts: bool
    group_bytes: int

    def count(self, chunks: Iterable[Chunk]) -> State | None:
        """The sums of rows; None if there are none."""


class Answerer(Protocol):
    """A model; it travels too."""

    classes_: Array
    reads_texts: bool

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are predicted right."""

    def roles_among(self, names: list[str]) -> Roles:
        """Which of the columns of these names it looks at."""


class SpreadRows(Protocol):
    """Rows with labels, in many places."""

    @property
    def roles(self) -> Roles | None:
        """What their columns are for; None where they have no names."""

    def head(self, n: int) -> Chunk:
        """Some first rows."""

    def count(self, counter: Counter) -> Part:
        """The sums of all rows."""

    def score(self, model: Answerer) -> float:
        """The share of rows that are predicted right."""


class Cluster(Protocol):
    """What counts rows and answers them where they are."""

    def rows(self, X: Any, y: Any, sample_weight: Any, *, texts: bool) -> SpreadRows:
        """Rows to learn from; ``texts``: one column alone is learned from."""

    def answers(self, model: Answerer, verb: str, X: Any) -> Any:
        """What a verb of the model says of each row, lazily."""


def some(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Chunks in which there is something to learn: rows, not all of weight 0."""
    for X, y, weight in chunks:
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows and (weight is None or np.any(np.asarray(weight) != 0)):
            yield X, y, weight
