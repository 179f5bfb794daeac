"""Style of all plots (colors, markers, shortened names, new axes), and the result of a plot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from ..exceptions import ParameterError
from ..model.table import Table
from ..printable import printable

# Okabe and Ito's colors, which color-blind readers can distinguish, without yellow, which is too light for print.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
HATCHES = ("", "//", "\\\\", "xx", "..", "++", "oo")
FOR, AGAINST = COLORS[0], COLORS[1]
GREY, PALE = "#666666", "#D9D9D9"

_MAX_LENGTH = 24
_PANEL = (3.2, 2.4)
_MAX_ACROSS = 4


def color(i: int) -> str:
    """Return the color of the i-th series; more series than colors differ in markers and dashes too."""
    return COLORS[i % len(COLORS)]


def marker(i: int) -> str:
    return MARKERS[i % len(MARKERS)]


def dash(i: int) -> Any:
    """Return a hatch, which differs for equal colors."""
    return DASHES[(i + i // len(COLORS)) % len(DASHES)]


def hatch(i: int) -> str:
    return HATCHES[(i + i // len(COLORS)) % len(HATCHES)]


def name(label: Any, most: int = _MAX_LENGTH) -> str:
    """Return a label shortened in its middle, because long names often differ at an end.

    >>> name("department of redundancy department, east")
    'department o…tment, east'
    >>> name("5 $ or more"), name("_hidden")
    ('5 \\\\$ or more', ' _hidden')
    """
    text = printable(" ".join(str(label).split()))
    if len(text) > most:
        tail = most // 2 - 1
        text = f"{text[: most - tail - 1].rstrip()}…{text[-tail:].lstrip()}"
    # matplotlib renders text between dollar signs as a formula, and hides names that begin with an underscore.
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def names(labels: Iterable[Any], most: int = _MAX_LENGTH) -> list[str]:
    """Return shortened labels, distinct where the labels are.

    >>> names(["department of redundancy, east wing, floor 1", "department of redundancy, west wing, floor 1"], 20)
    ['…ndancy, east wing,…', '…ndancy, west wing,…']
    """
    texts = [" ".join(str(label).split()) for label in labels]
    short = [name(text, most) for text in texts]
    if len(set(short)) == len(set(texts)):
        return short
    # Equal at both ends: show the part around the first difference.
    begin = max(0, _n_common(texts) - most // 2 + 2)
    cut = [name("…" * (begin > 0) + _truncate(text[begin:], most - 2), most) for text in texts]
    if len(set(cut)) == len(set(texts)):
        return cut
    alike = Counter(short)
    return [
        one if alike[one] == 1 else f"{name(text, most - 4)} ({i})"
        for i, (one, text) in enumerate(zip(short, texts, strict=True), 1)
    ]


def _n_common(texts: Sequence[str]) -> int:
    """Return the length of the common prefix."""
    first, last = min(texts), max(texts)
    return next((i for i, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))


def _truncate(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip()}…"


def number(value: float) -> str:
    """Return a number in few digits.

    >>> number(1250.0), number(0.1 + 0.2), number(123456.7), number(2.5e9)
    ('1250', '0.3', '123,457', '2.5e+09')
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e6 else f"{value:.4g}"


def one_axes(ax: Axes | None, width: float = 6.4, height: float = 4.2) -> Axes:
    """Return the axes that are given, or those of a new figure."""
    return ax if ax is not None else plt.subplots(figsize=(width, height), layout="constrained")[1]


def panels(
    axes: Any, n: int, size: tuple[float, float] = _PANEL, legend: tuple[float, float] = (0.0, 0.0), **options: Any
) -> list[Axes]:
    """Return ``n`` axes: those that are given, or new ones in rows of four; ``legend`` is the size of a legend."""
    if axes is not None:
        given = [ax for ax in np.ravel(np.asarray(axes, dtype=object)) if ax is not None]
        if len(given) != n:
            raise ParameterError(
                f"axes contains {len(given)} axes, but this plot has {n} panels; pass {n} axes, or None"
            )
        return given
    across = min(n, _MAX_ACROSS)
    down = -(-n // across)
    whole = size[0] * across + legend[0], max(size[1] * down, legend[1])
    figure, made = plt.subplots(down, across, figsize=whole, layout="constrained", squeeze=False, **options)
    for unused in made.flat[n:]:
        figure.delaxes(unused)
    return list(made.flat[:n])


def figure_of(ax: Axes) -> Figure:
    """Return the figure of axes."""
    figure = ax.figure
    while isinstance(figure, SubFigure):
        figure = figure.figure
    return figure


def towards(what: str, left: str, right: str) -> str:
    """Return the name of an axis from one class to another; long names on a line each."""
    middle = "   " if len(left) + len(right) <= _MAX_LENGTH else "\n"
    return f"{what}\n{left}  ←{middle}→  {right}"


def plain(ax: Axes, *sides: str) -> None:
    """Remove empty rows of axes."""
    for side in sides or ("top", "right"):
        ax.spines[side].set_visible(False)


def row_end(drawn: Sequence[Axes]) -> Axes:
    """Return the last panel of the first row, to the right of which a legend fits."""
    return drawn[min(len(drawn), _MAX_ACROSS) - 1]


def legend(ax: Axes, *what: Any, **options: Any) -> None:
    """Draw a legend in the common style."""
    ax.legend(*what, **{"frameon": False, "fontsize": "small", **options})


def legend_right(ax: Axes, *what: Any, **options: Any) -> None:
    """Draw a legend to the right of the axes."""
    legend(ax, *what, loc="upper left", bbox_to_anchor=(1.0, 1.0), **options)


def legend_size(texts: Sequence[str]) -> tuple[float, float]:
    """Return the size of a legend of these texts, in inches."""
    return 0.7 + 0.075 * max(map(len, texts), default=0), 0.6 + 0.21 * len(texts)


def thin_rows(n: int, least: float = 2.4, each: float = 0.3, margin: float = 1.1) -> float:
    """Return the height of a plot with ``n`` lines of text, in inches."""
    return max(least, margin + each * n)


@dataclass(frozen=True, eq=False, repr=False)
class Display:
    """A plot.

    Attributes
    ----------
    axes : tuple of matplotlib axes
        The axes of each panel; ``ax`` is the first.
    table : Table
        The plotted values, one row per mark; ``table.to_pandas()`` returns a data frame.
    numbers : dict
        Further values shown in the plot, by name.
    """

    axes: tuple[Axes, ...]
    table: Table
    numbers: dict[str, float] = field(default_factory=dict)

    @property
    def ax(self) -> Axes:
        """The axes, or the first of several."""
        return self.axes[0]

    @property
    def figure(self) -> Figure:
        """The figure that the axes are in."""
        return figure_of(self.ax)

    def __repr__(self) -> str:
        panels = "1 panel" if len(self.axes) == 1 else f"{len(self.axes)} panels"
        shown = "".join(f", {name} {value:.4g}" for name, value in self.numbers.items())
        return f"Display({panels}, {self.table.n_rows} marks: {', '.join(map(printable, self.table))}{shown})"
