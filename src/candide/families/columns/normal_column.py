"""Normal columns: of the numbers, of their logarithms, or of a power of them; and Student's t."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...statistics import Moments
from ..gaussian import Gaussian
from .histogram import Numbers, middles, occupied
from .parametric import ParametricColumn, known_moments
from .transforms import BoxCox, Identity, Transform, best_power, moments_of


def gaussian(numbers: Numbers, var_smoothing: float = 1e-9) -> ParametricColumn:
    """Means and variances by maximum likelihood; to each variance that share of the column's variance is added.

    >>> from candide.statistics.grid import Cells
    >>> x, count = np.arange(5.0), np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    >>> model = gaussian(Numbers(Cells(x, x, count), moments_of(x, count), np.zeros(2)))
    >>> model.describe(), model.likelihood.variance.round(3).ravel()
    ('mean 1 … 3', array([0.667, 0.667]))
    """
    return _normal("gaussian", numbers, Gaussian(var_smoothing=var_smoothing), Identity())


def student(numbers: Numbers) -> ParametricColumn:
    """Student's t: the predictive distribution of the normal, under a weak prior around the column's own moments.

    >>> from candide.statistics.grid import Cells
    >>> x, count = np.arange(5.0), np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    >>> student(Numbers(Cells(x, x, count), moments_of(x, count), np.zeros(2))).parameters()["degrees_of_freedom"]
    array([5., 5.])
    """
    return _normal("student", numbers, Gaussian(estimate="predictive"), Identity())


def lognormal(numbers: Numbers, var_smoothing: float = 1e-9) -> ParametricColumn:
    """Normal logarithms, from the middles of cells; for positive numbers.

    >>> from candide.statistics.grid import Cells
    >>> x, count = np.array([1.0, np.e, np.e**2]), np.ones((3, 1))
    >>> lognormal(Numbers(Cells(x, x, count), moments_of(x, count), np.zeros(1))).describe()
    'mean 1 … 1'
    """
    return _normal("lognormal", numbers, Gaussian(var_smoothing=var_smoothing), BoxCox(0.0))


def power(numbers: Numbers, var_smoothing: float = 1e-9) -> ParametricColumn:
    """Normal on the scale of a power that maximum likelihood finds, from the middles of cells (``best_power``).

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
    return ParametricColumn(name, _settled(family, changed), transform, numbers.cells, moments, numbers.missing)


def _settled(family: Gaussian, moments: Moments) -> Gaussian:
    """Settled, and with a floor even where the column is constant: no density is infinite."""
    settled = family.settle(moments)
    overall = settled.overall
    assert overall is not None
    mean, variance = float(overall.mean[0]), float(overall.variance[0])
    if family.estimate != "mle" or np.sqrt(variance) > 1e-12 * abs(mean):
        return settled
    floor = max(1e-18 * mean * mean, 1e-290) if mean else 1.0
    return replace(settled, overall=overall._replace(floor=floor))
