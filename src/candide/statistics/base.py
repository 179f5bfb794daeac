"""The algebra of statistics, and the arithmetic they share."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from ..exceptions import ForgetError
from ..kernels.data import Array, Floats

# Differences below this share of what stood there before are rounding, not weight.
ROUNDING = 1e-12


@runtime_checkable
class Statistics(Protocol):
    """A summary of rows by class. All verbs return a new one; classes are the first axis."""

    @property
    def rows(self) -> Floats:
        """Weight of the rows absorbed, per class."""

    def merge(self, other: Self) -> Self:
        """The summary of both sets of rows. The classes must already agree."""

    def forget(self, other: Self) -> Self:
        """The summary without rows that were merged before; refused as a whole if a count would become negative."""

    def discount(self, factor: float) -> Self:
        """All weights multiplied: decay."""

    def reindex(self, positions: Array, size: int) -> Self:
        """Class ``i`` moved to ``positions[i]`` (below 0: dropped) among ``size`` classes."""

    def arrays(self) -> dict[str, Any]:
        """Everything inside, by name; ``from_arrays`` is the inverse."""


def move_classes(values: Any, positions: Array, size: int) -> Any:
    """Rows of a dense or sparse table moved to new positions among ``size`` rows of zeros."""
    keep = positions >= 0
    if isinstance(values, np.ndarray):
        out = np.zeros((size, *values.shape[1:]))
        out[positions[keep]] = values[keep]
        return out
    from scipy.sparse import csr_array

    kept = np.flatnonzero(keep)
    ones = (np.ones(len(kept)), (positions[kept], kept))
    return csr_array(csr_array(ones, shape=(size, values.shape[0])) @ values)


def subtract(before: Any, removed: Any, what: str) -> Any:
    """``before - removed``, with rounding set to zero; a negative result is refused."""
    after = before - removed
    if isinstance(after, np.ndarray):
        scale = ROUNDING * np.abs(before)
        if (after < -scale).any():
            raise ForgetError(_never_learned(what))
        after[np.abs(after) <= scale] = 0.0
        return after
    after.data[np.abs(after.data) <= ROUNDING * np.abs(before).max()] = 0.0
    after.eliminate_zeros()
    if (after.data < 0).any():
        raise ForgetError(_never_learned(what))
    return after


def _never_learned(what: str) -> str:
    return (
        f"these rows were never learned: removing them would make {what} negative; nothing was changed; forget only "
        "rows that were learned, with the weight they have now (discounted rows: their discounted weight)"
    )
