"""Confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..kernels.layouts import Array, Floats
from ..model.table import Table
from . import style
from ._inputs import check_fitted, describe_rows, evaluate
from .display import Display

# More classes than this leave no room for numbers in the cells.
_MAX_WRITTEN = 12


def confusion(
    model: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None, ax: Axes | None = None
) -> Display:
    """Plot the confusion matrix: true classes down, predictions across; colors are shares of each true class.

    Parameters
    ----------
    model : a fitted model
    X, y, sample_weight : optional
        Rows to judge it by; by default its training rows, each by a model that never saw it (``loo_``).
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: true, answered, weight, share (NaN for a class without rows). ``numbers``: ``accuracy``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from candide import GaussianNB
    >>> shown = confusion(GaussianNB(compute_loo=True).fit(*load_iris(return_X_y=True)))
    >>> shown.table["weight"].reshape(3, 3)
    array([[50.,  0.,  0.],
           [ 0., 47.,  3.],
           [ 0.,  4., 46.]])
    """
    model = check_fitted(model, "confusion")
    report, labels = evaluate(model, X, y, sample_weight), model.classes_
    weight, rows = report.confusion, report.confusion.sum(axis=1, keepdims=True)
    share = np.divide(weight, rows, out=np.full_like(weight, np.nan), where=rows > 0)
    side = float(np.clip(2.6 + 0.45 * len(labels), 4.0, 12.0))
    ax = style.one_axes(ax, side + 1.0, side)
    image = ax.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
    if len(labels) <= _MAX_WRITTEN:
        _write(ax, weight, share)
    _name_classes(ax, labels)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="share of the true class")
    ax.set_title(f"Confusion ({describe_rows(X)})", fontsize="medium")
    return Display((ax,), _table(labels, weight, share), {"accuracy": report.accuracy})


def _name_classes(ax: Axes, labels: Array) -> None:
    places, names = range(len(labels)), style.names(labels)
    wide = max(map(len, names)) > 4 or len(labels) > _MAX_WRITTEN
    ax.set_xticks(places, names, rotation=45 if wide else 0, ha="right" if wide else "center", rotation_mode="anchor")
    ax.set_yticks(places, names)
    ax.set_xlabel("answered")
    ax.set_ylabel("true class")


def _write(ax: Axes, weight: Floats, share: Floats) -> None:
    for (i, k), value in np.ndenumerate(weight):
        color = "white" if share[i, k] > 0.5 else "black"
        text = "" if not value else f"{value:,.0f}" if value >= 10 else f"{value:.3g}"
        ax.text(k, i, text, ha="center", va="center", color=color, fontsize="small")


def _table(labels: Array, weight: Floats, share: Floats) -> Table:
    true, answered = np.repeat(labels, len(labels)), np.tile(labels, len(labels))
    return Table({"true": true, "answered": answered, "weight": weight.ravel(), "share": share.ravel()})
