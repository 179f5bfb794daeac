"""Rows worth a look: the surest answers, the least sure, and labels that may be wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from ..data.columns import Columns
from ..kernels.layouts import Array, Floats, Positions, TextRows

Kind = Literal["doubtful label", "least sure", "surest"]
KINDS: tuple[Kind, ...] = ("doubtful label", "least sure", "surest")
# A label is doubtful if another class has at least this probability.
DOUBTFUL = 0.9
# Bytes of a text that may be an example.
LONGEST = 10_000
_MOST = {"doubtful label": 6, "least sure": 3, "surest": 3}


class Judged(NamedTuple):
    """Rows with their labels, and what a model says of them that has not seen them."""

    data: Any
    classes: Positions
    log_probability: Floats  # (rows, classes)
    weight: Floats
    first_row: int | None = None  # where they begin in the source; None if they have no order

    @property
    def confidence(self) -> Floats:
        """The probability of the answer."""
        return np.asarray(np.exp(self.log_probability.max(axis=1)))

    @property
    def own(self) -> Floats:
        """The log probability of the label."""
        return np.asarray(self.log_probability[np.arange(len(self.classes)), self.classes])

    @property
    def right(self) -> Array:
        """Whether the answer is the label."""
        return np.asarray(self.log_probability.argmax(axis=1) == self.classes)

    @property
    def doubtful(self) -> Array:
        """Whether the label may be wrong: another class is all but certain."""
        return ~self.right & (self.confidence >= DOUBTFUL)


class Example(NamedTuple):
    """One of the rows."""

    kind: Kind
    rank: float  # the smaller, the sooner shown
    row: Any  # the data of this row alone
    place: int | None  # in the source
    label: int
    log_probability: Floats

    @property
    def answer(self) -> int:
        return int(self.log_probability.argmax())


def examples_of(rows: Judged) -> list[Example]:
    """The first of each kind."""
    counted = (rows.weight > 0) & _short(rows.data)
    doubt = _picked(rows, "doubtful label", rows.own, rows.doubtful & counted)
    unsure = _picked(rows, "least sure", rows.confidence, counted & ~rows.doubtful)
    sure = _picked(rows, "surest", -rows.log_probability.max(axis=1), rows.right & counted)
    return [*doubt, *unsure, *sure]


def best_of(found: list[Example]) -> list[Example]:
    """The first of each kind among those of several parts, in the order of the kinds."""
    ordered = sorted(found, key=lambda one: one.rank)
    return [one for kind in KINDS for one in [each for each in ordered if each.kind == kind][: _MOST[kind]]]


def _picked(rows: Judged, kind: Kind, rank: Floats, among: Array) -> Iterator[Example]:
    places = np.flatnonzero(among)
    for i in places[np.argsort(rank[places], kind="stable")[: _MOST[kind]]].tolist():
        place = None if rows.first_row is None else rows.first_row + i
        own = _kept(rows.data, np.array([i]))
        yield Example(kind, float(rank[i]), own, place, int(rows.classes[i]), rows.log_probability[i])


def _short(data: Any) -> Array:
    """Rows whose texts are no longer than what someone would read."""
    texts = [data] if isinstance(data, TextRows) else [*data.texts().values()] if isinstance(data, Columns) else []
    out = np.ones(data.n_rows, dtype=bool)
    for one in texts:
        out &= one.sizes() <= LONGEST
    return out


def _kept(data: Any, rows: Array) -> Any:
    """A copy that does not hold on to all the others."""
    return data.stored(rows) if isinstance(data, TextRows) else data.take(rows)
