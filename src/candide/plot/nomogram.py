"""A nomogram: a naive Bayes model to be read with a ruler."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..estimators.base import BaseNB
from ..exceptions import ParameterError
from ..kernels.layouts import Array
from ..model.table import Table
from . import style
from .asked import fitted, log_odds, pair_of
from .display import Display
from .probes import Scale, log_probability, named_place, scale_of
from .ruler import Line, draw_lines, draw_sums

_BITS = 1 / np.log(2.0)
# Columns that are asked one by one; more would take long, and nobody would see them.
_MOST_ASKED = 500
_N_CHECKS = 16


def nomogram(
    model: Any, of: Any = None, against: Any = None, *, columns: Any = None, most: int = 12, ax: Axes | None = None
) -> Display:
    """Points for every value of every column; their sum gives the probability of a class.

    Read the points of each cell off the scale on top, add them up, and find the sum at the bottom: the log-odds and the
    probability stand under it. A missing cell has the points that are written beside its column. Where the line of a
    column turns, because both small and large values speak for the class, values on the way back stand below it.

    With two classes, or ``against`` another class, sums are exactly what the model says. A model whose columns do not
    add up (views of pairs, blocks, curved calibration) is refused. One class of many against all others: lines are what
    each column does alone, which does not add up, so that there are no sums.

    Parameters
    ----------
    model : a fitted model of columns (no TextNB)
    of, against : labels, optional
        The class whose probability is read, and the one against it: by default the second of two classes against the
        first; of more, ``against`` all others.
    columns : list of names, optional
        Which columns; by default those with the longest lines.
    most : int, default 12
        How many lines at most. Those left out count as missing.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: column, value, bits (log-odds against a missing cell), points. ``numbers``: ``bits_per_point``,
        ``bits_at_0`` (the log-odds of a sum of 0 points), or the first alone where there are no sums.

    Examples
    --------
    >>> from candide import CategoricalNB
    >>> X, y = [["sun", "hot"], ["sun", "mild"], ["rain", "mild"], ["rain", "hot"]], ["yes", "yes", "no", "yes"]
    >>> shown = nomogram(CategoricalNB().fit(X, y))
    >>> shown.table
    column  value       bits  points
    x0      rain   -0.736966       0
    x0      sun     0.847997     100
    x1      hot     0.847997     100
    x1      mild   -0.736966       0
    """
    model = fitted(model, "nomogram")
    first, second = pair_of(model, of, against)
    base = log_odds(log_probability(model, [], 1), first, second)[0] * _BITS
    lines = _lines(model, first, second, base, columns)
    adds = second is not None
    if adds:
        _refuse_curved(model, lines, first, second, base)
    lines = sorted(lines, key=lambda line: -line.length)[:most]
    unit = lines[0].length / 100.0
    ax = style.one_axes(ax, 8.4, style.thin_rows(len(lines) + 1 + 3 * adds, each=0.52, beside=0.5))
    draw_lines(ax, lines, unit)
    numbers = {"bits_per_point": unit}
    if adds:
        numbers["bits_at_0"] = float(base + sum(line.least for line in lines))
        whole = sum(line.length for line in lines) / unit
        draw_sums(ax, len(lines) + 1, whole, unit, numbers["bits_at_0"])
    ax.set_title(_title(model.classes_, first, second, unit), fontsize="medium")
    return Display((ax,), _table(lines, unit), numbers)


def _lines(model: BaseNB, of: int, against: int | None, base: float, columns: Any) -> list[Line]:
    """The columns asked for that tell the classes apart."""
    n_columns = len(model._fitted().column_names())
    places = range(n_columns) if columns is None else [named_place(model, column) for column in columns]
    if len(places) > _MOST_ASKED:
        raise ParameterError(f"a nomogram of {len(places)} columns cannot be read; name some of them as columns=[…]")
    scales = [scale for place in places if (scale := scale_of(model, place)) is not None]
    lines = [Line(scale, _added(model, scale, of, against, base)) for scale in scales]
    told = [line for line in lines if line.length > 1e-9]
    if not told:
        raise ParameterError(
            "no column tells these classes apart by a finite number of bits, so there is nothing to read off; see "
            "parameters()"
        )
    return told


def _added(model: BaseNB, scale: Scale, of: int, against: int | None, base: float) -> Any:
    said = log_probability(model, [(scale.place, scale.cells)], len(scale.cells))
    return log_odds(said, of, against) * _BITS - base


def _refuse_curved(model: BaseNB, lines: list[Line], of: int, against: int | None, base: float) -> None:
    """Whether the model says of whole rows what the sum of their cells says: of some, drawn at random."""
    rng = np.random.default_rng(0)
    finite = [np.flatnonzero(np.isfinite(line.bits)) for line in lines]
    picked = [rng.choice(values, _N_CHECKS) for values in finite]
    rows = [(line.scale.place, line.scale.cells[at]) for line, at in zip(lines, picked, strict=True)]
    said = log_odds(log_probability(model, rows, _N_CHECKS), of, against) * _BITS
    added = base + sum(line.bits[at] for line, at in zip(lines, picked, strict=True))
    if not np.allclose(said, added, rtol=1e-6, atol=1e-6):
        raise ParameterError(
            "the columns of this model do not add up (it looks at several together, or its calibration is a curve), so "
            "that no nomogram can tell its answers; for a table, fit NaiveBayes(stacking=None), and calibrate by "
            "None, 'temperature' or 'platt'"
        )


def _title(labels: Array, of: int, against: int | None, unit: float) -> str:
    names = style.names(labels)
    other = "all others, each column alone" if against is None else names[against]
    return f"{names[of]} against {other}\n100 points = {100 * unit:.3g} bits of log-odds"


def _table(lines: list[Line], unit: float) -> Table:
    sizes = [len(line.bits) for line in lines]
    value = np.empty(sum(sizes), dtype=object)
    value[:] = [label for line in lines for label in line.labels]
    return Table(
        {
            "column": np.repeat(np.array([line.scale.name for line in lines], dtype=object), sizes),
            "value": value,
            "bits": np.concatenate([line.bits for line in lines]),
            "points": np.concatenate([(line.bits - line.least) / unit for line in lines]),
        }
    )
