"""Concepts behind naive Bayes: Bayes' theorem as areas, conditional independence as mosaics, smoothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from ..data.arrays import missing_cells
from ..exceptions import InputError, ParameterError
from ..kernels.layouts import Array, Floats
from ..model.table import Table
from ..priors import Dirichlet
from . import style
from .style import Display

_BAR = (1.12, 0.14)  # where the bar of the posterior begins, and its width


def bayes_theorem(
    prior: Mapping[Any, float], likelihood: Mapping[Any, float], *, evidence: str = "evidence", ax: Axes | None = None
) -> Display:
    """Plot p(class | evidence) as areas: the width is the prior of a class, the height its likelihood.

    The colored areas are the joint probabilities of class and evidence. The bar on the right shows their shares, which
    are the posterior.

    Parameters
    ----------
    prior : dict
        p(class) by class; normalized to sum to 1.
    likelihood : dict
        p(evidence | class) by class, 0 to 1.
    evidence : str
        Name of the evidence.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: class, prior, likelihood, area, posterior. ``numbers``: ``evidence``, the total colored area.

    Examples
    --------
    >>> shown = bayes_theorem({"ill": 0.01, "well": 0.99}, {"ill": 0.9, "well": 0.1}, evidence="positive test")
    >>> shown.table["posterior"].round(3).tolist()
    [0.083, 0.917]
    """
    width, height = _checked(prior, likelihood)
    area = width * height
    share, begin = area / area.sum(), np.cumsum(width) - width
    texts = [
        f"{label}: {width[i]:.3g} × {height[i]:.3g}, posterior {share[i]:.3g}"
        for i, label in enumerate(style.names(prior))
    ]
    legend = style.legend_size(texts)
    ax = style.one_axes(ax, 4.6 + legend[0], max(3.9, legend[1]))
    for i, text in enumerate(texts):
        bar_style: dict[str, Any] = {
            "facecolor": style.color(i),
            "hatch": style.hatch(i),
            "edgecolor": "white",
            "lw": 0.8,
        }
        ax.bar(begin[i], 1.0, width[i], align="edge", color=style.PALE, edgecolor="white", lw=0.8, alpha=0.6)
        ax.bar(begin[i], height[i], width[i], align="edge", label=text, **bar_style)
        ax.bar(_BAR[0], share[i], _BAR[1], bottom=share[:i].sum(), align="edge", **bar_style)
    _finish(ax, style.name(evidence))
    columns = {"class": np.array(list(prior), dtype=object), "prior": width, "likelihood": height, "area": area}
    return Display((ax,), Table(columns | {"posterior": share}), {"evidence": float(area.sum())})


def _finish(ax: Axes, evidence: str) -> None:
    ax.set_xlim(0.0, sum(_BAR))
    ax.set_ylim(0.0, 1.0)
    shares = np.linspace(0, 1, 6)
    ax.set_xticks([*shares, _BAR[0] + _BAR[1] / 2], [*(f"{share:g}" for share in shares), "posterior"])
    ax.set_xlabel("p(class), as width")
    ax.set_ylabel(f"p({evidence} | class), as height")
    style.plain(ax, "top", "right", "left", "bottom")
    style.legend_right(ax, title="prior × likelihood", alignment="left")


def _checked(prior: Mapping[Any, float], likelihood: Mapping[Any, float]) -> tuple[Floats, Floats]:
    if set(prior) != set(likelihood) or len(prior) < 2:
        raise ParameterError(
            f"prior has the classes {list(prior)} and likelihood has {list(likelihood)}; expected the same classes in "
            "both, and at least two"
        )
    width, height = (np.array([float(part[label]) for label in prior]) for part in (prior, likelihood))
    if not ((width >= 0).all() and width.sum() > 0 and ((height >= 0) & (height <= 1)).all()):
        raise ParameterError(
            f"prior is {dict(prior)} and likelihood {dict(likelihood)}; expected non-negative priors, and likelihoods "
            "from 0 to 1"
        )
    if not (width * height).any():
        raise ParameterError(
            "the likelihood is 0 for every class with a positive prior, so the posterior is undefined; smooth the "
            "likelihood"
        )
    return width / width.sum(), height


_MAX_VALUES = 8


class CodedValues(NamedTuple):
    """Return labels and the position of each row's label among them."""

    labels: Array
    places: Array


def independence(
    a: Any, b: Any, given: Any, *, names: tuple[str, str, str] = ("a", "b", "class"), axes: Any = None
) -> Display:
    """Plot the dependence of two columns in all rows and within each class, as mosaics.

    The width of a tile is the share of its value of ``a``, and the height the share of its value of ``b`` among these
    rows. If the columns are independent, tiles of one color have equal heights, at the dashed lines. Naive Bayes
    assumes this within each class; the panel of all rows may show dependence even so.

    Parameters
    ----------
    a, b, given : arrays of labels, of equal length
        Two columns of at most eight distinct values each, and the class. Rows with a missing value are left out.
    names : three strings
        Names of the columns and of the class.
    axes : matplotlib axes, optional
        One for all rows, and one per class.

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
        raise InputError(
            f"a, b and given have {[len(column) for column in columns]} rows; expected the same number of rows"
        )
    known = ~np.any([missing_cells(column) for column in columns], axis=0)
    if not known.any():
        raise InputError("found no rows without missing values; expected at least one")
    first, second, classes = (_code_values(column[known]) for column in columns)
    for coded, name in ((first, names[0]), (second, names[1])):
        if len(coded.labels) > _MAX_VALUES:
            raise InputError(
                f"{name!r} has {len(coded.labels)} distinct values; expected at most {_MAX_VALUES}; merge rare "
                "values, or bin numbers with numpy.digitize"
            )
    return first, second, classes


def _code_values(values: Array) -> CodedValues:
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


_MAX_CURVES = 8


def smoothing(counts: Any, alphas: Any = None, *, alpha: float | None = None, ax: Axes | None = None) -> Display:
    """Plot smoothed shares (count + α) / (total + α · values) by the pseudo-count α, from observed to equal shares.

    Values with equal counts share a curve; at most eight curves are shown. Observed shares are marked on the left. The
    share of a value with a count of 0 approaches 0 as α does.

    Parameters
    ----------
    counts : dict or array
        Count of each value in one class, including values with a count of 0; the keys of a dict are their names.
    alphas : array, optional
        Values of α; by default from 0.01 to 1,000.
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
        raise ParameterError(
            "alphas is empty or contains a number that is not positive; expected positive numbers, because the axis is "
            "logarithmic"
        )
    shown = _first_of_each(count)
    share = np.array([Dirichlet(a).posterior(count).mean()[shown] for a in at])  # (alphas, curves)
    ax = style.one_axes(ax, 6.8, 4.0)
    for i, place in enumerate(shown):
        _curve(
            ax, i, at, share[:, i], _curve_name(values, count, place), float(count[place] / max(count.sum(), 1e-300))
        )
    ax.axhline(1 / len(count), color=style.GREY, lw=1, ls=":", label=f"uniform share, 1/{len(count):,}")
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
        raise ParameterError(f"counts is {counts!r:.80}; expected at least two values, each with a non-negative count")
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
