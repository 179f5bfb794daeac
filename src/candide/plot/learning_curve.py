"""Learning curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..exceptions import ParameterError
from ..model.learning_curve import learning_curve as reports_by_size
from ..model.table import Table
from . import style
from ._inputs import check_fitted
from .display import Display

_MEASURES = {
    "accuracy": "accuracy (share of rows)",
    "log_loss": "log-loss (nats a row)",
    "brier": "Brier score (0 to 2)",
    "ece": "calibration error",
    "aurc": "mean risk by coverage",
}


def learning_curve(
    model: Any, X: Any, y: Any, *, measure: str = "log_loss", n_blocks: int = 8, sample_weight: Any = None,
    label: str | None = None, ax: Axes | None = None,
) -> Display:  # fmt: skip
    """Plot accuracy and log-loss on rows left out, by the number of training rows.

    The rows are dealt into blocks, each is summed up once, and models of one block, of two, and so on are sums of
    these. Every row is judged once for each size. Where the curve still falls (or rises, for accuracy) at its end, more
    rows help. Stacking weights are fitted again for each size and block.

    Parameters
    ----------
    model : a fitted model
        Whose settings are used; what it has learned is not.
    X, y, sample_weight
        Rows to learn from and to judge by.
    measure : {"log_loss", "accuracy", "brier", "ece", "aurc"}
    n_blocks : int, default 8
    label : str, optional
        What the curve is called, where several are drawn on one ``ax``; by default the kind of the model.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: rows, value, error (a standard error; NaN where a measure has none).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from candide import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> shown = learning_curve(GaussianNB().fit(X, y), X, y, measure="accuracy", n_blocks=3)
    >>> shown.table["rows"].tolist(), shown.table["value"].round(2).tolist()
    ([50.0, 100.0], [0.96, 0.95])
    """
    model = check_fitted(model, "learning_curve")
    if measure not in _MEASURES:
        raise ParameterError(f"measure is {measure!r}; it must be one of {', '.join(_MEASURES)}")
    fitted_model = model._fitted()
    batch = fitted_model.batch(X, y, sample_weight)
    sizes = reports_by_size(fitted_model.classifier, batch, n_blocks, fitted_model.kernels)
    value = np.array([getattr(report, measure) for _, report in sizes])
    error = np.array([getattr(report, f"{measure}_error", np.nan) for _, report in sizes])
    shown = Table({"rows": np.array([rows for rows, _ in sizes]), "value": value, "error": error})
    ax = style.one_axes(ax, 5.6, 3.8)
    i = len(ax.containers)
    known, name = np.isfinite(value), style.name(label or type(model).__name__)
    ax.errorbar(
        shown["rows"][known], value[known], np.nan_to_num(error[known]), color=style.color(i), ls=style.dash(i),
        marker=style.marker(i), capsize=3, lw=1.8, label=name,
    )  # fmt: skip
    ax.set_xlabel("rows learned from")
    ax.set_ylabel(_MEASURES[measure])
    ax.set_title("Learning curve (rows not learned from, ± 1 standard error)", fontsize="medium")
    style.plain(ax)
    style.legend(ax)
    return Display((ax,), shown)
