"""One of several values: θ are the shares of the values within the class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ..encoding.categories import DIRECT_CODES, Lookup, encode_categories, look_up
from ..encoding.index import EXACT
from ..exceptions import InputError, ParameterError
from ..kernels import Kernels
from ..kernels.base import PickTable
from ..kernels.data import Array, Dense, Floats, Positions
from ..priors import LogProbability, log_share
from ..statistics import CategoryCounts
from .base import Batch

Range = Literal["range", "seen"]
Unseen = Literal["smooth", "ignore", "error"]


@dataclass(frozen=True)
class Categorical:
    """Columns of categories, smoothed by ``alpha`` per value.

    ``alpha``: one number, one per column, or one per class and column. ``categories`` says how many values a column of
    whole-number codes has: its largest code + 1 (``"range"``), or those seen. ``unseen`` says what a value that has no
    share of its own does: nothing (``"ignore"``), count as one further value (``"smooth"``), or stop (``"error"``).
    """

    alpha: float | Floats = 1.0
    categories: Range = "range"
    unseen: Unseen = "ignore"
    min_categories: int | Array | None = None

    def observe(self, batch: Batch, kernels: Kernels) -> CategoryCounts:
        coded = encode_categories(batch.data, batch.n_classes, kernels)
        counts = kernels.count_codes(coded.codes, batch.classes, batch.weight, batch.n_classes, coded.offsets)
        return CategoryCounts.of(batch.row_weight(), coded.labels, counts)

    def n_values(self, statistics: CategoryCounts) -> Array:
        """How many values each column has, the reserved one of ``unseen="smooth"`` not counted."""
        seen = [
            int(labels[-1]) + 1 if self.is_range(labels) and len(labels) else len(labels)
            for labels in statistics.labels
        ]
        return np.maximum(seen, self.least(len(seen)))

    def least(self, n_columns: int) -> Array:
        """``min_categories`` of each column, checked."""
        if self.min_categories is None:
            return np.ones(n_columns, dtype=np.int64)
        least = np.asarray(self.min_categories)
        if least.dtype.kind not in "iu":
            raise ParameterError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim > 1 or (least.ndim == 1 and len(least) != n_columns):
            raise ParameterError(
                f"'min_categories' should have shape ({n_columns},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return np.broadcast_to(least, (n_columns,))

    def pseudo(self, n_classes: int, n_columns: int) -> Floats:
        """α, ``(classes, columns)``."""
        return np.broadcast_to(np.asarray(self.alpha, dtype=np.float64), (n_classes, n_columns))

    def values(self, statistics: CategoryCounts) -> Iterator[Array]:
        """The values of each column that have a share, in the order of ``full_counts``."""
        for labels, n in zip(statistics.labels, self.n_values(statistics), strict=True):
            yield np.arange(n) if self.is_range(labels) else labels

    def is_range(self, labels: Array) -> bool:
        """Whether a column's values are all codes up to its largest (codes of 2^53 and more are just values)."""
        return self.categories == "range" and labels.dtype.kind == "i" and (not len(labels) or labels[-1] < EXACT)

    def full_counts(self, statistics: CategoryCounts) -> Iterator[Floats]:
        """Counts of every value a column has, also of those nobody saw, ``(classes, values)`` per column."""
        for j, (labels, n) in enumerate(zip(statistics.labels, self.n_values(statistics), strict=True)):
            out = np.zeros((len(statistics.rows), n))
            out[:, labels if self.is_range(labels) else slice(len(labels))] = statistics.column(j)
            yield out

    def full_log_shares(self, statistics: CategoryCounts) -> Iterator[Floats]:
        """log θ of every value a column has."""
        alpha = self.pseudo(len(statistics.rows), len(statistics.labels))
        for j, count in enumerate(self.full_counts(statistics)):
            n_cells = count.shape[1] + (self.unseen == "smooth")
            pseudo = alpha[:, j : j + 1]
            yield log_share(count + pseudo, count.sum(axis=1, keepdims=True) + pseudo * n_cells, n_cells).value()

    def likelihood(self, statistics: CategoryCounts) -> CategoricalLikelihood:
        return CategoricalLikelihood(statistics, self)

    def n_parameters(self, statistics: CategoryCounts) -> int:
        extra = 1 if self.unseen == "smooth" else 0
        return int(len(statistics.rows) * (self.n_values(statistics) + extra - 1).sum())


@dataclass(frozen=True)
class CategoricalLikelihood:
    """log p(x | class) = Σ log θ of each column's value; a missing or ignored value adds nothing."""

    statistics: CategoryCounts
    family: Categorical

    @cached_property
    def columns(self) -> list[tuple[Lookup, LogProbability]]:
        """Each column's lookup, and log θ of its slots, ``(classes, slots)``: seen, empty, and last the unseen one."""
        values = self.family.n_values(self.statistics)
        alpha = self.family.pseudo(len(self.statistics.rows), len(values))
        return [self._column(j, int(n), alpha[:, j : j + 1]) for j, n in enumerate(values)]

    def _column(self, j: int, n_values: int, alpha: Floats) -> tuple[Lookup, LogProbability]:
        labels, count = self.statistics.labels[j], self.statistics.column(j)
        ranged = self.family.is_range(labels)
        look = Lookup(labels, n_values if ranged else 0, ranged and n_values <= DIRECT_CODES)
        cells = np.zeros((len(count), look.size + 1))
        cells[:, labels if look.direct else slice(len(labels))] = count
        smooth = self.family.unseen == "smooth"
        total = count.sum(axis=1, keepdims=True) + alpha * (n_values + smooth)
        log_theta = log_share(cells + alpha, total, n_values + smooth)
        return look, log_theta if smooth else _neutral_last(log_theta)

    @cached_property
    def _offsets(self) -> Array:
        return np.concatenate([[0], np.cumsum([look.size + 1 for look, _ in self.columns])]).astype(np.int64)

    @cached_property
    def _table(self) -> PickTable:
        return PickTable(np.concatenate([theta.finite for _, theta in self.columns], axis=1).T)

    @cached_property
    def _order(self) -> PickTable | None:
        parts = [np.zeros(t.finite.shape) if t.order is None else -t.order for _, t in self.columns]
        joined = np.concatenate(parts, axis=1).T
        return PickTable(joined) if joined.any() else None

    @property
    def is_limit(self) -> bool:
        return self._order is not None

    def _codes(self, data: Dense, kernels: Kernels) -> Dense:
        codes = look_up(data, tuple(look for look, _ in self.columns), kernels)
        if self.family.unseen == "error":
            self._refuse_unseen(data, codes)
        return codes

    def _refuse_unseen(self, data: Dense, codes: Dense) -> None:
        for j, (look, _) in enumerate(self.columns):
            outside = np.flatnonzero(codes.column(j) >= look.size)
            if len(outside):
                value, row = data.column(j)[outside[:1]].tolist()[0], data.first_row + outside[0]
                raise InputError(
                    f"{data.name(j)} holds category {value!r} at row {row}, which was not seen in training; "
                    "pass unseen='ignore' or unseen='smooth', or learn it with partial_fit"
                )

    def scores(self, data: Dense, offset: Floats, kernels: Kernels) -> Floats:
        return kernels.code_scores(self._codes(data, kernels), self._offsets, self._table, offset)

    def limits(self, data: Dense, kernels: Kernels) -> list[Floats]:
        if self._order is None:
            return []
        none = np.zeros(len(self.statistics.rows))
        return [kernels.code_scores(self._codes(data, kernels), self._offsets, self._order, none)]

    def shrunk(self, data: Dense, kernels: Kernels) -> Floats:
        return self.scores(data, np.zeros(len(self.statistics.rows)), kernels)

    def log_base(self, data: Dense) -> Floats:
        return np.zeros(data.n_rows)

    def sample(self, classes: Positions, rng: np.random.Generator) -> Array:
        drawn = [self._sample_column(look, theta, classes, rng) for look, theta in self.columns]
        if all(column.dtype.kind == "i" for column in drawn):
            return np.stack(drawn, axis=1)
        out = np.empty((len(classes), len(drawn)), dtype=object)
        for j, column in enumerate(drawn):
            out[:, j] = column
        return out

    def _sample_column(
        self, look: Lookup, theta: LogProbability, classes: Positions, rng: np.random.Generator
    ) -> Array:
        # The reserved cell has no label to draw; the shares of the others are kept in proportion.
        share = np.exp(theta.value()[:, : look.size])
        if look.direct or not look.range_end:
            return _labels(look)[_draw(share, classes, rng)]
        share[:, -1] *= look.range_end - len(look.labels)
        pick = _draw(share, classes, rng)
        out = look.labels[np.minimum(pick, len(look.labels) - 1)]
        rest = np.flatnonzero(pick == len(look.labels))
        while len(rest):
            out[rest] = rng.integers(0, look.range_end, len(rest))
            rest = rest[np.isin(out[rest], look.labels)]
        return out

    def parameters(self) -> dict[str, Array]:
        parts: list[dict[str, Array]] = []
        for j, (look, theta) in enumerate(self.columns):
            labels = _labels(look)
            count = np.zeros((len(theta.finite), len(labels)))
            count[:, self.statistics.labels[j] if look.direct else slice(None)] = self.statistics.column(j)
            n_classes = len(count)
            parts.append(
                {
                    "class": np.repeat(np.arange(n_classes), len(labels)),
                    "column": np.full(n_classes * len(labels), j),
                    "value": np.tile(labels.astype(object), n_classes),
                    "count": count.ravel(),
                    "probability": np.exp(theta.value()[:, : len(labels)]).ravel(),
                }
            )
        order = np.argsort(np.concatenate([p["class"] for p in parts]), kind="stable")
        return {name: np.concatenate([p[name] for p in parts])[order] for name in parts[0]}


def _neutral_last(theta: LogProbability) -> LogProbability:
    """An unseen value says nothing about the class."""
    theta.finite[:, -1] = 0.0
    if theta.order is not None:
        theta.order[:, -1] = 0.0
    return theta


def _labels(look: Lookup) -> Array:
    """The values that a column's slots stand for; a range too long to list shows those seen."""
    return np.arange(look.size) if look.direct else look.labels


def _draw(share: Floats, classes: Positions, rng: np.random.Generator) -> Array:
    edges = np.cumsum(share / share.sum(axis=1, keepdims=True), axis=1)
    level, pick = rng.random(len(classes)), np.empty(len(classes), dtype=np.int64)
    for c in np.unique(classes):
        rows = classes == c
        pick[rows] = np.searchsorted(edges[c], level[rows], side="right")
    return np.asarray(np.minimum(pick, share.shape[1] - 1))
