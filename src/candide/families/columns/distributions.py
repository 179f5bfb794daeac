"""Columns of numbers by a distribution with few parameters: normal (also of logarithms or powers), Student, Poisson."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...priors import Gamma
from ...statistics import Moments
from ..gaussian import Gaussian
from ..poisson import Poisson
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
    return ParametricColumn(name, _resolved(family, changed), transform, numbers.cells, moments, numbers.missing)


def _resolved(family: Gaussian, moments: Moments) -> Gaussian:
    """Settled, and with a floor even where the column is constant: no density is infinite."""
    resolved = family.resolve(moments)
    overall = resolved.overall
    assert overall is not None
    mean, variance = float(overall.mean[0]), float(overall.variance[0])
    if family.estimate != "mle" or np.sqrt(variance) > 1e-12 * abs(mean):
        return resolved
    floor = max(1e-18 * mean * mean, 1e-290) if mean else 1.0
    return replace(resolved, overall=overall._replace(floor=floor))


# The rate of all classes together counts for half a row of each.
_BELIEVED_ROWS = 0.5


def poisson(numbers: Numbers) -> ParametricColumn:
    """Rates by the moments of whole numbers from 0 on; each class believes half a row at the rate of all classes.

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
    prior = Gamma(_BELIEVED_ROWS * rate, _BELIEVED_ROWS)
    return ParametricColumn("poisson", Poisson(prior), Identity(0.0), numbers.cells, moments, numbers.missing)
