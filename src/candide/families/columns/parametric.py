"""Parametric distributions of numeric columns: normal (also of logarithms or powers), Student's t, Poisson."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ...data.columns import Column
from ...kernels import Kernels
from ...kernels.layouts import Array, Dense, Floats, Positions
from ...lazy import dataclass
from ...priors import Gamma
from ...statistics import Counts, Moments
from ...statistics.grid import Cells
from ..base import CELLS, Batch
from ..gaussian import Gaussian
from ..poisson import Poisson
from ..score_terms import Presence, Term, Transformed
from .base import CodedColumn
from .histogram import (
    Numbers,
    log_others,
    log_rest,
    loss_of_nothing,
    middles,
    occupied,
    own_kept,
    seen_of,
    size_kept,
    weighted_losses,
)
from .transforms import BoxCox, Identity, Transform, best_power, moments_of

# Codes of ``WithMissing.presence``.
_KNOWN, _MISSING = 0, 1


@dataclass(frozen=True, eq=False)
class ParametricColumn:
    """log p(x | class) of a resolved ``Gaussian`` or ``Poisson`` family of transformed numbers, as a density of x.

    Cells are represented by their midpoints in ``class_loss``, and in the estimates of transformed numbers. Numbers
    outside the domain of the transform are treated as missing.
    """

    family: str
    source: Gaussian | Poisson
    transform: Transform
    cells: Cells
    moments: Moments  # of the untransformed numbers
    ignored: Floats  # (classes,) weight of missing cells

    @cached_property
    def statistics(self) -> Moments | Counts:
        """Return the statistics of the transformed numbers."""
        if isinstance(self.source, Poisson):
            weight = self.moments.weight
            return Counts(weight[:, 0], np.maximum(weight * self.moments.mean, 0.0), None)
        return self.moments if isinstance(self.transform, Identity) else moments_of(self._middles, self.cells.count)

    @cached_property
    def _middles(self) -> Floats:
        return self.transform(middles(self.cells))

    @cached_property
    def likelihood(self) -> Any:
        return self.source.likelihood(self.statistics)  # type: ignore[arg-type]

    @property
    def n_parameters(self) -> int:
        return self.source.n_parameters(self.statistics)  # type: ignore[arg-type]

    def describe(self) -> str:
        name, values = ("rate", self.likelihood.rate) if self.family == "poisson" else ("mean", self.likelihood.mean)
        shape = f"power {self.transform.power:.2g}, " if self.family == "power" else ""  # type: ignore[attr-defined]
        return f"{shape}{name} {np.nanmin(values):.3g} … {np.nanmax(values):.3g}"

    def scores(self, column: Column) -> Floats:
        x = _numbers(column)
        data = self._transformed(x)
        return np.asarray(self.likelihood.scores(data, np.zeros(len(self.ignored)), Kernels()) + self._base(x, data))

    def terms(self, *, nulls: bool = True) -> tuple[Term, ...]:
        finite: tuple[Term, ...] = self.likelihood.terms.finite
        return finite if self.transform == Identity() else (Transformed(self.transform, finite),)

    def left_out(self, column: Column, classes: Positions, weight: Floats | None, *, keep_size: bool = False) -> Floats:
        x, n_classes, out = _numbers(column), len(self.ignored), np.zeros(len(column.values))
        data = self._transformed(x)
        known = np.flatnonzero(~np.isnan(data.floats()[:, 0]))
        batch = Batch(data, classes, weight, n_classes)
        for begin, end in _row_ranges(len(known), n_classes):
            rows = known[begin:end]
            part = batch.take(rows)
            out[rows] = self._left_out(part, np.zeros(n_classes))[np.arange(len(rows)), part.classes]
        if keep_size:
            own = self.cells.count.sum(axis=0)[classes[known]]
            out[known] += size_kept(own, 1.0 if weight is None else weight[known])
        return out + self._base(x, data)[:, 0]

    def _transformed(self, x: Floats) -> Dense:
        return Dense(self.transform(x)[:, None], len(x), 1)

    def _base(self, x: Floats, data: Dense) -> Floats:
        """Return the term of log p(x | class) that all classes share, ``(rows, 1)``."""
        base = self.likelihood.log_base(data) + self.transform.log_slope(x)
        return np.where(np.isnan(data.floats()), 0.0, base[:, None])

    def _left_out(self, batch: Batch, offset: Floats) -> Floats:
        return self.source.left_out(batch, self.statistics, self.likelihood, offset, Kernels()).finite  # type: ignore[arg-type]

    def class_loss(self, log_prior: Floats, row: float | Floats = 1.0) -> float:
        weight = self.cells.count.sum() + self.ignored.sum()
        own_prior = log_prior + size_kept(self.cells.count.sum(axis=0), row)
        whole = self.loss_of_known(log_prior, own_prior, row) + loss_of_nothing(self.ignored, log_prior)
        return whole / max(float(weight), 1e-300)

    def loss_of_known(self, log_prior: Floats, own_prior: Floats, row: float | Floats) -> float:
        """Return the summed loss of all known cells; ``own_prior``: log prior of a row's class without the row."""
        count, n_classes = self.cells.count.ravel(), len(log_prior)
        stored = np.flatnonzero(count)
        at, classes = np.divmod(stored, n_classes)
        weight, x = count[stored], self._middles[at]
        gone = np.minimum(weight, np.broadcast_to(row, n_classes)[classes])
        total = 0.0
        for begin, end in _row_ranges(len(at), n_classes):
            own = classes[begin:end].astype(np.int32)
            rows = np.arange(end - begin), own
            some = weight[begin:end]
            one = gone[begin:end]
            batch = Batch(
                Dense(x[begin:end, None], end - begin, 1), own, None if (one == 1.0).all() else one, n_classes
            )
            joint = self._left_out(batch, log_prior)
            joint[rows] += (own_prior - log_prior)[own]
            total += float(weighted_losses(log_rest(joint, own), joint[rows], some).sum())
        return total

    def again(self, **parts: Any) -> Self:
        seen = seen_of(**parts)
        assert isinstance(seen, Numbers)
        return replace(self, cells=seen.cells, moments=known_moments(seen), ignored=seen.missing)

    def sample(self, classes: Positions, rng: np.random.Generator) -> Array:
        return self.transform.inverse(self.likelihood.sample(classes, rng)[:, 0])

    def expected(self, posterior: Floats) -> Array:
        """Return the mean on the original scale."""
        mean, seen = self.moments.mean[:, 0], self.moments.weight[:, 0] > 0
        return np.asarray(posterior @ np.where(seen, mean, self.moments.pooled()[1]))

    def parameters(self) -> dict[str, Array]:
        return dict(self.likelihood.parameters())


@dataclass(frozen=True, eq=False)
class WithMissing:
    """Model of a column with missing cells: p(missing | class), or p(known | class) p(x | class)."""

    inner: ParametricColumn
    presence: CodedColumn

    @property
    def family(self) -> str:
        return self.inner.family

    @property
    def n_parameters(self) -> int:
        return self.inner.n_parameters + self.presence.n_parameters

    def describe(self) -> str:
        return self.inner.describe() + ", missing as a value"

    def scores(self, column: Column) -> Floats:
        return self.inner.scores(column) + self.presence.table()[self._codes(column)]

    def terms(self, *, nulls: bool = True) -> tuple[Term, ...]:
        known, missing = self.presence.table()[:, :, None]
        return (*self.inner.terms(), Presence(known, missing if nulls else np.zeros_like(missing)))

    def left_out(self, column: Column, classes: Positions, weight: Floats | None, *, keep_size: bool = False) -> Floats:
        codes = Column(column.name, "number", self._codes(column).astype(np.float64))
        there = self.presence.left_out(codes, classes, weight, keep_size=keep_size)
        return self.inner.left_out(column, classes, weight) + there

    def _codes(self, column: Column) -> Array:
        if column.kind == "number":
            return np.where(np.isnan(np.asarray(column.values, dtype=np.float64)), _MISSING, _KNOWN)
        return np.full(len(column.values), _MISSING)

    def class_loss(self, log_prior: Floats, row: float | Floats = 1.0) -> float:
        there, count = self.presence, self.presence.count
        joint = there.table() + log_prior
        own = own_kept(there.part, there.whole, there.own[:, None], np.minimum(count, row)) + log_prior
        absent = weighted_losses(log_others(joint[[_MISSING]]), own[[_MISSING]], count[[_MISSING]])
        known = self.inner.loss_of_known(joint[_KNOWN], own[_KNOWN], row)
        return (known + float(absent.sum())) / max(float(count.sum()), 1e-300)

    def again(self, **parts: Any) -> Self:
        inner = self.inner.again(**parts)
        presence = replace(self.presence, count=_count(inner))
        return replace(self, inner=_without_missing(inner), presence=presence)

    def sample(self, classes: Positions, rng: np.random.Generator) -> Array:
        return self.inner.sample(classes, rng)

    def expected(self, posterior: Floats) -> Array:
        return self.inner.expected(posterior)

    def parameters(self) -> dict[str, Array]:
        return self.inner.parameters()


def with_missing(inner: ParametricColumn) -> WithMissing:
    """Return the column with the probability of missing cells, smoothed by one row with the overall frequency.

    >>> from candide.families.columns.transforms import moments_of
    >>> from candide.families.columns.parametric import gaussian
    >>> from candide.families.columns.histogram import Numbers
    >>> from candide.statistics.grid import Cells
    >>> x, count = np.arange(2.0), np.array([[1.0, 1.0], [1.0, 1.0]])
    >>> model = with_missing(gaussian(Numbers(Cells(x, x, count), moments_of(x, count), np.array([0.0, 2.0]))))
    >>> np.exp(model.scores(Column("x", "number", np.array([np.nan])))).round(3)
    array([[0.111, 0.467]])
    """
    count = _count(inner)
    weight = count.sum(axis=1) + np.array([0.0, 0.0 if inner.ignored.any() else 0.5])
    base = (weight + 1e-9) / (weight + 1e-9).sum()
    presence = CodedColumn("presence", "", count, base, np.zeros(count.shape[1]), labels=np.arange(2.0))
    return WithMissing(_without_missing(inner), presence)


def _count(inner: ParametricColumn) -> Floats:
    return np.stack([inner.cells.count.sum(axis=0), inner.ignored])


def _without_missing(inner: ParametricColumn) -> ParametricColumn:
    return replace(inner, ignored=np.zeros_like(inner.ignored))


def known_moments(seen: Numbers) -> Moments:
    """Return the moments of a column without its missing cells."""
    return replace(seen.moments, rows=seen.moments.weight[:, 0])


def _numbers(column: Column) -> Floats:
    if column.kind == "category":
        return np.full(len(column.values), np.nan)
    return np.asarray(column.values, dtype=np.float64)


def _row_ranges(n_rows: int, n_classes: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows whose scores under all classes fit in memory."""
    step = max(1, CELLS // max(1, n_classes))
    return ((begin, min(begin + step, n_rows)) for begin in range(0, n_rows, step))


def gaussian(numbers: Numbers, var_smoothing: float = 1e-9) -> ParametricColumn:
    """Return the normal distribution by maximum likelihood; ``var_smoothing`` times the column's variance is added.

    >>> from candide.statistics.grid import Cells
    >>> x, count = np.arange(5.0), np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    >>> model = gaussian(Numbers(Cells(x, x, count), moments_of(x, count), np.zeros(2)))
    >>> model.describe(), model.likelihood.variance.round(3).ravel()
    ('mean 1 … 3', array([0.667, 0.667]))
    """
    return _normal("gaussian", numbers, Gaussian(var_smoothing=var_smoothing), Identity())


def student(numbers: Numbers) -> ParametricColumn:
    """Return Student's t: the predictive of the normal distribution under a weak prior at the column's moments.

    >>> from candide.statistics.grid import Cells
    >>> x, count = np.arange(5.0), np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    >>> student(Numbers(Cells(x, x, count), moments_of(x, count), np.zeros(2))).parameters()["degrees_of_freedom"]
    array([5., 5.])
    """
    return _normal("student", numbers, Gaussian(estimate="predictive"), Identity())


def lognormal(numbers: Numbers, var_smoothing: float = 1e-9) -> ParametricColumn:
    """Return the log-normal distribution of positive numbers, from the midpoints of cells.

    >>> from candide.statistics.grid import Cells
    >>> x, count = np.array([1.0, np.e, np.e**2]), np.ones((3, 1))
    >>> lognormal(Numbers(Cells(x, x, count), moments_of(x, count), np.zeros(1))).describe()
    'mean 1 … 1'
    """
    return _normal("lognormal", numbers, Gaussian(var_smoothing=var_smoothing), BoxCox(0.0))


def power(numbers: Numbers, var_smoothing: float = 1e-9) -> ParametricColumn:
    """Return a normal distribution of power-transformed numbers, from the midpoints of cells (``best_power``).

    >>> from candide.statistics.grid import Cells
    >>> x, count = np.arange(1.0, 9.0) ** 3, np.ones((8, 1))
    >>> power(Numbers(Cells(x, x, count), moments_of(x, count), np.zeros(1))).describe()
    'power 0.24, mean 0.427 … 0.427'
    """
    cells = occupied(numbers.cells)
    transform = best_power(cells) if cells.count.any() else Identity()
    return _normal("power", numbers, Gaussian(var_smoothing=var_smoothing), transform)


def _normal(name: str, numbers: Numbers, family: Gaussian, transform: Transform) -> ParametricColumn:
    moments = known_moments(numbers)
    changed = moments
    if not isinstance(transform, Identity):
        changed = moments_of(transform(middles(numbers.cells)), numbers.cells.count)
    return ParametricColumn(name, _resolved(family, changed), transform, numbers.cells, moments, numbers.missing)


def _resolved(family: Gaussian, moments: Moments) -> Gaussian:
    """Return the resolved family, with a variance floor even for a constant column, so that densities are finite."""
    resolved = family.resolve(moments)
    overall = resolved.overall
    assert overall is not None
    mean, variance = float(overall.mean[0]), float(overall.variance[0])
    if family.estimate != "mle" or np.sqrt(variance) > 1e-12 * abs(mean):
        return resolved
    floor = max(1e-18 * mean * mean, 1e-290) if mean else 1.0
    return replace(resolved, overall=overall._replace(floor=floor))


# Weight of the overall rate in each class, in rows.
_PRIOR_ROWS = 0.5


def poisson(numbers: Numbers) -> ParametricColumn:
    """Return Poisson rates of non-negative integers; each class has a prior of half a row at the overall rate.

    >>> import numpy as np
    >>> from candide.families.columns.transforms import moments_of
    >>> from candide.statistics.grid import Cells
    >>> x, count = np.arange(3.0), np.array([[6.0, 0.0], [2.0, 2.0], [0.0, 6.0]])
    >>> poisson(Numbers(Cells(x, x, count), moments_of(x, count), np.zeros(2))).describe()
    'rate 0.292 … 1.7'
    """
    moments = known_moments(numbers)
    weight, mean, _ = (float(part[0]) for part in moments.pooled())
    rate = (weight * mean + 0.5) / (weight + 1.0)
    prior = Gamma(_PRIOR_ROWS * rate, _PRIOR_ROWS)
    return ParametricColumn("poisson", Poisson(prior), Identity(0.0), numbers.cells, moments, numbers.missing)
