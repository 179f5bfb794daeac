"""Risk-coverage curve."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from . import style
from ._inputs import check_fitted, describe_rows, evaluate
from .display import Display


def risk_coverage(
    model: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None, label: str | None = None,
    ax: Axes | None = None,
) -> Display:  # fmt: skip
    """Plot the error rate of the most confident predictions, by their share of rows.

    Parameters
    ----------
    model : a fitted model
    X, y, sample_weight : optional
        Rows to judge it by; by default its training rows, each by a model that never saw it (``loo_``).
    label : str, optional
        What the curve is called, where several are drawn on one ``ax``; by default the kind of the model.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: coverage, risk. ``numbers``: ``error`` if all rows are answered, and ``aurc``, the mean risk.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from candide import GaussianNB
    >>> shown = risk_coverage(GaussianNB(compute_loo=True).fit(*load_iris(return_X_y=True)))
    >>> round(shown.numbers["error"], 3), float(shown.table["coverage"][-1])
    (0.047, 1.0)
    """
    model = check_fitted(model, "risk_coverage")
    report = evaluate(model, X, y, sample_weight)
    curve, error = report.risk_coverage, 1.0 - report.accuracy
    ax = style.one_axes(ax, 5.6, 3.8)
    i = len(ax.lines) // 2
    text = f"{style.name(label or type(model).__name__)} (mean {report.aurc:.3f})"
    ax.step(curve["coverage"], curve["risk"], where="post", color=style.color(i), ls=style.dash(i), lw=2, label=text)
    ax.axhline(error, color=style.color(i), lw=1, ls=":", label=f"all answered: {error:.3f}")
    style.unit_ticks(ax, y=False)
    ax.set_ylim(0.0, max(1.45 * float(max(curve["risk"].max(), error)), 0.01, ax.get_ylim()[1] if i else 0.0))
    ax.set_xlabel("coverage: share of rows that are answered, the surest first")
    ax.set_ylabel("risk: share of these answers that are wrong")
    ax.set_title(f"Risk by coverage ({describe_rows(X)})", fontsize="medium")
    style.plain(ax)
    style.legend(ax, loc="upper left")
    return Display((ax,), curve, {"error": error, "aurc": report.aurc})
