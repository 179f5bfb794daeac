"""Densities of the values of one column, by a model and by other families."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..data.columns import Column, Columns
from ..estimators import BernoulliNB, CategoricalNB, GaussianNB, NaiveBayes, PoissonNB
from ..estimators.base import BaseNB
from ..exceptions import InputError, ParameterError
from ..families import Batch
from ..families.columns import CodedColumn, ColumnModel, named_column
from ..families.columns.histogram import atoms_of, middles
from ..families.table import ColumnSpec, TableFamily
from ..kernels.layouts import Array, Floats
from ..model.fitted import seen_rows
from ..statistics.grid import Cells
from ._inputs import Scale, column_scale, single_cell_rows

_N_POINTS = 120
_OVERSAMPLING = 16
_N_BINS = 30
_DISCRETE = ("poisson", "categorical", "bernoulli")
_FAMILIES = {GaussianNB: "gaussian", PoissonNB: "poisson", CategoricalNB: "categorical", BernoulliNB: "bernoulli"}


class Curves(NamedTuple):
    """p(value | class) by family, the model's own first, and what was seen."""

    scale: Scale
    at: Array  # (values,) numbers, or names
    by_family: dict[str, Floats]  # (values, classes); densities of numbers, else probabilities
    seen: Histogram | None  # None: the model keeps nothing to show
    points: Array = np.zeros(0)  # values of a number column that are point masses: no part of the densities
    masses: dict[str, Floats] = {}  # noqa: RUF012  # (points, classes): probability by family, "data" among them


class Histogram(NamedTuple):
    """Densities of what was seen between edges, or shares of values, ``(bins, classes)``."""

    edges: Array
    height: Floats


def curves_of(model: BaseNB, place: int, X: Any, y: Any, families: tuple[str, ...]) -> Curves:
    """Return the curves of a column, by its position."""
    own, scale = _own_family(model, place), column_scale(model, place)
    name = str(model._fitted().column_names()[place])
    if scale is None:
        raise InputError(f"column {name!r} has no value that could be shown: nothing was observed, or it holds texts")
    parts = _seen_parts(model, place, X, y)
    if own in _DISCRETE or scale.labels is not None:
        return _values(model, scale, own, parts)
    mine = model._fitted().classifier.likelihood.models[place] if isinstance(model, NaiveBayes) else None
    points = _points(mine)
    cells = None if parts is None else parts["cells"]
    if cells is not None and not len(points):
        points = cells.low[atoms_of(cells)]
    rest = None if cells is None else _without(cells, points)
    at = _extend(_numbers(scale, rest), points)
    titled = f"{own} (the model's)"
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
            reason = choice.note if choice.text is None else "it holds texts (see word_shift for those of a TextNB)"
            raise InputError(
                f"column {family.names[place]!r} has no density of its own: {reason}; show another, or name a family "
                "for it in columns="
            )
        return str(choice.model.family)
    own = next((family for kind, family in _FAMILIES.items() if isinstance(model, kind)), None)
    if own is None:
        raise ParameterError(
            f"the columns of a {type(model).__name__} share their probability, so that none has a density of its own; "
            "see nomogram, or PoissonNB for counts"
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
        seen = seen_rows(
            model._fitted().classifier.bound_spec, model._fitted().classifier.state, "a picture of the data"
        )
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
    # Not beyond: kernels and bins go on there as at their ends.
    room = 0.25 * float(inner[1] - inner[0]) or high - low
    return np.linspace(max(low, float(inner[0]) - room), min(high, float(inner[1]) + room), _N_POINTS)


def _histogram(cells: Cells, at: Floats, whole: Floats) -> Histogram:
    """Return the histogram of some cells, as shares of the weight of all."""
    edges = np.linspace(at[0], at[-1], _N_BINS + 1)
    bins = np.searchsorted(edges, middles(cells), side="right") - 1
    inside = (bins >= 0) & (bins < _N_BINS)
    height = np.zeros((_N_BINS, cells.count.shape[1]))
    np.add.at(height, bins[inside], cells.count[inside])
    return Histogram(edges, height / (whole * np.diff(edges)[:, None]))


def _values(model: BaseNB, scale: Scale, own: str, parts: dict[str, Any] | None) -> Curves:
    """Return the shares of a column of categories, or of integers each with a probability."""
    names: Array = np.empty(len(scale.cells), dtype=object)
    names[:] = [scale.written(float(cell)) for cell in scale.cells] if scale.labels is None else scale.labels
    said = _own(model, scale.place, scale.cells)
    seen = None if parts is None else _shares(model, scale, parts)
    return Curves(scale, names, {f"{own} (the model's)": said}, seen)


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
