"""What a family of distributions must offer: how rows become a statistic, and how a statistic becomes a likelihood."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions
from ..priors import Estimate, Prior
from ..statistics import Statistics

if TYPE_CHECKING:
    from .score_terms import Parts

# Shares that are smoothed by so much hardly differ.
_ALL_ALIKE = float(np.exp(6.0))
# Cells handled at once where a table of all of them would be too large.
CELLS = 1 << 20


class Batch(NamedTuple):
    """Encoded rows with their classes: what a family learns from."""

    data: Any
    classes: Positions
    weight: Floats | None
    n_classes: int

    def row_weight(self) -> Floats:
        """Weight of the rows of each class."""
        return np.bincount(self.classes, self.weight, minlength=self.n_classes).astype(np.float64, copy=False)

    def take(self, rows: Array) -> Batch:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Batch(self.data.take(rows), self.classes[rows], weight, self.n_classes)


class Scores(NamedTuple):
    """Scores, and the coefficients of the terms that outgrow all others, most important first, positive towards +inf.

    ``(rows, classes)`` each, or ``(rows,)`` where every row meets one class alone.
    """

    finite: Floats
    limits: tuple[Floats, ...] = ()


class Likelihood(Protocol):
    """log p(x | class), ready to be evaluated. ``offset`` is added to every row: the log prior of the classes.

    Probabilities of 0 and infinite densities are limits. Where there are any, ``limits`` gives the coefficients of the
    terms that outgrow all others, most important first, and ``scores`` the finite rest.
    """

    @property
    def is_limit(self) -> bool:
        """Whether some parameter is a limit, so that ``limits`` must be asked."""

    def scores(self, data: Any, offset: Floats, kernels: Kernels) -> Floats:
        """``(rows, classes)``, up to a term that is the same for all classes."""

    def limits(self, data: Any, kernels: Kernels) -> list[Floats]:
        """Coefficients of diverging terms, ``(rows, classes)`` each, positive towards +inf."""

    def each(self, data: Any, kernels: Kernels) -> Scores:
        """Row ``i`` under class ``i`` alone, ``(rows,)``; there are as many classes as rows."""

    def parts(self, data: Any, kernels: Kernels) -> Parts:
        """What the scores and limits of one row are the sum of."""

    def shrunk(self, data: Any, kernels: Kernels) -> Floats:
        """The scores times a tiny factor: decides rows whose scores overflow."""

    def log_base(self, data: Any) -> Floats:
        """The term of log p(x | class) that is the same for all classes, ``(rows,)``."""

    def sample(self, classes: Positions, rng: np.random.Generator) -> Any:
        """A row drawn for each given class."""

    def expected(self, data: Any, posterior: Floats) -> Any:
        """What the missing cells hold most likely, ``(rows, columns)``, given p(class | what is observed)."""

    def parameters(self) -> dict[str, Array]:
        """Columns ``class`` and ``column`` (as positions), then counts and parameters, one row each."""


class Family(Protocol):
    """One kind of likelihood with its prior and its way to estimate. Frozen: verbs return new objects."""

    separate: ClassVar[bool]  # every column has parameters of its own, and a pseudo-count if it has any

    @property
    def prior(self) -> Any:
        """What is believed about the parameters before data."""

    @property
    def estimate(self) -> Estimate:
        """How the posterior becomes a number."""

    def observe(self, batch: Batch, kernels: Kernels) -> Statistics:
        """The statistic of a batch of rows."""

    def restored(self, data: Any, statistics: Any) -> Any:
        """Rows as a sample keeps them, in the form that this family reads."""

    def for_choices(self) -> Self:
        """For scores of left-out rows that something is chosen or fitted by: what stays for all rows may stay."""

    def settle(self, statistics: Any) -> Self:
        """With all that is taken from the classes together (floors, empirical priors) fixed at what they say now."""

    def likelihood(self, statistics: Any) -> Likelihood:
        """What the statistic says, under the prior."""

    def left_out(
        self, batch: Batch, statistics: Any, likelihood: Likelihood, offset: Floats, kernels: Kernels
    ) -> Scores:
        """Scores of rows that the statistic contains, each as if it did not.

        ``likelihood`` is that of the statistic; ``offset`` is added to every row, as in ``Likelihood.scores``.
        """

    def only(self, j: int) -> Self:
        """For column ``j`` alone, where columns are separate."""

    def with_alpha(self, alpha: float | Floats) -> Self:
        """With another pseudo-count: one, or one per column."""

    def most_alpha(self, statistics: Any) -> float | Floats:
        """The largest pseudo-count worth a try, where the data choose it: one, or one per column."""

    def wary(self) -> Self:
        """For judging how usual rows are: what it would pass over counts against a row."""

    def intervals(self, statistics: Any, level: float) -> Any:
        """``(low, high)`` of each row of the table of parameters, or a pair of those: of means and of variances."""

    def log_evidence(self, statistics: Any) -> Floats:
        """log p(column | class) over all rows, the parameters integrated out, per column."""

    def total_log_evidence(self, statistics: Any) -> float:
        """The same for all columns together."""

    def score_variance(self, data: Any, statistics: Any, kernels: Kernels) -> Floats:
        """Posterior variance of log p(x | class), ``(rows, classes)``."""

    def score_covariance(self, data: Any, of: Positions, against: Positions, statistics: Any) -> Floats:
        """Posterior covariance of a row's log p(x | class) for two classes, ``(rows,)``."""

    def amount(self, data: Any) -> Floats | None:
        """How much evidence a row holds where that varies by nature (the length of a text), else None."""

    def n_parameters(self, statistics: Any) -> int:
        """Free parameters of p(x | class), over all classes."""


class Plain:
    """What holds for most families: classes share no parameter, and no value is passed over."""

    def most_alpha(self, statistics: Any) -> float | Floats:
        return _ALL_ALIKE

    def only(self, j: int) -> Self:
        raise TypeError(f"the columns of a {type(self).__name__} share their parameters: none stands alone")

    def wary(self) -> Self:
        return self

    def restored(self, data: Any, statistics: Any) -> Any:
        return data

    def for_choices(self) -> Self:
        return self

    def score_covariance(self, data: Any, of: Positions, against: Positions, statistics: Any) -> Floats:
        return np.zeros(data.n_rows)


def prior_of_column(prior: Any, j: int) -> Any:
    """A prior for column ``j`` alone: the last axis of its arrays are the columns."""
    return replace(prior, **{name: value[..., [j]] for name, value in vars(prior).items() if np.ndim(value)})


def cell_positions(n_classes: int, n_columns: int) -> dict[str, Array]:
    """The ``class`` and ``column`` columns of a parameter table with one row per class and column."""
    return {
        "class": np.repeat(np.arange(n_classes), n_columns),
        "column": np.tile(np.arange(n_columns), n_classes),
    }


def require_proper(estimate: Estimate, *priors: Prior) -> None:
    """Evidence integrates over the prior, which must be one."""
    if estimate == "mle" or not all(prior.is_proper for prior in priors):
        raise ParameterError(
            "log_evidence needs a prior that integrates to 1, and this model has none (maximum likelihood, or a "
            "pseudo-count of 0); choose estimate='mean' or 'map' with alpha above 0, or give a parameter_prior"
        )
