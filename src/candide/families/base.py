"""What a family of distributions must offer: how rows become a statistic, and how a statistic becomes a likelihood."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from ..kernels import Kernels
from ..kernels.data import Array, Floats, Positions
from ..statistics import Statistics


class Batch(NamedTuple):
    """Encoded rows with their classes: what a family learns from."""

    data: Any
    classes: Positions
    weight: Floats | None
    n_classes: int

    def row_weight(self) -> Floats:
        """Weight of the rows of each class."""
        return np.bincount(self.classes, self.weight, minlength=self.n_classes).astype(np.float64, copy=False)


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

    def shrunk(self, data: Any, kernels: Kernels) -> Floats:
        """The scores times a tiny factor: decides rows whose scores overflow."""

    def log_base(self, data: Any) -> Floats:
        """The term of log p(x | class) that is the same for all classes, ``(rows,)``."""

    def sample(self, classes: Positions, rng: np.random.Generator) -> Any:
        """A row drawn for each given class."""

    def parameters(self) -> dict[str, Array]:
        """Columns ``class`` and ``column`` (as positions), then counts and parameters, one row each."""


class Family(Protocol):
    """One kind of likelihood with its prior. Frozen: verbs return new objects."""

    def observe(self, batch: Batch, kernels: Kernels) -> Statistics:
        """The statistic of a batch of rows."""

    def likelihood(self, statistics: Any) -> Likelihood:
        """What the statistic says, under the prior."""

    def n_parameters(self, statistics: Any) -> int:
        """Free parameters of p(x | class), over all classes."""


def cell_positions(n_classes: int, n_columns: int) -> dict[str, Array]:
    """The ``class`` and ``column`` columns of a parameter table with one row per class and column."""
    return {
        "class": np.repeat(np.arange(n_classes), n_columns),
        "column": np.tile(np.arange(n_columns), n_classes),
    }
