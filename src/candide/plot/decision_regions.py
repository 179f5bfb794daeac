"""Decision regions in a plane of two columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from ..data.labeled_rows import label_array
from ..data.table import read_table
from ..estimators.base import BaseNB
from ..exceptions import InputError
from ..kernels.layouts import Array, Floats
from ..model.table import Table
from ..specs.table_schema import TableSchema
from . import style
from ._inputs import check_fitted, column_position, informative_columns, log_probability
from .style import Display

_STEPS = 200
_MAX_POINTS = 2_000


def decision_regions(models: Any, X: Any, y: Any, *, columns: Any = None, axes: Any = None) -> Display:
    """Plot the predictions of models in the plane of two numeric columns as regions, with the rows on top.

    If a model has more columns, the others are treated as missing, and the title says so. A Gaussian naive Bayes model
    next to one with full covariance shows the effect of the independence assumption.

    Parameters
    ----------
    models : a fitted model, or a dict of them by title
        Models of the same columns, those of ``X``.
    X, y : rows and their labels
        Of more than 2,000 rows, evenly spaced ones are drawn.
    columns : two names or positions, optional
        The columns of the plane; by default the two most informative numeric columns.
    axes : matplotlib axes, optional
        One for each model.

    Returns
    -------
    Display
        ``table``: model, x, y, answer, on a grid of 200 × 200 points.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from candide import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> shown = decision_regions(GaussianNB().fit(X[:, 2:], y), X[:, 2:], y)
    >>> shown.table.n_rows, np.unique(shown.table["answer"]).tolist()
    (40000, [0, 1, 2])
    """
    titled = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    first = check_fitted(next(iter(titled.values())), "decision_regions")
    points, names, plane = _points(X, first, columns)
    labels, places = np.unique(label_array(y), return_inverse=True)
    if len(places) != len(points):
        raise InputError(f"X has {len(points)} rows and y has {len(places)} labels; pass one label per row")
    x, up = (_steps(points[:, j]) for j in (0, 1))
    grid = np.column_stack([part.ravel() for part in np.meshgrid(x, up)])
    drawn = style.panels(
        axes, len(titled), size=(4.0, 3.6), legend=style.legend_size(style.names(labels)), sharex=True, sharey=True
    )
    answers = []
    for ax, (title, model) in zip(drawn, titled.items(), strict=True):
        answers.append(_predict(check_fitted(model, "decision_regions"), grid, plane))
        _draw(ax, x, up, answers[-1], labels)
        _scatter(ax, points, places, labels)
        others = len(first._fitted().column_names()) - 2
        missing = (
            f"\nthe other {others} columns missing" if others > 1 else "\nthe other column missing" if others else ""
        )
        ax.set_title(f"{style.name(title, 36)}{missing}", fontsize="medium")
        ax.set_xlabel(style.name(names[0]))
    drawn[0].set_ylabel(style.name(names[1]))
    style.legend_right(style.row_end(drawn), markerscale=1.6)
    n = len(titled)
    columns = {"model": np.repeat(list(titled), len(grid)), "x": np.tile(grid[:, 0], n), "y": np.tile(grid[:, 1], n)}
    return Display(tuple(drawn), Table(columns | {"answer": np.concatenate(answers)}))


def _points(X: Any, model: BaseNB, columns: Any) -> tuple[Floats, list[str], tuple[int, int] | None]:
    """Return the rows in the plane, the names of its columns, and their positions if the model has others."""
    table = read_table(X)
    numeric = [j for j, kind in enumerate(table.kinds) if kind == "number"]
    if columns is not None:
        chosen = [column_position(model, column) for column in columns]
    elif table.n_columns == len(model._fitted().column_names()):
        chosen = informative_columns(model, numeric, 2)
    else:
        chosen = numeric[:2]
    if len(chosen) != 2 or any(j not in numeric for j in chosen):
        found = ", ".join(f"{name!r} ({kind})" for name, kind in zip(table.names, table.kinds, strict=True))
        raise InputError(f"decision regions need two numeric columns, but X has {found:.400}; pass two numeric columns")
    points = np.column_stack([np.asarray(table.columns[j].values, dtype=np.float64) for j in chosen])
    names = [f"column {name}" if isinstance(name, int) else str(name) for name in (table.names[j] for j in chosen)]
    return points, names, None if table.n_columns == 2 else (chosen[0], chosen[1])


def _steps(values: Floats) -> Floats:
    low, high = np.nanmin(values), np.nanmax(values)
    margin = 0.08 * (high - low) or 0.5
    return np.linspace(low - margin, high + margin, _STEPS)


def _predict(model: BaseNB, grid: Floats, plane: tuple[int, int] | None) -> Array:
    if plane is not None:
        scores = log_probability(model, [(j, grid[:, i]) for i, j in enumerate(plane)], len(grid))
        return np.asarray(model.classes_[scores.argmax(axis=1)])
    # Past the checks of names: the columns are in order, as they were given.
    fitted_model = model._fitted()
    schema = fitted_model.schema
    if isinstance(schema, TableSchema):
        given = schema.given
        data = fitted_model.read(grid if given is None else dict(zip(given, grid.T, strict=True)))
    else:
        data = fitted_model.spec.encode(grid)
    return fitted_model.classifier.predict(data, fitted_model.kernels)


def _draw(ax: Axes, x: Floats, up: Floats, answer: Array, labels: Array) -> None:
    place = np.searchsorted(labels, answer).reshape(len(up), len(x))
    colors = ListedColormap([style.color(k) for k in range(len(labels))])
    ax.pcolormesh(x, up, place, cmap=colors, vmin=-0.5, vmax=len(labels) - 0.5, alpha=0.22, lw=0, rasterized=True)
    for k in np.unique(place)[:-1]:
        ax.contour(x, up, (place > k).astype(np.float64), levels=[0.5], colors="black", linewidths=0.8)


def _scatter(ax: Axes, points: Floats, places: Array, labels: Array) -> None:
    some = np.unique(np.linspace(0, len(points) - 1, min(len(points), _MAX_POINTS)).astype(np.intp))
    for k, label in enumerate(style.names(labels)):
        of_class = some[places[some] == k]
        ax.scatter(
            points[of_class, 0], points[of_class, 1], s=14, color=style.color(k), marker=style.marker(k), lw=0.4,
            edgecolor="white", label=label,
        )  # fmt: skip
