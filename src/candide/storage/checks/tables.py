"""Tables: columns of several kinds, and the views of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...data.columns import Kind
from ...families.columns.options import OPTIONS, check_options
from ...families.table import TableFamily, Wanted
from ...kernels.threads import single_threaded_blas
from ...stacking.stacked_views import StackedViews
from ...stacking.token_views import TextColumnView
from ...statistics.table import TableStatistics
from ..sound import are_weights, lie_within, require
from .families import check_family
from .statistics import check_categories, check_grid, check_moments, check_rows
from .texts import check_bands, check_text_family, check_texts
from .views import check_look, check_mixture, check_view

# What may be asked of a column.
_WISHES = ("auto", *OPTIONS, "text", "ignore")
# How many times as large as the largest number of a column its mean may be.
_MOST_MEAN = 1e3
_MOST_ALPHA = 1e100


def check_table(family: TableFamily, statistics: Any, n_classes: int) -> int:
    """A table goes with what was learned of it. How many columns there are."""
    require(isinstance(statistics, TableStatistics), f"a table does not learn {type(statistics).__name__}")
    _check_table_family(family)
    names, kinds = statistics.names, statistics.kinds
    require(names == family.names and len(kinds) == len(names), "columns are not those that were learned")
    check_rows(statistics.rows, n_classes)
    require(statistics.squares.shape == (n_classes,) and are_weights(statistics.squares), "squares are no weights")
    _check_parts(statistics, kinds, n_classes)
    _check_blocks(family, statistics, n_classes)
    require(family.text is not None or "text" not in kinds, "nothing is said of how texts are read")
    for texts in statistics.texts:
        assert family.text is not None
        check_texts(family.text, texts, n_classes)
    return len(names)


def _check_table_family(family: TableFamily) -> None:
    require(family.choices is None and family.source is None, "a family is settled, and plans hold none that are")
    require(len(family.wanted) == len(family.names) > 0, "there is not a wish for each column")
    require(len(set(family.names)) == len(family.names), "two columns have one name")
    require(family.missing in ("auto", "ignore", "category", "error"), f"missing is {family.missing!r:.20}")
    require(family.unseen in ("ignore", "smooth"), f"unseen is {family.unseen!r:.20}")
    require(family.alpha is None or 0 < family.alpha <= _MOST_ALPHA, "alpha is no number above 0")
    for wanted in family.wanted:
        _check_wanted(wanted)
    if family.text is not None:
        check_text_family(family.text)


def _check_wanted(wanted: Wanted) -> None:
    require(wanted.family in _WISHES, f"a column is to be {wanted.family!r:.20}")
    require(len(dict(wanted.options)) == len(wanted.options), "an option is there twice")
    check_options("a column", wanted.family, dict(wanted.options))


def _check_parts(statistics: TableStatistics, kinds: tuple[Kind, ...], n_classes: int) -> None:
    found = {
        "number": check_moments(statistics.moments, n_classes, wild=True),
        "category": check_categories(statistics.categories, n_classes),
        "text": len(statistics.texts),
    }
    require(all(kinds.count(kind) == n for kind, n in found.items()), "columns are of other kinds than their sums")
    require(check_grid(statistics.grid, n_classes) == found["number"], "cells are of other columns than moments")
    _check_means(statistics)
    parts: tuple[Any, ...] = statistics.moments, statistics.grid, statistics.categories, *statistics.blocks
    alike = all(np.allclose(part.rows, statistics.rows) for part in parts)
    require(alike, "parts of a table have other rows than the whole")


def _check_means(statistics: TableStatistics) -> None:
    """Means are about as large as the numbers; what forgetting leaves of them may lie beside."""
    for j, mean in enumerate(np.abs(statistics.moments.mean).max(axis=0, initial=0.0).tolist()):
        cells = statistics.grid.column(j)
        largest = max(np.abs(cells.low).max(initial=0.0), np.abs(cells.high).max(initial=0.0), 1.0)
        require(mean / largest <= _MOST_MEAN, "the mean of a column is far from its numbers")


def _check_blocks(family: TableFamily, statistics: TableStatistics, n_classes: int) -> None:
    require(len(family.blocks) == len(statistics.blocks), "there are other blocks than sums of them")
    for block, part in zip(family.blocks, statistics.blocks, strict=True):
        numbers = [j for j, kind in enumerate(statistics.kinds) if kind in ("number", "missing")]
        require(len(block.columns) > 0 and set(block.columns) <= set(numbers), "a block holds columns without numbers")
        require(check_family(block.family, part, n_classes) == len(block.columns), "a block is of other columns")


@single_threaded_blas()
def check_blended(views: StackedViews, family: TableFamily, statistics: TableStatistics) -> None:
    """Views of a table, and what each of them weighs."""
    n_classes, n_columns, columns = len(statistics.rows), len(family.names), np.array(views.columns, dtype=np.int64)
    require(lie_within(columns, n_columns) and len(set(views.columns)) == len(columns), "a view is of no column")
    require(views.n_blocks == len(family.blocks), "there are other blocks than weights of them")
    check_look(views.binning, statistics.kinds)
    for view in views.views:
        check_view(view, views.binning, n_classes)
    for text in views.texts:
        _check_text_view(text, family, statistics)
    check_mixture(views.weights, views.n_views, n_classes)
    if views.partial is not None:
        for weight in (views.partial.near, views.partial.far):
            check_mixture(replace(views.weights, weight=weight), views.n_views, n_classes)
    require(views.ridge.shape == (views.n_views,) and are_weights(views.ridge), "ridges are of other views")
    require(bool(np.isfinite(views.row_weight) and views.row_weight > 0), "a row of a view has no weight")
    below, scale = views.hash_bound, views.scale
    require((below is None) == (scale is None), "it does not say which rows are in its views")
    if below is not None and scale is not None:
        require(below.shape == (n_classes,) and below.dtype == np.uint64, "rows in its views have no thresholds")
        require(scale.shape == (n_classes,) and are_weights(scale), "rows in its views have no weights")


def _check_text_view(text: TextColumnView, family: TableFamily, statistics: TableStatistics) -> None:
    require(lie_within(np.array([text.column]), len(statistics.kinds)), "a view is of no column")
    require(statistics.kinds[text.column] == "text" and family.text is not None, "a view is of no texts")
    require(bool(np.isfinite(text.gain)), "the gain of a view is no number")
    assert family.text is not None
    check_bands(text.stacked, family.text, len(statistics.rows))
