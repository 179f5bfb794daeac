"""Categorical distributions: θ are the shares of the values within a class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from ..data.categories import DIRECT_CODES, Lookup, encode_categories
from ..data.index import EXACT
from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Dense, Floats
from ..lazy import dataclass
from ..priors import Dirichlet, Estimate, pseudo_count
from ..statistics import CategoryCounts
from .base import (
    Batch,
    Plain,
    Scores,
    own_by_removal,
    own_by_weight,
    prior_of_column,
    put_own,
    replace_own,
    require_proper,
)
from .categorical_likelihood import CategoricalLikelihood, Slots, log_shares, with_spare

Range = Literal["range", "seen"]
Unseen = Literal["smooth", "ignore", "error"]


@dataclass(frozen=True)
class Categorical(Plain):
    """Columns of categories, with a Dirichlet prior on the shares of each column's values.

    ``prior``: one for all columns, with one pseudo-count for all values (or one per column, or per class and column);
    or one prior per column, which may have a pseudo-count for each value. ``categories`` sets the number of values
    of a column of integer codes: its largest code + 1 (``"range"``), or the number of codes seen. ``unseen`` sets how
    values that were not seen in training are treated: they are ignored (``"ignore"``), share one additional value
    (``"smooth"``), or raise an error (``"error"``).
    """

    prior: Dirichlet | tuple[Dirichlet, ...] = Dirichlet(1.0)
    categories: Range = "range"
    unseen: Unseen = "ignore"
    min_categories: int | Array | None = None
    estimate: Estimate = "mean"

    statistic: ClassVar[type[CategoryCounts]] = CategoryCounts
    separate: ClassVar[bool] = True

    def observe(self, batch: Batch, kernels: Kernels) -> CategoryCounts:
        coded = encode_categories(batch.data, batch.n_classes, kernels)
        counts = kernels.count_codes(coded.codes, batch.classes, batch.weight, batch.n_classes, coded.offsets)
        return CategoryCounts.of(batch.row_weight(), coded.labels, counts)

    def n_values(self, statistics: CategoryCounts) -> Array:
        """Return the number of values of each column, without the additional one of ``unseen="smooth"``."""
        seen = [
            int(labels[-1]) + 1 if self.is_range(labels) and len(labels) else len(labels)
            for labels in statistics.labels
        ]
        return np.maximum(seen, self.least(len(seen)))

    def least(self, n_columns: int) -> Array:
        """Return ``min_categories`` of each column, after validation."""
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

    def only(self, j: int) -> Categorical:
        least = self.min_categories
        prior = (self.prior[j],) if isinstance(self.prior, tuple) else prior_of_column(self.prior, j)
        return replace(
            self, prior=prior, min_categories=least if least is None or np.ndim(least) == 0 else np.asarray(least)[[j]]
        )

    def with_alpha(self, alpha: float | Floats) -> Categorical:
        return replace(self, prior=Dirichlet(alpha))

    def for_novelty(self) -> Categorical:
        return replace(self, unseen="smooth") if self.unseen == "ignore" else self

    def alpha(self, j: int, n_values: int) -> Floats:
        """Return the pseudo-counts of the prior of column ``j``, ``(classes or 1, values or 1)``."""
        if not isinstance(self.prior, tuple):
            alpha = np.asarray(self.prior.concentration, dtype=np.float64)
            return np.atleast_1d(alpha[..., j] if alpha.ndim else alpha)[:, None]
        alpha = np.atleast_1d(np.asarray(self.prior[j].concentration, dtype=np.float64))
        if len(alpha) not in (1, n_values):
            raise ParameterError(
                f"the prior of column {j} has {len(alpha)} pseudo-counts for {n_values} values; pass one per value, "
                "in the order of categories_, or a single number"
            )
        return alpha[None, :]

    def pseudo(self, j: int, n_values: int) -> Floats:
        """Return the pseudo-counts of column ``j``."""
        return np.asarray(pseudo_count(self.alpha(j, n_values), self.estimate))

    @property
    def _priors(self) -> tuple[Dirichlet, ...]:
        return self.prior if isinstance(self.prior, tuple) else (self.prior,)

    def values(self, statistics: CategoryCounts) -> Iterator[Array]:
        """Return the values of each column that have a share, in the order of ``full_counts``."""
        for labels, n in zip(statistics.labels, self.n_values(statistics), strict=True):
            yield np.arange(n) if self.is_range(labels) else labels

    def is_range(self, labels: Array) -> bool:
        """Return whether the values of a column are all codes up to the largest; never if a code is 2^53 or above."""
        return self.categories == "range" and labels.dtype.kind == "i" and (not len(labels) or labels[-1] < EXACT)

    def full_counts(self, statistics: CategoryCounts) -> Iterator[Floats]:
        """Return the counts of all values of each column, including unseen ones, ``(classes, values)`` per column."""
        for j, (labels, n) in enumerate(zip(statistics.labels, self.n_values(statistics), strict=True)):
            out = np.zeros((len(statistics.rows), n))
            out[:, labels if self.is_range(labels) else slice(len(labels))] = statistics.column(j)
            yield out

    def full_log_shares(self, statistics: CategoryCounts) -> Iterator[Floats]:
        """Yield log θ of all values of each column."""
        for j, count in enumerate(self.full_counts(statistics)):
            spare = np.zeros((len(count), 1))  # the cell for unseen values
            copies = np.append(np.ones(count.shape[1]), float(self.unseen == "smooth"))
            pseudo = with_spare(self.pseudo(j, count.shape[1]), count.shape[1])
            yield log_shares(np.hstack([count, spare]) + pseudo, copies).value()[:, :-1]

    def slots(self, statistics: CategoryCounts) -> list[Slots]:
        """Return the counts of each column by slot; a long range has one slot for all unseen values."""
        return [self._slots(statistics, j, int(n)) for j, n in enumerate(self.n_values(statistics))]

    def _slots(self, statistics: CategoryCounts, j: int, n_values: int) -> Slots:
        labels, count = statistics.labels[j], statistics.column(j)
        ranged = self.is_range(labels)
        lookup = Lookup(labels, n_values if ranged else 0, ranged and n_values <= DIRECT_CODES)
        cells = np.zeros((len(count), lookup.size + 1))
        cells[:, labels if lookup.direct else slice(len(labels))] = count
        copies = np.ones(lookup.size + 1)
        if not lookup.direct:
            # Unseen values share one slot. With ``min_categories`` for a column of strings, they have none.
            copies[len(labels) : lookup.size] = n_values - len(labels)
        copies[-1] = float(self.unseen == "smooth")
        if not lookup.direct and not lookup.range_end:
            copies[-1] += n_values - len(labels)
        return Slots(lookup, cells, copies, with_spare(self.alpha(j, n_values), lookup.size))

    def likelihood(self, statistics: CategoryCounts) -> CategoricalLikelihood:
        return CategoricalLikelihood(statistics, self)

    def left_out(
        self, batch: Batch, statistics: CategoryCounts, likelihood: Any, offset: Floats, kernels: Kernels
    ) -> Scores:
        def without(weight: float) -> CategoricalLikelihood:
            return CategoricalLikelihood(statistics, self, weight)

        def at_weight(part: Batch, weight: float) -> Scores:
            return without(weight).own_codes(part.data, part.classes, kernels)

        if self.estimate == "map" and min(np.min(prior.concentration) for prior in self._priors) < 1:
            # The mode may be on the boundary, where the set of values with a positive share depends on the row.
            own = own_by_removal(self, batch, statistics, kernels, likelihood.n_slots)
            return replace_own(likelihood, batch, own, offset, kernels)
        coded = batch._replace(data=likelihood.codes(batch.data, kernels))
        if batch.weight is None:
            other = without(1.0)
            if not (likelihood.is_limit or other.is_limit):
                finite, values = likelihood.scores_with_own(other, coded, offset, kernels)
                return put_own(finite, [], batch, Scores(values), offset, kernels)
        own = own_by_weight(coded, at_weight, likelihood.own_left_out, len(offset))
        finite, *limits = likelihood.code_scores(coded.data, offset, kernels)
        return put_own(finite, limits, batch, own, offset, kernels)

    def proper_pseudo_counts(self, alpha: Floats) -> Floats:
        """Return the pseudo-counts of a column; those of Jeffreys' prior if the given prior is improper."""
        proper = (alpha > 0).all(axis=1, keepdims=True) & (self.estimate != "mle")
        return np.where(proper, alpha, 0.5)

    def intervals(self, statistics: CategoryCounts, level: float) -> tuple[Floats, Floats]:
        ends = [slots.interval(level, self.proper_pseudo_counts(slots.alpha)) for slots in self.slots(statistics)]
        # Ordered by class, then by column, like the table of parameters.
        low, high = (np.hstack(columns) for columns in zip(*ends, strict=True))
        return low.ravel(), high.ravel()

    def log_marginal_likelihood(self, statistics: CategoryCounts) -> Floats:
        require_proper(self.estimate, *self._priors)
        return np.array([slots.log_marginal_likelihood() for slots in self.slots(statistics)])

    def score_variance(self, data: Dense, statistics: CategoryCounts, kernels: Kernels) -> Floats:
        return CategoricalLikelihood(statistics, self).variance(data, kernels)

    def n_parameters(self, statistics: CategoryCounts) -> int:
        extra = 1 if self.unseen == "smooth" else 0
        return int(len(statistics.rows) * (self.n_values(statistics) + extra - 1).sum())
