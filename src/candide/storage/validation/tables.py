"""Checks of table models: columns of several kinds, and stacked views."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...data.columns import Kind
from ...families.columns.named import OPTIONS, check_options
from ...families.table import ColumnSpec, TableFamily
from ...kernels.threads import single_threaded_blas
from ...stacking.stacked_views import StackedViews
from ...stacking.token_views import TextColumnView
from ...statistics.table import TableStatistics
from ..errors import require
from .families import check_family
from .predicates import are_positions, are_weights
from .stacking import check_binning, check_view, check_weights
from .statistics import check_categories, check_grid, check_moments, check_rows
from .texts import check_text_family, check_texts, check_token_views

# The settings of a column.
_FAMILIES = ("auto", *OPTIONS, "text", "ignore")
# The mean of a column may exceed its largest number by this factor.
_MAX_MEAN = 1e3
_MAX_ALPHA = 1e100


def check_table(family: TableFamily, statistics: Any, n_classes: int) -> int:
    """Check that a table family and its statistics match, and return the number of columns."""
    require(isinstance(statistics, TableStatistics), f"a table model does not use {type(statistics).__name__}")
    _check_table_family(family)
    names, kinds = statistics.names, statistics.kinds
    require(names == family.names and len(kinds) == len(names), "its columns are not those of its statistics")
    check_rows(statistics.rows, n_classes)
    require(
        statistics.squares.shape == (n_classes,) and are_weights(statistics.squares),
        "the sums of squared weights are invalid",
    )
    _check_parts(statistics, kinds, n_classes)
    _check_blocks(family, statistics, n_classes)
    require(family.text is not None or "text" not in kinds, "it has text columns, but no text family")
    for texts in statistics.texts:
        assert family.text is not None
        check_texts(family.text, texts, n_classes)
    return len(names)


def _check_table_family(family: TableFamily) -> None:
    require(
        family.choices is None and family.source is None,
        "the family of a bound spec is resolved, which only fitted families are",
    )
    require(
        len(family.column_specs) == len(family.names) > 0, "the number of column settings is not the number of columns"
    )
    require(len(set(family.names)) == len(family.names), "two columns have the same name")
    require(family.missing in ("auto", "ignore", "category", "error"), f"missing is {family.missing!r:.20}")
    require(family.unseen in ("ignore", "smooth"), f"unseen is {family.unseen!r:.20}")
    require(family.alpha is None or 0 < family.alpha <= _MAX_ALPHA, "alpha is not a number above 0")
    for column_spec in family.column_specs:
        _check_column_spec(column_spec)
    if family.text is not None:
        check_text_family(family.text)


def _check_column_spec(column_spec: ColumnSpec) -> None:
    require(column_spec.family in _FAMILIES, f"the family of a column is {column_spec.family!r:.20}")
    require(len(dict(column_spec.options)) == len(column_spec.options), "an option occurs twice")
    check_options("a column", column_spec.family, dict(column_spec.options))


def _check_parts(statistics: TableStatistics, kinds: tuple[Kind, ...], n_classes: int) -> None:
    found = {
        "number": check_moments(statistics.moments, n_classes, allow_infinite_scatter=True),
        "category": check_categories(statistics.categories, n_classes),
        "text": len(statistics.texts),
    }
    require(
        all(kinds.count(kind) == n for kind, n in found.items()), "the kinds of columns do not match their statistics"
    )
    require(
        check_grid(statistics.grid, n_classes) == found["number"], "the numbers of columns of grid and moments differ"
    )
    _check_means(statistics)
    parts: tuple[Any, ...] = statistics.moments, statistics.grid, statistics.categories, *statistics.blocks
    alike = all(np.allclose(part.rows, statistics.rows) for part in parts)
    require(alike, "the statistics of a table differ in the weight of rows")


def _check_means(statistics: TableStatistics) -> None:
    """Check that means are about as large as the numbers of a column, apart from rounding when rows are forgotten."""
    for j, mean in enumerate(np.abs(statistics.moments.mean).max(axis=0, initial=0.0).tolist()):
        cells = statistics.grid.column(j)
        largest = max(np.abs(cells.low).max(initial=0.0), np.abs(cells.high).max(initial=0.0), 1.0)
        require(mean / largest <= _MAX_MEAN, "the mean of a column is far outside the range of its numbers")


def _check_blocks(family: TableFamily, statistics: TableStatistics, n_classes: int) -> None:
    require(len(family.blocks) == len(statistics.blocks), "the numbers of blocks and their statistics differ")
    for block, part in zip(family.blocks, statistics.blocks, strict=True):
        numbers = [j for j, kind in enumerate(statistics.kinds) if kind in ("number", "missing")]
        require(
            len(block.columns) > 0 and set(block.columns) <= set(numbers), "a block has a column that is not numeric"
        )
        require(
            check_family(block.family, part, n_classes) == len(block.columns),
            "a block has another number of columns than its statistics",
        )


@single_threaded_blas()
def check_stacked_views(views: StackedViews, family: TableFamily, statistics: TableStatistics) -> None:
    """Check the views of a table, and their weights."""
    n_classes, n_columns, columns = len(statistics.rows), len(family.names), np.array(views.columns, dtype=np.int64)
    require(
        are_positions(columns, n_columns) and len(set(views.columns)) == len(columns),
        "a view refers to a column that does not exist",
    )
    require(views.n_blocks == len(family.blocks), "the numbers of blocks and their weights differ")
    check_binning(views.binning, statistics.kinds)
    for view in views.views:
        check_view(view, views.binning, n_classes)
    for text in views.texts:
        _check_text_view(text, family, statistics)
    check_weights(views.weights, views.n_views, n_classes)
    if views.partial is not None:
        for weight in (views.partial.near, views.partial.far):
            check_weights(replace(views.weights, weight=weight), views.n_views, n_classes)
    require(
        views.ridge.shape == (views.n_views,) and are_weights(views.ridge),
        "the number of ridge penalties is not the number of views",
    )
    require(bool(np.isfinite(views.row_weight) and views.row_weight > 0), "the unit weight of a view is invalid")
    below, scale = views.hash_bound, views.scale
    require((below is None) == (scale is None), "the thresholds or scales of the rows in its views are missing")
    if below is not None and scale is not None:
        require(
            below.shape == (n_classes,) and below.dtype == np.uint64,
            "the thresholds of the rows in its views are invalid",
        )
        require(scale.shape == (n_classes,) and are_weights(scale), "the scales of the rows in its views are invalid")


def _check_text_view(text: TextColumnView, family: TableFamily, statistics: TableStatistics) -> None:
    require(
        are_positions(np.array([text.column]), len(statistics.kinds)), "a view refers to a column that does not exist"
    )
    require(
        statistics.kinds[text.column] == "text" and family.text is not None,
        "a text view refers to a column without texts",
    )
    require(bool(np.isfinite(text.gain)), "the gain of a view is not finite")
    assert family.text is not None
    check_token_views(text.stacked, family.text, len(statistics.rows))
