"""The likelihood of categories: each cell selects the slot of its value."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.categories import Lookup, look_up
from ..exceptions import InputError, ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Dense, Floats, Positions
from ..kernels.tables import PickTable
from ..lazy import dataclass
from ..priors import Beta, Estimate, LogProbability, above_zero, largest, log_rising, log_share, pseudo_count
from ..statistics import CategoryCounts
from ..statistics.base import remaining
from .base import Batch, Scores
from .score_terms import CodeTable, Parts, ScoreTerms

if TYPE_CHECKING:
    from .categorical import Categorical


class Slots(NamedTuple):
    """The counts of a column by slot, the number of values of each slot, and their pseudo-counts."""

    lookup: Lookup
    cells: Floats  # (classes, slots)
    copies: Floats  # (slots,)
    alpha: Floats  # (classes or 1, slots or 1)

    def without(self, weight: float | Floats, estimate: Estimate, at: Any = ...) -> LogProbability:
        """Return log θ of cells after subtracting a weight; pseudo-counts must be non-negative.

        ``at`` selects cells.
        """
        pseudo = np.broadcast_to(pseudo_count(self.alpha, estimate), self.cells.shape)
        count, whole = self.cells.sum(axis=1, keepdims=True), (pseudo * self.copies).sum(axis=1, keepdims=True)
        count, whole = (np.broadcast_to(sums, self.cells.shape)[at] for sums in (count, whole))
        left = remaining(self.cells[at], weight) + pseudo[at]
        return log_share(left, remaining(count, weight) + whole, int(self.copies.sum()))

    def interval(self, level: float, alpha: Floats) -> tuple[Floats, Floats]:
        """Return the interval of each value in the table of parameters, given pseudo-counts."""
        after = self.cells + alpha
        others = np.maximum((after * self.copies).sum(axis=1, keepdims=True) - after, 0.0)
        listed = slice(len(labels_of(self.lookup)))
        low, high = Beta(after[:, listed], others[:, listed]).interval(level)
        return low, high

    def log_marginal_likelihood(self) -> float:
        """Return log p(column | class), summed over all classes."""
        whole, total = (self.alpha * self.copies).sum(axis=1), self.cells.sum(axis=1)
        return float(log_rising(self.alpha, self.cells).sum() - log_rising(whole, total).sum())


def with_spare(alpha: Floats, n_slots: int) -> Floats:
    """Return pseudo-counts with one more for the reserved slot, the mean of the others."""
    if alpha.shape[1] == 1:
        return alpha
    if alpha.shape[1] != n_slots:
        raise ParameterError(
            f"a column with codes up to {alpha.shape[1]} has too many values for one pseudo-count per value; pass a "
            "single pseudo-count"
        )
    return np.hstack([alpha, alpha.mean(axis=1, keepdims=True)])


def log_shares(raw: Floats, copies: Floats) -> LogProbability:
    """Return log θ of slots that stand for ``copies`` values each; see ``priors.base.parts_of`` for corner cases."""
    part = above_zero(raw)
    whole = (part * copies).sum(axis=1, keepdims=True)
    if (whole <= 0).any():
        top = np.where(copies > 0, raw, -np.inf).max(axis=1, keepdims=True)
        part = np.where(whole <= 0, largest(raw, top), part)
        whole = (part * copies).sum(axis=1, keepdims=True)
    return log_share(part, whole, int(copies.sum()))


def neutral_last(theta: LogProbability) -> LogProbability:
    """Return scores in which unseen values add 0."""
    theta.finite[:, -1] = 0.0
    if theta.order is not None:
        theta.order[:, -1] = 0.0
    return theta


def labels_of(lookup: Lookup) -> Array:
    """Return the values of a column's slots; only the observed ones if the range is too long to list."""
    return np.arange(lookup.size) if lookup.direct else lookup.labels


def draw_slots(share: Floats, classes: Positions, rng: np.random.Generator) -> Array:
    edges = np.cumsum(share / share.sum(axis=1, keepdims=True), axis=1)
    level, pick = rng.random(len(classes)), np.empty(len(classes), dtype=np.int64)
    for c in np.unique(classes):
        rows = classes == c
        pick[rows] = np.searchsorted(edges[c], level[rows], side="right")
    return np.asarray(np.minimum(pick, share.shape[1] - 1))


@dataclass(frozen=True)
class CategoricalLikelihood:
    """log p(x | class) = Σ log θ of each column's value; a missing or ignored value adds 0.

    With ``removed``, the likelihood of a row under its own class after a row of that weight was left out.
    """

    statistics: CategoryCounts
    family: Categorical
    removed: float = 0.0

    @cached_property
    def columns(self) -> list[tuple[Lookup, LogProbability]]:
        """Lookup of each column, and log θ of its slots, ``(classes, slots)``; the last slot is for unseen values."""
        return [(slots.lookup, self._log_shares(slots)) for slots in self.slots]

    @cached_property
    def slots(self) -> list[Slots]:
        """Counts of each column by slot."""
        return self.family.slots(self.statistics)

    def _log_shares(self, slots: Slots) -> LogProbability:
        if self.removed:
            # The log probability of each slot after a row in this slot was left out.
            log_theta = slots.without(self.removed, self.family.estimate)
        else:
            log_theta = log_shares(slots.cells + pseudo_count(slots.alpha, self.family.estimate), slots.copies)
        return log_theta if self.family.unseen == "smooth" else neutral_last(log_theta)

    @cached_property
    def terms(self) -> ScoreTerms:
        """Return one table per column; ``unseen="error"`` is checked in ``codes``."""
        smooth = self.family.unseen == "smooth"

        def tables(part: Callable[[LogProbability], Floats]) -> tuple[CodeTable, ...]:
            return tuple(
                CodeTable(
                    part(theta).T[: lookup.size + smooth], lookup, unseen=lookup.size if smooth else None, column=j
                )
                for j, (lookup, theta) in enumerate(self.columns)
            )

        return ScoreTerms(tables(lambda theta: theta.finite), (tables(_order_of),) if self.is_limit else ())

    def variance(self, data: Dense, kernels: Kernels) -> Floats:
        """Return the posterior variance of the scores."""
        from scipy.special import polygamma

        parts = []
        for slots in self.slots:
            after = slots.cells + self.family.proper_pseudo_counts(slots.alpha)
            each = polygamma(1, after) - polygamma(1, (after * slots.copies).sum(axis=1, keepdims=True))
            if self.family.unseen != "smooth":
                each[:, -1] = 0.0
            # A column without observations contributes 0 to the score, with variance 0.
            parts.append(each * slots.cells.any())
        none = np.zeros(len(self.statistics.rows))
        table = PickTable(np.concatenate(parts, axis=1).T)
        return kernels.code_scores(self.codes(data, kernels), self._offsets, table, none)

    @cached_property
    def _offsets(self) -> Array:
        return np.concatenate([[0], np.cumsum([lookup.size + 1 for lookup, _ in self.columns])]).astype(np.int64)

    @property
    def n_slots(self) -> int:
        """Total number of slots of all columns."""
        return int(self._offsets[-1])

    @cached_property
    def _table(self) -> PickTable:
        return PickTable(np.concatenate([theta.finite for _, theta in self.columns], axis=1).T)

    @cached_property
    def _order(self) -> PickTable | None:
        joined = np.concatenate([_order_of(theta) for _, theta in self.columns], axis=1).T
        return PickTable(joined) if joined.any() else None

    @property
    def is_limit(self) -> bool:
        return self._order is not None

    def codes(self, data: Dense, kernels: Kernels) -> Dense:
        codes = look_up(data, tuple(lookup for lookup, _ in self.columns), kernels)
        if self.family.unseen == "error":
            self._refuse_unseen(data, codes)
        return codes

    def row_codes(self, data: Dense, kernels: Kernels) -> Array:
        """Return the codes of one row, negative for missing cells, for which codes equal to the cells may be NaN."""
        codes: Array = np.nan_to_num(self.codes(data, kernels).floats()[0], nan=-1.0).astype(np.int64)
        return codes

    def _refuse_unseen(self, data: Dense, codes: Dense) -> None:
        for j, (lookup, _) in enumerate(self.columns):
            outside = np.flatnonzero(codes.column(j) >= lookup.size)
            if len(outside):
                value, row = data.column(j)[outside[:1]].tolist()[0], data.first_row + outside[0]
                raise InputError(
                    f"{data.name(j)} contains category {value!r} at row {row}, which was not seen in training; pass "
                    "unseen='ignore' or unseen='smooth', or add it with partial_fit"
                )

    def scores(self, data: Dense, offset: Floats, kernels: Kernels) -> Floats:
        return kernels.code_scores(self.codes(data, kernels), self._offsets, self._table, offset)

    def limits(self, data: Dense, kernels: Kernels) -> list[Floats]:
        return [] if self._order is None else self.code_scores(self.codes(data, kernels), None, kernels)[1:]

    def code_scores(self, codes: Dense, offset: Floats | None, kernels: Kernels) -> list[Floats]:
        """Return the scores of encoded rows, followed by their limits."""
        none = np.zeros(len(self.statistics.rows))
        tables = [(self._table, none if offset is None else offset), (self._order, none)]
        return [kernels.code_scores(codes, self._offsets, table, base) for table, base in tables if table is not None]

    def scores_with_own(
        self, other: CategoricalLikelihood, coded: Batch, offset: Floats, kernels: Kernels
    ) -> tuple[Floats, Floats]:
        """Return scores of encoded rows, and own-class scores by another likelihood, both without limits."""
        rows = coded.data, coded.classes, self._offsets
        return kernels.left_out_code_scores(*rows, self._table, other._table, offset)

    def own_codes(self, codes: Dense, classes: Positions, kernels: Kernels) -> Scores:
        """Return the score of each encoded row under its own class."""
        tables = [table for table in (self._table, self._order) if table is not None]
        finite, *limits = (kernels.own_code_scores(codes, classes, self._offsets, table) for table in tables)
        return Scores(finite, tuple(limits))

    def own_left_out(self, batch: Batch) -> Scores:
        """Return the score of each encoded row under its own class without the row, for any weights."""
        finite, order = np.zeros((2, len(batch.classes)))
        for j, slots in enumerate(self.slots):
            code = batch.data.column(j)
            known = np.flatnonzero((code >= 0) & (code < slots.lookup.size))
            weight = 1.0 if batch.weight is None else batch.weight[known]
            theta = slots.without(weight, self.family.estimate, (batch.classes[known], code[known].astype(np.int64)))
            finite[known] += theta.finite
            if theta.order is not None:
                order[known] -= theta.order
        return Scores(finite, (order,))

    def each(self, data: Dense, kernels: Kernels) -> Scores:
        return self.own_codes(self.codes(data, kernels), np.arange(data.n_rows, dtype=np.int32), kernels)

    def parts(self, data: Dense, kernels: Kernels) -> Parts:
        codes = self.row_codes(data, kernels)
        columns = np.flatnonzero(codes >= 0)
        at = codes[columns] + self._offsets[columns]
        finite, *limits = (table.rows[at] for table in (self._table, self._order) if table is not None)
        return Parts(columns, finite, tuple(limits))

    def shrunk(self, data: Dense, kernels: Kernels) -> Floats:
        return self.scores(data, np.zeros(len(self.statistics.rows)), kernels)

    def log_base(self, data: Dense) -> Floats:
        return np.zeros(data.n_rows)

    def sample(self, classes: Positions, rng: np.random.Generator) -> Array:
        drawn = [self._sample_column(lookup, theta, classes, rng) for lookup, theta in self.columns]
        if all(column.dtype.kind == "i" for column in drawn):
            return np.stack(drawn, axis=1)
        out = np.empty((len(classes), len(drawn)), dtype=object)
        for j, column in enumerate(drawn):
            out[:, j] = column
        return out

    def _sample_column(
        self, lookup: Lookup, theta: LogProbability, classes: Positions, rng: np.random.Generator
    ) -> Array:
        # The cell for unseen values has no label to draw, so the shares of the other cells are normalized.
        share = np.exp(theta.value()[:, : lookup.size])
        if lookup.direct or not lookup.range_end:
            return labels_of(lookup)[draw_slots(share, classes, rng)]
        share[:, -1] *= lookup.range_end - len(lookup.labels)
        pick = draw_slots(share, classes, rng)
        out = lookup.labels[np.minimum(pick, len(lookup.labels) - 1)]
        rest = np.flatnonzero(pick == len(lookup.labels))
        while len(rest):
            out[rest] = rng.integers(0, lookup.range_end, len(rest))
            rest = rest[np.isin(out[rest], lookup.labels)]
        return out

    def expected(self, data: Dense, posterior: Floats) -> Array:
        """Return the most probable value of each column; None if none was observed."""
        columns = []
        for (lookup, theta), seen in zip(self.columns, self.statistics.labels, strict=True):
            labels = labels_of(lookup)
            share = posterior @ np.exp(theta.value()[:, : len(labels)])
            columns.append(labels[share.argmax(axis=1)] if len(seen) else np.full(len(posterior), None))
        return np.stack([column.astype(object) for column in columns], axis=1)

    def parameters(self) -> dict[str, Array]:
        parts: list[dict[str, Array]] = []
        for j, (lookup, theta) in enumerate(self.columns):
            labels = labels_of(lookup)
            count = np.zeros((len(theta.finite), len(labels)))
            count[:, self.statistics.labels[j] if lookup.direct else slice(None)] = self.statistics.column(j)
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


def _order_of(theta: LogProbability) -> Floats:
    """Return the coefficients of the limit: probabilities of 0 diverge towards -inf."""
    return np.zeros(theta.finite.shape) if theta.order is None else -theta.order
