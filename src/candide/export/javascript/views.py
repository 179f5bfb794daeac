"""Stacked views of a table as data of a module."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...exceptions import ParameterError
from ...families.table_likelihood import TableLikelihood
from ...kernels.layouts import Array, Floats
from ...stacking.binning import ClippedCoordinates, ColumnBinning, Coordinates, MergedCodes, RankCoordinates
from ...stacking.cell_regression import CellRegression
from ...stacking.covariance import Covariance
from ...stacking.dependence import OneDependence, TwoDependence
from ...stacking.fourier_regression import FourierRegression
from ...stacking.stacked_views import StackedViews
from .arrays import packed, packed_integers


def stacking_data(
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
