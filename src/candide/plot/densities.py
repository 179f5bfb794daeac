"""Class-conditional densities of a column, by a model and by other families, with the data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..data.columns import Column, Columns
from ..estimators import BernoulliNB, CategoricalNB, GaussianNB, NaiveBayes, PoissonNB
from ..estimators.base import BaseNB
from ..exceptions import InputError, ParameterError
from ..families import Batch
from ..families.columns import CodedColumn, ColumnModel, named_column
from ..families.columns.choose import OPTIONS
from ..families.columns.histogram import atoms_of, middles
from ..families.table import ColumnSpec, TableFamily
from ..kernels.layouts import Array, Floats
from ..model.fitted import seen_rows
from ..model.table import Table
from ..statistics.grid import Cells
from . import style
from ._inputs import (
    Scale,
    check_fitted,
    class_position,
    column_position,
    column_scale,
    informative_columns,
    single_cell_rows,
)
from .style import Display

_N_POINTS = 120
_OVERSAMPLING = 16
_N_BINS = 30
_DISCRETE = ("poisson", "categorical", "bernoulli")
_FAMILIES = {GaussianNB: "gaussian", PoissonNB: "poisson", CategoricalNB: "categorical", BernoulliNB: "bernoulli"}


class Curves(NamedTuple):
    """p(value | class) by family, that of the model first, and the observed data."""

    scale: Scale
    at: Array  # (values,) numbers, or names
    by_family: dict[str, Floats]  # (values, classes); densities of numbers, else probabilities
    seen: Histogram | None  # None: the model keeps no data
    points: Array = np.zeros(0)  # values of a numeric column that are point masses, which densities exclude
    masses: dict[str, Floats] = {}  # noqa: RUF012  # (points, classes): probability by family, "data" among them


class Histogram(NamedTuple):
    """Observed densities between edges, or shares of values, ``(bins, classes)``."""

    edges: Array
    height: Floats


def curves_of(model: BaseNB, place: int, X: Any, y: Any, families: tuple[str, ...]) -> Curves:
    """Return the curves of a column, by its position."""
    own, scale = _own_family(model, place), column_scale(model, place)
    name = str(model._fitted().column_names()[place])
    if scale is None:
        raise InputError(f"column {name!r} has no values to show: it contains only missing values or texts")
    parts = _seen_parts(model, place, X, y)
    if own in _DISCRETE or scale.labels is not None:
        return _value_curves(model, scale, own, parts)
    mine = model._fitted().classifier.likelihood.models[place] if isinstance(model, NaiveBayes) else None
    points = _points(mine)
    cells = None if parts is None else parts["cells"]
    if cells is not None and not len(points):
        points = cells.low[atoms_of(cells)]
    rest = None if cells is None else _without(cells, points)
    at = _extend(_numbers(scale, rest), points)
    titled = f"{own} (chosen by the model)"
    by_family = {titled: _average(at, lambda x: _mask_point_masses(mine, x, _own(model, place, x)))}
    masses = {titled: mine.point_masses()[2]} if isinstance(mine, CodedColumn) and len(_points(mine)) else {}
    if parts is not None:
        for family in (family for family in families if family != own):
            made = named_column(family, **{**parts, "treat_missing": "ignore"}, name=name)
            by_family[family] = _average(at, partial(_column_density, made, name))
            if len(points) and np.array_equal(_points(made), points):
                assert isinstance(made, CodedColumn)
                masses[family] = made.point_masses()[2]
    if cells is None or rest is None:
        return Curves(scale, at, by_family, None, points, masses)
    whole = np.maximum(cells.count.sum(axis=0), 1e-300)
    if len(points):
        masses["data"] = cells.count[np.searchsorted(cells.low, points)] / whole
    return Curves(scale, at, by_family, _histogram(rest, at, whole), points, masses)


def _points(model: Any) -> Floats:
    """Return the values of a column that are point masses."""
    return model.point_masses()[0] if isinstance(model, CodedColumn) else np.zeros(0)


def _without(cells: Cells, points: Floats) -> Cells:
    """Return the cells that are not point masses; all cells if there are no others."""
    kept = ~((cells.low == cells.high) & np.isin(cells.low, points))
    return Cells._make(part[kept] for part in cells) if kept.any() else cells


def _extend(at: Floats, points: Floats) -> Floats:
    """Extend limits to the point masses, except those that would leave less than a third of the plot to the others."""
    low, high = float(at[0]), float(at[-1])
    near = points[(points >= 3 * low - 2 * high) & (points <= 3 * high - 2 * low)]
    return np.linspace(min([low, *near.tolist()]), max([high, *near.tolist()]), len(at))


def _mask_point_masses(model: Any, x: Floats, density: Floats) -> Floats:
    """Return the numbers without those coded as a point mass, whose score is not a density."""
    if not len(_points(model)):
        return density
    codes = model.codes(Column("", "number", x))
    return np.where(np.isfinite(model.atoms)[codes][:, None], np.nan, density)


def _own_family(model: BaseNB, place: int) -> str:
    if isinstance(model, NaiveBayes):
        family: Any = model._fitted().classifier.family
        choice = family.choices[place]
        if choice.model is None:
            reason = choice.note if choice.text is None else "it contains texts (for a TextNB, use word_shift)"
            raise InputError(
                f"column {family.names[place]!r} has no density: {reason}; choose another column, or set its family "
                "with columns="
            )
        return str(choice.model.family)
    own = next((family for kind, family in _FAMILIES.items() if isinstance(model, kind)), None)
    if own is None:
        raise ParameterError(
            f"the columns of a {type(model).__name__} have no separate densities, because they share one "
            "distribution; use nomogram, or PoissonNB for counts"
        )
    return own


def _own(model: BaseNB, place: int, at: Array) -> Floats:
    """Return the probabilities of the model, ``(values, classes)``."""
    fitted, data = model._fitted().classifier, single_cell_rows(model, [(place, at)], len(at))
    if isinstance(model, NaiveBayes):
        return np.asarray(np.exp(fitted.likelihood.models[place].scores(data.columns[place])))
    nothing = np.zeros(len(fitted.classes))
    scores = fitted.likelihood.scores(data, nothing, model._fitted().kernels)
    return np.asarray(np.exp(scores + fitted.likelihood.log_base(data)[:, None]))


def _column_density(model: ColumnModel, name: str, x: Floats) -> Floats:
    return _mask_point_masses(model, x, np.exp(model.scores(Column(name, "number", x))))


def _average(at: Floats, density: Callable[[Floats], Floats]) -> Floats:
    """Return means over steps: densities of kernels and bins have peaks that are thinner than a line."""
    step = float(at[1] - at[0])
    inside = np.clip(at[:, None] + step * ((np.arange(_OVERSAMPLING) + 0.5) / _OVERSAMPLING - 0.5), at[0], at[-1])
    said = density(inside.ravel()).reshape(len(at), _OVERSAMPLING, -1)
    known = ~np.isnan(said)
    return np.asarray(np.where(known, said, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def _seen_parts(model: BaseNB, place: int, X: Any, y: Any) -> dict[str, Any] | None:
    """Return statistics of the column: of given rows, of all rows a table model has learned, or of its sample."""
    if X is None and isinstance(model, NaiveBayes):
        fitted = model._fitted().classifier
        family: Any = fitted.family
        return dict(family._parts(fitted.state.statistics, place))
    if X is None and not model._fitted().has_training_rows:
        return None
    if X is None:
        seen = seen_rows(model._fitted().classifier.bound_spec, model._fitted().classifier.state, "showing the data")
        batch = seen.batch._replace(weight=seen.case_weight)
    else:
        batch = model._fitted().batch(X, y, None)
    kind = "category" if isinstance(model, CategoricalNB) else "number"
    column = batch.data.columns[place] if isinstance(batch.data, Columns) else _column(batch.data.column(place), kind)
    family = TableFamily((column.name,), (ColumnSpec(),))
    table = Batch(Columns((column,), len(column.values)), batch.classes, batch.weight, batch.n_classes)
    return dict(family._parts(family.observe(table, model._fitted().kernels), 0))


def _column(cells: Array, kind: str) -> Column:
    if kind == "number":
        return Column("x", "number", np.asarray(cells, dtype=np.float64))
    known = [cell for cell in cells.tolist() if cell is not None and cell == cell]
    labels = np.array(sorted(set(known), key=str), dtype=object)
    place = {label: i for i, label in enumerate(labels.tolist())}
    return Column("x", "category", np.array([place.get(cell, -1) for cell in cells.tolist()], dtype=np.int32), labels)


def _numbers(scale: Scale, cells: Cells | None) -> Floats:
    """Return the range of numbers, without the outer half percent on either side if that is far away."""
    if cells is None or not len(cells.low):
        return np.linspace(float(scale.cells[0]), float(scale.cells[-1]), _N_POINTS)
    low, high = float(cells.low[0]), float(cells.high[-1])
    rank = np.cumsum(cells.count.sum(axis=1))
    inner = middles(cells)[np.searchsorted(rank, np.array([0.005, 0.995]) * rank[-1]).clip(max=len(rank) - 1)]
    if low == high:
        low, high = low - 0.5, high + 0.5
    # No wider, because kernels and bins are constant beyond the range.
    margin = 0.25 * float(inner[1] - inner[0]) or high - low
    return np.linspace(max(low, float(inner[0]) - margin), min(high, float(inner[1]) + margin), _N_POINTS)


def _histogram(cells: Cells, at: Floats, whole: Floats) -> Histogram:
    """Return the histogram of some cells, as shares of the weight of all."""
    edges = np.linspace(at[0], at[-1], _N_BINS + 1)
    bins = np.searchsorted(edges, middles(cells), side="right") - 1
    inside = (bins >= 0) & (bins < _N_BINS)
    height = np.zeros((_N_BINS, cells.count.shape[1]))
    np.add.at(height, bins[inside], cells.count[inside])
    return Histogram(edges, height / (whole * np.diff(edges)[:, None]))


def _value_curves(model: BaseNB, scale: Scale, own: str, parts: dict[str, Any] | None) -> Curves:
    """Return the shares of a column of categories, or of integers each with a probability."""
    names: Array = np.empty(len(scale.cells), dtype=object)
    names[:] = [scale.written(float(cell)) for cell in scale.cells] if scale.labels is None else scale.labels
    said = _own(model, scale.place, scale.cells)
    seen = None if parts is None else _shares(model, scale, parts)
    return Curves(scale, names, {f"{own} (chosen by the model)": said}, seen)


def _shares(model: BaseNB, scale: Scale, parts: dict[str, Any]) -> Histogram:
    """Return the frequency of each value, as a share of each class's known cells."""
    if "cells" in parts:
        values, count = middles(parts["cells"]), parts["cells"].count
        if isinstance(model, BernoulliNB):
            values = np.where(values > scale.cells[0], scale.cells[1], scale.cells[0])
        wanted: list[Any] = [float(cell) for cell in scale.cells]
    else:
        values, count = np.asarray(parts["labels"]), np.asarray(parts["count"]).T
        wanted = list(scale.labels or ())
        values = np.array([str(value) for value in values], dtype=object)
    shares = np.array([count[[v == cell for v in values.tolist()]].sum(axis=0) for cell in wanted])
    return Histogram(np.arange(len(wanted)), shares / np.maximum(count.sum(axis=0), 1e-300))


_MAX_PANELS = 20
# Maximum number of columns in a figure, and of classes overlaid in a panel.
_MAX_COLUMNS, _MAX_OVERLAID = 12, 6
_MAX_VALUES = 12
_MAX_DATES = 3


def densities(
    model: Any, column: Any = None, X: Any = None, y: Any = None, *, classes: Any = None,
    families: Any = ("gaussian", "kernel", "bins"), axes: Any = None,
) -> Display:  # fmt: skip
    """Plot p(value | class) of all columns with the classes overlaid, or of one column with a panel for each class.

    Without ``column``, there is a panel with the densities of the largest classes for each of the twelve most
    informative columns; the figure says what is omitted. With ``column``, panels show the data in gray, the density of
    the model and those of other families.

    Numeric columns have densities. A value that makes up a large share of the column is a point mass, drawn as a stem
    with its probability on the right axis; the densities cover the other values. Categories, binary columns and the
    counts of a Poisson model have bars for the probabilities and dots for the observed shares. The data are those that
    ``NaiveBayes`` has summarized, those that another model keeps (``subsample``), or ``X`` and ``y``. Without data,
    only the density of the model is drawn.

    Parameters
    ----------
    model : a fitted model of columns, not MultinomialNB or ComplementNB, whose columns share one distribution
    column : name or position, optional
        The only column to show, with the data and other families.
    X, y : optional
        Rows to show, instead of the training data.
    classes : list of labels, optional
        Classes to show; by default the largest: 6 overlaid, or 20 in panels.
    families : list of str
        Families of ``NaiveBayes(columns=…)`` to draw next to that of the model, for numeric columns.
    axes : matplotlib axes, optional
        One for each column or, with ``column``, for each class.

    Returns
    -------
    Display
        ``table``: column (without ``column``), class, family, value, density (a probability for categories and for
        integers with a probability each), and, for a single column with point masses, their probability ``mass``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from candide import NaiveBayes
    >>> model = NaiveBayes(columns="kernel").fit(*load_iris(return_X_y=True))
    >>> shown = densities(model, 2)
    >>> len(shown.axes), list(dict.fromkeys(shown.table["family"]))
    (3, ['kernel (chosen by the model)', 'gaussian', 'bins'])
    """
    model = check_fitted(model, "densities")
    if column is None:
        return _all_columns(model, X, y, classes, axes)
    unknown = [family for family in families if family not in OPTIONS]
    if unknown:
        raise ParameterError(f"{unknown[0]!r} is not a column family; expected one of {', '.join(OPTIONS)}")
    found = curves_of(model, column_position(model, column), X, y, tuple(families))
    shown = _shown(model, classes, _MAX_PANELS)
    numbers = found.at.dtype != object
    size = (3.6, 2.6) if len(shown) < 4 else (3.0, 2.2)
    drawn = style.panels(axes, len(shown), size, legend=(2.6 if found.masses else 1.6, 0.0), sharex=True, sharey=True)
    draw = _draw_numbers if numbers else _draw_values
    titles = style.names(model.classes_, 30)
    for ax, k in zip(drawn, shown, strict=True):
        draw(ax, found, k)
        ax.set_title(titles[k], fontsize="small")
        style.plain(ax)
    _name_axes(drawn, found, own_figure=axes is None)
    if found.masses:
        _draw_points(drawn, found, shown)
        style.legend(style.row_end(drawn), loc="upper left", bbox_to_anchor=(1.28, 1.0))
    else:
        style.legend_right(style.row_end(drawn))
    return Display(tuple(drawn), _table(found, shown, model.classes_))


def _shown(model: Any, classes: Any, most: int) -> list[int]:
    if classes is not None:
        return [class_position(model, label) for label in classes]
    return sorted(np.argsort(-model._fitted().class_count, kind="stable")[:most].tolist())


def _all_columns(model: Any, X: Any, y: Any, classes: Any, axes: Any) -> Display:
    """Plot all columns as small multiples."""
    n_columns, shown = len(model._fitted().column_names()), _shown(model, classes, _MAX_OVERLAID)
    known = [j for j in range(n_columns) if _has_density(model, j)]
    if not known:
        raise InputError("no column of this model has a density; for texts, use word_shift")
    found = [curves_of(model, j, X, y, ()) for j in informative_columns(model, known, _MAX_COLUMNS)]
    labels = style.names(model.classes_[shown])
    drawn = style.panels(axes, len(found), size=(3.0, 2.3), legend=style.legend_size(labels))
    for i, (ax, curves) in enumerate(zip(drawn, found, strict=True)):
        numbers = curves.at.dtype != object
        (_overlay_numbers if numbers else _overlay_values)(ax, curves, shown, labels)
        ax.set_xlabel(style.name(curves.scale.name, 30), fontsize="small")
        ax.tick_params(labelsize="small")
        if i % 4 == 0:
            ax.set_ylabel("density" if numbers else "share of the class", fontsize="small")
        if numbers:
            ax.set_yticks([])
        if numbers and curves.scale.dates:
            _date_ticks(ax, curves.scale)
        style.plain(ax)
    style.legend_right(style.row_end(drawn), title="class", alignment="left")
    notes = []
    if len(found) < n_columns:
        notes.append(f"the {len(found)} most informative of {n_columns} columns")
    if len(shown) < len(model.classes_):
        largest = f"the {len(shown)} largest" if classes is None else len(shown)
        notes.append(f"{largest} of {len(model.classes_)} classes")
    if notes and axes is None:
        style.figure_of(drawn[0]).suptitle("; ".join(notes), fontsize="medium")
    tables = [_table(curves, shown, model.classes_) for curves in found]
    joined = {"column": np.repeat(np.array([c.scale.name for c in found], dtype=object), [t.n_rows for t in tables])}
    for name in ("class", "family", "value", "density"):
        # Values are numbers in some columns and names in others.
        joined[name] = np.concatenate([t[name].astype(object) if name == "value" else t[name] for t in tables])
    return Display(tuple(drawn), Table(joined))


def _has_density(model: Any, place: int) -> bool:
    if isinstance(model, NaiveBayes):
        family: Any = model._fitted().classifier.family
        return family.choices[place].model is not None and column_scale(model, place) is not None
    _own_family(model, place)
    return column_scale(model, place) is not None


def _overlay_numbers(ax: Axes, found: Curves, shown: list[int], labels: list[str]) -> None:
    density = next(iter(found.by_family.values()))
    for i, (k, label) in enumerate(zip(shown, labels, strict=True)):
        ax.plot(found.at, density[:, k], color=style.color(i), ls=style.dash(i), lw=1.6, label=label)
        ax.fill_between(found.at, 0.0, np.nan_to_num(density[:, k]), color=style.color(i), alpha=0.08, lw=0)
    ax.set_ylim(bottom=0.0)
    if found.masses:
        mass = next(iter(found.masses.values()))
        text = ", ".join(found.scale.written(float(value)) for value in found.points[:2])
        ax.set_title(f"without {text} ({100 * mass[:, shown].sum(axis=0).mean():.0f}% of rows)", fontsize="x-small")


def _overlay_values(ax: Axes, found: Curves, shown: list[int], labels: list[str]) -> None:
    rows, said = _frequent(found), next(iter(found.by_family.values()))
    width = 0.8 / len(shown)
    for i, (k, label) in enumerate(zip(shown, labels, strict=True)):
        at = np.arange(len(rows)) + (i - (len(shown) - 1) / 2) * width
        ax.bar(
            at, said[rows, k], width, color=style.color(i), hatch=style.hatch(i), edgecolor="white", lw=0.3, label=label
        )
    names = style.names(found.at[rows], 12)
    wide = sum(map(len, names)) > 24
    ax.set_xticks(
        range(len(rows)), names, rotation=45 if wide else 0, ha="right" if wide else "center", rotation_mode="anchor"
    )


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
                f"{found.scale.written(value)}: {100 * p:.3g}%", (x, p), (-6 if to_left else 6, 3),
                textcoords="offset points", fontsize="x-small", ha="right" if to_left else "left",
            )  # fmt: skip
        if i % 4 == 3 or i == len(drawn) - 1:
            right.set_ylabel("point mass\n(share of the class)", fontsize="small")
        else:
            right.tick_params(labelright=False)
    # Add the point mass to the legend of the densities.
    first = style.row_end(drawn)
    first.plot([], [], "o-", color=color, lw=3.0, alpha=0.6, label="point mass")
    if "data" in found.masses:
        first.plot([], [], "D", color=style.AGAINST, ms=3, ls="none", label="point mass in the data")


def _draw_values(ax: Axes, found: Curves, k: int) -> None:
    rows = _frequent(found)
    places, (family, said) = np.arange(len(rows)), next(iter(found.by_family.items()))
    ax.bar(places, said[rows, k], color=style.FOR, alpha=0.6, label=family)
    if found.seen is not None:
        ax.plot(places, found.seen.height[rows, k], "D", color=style.AGAINST, ms=4, ls="none", label="observed share")
    names = style.names(found.at[rows], 12)
    wide = sum(map(len, names)) > 24
    ax.set_xticks(places, names, rotation=45 if wide else 0, ha="right" if wide else "center", rotation_mode="anchor")


def _frequent(found: Curves) -> Array:
    """Return the values that are most probable in some class, in their order."""
    said = next(iter(found.by_family.values()))
    return np.sort(np.argsort(-said.max(axis=1), kind="stable")[:_MAX_VALUES])


def _name_axes(drawn: list[Axes], found: Curves, own_figure: bool) -> None:
    """Name the axes: in a figure of its own, the lowest panel of each column stands for those above it."""
    scale, numbers = found.scale, found.at.dtype != object
    unit = "day" if scale.dates else f"unit of {style.name(scale.name, 16)}"
    label = f"density (share of the class\nper {unit})" if numbers else "share of the class"
    name = style.name(scale.name)
    if not numbers and len(found.at) > _MAX_VALUES:
        name += f"\n({_MAX_VALUES} of {len(found.at)} values, the most probable)"
    for i, ax in enumerate(drawn):
        lowest = not own_figure or i + 4 >= len(drawn)
        ax.tick_params(labelbottom=lowest)
        ax.set_xlabel(name if lowest else "")
        if numbers and scale.dates:
            _date_ticks(ax, scale)
        if i % 4 == 0:
            ax.set_ylabel(label, fontsize="small")


def _date_ticks(ax: Axes, scale: Scale) -> None:
    ax.xaxis.set_major_locator(MaxNLocator(_MAX_DATES))
    ax.xaxis.set_major_formatter(lambda day, _: scale.written(round(day)))


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
