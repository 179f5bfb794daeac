"""Class-conditional densities of a column, with the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..exceptions import ParameterError
from ..families.columns.named import OPTIONS
from ..kernels.layouts import Array
from ..model.table import Table
from . import style
from ._inputs import Scale, check_fitted, class_position, column_position
from .column_curves import Curves, curves_of
from .display import Display

_MAX_PANELS = 20
_MAX_VALUES = 12
_MAX_DATES = 3


def densities(
    model: Any, column: Any, X: Any = None, y: Any = None, *, classes: Any = None,
    families: Any = ("gaussian", "kernel", "bins"), axes: Any = None,
) -> Display:  # fmt: skip
    """Plot p(value | class) of one column, a panel for each class: the data in gray, and densities of families.

    Of a number column, densities. A value that holds a large share of the column is a point mass, drawn as a stem with
    its probability on an axis of its own at the right; the densities cover the other values. Of names, on/off columns
    and counts of a Poisson model, probabilities as bars, with dots for the shares seen. The data are known to
    ``NaiveBayes``; other models show those that they kept (``keep_sample=True``), or ``X`` and ``y``; without any, the
    model's own density is alone.

    Parameters
    ----------
    model : a fitted model of columns; no MultinomialNB or ComplementNB, whose columns share one distribution
    column : name or place
    X, y : optional
        Rows whose data are shown, in place of what the model has seen.
    classes : list of labels, optional
        Which classes; by default the 20 with most rows.
    families : list of str
        Families of number columns to draw beside the model's own: those that ``NaiveBayes(columns=…)`` knows.
    axes : matplotlib axes, optional
        One for each class.

    Returns
    -------
    Display
        ``table``: class, family, value, density (of names, and of whole numbers each by itself, a probability), and
        of columns with point masses ``mass``, the probability of such a value, which has no density.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from candide import NaiveBayes
    >>> model = NaiveBayes(columns="kernel").fit(*load_iris(return_X_y=True))
    >>> shown = densities(model, 2)
    >>> len(shown.axes), list(dict.fromkeys(shown.table["family"]))
    (3, ["kernel (the model's)", 'gaussian', 'bins'])
    """
    model = check_fitted(model, "densities")
    unknown = [family for family in families if family not in OPTIONS]
    if unknown:
        raise ParameterError(f"{unknown[0]!r} is no family of columns; choose some of {', '.join(OPTIONS)}")
    found = curves_of(model, column_position(model, column), X, y, tuple(families))
    shown = _shown(model, classes)
    numbers = found.at.dtype != object
    size = (3.6, 2.6) if len(shown) < 4 else (3.0, 2.2)
    drawn = style.panels(axes, len(shown), size, legend=(2.6 if found.masses else 1.6, 0.0), sharex=True, sharey=True)
    draw = _draw_numbers if numbers else _draw_values
    titles = style.names(model.classes_, 30)
    for ax, k in zip(drawn, shown, strict=True):
        draw(ax, found, k)
        ax.set_title(titles[k], fontsize="small")
        style.plain(ax)
    _name_axes(drawn, found.scale, numbers)
    if found.masses:
        _draw_points(drawn, found, shown)
        style.legend(style.row_end(drawn), loc="upper left", bbox_to_anchor=(1.28, 1.0))
    else:
        style.legend_right(style.row_end(drawn))
    return Display(tuple(drawn), _table(found, shown, model.classes_))


def _shown(model: Any, classes: Any) -> list[int]:
    if classes is not None:
        return [class_position(model, label) for label in classes]
    return sorted(np.argsort(-model.class_count_, kind="stable")[:_MAX_PANELS].tolist())


def _draw_numbers(ax: Axes, found: Curves, k: int) -> None:
    if found.seen is not None:
        ax.stairs(found.seen.height[:, k], found.seen.edges, fill=True, color=style.PALE, label="data")
    for i, (family, density) in enumerate(found.by_family.items()):
        ax.plot(found.at, density[:, k], color=style.color(i), ls=style.dash(i), lw=1.6, label=family)


def _draw_points(drawn: list[Axes], found: Curves, shown: list[int]) -> None:
    """Draw the point masses of the first family that has any as stems; those outside the limits at the border."""
    low, high = float(found.at[0]), float(found.at[-1])
    places, (family, mass) = np.clip(found.points, low, high), next(iter(found.masses.items()))
    color = style.GREY if family == "data" else style.color(list(found.by_family).index(family))
    for i, (ax, k) in enumerate(zip(drawn, shown, strict=True)):
        right = ax.twinx()
        right.set_ylim(0.0, 1.1)
        style.plain(right, "top")
        right.vlines(places, 0.0, mass[:, k], color=color, lw=3.0, alpha=0.6)
        right.plot(places, mass[:, k], "o", color=color, ms=5)
        if "data" in found.masses:
            right.plot(places, found.masses["data"][:, k], "D", color=style.AGAINST, ms=3, ls="none")
        for value, x, p in zip(found.points.tolist(), places.tolist(), mass[:, k].tolist(), strict=True):
            to_left = x > (low + high) / 2
            right.annotate(
                f"{found.scale.written(value)}: {100 * p:.3g} %", (x, p), (-6 if to_left else 6, 3),
                textcoords="offset points", fontsize="x-small", ha="right" if to_left else "left",
            )  # fmt: skip
        if i % 4 == 3 or i == len(drawn) - 1:
            right.set_ylabel("point mass\n(share of the class)", fontsize="small")
        else:
            right.tick_params(labelright=False)
    # In the legend of the densities, beside which the second axis stands.
    first = style.row_end(drawn)
    first.plot([], [], "o-", color=color, lw=3.0, alpha=0.6, label="point mass")
    if "data" in found.masses:
        first.plot([], [], "D", color=style.AGAINST, ms=3, ls="none", label="point mass in the data")


def _draw_values(ax: Axes, found: Curves, k: int) -> None:
    rows = _frequent(found)
    places, (family, said) = np.arange(len(rows)), next(iter(found.by_family.items()))
    ax.bar(places, said[rows, k], color=style.FOR, alpha=0.6, label=family)
    if found.seen is not None:
        ax.plot(places, found.seen.height[rows, k], "D", color=style.AGAINST, ms=4, ls="none", label="share seen")
    names = style.names(found.at[rows], 12)
    wide = sum(map(len, names)) > 24
    ax.set_xticks(places, names, rotation=45 if wide else 0, ha="right" if wide else "center", rotation_mode="anchor")


def _frequent(found: Curves) -> Array:
    """Return the values that are most probable in some class, in their order."""
    said = next(iter(found.by_family.values()))
    return np.sort(np.argsort(-said.max(axis=1), kind="stable")[:_MAX_VALUES])


def _name_axes(drawn: list[Axes], scale: Scale, numbers: bool) -> None:
    unit = "day" if scale.dates else f"unit of {style.name(scale.name, 16)}"
    label = f"density (share of the class\nper {unit})" if numbers else "share of the class"
    for i, ax in enumerate(drawn):
        ax.tick_params(labelbottom=True)
        ax.set_xlabel(style.name(scale.name))
        if numbers and scale.dates:
            ax.xaxis.set_major_locator(MaxNLocator(_MAX_DATES))
            ax.xaxis.set_major_formatter(lambda day, _: scale.written(round(day)))
        if i % 4 == 0:
            ax.set_ylabel(label, fontsize="small")


def _table(found: Curves, shown: list[int], labels: Array) -> Table:
    keys = [(k, family) for k in shown for family in found.by_family]
    n = len(found.at)
    columns: dict[str, Array] = {
        "class": np.repeat(np.array([labels[k] for k, _ in keys]), n),
        "family": np.repeat(np.array([family for _, family in keys], dtype=object), n),
        "value": np.tile(found.at, len(keys)),
        "density": np.concatenate([found.by_family[family][:, k] for k, family in keys]),
    }
    if not found.masses:
        return Table(columns)
    apart, n = [(k, family) for k in shown for family in found.masses if family != "data"], len(found.points)
    more = {
        "class": np.repeat(np.array([labels[k] for k, _ in apart]), n),
        "family": np.repeat(np.array([family for _, family in apart], dtype=object), n),
        "value": np.tile(found.points, len(apart)),
        "density": np.full(n * len(apart), np.nan),
    }
    masses = [found.masses[family][:, k] for k, family in apart]
    both = {name: np.concatenate([column, more[name]]) for name, column in columns.items()}
    return Table(both | {"mass": np.concatenate([np.full(len(columns["value"]), np.nan), *masses])})
