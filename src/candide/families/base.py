"""The protocols of families and likelihoods. A family reduces rows to a statistic, and a statistic to a likelihood.

The module also computes exact leave-one-out scores for any family: each row is subtracted from the statistic and
scored. For most families only the score under the row's own class changes. Families whose classes share parameters
implement ``left_out`` themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeGuard

import numpy as np

from ..exceptions import ForgetError, ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions, chunks
from ..priors import Estimate, Prior
from ..statistics import Statistics

if TYPE_CHECKING:
    from .score_terms import Parts
    from .table import TableFamily

# Largest pseudo-count tried: smoothed shares are almost equal at this value.
_MAX_PSEUDO_COUNT = float(np.exp(6.0))
# Number of cells per block where a table of all cells would be too large.
CELLS = 1 << 20


class Batch(NamedTuple):
    """Encoded rows with their classes and weights."""

    data: Any
    classes: Positions
    weight: Floats | None
    n_classes: int

    def row_weight(self) -> Floats:
        """Return the weight of the rows of each class."""
        return np.bincount(self.classes, self.weight, minlength=self.n_classes).astype(np.float64, copy=False)

    def rows(self, begin: int, end: int, data: Any) -> Batch:
        """Return rows ``begin`` to ``end``, which are ``data``."""
        weight = None if self.weight is None else self.weight[begin:end]
        return Batch(data, self.classes[begin:end], weight, self.n_classes)

    def take(self, rows: Array) -> Batch:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Batch(self.data.take(rows), self.classes[rows], weight, self.n_classes)


class Scores(NamedTuple):
    """Finite scores, and the coefficients of diverging terms: dominant term first, positive if it tends to +inf.

    ``(rows, classes)`` each, or ``(rows,)`` where every row is scored under one class only.
    """

    finite: Floats
    limits: tuple[Floats, ...] = ()


class Likelihood(Protocol):
    """log p(x | class), ready to be evaluated. ``offset`` is added to every row: the log prior of the classes.

    Probabilities of 0 and infinite densities are represented as limits. If there are any, ``limits`` returns the
    coefficients of the diverging terms, dominant term first, and ``scores`` the finite remainder.
    """

    @property
    def is_limit(self) -> bool:
        """Whether some parameter is a limit, so that ``limits`` is needed."""

    def scores(self, data: Any, offset: Floats, kernels: Kernels) -> Floats:
        """Return ``(rows, classes)``, up to a term that is the same for all classes."""

    def limits(self, data: Any, kernels: Kernels) -> list[Floats]:
        """Return the coefficients of diverging terms, ``(rows, classes)`` each, positive if the term tends to +inf."""

    def each(self, data: Any, kernels: Kernels) -> Scores:
        """Return the score of row ``i`` under class ``i``, ``(rows,)``; there are as many classes as rows."""

    def parts(self, data: Any, kernels: Kernels) -> Parts:
        """Return the contributions that sum to the scores and limits of one row."""

    def shrunk(self, data: Any, kernels: Kernels) -> Floats:
        """Return the scores times a tiny factor, for rows whose scores overflow."""

    def log_base(self, data: Any) -> Floats:
        """Return the term of log p(x | class) that is the same for all classes, ``(rows,)``."""

    def sample(self, classes: Positions, rng: np.random.Generator) -> Any:
        """Draw a row for each given class."""

    def expected(self, data: Any, posterior: Floats) -> Any:
        """Return the expectation of missing cells, ``(rows, columns)``, given p(class | observed cells)."""

    def parameters(self) -> dict[str, Array]:
        """Return columns ``class`` and ``column`` (as positions), then counts and parameters."""


class Family(Protocol):
    """A family of distributions with a prior and a kind of estimate. Frozen: methods return new objects."""

    statistic: ClassVar[type[Any]]  # what ``observe`` returns
    separate: ClassVar[bool]  # whether columns have separate parameters and pseudo-counts

    @property
    def prior(self) -> Any:
        """The prior of the parameters."""

    @property
    def estimate(self) -> Estimate:
        """How a parameter is estimated from its posterior."""

    def observe(self, batch: Batch, kernels: Kernels) -> Statistics:
        """Return the statistic of a batch of rows."""

    def restored(self, data: Any, statistics: Any) -> Any:
        """Return rows of a sample in the form that this family reads."""

    def for_choices(self) -> Self:
        """Return the family for leave-one-out scores used in model selection, which may keep class sizes fixed."""

    def resolve(self, statistics: Any) -> Self:
        """Return the family with everything estimated from all classes together (floors, empirical priors) fixed."""

    def likelihood(self, statistics: Any) -> Likelihood:
        """Return the likelihood estimated from the statistic and the prior."""

    def left_out(
        self, batch: Batch, statistics: Any, likelihood: Likelihood, offset: Floats, kernels: Kernels
    ) -> Scores:
        """Return the leave-one-out scores of rows that are included in the statistic.

        ``likelihood`` is that of the statistic; ``offset`` is added to every row, as in ``Likelihood.scores``.
        """

    def only(self, j: int) -> Self:
        """Return the family of column ``j`` alone, if columns have separate parameters."""

    def with_alpha(self, alpha: float | Floats) -> Self:
        """Return the family with another pseudo-count: one, or one per column."""

    def most_alpha(self, statistics: Any) -> float | Floats:
        """Return the largest pseudo-count to try when it is estimated: one, or one per column."""

    def for_novelty(self) -> Self:
        """Return the family for novelty scores: unseen values lower the density instead of being ignored."""

    def intervals(self, statistics: Any, level: float) -> Any:
        """Return ``(low, high)`` for each row of the table of parameters, or one pair each for means and variances."""

    def log_marginal_likelihood(self, statistics: Any) -> Floats:
        """Return the log marginal likelihood of each column, over all rows and classes."""

    def total_log_marginal_likelihood(self, statistics: Any) -> float:
        """Return the log marginal likelihood of all columns together."""

    def score_variance(self, data: Any, statistics: Any, kernels: Kernels) -> Floats:
        """Return the posterior variance of log p(x | class), ``(rows, classes)``."""

    def score_covariance(self, data: Any, of: Positions, against: Positions, statistics: Any) -> Floats:
        """Return the posterior covariance of a row's log p(x | class) for two classes, ``(rows,)``."""

    def amount(self, data: Any) -> Floats | None:
        """Return the size of each row if it varies, such as the length of a text, else None."""

    def n_parameters(self, statistics: Any) -> int:
        """Return the number of free parameters of p(x | class), over all classes."""


class Plain:
    """Defaults for most families: classes do not share parameters, and no value is ignored."""

    of_table: ClassVar[bool] = False  # whether columns have families of their own

    def resolve(self, statistics: Any) -> Self:
        return self

    def most_alpha(self, statistics: Any) -> float | Floats:
        return _MAX_PSEUDO_COUNT

    def only(self, j: int) -> Self:
        raise TypeError(
            f"a {type(self).__name__} has no parameters for single columns: its columns share their parameters"
        )

    def for_novelty(self) -> Self:
        return self

    def restored(self, data: Any, statistics: Any) -> Any:
        return data

    def for_choices(self) -> Self:
        return self

    def posterior(self, statistics: Any) -> Any:
        """Return the posterior of the parameters."""
        raise NotImplementedError

    def intervals(self, statistics: Any, level: float) -> Any:
        low, high = self.posterior(statistics).interval(level)
        return low.ravel(), high.ravel()

    def log_marginal_likelihood(self, statistics: Any) -> Floats:
        raise NotImplementedError

    def total_log_marginal_likelihood(self, statistics: Any) -> float:
        return float(self.log_marginal_likelihood(statistics).sum())

    def score_covariance(self, data: Any, of: Positions, against: Positions, statistics: Any) -> Floats:
        return np.zeros(data.n_rows)

    def amount(self, data: Any) -> Floats | None:
        return None


def is_table(family: Family | None) -> TypeGuard[TableFamily]:
    """Return whether a family is a ``TableFamily``, without importing its module."""
    return getattr(family, "of_table", False)


def prior_of_column(prior: Any, j: int) -> Any:
    """Return the prior of column ``j`` alone: columns are the last axis of its arrays."""
    return replace(prior, **{name: value[..., [j]] for name, value in vars(prior).items() if np.ndim(value)})


def cell_positions(n_classes: int, n_columns: int) -> dict[str, Array]:
    """Return the ``class`` and ``column`` columns of a parameter table with one row per class and column."""
    return {
        "class": np.repeat(np.arange(n_classes), n_columns),
        "column": np.tile(np.arange(n_columns), n_classes),
    }


def require_proper(estimate: Estimate, *priors: Prior) -> None:
    """Check that priors integrate to 1, which a marginal likelihood requires."""
    if estimate == "mle" or not all(prior.is_proper for prior in priors):
        raise ParameterError(
            "log_marginal_likelihood needs a proper prior (one that integrates to 1), but this model has none "
            "(maximum likelihood or a pseudo-count of 0); choose estimate='mean' or 'map' with alpha above 0, or pass "
            "a parameter_prior"
        )


def replace_own(likelihood: Likelihood, batch: Batch, own: Scores, offset: Floats, kernels: Kernels) -> Scores:
    """Return scores under all classes, with those of the rows' own classes replaced."""
    finite = likelihood.scores(batch.data, offset, kernels)
    return put_own(finite, likelihood.limits(batch.data, kernels), batch, own, offset, kernels)


def put_own(
    finite: Floats, limits: list[Floats], batch: Batch, own: Scores, offset: Floats, kernels: Kernels
) -> Scores:
    """Replace the score of each row under its own class; rows of weight 0 are not in the statistic and keep theirs."""
    if not limits and any(limit.any() for limit in own.limits):
        limits = [np.zeros_like(finite) for _ in own.limits]
    kernels.put_own(finite, batch.classes, batch.weight, own.finite, offset)
    for k, limit in enumerate(limits):
        values = own.limits[k] if own.limits else np.zeros(len(finite))
        kernels.put_own(limit, batch.classes, batch.weight, values, np.zeros(len(offset)))
    return Scores(finite, tuple(limits))


def own_by_removal(
    family: Family, batch: Batch, statistics: Any, kernels: Kernels, n_cells: int | None = None
) -> Scores:
    """Return left-out scores under the own class by removing each row from the statistic: exact for any family, slow.

    ``n_cells``: number of parameters of a class, if not one per column.
    """
    parts = [_own(family, part, statistics, kernels) for part in row_ranges(batch, n_cells or batch.data.n_columns)]
    finite, *limits = map(np.concatenate, _aligned(parts))
    return Scores(finite, tuple(limits))


def _own(family: Family, batch: Batch, statistics: Any, kernels: Kernels) -> Scores:
    return family.likelihood(remove_each(family, batch, statistics, kernels)).each(batch.data, kernels)


def remove_each(family: Family, batch: Batch, statistics: Any, kernels: Kernels) -> Any:
    """Return a statistic with one class per row: the statistic of the row's class without the row."""
    n_rows = len(batch.classes)
    alone = family.observe(Batch(batch.data, np.arange(n_rows, dtype=np.int32), batch.weight, n_rows), kernels)
    return statistics.take(batch.classes).without(alone)


def row_ranges(batch: Batch, n_cells: int) -> Iterator[Batch]:
    """Yield parts of the batch that fit in memory, for rows of ``n_cells`` cells."""
    for begin, end, data in chunks(batch.data, max(1, CELLS // max(1, n_cells))):
        yield batch.rows(begin, end, data)


def own_by_weight(
    batch: Batch, score: Callable[[Batch, float], Scores], otherwise: Callable[[Batch], Scores], n_classes: int
) -> Scores:
    """Return own-class scores from one table per distinct weight, or ``otherwise`` if there are too many weights."""
    if batch.weight is None or not len(batch.weight):
        return score(batch, 1.0)
    weights, which = np.unique(batch.weight, return_inverse=True)
    if len(weights) * n_classes > max(64, len(which) // 4):
        return otherwise(batch)
    groups = [np.flatnonzero(which == k) for k in range(len(weights))]
    parts = [score(batch.take(rows), float(w)) for rows, w in zip(groups, weights, strict=True)]
    finite, *limits = (_scattered(columns, groups) for columns in _aligned(parts))
    return Scores(finite, tuple(limits))


def _aligned(parts: list[Scores]) -> Iterator[tuple[Floats, ...]]:
    """Return the finite parts, then each limit in turn; 0 for parts without that limit."""
    n_limits = max(len(part.limits) for part in parts)
    return zip(*((part.finite, *part.limits, *_zero_limits(part, n_limits)) for part in parts), strict=True)


def _zero_limits(part: Scores, n_limits: int) -> list[Floats]:
    return [np.zeros_like(part.finite)] * (n_limits - len(part.limits))


def _scattered(parts: tuple[Floats, ...], groups: list[Array]) -> Floats:
    out = np.empty(sum(map(len, parts)))
    for rows, part in zip(groups, parts, strict=True):
        out[rows] = part
    return out


def refuse_unseen_categories(batch: Batch, statistics: Any) -> None:
    """Raise an error if a batch has more weight in a class than the model has learned."""
    given, learned = batch.row_weight(), statistics.rows
    if (given > learned * (1 + 1e-9)).any():
        raise ForgetError(
            "these rows were not in the training data: a class has more weight here than in the model; pass the rows "
            "that the model was trained on, with their current weights (after discount: the discounted weights)"
        )
