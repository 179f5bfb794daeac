"""Monotonic transforms of numbers, with inverses and derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ...kernels.layouts import Floats
from ...lazy import dataclass
from ...statistics import Moments
from ...statistics.grid import Cells
from .histogram import middles

# Exponents are clipped to this, because larger powers would overflow when squared.
LARGEST_LOG = 300.0


class Transform(Protocol):
    """An increasing transform; NaN outside its domain."""

    def __call__(self, x: Floats) -> Floats:
        """Return the transformed numbers."""

    def inverse(self, t: Floats) -> Floats:
        """Return the numbers before the transform."""

    def log_slope(self, x: Floats) -> Floats:
        """Return the log derivative, which is added to a log density of transformed numbers."""


@dataclass(frozen=True)
class Identity:
    """The identity for numbers of at least ``least``."""

    least: float = -np.inf

    def __call__(self, x: Floats) -> Floats:
        return x if self.least == -np.inf else np.where(x >= self.least, x, np.nan)

    def inverse(self, t: Floats) -> Floats:
        return t

    def log_slope(self, x: Floats) -> Floats:
        return np.zeros_like(x)


@dataclass(frozen=True)
class BoxCox:
    """((x/s)^λ - 1) / λ for positive x, and log(x/s) for λ = 0; the unit s is a fixed parameter.

    >>> BoxCox(0.5)(np.array([4.0, 0.0])), BoxCox(0.0).inverse(np.array([0.0]))
    (array([ 2., nan]), array([1.]))
    """

    power: float
    log_unit: float = 0.0

    def __call__(self, x: Floats) -> Floats:
        return _power_of(self._log(x), self.power)

    def inverse(self, t: Floats) -> Floats:
        return np.exp(_log_before(t, self.power) + self.log_unit)

    def log_slope(self, x: Floats) -> Floats:
        return (self.power - 1.0) * self._log(x) - self.log_unit

    def _log(self, x: Floats) -> Floats:
        return np.asarray(np.log(np.where(x > 0, x, np.nan)) - self.log_unit)


@dataclass(frozen=True)
class YeoJohnson:
    """((z+1)^λ - 1) / λ for z ≥ 0, its mirror image with 2 - λ for z < 0; z = (x - center) / unit, both fixed.

    >>> YeoJohnson(2.0)(np.array([2.0, 0.0])), YeoJohnson(1.0)(np.array([-3.0]))
    (array([4., 0.]), array([-3.]))
    """

    power: float
    center: float = 0.0
    unit: float = 1.0

    def __call__(self, x: Floats) -> Floats:
        z = (x - self.center) / self.unit
        log = np.log1p(np.abs(z))
        return np.where(z < 0, -_power_of(log, 2.0 - self.power), _power_of(log, self.power))

    def inverse(self, t: Floats) -> Floats:
        above, below = _log_before(np.maximum(t, 0.0), self.power), _log_before(np.maximum(-t, 0.0), 2.0 - self.power)
        return np.asarray((np.expm1(above) - np.expm1(below)) * self.unit + self.center)

    def log_slope(self, x: Floats) -> Floats:
        z = (x - self.center) / self.unit
        return np.asarray((self.power - 1.0) * np.sign(z) * np.log1p(np.abs(z)) - np.log(self.unit))


def _power_of(log: Floats, power: float) -> Floats:
    """Return (e^(power log) - 1) / power."""
    if abs(power) < 1e-12:
        return log
    return np.asarray(np.expm1(np.clip(power * log, -LARGEST_LOG, LARGEST_LOG)) / power)


def _log_before(t: Floats, power: float) -> Floats:
    """Return the inverse of ``_power_of``; values outside its range are clipped to the range."""
    if abs(power) < 1e-12:
        return t
    return np.asarray(np.log1p(np.maximum(power * t, -1.0 + 1e-12)) / power)


def best_power(cells: Cells) -> BoxCox | YeoJohnson:
    """Return the maximum likelihood power for normal classes with separate means and a common variance.

    Cells are represented by their midpoints. The transform is Box–Cox if all numbers are positive, in units of their
    geometric mean, which does not change the power. Otherwise it is Yeo–Johnson of the standardized numbers, which
    makes the result independent of their unit.
    """
    from scipy.optimize import minimize_scalar

    x, weight = middles(cells), cells.count.sum(axis=1)
    make = _box_cox(x, weight) if (x > 0).all() else _yeo_johnson(x, weight)

    def cost(power: float) -> float:
        transform = make(power)
        scatter = moments_of(transform(x), cells.count).scatter.sum()
        return 0.5 * float(weight.sum()) * float(np.log(max(scatter, 1e-300))) - float(weight @ transform.log_slope(x))

    powers = np.linspace(-3.0, 5.0, 17)
    start = float(powers[int(np.argmin([cost(power) for power in powers]))])
    found = minimize_scalar(cost, bounds=(start - 0.5, start + 0.5), method="bounded", options={"xatol": 1e-6})
    return make(float(found.x))


def _box_cox(x: Floats, weight: Floats) -> Callable[[float], BoxCox | YeoJohnson]:
    log_unit = float(weight @ np.log(x) / weight.sum())
    return lambda power: BoxCox(power, log_unit)


def _yeo_johnson(x: Floats, weight: Floats) -> Callable[[float], BoxCox | YeoJohnson]:
    share = weight / weight.sum()
    center = float(share @ x)
    unit = float(np.sqrt(share @ (x - center) ** 2)) or 1.0
    return lambda power: YeoJohnson(power, center, unit)


def moments_of(x: Floats, count: Floats) -> Moments:
    """Return the moments of one column from its numbers and their weights by class, ``(numbers, classes)``."""
    weight = count.sum(axis=0)
    start = float(x[0]) if len(x) else 0.0
    mean = start + (x - start) @ count / np.where(weight > 0, weight, 1.0)
    scatter = (count * (x[:, None] - mean) ** 2).sum(axis=0)
    return Moments(weight, weight[:, None], mean[:, None], scatter[:, None])
