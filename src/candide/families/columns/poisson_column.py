"""Columns of counts of events."""

from __future__ import annotations

from ...priors import Gamma
from ..poisson import Poisson
from .histogram import Numbers
from .parametric import ParametricColumn, known_moments
from .transforms import Identity

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
