"""The lines of a nomogram, and where on them a value has its mark and its name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..kernels.layouts import Floats
from . import style
from .probes import Scale

_N_MARKS = 7
_CHARACTER = 0.062  # width of one, in inches
_TICK = 0.16
_FINE = "x-small"
_CHANCES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)


class Line(NamedTuple):
    """A column with what its values add to the log-odds, in bits."""

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
        """What its values are called."""
        return self.scale.cells.tolist() if self.scale.labels is None else self.scale.labels


class Mark(NamedTuple):
    """A value with a name on a line: on its upper side, or on the lower."""

    at: float
    text: str
    above: bool


def draw_lines(ax: Axes, lines: list[Line], unit: float) -> None:
    """The scale of points, and a line for each column below it."""
    ax.set(xlim=(-1.0, 101.0), ylim=(len(lines) + 0.6, -0.8))
    ax.axis("off")
    _axis(ax, 0, "points", [(float(at), f"{at:g}") for at in range(0, 101, 10)], (0.0, 100.0))
    for i, line in enumerate(lines, 1):
        ax.axhline(i, color=style.PALE, lw=0.5, zorder=0)
        _axis(ax, i, style.name(line.scale.name, 20), [], (0.0, line.length / unit))
        for mark in _placed(ax, _marks(line, unit)):
            _mark(ax, i, mark)
        absent = -line.least / unit
        if 0.0 <= absent <= 100.0:
            ax.plot(absent, i, marker="o", mfc="white", mec=style.AGAINST, ms=5, ls="none", zorder=3)
    ax.plot([], [], marker="o", mfc="white", mec=style.AGAINST, ms=5, ls="none", label="missing cell")
    ax.legend(loc="lower right", bbox_to_anchor=(0.0, 1.0), fontsize=_FINE, frameon=False, borderpad=0.0)


def draw_sums(ax: Axes, row: int, whole: float, unit: float, bits_at_0: float) -> None:
    """The sum of all points, and the log-odds and the probability that it stands for."""
    ax.set_ylim(row + 3.0, -0.8)
    ticks = MaxNLocator(9).tick_values(0.0, whole)
    _axis(ax, row + 0.3, "sum of points", [(100 * t / whole, f"{t:g}") for t in ticks if 0 <= t <= whole], (0.0, 100.0))
    ends = bits_at_0, bits_at_0 + whole * unit

    def place(bits: float) -> float:
        return 100.0 * (bits - ends[0]) / (ends[1] - ends[0])

    bits = [b for b in MaxNLocator(9).tick_values(*ends) if ends[0] <= b <= ends[1]]
    _axis(ax, row + 1.3, "log-odds (bits)", [(place(b), f"{b:g}") for b in bits], (0.0, 100.0))
    chances = [(place(np.log2(p / (1 - p))), p) for p in _CHANCES]
    marks = [Mark(at, f"{p:g}", True) for at, p in chances if 0.0 <= at <= 100.0]
    _axis(ax, row + 2.3, "probability", [], (0.0, 100.0))
    for mark in _placed(ax, marks):
        _mark(ax, row + 2.3, mark)


def _axis(ax: Axes, row: float, name: str, ticks: list[tuple[float, str]], ends: tuple[float, float]) -> None:
    ax.hlines(row, *ends, color="black", lw=1.2)
    ax.text(-2.5, row, name, ha="right", va="center", fontsize="small")
    for at, text in ticks:
        _mark(ax, row, Mark(at, text, True))


def _mark(ax: Axes, row: float, mark: Mark) -> None:
    side = -1.0 if mark.above else 1.0
    ax.vlines(mark.at, row, row + side * _TICK, color="black", lw=0.8)
    ax.text(
        mark.at, row + side * 1.3 * _TICK, mark.text, ha="center", va="bottom" if mark.above else "top", fontsize=_FINE
    )


def _marks(line: Line, unit: float) -> list[Mark]:
    """The ends first, so that they keep their names."""
    at, known = (line.bits - line.least) / unit, np.isfinite(line.bits)
    if line.scale.labels is not None:
        order = [i for i in np.argsort(at, kind="stable").tolist() if known[i]]
        marks = [Mark(float(at[i]), style.name(line.scale.labels[i], 12), n % 2 == 0) for n, i in enumerate(order)]
    else:
        marks = _number_marks(line.scale, at, known)
    return sorted(marks, key=lambda mark: min(mark.at, line.length / unit - mark.at))


def _number_marks(scale: Scale, at: Floats, known: Any) -> list[Mark]:
    """Round numbers: those of the longer way above the line, those of the way back below it."""
    rises = np.gradient(np.where(known, at, 0.0)) >= 0 if len(at) > 1 else np.array([True])
    upward = np.abs(np.diff(at, append=at[-1:]))[rises].sum() >= np.abs(np.diff(at, append=at[-1:]))[~rises].sum()
    ticks = np.asarray(MaxNLocator(_N_MARKS, integer=scale.whole).tick_values(scale.cells[0], scale.cells[-1]))
    least = 1e-9 * float(np.ptp(scale.cells))
    chosen = [i for i, cell in enumerate(scale.cells) if (np.abs(ticks - cell) <= least).any()]
    return [
        Mark(float(at[i]), scale.written(float(scale.cells[i])), bool(rises[i] == upward))
        for i in (*chosen, *{0, len(at) - 1}.difference(chosen))
        if known[i]
    ]


def _placed(ax: Axes, marks: list[Mark]) -> list[Mark]:
    """Without names that would lie on each other: these may have room on the other side, else they stay unwritten."""
    width = ax.get_position().width * style.figure_of(ax).get_figwidth()
    character = _CHARACTER * 100.0 / max(width, 1.0)
    placed: list[Mark] = []
    for mark in marks:
        for above in (mark.above, not mark.above):
            beside = [other for other in placed if other.above == above]
            if all(abs(mark.at - o.at) > character * (len(mark.text) + len(o.text) + 1) / 2 for o in beside if o.text):
                placed.append(mark._replace(above=above))
                break
        else:
            placed.append(mark._replace(text=""))
    return placed
