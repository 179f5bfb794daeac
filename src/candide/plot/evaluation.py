"""How good a model is: confusion matrix, reliability diagram, risk-coverage curve, learning curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats
from ..model.evaluation import Evaluation
from ..model.evaluation import learning_curve as reports_by_size
from ..model.table import Table
from . import style
from ._inputs import check_fitted, describe_rows, evaluate
from .style import Display

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
        _write_cells(ax, weight, share)
    _name_classes(ax, labels)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="share of the true class")
    ax.set_title(f"Confusion ({describe_rows(X)})", fontsize="medium")
    return Display((ax,), _confusion_table(labels, weight, share), {"accuracy": report.accuracy})


def _name_classes(ax: Axes, labels: Array) -> None:
    places, names = range(len(labels)), style.names(labels)
    wide = max(map(len, names)) > 4 or len(labels) > _MAX_WRITTEN
    ax.set_xticks(places, names, rotation=45 if wide else 0, ha="right" if wide else "center", rotation_mode="anchor")
    ax.set_yticks(places, names)
    ax.set_xlabel("answered")
    ax.set_ylabel("true class")


def _write_cells(ax: Axes, weight: Floats, share: Floats) -> None:
    for (i, k), value in np.ndenumerate(weight):
        color = "white" if share[i, k] > 0.5 else "black"
        text = "" if not value else f"{value:,.0f}" if value >= 10 else f"{value:.3g}"
        ax.text(k, i, text, ha="center", va="center", color=color, fontsize="small")


def _confusion_table(labels: Array, weight: Floats, share: Floats) -> Table:
    true, answered = np.repeat(labels, len(labels)), np.tile(labels, len(labels))
    return Table({"true": true, "answered": answered, "weight": weight.ravel(), "share": share.ravel()})


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
        _draw_reliability(ax, i, f"{curve} (error {report.ece:.3f})", report.reliability)
    style.unit_ticks(ax)
    style.plain(ax)
    ax.set_aspect("equal")
    ax.set_xlabel("probability of the answer")
    ax.set_ylabel("share of answers that are right")
    ax.set_title(f"Reliability ({describe_rows(X)})", fontsize="medium")
    style.legend(ax, loc="upper left")
    return Display((ax,), _reliability_table(reports), {curve: report.ece for curve, report in reports.items()})


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


def _draw_reliability(ax: Axes, i: int, label: str, bins: Table) -> None:
    color = style.COLORS[1 - i]
    size = 12 + 60 * bins["weight"] / bins["weight"].max()
    ax.plot(bins["confidence"], bins["accuracy"], color=color, lw=1.5, ls=style.dash(1 - i), zorder=2 + i)
    ax.scatter(
        bins["confidence"], bins["accuracy"], s=size, color=color, marker=style.marker(i), label=label, zorder=2 + i,
        clip_on=False, alpha=0.9,
    )  # fmt: skip


def _reliability_table(reports: dict[str, Evaluation]) -> Table:
    curve = np.repeat(list(reports), [report.reliability.n_rows for report in reports.values()])
    parts = ("confidence", "accuracy", "weight")
    return Table(
        {"curve": curve} | {p: np.concatenate([report.reliability[p] for report in reports.values()]) for p in parts}
    )


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
