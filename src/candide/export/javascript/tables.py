"""Tables as data of a module: columns, how their cells are read, the terms of their scores, and stacked views."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time, timedelta
from typing import Any

import numpy as np

from ...data.index import EXACT
from ...exceptions import ParameterError
from ...families.categorical_likelihood import CategoricalLikelihood
from ...families.linear import TokenFamily
from ...families.poisson import Poisson
from ...families.score_terms import CodeTable
from ...families.table_likelihood import TableLikelihood
from ...kernels.layouts import Array, Floats
from ...stacking.binning import ClippedCoordinates, ColumnBinning, Coordinates, MergedCodes, RankCoordinates
from ...stacking.cell_regression import CellRegression
from ...stacking.covariance import Covariance
from ...stacking.dependence import OneDependence, TwoDependence
from ...stacking.fourier_regression import FourierRegression
from ...stacking.stacked_views import StackedViews
from .arrays import packed, packed_integers
from .terms import written_terms


def plain_label(label: Any, what: str) -> Any:
    """Return a label as JSON has it."""
    value = label.item() if isinstance(label, np.generic) else label
    exact = isinstance(value, float) and np.isfinite(value)
    exact = exact or (isinstance(value, int) and abs(value) < EXACT)
    if isinstance(value, (str, bool)) or exact:
        return value
    raise ParameterError(
        f"{what} {label!r} is a {type(value).__name__} that JavaScript cannot represent; fit with strings, booleans, "
        "or numbers below 2^53"
    )


def row_data(likelihood: Any, family: Any, names: Array) -> dict[str, Any]:
    """Return a model of numbers or categories whose columns have one family."""
    if isinstance(likelihood, CategoricalLikelihood):
        labels = [None if lookup.direct else lookup.labels.tolist() for lookup, _ in likelihood.columns]
        strict = likelihood.family.unseen == "error"
        columns = [
            _column(name, j, own, 0.0, strict=strict) for j, (name, own) in enumerate(zip(names, labels, strict=True))
        ]
        terms = likelihood.terms
        finite, *limits = (
            [one for term in group for one in _of_column(term)] for group in (terms.finite, *terms.limits)
        )
        return {"columns": columns, "terms": finite, "limitTerms": limits}
    counts = isinstance(family, (TokenFamily, Poisson))
    columns = [_column(name, j, None, 0.0 if counts else None) for j, name in enumerate(names)]
    terms = likelihood.terms
    limits = [written_terms(group) for group in terms.limits]
    return {"columns": columns, "terms": written_terms(terms.finite), "limitTerms": limits, "countsCells": counts}


def _of_column(term: Any) -> list[Any]:
    assert isinstance(term, CodeTable)
    return written_terms([term], column=term.column)


def table_data(
    likelihood: TableLikelihood,
    views: StackedViews | None,
    log_prior: Floats,
    names: Sequence[str],
    examples: dict[str, Any],
    given: Sequence[str],
) -> dict[str, Any]:
    """Return a table. ``names``: of its columns; ``given``: of the columns of the user's tables."""
    _refuse_texts_and_dates(likelihood, names, examples)
    if likelihood.blocks:
        raise ParameterError(
            "this model has jointly modeled columns, which are not supported in JavaScript; model the columns "
            "separately, columns={'numbers': 'gaussian'}"
        )
    binned = {} if views is None else {column.column: column for column in views.binning.columns}
    used = sorted({*likelihood.shown, *binned})
    nulls = None if views is None else views.binning.nulls
    columns: list[dict[str, Any]] = []
    terms: list[Any] = []
    for place, j in enumerate(used):
        model = likelihood.models[j]
        own = () if model is None else model.terms(nulls=nulls is None or bool(nulls[j]))
        lookups = [term.lookup for term in own if isinstance(term, CodeTable) and term.lookup is not None]
        labels = None
        if likelihood.statistics.kinds[j] != "number":
            known = binned[j].labels if j in binned else lookups[0].labels if lookups else None
            labels = [] if known is None else known.tolist()
        columns.append(_column(names[j], list(given).index(names[j]), labels, None))
        terms += written_terms(own, column=place)
    data = {"columns": columns, "terms": terms, "limitTerms": []}
    if views is None:
        return data
    places = {j: place for place, j in enumerate(used)}
    return {**data, "stacking": _stacking_data(views, likelihood, log_prior, places), "sumName": views.names[0]}


def _refuse_texts_and_dates(likelihood: TableLikelihood, names: Sequence[str], examples: dict[str, Any]) -> None:
    if likelihood.texts:
        texts = [names[j] for j in likelihood.texts]
        raise ParameterError(
            f"the columns {texts} contain texts, which are not supported in JavaScript tables; fit without them, "
            f"columns={{{texts[0]!r}: 'ignore'}}, or train TextNB on the texts alone"
        )
    dates = [name for name, cell in examples.items() if isinstance(cell, (date, time, timedelta))]
    if dates:
        raise ParameterError(
            f"the columns {dates} contain dates or times, which are not supported in JavaScript; convert them to "
            f"numbers before fitting, or fit without them, columns={{{dates[0]!r}: 'ignore'}}"
        )


def _column(name: Any, place: int, labels: Any, least: float | None, *, strict: bool = False) -> dict[str, Any]:
    """Return how a column is read. Without ``labels``, it holds numbers."""
    own = None if labels is None else [plain_label(label, f"the category of column {str(name)!r}") for label in labels]
    return {
        "name": str(name),
        "place": place,
        "type": _type_of(own),
        "least": least,
        "refusesUnseen": strict,
    }


def _type_of(labels: list[Any] | None) -> str:
    if labels is None:
        return "number"
    kinds = {isinstance(label, str) for label in labels}
    return "any" if len(kinds) != 1 else "string" if kinds == {True} else "number"


def _stacking_data(
    views: StackedViews, likelihood: TableLikelihood, log_prior: Floats, place_of: dict[int, int]
) -> dict[str, Any]:
    """Return views and weights. ``place_of``: the place of a column of the table among those of the module."""
    partial, nulls = views.weights_for_partial_rows(), views.binning.nulls
    matters = [j for j in views.column_places(likelihood) if j in place_of]
    used = [(i, view) for i, view in enumerate(views.views, views.n_single + 1) if views.is_used(i)]
    singles = [
        {"column": place_of[j], **_weights(views, i)}
        for i, j in enumerate(views.columns)
        if likelihood.models[j] is not None
    ]
    return {
        "nColumns": len(views.column_places(likelihood)),
        "absent": [place_of[j] for j in matters if nulls is not None and not nulls[j]],
        "binning": [_binning(column, place_of) for column in views.binning.columns],
        "singles": singles,
        "sum": _weights(views, views.n_single),
        "views": [{"name": view.name, **_weights(views, i), **_view(view, views)} for i, view in used],
        "bias": packed(views.weights.bias),
        "near": packed(partial.bias),
        "far": packed(partial.biases(np.zeros(1), log_prior)[0]),
    }


def _weights(views: StackedViews, view: int) -> dict[str, Any]:
    """The weights of a view: for complete rows, and for others with almost all columns and almost none."""
    weights, partial = views.weights, views.weights_for_partial_rows()
    parts = {"whole": weights.weight[view], "near": partial.near[view], "far": partial.far[view]}
    made = {"scale": float(weights.scale[view]), "limit": float(weights.limit[view])}
    return {**made, "weights": {name: part.tolist() for name, part in parts.items()}}


def _binning(column: ColumnBinning, place_of: dict[int, int]) -> dict[str, Any]:
    labels = None if column.labels is None else column.labels.tolist()
    cuts = None if column.cuts is None else packed(column.cuts)
    return {"column": place_of[column.column], "size": column.size, "cuts": cuts, "labels": labels}


def _view(view: Any, views: StackedViews) -> dict[str, Any]:
    if isinstance(view, OneDependence):
        merged = {"merged": _merged(view.merged), "pairs": None}
        return {"kind": "joint", **merged, "table": _joint_table(view.log_table, len(view.table.rows))}
    if isinstance(view, TwoDependence):
        merged = {"merged": _merged(view.one.merged), "pairs": view.joint.columns.tolist()}
        return {"kind": "joint", **merged, "table": _joint_table(view.log_table, len(view.one.table.rows))}
    if isinstance(view, Covariance):
        return _covariance(view, views.binning.number_columns)
    if isinstance(view, FourierRegression):
        return _fourier(view, views.binning.number_columns)
    if isinstance(view, CellRegression):
        sizes = [column.size for column in view.cells.columns]
        cuts = [None if column.cuts is None else packed(column.cuts) for column in view.cells.columns]
        return {"kind": "cells", "sizes": sizes, "cuts": cuts, "table": packed(view.tables[0])}
    raise ParameterError(f"the view {view.name!r} is not supported in JavaScript; fit with stacking=None")


def _merged(merged: MergedCodes) -> dict[str, Any]:
    parts = {"columns": merged.columns.tolist(), "maps": [packed_integers(own) for own in merged.maps]}
    return {**parts, "sizes": merged.sizes.tolist(), "offsets": merged.offsets.tolist()}


def _joint_table(table: Floats, n_classes: int) -> Any:
    """Parents × slots × classes, without padding."""
    return packed(table[:, :, :n_classes])


def _coordinates(coordinates: Coordinates, numbers: Array) -> dict[str, Any]:
    if isinstance(coordinates, RankCoordinates):
        columns = coordinates.columns.tolist()
        return {"kind": "ranks", "columns": columns, "quantiles": [packed(own) for own in coordinates.quantiles]}
    assert isinstance(coordinates, ClippedCoordinates)
    names = ("low", "high", "mean", "deviation")
    parts = {name: packed(getattr(coordinates, name)) for name in names}
    return {"kind": "clipped", "columns": coordinates.code_columns(numbers).tolist(), **parts}


def _covariance(view: Covariance, numbers: Array) -> dict[str, Any]:
    """With the parameters of Student's t for each number of columns that a row may have."""
    weight = view.moments.weight
    sizes = [
        [np.broadcast_to(part, weight.shape) for part in view.size(weight, n)] for n in range(len(view.center) + 1)
    ]
    return {
        "kind": "covariance",
        "coordinates": _coordinates(view.coordinates, numbers),
        "means": packed(view.means),
        "scales": packed(view.scales()),
        "sizes": packed(np.array(sizes)),
    }


def _fourier(view: FourierRegression, numbers: Array) -> dict[str, Any]:
    features, inputs = view.features, view.features.inputs
    turn, log_size = features.level_means() if len(inputs.levels.columns) else (np.zeros(0), np.zeros(0))
    return {
        "kind": "fourier",
        "coordinates": _coordinates(inputs.ranks, numbers),
        "merged": _merged(inputs.levels),
        "columns": view.columns.tolist(),
        "covariance": packed(inputs.covariance),
        "turn": packed(turn),
        "logSize": packed(log_size),
        "frequencies": packed(features.frequencies),
        "phases": packed(features.phases),
        "slopes": packed(view.slopes),
        "mean": packed(view.sums.mean @ view.slopes),
    }
