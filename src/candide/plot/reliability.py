"""Reliability diagram."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..model.evaluation import Evaluation
from ..model.table import Table
from . import style
from ._inputs import check_fitted, describe_rows, evaluate
from .display import Display


def reliability(
    model: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None, ax: Axes | None = None
) -> Display:
    """Plot accuracy by confidence: on the diagonal, probabilities are calibrated.

    Below the diagonal the model is too sure. Answers are put in 15 bins of about equal weight; the size of a mark is
    the weight of its bin. Where a model blends or calibrates, both are shown: what it says, and the raw scores.

    Parameters
    ----------
    model : a fitted model
    X, y, sample_weight : optional
        Rows to judge it by; by default its training rows, each by a model that never saw it (``loo_``).
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: curve, confidence, accuracy, weight. ``numbers``: the expected calibration error of each curve.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from candide import GaussianNB
    >>> model = GaussianNB(calibrate="beta", compute_loo=True).fit(*load_breast_cancer(return_X_y=True))
    >>> shown = reliability(model)
    >>> sorted(shown.numbers), shown.numbers["calibrated"] < shown.numbers["raw"]
    (['calibrated', 'raw'], True)
    """
    model = check_fitted(model, "reliability")
    reports = _reports(model, X, y, sample_weight)
    ax = style.one_axes(ax, 5.0, 4.8)
    ax.plot([0, 1], [0, 1], color=style.GREY, lw=1, ls="--", zorder=1, label="means what it says")
    for i, (curve, report) in enumerate(reports.items()):
        _draw(ax, i, f"{curve} (error {report.ece:.3f})", report.reliability)
    style.unit_ticks(ax)
    style.plain(ax)
    ax.set_aspect("equal")
    ax.set_xlabel("probability of the answer")
    ax.set_ylabel("share of answers that are right")
    ax.set_title(f"Reliability ({describe_rows(X)})", fontsize="medium")
    style.legend(ax, loc="upper left")
    return Display((ax,), _table(reports), {curve: report.ece for curve, report in reports.items()})


def _reports(model: Any, X: Any, y: Any, sample_weight: Any) -> dict[str, Evaluation]:
    """Return the evaluations to plot: raw scores only if nothing corrects them, and none of them without rows."""
    bound_spec = model._fitted().classifier.bound_spec
    said = evaluate(model, X, y, sample_weight)
    if not bound_spec.corrects:
        return {"raw": said}
    corrected = "calibrated" if bound_spec.order is None else "stacked"
    if X is None and not model._fitted().has_training_rows:
        return {corrected: said}
    return {"raw": evaluate(model, X, y, sample_weight, raw=True), corrected: said}


def _draw(ax: Axes, i: int, label: str, bins: Table) -> None:
    color = style.COLORS[1 - i]
    size = 12 + 60 * bins["weight"] / bins["weight"].max()
    ax.plot(bins["confidence"], bins["accuracy"], color=color, lw=1.5, ls=style.dash(1 - i), zorder=2 + i)
    ax.scatter(
        bins["confidence"], bins["accuracy"], s=size, color=color, marker=style.marker(i), label=label, zorder=2 + i,
        clip_on=False, alpha=0.9,
    )  # fmt: skip


def _table(reports: dict[str, Evaluation]) -> Table:
    curve = np.repeat(list(reports), [report.reliability.n_rows for report in reports.values()])
    parts = ("confidence", "accuracy", "weight")
    return Table(
        {"curve": curve} | {p: np.concatenate([report.reliability[p] for report in reports.values()]) for p in parts}
    )
