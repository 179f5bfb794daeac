"""Nomogram: a naive Bayes model as a sum of points."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..estimators.base import BaseNB
from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats
from ..model.table import Table
from . import style
from ._inputs import (
    Scale,
    check_fitted,
    class_pair,
    column_position,
    column_scale,
    informative_columns,
    log_odds,
    log_probability,
)
from .style import Display

_BITS = 1 / np.log(2.0)
# Maximum number of columns whose lines are computed.
_MAX_PROBES = 200
_N_CHECKS = 16


def nomogram(
    model: Any, of: Any = None, against: Any = None, *, columns: Any = None, most: int = 12, ax: Axes | None = None
) -> Display:
    """Plot points for every value of every column; their sum gives the probability of a class.

    Read the points of each cell off the scale at the top, add them up, and find the sum on the scale at the bottom,
    with the log-odds and the probability below it. An open circle marks the points of a missing cell. If the points of
    a column do not change monotonically with its value, the values of the second direction are below the line.

    With two classes, or ``against`` another class, the sums are exactly the log-odds of the model. For one class
    against all others, and for models whose columns do not add up (views of several columns, joint families, nonlinear
    calibration), there are no sums, and each line shows the effect of its column when all others are missing; the
    title says so.

    Parameters
    ----------
    model : a fitted model of columns (no TextNB)
    of, against : labels, optional
        The class whose probability is shown, and the class to compare it with. By default, the second of two classes
        against the first; with more classes, the largest against all others. The title names them.
    columns : list of names, optional
        Columns to show; by default those with the longest lines.
    most : int, default 12
        Maximum number of lines. Columns that are left out count as missing.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: column, value, bits (log-odds against a missing cell), points. ``numbers``: ``bits_per_point``,
        ``bits_at_0`` (the log-odds of a sum of 0 points), or only the first if there are no sums.

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
    model = check_fitted(model, "nomogram")
    first, second = class_pair(model, of, against)
    base = log_odds(log_probability(model, [], 1), first, second)[0] * _BITS
    lines = _lines(model, first, second, base, columns)
    adds = second is not None and _is_additive(model, lines, first, second, base)
    if against is not None and not adds:
        raise ParameterError(
            "the scores of the columns do not add up to the log-odds (the model has views of several columns, or its "
            "calibration is a curve); fit NaiveBayes(stacking=None) with calibrate=None, 'temperature' or 'platt', or "
            "omit against="
        )
    n_columns = len(lines)
    lines = sorted(lines, key=lambda line: -line.length)[:most]
    unit = lines[0].length / 100.0
    ax = style.one_axes(ax, 8.4, style.thin_rows(len(lines) + 1 + 3 * adds, each=0.52, margin=0.5))
    draw_lines(ax, lines, unit)
    numbers = {"bits_per_point": unit}
    if adds:
        numbers["bits_at_0"] = float(base + sum(line.least for line in lines))
        whole = sum(line.length for line in lines) / unit
        draw_sums(ax, len(lines) + 1, whole, unit, numbers["bits_at_0"])
    ax.set_title(_title(model.classes_, first, second, unit, adds, (len(lines), n_columns)), fontsize="medium")
    return Display((ax,), _table(lines, unit), numbers)


def _lines(model: BaseNB, of: int, against: int | None, base: float, columns: Any) -> list[Axis]:
    """Return the selected columns that distinguish the classes."""
    places = list(range(len(model._fitted().column_names())))
    if columns is not None:
        places = [column_position(model, column) for column in columns]
    elif len(places) > _MAX_PROBES:
        places = informative_columns(model, places, _MAX_PROBES)
    scales = [scale for place in places if (scale := column_scale(model, place)) is not None]
    lines = [Axis(scale, _contribution(model, scale, of, against, base)) for scale in scales]
    told = [line for line in lines if line.length > 1e-9]
    if not told:
        raise ParameterError("no column has a finite contribution that distinguishes these classes; see parameters()")
    return told


def _contribution(model: BaseNB, scale: Scale, of: int, against: int | None, base: float) -> Any:
    said = log_probability(model, [(scale.place, scale.cells)], len(scale.cells))
    return log_odds(said, of, against) * _BITS - base


def _is_additive(model: BaseNB, lines: list[Axis], of: int, against: int | None, base: float) -> bool:
    """Return whether the scores of rows are the sums of the scores of their cells, for some random rows."""
    rng = np.random.default_rng(0)
    finite = [np.flatnonzero(np.isfinite(line.bits)) for line in lines]
    picked = [rng.choice(values, _N_CHECKS) for values in finite]
    rows = [(line.scale.place, line.scale.cells[at]) for line, at in zip(lines, picked, strict=True)]
    said = log_odds(log_probability(model, rows, _N_CHECKS), of, against) * _BITS
    added = base + sum(line.bits[at] for line, at in zip(lines, picked, strict=True))
    return bool(np.allclose(said, added, rtol=1e-6, atol=1e-6))


def _title(labels: Array, of: int, against: int | None, unit: float, adds: bool, shown: tuple[int, int]) -> str:
    names = style.names(labels)
    other = "all other classes" if against is None else names[against]
    some = "" if shown[0] == shown[1] else f"the {shown[0]} longest of {shown[1]} columns; "
    alone = "" if adds else "each column alone, not additive; "
    return f"{names[of]} against {other}\n{some}{alone}100 points = {100 * unit:.3g} bits"


def _table(lines: list[Axis], unit: float) -> Table:
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


_MAX_MARKS = 7
_CHARACTER = 0.062  # width of one, in inches
_TICK = 0.16
_FINE = "x-small"
_PROBABILITY_TICKS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)


class Axis(NamedTuple):
    """A column with the contributions of its values to the log-odds, in bits."""

    scale: Scale
    bits: Floats

    @property
    def least(self) -> float:
        return float(self._known.min(initial=np.inf))

    @property
    def length(self) -> float:
        """0 where no value has a finite number of bits."""
        return float(np.ptp(self._known)) if self._known.size else 0.0

    @property
    def _known(self) -> Floats:
        return np.asarray(self.bits[np.isfinite(self.bits)])

    @property
    def labels(self) -> list[Any]:
        """Return the names of its values."""
        return self.scale.cells.tolist() if self.scale.labels is None else self.scale.labels


class Mark(NamedTuple):
    """A value with a name, above or below a line."""

    at: float
    text: str
    above: bool


def draw_lines(ax: Axes, lines: list[Axis], unit: float) -> None:
    """Draw the scale of points, and a line for each column below it."""
    ax.set(xlim=(-1.0, 101.0), ylim=(len(lines) + 0.6, -0.8))
    ax.axis("off")
    _axis(ax, 0, "points", [(float(at), f"{at:g}") for at in range(0, 101, 10)], (0.0, 100.0))
    for i, line in enumerate(lines, 1):
        ax.axhline(i, color=style.PALE, lw=0.5, zorder=0)
        _axis(ax, i, style.name(line.scale.name, 20), [], (0.0, line.length / unit))
        for mark in _avoid_overlaps(ax, _marks(line, unit)):
            _draw_mark(ax, i, mark)
        absent = -line.least / unit
        if 0.0 <= absent <= 100.0:
            ax.plot(absent, i, marker="o", mfc="white", mec=style.AGAINST, ms=5, ls="none", zorder=3)
    ax.plot([], [], marker="o", mfc="white", mec=style.AGAINST, ms=5, ls="none", label="missing cell")
    ax.legend(loc="lower right", bbox_to_anchor=(0.0, 1.0), fontsize=_FINE, frameon=False, borderpad=0.0)


def draw_sums(ax: Axes, row: int, whole: float, unit: float, bits_at_0: float) -> None:
    """Draw the scale of total points, with log-odds and probabilities."""
    ax.set_ylim(row + 3.0, -0.8)
    ticks = MaxNLocator(9).tick_values(0.0, whole)
    _axis(ax, row + 0.3, "sum of points", [(100 * t / whole, f"{t:g}") for t in ticks if 0 <= t <= whole], (0.0, 100.0))
    ends = bits_at_0, bits_at_0 + whole * unit

    def place(bits: float) -> float:
        return 100.0 * (bits - ends[0]) / (ends[1] - ends[0])

    bits = [b for b in MaxNLocator(9).tick_values(*ends) if ends[0] <= b <= ends[1]]
    _axis(ax, row + 1.3, "log-odds (bits)", [(place(b), f"{b:g}") for b in bits], (0.0, 100.0))
    chances = [(place(np.log2(p / (1 - p))), p) for p in _PROBABILITY_TICKS]
    marks = [Mark(at, f"{p:g}", True) for at, p in chances if 0.0 <= at <= 100.0]
    _axis(ax, row + 2.3, "probability", [], (0.0, 100.0))
    for mark in _avoid_overlaps(ax, marks):
        _draw_mark(ax, row + 2.3, mark)


def _axis(ax: Axes, row: float, name: str, ticks: list[tuple[float, str]], ends: tuple[float, float]) -> None:
    ax.hlines(row, *ends, color="black", lw=1.2)
    ax.text(-2.5, row, name, ha="right", va="center", fontsize="small")
    for at, text in ticks:
        _draw_mark(ax, row, Mark(at, text, True))


def _draw_mark(ax: Axes, row: float, mark: Mark) -> None:
    side = -1.0 if mark.above else 1.0
    ax.vlines(mark.at, row, row + side * _TICK, color="black", lw=0.8)
    ax.text(
        mark.at, row + side * 1.3 * _TICK, mark.text, ha="center", va="bottom" if mark.above else "top", fontsize=_FINE
    )


def _marks(line: Axis, unit: float) -> list[Mark]:
    """Return positions with the ends first, so that they keep their names."""
    at, known = (line.bits - line.least) / unit, np.isfinite(line.bits)
    if line.scale.labels is not None:
        order = [i for i in np.argsort(at, kind="stable").tolist() if known[i]]
        marks = [Mark(float(at[i]), style.name(line.scale.labels[i], 12), n % 2 == 0) for n, i in enumerate(order)]
    else:
        marks = _number_marks(line.scale, at, known)
    return sorted(marks, key=lambda mark: min(mark.at, line.length / unit - mark.at))


def _number_marks(scale: Scale, at: Floats, known: Any) -> list[Mark]:
    """Return round numbers: those of the longer direction above the line, those of the other below it."""
    rises = np.gradient(np.where(known, at, 0.0)) >= 0 if len(at) > 1 else np.array([True])
    upward = np.abs(np.diff(at, append=at[-1:]))[rises].sum() >= np.abs(np.diff(at, append=at[-1:]))[~rises].sum()
    ticks = np.asarray(MaxNLocator(_MAX_MARKS, integer=scale.whole).tick_values(scale.cells[0], scale.cells[-1]))
    least = 1e-9 * float(np.ptp(scale.cells))
    chosen = [i for i, cell in enumerate(scale.cells) if (np.abs(ticks - cell) <= least).any()]
    if len(chosen) < 2:
        chosen = sorted({0, len(at) - 1, *chosen})
    return [
        Mark(float(at[i]), scale.written(float(scale.cells[i])), bool(rises[i] == upward)) for i in chosen if known[i]
    ]


def _avoid_overlaps(ax: Axes, marks: list[Mark]) -> list[Mark]:
    """Drop names that would overlap: they move to the other side if there is space, else they are not drawn."""
    width = ax.get_position().width * style.figure_of(ax).get_figwidth()
    character = _CHARACTER * 100.0 / max(width, 1.0)
    placed: list[Mark] = []
    for mark in marks:
        for above in (mark.above, not mark.above):
            legend = [other for other in placed if other.above == above]
            if all(abs(mark.at - o.at) > character * (len(mark.text) + len(o.text) + 1) / 2 for o in legend if o.text):
                placed.append(mark._replace(above=above))
                break
        else:
            placed.append(mark._replace(text=""))
    return placed
