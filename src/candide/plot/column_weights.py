"""The information and the contribution of each column."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..estimators import NaiveBayes
from ..kernels.layouts import Array
from ..model.table import Table
from . import style
from ._inputs import check_fitted
from .display import Display


def column_weights(model: Any, *, most: int = 20, axes: Any = None) -> Display:
    """Plot the information of each column of a ``NaiveBayes`` about the class, and its contribution to predictions.

    A column may tell much and contribute little, because others tell the same. Views, which are scores of several
    columns together, follow the columns, hatched; alone they tell no number of bits.

    Parameters
    ----------
    model : NaiveBayes
    most : int, default 20
        Columns shown: those that tell most. Of the views, those that weigh something.
    axes : two matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: column, bits (NaN for views), contribution, own_weight, as in ``summary()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from candide import NaiveBayes
    >>> shown = column_weights(NaiveBayes(order=0).fit(*load_iris(return_X_y=True)))
    >>> shown.table["column"].tolist()
    ['3', '2', '0', '1', 'all columns, added up']
    """
    summary = check_fitted(model, "column_weights", NaiveBayes).summary()
    order = _order(summary, most)
    shown = Table({name: summary[name][order] for name in ("column", "bits", "contribution", "own_weight")})
    left, right = style.panels(axes, 2, size=(3.6, style.thin_rows(len(order))), sharey=True)
    _bars(left, shown, "bits", "information about the class, alone (bits)")
    _bars(right, shown, "contribution", "mean absolute contribution\nto the log-odds, in all views (bits)")
    left.set_yticks(range(len(order)), style.names(shown["column"]))
    left.invert_yaxis()
    if axes is not None:
        right.set_yticks(range(len(order)), [""] * len(order))
        right.invert_yaxis()
    return Display((left, right), shown)


def _order(summary: Table, most: int) -> Array:
    """Return the most informative columns, then the views that have weights."""
    views = np.flatnonzero((summary["family"] == "view") & (summary["own_weight"] > 0))
    columns = np.flatnonzero(summary["family"] != "view")
    bits = np.nan_to_num(summary["bits"][columns], nan=-1.0)
    return np.concatenate([columns[np.argsort(-bits, kind="stable")][:most], views])


def _bars(ax: Axes, shown: Table, what: str, label: str) -> None:
    values = np.nan_to_num(shown[what])
    view = np.isnan(shown["bits"])
    ax.barh(
        range(len(values)), values, color=[style.PALE if v else style.FOR for v in view],
        hatch=["//" if v else "" for v in view], edgecolor="white",
    )  # fmt: skip
    for i, value in enumerate(shown[what]):
        text = "" if np.isnan(value) else f" {value:.2g}"
        ax.text(values[i], i, text, va="center", ha="left", fontsize="x-small", color=style.GREY)
    ax.set_xlim(0.0, max(float(values.max(initial=0.0)) * 1.15, 1e-3))
    ax.set_xlabel(label, fontsize="small")
    style.plain(ax)
    ax.tick_params(axis="y", length=0)
    ax.margins(y=0.02)
