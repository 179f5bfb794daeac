"""A model as a graph of ONNX: scores, stacking, calibration and class prior, in doubles from end to end."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from ...exceptions import MissingPackage, ParameterError
from ...families.categorical_likelihood import CategoricalLikelihood
from ...families.table_likelihood import TableLikelihood
from ...families.text_likelihood import TextLikelihood
from ...kernels.layouts import Array, Floats
from ...model.classifier import Classifier
from ...stacking.calibration import MAX_LOG_ODDS, MAX_LOG_TEMPERATURE, Chain, Scaling
from ...stacking.calibration_curves import Beta, Curve, Isotonic
from ...stacking.stacked_views import StackedViews
from .tensor import Cells, Graph, Tensor, concatenated, filled, log_one_plus_exp, log_sum
from .terms import Scored, TableScores, Unweighted, refuse_texts, scored_categories, scored_numbers
from .texts import scored_tokens
from .views import stacked_scores


def to_onnx(
    model: Classifier, names: Array, given: Array | None = None, path: str | os.PathLike[str] | None = None
) -> Any:
    """Return the graph, and write it to ``path`` if that is given.

    ``names`` are those of the model's columns, ``given`` those of the user's tables.
    """
    _require_package()
    labels = _plain_labels(model.classes.labels)
    graph = Graph()
    posterior = _posterior(model, graph, names, given)
    label, probabilities = posterior.best().picks(labels), posterior.exp()
    notes = {"candide": version("candide"), "classes": json.dumps(labels.tolist(), ensure_ascii=False)}
    made = graph.model((label, labels), (probabilities, len(labels)), notes)
    if path is not None:
        from ...storage.atomic_write import write_atomically

        write_atomically(path, [made.SerializeToString()])
    return made


def _require_package() -> None:
    try:
        import_module("onnx")
    except ModuleNotFoundError as error:
        raise MissingPackage(
            "to_onnx requires the package onnx, which is not installed; install it with pip install 'candide[onnx]'"
        ) from error


def _plain_labels(labels: Array) -> Array:
    if labels.dtype.kind in "biufU":
        return labels.astype(np.int64) if labels.dtype.kind in "iu" else labels
    if all(isinstance(label, str) for label in labels.tolist()):
        return labels
    raise ParameterError(
        f"the classes are {labels.tolist()[:3]!r}, but ONNX outputs can only contain numbers or strings; fit with "
        "numbers or strings as labels"
    )


def _posterior(model: Classifier, graph: Graph, names: Array, given: Array | None) -> Tensor:
    """Return log posteriors, ``(rows, classes)``."""
    views, possible = _views(model), np.isfinite(model.scorer.offset)
    amount: Amount = None
    if views is not None:
        cells = Cells(graph, names, given)
        silent = partial(_silent, model.likelihood, cells)
        scores = stacked_scores(views, model.likelihood, cells, model.scorer.offset, silent)
        scores = scores if possible.all() else scores + np.where(possible, 0.0, -np.inf)
    else:
        (finite, limits), amount = _read(model, graph, names, given)
        scores = leaders_only(finite + model.scorer.offset, limits, possible)
    certain = possible.all() and not model.likelihood.is_limit
    posterior = _calibrated(model, normalized(scores), amount, certain=bool(certain))
    return normalized(posterior + model.prior_change) if model.prior_change.any() else posterior


def _views(model: Classifier) -> StackedViews | None:
    views = None if model.fitted_without_rows is None else model.fitted_without_rows.views
    if views is None or isinstance(views, StackedViews):
        return views
    raise ParameterError(
        "this model stacks several feature sets of texts, for which onnxruntime has no operators; train "
        "TextNB('multinomial'), 'bernoulli' or 'complement', whose graph takes tokens, or use candide for predictions"
    )


def _calibrated(model: Classifier, posterior: Tensor, amount: Amount, *, certain: bool) -> Tensor:
    """``certain``: no class is ever impossible."""
    if model.fitted is None or model.fitted.calibration is None:
        return posterior
    out = calibrated(model.fitted.calibration, posterior, amount)
    return out if certain else without_impossible(out, posterior)


def _read(model: Classifier, graph: Graph, names: Array, given: Array | None) -> tuple[Scored, Amount]:
    """Return the scores of rows without the class prior, and the number of tokens of each row."""
    likelihood: Any = model.likelihood
    if isinstance(likelihood, CategoricalLikelihood):
        return scored_categories(likelihood, Cells(graph, names, names)), None
    if isinstance(likelihood, TableLikelihood):
        return _table(likelihood, Cells(graph, names, given)), None
    if isinstance(likelihood, TextLikelihood):
        return scored_tokens(likelihood, graph)
    x = graph.input("X", 0, len(names))
    return scored_numbers(likelihood, x), lambda: filled(x).sum(1, keep=True)


def _table(likelihood: TableLikelihood, cells: Cells) -> Scored:
    refuse_texts(likelihood, likelihood.texts)
    places = {j: i for i, j in enumerate(likelihood.shown)}
    found = TableScores(likelihood, cells, places, len(places)).added_up(Unweighted())
    return Scored(found or _silent(likelihood, cells), [])


def _silent(likelihood: TableLikelihood, cells: Cells) -> Tensor:
    """Scores of a model without informative columns; the first input determines the number of rows."""
    statistics, n_classes = likelihood.statistics, len(likelihood.statistics.rows)
    if statistics.kinds[0] != "category":
        return cells.nothing(0, None, n_classes)
    return cells.nothing(0, statistics.categories.labels[statistics.place(0)], n_classes)


# Sums of fractions: 0.1 + 0.2 and 0.3 are the same power of ε.
_SLACK = 1e-12


# A function that returns the amount of evidence of each row, ``(rows, 1)``; None if it does not vary.
Amount = Callable[[], Tensor] | None


def normalized(scores: Tensor) -> Tensor:
    """Log posteriors; classes with infinite scores share a row, and so do all if all are impossible."""
    top = scores.max(1, keep=True)
    infinite = top.is_infinite()
    known = infinite.where(scores.equals(top).where(0.0, -np.inf), scores) - infinite.where(0.0, top)
    return known - known.exp().sum(1, keep=True).log()


def leaders_only(scores: Tensor, limits: list[Tensor], possible: Array) -> Tensor:
    """Set the scores of classes that a limit rules out to -inf."""
    if not limits:
        return scores
    alive: Any = possible[None, :]
    for limit in limits:
        living = limit.graph.op("Where", alive, limit, -np.inf)
        top = living.max(1, keep=True)
        alive = living >= top - top.abs() * _SLACK
    return scores.graph.op("Where", alive, scores, -np.inf)


def without_impossible(scores: Tensor, before: Tensor) -> Tensor:
    """Keep impossible classes impossible after a calibration curve."""
    return normalized(before.equals(-np.inf).where(-np.inf, scores))


def calibrated(calibration: Any, posterior: Tensor, amount: Amount) -> Tensor:
    """Return calibrated log posteriors."""
    if isinstance(calibration, Chain):
        return calibrated(calibration.second, calibrated(calibration.first, posterior, amount), None)
    if isinstance(calibration, Scaling):
        return _scaled(calibration, posterior, amount)
    if isinstance(calibration, Beta):
        return _beta(calibration, posterior)
    if isinstance(calibration, Isotonic):
        return _isotonic(calibration, posterior)
    raise ParameterError(f"{type(calibration).__name__} calibration is not supported in ONNX; choose calibrate='platt'")


def _scaled(scaling: Scaling, posterior: Tensor, amount: Amount) -> Tensor:
    scores = _bent(posterior, scaling.bend) / _temperature(scaling, amount)
    return normalized(scores if scaling.bias is None else scores + scaling.bias)


def _temperature(scaling: Scaling, amount: Amount) -> Any:
    if amount is None or not scaling.growth:
        return float(scaling.temperature(None)[0])
    low, high = scaling.amounts
    excess = (amount().at_least(low).at_most(high) + 1.0).log() - scaling.typical
    return (
        (excess * scaling.growth + scaling.log_temperature)
        .at_least(-MAX_LOG_TEMPERATURE)
        .at_most(MAX_LOG_TEMPERATURE)
        .exp()
    )


def _bent(posterior: Tensor, bend: float) -> Tensor:
    if not bend:
        return posterior
    longer = posterior.max(1, keep=True) - posterior + 1.0
    if bend == 1.0:
        return -longer.log()
    return -((longer.log() * (1.0 - bend)).exp() - 1.0) / (1.0 - bend)


def _log_odds(posterior: Tensor, n_curves: int) -> Tensor:
    """Return the log-odds of each class against the rest; of two classes, of the second only."""
    if n_curves == 1:
        odds = posterior.columns(np.array([1])) - posterior.columns(np.array([0]))
    else:
        best = posterior.best().with_axis(1).equals(np.arange(n_curves)[None, :])
        others = best.where(-np.inf, posterior)
        odds = posterior - best.where(log_sum(others, 1), (1.0 - others.exp()).log())
    return odds.at_least(-MAX_LOG_ODDS).at_most(MAX_LOG_ODDS)


def _joined(odds: Tensor, n_curves: int) -> Tensor:
    """Return log posteriors from log-odds: the inverse of ``_log_odds``."""
    log_probability = -log_one_plus_exp(-odds)
    if n_curves > 1:
        return normalized(log_probability)
    return concatenated([-log_one_plus_exp(odds), log_probability])


def _beta(beta: Beta, posterior: Tensor) -> Tensor:
    n_curves = len(beta.curves)
    odds = _log_odds(posterior, n_curves).at_least(-beta.limit).at_most(beta.limit)
    a, b, c = beta.curves.T
    return _joined(log_one_plus_exp(odds) * b - log_one_plus_exp(-odds) * a + c, n_curves)


def _isotonic(isotonic: Isotonic, posterior: Tensor) -> Tensor:
    odds = _log_odds(posterior, len(isotonic.curves))
    bent = [_along(curve, odds.columns(np.array([k]))) for k, curve in enumerate(isotonic.curves)]
    return _joined(concatenated(bent), len(bent))


def _along(curve: Curve, odds: Tensor) -> Tensor:
    """Return calibrated log-odds, ``(rows, 1)``, by linear interpolation of a curve."""
    corners, heights = _at_least_two(curve.odds, curve.probability)
    passed = (odds >= corners[None, :]).of_type(np.int64).sum(1, keep=True)
    place = (passed - 1).at_least(0).at_most(len(corners) - 2)
    begin, rise, width = (place.picks(part) for part in (corners[:-1], np.diff(heights), np.diff(corners)))
    share = ((odds - begin) / width).at_least(0.0).at_most(1.0)
    probability = place.picks(heights[:-1]) + share * rise
    return probability.log() - (1.0 - probability).log()


def _at_least_two(corners: Floats, heights: Floats) -> tuple[Floats, Floats]:
    if len(corners) > 1:
        return corners, heights
    return np.append(corners, corners + np.maximum(1.0, np.abs(corners))), np.repeat(heights, 2)
