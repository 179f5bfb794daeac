"""The protocol of additive statistics, and shared arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from ..exceptions import ForgetError
from ..kernels.layouts import Array, Floats

# Differences below this share of the previous value are treated as rounding errors.
ROUNDING = 1e-12


class Budget(NamedTuple):
    """Limit of the kept training rows: a number of bytes, or of distinct rows."""

    size: int
    unit: Literal["bytes", "rows"] = "bytes"

    def minimum(self, other: Budget) -> Budget:
        """Return the smaller budget; a number of rows, which was set by a user, takes precedence over bytes."""
        return min(self, other, key=lambda budget: (budget.unit == "bytes", budget.size))

    def __str__(self) -> str:
        return f"{self.size:,} {self.unit}"


@runtime_checkable
class Statistics(Protocol):
    """Additive statistics of rows by class. Methods return new objects; classes are the first axis."""

    @property
    def rows(self) -> Floats:
        """The weight of the rows of each class."""

    def merge(self, other: Self) -> Self:
        """Return the statistics of both sets of rows. The classes must be the same."""

    def forget(self, other: Self) -> Self:
        """Return the statistics without rows that were merged before; an error if a count would become negative."""

    def without(self, other: Self) -> Self:
        """Return ``forget`` of these rows, but keep the positions of classes, categories and tokens without weight."""

    def lost_digits(self, before: Self) -> bool:
        """Return whether so little of ``before`` remains that rounding errors matter."""

    def take(self, classes: Array) -> Self:
        """Return statistics whose class ``i`` is class ``classes[i]`` of this one; classes may repeat."""

    def together(self) -> Self:
        """Return the statistics of all classes as one class."""

    def only(self, j: int) -> Self:
        """Return the statistics of column ``j``."""

    def discount(self, factor: float) -> Self:
        """Return the statistics with all weights multiplied by a factor."""

    def reindex(self, positions: Array, size: int) -> Self:
        """Return statistics of ``size`` classes with class ``i`` at ``positions[i]`` (below 0: dropped)."""


class Exact:
    """A base class of statistics from which rows are subtracted without loss of precision."""

    def lost_digits(self, before: Any) -> bool:
        return False


def move_classes(values: Any, positions: Array, size: int) -> Any:
    """Return a table of ``size`` rows with the rows of a dense or sparse table at new, distinct positions."""
    if not isinstance(values, np.ndarray):
        return _move_sparse(values, positions, size)
    keep = positions >= 0
    out = np.zeros((size, *values.shape[1:]))
    out[positions[keep]] = values[keep]
    return out


def _move_sparse(values: Any, positions: Array, size: int) -> Any:
    """Return a sparse table with moved rows, without a copy of the data if rows keep their order."""
    from scipy.sparse import csr_array

    order = np.argsort(positions, kind="stable")[np.count_nonzero(positions < 0) :]
    rows = values if np.array_equal(order, np.arange(values.shape[0])) else values[order]
    sizes = np.zeros(size + 1, dtype=values.indptr.dtype)
    sizes[positions[order] + 1] = np.diff(rows.indptr)
    return csr_array((rows.data, rows.indices, np.cumsum(sizes)), shape=(size, values.shape[1]))


def subtract(before: Any, removed: Any, what: str) -> Any:
    """Return ``before - removed``, with rounding errors set to zero; an error if a result is negative."""
    if isinstance(before, np.ndarray) or isinstance(removed, np.ndarray):
        before, removed = as_dense(before), as_dense(removed)
        # Differences of integers are exact.
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
    """Raise an error if cells have more weight than the rows of their class."""
    limit = after + ROUNDING * before
    if isinstance(part, np.ndarray):
        above = part > limit[:, None]
    else:
        above = part.data > np.repeat(limit, np.diff(part.indptr))
    if above.any():
        raise never_learned(what)


def as_dense(values: Any) -> Floats:
    """Return a dense or sparse table as an array."""
    return values if isinstance(values, np.ndarray) else np.asarray(values.toarray())


def _whole(values: Floats) -> Array:
    return np.asarray(values == np.trunc(values))


def never_learned(what: str) -> ForgetError:
    """Return the error for removing rows that were never learned."""
    return ForgetError(
        f"these rows were not in the training data: removing them would make {what} negative; the model is unchanged; "
        "pass only rows that the model was trained on, with their current weights (after discount: the discounted "
        "weights)"
    )


def remaining(before: Floats, removed: Floats | float) -> Floats:
    """Return ``before - removed``, at least 0, with rounding errors set to zero."""
    after = np.asarray(before - removed)
    np.copyto(after, 0.0, where=after <= ROUNDING * before)
    return after


class Deferred:
    """A base class of statistics whose missing fields are read when one of them is first used.

    Reading them changes the class of the object to ``plain``.
    """

    plain: ClassVar[type[Any]]

    @classmethod
    def deferred(cls, read: Callable[[], Mapping[str, Any]], **known: Any) -> Self:
        """Return statistics whose other fields are returned by ``read``, by name.

        ``read`` is called once, or again after an error.
        """
        made = object.__new__(cls)
        vars(made).update(known, read=read)
        return made

    def load(self) -> None:
        """Read the fields, unless they have been read."""
        names, read = {field.name for field in fields(self.plain)}, vars(self).get("read")
        if read is not None:
            vars(self).update({name: value for name, value in read().items() if name in names})
        # A second thread may be in this method at the same time, so the order of these steps matters.
        object.__setattr__(self, "__class__", self.plain)
        for name in vars(self).keys() - names:
            vars(self).pop(name, None)

    def __getattr__(self, name: str) -> Any:
        if name not in {field.name for field in fields(self.plain)}:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.load()
        return object.__getattribute__(self, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.load()
        return object.__reduce_ex__(self, protocol)
