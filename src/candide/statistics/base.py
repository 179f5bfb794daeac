"""The algebra of statistics, and the arithmetic they share."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from ..exceptions import ForgetError
from ..kernels.layouts import Array, Floats

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

    def without(self, other: Self) -> Self:
        """As ``forget``, but everything that has a place keeps it, though nothing be left of it."""

    def lost_digits(self, before: Self) -> bool:
        """Whether so little is left of ``before`` that rounding shows."""

    def take(self, classes: Array) -> Self:
        """A summary whose class ``i`` is class ``classes[i]`` of this one; one may be taken many times."""

    def together(self) -> Self:
        """All classes as one."""

    def only(self, j: int) -> Self:
        """Column ``j`` alone."""

    def discount(self, factor: float) -> Self:
        """All weights multiplied: decay."""

    def reindex(self, positions: Array, size: int) -> Self:
        """Class ``i`` moved to ``positions[i]`` (below 0: dropped) among ``size`` classes."""

    def arrays(self) -> dict[str, Any]:
        """Everything inside, by name; ``from_arrays`` is the inverse."""


def move_classes(values: Any, positions: Array, size: int) -> Any:
    """Rows of a dense or sparse table moved to new positions, all different, among ``size`` rows of zeros."""
    if not isinstance(values, np.ndarray):
        return _move_sparse(values, positions, size)
    keep = positions >= 0
    out = np.zeros((size, *values.shape[1:]))
    out[positions[keep]] = values[keep]
    return out


def _move_sparse(values: Any, positions: Array, size: int) -> Any:
    """What is stored stays as it lies if the rows keep their order. (A product would go through all columns.)"""
    from scipy.sparse import csr_array

    order = np.argsort(positions, kind="stable")[np.count_nonzero(positions < 0) :]
    rows = values if np.array_equal(order, np.arange(values.shape[0])) else values[order]
    sizes = np.zeros(size + 1, dtype=values.indptr.dtype)
    sizes[positions[order] + 1] = np.diff(rows.indptr)
    return csr_array((rows.data, rows.indices, np.cumsum(sizes)), shape=(size, values.shape[1]))


def subtract(before: Any, removed: Any, what: str) -> Any:
    """``before - removed``, with rounding set to zero; a negative result is refused."""
    if isinstance(before, np.ndarray) or isinstance(removed, np.ndarray):
        before, removed = as_dense(before), as_dense(removed)
        # Whole numbers leave no rounding behind: their difference is exact.
        rounding = np.where(_whole(before) & _whole(removed), 0.0, ROUNDING * before)
        after = before - removed
        if (after < -rounding).any():
            raise never_learned(what)
        return np.where(np.abs(after) <= rounding, 0.0, after)
    after = (before - removed).tocsr()
    whole = _whole(before.data).all() and _whole(removed.data).all()
    slack = None if whole else before * ROUNDING
    if ((after if slack is None else after + slack).data < 0).any():
        raise never_learned(what)
    if slack is not None:
        after = after.multiply(abs(after) > slack).tocsr()
    after.eliminate_zeros()
    return after


def refuse_above(part: Any, after: Floats, before: Floats, what: str) -> None:
    """Cells that outweigh the rows of their class leave a negative rest for the other cells: refused."""
    limit = after + ROUNDING * before
    if isinstance(part, np.ndarray):
        above = part > limit[:, None]
    else:
        above = part.data > np.repeat(limit, np.diff(part.indptr))
    if above.any():
        raise never_learned(what)


def as_dense(values: Any) -> Floats:
    """A dense or sparse table as an array."""
    return values if isinstance(values, np.ndarray) else np.asarray(values.toarray())


def _whole(values: Floats) -> Array:
    return np.asarray(values == np.trunc(values))


def never_learned(what: str) -> ForgetError:
    """The refusal to remove rows that cannot have been learned."""
    return ForgetError(
        f"these rows were never learned: removing them would make {what} negative; nothing was changed; forget only "
        "rows that were learned, with the weight they have now (discounted rows: their discounted weight)"
    )


def remaining(before: Floats, removed: Floats | float) -> Floats:
    """``before - removed``, at least 0, with rounding set to zero."""
    after = np.asarray(before - removed)
    np.copyto(after, 0.0, where=after <= ROUNDING * before)
    return after
