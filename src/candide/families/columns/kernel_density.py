"""Kernel densities of numbers, on the scale of their ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np

from ...kernels.layouts import Array, Floats
from .base import CodedColumn
from .bins import STRENGTHS, coding
from .histogram import Numbers, mid_ranks

# Each is twice the previous one, so that their kernels are powers of one another.
WIDTHS = (0.01, 0.02, 0.04, 0.08, 0.16)


def smoothers(weight: Floats, widths: tuple[float, ...] = WIDTHS) -> Iterator[Floats]:
    """Return the share of each range's weight that normal kernels assign to each range, ``(ranges, ranges)`` by width.

    Kernels are centered at ranks between 0 and 1; mass beyond an end is reflected. Columns sum to 1.

    >>> next(smoothers(np.ones(4), (0.16,)))[:, 0].round(2)
    array([0.81, 0.19, 0.  , 0.  ])
    """
    rank, share = mid_ranks(weight), weight / weight.sum()
    for spread in _kernels(rank, widths):
        spread *= share[:, None]
        spread /= spread.sum(axis=0)
        yield spread


def _kernels(rank: Floats, widths: tuple[float, ...]) -> Iterable[Floats]:
    """Return Σ exp(-d²/2h²) over the distances to a rank and its two reflections, for each width."""
    apart, sum_of_both = rank[:, None] - rank, rank[:, None] + rank
    half_squares = -0.5 * np.square([apart, sum_of_both, 2.0 - sum_of_both])
    if widths != WIDTHS:
        return [np.exp(half_squares / h**2).sum(axis=0) for h in widths]
    power = np.exp(half_squares / WIDTHS[-1] ** 2)
    out = [power.sum(axis=0)]
    for _ in WIDTHS[1:]:
        # Half the width is the fourth power, which is much cheaper than another exponential.
        np.square(power, out=power)
        np.square(power, out=power)
        out.append(power.sum(axis=0))
    return out[::-1]


def kernels(
    small: Numbers,
    missing_code: bool = False,
    widths: tuple[float, ...] = WIDTHS,
    strengths: tuple[float, ...] = STRENGTHS,
) -> list[CodedColumn]:
    """Return kernel densities of a column in few ranges, for each width and strength of the base.

    Atoms are not smoothed: the kernel density covers the other values, on the scale of their ranks.

    >>> from candide.statistics import Moments
    >>> from candide.statistics.grid import Cells
    >>> cells = Cells(np.arange(9.0), np.arange(9.0), np.ones((9, 1)))
    >>> models = kernels(Numbers(cells, Moments(*np.zeros((4, 1, 1))), np.zeros(1)))
    >>> len(models), models[0].describe()
    (10, 'kernel, width 0.01')
    """
    made = coding(small, np.arange(len(small.cells.low)), missing_code)
    weight = np.maximum(small.cells.count.sum(axis=1), 1e-300)
    spread_out = np.delete(np.arange(len(weight)), small.atoms)
    if len(spread_out):
        usual: Iterable[Floats] = _spreads(weight[spread_out], widths)
    else:
        usual = [np.zeros((0, 0)) for _ in widths]
    alone = missing_code or len(small.atoms)
    spreads = (_embedded(spread, spread_out, len(made.count)) if alone else spread for spread in usual)
    return [
        made.model("kernel", f"kernel, width {width:g}", strength, spread)
        for width, spread in zip(widths, spreads, strict=True)
        for strength in strengths
    ]


def _spreads(weight: Floats, widths: tuple[float, ...]) -> Iterable[Floats]:
    return _usual_smoothers(weight.tobytes()) if widths == WIDTHS else smoothers(weight, widths)


@lru_cache(maxsize=4)
def _usual_smoothers(weight: bytes) -> tuple[Floats, ...]:
    """Return cached smoothers for columns without ties, which all have the same weights."""
    made = tuple(smoothers(np.frombuffer(weight)))
    for spread in made:
        spread.flags.writeable = False
    return made


def _embedded(spread: Floats, codes: Array, n_codes: int) -> Floats:
    """Return a smoother of all codes that smooths some of them; the others (atoms, missing cells) are unchanged."""
    out = np.eye(n_codes)
    out[np.ix_(codes, codes)] = spread
    return out
