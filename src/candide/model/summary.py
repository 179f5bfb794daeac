"""What a model of a table is made of, column by column and view by view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..families.columns.histogram import gain
from ..families.table import TableFamily
from ..kernels.layouts import Array, Floats
from ..stacking.binning import TableBinning
from ..stacking.covariance import Covariance
from ..stacking.fourier_regression import FourierRegression
from ..stacking.stacked_views import StackedViews
from ..stacking.views import View
from ..statistics.table import TableStatistics
from ..statistics.texts import n_seen
from .table import Table, objects

if TYPE_CHECKING:
    from .classifier import Classifier


# Columns of a view that are named.
_LISTED = 5


def summary(model: Classifier) -> Table:
    """One row per column, then one per block and per view past single columns."""
    family, statistics = model.family, model.state.statistics
    assert isinstance(family, TableFamily)
    assert family.choices is not None
    shown = [_row(model, family, statistics, j) for j in range(len(family.names))]
    weight, more = _weights(model, len(shown))
    for block in family.blocks:
        names = ", ".join(str(family.names[j]) for j in block.columns)
        shown.append([names, type(block.family).__name__, "", np.nan, np.nan, "a block"])
    shown += [[name, "view", "", np.nan, np.nan, note] for name, note in more]
    column, kind, parameters, bits, missing, note = (list(part) for part in zip(*shown, strict=True))
    return Table(
        {
            "column": objects(column),
            "family": objects(kind),
            "parameters": objects(parameters),
            "own_weight": weight,
            "bits": np.array(bits),
            "missing": np.array(missing),
            "note": objects(note),
        }
    )


def _row(model: Classifier, family: TableFamily, statistics: TableStatistics, j: int) -> list[object]:
    assert family.choices is not None
    choice, rows = family.choices[j], float(statistics.rows.sum())
    missing = 1.0 - float(statistics.observed(j).sum()) / rows if rows > 0 else np.nan
    if statistics.kinds[j] == "text":
        return [str(family.names[j]), "text", _words(statistics, j), _text_bits(model, j), missing, choice.note]
    if choice.model is None:
        return [str(family.names[j]), "-", "", 0.0, missing, choice.note]
    made, bits = choice.model, _bits(statistics, choice.losses)
    return [str(family.names[j]), made.family, made.describe(), bits, missing, choice.note]


def _words(statistics: TableStatistics, j: int) -> str:
    return f"{n_seen(statistics.texts[statistics.place(j)].feature_sets[0].counts):,} words"


def _text_bits(model: Classifier, j: int) -> float:
    """Return the information of a text column about the class; NaN without leave-one-out scores."""
    views = None if model.fitted is None else model.fitted.views
    gains = {text.column: text.gain for text in views.texts} if isinstance(views, StackedViews) else {}
    return max(0.0, gains[j]) / float(np.log(2.0)) if j in gains else np.nan


def _bits(statistics: TableStatistics, losses: dict[str, float]) -> float:
    """What the best family tells about the class, beyond the shares of the classes, in bits."""
    return max(0.0, float(gain(statistics.rows, min(losses.values())))) / float(np.log(2.0))


def _weights(model: Classifier, n_columns: int) -> tuple[Floats, list[tuple[str, str]]]:
    """The weight of every row of the summary; and the views past columns and blocks, by name and columns."""
    family = model.family
    assert isinstance(family, TableFamily)
    assert family.choices is not None
    views = None if model.fitted is None else model.fitted.views
    if not isinstance(views, StackedViews):
        kinds = model.state.statistics.kinds
        own = [float(choice.model is not None or kinds[j] == "text") for j, choice in enumerate(family.choices)]
        return np.array([*own, *[1.0] * len(family.blocks)]), []
    columns = [np.arange(len(views.columns)), *(_columns_of(view, views.binning) for view in views.views)]
    notes = [_listed([str(family.names[views.columns[i]]) for i in places.tolist()]) for places in columns]
    weight = np.concatenate([views.column_weight(n_columns), views.mean_view_weight])
    return weight, list(zip(views.names, notes, strict=True))


def _columns_of(view: View, binning: TableBinning) -> Array:
    """The columns that a view is of, by their places among those of the codes."""
    numbers = np.array([i for i, column in enumerate(binning.columns) if column.is_number], dtype=np.int64)
    if isinstance(view, Covariance):
        return np.sort(view.coordinates.code_columns(numbers))
    if isinstance(view, FourierRegression):
        return np.unique(view.features.inputs.column)
    return np.arange(len(binning.columns))


def _listed(names: list[str]) -> str:
    """
    >>> _listed(["age", "pay"]), _listed(["a", "b", "c", "d", "e", "f", "g", "h"])
    ('of age, pay', 'of a, b, c, d, e and 3 more')
    """
    if len(names) <= _LISTED + 1:
        return f"of {', '.join(names)}"
    return f"of {', '.join(names[:_LISTED])} and {len(names) - _LISTED} more"
