"""Posterior inference: credible intervals, marginal likelihood, Bayes factors, uncertainty of log-odds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from ..priors import MeanVariance
from .table import Table, named

if TYPE_CHECKING:
    from .classifier import Classifier


_ENDS = ("low", "high")


class LogOdds(NamedTuple):
    """Log-odds of rows, ``value``, and their posterior standard deviation, ``std``."""

    value: Floats
    std: Floats


def intervals(model: Classifier, column_names: Array, level: float) -> Table:
    """Return the table of parameters with the limits of credible intervals."""
    table = model.parameters(column_names)
    ends = model.family.intervals(model.state.statistics, level)
    if isinstance(ends, MeanVariance):
        named_ends = {f"{what}_{end}": getattr(ends, what)[k] for what in ends._fields for k, end in enumerate(_ENDS)}
    else:
        named_ends = dict(zip(_ENDS, ends, strict=True))
    shape = len(table["class"])
    return Table(table | {name: np.broadcast_to(values, shape).copy() for name, values in named_ends.items()})


def bayes_factors(model: Classifier, column_names: Array) -> Table:
    """Return the Bayes factor of each column: one distribution per class against one for all classes."""
    statistics, family = model.state.statistics, model.family
    apart = family.log_marginal_likelihood(statistics)
    if _differs_by_class(family.prior):
        raise ParameterError(
            "a Bayes factor requires the same prior for all classes, but this model has a prior for each class; pass "
            "one prior for all classes"
        )
    alone = family.log_marginal_likelihood(statistics.together())
    columns = {
        "log_marginal_likelihood": apart,
        "log_marginal_likelihood_alone": alone,
        "log_bayes_factor": apart - alone,
    }
    return Table({"column": named(np.arange(len(apart)), column_names), **columns})


def _differs_by_class(prior: Any) -> bool:
    priors = prior if isinstance(prior, tuple) else (prior,)
    return any(np.ndim(value) > 1 for one in priors for value in vars(one).values())


def class_place(labels: Array, label: Any) -> int:
    """Return the position of a class among those of a model."""
    known = labels.tolist()
    if label not in known:
        raise ParameterError(f"{label!r} is not a class of this model; expected one of {known}")
    return int(known.index(label))


def log_odds(model: Classifier, data: Any, of: Array, against: Array, kernels: Kernels) -> LogOdds:
    """Return the log-odds of one class against another for each row, with their posterior standard deviation."""
    rows = np.arange(data.n_rows)
    scores = model.scorer.posterior(data, kernels, logarithm=True)
    with np.errstate(invalid="ignore"):
        value = scores[rows, of] - scores[rows, against] + (model.prior_change[of] - model.prior_change[against])
    return LogOdds(value, np.sqrt(_odds_variance(model, data, of, against, kernels)))


def _odds_variance(model: Classifier, data: Any, of: Array, against: Array, kernels: Kernels) -> Floats:
    rows, statistics = np.arange(data.n_rows), model.state.statistics
    each = model.family.score_variance(data, statistics, kernels) + prior_variance(model)
    apart = each[rows, of] + each[rows, against]
    together = model.family.score_covariance(data, of, against, statistics)
    return np.where(np.isfinite(apart), np.maximum(apart - 2 * together, 0.0), np.inf)


def prior_variance(model: Classifier) -> Floats:
    """Return the posterior variance of the log prior of each class; 0 if it is given. Shared terms are omitted."""
    from scipy.special import polygamma

    if not model.bound_spec.prior.follows_rows or model.bound_spec.target is not None:
        return np.zeros(len(model.classes))
    counts = model.bound_spec.prior.counts(model.classes, model.state.rows)
    return np.asarray(polygamma(1, np.maximum(counts, 1e-300)))
