"""The effect of a pseudo-count on shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats
from ..model.table import Table
from ..priors import Dirichlet
from . import style
from .display import Display

_MAX_CURVES = 8


def smoothing(counts: Any, alphas: Any = None, *, alpha: float | None = None, ax: Axes | None = None) -> Display:
    """Plot smoothed shares (count + α) / (total + α · values) by the pseudo-count α, from observed to equal shares.

    Values with equal counts share a curve; of many different counts, eight are shown. What was seen is marked on the
    left; where a value was never seen, its share falls with α without end.

    Parameters
    ----------
    counts : dict or array
        How often each value was seen in one class, all values listed, also those never seen; a dict names them.
    alphas : array, optional
        Where to look; by default from 0.01 to 1,000.
    alpha : float, optional
        A pseudo-count to mark.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: value (the first of those with its count), count, alpha, share.

    Examples
    --------
    >>> words = {"excellent": 5, "good": 195} | {f"word {i}": 0 for i in range(998)}    # 5 of 200 words, V = 1,000
    >>> shown = smoothing(words, [1.0])
    >>> shown.table["value"].tolist(), shown.table["share"].round(5).tolist()
    (['good', 'excellent', 'word 0'], [0.16333, 0.005, 0.00083])
    """
    values, count = _read_counts(counts)
    at = np.logspace(-2, 3, 121) if alphas is None else np.sort(np.asarray(alphas, dtype=np.float64))
    if not (len(at) and at[0] > 0):
        raise ParameterError("alphas are drawn on a logarithmic scale, so they must be above 0; leave 0 out")
    shown = _first_of_each(count)
    share = np.array([Dirichlet(a).posterior(count).mean()[shown] for a in at])  # (alphas, curves)
    ax = style.one_axes(ax, 6.8, 4.0)
    for i, place in enumerate(shown):
        _curve(
            ax, i, at, share[:, i], _curve_name(values, count, place), float(count[place] / max(count.sum(), 1e-300))
        )
    ax.axhline(1 / len(count), color=style.GREY, lw=1, ls=":", label=f"even share, 1/{len(count):,}")
    if alpha is not None:
        ax.axvline(alpha, color=style.GREY, lw=1, label=f"α = {alpha:g}")
    ax.set(xscale="log", yscale="log", xlabel="pseudo-count α of every value", ylabel="smoothed share of the class")
    style.plain(ax)
    style.legend_right(ax)
    n = len(at)
    columns = {"value": np.repeat(values[shown], n), "count": np.repeat(count[shown], n)}
    return Display((ax,), Table(columns | {"alpha": np.tile(at, len(shown)), "share": share.T.ravel()}))


def _curve(ax: Axes, i: int, at: Floats, share: Floats, label: str, seen: float) -> None:
    ax.plot(at, share, color=style.color(i), ls=style.dash(i), lw=1.8, label=label)
    if seen > 0:
        ax.plot(at[0], seen, marker=style.marker(i), color=style.color(i), ls="none", clip_on=False)


def _read_counts(counts: Any) -> tuple[Array, Floats]:
    pairs = list(counts.items()) if isinstance(counts, Mapping) else list(enumerate(np.ravel(counts).tolist()))
    values, count = np.empty(len(pairs), dtype=object), np.array([number for _, number in pairs], dtype=np.float64)
    values[:] = [value for value, _ in pairs]
    if len(pairs) < 2 or not np.isfinite(count).all() or (count < 0).any():
        raise ParameterError(f"counts is {counts!r:.80}; give at least two values, each with a count of 0 or more")
    return values, count


def _first_of_each(count: Floats) -> Array:
    """Return the first value of each distinct count, the largest count first; of many, some evenly spaced."""
    _, first = np.unique(-count, return_index=True)
    if len(first) <= _MAX_CURVES:
        return first
    return first[np.linspace(0, len(first) - 1, _MAX_CURVES).round().astype(np.intp)]


def _curve_name(values: Array, count: Floats, place: int) -> str:
    alike = int((count == count[place]).sum())
    others = f" and {alike - 1:,} more" if alike > 1 else ""
    return f"{style.name(values[place], 18)}{others}, seen {count[place]:g}×"
