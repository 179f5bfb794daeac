"""One of several values: θ are the shares of the values within the class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from ..encoding.categories import DIRECT_CODES, Lookup, encode_categories, look_up
from ..encoding.index import EXACT
from ..exceptions import InputError, ParameterError
from ..kernels import Kernels
from ..kernels.base import PickTable
from ..kernels.data import Array, Dense, Floats, Positions
from ..priors import Dirichlet, Estimate, LogProbability, log_share, pseudo_count
from ..statistics import CategoryCounts
from ..statistics.base import remaining
from .base import Batch, Plain, Scores, require_proper
from .left_out import own_by_removal, own_by_weight, put_own, replace_own
from .slots import Slots, draw_slots, labels_of, log_shares, neutral_last, with_spare

Range = Literal["range", "seen"]
Unseen = Literal["smooth", "ignore", "error"]


@dataclass(frozen=True)
class Categorical(Plain):
    """Columns of categories, with a Dirichlet prior on the shares of each column's values.

    ``prior``: one for all columns, with one pseudo-count for all values (or one per column, or per class and column);
    or one prior per column, which may have a pseudo-count for each value. ``categories`` says how many values a column
    of whole-number codes has: its largest code + 1 (``"range"``), or those seen. ``unseen`` says what a value that has
    no share of its own does: nothing (``"ignore"``), count as one further value (``"smooth"``), or stop (``"error"``).
    """

    prior: Dirichlet | tuple[Dirichlet, ...] = Dirichlet(1.0)
    categories: Range = "range"
    unseen: Unseen = "ignore"
    min_categories: int | Array | None = None
    estimate: Estimate = "mean"

    separate: ClassVar[bool] = True

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

    def settle(self, statistics: CategoryCounts) -> Categorical:
        return self

    def only(self, j: int) -> Categorical:
        least = self.min_categories
        prior = (self.prior[j],) if isinstance(self.prior, tuple) else self.prior
        return replace(
            self, prior=prior, min_categories=least if least is None or np.ndim(least) == 0 else np.asarray(least)[[j]]
        )

    def with_alpha(self, alpha: float | Floats) -> Categorical:
        return replace(self, prior=Dirichlet(alpha))

    def wary(self) -> Categorical:
        return replace(self, unseen="smooth") if self.unseen == "ignore" else self

    def alpha(self, j: int, n_values: int) -> Floats:
        """The prior's pseudo-counts of column ``j``: ``(classes or 1, values or 1)``."""
        if not isinstance(self.prior, tuple):
            alpha = np.asarray(self.prior.concentration, dtype=np.float64)
            return np.atleast_1d(alpha[..., j] if alpha.ndim else alpha)[:, None]
        alpha = np.atleast_1d(np.asarray(self.prior[j].concentration, dtype=np.float64))
        if len(alpha) not in (1, n_values):
            raise ParameterError(
                f"the prior of column {j} has {len(alpha)} pseudo-counts for {n_values} values; give one per value, in "
                "the order of categories_, or one for all"
            )
        return alpha[None, :]

    def pseudo(self, j: int, n_values: int) -> Floats:
        """What is added to the counts of column ``j``."""
        return np.asarray(pseudo_count(self.alpha(j, n_values), self.estimate))

    @property
    def _priors(self) -> tuple[Dirichlet, ...]:
        return self.prior if isinstance(self.prior, tuple) else (self.prior,)

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
        for j, count in enumerate(self.full_counts(statistics)):
            spare = np.zeros((len(count), 1))  # the cell reserved for what was never seen
            copies = np.append(np.ones(count.shape[1]), float(self.unseen == "smooth"))
            pseudo = with_spare(self.pseudo(j, count.shape[1]), count.shape[1])
            yield log_shares(np.hstack([count, spare]) + pseudo, copies).value()[:, :-1]

    def likelihood(self, statistics: CategoryCounts) -> CategoricalLikelihood:
        return CategoricalLikelihood(statistics, self)

    def left_out(
        self, batch: Batch, statistics: CategoryCounts, likelihood: Any, offset: Floats, kernels: Kernels
    ) -> Scores:
        def at_weight(part: Batch, weight: float) -> Scores:
            return CategoricalLikelihood(statistics, self, weight).own_codes(part.data, part.classes, kernels)

        if self.estimate == "map" and min(np.min(prior.concentration) for prior in self._priors) < 1:
            own = own_by_removal(self, batch, statistics, kernels)
            return replace_own(likelihood, batch, own, offset, kernels)
        coded = batch._replace(data=likelihood.codes(batch.data, kernels))
        own = own_by_weight(coded, at_weight, lambda _: own_by_removal(self, batch, statistics, kernels), len(offset))
        finite, *limits = likelihood.code_scores(coded.data, offset, kernels)
        return put_own(finite, limits, batch, own, offset)

    def posterior(self, statistics: CategoryCounts) -> tuple[Dirichlet, ...]:
        """One per column, over the values it has, the reserved one last."""
        return tuple(self._posterior(j, count) for j, count in enumerate(self.full_counts(statistics)))

    def _posterior(self, j: int, count: Floats) -> Dirichlet:
        alpha, n_values = self.believed(self.alpha(j, count.shape[1])), count.shape[1]
        if self.unseen == "smooth":
            count, alpha = np.pad(count, ((0, 0), (0, 1))), with_spare(alpha, n_values)
        return Dirichlet(count + alpha)

    def believed(self, alpha: Floats) -> Floats:
        """Pseudo-counts of a column whose prior integrates to 1; Jeffreys' where there is none."""
        proper = (alpha > 0).all(axis=1, keepdims=True) & (self.estimate != "mle")
        return np.where(proper, alpha, 0.5)

    def intervals(self, statistics: CategoryCounts, level: float) -> tuple[Floats, Floats]:
        ends = [after.interval(level) for after in self.posterior(statistics)]
        listed = [slots.listed for slots in CategoricalLikelihood(statistics, self).slots]
        # By class, then by column, as the table of parameters has it.
        low, high = (np.hstack([end[k][:, cells] for end, cells in zip(ends, listed, strict=True)]) for k in (0, 1))
        return low.ravel(), high.ravel()

    def log_evidence(self, statistics: CategoryCounts) -> Floats:
        from scipy.special import gammaln

        require_proper(self.estimate, *self._priors)
        out = np.empty(len(statistics.labels))
        for j, count in enumerate(self.full_counts(statistics)):
            alpha = np.broadcast_to(self.alpha(j, count.shape[1]), count.shape)
            spare = alpha.mean(axis=1) if self.unseen == "smooth" else 0.0
            whole, total = alpha.sum(axis=1) + spare, count.sum(axis=1)
            cells = (gammaln(alpha + count) - gammaln(alpha)).sum(axis=1)
            out[j] = (cells + gammaln(whole) - gammaln(whole + total)).sum()
        return out

    def total_log_evidence(self, statistics: CategoryCounts) -> float:
        return float(self.log_evidence(statistics).sum())

    def score_variance(self, data: Dense, statistics: CategoryCounts, kernels: Kernels) -> Floats:
        return CategoricalLikelihood(statistics, self).variance(data, kernels)

    def amount(self, data: Dense) -> None:
        return None

    def n_parameters(self, statistics: CategoryCounts) -> int:
        extra = 1 if self.unseen == "smooth" else 0
        return int(len(statistics.rows) * (self.n_values(statistics) + extra - 1).sum())


@dataclass(frozen=True)
class CategoricalLikelihood:
    """log p(x | class) = Σ log θ of each column's value; a missing or ignored value adds nothing.

    With ``removed``, what a row of that weight meets in its own class once it is left out.
    """

    statistics: CategoryCounts
    family: Categorical
    removed: float = 0.0

    @cached_property
    def columns(self) -> list[tuple[Lookup, LogProbability]]:
        """Each column's lookup, and log θ of its slots, ``(classes, slots)``: seen, empty, and last the unseen one."""
        return [(slots.look, self._log_shares(slots)) for slots in self.slots]

    @cached_property
    def slots(self) -> list[Slots]:
        """The counts of each column, slot by slot."""
        values = self.family.n_values(self.statistics)
        return [self._slots(j, int(n)) for j, n in enumerate(values)]

    def _slots(self, j: int, n_values: int) -> Slots:
        labels, count = self.statistics.labels[j], self.statistics.column(j)
        ranged = self.family.is_range(labels)
        look = Lookup(labels, n_values if ranged else 0, ranged and n_values <= DIRECT_CODES)
        cells = np.zeros((len(count), look.size + 1))
        cells[:, labels if look.direct else slice(len(labels))] = count
        copies = np.ones(look.size + 1)
        if not look.direct:
            # Values that nobody saw share a slot, or have none (min_categories of a column of texts).
            copies[len(labels) : look.size] = n_values - len(labels)
        copies[-1] = float(self.family.unseen == "smooth")
        if not look.direct and not look.range_end:
            copies[-1] += n_values - len(labels)
        alpha = with_spare(self.family.alpha(j, n_values), look.size)
        return Slots(look, cells, copies, alpha)

    def _log_shares(self, slots: Slots) -> LogProbability:
        pseudo = pseudo_count(slots.alpha, self.family.estimate)
        if self.removed:
            # Each slot as the row that is in it meets it; pseudo-counts are not negative here.
            left = remaining(slots.cells, self.removed) + pseudo
            whole = remaining(slots.cells.sum(axis=1, keepdims=True), self.removed)
            whole = whole + (pseudo * slots.copies).sum(axis=1, keepdims=True)
            log_theta = log_share(left, whole, int(slots.copies.sum()))
        else:
            log_theta = log_shares(slots.cells + pseudo, slots.copies)
        return log_theta if self.family.unseen == "smooth" else neutral_last(log_theta)

    def variance(self, data: Dense, kernels: Kernels) -> Floats:
        """Posterior variance of the scores."""
        from scipy.special import polygamma

        parts = []
        for slots in self.slots:
            after = slots.cells + self.family.believed(slots.alpha)
            each = polygamma(1, after) - polygamma(1, (after * slots.copies).sum(axis=1, keepdims=True))
            if self.family.unseen != "smooth":
                each[:, -1] = 0.0
            parts.append(each)
        none = np.zeros(len(self.statistics.rows))
        table = PickTable(np.concatenate(parts, axis=1).T)
        return kernels.code_scores(self.codes(data, kernels), self._offsets, table, none)

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

    def codes(self, data: Dense, kernels: Kernels) -> Dense:
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
        return kernels.code_scores(self.codes(data, kernels), self._offsets, self._table, offset)

    def limits(self, data: Dense, kernels: Kernels) -> list[Floats]:
        return [] if self._order is None else self.code_scores(self.codes(data, kernels), None, kernels)[1:]

    def code_scores(self, codes: Dense, offset: Floats | None, kernels: Kernels) -> list[Floats]:
        """Scores of rows already looked up, and then their limits."""
        none = np.zeros(len(self.statistics.rows))
        tables = [(self._table, none if offset is None else offset), (self._order, none)]
        return [kernels.code_scores(codes, self._offsets, table, base) for table, base in tables if table is not None]

    def own_codes(self, codes: Dense, classes: Positions, kernels: Kernels) -> Scores:
        """Every row, already looked up, under its own class."""
        tables = [table for table in (self._table, self._order) if table is not None]
        finite, *limits = (kernels.own_code_scores(codes, classes, self._offsets, table) for table in tables)
        return Scores(finite, tuple(limits))

    def each(self, data: Dense, kernels: Kernels) -> Scores:
        return self.own_codes(self.codes(data, kernels), np.arange(data.n_rows, dtype=np.int32), kernels)

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
            return labels_of(look)[draw_slots(share, classes, rng)]
        share[:, -1] *= look.range_end - len(look.labels)
        pick = draw_slots(share, classes, rng)
        out = look.labels[np.minimum(pick, len(look.labels) - 1)]
        rest = np.flatnonzero(pick == len(look.labels))
        while len(rest):
            out[rest] = rng.integers(0, look.range_end, len(rest))
            rest = rest[np.isin(out[rest], look.labels)]
        return out

    def expected(self, data: Dense, posterior: Floats) -> Array:
        """The most probable value of each column; None where nobody observed any."""
        columns = []
        for (look, theta), seen in zip(self.columns, self.statistics.labels, strict=True):
            labels = labels_of(look)
            share = posterior @ np.exp(theta.value()[:, : len(labels)])
            columns.append(labels[share.argmax(axis=1)] if len(seen) else np.full(len(posterior), None))
        return np.stack([column.astype(object) for column in columns], axis=1)

    def parameters(self) -> dict[str, Array]:
        parts: list[dict[str, Array]] = []
        for j, (look, theta) in enumerate(self.columns):
            labels = labels_of(look)
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
