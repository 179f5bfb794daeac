"""Kernel densities of numbers, on the scale of their ranks."""

from __future__ import annotations

import numpy as np

from ...kernels.data import Floats
from .base import CodedColumn
from .bins import STRENGTHS, coding
from .stretches import Numbers, mid_ranks

# Each is twice the one before, so that their kernels are powers of one another.
WIDTHS = (0.01, 0.02, 0.04, 0.08, 0.16)


def smoothers(weight: Floats, widths: tuple[float, ...] = WIDTHS) -> Floats:
    """How normal kernels spread the weight of each stretch over all of them, ``(widths, stretches, stretches)``.

    Places are ranks, between 0 and 1, where what spreads beyond an end is reflected. Columns add up to 1.

    >>> smoothers(np.ones(4), (0.16,)).round(2)[0, :, 0]
    array([0.81, 0.19, 0.  , 0.  ])
    """
    rank, share = mid_ranks(weight), weight / weight.sum()
    spread = _kernels(rank, widths)
    return np.asarray(spread * share[:, None] / (share @ spread)[:, None, :])


def _kernels(rank: Floats, widths: tuple[float, ...]) -> Floats:
    """Σ exp(-d²/2h²) over the distances to a rank and to its two reflections."""
    apart, sum_of_both = rank[:, None] - rank, rank[:, None] + rank
    half_squares = -0.5 * np.square([apart, sum_of_both, 2.0 - sum_of_both])
    if widths != WIDTHS:
        return np.stack([np.exp(half_squares / h**2).sum(axis=0) for h in widths])
    power = np.exp(half_squares / WIDTHS[-1] ** 2)
    out = [power.sum(axis=0)]
    for _ in WIDTHS[1:]:
        # Half the width is the fourth power: far cheaper than another exponential.
        power = np.square(np.square(power))
        out.append(power.sum(axis=0))
    return np.stack(out[::-1])


def kernels(
    small: Numbers,
    holes: bool = False,
    widths: tuple[float, ...] = WIDTHS,
    strengths: tuple[float, ...] = STRENGTHS,
) -> list[CodedColumn]:
    """Kernel densities of a column in few stretches, for each width and each strength of the base.

    >>> from candide.statistics import Moments
    >>> from candide.statistics.grid import Cells
    >>> cells = Cells(np.arange(9.0), np.arange(9.0), np.ones((9, 1)))
    >>> models = kernels(Numbers(cells, Moments(*np.zeros((4, 1, 1))), np.zeros(1)))
    >>> len(models), models[0].describe()
    (10, 'kernel, width 0.01')
    """
    made = coding(small, np.arange(len(small.cells.low)), holes)
    n_codes = len(made.count)
    weight = np.maximum(small.cells.count.sum(axis=1), 1e-300)
    spread = np.zeros((len(widths), n_codes, n_codes))
    spread[:, : len(weight), : len(weight)] = smoothers(weight, widths)
    if holes:
        spread[:, -1, -1] = 1.0
    return [
        made.model("kernel", f"kernel, width {width:g}", strength, smoother)
        for width, smoother in zip(widths, spread, strict=True)
        for strength in strengths
    ]
