"""Evaluation plots: confusion matrix, reliability diagram, risk-coverage curve, learning curve."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..estimators.base import BaseNB
from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats
from ..model.evaluation import Evaluation, blocks_of
from ..model.evaluation import learning_curve as reports_by_size
from ..model.table import Table
from . import style
from ._inputs import check_fitted, describe_rows, evaluate
from .style import Display

# With more classes, there is no space for numbers in the cells.
_MAX_WRITTEN = 12


def confusion(
    model: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None, ax: Axes | None = None
) -> Display:
    """Plot the confusion matrix: true classes down, predictions across; colors are shares of each true class.

    Parameters
    ----------
    model : a fitted model
    X, y, sample_weight : optional
        Rows to evaluate on; by default the leave-one-out predictions of the training rows (``loo_``).
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
    ax.set_xlabel("predicted class")
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

    Below the diagonal the model is overconfident. Predictions are grouped into 15 bins of about equal weight; the size
    of a marker is the weight of its bin. For models with stacking or calibration, plain naive Bayes is drawn as well.
    The axes begin below the smallest value, often at 50% for two classes.

    Parameters
    ----------
    model : a fitted model
    X, y, sample_weight : optional
        Rows to evaluate on; by default the leave-one-out predictions of the training rows (``loo_``).
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
    >>> sorted(shown.numbers), shown.numbers["model"] < shown.numbers["plain naive Bayes"]
    (['model', 'plain naive Bayes'], True)
    """
    model = check_fitted(model, "reliability")
    reports = _reports(evaluate(model, X, y, sample_weight))
    ax = style.one_axes(ax, 5.0, 4.8)
    ax.plot([0, 1], [0, 1], color=style.GREY, lw=1, ls="--", zorder=1, label="calibrated")
    for i, (curve, report) in enumerate(reports.items()):
        _draw_reliability(ax, i, f"{curve} (ECE {report.ece:.3f})", report.reliability)
    lowest = min(float(report.reliability[name].min()) for report in reports.values() for name in _AXES)
    low = min(0.9, np.floor(max(lowest, 0.0) * 10) / 10)
    ticks = [tick for tick in MaxNLocator(6).tick_values(low, 1.0) if low <= tick <= 1.0]
    ax.set(xlim=(low, 1.0), ylim=(low, 1.0), xticks=ticks, yticks=ticks)
    style.plain(ax)
    ax.set_aspect("equal")
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("accuracy")
    ax.set_title(f"Reliability ({describe_rows(X)})", fontsize="medium")
    style.legend(ax, loc="upper left")
    return Display((ax,), _reliability_table(reports), {curve: report.ece for curve, report in reports.items()})


def _reports(report: Evaluation) -> dict[str, Evaluation]:
    """Return the evaluations to plot: the model, and plain naive Bayes where that is another model."""
    return {"model": report} if report.plain is None else {"plain naive Bayes": report.plain, "model": report}


_AXES = ("confidence", "accuracy")


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
        Rows to evaluate on; by default the leave-one-out predictions of the training rows (``loo_``).
    label : str, optional
        Name of the curve in the legend; by default the class of the model.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: coverage, risk. ``numbers``: ``error``, the error rate of all rows, and ``aurc``, the mean risk.

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
    ax.axhline(error, color=style.color(i), lw=1, ls=":", label=f"all rows: {error:.3f}")
    ax.set_xlim(0.0, 1.0)
    ax.set_xticks(np.linspace(0.0, 1.0, 6))
    ax.set_ylim(0.0, max(1.45 * float(max(curve["risk"].max(), error)), 0.01, ax.get_ylim()[1] if i else 0.0))
    ax.set_xlabel("coverage (share of rows, the most confident first)")
    ax.set_ylabel("error rate")
    ax.set_title(f"Risk by coverage ({describe_rows(X)})", fontsize="medium")
    style.plain(ax)
    style.legend(ax, loc="upper left")
    return Display((ax,), curve, {"error": error, "aurc": report.aurc})


_METRICS = {
    "accuracy": "accuracy (share of rows)",
    "log_loss": "log-loss (nats per row)",
    "brier": "Brier score (0 to 2)",
    "ece": "calibration error",
    "aurc": "area under the risk-coverage curve",
}


def learning_curve(
    model: Any, X: Any, y: Any, *, metric: str = "log_loss", n_blocks: int = 8, sample_weight: Any = None,
    label: str | None = None, ax: Axes | None = None,
) -> Display:  # fmt: skip
    """Plot accuracy and log-loss on rows left out, by the number of training rows.

    The rows are divided into blocks. candide's models are sums over blocks, so each block is counted once; other
    estimators are fitted again for each size and block. Every row is scored once for each size. If the curve still
    falls (or rises, for accuracy) at its end, more rows help.

    Parameters
    ----------
    model : estimator
        Fitted or not: only its parameters are used. Any scikit-learn classifier with ``predict_proba``.
    X, y, sample_weight
        Rows to train on and to evaluate on.
    metric : {"log_loss", "accuracy", "brier", "ece", "aurc"}
    n_blocks : int, default 8
    label : str, optional
        Name of the curve in the legend; by default the class of the model.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: rows, value, error (a standard error; NaN where a metric has none).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from candide import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> shown = learning_curve(GaussianNB(), X, y, metric="accuracy", n_blocks=3)
    >>> shown.table["rows"].tolist(), shown.table["value"].round(2).tolist()
    ([50.0, 100.0], [0.96, 0.95])
    """
    if metric not in _METRICS:
        raise ParameterError(f"metric is {metric!r}; expected one of {', '.join(_METRICS)}")
    if not hasattr(model, "predict_proba"):
        raise ParameterError(
            f"learning_curve requires a classifier with predict_proba, but got a {type(model).__name__}"
        )
    if isinstance(model, BaseNB):
        fitted_model = (model if hasattr(model, "model_") else deepcopy(model).fit(X, y, sample_weight))._fitted()
        batch = fitted_model.batch(X, y, sample_weight)
        sizes = reports_by_size(fitted_model.classifier, batch, n_blocks, fitted_model.kernels)
    else:
        sizes = _refitted_by_size(model, X, y, sample_weight, n_blocks)
    value = np.array([getattr(report, metric) for _, report in sizes])
    error = np.array([getattr(report, f"{metric}_error", np.nan) for _, report in sizes])
    shown = Table({"rows": np.array([rows for rows, _ in sizes]), "value": value, "error": error})
    ax = style.one_axes(ax, 5.6, 3.8)
    i = len(ax.containers)
    known, name = np.isfinite(value), style.name(label or type(model).__name__)
    ax.errorbar(
        shown["rows"][known], value[known], np.nan_to_num(error[known]), color=style.color(i), ls=style.dash(i),
        marker=style.marker(i), capsize=3, lw=1.8, label=name,
    )  # fmt: skip
    ax.set_xlabel("training rows")
    ax.set_ylabel(_METRICS[metric])
    ax.set_title("Learning curve (held-out rows, ± 1 standard error)", fontsize="medium")
    style.plain(ax)
    style.legend(ax)
    return Display((ax,), shown)


def _refitted_by_size(
    estimator: Any, X: Any, y: Any, sample_weight: Any, n_blocks: int
) -> list[tuple[float, Evaluation]]:
    """Return the evaluations of an estimator of another library, fitted again for each size and block."""
    labels, classes = np.unique(np.asarray(y), return_inverse=True)
    block, weight = (
        blocks_of(classes.astype(np.int32), n_blocks),
        None if sample_weight is None else np.asarray(sample_weight),
    )
    out = []
    for size in range(1, n_blocks):
        scores, learned = np.full((len(classes), len(labels)), -np.inf), []
        for b in range(n_blocks):
            train = np.flatnonzero((block - b - 1) % n_blocks < size)
            held = np.flatnonzero(block == b)
            options = {} if weight is None else {"sample_weight": weight[train]}
            fitted = deepcopy(estimator).fit(_take(X, train), np.asarray(y)[train], **options)
            with np.errstate(divide="ignore"):
                scores[np.ix_(held, np.searchsorted(labels, fitted.classes_))] = np.log(
                    fitted.predict_proba(_take(X, held))
                )
            learned.append(len(train) if weight is None else weight[train].sum())
        of = classes.astype(np.int32), np.ones(len(classes)) if weight is None else weight, labels
        out.append((float(np.mean(learned)), Evaluation.of(scores, *of)))
    return out


def _take(X: Any, rows: Array) -> Any:
    """Return some rows of an array, a frame or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return [X[i] for i in rows.tolist()] if isinstance(X, (list, tuple)) else X[rows]
