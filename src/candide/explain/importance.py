"""Importance of columns: their contributions to predictions, over all views, and their mutual information."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from ..model.classifier import Classifier
from ..model.fitted import scores_left_out, seen_rows
from ..model.summary import summary
from ..model.table import Table, objects
from ..model.top_features import identified, raised
from ..stacking.calibration import log_softmax
from ..stacking.stacked_views import StackedViews
from ..stacking.training_rows import TrainingRows
from .contributions import explained
from .terms import BITS

# Number of rows used (minimum, maximum, and maximum number of cells; see ``_some``) for the mean contributions and
# for the losses without each column.
_EXPLAINED = 10, 100, 2_000
_LEFT_OUT = 100, 500, 600_000
# Maximum number of columns that are left out: those that contribute most.
_MOST_COLUMNS = 40
_TERMS = (
    "contribution: mean absolute contribution to the log-odds of the prediction against the runner-up, in bits.",
    (
        "loss_without: increase of the leave-one-out log-loss, in nats, when the column is missing, estimated on at "
        f"most {_LEFT_OUT[1]} rows."
    ),
    (
        "own_weight: weight of the column's own score, or of the view, in the total score; views are scores of several "
        "columns together."
    ),
    "bits: information about the class in the column alone.",
)
_UNKNOWN = (
    "contribution and loss_without are NaN: they are computed on training rows, but the model keeps none; fit without "
    "subsample=0."
)


def summary_with_importance(model: Classifier, names: Array, kernels: Kernels) -> Table:
    """Return ``summary`` with the columns of ``importance``; NaN where they are not available."""
    made = summary(model)
    found = importance(model, names, kernels)
    columns: dict[str, Array] = {}
    for title, cells in made.items():
        if title == "own_weight":
            columns |= _importance_columns(made["column"].tolist(), len(names), found)
        columns[title] = cells
    out = Table(columns)
    out.notes = _TERMS if found is not None or len(model.classes) < 2 else (*_TERMS, _UNKNOWN)
    return out


def importance(model: Classifier, names: Array, kernels: Kernels) -> Table | None:
    """Return the importance of columns, blocks and views; None if it is not stored and no training rows are kept.

    ``contribution`` is the mean absolute contribution to the log-odds of the prediction against the runner-up, in bits,
    as in ``explain``: for a column, summed over all views; for a view, its score of the row. ``loss_without`` is the
    increase of the leave-one-out log-loss when the column is missing. Both are computed on evenly spaced training rows,
    so that the computation takes about a second for tables of any size.
    """
    if model.importance is None and model.state.sample is not None and len(model.classes) > 1:
        seen = seen_rows(model.bound_spec, model.state, "the importance of columns")
        if len(seen.case_weight):
            called, contribution = _contributions(model, _some(seen, len(names), _EXPLAINED), names, kernels)
            loss = np.full(len(called), np.nan)
            largest = np.argsort(-contribution[: len(names)], kind="stable")[:_MOST_COLUMNS]
            some = _some(seen, len(names) * len(largest) * len(model.classes), _LEFT_OUT)
            loss[largest] = _losses(model, some, largest, kernels)
            model.importance = Table({"name": objects(called), "contribution": contribution, "loss": loss})
    return model.importance


def _importance_columns(rows: list[Any], n_columns: int, found: Table | None) -> dict[str, Array]:
    """Return the importance for the rows of a summary: columns by position, others by name."""
    out = {"contribution": np.full(len(rows), np.nan), "loss_without": np.full(len(rows), np.nan)}
    if found is not None:
        out["contribution"][:n_columns] = found["contribution"][:n_columns]
        out["loss_without"][:n_columns] = found["loss"][:n_columns]
        others = dict(zip(found["name"].tolist()[n_columns:], found["contribution"].tolist()[n_columns:], strict=True))
        out["contribution"][n_columns:] = [others.get(name, 0.0) for name in rows[n_columns:]]
    return out


def _some(seen: TrainingRows, width: int, rows: tuple[int, int, int]) -> TrainingRows:
    """Return evenly spaced training rows, fewer of them if each takes longer."""
    fewest, most, cells = rows
    n_rows, n_some = len(seen.case_weight), max(fewest, min(most, cells // max(1, width)))
    if n_rows <= n_some:
        return seen
    places = np.arange(n_some) * n_rows // n_some
    return seen.take(places, seen.multiplicity[places])


def _contributions(model: Classifier, seen: TrainingRows, names: Array, kernels: Kernels) -> tuple[list[Any], Floats]:
    """Return names and mean contributions: columns in order, then blocks and views."""
    share = seen.case_weight / seen.case_weight.sum()
    place = {name: j for j, name in enumerate(names.tolist())}
    of_column = np.zeros(len(names))
    of_view: defaultdict[Any, float] = defaultdict(float)
    for weight, one in zip(share.tolist(), explained(model, seen.batch.data, names, kernels), strict=True):
        pair, cells = one.pair(), np.zeros(len(names))
        views: defaultdict[Any, float] = defaultdict(float)
        for term in one.terms:
            amount = term.between(*pair) / BITS
            if term.column in place:
                cells[place[term.column]] += amount
            if term.view:
                views[term.value if term.view == "block" else term.view] += amount
        of_column += weight * np.abs(cells)
        for view, amount in views.items():
            of_view[view] += weight * abs(amount)
    return [*names.tolist(), *of_view], np.append(of_column, [*of_view.values()])


def _losses(model: Classifier, seen: TrainingRows, columns: Array, kernels: Kernels) -> Floats:
    """Return the increase of the leave-one-out log-loss when each of some columns is missing."""
    data, whole = seen.batch.data, _loss(model, seen, kernels)
    out = np.zeros(len(columns))
    for i, j in enumerate(columns.tolist()):
        absent = np.zeros((data.n_rows, data.n_columns), dtype=bool)
        absent[:, j] = True
        without = seen.batch._replace(data=data.with_absent(absent))
        out[i] = _loss(model, seen._replace(batch=without), kernels) - whole
    return out


def _loss(model: Classifier, seen: TrainingRows, kernels: Kernels) -> float:
    views = None if model.fitted_without_rows is None else model.fitted_without_rows.views
    if isinstance(views, StackedViews):
        views = views.without_unused()
        scores = views.left_out_view_scores(model.likelihood, seen.batch, seen.case_weight / seen.multiplicity, kernels)
        # All rows lack the same columns, so the weights of the first row apply to all.
        first = seen.batch.data.take(np.zeros(1, dtype=np.int64))
        mixture, _ = views.weights_for_row(model.likelihood, first, model.scorer.offset)
        found = log_softmax(mixture.scores(scores))
    else:
        found = scores_left_out(model.bound_spec, model.state, seen, None, kernels)[0]
    own = found[np.arange(len(found)), seen.batch.classes]
    return -float(np.average(own, weights=seen.case_weight))


# Number of points per class at which densities are compared: the midpoints of intervals of equal probability.
_POINTS = 512
# Counts above the mean plus this many times its square root have almost no probability.
_ROOTS = 12.0


def information(model: Classifier, names: Array) -> Table:
    """Return the mutual information of the class and each column under the model, in bits, largest first."""
    parameters = model.parameters(np.arange(len(names)))
    measure = _measure(parameters)
    order = np.argsort(parameters["column"].astype(np.int64), kind="stable")
    columns, begins = np.unique(parameters["column"].astype(np.int64)[order], return_index=True)
    share = model.class_prior
    bits = np.array(
        [measure(parameters, rows, model.classes.labels, share) for rows in np.split(order, begins[1:])] or [0.0]
    )
    first = np.argsort(-bits, kind="stable")
    return Table({"column": np.asarray(names, dtype=object)[columns[first]], "bits": np.maximum(bits[first], 0.0)})


def top_values(model: Classifier, names: Array, n: int) -> Table:
    """Return the ``n`` values of each class that identify most of its rows (``identified``)."""
    parameters = _with_ranges(model.parameters(names))
    if "probability" not in parameters or "value" not in parameters:
        raise ParameterError(
            "top_features requires columns with discrete values, but the columns of this model contain measurements "
            "or counts; use information() for the importance of columns, or parameters() for the differences between "
            "classes"
        )
    share, labels = model.class_prior, model.classes.labels
    place = _places(parameters["class"], labels)
    cells = [*zip(parameters["column"].tolist(), map(str, parameters["value"].tolist()), strict=True)]
    number = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    which = np.array([number[cell] for cell in cells])
    probability = parameters["probability"].astype(np.float64)
    whole = np.bincount(which, probability * share[place], minlength=len(number))[which]
    rest = np.maximum(whole - probability * share[place], 0.0) / np.maximum(1.0 - share[place], 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.nan_to_num(np.log(probability) - np.log(rest), nan=0.0, posinf=np.inf) / BITS
    posterior = probability * share[place] / np.maximum(whole, 1e-300)
    score = identified(probability, raised(posterior, share[place]))
    kept = [i for k in range(len(labels)) for i in _best(np.flatnonzero((place == k) & (bits > 0)), score, n)]
    return Table({name: parameters[name][kept] for name in ("class", "column", "value")} | {
        "score": score[kept], "bits": bits[kept], "probability": probability[kept], "count": parameters["count"][kept],
    })  # fmt: skip


def _with_ranges(parameters: Table) -> Table:
    """Return a table without rows of probability 0, with ranges of numbers as values."""
    if "low" not in parameters or "probability" not in parameters:
        return parameters
    given = ~np.isnan(parameters["probability"].astype(np.float64))
    rows = Table({name: column[given] for name, column in parameters.items()})
    ranges = [*zip(rows["low"].tolist(), rows["high"].tolist(), strict=True)]
    values = rows.get("value", np.full(rows.n_rows, None)).tolist()
    pairs = zip(ranges, values, strict=True)
    named = [_range(low, high) if low == low else value for (low, high), value in pairs]
    return Table(rows | {"value": np.array(named, dtype=object)})


def _range(low: float, high: float) -> str:
    """Return a range of numbers as text; a point mass is a value, not a range."""
    return _short(low) if low == high else f"{_short(low)} to {_short(high)}"


def _short(value: float) -> str:
    """
    >>> _short(23380.4), _short(0.07071), _short(2.5e-7)
    ('23,380', '0.07071', '2.5e-07')
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def _best(rows: Array, score: Floats, n: int) -> list[int]:
    order: list[int] = rows[np.argsort(-score[rows], kind="stable")[:n]].tolist()
    return order


def _measure(parameters: Table) -> Callable[..., float]:
    """Return the function that computes the information of a column from its parameters."""
    if "probability" in parameters:
        return _of_values if "value" in parameters else _of_tokens
    if "rate" in parameters:
        return _of_rates
    if "variance" in parameters or "scale" in parameters:
        return _of_densities
    raise ParameterError(
        "information() needs p(x | class), but the scores of this model are not probabilities; use MultinomialNB"
    )


def _of_values(parameters: Table, rows: Array, labels: Array, share: Floats) -> float:
    """Return the information of a column of categories or of a binary column, which has only the probability of 1."""
    place, given = _places(parameters["class"][rows], labels), parameters["probability"][rows].astype(np.float64)
    value = np.unique([str(one) for one in parameters["value"][rows].tolist()], return_inverse=True)[1]
    table = np.zeros((len(labels), value.max() + 1))
    table[place, value] = given
    if table.shape[1] == 1:
        table = np.hstack([table, 1.0 - table])
    return _mutual(table, share)


def _of_tokens(parameters: Table, rows: Array, labels: Array, share: Floats) -> float:
    """Return the contribution of each token to the information of a single draw."""
    given = np.zeros(len(labels))
    given[_places(parameters["class"][rows], labels)] = parameters["probability"][rows]
    return _mutual(given[:, None], share)


def _of_rates(parameters: Table, rows: Array, labels: Array, share: Floats) -> float:
    from scipy.special import gammaln, xlogy

    rate = np.zeros(len(labels))
    rate[_places(parameters["class"][rows], labels)] = parameters["rate"][rows]
    most = float(rate.max())
    counts = np.arange(int(most + _ROOTS * np.sqrt(most) + 20.0))
    return _mutual(np.exp(xlogy(counts, rate[:, None]) - rate[:, None] - gammaln(counts + 1.0)), share)


def _of_densities(parameters: Table, rows: Array, labels: Array, share: Floats) -> float:
    """Return Σ p(class) E[log p(x | class) - log p(x)], evaluated at separate points for each class."""
    center, scale, freedom = _shapes(parameters, rows, labels)
    if not (scale > 0).all() or np.isnan(center).any():
        return np.nan  # a class without variance has no density to compare, one without rows none at all
    total = 0.0
    for k, of_class in enumerate(share):
        away = _quantiles(freedom[k])
        x = center[k] + scale[k] * away
        logs = np.array(
            [_log_density((x - m) / s, f) - np.log(s) for m, s, f in zip(center, scale, freedom, strict=True)]
        )
        with np.errstate(divide="ignore"):
            mixed = np.logaddexp.reduce(logs + np.log(share)[:, None], axis=0)
        total += float(of_class * (logs[k] - mixed).mean())
    return total / BITS


def _shapes(parameters: Table, rows: Array, labels: Array) -> tuple[Floats, Floats, Floats]:
    order = np.argsort(_places(parameters["class"][rows], labels))
    taken = rows[order]
    if "variance" in parameters:
        return parameters["mean"][taken], np.sqrt(parameters["variance"][taken]), np.full(len(taken), np.inf)
    return parameters["location"][taken], parameters["scale"][taken], parameters["degrees_of_freedom"][taken]


def _quantiles(freedom: float) -> Floats:
    from scipy.special import ndtri, stdtrit

    middles = (np.arange(_POINTS) + 0.5) / _POINTS
    return np.asarray(ndtri(middles) if np.isinf(freedom) else stdtrit(freedom, middles))


def _log_density(away: Floats, freedom: float) -> Floats:
    from scipy.special import gammaln

    if np.isinf(freedom):
        return np.asarray(-0.5 * (away**2 + np.log(2 * np.pi)))
    constant = gammaln((freedom + 1) / 2) - gammaln(freedom / 2) - 0.5 * np.log(freedom * np.pi)
    return np.asarray(constant - (freedom + 1) / 2 * np.log1p(away**2 / freedom))


def _mutual(table: Floats, share: Floats) -> float:
    """Return the information from p(value | class), ``(classes, values)``, or the contribution of some values."""
    from scipy.special import rel_entr

    whole = share @ table
    return float((share[:, None] * rel_entr(table, np.broadcast_to(whole, table.shape))).sum()) / BITS


def _places(labels: Any, known: Array) -> Array:
    place = {label: k for k, label in enumerate(known.tolist())}
    return np.array([place[label] for label in labels.tolist()], dtype=np.int64)
