"""Conditional independence as mosaic plots."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from ..data.arrays import missing_cells
from ..exceptions import InputError
from ..kernels.layouts import Array, Floats
from ..model.table import Table
from . import style
from .display import Display

_MAX_VALUES = 8


class CodedValues(NamedTuple):
    """Return labels and the position of each row's label among them."""

    labels: Array
    places: Array


def independence(
    a: Any, b: Any, given: Any, *, names: tuple[str, str, str] = ("a", "b", "class"), axes: Any = None
) -> Display:
    """Plot two columns in all rows and within each class; if independent, tiles of one color are equally high.

    A tile is as wide as its value of ``a`` is frequent, and as high as its value of ``b`` is among those; dashed lines
    are where all heights would be without any dependence. The naive assumption is about the panels of the classes: the
    panel of all rows may show dependence though they show none.

    Parameters
    ----------
    a, b, given : arrays of labels, of equal length
        Two columns of at most eight different values each, and the class. Rows in which one is missing are left out.
    names : three texts
        What they are called.
    axes : matplotlib axes, optional
        One more than there are classes.

    Returns
    -------
    Display
        ``table``: panel, a, b, weight (rows), share (the height of the tile). ``numbers``: mutual information of a and
        b in bits, by panel.

    Examples
    --------
    >>> shown = independence([0, 0, 1, 1], [0, 0, 1, 1], ["x", "x", "y", "y"])
    >>> shown.numbers
    {'all rows': 1.0, 'x': 0.0, 'y': 0.0}
    """
    first, second, classes = _read(a, b, given, names)
    shape = len(first.labels), len(second.labels), len(classes.labels)
    cells = np.zeros(shape)
    np.add.at(cells, (first.places, second.places, classes.places), 1.0)
    titles = ["all rows", *(str(label) for label in classes.labels)]
    parts = [cells.sum(axis=2), *np.moveaxis(cells, 2, 0)]
    drawn = style.panels(axes, len(parts), size=(2.7, 2.7), legend=(1.2, 0.0), sharey=True)
    bits = [mutual_information(part) for part in parts]
    headings = ["all rows", *(f"{style.name(names[2], 12)} = {title}" for title in style.names(titles[1:]))]
    for i, (ax, heading, part) in enumerate(zip(drawn, headings, parts, strict=True)):
        ax.set_title(f"{heading}\n{bits[i]:.3f} bits shared", fontsize="small")
        _tiles(ax, part, first.labels, second.labels)
        ax.set_xlabel(style.name(names[0]))
    for ax in drawn[:: min(len(drawn), 4)]:
        ax.set_ylabel(f"share of {style.name(names[1])}")
    handles = [bars[0] for bars in drawn[0].containers]
    style.legend_right(style.row_end(drawn), handles, style.names(second.labels), title=style.name(names[1]))
    return Display(
        tuple(drawn), _table(titles, parts, first.labels, second.labels), dict(zip(titles, bits, strict=True))
    )


def mutual_information(cells: Floats) -> float:
    """Return the mutual information of the two axes of a table of counts, in bits.

    >>> mutual_information(np.array([[2.0, 0.0], [0.0, 2.0]]))
    1.0
    """
    whole = max(float(cells.sum()), 1e-300)
    expected = cells.sum(axis=1, keepdims=True) * cells.sum(axis=0) / whole
    seen = cells > 0
    return max(0.0, float((cells[seen] * np.log2(cells[seen] / expected[seen])).sum() / whole))


def _tiles(ax: Axes, cells: Floats, first: Array, second: Array) -> None:
    rows = max(float(cells.sum()), 1e-300)
    width, overall = cells.sum(axis=1) / rows, cells.sum(axis=0) / rows
    begin = np.cumsum(width) - width
    share = _heights(cells)
    for k in range(len(second)):
        ax.bar(
            begin, share[:, k], width, bottom=share[:, :k].sum(axis=1), align="edge", color=style.color(k),
            hatch=style.hatch(k), edgecolor="white", lw=1.0,
        )  # fmt: skip
    ax.hlines(np.cumsum(overall)[:-1], 0.0, 1.0, color="black", ls="--", lw=1.2)
    kept = width > 0.06
    ax.set_xticks((begin + width / 2)[kept], style.names(first[kept], 10))
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    style.plain(ax, "top", "right", "left", "bottom")


def _heights(cells: Floats) -> Floats:
    """Return the shares of b among the rows of each value of a."""
    rows = cells.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(cells, rows, out=np.zeros_like(cells), where=rows > 0))


def _read(a: Any, b: Any, given: Any, names: tuple[str, str, str]) -> tuple[CodedValues, CodedValues, CodedValues]:
    columns = [np.asarray(part, dtype=object).ravel() for part in (a, b, given)]
    if len({len(column) for column in columns}) > 1:
        raise InputError(f"a, b and given have {[len(column) for column in columns]} rows; give as many of each")
    known = ~np.any([missing_cells(column) for column in columns], axis=0)
    if not known.any():
        raise InputError("no row has all three values, so there is nothing to draw; pass rows without missing values")
    first, second, classes = (_code_values(column[known], name) for column, name in zip(columns, names, strict=True))
    for coded, name in ((first, names[0]), (second, names[1])):
        if len(coded.labels) > _MAX_VALUES:
            raise InputError(
                f"{name!r} has {len(coded.labels)} different values, and tiles show at most {_MAX_VALUES}; join rare "
                "ones, or cut numbers with numpy.digitize"
            )
    return first, second, classes


def _code_values(values: Array, name: str) -> CodedValues:
    try:
        return CodedValues(*np.unique(values, return_inverse=True))
    except TypeError:
        return CodedValues(*np.unique(values.astype(str), return_inverse=True))


def _table(titles: list[str], parts: list[Floats], first: Array, second: Array) -> Table:
    n = len(first) * len(second)
    return Table(
        {
            "panel": np.repeat(titles, n),
            "a": np.tile(np.repeat(first, len(second)), len(parts)),
            "b": np.tile(second, len(parts) * len(first)),
            "weight": np.concatenate([part.ravel() for part in parts]),
            "share": np.concatenate([_heights(part).ravel() for part in parts]),
        }
    )
