"""How much each column tells of the class, and which of its values speak for which class: from the parameters alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats
from ..model.classifier import Classifier
from ..model.table import Table
from ..model.top_features import identified, raised
from .terms import BITS

# Points of each class at which densities are compared, each in the middle of as much probability.
_POINTS = 512
# Counts beyond which a rate leaves next to no probability: the mean and so many roots of it.
_ROOTS = 12.0


def information(model: Classifier, names: Array) -> Table:
    """Bits of mutual information between the class and each column, under the model; the most informative first."""
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
    """The ``n`` values of each class that identify most of its rows (``identified``)."""
    parameters = _with_ranges(model.parameters(names))
    if "probability" not in parameters or "value" not in parameters:
        raise ParameterError(
            "top_features is about values that a column may have, and the columns of this model hold measurements or "
            "counts; information() tells which columns matter, parameters() how the classes differ"
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
    """Without rows that have no probability; stretches of numbers as values."""
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
    """A point mass is a value, not a range."""
    return f"{low:.6g}" if low == high else f"{low:.4g} to {high:.4g}"


def _best(rows: Array, score: Floats, n: int) -> list[int]:
    order: list[int] = rows[np.argsort(-score[rows], kind="stable")[:n]].tolist()
    return order


def _measure(parameters: Table) -> Callable[..., float]:
    """How the information of a column follows from its parameters."""
    if "probability" in parameters:
        return _of_values if "value" in parameters else _of_tokens
    if "rate" in parameters:
        return _of_rates
    if "variance" in parameters or "scale" in parameters:
        return _of_densities
    raise ParameterError(
        "information() needs p(x | class), and the scores of this model are no probabilities; use MultinomialNB"
    )


def _of_values(parameters: Table, rows: Array, labels: Array, share: Floats) -> float:
    """Of a column of categories; one that is on or off has only the probability of being on."""
    place, given = _places(parameters["class"][rows], labels), parameters["probability"][rows].astype(np.float64)
    value = np.unique([str(one) for one in parameters["value"][rows].tolist()], return_inverse=True)[1]
    table = np.zeros((len(labels), value.max() + 1))
    table[place, value] = given
    if table.shape[1] == 1:
        table = np.hstack([table, 1.0 - table])
    return _mutual(table, share)


def _of_tokens(parameters: Table, rows: Array, labels: Array, share: Floats) -> float:
    """Of one token among all: what it adds to the information of a single draw."""
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
    """Σ p(class) E[log p(x | class) - log p(x)], each class at points of its own."""
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
    """From p(value | class), ``(classes, values)``; of some of the values, what these add."""
    from scipy.special import rel_entr

    whole = share @ table
    return float((share[:, None] * rel_entr(table, np.broadcast_to(whole, table.shape))).sum()) / BITS


def _places(labels: Any, known: Array) -> Array:
    place = {label: k for k, label in enumerate(known.tolist())}
    return np.array([place[label] for label in labels.tolist()], dtype=np.int64)
