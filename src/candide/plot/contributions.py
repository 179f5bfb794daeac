"""Contributions to predictions: the waterfall plot of one prediction, and the weights of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from ..estimators import NaiveBayes, TextNB
from ..exceptions import InputError, ParameterError
from ..explain import explain_rows
from ..explain.explanation import Explanation, Explanations, signed
from ..kernels.layouts import Array, Floats
from ..model.table import Table
from . import style
from ._inputs import check_fitted
from .style import Display


def waterfall(
    model: Any, row: Any = None, *, of: Any = None, against: Any = None,
    by: Literal["term", "view", "word"] | None = None, most: int = 12, ax: Axes | None = None,
) -> Display:  # fmt: skip
    """Plot the contributions to one prediction, from the prior to the log-odds against the second most probable class.

    Each bar begins where the one above ends; bars to the right are contributions to ``of``, bars to the left to
    ``against``. The smallest contributions are combined in one bar, so the bars add up to the log-odds of the model.

    Parameters
    ----------
    model : a fitted model, or an Explanation
    row : dict, Series, one-row frame or array, list of cells, or text
        The row to explain; omitted for an ``Explanation`` of one row, ``model.explain(X)[0]``.
    of, against : labels, optional
        By default the predicted class and the runner-up.
    by : {"term", "view", "word"}, optional
        As in ``Explanation.contributions``; by default words for texts with several token features, else terms.
    most : int, default 12
        Maximum number of bars between the prior and the sum.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: term, bits, begin, end. A value with probability 0 in one class has infinite bits, and its bar
        extends to the edge. ``numbers``: ``log_odds`` in bits, and ``probability`` of ``of``.

    Examples
    --------
    >>> from candide import GaussianNB
    >>> model = GaussianNB().fit([[1.0, 5.0], [2.0, 6.0], [8.0, 5.0], [9.0, 7.0]], ["low", "low", "high", "high"])
    >>> shown = waterfall(model, [3.0, 6.0])
    >>> shown.table["term"].tolist()
    ['prior', 'x0 = 3', 'x1 = 6', 'log-odds']
    """
    explanation = model if isinstance(model, Explanation) else _explain(model, row)
    first, second = explanation.pair(of, against)
    of, against = explanation.classes[first], explanation.classes[second]
    terms, bits = _steps(explanation.contributions(of, against, by=by or explanation.default_by), most)
    whole = explanation.log_odds(of, against)
    with np.errstate(invalid="ignore"):  # infinite contributions to both
        end = np.append(np.cumsum(bits), whole)
    begin, bits = np.append(np.concatenate([[0.0], end[:-2]]), 0.0), np.append(bits, whole)
    shown = Table({"term": np.array([*terms, "log-odds"], dtype=object), "bits": bits, "begin": begin, "end": end})
    ax = style.one_axes(ax, 6.8, style.thin_rows(len(bits), each=0.3))
    _draw(ax, shown)
    names, chance = style.names(explanation.classes), float(explanation.probabilities[first])
    ax.set_xlabel(style.towards("log-odds (bits)", names[second], names[first]))
    ax.set_title(f"p({names[first]}) = {chance:.4g}", fontsize="medium")
    return Display((ax,), shown, {"log_odds": whole, "probability": chance})


def _explain(model: Any, row: Any) -> Explanation:
    """Explain the one row that is given."""
    if isinstance(model, Explanations):
        raise ParameterError(
            f"waterfall explains a single row, but got explanations of {len(model)} rows; pass one of them, such as "
            "model.explain(X)[0]"
        )
    model = check_fitted(model, "waterfall")
    if row is None:
        raise ParameterError("waterfall requires a row to explain; call waterfall(model, row)")
    # A Series has named cells; of a model that was fitted without names, their order counts.
    if hasattr(row, "to_dict") and getattr(row, "ndim", 2) == 1:
        row = row.to_dict() if model._fitted().schema.feature_names is not None else list(row)
    if isinstance(row, Mapping):
        row = {name: value if np.ndim(value) == 1 else [value] for name, value in row.items()}
        if not isinstance(model, NaiveBayes):
            row = _as_array(model, row)
    elif isinstance(row, str) or (np.ndim(row) == 1 and not isinstance(model, TextNB)):
        row = [row]
    found = explain_rows(model._fitted(), row)
    if len(found) != 1:
        raise ParameterError(f"waterfall explains a single row, but got {len(found)} rows; pass one of them")
    return found[0]


def _as_array(model: Any, cells: dict[Any, Any]) -> Any:
    """Return named cells in the order of the columns, for models that read arrays."""
    names = model._fitted().column_names().tolist()
    absent = [name for name in names if name not in cells]
    if absent:
        raise InputError(
            f"the row has no column {absent[0]!r}; expected {len(names)} columns: {', '.join(names)[:200]}"
        )
    values = [cells[name][0] for name in names]
    numeric = all(isinstance(value, (int, float, np.number)) for value in values)
    made: Array = np.array([values], dtype=np.float64 if numeric else object)
    return made


def _steps(evidence: Table, most: int) -> tuple[list[str], Floats]:
    """Return the prior, the strongest terms, and the sum of all others."""
    prior = evidence["kind"] == "prior"
    others = np.flatnonzero(~prior)
    kept, rest = others[: max(most, 1)], others[max(most, 1) :]
    # With stacking, the class bias takes the place of the prior.
    names = evidence["term"][prior].tolist()
    terms = [names[0] if len(names) == 1 else "prior", *evidence["term"][kept].tolist()]
    bits = [evidence["bits"][prior].sum(), *evidence["bits"][kept]]
    if len(rest):
        terms.append(f"{len(rest)} more")
        bits.append(evidence["bits"][rest].sum())
    return terms, np.array(bits, dtype=np.float64)


def _draw(ax: Axes, shown: Table) -> None:
    begin, end = _within(shown["begin"], shown["end"])
    last = shown.n_rows - 1
    for i, bits in enumerate(shown["bits"].tolist()):
        color = style.GREY if i == last else style.FOR if bits >= 0 else style.AGAINST
        ax.barh(
            i, end[i] - begin[i], left=begin[i], color=color, edgecolor="white", lw=0.5, height=0.7,
            hatch="" if bits >= 0 else "//",
        )  # fmt: skip
        ax.annotate(
            "∞" if bits == np.inf else "-∞" if bits == -np.inf else signed(bits), (max(begin[i], end[i]), i), (4, 0),
            textcoords="offset points", va="center", fontsize="x-small", color=style.GREY,
        )  # fmt: skip
    ax.vlines(end[:-2], np.arange(last - 1) + 0.35, np.arange(last - 1) + 0.65, color=style.GREY, lw=0.8)
    ax.axvline(0.0, color=style.GREY, lw=0.8)
    ax.set_yticks(range(last + 1), style.names(shown["term"], 32))
    ax.margins(x=0.14, y=0.02)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    style.plain(ax, "top", "right", "left")


def _within(begin: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Return finite ends of bars: infinity is a little beyond all finite ends; NaN where both infinities meet."""
    known = np.concatenate([[0.0], begin[np.isfinite(begin)], end[np.isfinite(end)]])
    edge = 1.25 * float(np.abs(known).max()) or 1.0
    return np.clip(np.nan_to_num(begin), -edge, edge), np.clip(np.nan_to_num(end), -edge, edge)


def column_weights(model: Any, *, most: int = 20, axes: Any = None) -> Display:
    """Plot the information of each column of a ``NaiveBayes`` about the class, and its contribution to predictions.

    An informative column contributes little if other columns carry the same information. Views, which are scores of
    several columns together, are the hatched bars at the bottom; they have a contribution but no information.

    Parameters
    ----------
    model : NaiveBayes
    most : int, default 20
        Maximum number of columns; the most informative ones are shown. Views are shown if their weight is not 0.
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
    left, right = style.panels(axes, 2, size=(4.4, style.thin_rows(len(order))), sharey=True)
    _bars(left, shown, "bits", "information about the class, alone (bits)")
    _bars(right, shown, "contribution", "mean absolute contribution\nto the log-odds, in all views (bits)")
    left.set_yticks(range(len(order)), style.names(shown["column"], 32))
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
        text = "" if np.isnan(value) else f" {value:.1f}" if value >= 1 else f" {value:#.2g}"
        ax.text(values[i], i, text, va="center", ha="left", fontsize="x-small", color=style.GREY)
    ax.set_xlim(0.0, max(float(values.max(initial=0.0)) * 1.15, 1e-3))
    ax.set_xlabel(label, fontsize="small")
    style.plain(ax)
    ax.tick_params(axis="y", length=0)
    ax.margins(y=0.02)
