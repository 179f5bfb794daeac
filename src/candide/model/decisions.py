"""Decisions from class probabilities: expected cost, abstention, prediction sets and adaptation of the class prior."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats, Positions

UNSURE = -1


def least_cost(probability: Floats, costs: Floats | None = None, abstain: float | None = None) -> Array:
    """Return the positions of the decisions with the lowest expected cost, the first one for ties; -1 to abstain.

    Parameters
    ----------
    probability : array of shape (rows, classes)
    costs : array of shape (classes, classes), optional
        ``costs[true, answered]``; by default every mistake costs 1.
    abstain : float, optional
        Without costs, the minimum probability of a decision; with costs, the cost of abstaining.

    Examples
    --------
    >>> probability = np.array([[0.55, 0.45], [0.05, 0.95]])
    >>> least_cost(probability), least_cost(probability, abstain=0.9)
    (array([0, 1]), array([-1,  1]))
    >>> least_cost(probability, costs=np.array([[0.0, 1.0], [5.0, 0.0]]))
    array([1, 1])
    """
    if costs is None:
        best, refused = probability.argmax(axis=1), probability.max(axis=1) < _min_probability(abstain)
    else:
        expected = probability @ costs
        best, refused = expected.argmin(axis=1), expected.min(axis=1) > _cost_of_abstaining(abstain)
    return np.where(refused, UNSURE, best)


def _min_probability(abstain: Any) -> float:
    if abstain is None:
        return 0.0
    if isinstance(abstain, bool) or not (isinstance(abstain, Real) and 0.0 <= float(abstain) <= 1.0):
        raise ParameterError(
            f"abstain is {abstain!r}; without costs, expected the minimum probability of a prediction, 0 to 1; pass "
            "costs as well if it is a cost"
        )
    return float(abstain)


def _cost_of_abstaining(abstain: Any) -> float:
    if abstain is None:
        return np.inf
    if isinstance(abstain, bool) or not isinstance(abstain, Real) or np.isnan(float(abstain)):
        raise ParameterError(f"abstain is {abstain!r}; with costs, expected a number, the cost of abstaining")
    return float(abstain)


def read_costs(costs: Any, labels: Array) -> Floats | None:
    """Return costs as an array ``[true, decision]`` in the order of ``labels``, or None.

    A mapping contains pairs of labels; other mistakes cost 1, and correct decisions 0.

    >>> read_costs({("spam", "ham"): 0.2}, np.array(["ham", "spam"]))
    array([[0. , 1. ],
           [0.2, 0. ]])
    """
    if costs is None:
        return None
    table = _of_pairs(costs, labels) if isinstance(costs, Mapping) else _of_array(_by_label(costs, labels), len(labels))
    odd = np.argwhere(~np.isfinite(table))
    if len(odd):
        true, answered = labels[odd[0]].tolist()
        raise ParameterError(
            f"costs has {table[tuple(odd[0])]} for true class {true!r} and prediction {answered!r}; expected a finite "
            "number; use a large number for predictions that must never occur"
        )
    return table


def _by_label(costs: Any, labels: Array) -> Any:
    """Return a data frame of costs in the order of the classes if its rows and columns are labels; else the input."""
    if not (hasattr(costs, "index") and hasattr(costs, "columns")):
        return costs
    names, known = (list(costs.index), list(costs.columns)), labels.tolist()
    if all(sorted(map(str, axis)) == sorted(map(str, known)) for axis in names):
        places = [[list(map(str, axis)).index(str(label)) for label in known] for axis in names]
        return costs.to_numpy()[np.ix_(*places)]
    if all(axis == list(range(len(known))) for axis in names):
        return costs
    raise ParameterError(
        f"costs has rows {names[0]} and columns {names[1]} for the classes {known}; use the classes as row and column "
        "names, or pass an array in the order of the classes"
    )


def _of_array(costs: Any, n_classes: int) -> Floats:
    try:
        table = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"costs is not numeric ({error}); pass one row and one column per class") from None
    if table.shape != (n_classes, n_classes):
        raise ParameterError(
            f"costs has shape {table.shape} for {n_classes} classes; pass one row per true class and one column per "
            "predicted class, in the order of the classes, or a dict {(true, predicted): cost}"
        )
    return table


def _of_pairs(costs: Mapping[Any, Any], labels: Array) -> Floats:
    places = {label: place for place, label in enumerate(labels.tolist())}
    table = 1.0 - np.eye(len(labels))
    for pair, cost in costs.items():
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise ParameterError(f"costs has the key {pair!r}; expected pairs of labels, (true, predicted)")
        strange = [label for label in pair if label not in places]
        if strange:
            raise ParameterError(
                f"costs has the key {strange[0]!r}, which is not a class "
                f"({', '.join(map(repr, list(places)[:5]))}{', …' if len(places) > 5 else ''}); use the labels in y "
                "as keys"
            )
        table[places[pair[0]], places[pair[1]]] = _cost(cost, pair)
    return table


def _cost(cost: Any, pair: tuple[Any, Any]) -> float:
    try:
        return float(cost)
    except (TypeError, ValueError):
        raise ParameterError(f"the cost of {pair!r} is {cost!r}; expected a number") from None


def conformal_threshold(
    own_log_probability: Floats,
    classes: Positions,
    weight: Floats,
    coverage: float,
    by_class: bool,
    n_classes: int,
    multiplicity: Array | None = None,
) -> Floats:
    """Return the lowest log p(class) at which a class is included in a set with this ``coverage``.

    ``own_log_probability`` are the out-of-sample log probabilities of the rows' own classes. With ``by_class``, each
    class has its own threshold, and the coverage holds within every class; otherwise it holds over all rows. The new
    row counts as an additional one with a possibly lower probability (the n + 1 of conformal prediction). If there are
    too few rows for the coverage, or with ``coverage=1``, the threshold is -inf, which includes every class. With a
    ``multiplicity``, a row represents this many equal rows, and its weight is their total weight.

    >>> own = np.log(np.arange(1, 10) / 10)
    >>> np.exp(conformal_threshold(own, np.zeros(9, dtype=np.int32), np.ones(9), 0.8, False, 2)).round(3)
    array([0.2, 0.2])
    """
    if not 0.0 < coverage <= 1.0:
        raise ParameterError(f"coverage is {coverage!r}; expected a probability above 0 and at most 1, such as 0.9")
    kept = weight > 0
    copies = np.ones(len(kept)) if multiplicity is None else multiplicity
    own, classes, weight, copies = own_log_probability[kept], classes[kept], weight[kept], copies[kept]
    if not by_class:
        return np.full(n_classes, _threshold(own, weight, copies, coverage))
    members = (classes == c for c in range(n_classes))
    return np.array([_threshold(own[rows], weight[rows], copies[rows], coverage) for rows in members])


def _threshold(own: Floats, weight: Floats, copies: Array, coverage: float) -> float:
    if coverage == 1.0 or not len(own):
        return -np.inf
    order = np.argsort(-own)
    reached = np.cumsum(weight[order])
    # The new row has the mean weight of a row. The factor allows for rounding errors of the sums.
    needed = coverage * (reached[-1] + reached[-1] / copies.sum()) * (1.0 - 1e-12)
    place = int(np.searchsorted(reached, needed))
    return float(own[order[place]]) if place < len(own) else -np.inf


def label_set(log_probability: Floats, thresholds: Floats) -> Array:
    """Return the set of classes of each row, booleans ``(rows, classes)``; the most probable class is always included.

    >>> label_set(np.log([[0.6, 0.3, 0.1], [0.1, 0.1, 0.8]]), np.log([0.25, 0.25, 0.9]))
    array([[ True,  True, False],
           [False, False,  True]])
    """
    chosen = log_probability >= thresholds
    chosen[np.arange(len(chosen)), log_probability.argmax(axis=1)] = True
    return np.asarray(chosen)


def adapt_prior(probability: Floats, prior: Floats, max_iterations: int = 1000, tolerance: float = 1e-8) -> Floats:
    """Return the class shares among unlabeled rows, by the EM algorithm of Saerens, Latinne and Decaestecker (2002).

    ``probability`` are posteriors of these rows under a model with ``prior``, and should be calibrated. p(x | class) is
    assumed to be the same as in training.

    >>> likelihood = np.array([[0.9, 0.1]] * 80 + [[0.1, 0.9]] * 20)
    >>> adapt_prior(likelihood, np.array([0.5, 0.5])).round(3)
    array([0.875, 0.125])
    """
    likelihood = np.divide(probability, prior, out=np.zeros_like(probability), where=prior > 0)
    likelihood = likelihood[likelihood.any(axis=1)]
    likelihood /= likelihood.max(axis=1, keepdims=True, initial=0.0)
    adapted = np.array(prior, dtype=np.float64)
    for _ in range(max_iterations if len(likelihood) else 0):
        before = adapted
        adapted = before * ((1.0 / (likelihood @ before)) @ likelihood) / len(likelihood)
        if np.abs(adapted - before).max() < tolerance:
            break
    return np.asarray(adapted / adapted.sum())


def read_shares(class_prior: Any, labels: Array) -> Floats:
    """Return class probabilities that were passed in class order, by label, or as "uniform"."""
    if isinstance(class_prior, str) and class_prior == "uniform":
        return np.full(len(labels), 1 / len(labels))
    if isinstance(class_prior, dict):
        if set(class_prior) != set(labels.tolist()):
            raise ParameterError(
                f"class_prior has the keys {list(class_prior)}; expected the classes {labels.tolist()}"
            )
        class_prior = [class_prior[label] for label in labels.tolist()]
    try:
        return np.array(list(class_prior), dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"class_prior is {class_prior!r}; expected one probability per class, a dict by label, or 'uniform'"
        ) from None
